// SPDX-License-Identifier: GPL-2.0
/* The gaps of a partition as sentences, see lost.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "story/lost.h"

/* The gaps of a partition. */
struct lost {
	size_t n;
	uint64_t ops;		/* lost operations, of those gaps that know their number */
	uint64_t from, to;
	uint16_t cpu;		/* the only CPU, or KL_NO_CPU */
	enum kl_gap_reason reason;	/* of the most gaps */
	bool exact;		/* each gap knows its number of operations */
};

static struct lost add_up(const struct kl_history *h, const struct kl_part_result *p)
{
	size_t reasons[KL_GAP_CUT + 1] = { 0 }, i;
	struct lost l = { .from = KL_TIME_MAX, .exact = true };

	for (i = 0; i < h->ngaps; i++) {
		const struct kl_gap *g = &h->gaps[i];

		if (g->object != KL_ALL_OBJECTS && h->objects[g->object] != p->object)
			continue;
		l.cpu = l.n++ && l.cpu != g->cpu ? KL_NO_CPU : g->cpu;
		l.ops += g->lost;
		l.exact &= g->lost > 0;
		l.from = g->from < l.from ? g->from : l.from;
		l.to = g->to > l.to ? g->to : l.to;
		reasons[g->reason]++;
	}
	for (i = 0; i <= KL_GAP_CUT; i++)
		if (reasons[i] > reasons[l.reason])
			l.reason = i;
	return l;
}

char *kl_lost_sentence(const struct kl_history *h, const struct kl_part_result *p)
{
	static const char *const whys[] = {
		[KL_GAP_LOST] = "the buffer had no room", [KL_GAP_MISSED] = "no probe saw them",
		[KL_GAP_CUT] = "the history was cut out of a longer one",
	};
	const struct lost l = add_up(h, p);
	/* Other recorders' gaps have no reason. */
	const bool known = h->attached || l.reason != KL_GAP_LOST;
	char count[64] = "operations may have been", where[24] = "", from[32] = "";
	char to[32] = "the end", *s;

	if (l.ops)
		snprintf(count, sizeof(count), "%s%" PRIu64 " operation%s", l.exact ? "" :
			 "at least ", l.ops, l.ops == 1 ? " was" : "s were");
	if (l.cpu != KL_NO_CPU)
		snprintf(where, sizeof(where), " on CPU %u", l.cpu);
	if (l.from > KL_TIME_MIN)
		snprintf(from, sizeof(from), "from %" PRIu64 " ", l.from);
	if (l.to < KL_TIME_MAX)
		snprintf(to, sizeof(to), "%" PRIu64, l.to);
	if (asprintf(&s, "The recorded operations have an order, but %s lost%s in %zu gap%s, "
		     "%sto %s%s%s.  Lost operations may forbid the order", count, where, l.n,
		     l.n == 1 ? "" : "s", from, to, known ? ": " : "",
		     known ? whys[l.reason] : "") < 0)
		return NULL;
	return s;
}

const char kl_lost_library_advice[] =
	"Raise `operations' of klin_rec_open(), or `threads' if more threads recorded";

bool kl_lost_by_library(const struct kl_history *h)
{
	return h->attached && !strncmp(h->attached, "libklin:", 8);
}

char *kl_lost_advice(const struct kl_history *h, const struct kl_part_result *p)
{
	const struct lost l = add_up(h, p);

	if (l.reason == KL_GAP_CUT)
		return strdup("Check the whole history");
	/* The history of another recorder. */
	if (!h->attached)
		return strdup("Record without losses; lines `# gap' of the history say where they "
			      "are");
	if (kl_lost_by_library(h))
		return strdup(kl_lost_library_advice);
	if (l.reason == KL_GAP_LOST)
		return strdup("Record with larger buffers (--buffer=PAGES) or fewer events "
			      "(--object, --sample)");
	return strdup("Record so that no call is missed: without --pid and --cpu, and with "
		      "--attach=fentry if kprobes missed calls; klin record prints the cause");
}
