// SPDX-License-Identifier: GPL-2.0
/* A push that may fail although there is room, see ends.h. */
#include "spec/classify/ends_match.h"

/* Match the alternatives of a push that may fail: @done pushes, @fails only returns. */
static bool match_failing(const struct kl_spec *s, const struct kl_method_def *m,
			  const struct kl_stmt *done, const struct kl_stmt *fails,
			  struct kl_end_method *e)
{
	unsigned int i;

	*e = (struct kl_end_method){
		.most = -1,
		.replaces = -1,
		.fails = true,
		.nresults = m->pub.nresults,
	};
	done = done->kind == KL_S_BLOCK ? done->body : NULL;
	fails = fails->kind == KL_S_BLOCK ? fails->body : NULL;
	if (!done || done->kind != KL_S_EXPR || !kl_ends_push(s, m, done, e) || !fails ||
	    fails->next || !kl_ends_results(s, fails, e->other, NULL))
		return false;
	/* The results must say which alternative it was. */
	for (i = 0; i < e->nresults && kl_val_eq(e->done[i], e->other[i]); i++)
		;
	return i < e->nresults;
}

bool kl_spec_failing_push(const struct kl_spec *s, unsigned int method, struct kl_end_method *e)
{
	const struct kl_method_def *m = &s->methods[method];
	const struct kl_stmt *st = kl_ends_first(m), *a, *b;

	if (!st || s->nvars != 1 || st->kind != KL_S_EITHER || st->next || !m->pub.nresults)
		return false;
	a = st->body;
	b = a->next;
	return !b->next && (match_failing(s, m, a, b, e) || match_failing(s, m, b, a, e));
}
