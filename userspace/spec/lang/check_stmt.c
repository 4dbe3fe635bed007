// SPDX-License-Identifier: GPL-2.0
/* The checker: statements and methods. */
#include <string.h>

#include "spec/interp/run.h"
#include "spec/lang/check.h"

static bool check_list(struct kl_checker *c, struct kl_stmt *s);

static void declare(struct kl_checker *c, const char *name, struct kl_pos pos, enum kl_etype type,
		    struct kl_local **out)
{
	struct kl_local *old = kl_check_local(c, name), *l;
	size_t i;

	if (old)
		kl_diag_err(c->d, pos, "'%s' is already declared in line %u", name, old->pos.line);
	for (i = 0; i < c->s->nvars; i++)
		if (!strcmp(c->s->vars[i].name, name))
			kl_diag_err(c->d, pos,
				    "'%s' is the name of a variable of the state, declared in "
				    "line %u", name, c->s->vars[i].pos.line);
	for (i = 0; i < c->s->nconsts; i++)
		if (!strcmp(c->s->consts[i].name, name))
			kl_diag_err(c->d, pos,
				    "'%s' is the name of a constant, declared in line %u", name,
				    c->s->consts[i].pos.line);
	l = kl_arena_alloc(&c->s->arena, sizeof(*l));
	if (!l) {
		c->out_of_memory = true;
		return;
	}
	*l = (struct kl_local){ .name = name, .pos = pos, .type = type, .reg = c->nscope };
	*out = l;
	if (c->nscope < KL_LOCALS_MAX)
		c->scope[c->nscope++] = l;
	else
		kl_diag_err(c->d, pos, "more than %d variables alive at once", KL_LOCALS_MAX);
	if (c->nscope > c->m->nlocals)
		c->m->nlocals = c->nscope;
	kl_part_declare(c, l);
}

/* Check an assignment of @e to @l; @e is NULL if any word is assigned. */
static void set_local(struct kl_checker *c, struct kl_local *l, struct kl_pos pos,
		      const struct kl_ast_expr *e)
{
	c->special_local |= e && e->special;
	l->assigned = true;
	kl_part_set(c, l, pos);
}

static void check_assign(struct kl_checker *c, struct kl_stmt *s)
{
	enum kl_etype type = kl_check_place(c, s->lhs, true);

	s->lhs->type = type;
	if (type == KL_ET_ERR) {
		kl_check_expr(c, s->a);
		return;
	}
	if (s->op != '=' && type != KL_ET_WORD)
		kl_diag_err(c->d, s->pos, "this assignment computes with words, '%s' is a bool",
			    s->lhs->name);
	kl_check_need(c, s->a, type, "the value");
	if (s->lhs->local) {
		set_local(c, s->lhs->local, s->a->pos, s->a);
		if (s->op != '=')
			kl_check_use(c, s->a, KL_USE_COMPUTED);
		return;
	}
	if (s->op == '=')
		kl_check_stored(c, s->a);
	else
		c->m->pub.blind = false;
	if (s->op != '=')
		kl_check_use(c, s->a, KL_USE_COMPUTED);
	c->m->pub.pure = false;
	c->m->pub.flush &= c->atomic->flush;
}

static void check_decl(struct kl_checker *c, struct kl_stmt *s)
{
	if (s->a)
		kl_check_need(c, s->a, s->type, "the value");
	declare(c, s->name, s->pos, s->type, &s->local);
	if (s->a)
		c->special_local |= s->a->special;
}

static void check_choose(struct kl_checker *c, struct kl_stmt *s)
{
	if (s->a) {
		kl_check_need(c, s->a, KL_ET_WORD, "the range's first end");
		kl_check_need(c, s->b, KL_ET_WORD, "the range's second end");
		kl_check_use(c, s->a, KL_USE_COMPUTED);
		kl_check_use(c, s->b, KL_USE_COMPUTED);
		if (s->a->kind == KL_A_NUM && s->b->kind == KL_A_NUM &&
		    s->b->num - s->a->num >= KL_PATHS_MAX)
			kl_diag_err(c->d, s->a->pos, "a range has 1 to %u words, the least first",
				    KL_PATHS_MAX);
	}
	s->local = s->has_type ? NULL : kl_check_local(c, s->name);
	if (!s->local) {
		declare(c, s->name, s->pos, KL_ET_WORD, &s->local);
		s->has_type = true;
		return;
	}
	if (s->local->type != KL_ET_WORD)
		kl_diag_err(c->d, s->pos, "'%s' is a bool, expected a word", s->name);
	set_local(c, s->local, s->pos, s->a);
}

static void end_path(struct kl_checker *c)
{
	struct kl_method *m = &c->m->pub;

	if (c->blocks > m->nblocks)
		m->nblocks = c->blocks;
	m->barrier_always &= c->fenced;
}

static void check_return(struct kl_checker *c, struct kl_stmt *s)
{
	struct kl_method *m = &c->m->pub;
	char what[KL_NAME_MAX + 16];
	unsigned int i;

	if (s->nret != m->nresults)
		kl_diag_err(c->d, s->pos, "'%s' has %u result%s, 'return' gives %u", m->name,
			    m->nresults, m->nresults == 1 ? "" : "s", s->nret);
	for (i = 0; i < s->nret; i++) {
		snprintf(what, sizeof(what), "result '%s'",
			 i < m->nresults ? m->results[i].name : "?");
		if (i < m->nresults)
			kl_check_need(c, s->ret[i], kl_etype(m->results[i].type), what);
		else
			kl_check_expr(c, s->ret[i]);
	}
	kl_part_return(c, s);
	end_path(c);
}

/*
 * The state of the checker where several paths from one point join again: at that point
 * (@start...), and joined over the paths so far.  Paths that ended by a return do not count.
 */
struct join {
	unsigned int start_blocks, blocks;
	bool start_fenced, fenced, ends;
	const struct kl_local *start_key, *key;
};

static void join_begin(struct kl_checker *c, struct join *j)
{
	*j = (struct join){
		.start_blocks = c->blocks, .start_fenced = c->fenced, .fenced = true, .ends = true,
		.start_key = c->key,
	};
}

static void join_way(struct kl_checker *c, struct join *j, struct kl_stmt *body)
{
	c->blocks = j->start_blocks;
	c->fenced = j->start_fenced;
	c->key = j->start_key;
	if (check_list(c, body))
		return;
	j->ends = false;
	j->key = kl_part_join(j->key, c->key);
	j->fenced &= c->fenced;
	if (c->blocks > j->blocks)
		j->blocks = c->blocks;
}

static bool join_end(struct kl_checker *c, const struct join *j)
{
	c->blocks = j->ends ? j->start_blocks : j->blocks;
	c->fenced = j->fenced;
	c->key = j->ends ? j->start_key : j->key;
	return j->ends;
}

static bool check_if(struct kl_checker *c, struct kl_stmt *s)
{
	struct join j;

	kl_check_need(c, s->a, KL_ET_BOOL, "the condition");
	join_begin(c, &j);
	join_way(c, &j, s->body);
	join_way(c, &j, s->other);
	return join_end(c, &j);
}

static bool check_either(struct kl_checker *c, struct kl_stmt *s)
{
	struct kl_stmt *alt;
	struct join j;

	join_begin(c, &j);
	for (alt = s->body; alt; alt = alt->next)
		join_way(c, &j, alt->body);
	return join_end(c, &j);
}

static bool check_atomic(struct kl_checker *c, struct kl_stmt *s)
{
	bool ends;

	if (c->atomic)
		kl_diag_err(c->d, s->pos, "'%s' inside the atomic block of line %u",
			    s->flush ? "atomic_flush" : "atomic", c->atomic->pos.line);
	else if (c->loops)
		kl_diag_err(c->d, s->pos,
			    "an atomic block in a loop: put the loop into the block");
	if (c->atomic)
		return check_list(c, s->body);
	c->atomic = s;
	c->blocks++;
	c->m->pub.barrier |= s->flush;
	c->fenced |= s->flush;
	ends = check_list(c, s->body);
	c->atomic = NULL;
	return ends;
}

static void check_fence(struct kl_checker *c, struct kl_stmt *s)
{
	c->m->pub.barrier = true;
	c->fenced |= !c->loops;
	if (c->atomic)
		kl_diag_err(c->d, s->pos,
			    "'fence' inside the atomic block of line %u: put it before the block, "
			    "or use 'atomic_flush'", c->atomic->pos.line);
	/* A fence after a write would be a step of its own, which flushes the write. */
	else if (c->blocks)
		kl_diag_err(c->d, s->pos,
			    "'fence' after an atomic block: put it before the block, or use "
			    "'atomic_flush'");
}

/* Check a statement.  Return: true if the statement after it cannot be reached. */
static bool check_stmt(struct kl_checker *c, struct kl_stmt *s)
{
	switch (s->kind) {
	case KL_S_BLOCK:
		return check_list(c, s->body);
	case KL_S_IF:
		return check_if(c, s);
	case KL_S_WHILE:
		kl_check_need(c, s->a, KL_ET_BOOL, "the condition");
		c->loops++;
		check_list(c, s->body);
		c->loops--;
		/* No loop ends but by its condition. */
		return s->a->kind == KL_A_BOOL && s->a->num;
	case KL_S_DECL:
		check_decl(c, s);
		return false;
	case KL_S_ASSIGN:
		check_assign(c, s);
		return false;
	case KL_S_EXPR:
		kl_check_expr(c, s->lhs);
		return false;
	case KL_S_RETURN:
		check_return(c, s);
		return true;
	case KL_S_ASSUME:
	case KL_S_ASSERT:
		kl_check_need(c, s->a, KL_ET_BOOL, "the condition");
		return false;
	case KL_S_CHOOSE:
		check_choose(c, s);
		return false;
	case KL_S_EITHER:
		return check_either(c, s);
	case KL_S_ATOMIC:
		return check_atomic(c, s);
	case KL_S_FENCE:
		check_fence(c, s);
		return false;
	default: /* statements of implementations, which the parser does not make here */
		return false;
	}
	return false;
}

static bool check_list(struct kl_checker *c, struct kl_stmt *s)
{
	unsigned int scope = c->nscope;
	bool ends = false;

	for (; s; s = s->next) {
		if (ends) {
			kl_diag_warn(c->d, s->pos, "this statement is never reached");
			check_stmt(c, s);
		} else {
			ends = check_stmt(c, s);
		}
	}
	c->nscope = scope;
	return ends;
}

void kl_check_method(struct kl_checker *c, struct kl_method_def *m)
{
	struct kl_local *l;
	unsigned int i, j;

	c->m = m;
	c->nscope = 0;
	c->blocks = 0;
	c->fenced = false;
	c->key = NULL;
	c->special_local = false;
	c->stores_local = false;
	m->pub.pure = true;
	m->pub.blind = true;
	m->pub.flush = true;
	m->pub.barrier_always = true;
	for (i = 0; i < m->pub.nparams; i++) {
		declare(c, m->pub.params[i].name, m->param_pos[i], kl_etype(m->pub.params[i].type),
			&l);
		m->has_bool |= m->pub.params[i].type == KL_T_BOOL;
	}
	for (i = 0; i < m->pub.nresults; i++) {
		m->has_bool |= m->pub.results[i].type == KL_T_BOOL;
		for (j = 0; j < i; j++)
			if (!strcmp(m->pub.results[i].name, m->pub.results[j].name))
				kl_diag_err(c->d, m->result_pos[i],
					    "'%s' is the name of another result already",
					    m->pub.results[i].name);
	}
	if (!check_list(c, m->body->body)) {
		if (m->pub.nresults)
			kl_diag_err(c->d, m->pos,
				    "'%s' can end without 'return', but has %u result%s",
				    m->pub.name, m->pub.nresults, m->pub.nresults == 1 ? "" : "s");
		end_path(c);
	}
	if (c->special_local && c->stores_local)
		c->s->specials = true;
	c->m = NULL;
}
