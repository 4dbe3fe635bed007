// SPDX-License-Identifier: GPL-2.0
/* Verdicts as JSON, see json.h. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "history/spell.h"
#include "report/codes.h"
#include "report/envelope.h"
#include "report/given.h"
#include "report/json.h"
#include "report/others.h"
#include "report/story.h"
#include "report/unknown.h"
#include "story/waited.h"

#define MAX_UNKNOWN	100	/* largest number of UNKNOWN partitions in the list */
#define REPLACEMENT	"\xef\xbf\xbd"	/* U+FFFD */

/* Memory was missing since this thread last printed or parsed a value. */
static __thread bool no_memory;

static void *json_malloc(size_t size)
{
	void *p = malloc(size);

	no_memory |= !p;
	return p;
}

__attribute__((constructor)) static void set_malloc(void)
{
	json_set_alloc_funcs(json_malloc, free);
}

int kl_json_put(FILE *f, json_t *j, size_t flags)
{
	int ret = 0;

	/* Check @no_memory twice, since json_dumpf() allocates memory, too. */
	if (no_memory || !j)
		ret = -ENOMEM;
	else if (json_dumpf(j, f, flags) || no_memory)
		ret = ferror(f) ? 0 : -ENOMEM;
	else
		fputc('\n', f);
	no_memory = false;
	json_decref(j);
	return ret;
}

json_t *kl_json_whole(json_t *j)
{
	if (no_memory) {
		json_decref(j);
		j = NULL;
	}
	no_memory = false;
	return j;
}

void kl_json_no_memory(void)
{
	no_memory = true;
}

json_t *kl_json_number(uint64_t v)
{
	char text[24];

	if (v <= INT64_MAX)
		return json_integer(v);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	return json_string(text);
}

/* The length of the UTF-8 character at @s, or 0 if it is malformed (RFC 3629, section 4). */
static size_t utf8_length(const unsigned char *s, size_t len)
{
	unsigned int low = *s == 0xe0 ? 0xa0 : *s == 0xf0 ? 0x90 : 0x80;
	unsigned int high = *s == 0xed ? 0x9f : *s == 0xf4 ? 0x8f : 0xbf;
	size_t n = *s < 0x80 ? 1 :
		   *s < 0xc2 || *s > 0xf4 ? 0 :
		   *s < 0xe0 ? 2 :
		   *s < 0xf0 ? 3 :
		   4,
	       i;

	if (n > len || (n > 1 && (s[1] < low || s[1] > high)))
		return 0;
	for (i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

json_t *kl_json_bytes(const char *s, size_t len)
{
	char *copy = malloc(len * strlen(REPLACEMENT) + 1), *to = copy;
	const char *const end = s + len;
	json_t *j;
	size_t n;

	no_memory |= !copy;
	if (!copy)
		return NULL;
	while (s < end) {
		n = utf8_length((const unsigned char *)s, end - s);
		to = n ? mempcpy(to, s, n) : mempcpy(to, REPLACEMENT, strlen(REPLACEMENT));
		s += n ? n : 1;
	}
	j = json_stringn(copy, to - copy);
	free(copy);
	return j;
}

json_t *kl_json_text(const char *s)
{
	return kl_json_bytes(s, strlen(s));
}

void kl_json_part_name(json_t *j, const struct kl_history *h, const struct kl_part_result *p)
{
	const char *symbol = kl_history_symbol(h, p->object);
	const char *slab = kl_history_slab(h, p->object);
	char object[32];

	snprintf(object, sizeof(object), "0x%llx", (unsigned long long)p->object);
	json_object_set_new(j, "object", json_string(object));
	if (symbol)
		json_object_set_new(j, "symbol", kl_json_text(symbol));
	if (slab)
		json_object_set_new(j, "slab", kl_json_text(slab));
	if (p->has_key || h->keyed)
		json_object_set_new(j, "key", kl_word_json(h, p->has_key ? p->key : p->object));
}

/* Add the store that waited in its buffer, if the partition is linearizable because one did. */
static void add_waited(json_t *j, const struct kl_spec *spec, const struct kl_history *h,
		       const struct kl_part_result *p)
{
	struct kl_waited w;
	json_t *waited;

	if (kl_waited_find(spec, h, p, &w) || !w.sentence)
		return;
	waited = json_object();
	json_object_set_new(waited, "store", json_integer(w.store));
	json_object_set_new(waited, "seen_by", json_integer(w.seen_by));
	json_object_set_new(waited, "sentence", kl_json_text(w.sentence));
	json_object_set_new(j, "waited", waited);
	free(w.sentence);
}

static json_t *part_json(const struct kl_spec *spec, const struct kl_history *h,
			 const struct kl_part_result *p, const char *replay)
{
	static const char *const ends[] = {
		[KL_SHRINK_DONE] = "done", [KL_SHRINK_WORK] = "work", [KL_SHRINK_TIME] = "time",
	};
	json_t *j = json_object(), *ops;
	size_t i;

	kl_json_part_name(j, h, p);
	json_object_set_new(j, "operations", json_integer(kl_given_part(h, p)));
	json_object_set_new(j, "verdict", json_string(kl_verdict_name(p->answer.verdict)));
	json_object_set_new(j, "engine", p->answer.engine ? json_string(p->answer.engine) :
							    json_null());
	json_object_set_new(j, "suspected", json_boolean(p->suspected));
	if (p->answer.verdict == KL_UNKNOWN || p->answer.ncore)
		json_object_set_new(j, "reason", kl_json_text(p->answer.reason));
	if (p->answer.verdict == KL_UNKNOWN)
		json_object_set_new(j, "cause",
				    json_string(kl_unknown_codes[kl_unknown_cause(p)]));
	/* Store buffers do not help a violation, which is one on sequential consistency, too. */
	json_object_set_new(j, "needs_store_buffer",
			    json_boolean(p->sc_violation && p->answer.verdict == KL_LINEARIZABLE));
	add_waited(j, spec, h, p);
	if (!p->cex)
		return j;
	ops = json_array();
	for (i = 0; i < p->cex->h->nops; i++)
		json_array_append_new(ops, kl_op_json_placed(h, p->cex->ops[i], p->cex->h,
							     &p->cex->h->ops[i]));
	json_object_set_new(j, "counterexample", ops);
	json_object_set_new(j, "oracle_agrees", json_boolean(p->cex->oracle == KL_VIOLATION));
	kl_add_story(j, spec, h, p, replay);
	/* After "work" or "time" shrinking was not complete: a smaller counterexample may exist. */
	json_object_set_new(j, "shrinking_ended", json_string(ends[p->cex->ended]));
	return j;
}

static void add_cost(json_t *j, const struct kl_report *r, const struct kl_cost *c)
{
	json_object_set_new(j, "read_seconds", json_real(c->read_seconds));
	json_object_set_new(j, "check_seconds", json_real(r->seconds - r->shrink_seconds));
	json_object_set_new(j, "shrink_seconds", json_real(r->shrink_seconds));
	json_object_set_new(j, "certificate_seconds", json_real(c->certificate_seconds));
	json_object_set_new(j, "user_seconds", json_real(c->user_seconds));
	json_object_set_new(j, "peak_bytes", json_integer(c->peak_bytes));
}

static json_t *coverage_json(const struct kl_history *h)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < h->ncoverage; i++) {
		const struct kl_coverage *c = &h->coverage[i];
		json_t *j = json_object();

		json_object_set_new(j, "method", kl_json_text(c->method));
		json_object_set_new(j, "coverage", json_string(kl_cover_names[c->kind]));
		if (c->text)
			json_object_set_new(j, "reason", kl_json_text(c->text));
		json_array_append_new(list, j);
	}
	return list;
}

/*
 * Is the partition listed?  After an early limit, most of a million objects may be UNKNOWN, so
 * their number in the list is bounded.
 */
static bool is_listed(const struct kl_report *r, const struct kl_part_result *p, size_t *unknown)
{
	if (r->nparts <= 100)
		return true;
	if (p->answer.verdict == KL_UNKNOWN && !p->suspected)
		return (*unknown)++ < MAX_UNKNOWN;
	return p->answer.verdict != KL_LINEARIZABLE;
}

void kl_json_memory(json_t *j, bool sc, enum kl_memory_by by, const struct kl_memory *m)
{
	static const char *const words[] = {
		[KL_MEMORY_BY_HISTORY] = "history", [KL_MEMORY_BY_COMMAND] = "command line",
		[KL_MEMORY_BY_ENGINE] = "engine",
	};

	json_object_set_new(j, "memory", json_string(sc ? "sc" : "tso"));
	json_object_set_new(j, "memory_by", json_string(
		by == KL_MEMORY_BY_HISTORY && !m->told ? "default" : words[by]));
	json_object_set_new(j, "history_memory", json_string(m->sc ? "sc" : "tso"));
}

json_t *kl_report_json(const struct kl_report *r, const char *name,
		       const struct kl_verdict_style *style)
{
	json_t *j = kl_json_envelope("check", r->h->release), *parts = json_array();
	size_t unknown = 0, listed = 0, not_listed, i;

	json_object_set_new(j, "history", kl_json_text(name));
	json_object_set_new(j, "spec", kl_json_text(kl_spec_name(r->spec)));
	json_object_set_new(j, "verdict", json_string(kl_verdict_name(r->verdict)));
	if (r->verdict == KL_UNKNOWN)
		json_object_set_new(j, "reason", kl_json_text(r->reason));
	kl_add_unknown(j, r);
	json_object_set_new(j, "operations", json_integer(kl_given_ops(r->h)));
	if (r->h->skipped) {
		json_object_set_new(j, "skipped", json_integer(r->h->skipped));
		json_object_set_new(j, "skipped_reason", kl_json_text(r->h->skipped_why));
	}
	kl_add_others(j, r->h, KL_OTHERS_JSON);
	json_object_set_new(j, "gaps", json_integer(r->h->ngaps));
	json_object_set_new(j, "any_first_state", json_boolean(!r->h->fresh));
	kl_json_memory(j, r->classical, r->memory_by, &r->h->memory);
	json_object_set_new(j, "linearizable", json_integer(r->count[KL_LINEARIZABLE]));
	json_object_set_new(j, "violations", json_integer(r->count[KL_VIOLATION]));
	json_object_set_new(j, "unknown", json_integer(r->count[KL_UNKNOWN]));
	json_object_set_new(j, "need_store_buffer", json_integer(r->sc_violations));
	json_object_set_new(j, "suspected", json_integer(r->suspected));
	if (r->h->ncoverage)
		json_object_set_new(j, "coverage", coverage_json(r->h));
	json_object_set_new(j, "seconds", json_real(r->seconds));
	if (style && style->cost)
		add_cost(j, r, style->cost);
	for (i = 0; i < r->nparts; i++)
		if (is_listed(r, &r->parts[i], &unknown)) {
			json_array_append_new(parts, part_json(r->spec, r->h, &r->parts[i],
							       style ? style->replay : NULL));
			listed++;
		}
	json_object_set_new(j, "partitions", parts);
	not_listed = unknown > MAX_UNKNOWN ? unknown - MAX_UNKNOWN : 0;
	if (not_listed)
		json_object_set_new(j, "unknown_not_listed", json_integer(not_listed));
	/* All others that the list lacks are linearizable, see is_listed(). */
	not_listed = r->nparts - listed - not_listed;
	if (not_listed)
		json_object_set_new(j, "linearizable_not_listed", json_integer(not_listed));
	kl_json_add_codes(j);
	return j;
}
