// SPDX-License-Identifier: GPL-2.0
/*
 * The checker: whether `partition by k` is justified.  It is if each method touches only the
 * entry that its k names, for all states and choices.  Then the spec is the conjunction of one
 * spec for each k, and a history is linearizable if and only if its restriction to each k is
 * (Horn & Kroening, Definition 6 and Theorem 1).
 *
 * k is a parameter or a result.  If it is a result, one local variable names all entries that a
 * path touches, and the path returns this variable as k.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "spec/lang/check.h"

/* A value of kl_checker.key after paths with different variables have joined. */
static const struct kl_local several;

static void doubt(struct kl_checker *c, struct kl_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void doubt(struct kl_checker *c, struct kl_pos pos, const char *fmt, ...)
{
	struct kl_spec *s = c->s;
	char msg[400], *copy;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	kl_diag_warn(c->d, pos, "%s", msg);
	if (s->doubt)
		return;
	copy = kl_arena_alloc(&s->arena, strlen(msg) + 1);
	if (!copy) {
		c->out_of_memory = true;
		return;
	}
	s->doubt = strcpy(copy, msg);
	s->doubt_pos = pos;
}

static bool by_result(const struct kl_checker *c)
{
	return c->s->partition == KL_PART_PARAM && c->m &&
	       c->m->pub.part_param >= (int)c->m->pub.nparams;
}

static bool is_key(const struct kl_checker *c, const struct kl_local *l)
{
	return l && !strcmp(l->name, c->s->part_name);
}

/* Find the parameter or result k of each method. */
void kl_part_resolve(struct kl_checker *c)
{
	struct kl_spec *s = c->s;
	unsigned int k;
	size_t i;

	if (s->partition != KL_PART_PARAM)
		return;
	for (i = 0; i < s->nmethods; i++) {
		struct kl_method *m = &s->methods[i].pub;

		for (k = m->nresults; k--;)
			if (!strcmp(m->results[k].name, s->part_name))
				m->part_param = m->nparams + k;
		for (k = 0; k < m->nparams; k++)
			if (!strcmp(m->params[k].name, s->part_name))
				m->part_param = k;
		if (m->part_param < 0)
			kl_diag_err(c->d, s->part_pos,
				    "method '%s' has no parameter or result '%s' to partition by",
				    m->name, s->part_name);
	}
}

void kl_part_touch(struct kl_checker *c, const struct kl_ast_expr *e,
		   const struct kl_ast_expr *key)
{
	const char *k = c->s->part_name;

	if (c->s->partition != KL_PART_PARAM)
		return;
	if (!key && e->kind == KL_A_NAME) {
		if (!e->var->doubted)
			doubt(c, e->pos,
			      "'%s' is one value for every '%s', by which the "
			      "specification is partitioned: make it an array, %s[%s], "
			      "or a map, or write `partition by none'",
			      e->name, k, e->name, k);
		e->var->doubted = true;
	} else if (!key) {
		doubt(c, e->pos, "this accesses '%s' for every '%s', but the specification is "
				 "partitioned by it", e->name, k);
	} else if (key->kind != KL_A_NAME || !is_key(c, key->local)) {
		doubt(c, e->pos, "'%s' is accessed at a key other than '%s', by which the "
				 "specification is partitioned", e->name, k);
	} else if (by_result(c)) {
		if (c->key && c->key != key->local)
			doubt(c, e->pos, "'%s' is accessed at a second '%s', but the specification "
					 "is partitioned by it", e->name, k);
		c->key = key->local;
	}
}

/* In a loop each iteration has a new variable. */
void kl_part_declare(struct kl_checker *c, const struct kl_local *l)
{
	if (by_result(c) && c->loops && is_key(c, l))
		doubt(c, l->pos, "'%s' is declared in a loop, but the specification is partitioned "
				 "by it", l->name);
}

void kl_part_set(struct kl_checker *c, const struct kl_local *l, struct kl_pos pos)
{
	if (c->s->partition != KL_PART_PARAM || !is_key(c, l))
		return;
	if (!by_result(c) || c->loops || c->key)
		doubt(c, pos, "'%s' changes, but the specification is partitioned by it", l->name);
}

void kl_part_return(struct kl_checker *c, const struct kl_stmt *s)
{
	const struct kl_ast_expr *e;
	unsigned int k;

	if (!by_result(c) || !c->key)
		return;
	k = c->m->pub.part_param - c->m->pub.nparams;
	if (k >= s->nret)
		return;
	e = s->ret[k];
	if (e->kind != KL_A_NAME || e->local != c->key)
		doubt(c, e->pos, "the state is accessed at a '%s' other than the one returned, but "
				 "the specification is partitioned by it", c->s->part_name);
}

const struct kl_local *kl_part_join(const struct kl_local *a, const struct kl_local *b)
{
	if (!a || !b)
		return a ? a : b;
	return a == b ? a : &several;
}
