// SPDX-License-Identifier: GPL-2.0
/*
 * A guess at what matters: what nothing explains, what has a value of it, and what is last; and
 * with these what would leave a trace in them, as that may not be left out.  A value that was
 * overwritten long ago, or not written yet, is shown so by a few operations, however far they
 * are apart.  Whether the guess is right a trial tells.
 */
#include <errno.h>
#include <stdlib.h>

#include "check/explain/shrink_internal.h"

#define LEAST	256		/* operations; of fewer each is tried */
#define MOST	1000		/* that a guess may have, */
#define WORK	(1u << 25)	/* and times those that it leaves out */
#define ALIKE	32		/* first and last ones that have a value of what fails */
#define LAST	16		/* last ones, */
#define MOST_LAST	256	/* and up to so many */

/* Has one of the values of @b that are words, or the same special one? */
static bool has_value_of(const struct kl_history *h, const struct kl_op *a, const struct kl_op *b)
{
	const struct kl_shape *x = kl_op_shape(h, a), *y = kl_op_shape(h, b);
	const struct kl_val *v = kl_op_args(h, a), *w = kl_op_args(h, b);
	unsigned int i, k;

	for (i = 0; i < x->nargs + x->nres; i++)
		for (k = 0; k < y->nargs + y->nres; k++)
			if (v[i].tag != KL_ANY && kl_val_eq(v[i], w[k]))
				return true;
	return false;
}

/* Mark what is kept and has a value of @op, the first ones and the last ones. */
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

/* Mark all that may not be left out beside what is marked, and list it.  0: too much. */
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

int kl_shrink_guess(struct shrink *s, uint32_t event, uint32_t *buf)
{
	const struct kl_item *it = &s->p->items[s->p->events[event].item];
	const uint32_t op = it->op;
	struct kl_cut cut = { 0 };
	struct kl_run *run;
	uint8_t *in = NULL;
	size_t last, n, i;
	int ret = -ENOMEM;

	/* It may be a gap that has to end. */
	if (it->kind != KL_ITEM_OP)
		return 0;
	run = kl_run_new(s->p->spec);
	kl_shrink_end(s, kl_shrink_known_at(s, event));
	kl_shrink_keep_all(s);
	if (run)
		in = calloc(s->nkept + 1, sizeof(*in));
	if (in)
		ret = kl_cut_init(&cut, s->p->spec, s->p->h, NULL, 0, false, 0, s->end);
	for (last = 0; !ret && s->nkept >= LEAST && last <= MOST_LAST && !kl_shrink_late(s);
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
