// SPDX-License-Identifier: GPL-2.0
/*
 * Multisets: confirming a violation of one word.  The word may have too many operations for
 * a general engine.  So the operations that returned by some time are replaced by a count, see
 * kl_count_kept().  That time is the latest for which the rest is still wrong.  Operations that
 * change nothing are omitted if possible.
 */
#include <errno.h>
#include <stdlib.h>

#include "check/explain/omit.h"
#include "check/engines.h"
#include "check/loglinear/multiset/multiset.h"

#define FEW		100	/* number of operations up to which nothing is replaced */
#define MOST_BACK	1024	/* returns that are kept before the wrong one */
#define WORK		(2000000 * KL_CONFIG_LOOKS)	/* bound of its looks, */
#define EACH		(100 * KL_CONFIG_LOOKS)	/* and more for each operation that was placed */

/* Operations of one word, in a history that ends when the wrong operation returns. */
struct core {
	const struct set *t;
	const struct kl_history *h;
	struct kl_history *own;	/* the shortened history, or NULL for the whole one */
	uint32_t op;		/* index of the wrong operation in @h */
};

/* Set a->fail_event to @op's return in a partition of the core.  Return: 1, or a negative errno. */
static int find_event(const struct set *t, uint32_t op, struct kl_answer *a)
{
	const struct kl_slice *s = t->s;
	struct kl_part part = { 0 };
	uint32_t i;
	int ret = kl_part_build(s->spec, s->h, s->methods, a->core, a->ncore, s->object, false,
				&part);

	for (i = 0; !ret && i < part.nitems; i++)
		if (part.items[i].kind == KL_ITEM_OP && part.items[i].op == op)
			a->fail_event = part.items[i].ret_ev;
	kl_part_free(&part);
	return ret ? ret : 1;
}

/* Return: 1 if the monitor finds no order of the core, 0 if it finds one, -ENOMEM. */
static int is_wrong(const struct core *c)
{
	const struct kl_limits lim = { .threads = 1, .no_witness = true };
	struct kl_slice s = {
		.spec = c->t->s->spec, .h = c->h, .nops = c->h->nops, .object = KL_ALL_OBJECTS,
	};
	struct set t = {
		.s = &s,
		.lim = &lim,
		.kind = &multiset_kind,
		.one = MULTISET_SEEN,
		.lines = c->h->error,
		.order = c->h->error,
		.most_work = SET_WORK * (uint64_t)s.nops + SET_FIRST_WORK,
	};
	int *methods = calloc(c->h->nmethods + 1, sizeof(*methods)), ret = -ENOMEM;
	size_t i;

	for (i = 0; methods && i < c->h->nmethods; i++)
		methods[i] = kl_spec_find_method(s.spec, c->h->methods[i]);
	s.methods = methods;
	t.roles = methods ? ll_roles(&s) : NULL;
	if (t.roles) {
		ret = set_init(&t, 1) ?: set_decide(&t);
		set_free(&t);
	}
	free(t.roles);
	free(methods);
	return ret == -ENOMEM ? ret : !ret;
}

/*
 * Keep only the @n operations @kept of @c, if they are still wrong or @in_any_case.  Return: 1 if
 * done, 0 if not, or a negative errno.
 */
static int try_kept(struct core *c, const uint32_t *ops, size_t nops, const uint32_t *kept,
		    size_t n, bool in_any_case)
{
	const uint64_t end = c->h->ops[c->op].ret;
	struct core some = { .t = c->t };
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	struct kl_cut cut = { 0 };
	int ret = -ENOMEM;

	if (order)
		ret = kl_cut_init(&cut, c->t->s->spec, c->h, ops, nops, false, 0, end);
	if (!ret)
		ret = kl_cut_history(&cut, kept, n, false, &some.own, order);
	some.h = some.own;
	while (!ret && some.op < n && order[some.op] != c->op)
		some.op++;
	/* The wrong operation is kept, since it returns last. */
	if (!ret && some.op < n)
		ret = in_any_case ? 1 : is_wrong(&some);
	if (ret > 0) {
		kl_history_free(c->own);
		*c = some;
	} else {
		kl_history_free(some.own);
	}
	kl_cut_free(&cut);
	free(order);
	return ret;
}

/* Try to replace the operations that returned before the last @back returns by a count. */
static int try_back(struct core *c, const uint32_t *ops, size_t nops, size_t back, uint32_t *buf,
		    bool in_any_case)
{
	const uint64_t end = c->h->ops[c->op].ret;
	size_t n;
	int ret = kl_count_cut(c->t->s->spec, c->h, ops, nops, ops, nops, end, back, buf, &n);

	return ret > 0 ? try_kept(c, ops, nops, buf, n, in_any_case) : ret;
}

/* Try to omit the operations that change nothing. */
static int try_changes(struct core *c, const uint32_t *ops, uint32_t *buf)
{
	const struct kl_spec *spec = c->t->s->spec;
	size_t n = 0, i;

	for (i = 0; i < c->h->nops; i++) {
		const struct kl_op *op = &c->h->ops[i];
		const int m = kl_spec_find_method(spec, c->h->methods[kl_op_method(c->h, op)]);
		const enum kl_role role = kl_spec_role(spec, m);

		if (i == c->op || role == KL_ROLE_ADD ||
		    (role == KL_ROLE_REMOVE && (op->ret == KL_TIME_MAX || kl_op_res(c->h, op)->v)))
			buf[n++] = i;
	}
	return try_kept(c, ops, c->h->nops, buf, n, false);
}

static int make_small(struct core *c, uint32_t *ops, uint32_t *buf)
{
	size_t back, i;
	int ret = 0;

	for (i = 0; i < c->h->nops; i++)
		ops[i] = i;
	for (back = 1; !ret && back < MOST_BACK; back += back / 4 + 1)
		ret = try_back(c, ops, c->h->nops, back, buf, false);
	return ret < 0 ? ret : try_changes(c, ops, buf);
}

static int ask(const struct core *c, enum kl_verdict *v)
{
	struct kl_limits lim = *c->t->lim;
	struct kl_answer a = { .verdict = KL_UNKNOWN };
	int ret;

	lim.no_witness = true;
	lim.progress = NULL;
	lim.work = WORK;
	lim.each = EACH;
	ret = kl_decide_history(c->t->s->spec, c->h, &kl_frontier_engine, &lim, &a, NULL);
	*v = a.verdict;
	kl_answer_free(&a);
	return ret;
}

int multiset_confirm(const struct set *t, uint32_t op, struct kl_answer *a)
{
	struct core c = { .t = t, .h = t->s->h, .op = op };
	enum kl_verdict v = KL_UNKNOWN;
	uint32_t *ops, *buf;
	int ret = -ENOMEM;

	if (a->ncore <= FEW)
		return 0;
	ops = malloc(a->ncore * sizeof(*ops));
	buf = malloc(a->ncore * sizeof(*buf));
	if (ops && buf)
		ret = try_back(&c, a->core, a->ncore, MOST_BACK, buf, true) ?:
		      try_kept(&c, a->core, a->ncore, a->core, a->ncore, true);
	if (ret > 0)
		ret = make_small(&c, ops, buf);
	if (ret >= 0 && c.own)
		ret = ask(&c, &v);
	if (!ret && v == KL_VIOLATION) {
		a->verdict = v;
		ret = find_event(t, op, a);
	}
	kl_history_free(c.own);
	free(ops);
	free(buf);
	return ret == -EOVERFLOW ? 0 : ret;
}
