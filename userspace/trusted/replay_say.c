// SPDX-License-Identifier: GPL-2.0
/* Messages about an order: where it is wrong, and what would have been right there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "trusted/replay_internal.h"

#define RESULTS	4	/* maximal number of results that are listed */

unsigned int kl_replay_column(const struct replay *r, uint32_t op)
{
	const char *line = r->lines[r->line - 1];
	/* The specification's text follows the last part. */
	const char *end = r->lines[r->line] - 1, *s;

	/* The parser has replaced spaces by zeros; skip the word "order". */
	for (s = line + strlen("order"); s < end; s += strlen(s)) {
		unsigned long first, more = 0;
		char *stop;

		while (s < end && (!*s || *s == ' '))
			s++;
		if (s == end || *s < '0' || *s > '9')
			continue;
		first = strtoul(s, &stop, 10);
		if (*stop == '+')
			more = strtoul(stop + 1, NULL, 10);
		if (op >= first && op - first <= more)
			return s - line + 1;
	}
	return 0;
}

/* Results that the specification allows, each once. */
struct allowed {
	const struct kl_method *m;
	char text[RESULTS][96];
	unsigned int n;
	bool more; /* there are others */
};

static int add_result(void *ctx, const struct kl_outcome *o)
{
	struct allowed *a = ctx;
	char text[sizeof(*a->text)] = "", v[64];
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < a->m->nresults && len < sizeof(text); i++) {
		kl_val_print(v, sizeof(v), o->results[i]);
		len += snprintf(text + len, sizeof(text) - len, "%s%s", i ? ", " : "", v);
	}
	for (i = 0; i < a->n; i++)
		if (!strcmp(a->text[i], text))
			return 0;
	a->more = a->n == RESULTS;
	if (!a->more)
		strcpy(a->text[a->n++], text);
	return 0;
}

/* Write ", which allows RESULT or RESULT", or "" if the method has no results. */
static void print_allowed(char *text, size_t size, const struct allowed *a)
{
	size_t len = 0;
	unsigned int i;

	*text = 0;
	for (i = 0; i < a->n && *a->text[i] && len < size; i++)
		len += snprintf(text + len, size - len, "%s%s", i ? " or " : ", which allows ",
				a->text[i]);
	if (len && len < size && a->more)
		snprintf(text + len, size - len, " or others");
}

int kl_replay_not_allowed(struct replay *r, uint32_t op)
{
	const struct kl_op *o = &r->h->ops[op];
	const int method = r->map[kl_op_method(r->h, o)];
	const struct kl_machine *m = &r->cur.m[0];
	char text[256], state[400] = "", allowed[450] = "", what[1300];
	struct allowed a = { .m = kl_spec_method(r->spec, method) };
	bool never = false; /* whatever its results */

	kl_op_print(text, sizeof(text), r->h, o);
	/* With store buffers, in a gap, or with several machines, no single state can be shown. */
	if (!r->tso && !m->in_gap && r->cur.n == 1) {
		kl_state_print(state, sizeof(state), r->spec, r->h, m->mem, m->nmem);
		if (!kl_run_apply(r->run, m->mem, m->nmem, method, kl_op_args(r->h, o), NULL,
				  add_result, &a)) {
			never = !a.n;
			print_allowed(allowed, sizeof(allowed), &a);
		}
	}
	snprintf(what, sizeof(what), "the specification does not allow operation %u, %s%s%s%s%s",
		 op, text, never ? ", with any result" : "",
		 *state ? ": the state before it is " : "", state, allowed);
	kl_cert_err(r->path, r->lines, r->line, kl_replay_column(r, op), what);
	return -EBADMSG;
}
