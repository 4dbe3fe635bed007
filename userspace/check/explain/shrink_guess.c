// SPDX-License-Identifier: GPL-2.0
/*
 * A guess at the operations that matter: the failing one, operations with one of its values, and
 * the last ones; and further operations that may not be omitted beside these.  So a few
 * operations show that a value was overwritten long ago, or was not written yet, however far
 * apart they are.  A trial finds out whether the guess is right.
 */
#include <errno.h>
#include <stdlib.h>

#include "check/explain/shrink_internal.h"

#define LEAST	256	/* number of operations from which on a guess is worth its cost */
#define MOST	1000	/* maximal number of operations of a guess, */
#define WORK	(1u << 25)	/* and of pairs that are compared */
#define ALIKE	32	/* first and last operations with a value of the failing one */
#define LAST 16 /* last operations of the second guess */

/* Do two operations share a word, or a special value? */
static bool has_value_of(const struct kl_history *h, const struct kl_op *a, const struct kl_op *b)
{
	const struct kl_opsig *x = kl_op_sig(h, a), *y = kl_op_sig(h, b);
	const struct kl_val *v = kl_op_args(h, a), *w = kl_op_args(h, b);
	unsigned int i, k;

	for (i = 0; i < x->nargs + x->nres; i++)
		for (k = 0; k < y->nargs + y->nres; k++)
			if (v[i].tag != KL_ANY && kl_val_eq(v[i], w[k]))
				return true;
	return false;
}

/* Mark the first and the last kept operations with a value of @op. */
static void mark_alike(const struct shrink *s, uint32_t op, uint8_t *in)
{
	const struct kl_history *h = s->p->h;
	unsigned int n;
	size_t i;

	for (i = n = 0; i < s->nkept && n < ALIKE; i++) {
		if (has_value_of(h, &h->ops[s->kept[i]], &h->ops[op])) {
			in[i] = 1;
			n++;
		}
	}
	for (i = s->nkept, n = 0; i-- > 0 && n < ALIKE; ) {
		if (has_value_of(h, &h->ops[s->kept[i]], &h->ops[op])) {
			in[i] = 1;
			n++;
		}
	}
}

static size_t list(const struct shrink *s, const uint8_t *in, uint32_t *out)
{
	size_t i, n = 0;

	for (i = 0; i < s->nkept; i++)
		if (in[i])
			out[n++] = s->kept[i];
	return n;
}

/*
 * Mark and list the operations that may not be omitted when the marked ones are kept.
 *
 * Return: 1, 0 if these are too many or take too long, or a negative errno.
 */
static int close_guess(struct shrink *s, struct kl_run *run, uint8_t *in, uint32_t *out,
		       size_t *n)
{
	size_t before, i;
	int ret;

	*n = list(s, in, out);
	do {
		before = *n;
		if (before > WORK / s->nkept)
			return 0;
		for (i = 0; i < s->nkept && *n <= MOST; i++) {
			if (in[i])
				continue;
			if (!(i % 1024) && kl_shrink_late(s))
				return 0;
			ret = kl_shrink_no_trace(s, run, s->kept[i], out, before);
			if (ret < 0)
				return ret;
			in[i] = !ret;
			*n += !ret;
		}
		if (*n > MOST)
			return 0;
		*n = list(s, in, out);
	} while (*n > before);
	return 1;
}

int kl_shrink_guess(struct shrink *s, uint32_t event, size_t most_last, uint32_t *buf)
{
	const struct kl_item *it = &s->p->items[s->p->events[event].item];
	const uint32_t op = it->op;
	struct kl_cut cut = { 0 };
	struct kl_run *run;
	uint8_t *in = NULL;
	size_t last, n, i;
	int ret = -ENOMEM;

	/* The event may be the end of a gap. */
	if (it->kind != KL_ITEM_OP)
		return 0;
	run = kl_run_new(s->p->spec);
	kl_shrink_end(s, kl_shrink_known_at(s, event));
	kl_shrink_keep_all(s);
	if (run)
		in = calloc(s->nkept + 1, sizeof(*in));
	if (in)
		ret = kl_cut_init(&cut, s->p->spec, s->p->h, NULL, 0, false, 0, s->end);
	for (last = 0; !ret && s->nkept >= LEAST && last <= most_last && !kl_shrink_late(s);
	     last = last ? 4 * last : LAST) {
		for (i = 0; i < s->nkept; i++)
			in[i] = s->kept[i] == op || i + last >= s->nkept;
		mark_alike(s, op, in);
		ret = close_guess(s, run, in, buf, &n);
		if (ret > 0)
			ret = kl_shrink_trial(s, &cut, buf, n);
	}
	kl_cut_free(&cut);
	kl_run_free(run);
	free(in);
	return ret;
}
