// SPDX-License-Identifier: GPL-2.0
/*
 * Registers, see word.h: each method is executed symbolically, with sums for values, path by
 * path.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "spec/lang/ast.h"
#include "spec/classify/container.h"
#include "spec/classify/word.h"

#define LOCALS	16

/* The execution of one path: its effect so far, and the values of local variables. */
struct way {
	const struct kl_spec *s;
	struct kl_word_method *m;
	struct kl_word_path path;
	struct kl_word_sum local[LOCALS];
};

/* The statements that follow the present block, and those that follow the block around it. */
struct behind {
	const struct kl_stmt *next;
	const struct behind *up;
};

static struct kl_word_sum add(const struct kl_word_sum *a, const struct kl_word_sum *b,
			      uint64_t times)
{
	struct kl_word_sum sum = { .base = a->base + times * b->base,
				   .before = a->before + times * b->before };
	unsigned int i;

	for (i = 0; i < KL_MAX_ARGS; i++)
		sum.arg[i] = a->arg[i] + times * b->arg[i];
	return sum;
}

static bool eval(const struct way *w, const struct kl_ast_expr *e, struct kl_word_sum *out)
{
	struct kl_word_sum a, b;

	memset(out, 0, sizeof(*out));
	if (e->type != KL_ET_WORD)
		return false;
	switch (e->kind) {
	case KL_A_NUM:
		out->base = e->num;
		return true;
	case KL_A_NAME:
		if (e->local) {
			if (e->local->reg >= LOCALS)
				return false;
			*out = w->local[e->local->reg];
		} else if (e->konst) {
			out->base = e->konst->val.v;
			return e->konst->val.tag == KL_WORD;
		} else {
			*out = w->path.after;
			return e->var == w->s->vars;
		}
		return true;
	case KL_A_UNARY:
		if (e->op != '-' || !eval(w, e->a, &a))
			return false;
		*out = add(out, &a, -1);
		return true;
	case KL_A_BINARY:
		if ((e->op != '+' && e->op != '-') || !eval(w, e->a, &a) || !eval(w, e->b, &b))
			return false;
		*out = add(&a, &b, e->op == '+' ? 1 : -1);
		return true;
	default:
		return false;
	}
}

/*
 * Match a comparison of the word before with a sum @is.  @equal becomes true if the comparison
 * holds for an equal word, and false if it holds for a different word.
 */
static bool compare(const struct way *w, const struct kl_ast_expr *e, struct kl_word_sum *is,
		    bool *equal)
{
	static const struct kl_word_sum zero;
	struct kl_word_sum a, b;

	if (w->path.when != KL_WORD_ALWAYS)
		return false;
	if (e->kind == KL_A_UNARY && e->op == '!') {
		if (!compare(w, e->a, is, equal))
			return false;
		*equal = !*equal;
		return true;
	}
	if (e->kind != KL_A_BINARY || (e->op != KL_OP_EQ && e->op != KL_OP_NE) ||
	    !eval(w, e->a, &a) || !eval(w, e->b, &b))
		return false;
	*equal = e->op == KL_OP_EQ;
	a = add(&a, &b, -1);
	/* Solve a - b == 0 for the word before, whose factor must be 1 or -1. */
	if (a.before == 1)
		a = add(&zero, &a, -1);
	else if (a.before != (uint64_t)-1)
		return false;
	*is = a;
	is->before = 0;
	return true;
}

static bool finish(const struct way *w)
{
	struct kl_word_method *m = w->m;

	if (m->npaths == KL_WORD_PATHS || w->path.gives != !!m->nresults ||
	    w->path.after.before > 1 || (!m->is_bool && w->path.result.before > 1))
		return false;
	m->path[m->npaths++] = w->path;
	return true;
}

static bool walk(struct way w, const struct kl_stmt *st, const struct behind *behind);

static bool give(struct way w, const struct kl_ast_expr *e)
{
	bool equal;

	w.path.gives = true;
	if (!w.m->is_bool)
		return eval(&w, e, &w.path.result) && finish(&w);
	if (e->kind == KL_A_BOOL) {
		w.path.result.base = e->num;
		return finish(&w);
	}
	if (!compare(&w, e, &w.path.is, &equal))
		return false;
	w.path.when = KL_WORD_IF;
	w.path.result.base = equal;
	if (!finish(&w))
		return false;
	w.path.when = KL_WORD_IF_NOT;
	w.path.result.base = !equal;
	return finish(&w);
}

static bool branch(struct way w, const struct kl_stmt *st, const struct behind *behind)
{
	const struct behind here = { .next = st->next, .up = behind };
	bool equal;

	if (!compare(&w, st->a, &w.path.is, &equal))
		return false;
	w.path.when = equal ? KL_WORD_IF : KL_WORD_IF_NOT;
	if (!walk(w, st->body, &here))
		return false;
	w.path.when = equal ? KL_WORD_IF_NOT : KL_WORD_IF;
	return walk(w, st->other, &here);
}

static bool assign(struct way *w, const struct kl_stmt *st)
{
	const struct kl_ast_expr *lhs = st->lhs;
	struct kl_word_sum value, *place;

	if (lhs->kind != KL_A_NAME || (lhs->local && lhs->local->reg >= LOCALS) ||
	    (!lhs->local && lhs->var != w->s->vars) || !eval(w, st->a, &value))
		return false;
	place = lhs->local ? &w->local[lhs->local->reg] : &w->path.after;
	if (st->op == '=')
		*place = value;
	else if (st->op == '+' || st->op == '-')
		*place = add(place, &value, st->op == '+' ? 1 : -1);
	else
		return false;
	return true;
}

static bool walk(struct way w, const struct kl_stmt *st, const struct behind *behind)
{
	for (;;) {
		while (!st && behind) {
			st = behind->next;
			behind = behind->up;
		}
		if (!st)
			return finish(&w);
		switch (st->kind) {
		case KL_S_BLOCK:
		case KL_S_ATOMIC: {
			const struct behind here = { .next = st->next, .up = behind };

			return walk(w, st->body, &here);
		}
		case KL_S_DECL:
			if (st->local->reg >= LOCALS)
				return false;
			memset(&w.local[st->local->reg], 0, sizeof(w.local[0]));
			if (st->a && !eval(&w, st->a, &w.local[st->local->reg]))
				return false;
			break;
		case KL_S_ASSIGN:
			if (!assign(&w, st))
				return false;
			break;
		case KL_S_IF:
			return branch(w, st, behind);
		case KL_S_RETURN:
			return !st->nret ? finish(&w) : st->nret == 1 && give(w, st->ret[0]);
		default:
			return false;
		}
		st = st->next;
	}
}

static bool infer(const struct kl_spec *s, unsigned int method, struct kl_word_method *m)
{
	const struct kl_method_def *def = &s->methods[method];
	struct way w = { .s = s, .m = m, .path.after.before = 1 };
	unsigned int i;

	*m = (struct kl_word_method){
		.nparams = def->pub.nparams, .nresults = def->pub.nresults,
		.is_bool = def->pub.nresults && def->pub.results[0].type == KL_T_BOOL,
	};
	if (def->pub.nblocks > 1 || m->nresults > 1 || m->nparams > LOCALS)
		return false;
	for (i = 0; i < m->nparams; i++) {
		if (def->pub.params[i].type != KL_T_WORD)
			return false;
		w.local[i].arg[i] = 1;
	}
	return walk(w, def->body, NULL);
}

int kl_infer_words(struct kl_spec *s)
{
	struct kl_word_method m, *known;
	struct kl_container c;
	size_t i;

	kl_spec_container(s, &c);
	for (i = 0; c.kind == KL_CONTAINER_REGISTER && i < s->nmethods; i++) {
		if (!infer(s, i, &m))
			continue;
		known = kl_arena_alloc(&s->arena, sizeof(*known));
		if (!known)
			return -ENOMEM;
		*known = m;
		s->methods[i].word = known;
	}
	return 0;
}

const struct kl_word_method *kl_word_method(const struct kl_spec *s, unsigned int method)
{
	return s->methods[method].word;
}

/* Return: the value of a sum without its multiple of the word before. */
static uint64_t value_of(const struct kl_word_method *m, const struct kl_word_sum *sum,
			 const struct kl_val *vals)
{
	uint64_t v = sum->base;
	unsigned int i;

	for (i = 0; i < m->nparams; i++)
		v += sum->arg[i] * vals[i].v;
	return v;
}

/* Return: the step of an operation on path @p; KL_WORD_NEVER if its results exclude the path. */
static struct kl_word_step step_on(const struct kl_word_method *m, const struct kl_word_path *p,
				   const struct kl_val *vals, bool pending)
{
	const struct kl_val *res = vals + m->nparams;
	const uint64_t is = value_of(m, &p->is, vals), rest = value_of(m, &p->after, vals);
	struct kl_word_step step = { .kind = KL_WORD_NEVER };
	bool known = p->when == KL_WORD_IF;
	uint64_t before = is;

	if (!pending && p->gives && (m->is_bool || !p->result.before)) {
		const uint64_t v = value_of(m, &p->result, vals);

		if (m->is_bool ? !v != !res->v : v != res->v)
			return step;
	} else if (!pending && p->gives) {
		before = res->v - value_of(m, &p->result, vals);
		if ((known || p->when == KL_WORD_IF_NOT) && (before == is) != known)
			return step;
		known = true;
	}
	step.before = before;
	step.after = rest + (p->after.before ? before : 0);
	if (known)
		step.kind = step.after == before ? KL_WORD_SEES : KL_WORD_MOVES;
	else if (p->after.before && !rest)
		step.kind = p->when == KL_WORD_IF_NOT ? KL_WORD_SEES_NOT : KL_WORD_NOTHING;
	else if (p->when == KL_WORD_IF_NOT)
		step.kind = KL_WORD_OTHER;
	else if (!p->after.before)
		step.kind = KL_WORD_WRITES;
	else
		step.kind = pending ? KL_WORD_ADDS : KL_WORD_OTHER;
	if (step.kind == KL_WORD_ADDS)
		step.after = rest;
	return step;
}

struct kl_word_step kl_word_step(const struct kl_word_method *m, const struct kl_val *vals,
				 bool pending)
{
	struct kl_word_step step = { .kind = pending ? KL_WORD_NOTHING : KL_WORD_NEVER };
	bool changes = false;
	unsigned int i;

	for (i = 0; i < m->nparams; i++)
		if (vals[i].tag != KL_WORD)
			return (struct kl_word_step){ .kind = KL_WORD_OTHER };
	for (i = 0; i < m->npaths; i++)
		changes |= !m->path[i].after.before || value_of(m, &m->path[i].after, vals);
	if (!pending && m->nresults && vals[m->nparams].tag != KL_WORD)
		return (struct kl_word_step){
			.kind = changes || vals[m->nparams].tag != KL_ANY ? KL_WORD_OTHER :
				KL_WORD_NOTHING,
		};
	for (i = 0; i < m->npaths; i++) {
		const struct kl_word_step s = step_on(m, &m->path[i], vals, pending);

		if (s.kind == KL_WORD_NEVER ||
		    (pending && (s.kind <= KL_WORD_SEES_NOT)))
			continue;
		if (step.kind != (pending ? KL_WORD_NOTHING : KL_WORD_NEVER))
			return (struct kl_word_step){ .kind = KL_WORD_OTHER };
		step = s;
	}
	return step;
}
