// SPDX-License-Identifier: GPL-2.0
/* The compiler of implementations: statements. */
#include <string.h>

#include "spec/impl/impl_gen.h"

static bool stmt(struct kl_igen *g, const struct kl_stmt *s);

/*
 * Add a jump to a place that is not known yet.  Such jumps are chained through their targets: a
 * target is the place of the next jump + 1, or 0 at the end.
 */
static void chain(struct kl_igen *g, unsigned int *head)
{
	*head = 1 + kl_ig_emit(g, kl_insn_imm(KL_I_JMP, 0, *head));
}

static void resolve(struct kl_igen *g, unsigned int head)
{
	unsigned int next;

	while (head && !g->g.err) {
		next = g->g.s->code[g->m->code + head - 1] >> 16;
		kl_gen_patch(&g->g, head - 1);
		head = next;
	}
}

static unsigned int type_of(struct kl_igen *g, const struct kl_stmt *s)
{
	if (s->tname)
		return kl_ig_struct(g, s->tname, s->pos);
	return s->type == KL_ET_BOOL ? KL_IT_BOOL : KL_IT_WORD;
}

static void declare(struct kl_igen *g, const char *name, struct kl_pos pos, unsigned int type)
{
	unsigned int i;

	for (i = 0; i < g->nlocals; i++)
		if (!strcmp(g->local[i].name, name))
			kl_ig_err(g, pos, "'%s' is already declared in line %u", name,
				  g->local[i].pos.line);
	for (i = 0; i < g->im->nvars; i++)
		if (!strcmp(g->im->vars[i].f.name, name))
			kl_ig_err(g, pos, "'%s' is the name of a shared variable, declared in "
				  "line %u", name, g->im->vars[i].f.pos.line);
	if (g->nlocals == KL_IMPL_REGS) {
		kl_ig_err(g, pos, "more than %d variables alive at once", KL_IMPL_REGS);
		return;
	}
	kl_ig_has_value(g, g->nlocals);
	kl_ig_local(g, name, pos, type);
}

static void decl(struct kl_igen *g, const struct kl_stmt *s)
{
	const unsigned int type = type_of(g, s);
	unsigned int r;

	if (s->a) {
		g->later = s->a;
		r = kl_ig_value(g, s->a, type, "the value");
	} else {
		r = kl_gen_temp(&g->g);
		kl_ig_emit(g, kl_insn_imm(KL_I_CONST, r, kl_gen_constant(&g->g, kl_word(0))));
	}
	declare(g, s->name, s->pos, type);
	if (!s->a)
		kl_ig_no_value(g, g->nlocals - 1);
	if (r != g->nlocals - 1)
		kl_ig_emit(g, kl_insn(KL_I_MOV, g->nlocals - 1, r, 0));
	if (s->a)
		kl_ig_lin(g, s->a->lin, s->a, true);
}

static void assign(struct kl_igen *g, const struct kl_stmt *s)
{
	struct kl_place p = kl_ig_place(g, s->lhs);
	unsigned int v, old;

	if (p.kind != KL_PL_NONE && p.type == KL_IT_LOCK) {
		kl_ig_err(g, s->pos, "a lock is taken with lock() and released with unlock() only");
		return;
	}
	g->later = s->a;
	if (s->op == '=') {
		v = kl_ig_value(g, s->a, p.type, "the value");
		kl_ig_store(g, &p, v);
		kl_ig_lin(g, s->a->lin, s->a, true);
		return;
	}
	if (!kl_ig_fits(p.type, KL_IT_WORD))
		kl_ig_err(g, s->pos, "this assignment computes with words");
	v = kl_ig_value(g, s->a, KL_IT_WORD, "the value");
	old = kl_gen_temp(&g->g);
	if (p.kind == KL_PL_LOCAL)
		kl_ig_read(g, p.reg, s->lhs->pos);
	kl_ig_load(g, &p, old);
	kl_gen_arith(&g->g, s->op, old, old, v);
	kl_ig_store(g, &p, old);
	kl_ig_lin(g, s->a->lin, s->a, true);
}

static bool if_stmt(struct kl_igen *g, const struct kl_stmt *s)
{
	struct kl_iunset before, then;
	unsigned int to_else, to_end;
	bool a, b;

	to_else = kl_ig_emit(g, kl_insn_imm(KL_I_JZ, kl_ig_value(g, s->a, KL_IT_BOOL,
								  "the condition"), 0));
	before = g->unset;
	a = kl_ig_list(g, s->body);
	if (!s->other) {
		kl_gen_patch(&g->g, to_else);
		kl_ig_meet(&g->unset, &before);
		return false;
	}
	then = g->unset;
	g->unset = before;
	to_end = kl_ig_emit(g, kl_insn_imm(KL_I_JMP, 0, 0));
	kl_gen_patch(&g->g, to_else);
	b = kl_ig_list(g, s->other);
	kl_gen_patch(&g->g, to_end);
	kl_ig_meet(&g->unset, &then);
	return a && b;
}

static bool always(const struct kl_ast_expr *e)
{
	return e->kind == KL_A_BOOL && e->num;
}

static bool loop(struct kl_igen *g, const struct kl_stmt *s)
{
	const unsigned int brk = g->brk, cont = g->cont, start = kl_gen_here(&g->g);
	const bool broken = g->broken, leaves = s->kind == KL_S_WHILE && !always(s->a);
	const struct kl_iunset at_brk = g->at_brk, at_cont = g->at_cont;
	struct kl_iunset out = { .dead = true };
	unsigned int to_end = 0;
	bool ends;

	g->brk = g->cont = 0;
	g->broken = false;
	g->nloops++;
	g->at_brk = g->at_cont = out;
	/* A variable without a value in the first iteration may have one in later iterations. */
	g->unset.always &= ~kl_ig_sets(g, s->body);
	if (leaves)
		to_end = kl_ig_emit(g, kl_insn_imm(KL_I_JZ, kl_ig_value(g, s->a, KL_IT_BOOL,
									 "the condition"), 0));
	if (leaves)
		out = g->unset;
	kl_ig_list(g, s->body);
	resolve(g, g->cont);
	if (s->kind == KL_S_DO) {
		kl_ig_meet(&g->unset, &g->at_cont);
		g->g.top = g->nlocals;
		g->later = NULL;
		g->rmw_type = 0;
		kl_ig_emit(g, kl_insn_imm(KL_I_JNZ, kl_ig_value(g, s->a, KL_IT_BOOL,
								 "the condition"), start));
		out = g->unset;
		out.dead |= always(s->a);
	} else {
		kl_ig_emit(g, kl_insn_imm(KL_I_JMP, 0, start));
	}
	if (leaves)
		kl_gen_patch(&g->g, to_end);
	resolve(g, g->brk);
	kl_ig_meet(&out, &g->at_brk);
	g->unset = out;
	g->at_brk = at_brk;
	g->at_cont = at_cont;
	ends = always(s->a) && !g->broken;
	g->brk = brk;
	g->cont = cont;
	g->broken = broken;
	g->nloops--;
	return ends;
}

static bool either(struct kl_igen *g, const struct kl_stmt *s)
{
	const struct kl_stmt *alt;
	const struct kl_iunset before = g->unset;
	struct kl_iunset out = { .dead = true };
	unsigned int n = 0, table, i = 0, ends = 0;
	bool all = true;

	for (alt = s->body; alt; alt = alt->next)
		n++;
	if (n > 255) {
		kl_ig_err(g, s->pos, "more than 255 alternatives");
		return false;
	}
	kl_ig_emit(g, kl_insn(KL_I_EITHER, n, 0, 0));
	table = kl_gen_here(&g->g);
	for (i = 0; i < n; i++)
		kl_ig_emit(g, 0);
	for (i = 0, alt = s->body; alt; alt = alt->next, i++) {
		if (!g->g.err)
			g->g.s->code[g->m->code + table + i] = kl_gen_here(&g->g);
		g->unset = before;
		all &= kl_ig_list(g, alt->body);
		kl_ig_meet(&out, &g->unset);
		chain(g, &ends);
	}
	g->unset = out;
	resolve(g, ends);
	return all;
}

static void lock_stmt(struct kl_igen *g, const struct kl_stmt *s)
{
	struct kl_place p = kl_ig_place(g, s->lhs);
	unsigned int t = kl_gen_temp(&g->g);

	if (p.kind != KL_PL_NONE && p.type != KL_IT_LOCK)
		kl_ig_err(g, s->lhs->pos, "expected a variable or a field of type lock");
	if (g->atomic)
		kl_ig_err(g, s->pos, "a lock inside the atomic block of line %u", g->atomic);
	if (g->lin) {
		if (p.kind == KL_PL_ARRAY)
			kl_ig_err(g, s->lhs->pos, "klin verify does not support arrays of locks");
		kl_ig_emit(g, kl_insn(s->kind == KL_S_LOCK ? KL_I_LOCK : KL_I_UNLOCK,
				      p.kind == KL_PL_FIELD, p.kind == KL_PL_FIELD ? p.reg : p.at,
				      p.at));
		return;
	}
	if (s->kind == KL_S_UNLOCK) {
		kl_ig_emit(g, kl_insn_imm(KL_I_CONST, t, kl_gen_constant(&g->g, kl_word(0))));
		kl_ig_store(g, &p, t);
		return;
	}
	kl_ig_emit(g, kl_insn(KL_I_BLOCK, 1, 0, 0));
	kl_ig_load(g, &p, t);
	kl_ig_emit(g, kl_insn(KL_I_NOT, t, t, 0));
	kl_ig_emit(g, kl_insn(KL_I_ASSUME, t, 0, 0));
	/* The lock was free, so t is 1 here, and taking it stores 1. */
	kl_ig_store(g, &p, t);
	kl_ig_emit(g, kl_insn(KL_I_END, 0, 0, 0));
}

static void call(struct kl_igen *g, const struct kl_stmt *s)
{
	const struct kl_method_def *m = NULL;
	unsigned int first = g->g.top, i, r;
	struct kl_place p;
	size_t k;

	for (k = 0; k < g->im->nmethods; k++)
		if (!strcmp(g->im->methods[k].pub.name, s->name))
			m = &g->im->methods[k];
	if (g->code != KL_IC_THREAD) {
		kl_ig_err(g, s->pos, "'call' is for the threads of a client");
		return;
	}
	if (g->atomic)
		kl_ig_err(g, s->pos, "a call inside the atomic block of line %u", g->atomic);
	if (!m) {
		kl_ig_err(g, s->pos, "no method '%s' in the implementation", s->name);
		return;
	}
	if (s->nret != m->pub.nparams || (s->nout && s->nout != m->pub.nresults)) {
		kl_ig_err(g, s->pos, "'%s' has %u parameter%s and %u result%s, found %u and %u",
			  s->name, m->pub.nparams, m->pub.nparams == 1 ? "" : "s", m->pub.nresults,
			  m->pub.nresults == 1 ? "" : "s", s->nret, s->nout);
		return;
	}
	for (i = 0; i < m->pub.nparams || i < m->pub.nresults; i++)
		kl_gen_temp(&g->g);
	for (i = 0; i < s->nret; i++) {
		r = kl_ig_value(g, s->ret[i], m->pub.params[i].type == KL_T_BOOL ? KL_IT_BOOL :
				KL_IT_WORD, "the argument");
		kl_ig_emit(g, kl_insn(KL_I_MOV, first + i, r, 0));
	}
	kl_ig_emit(g, kl_insn_imm(KL_I_CALL, first, m - g->im->methods));
	for (i = 0; i < s->nout; i++) {
		p = kl_ig_place(g, s->out[i]);
		if (p.kind != KL_PL_NONE &&
		    !kl_ig_fits(m->pub.results[i].type == KL_T_BOOL ? KL_IT_BOOL : KL_IT_WORD,
				p.type))
			kl_ig_err(g, s->out[i]->pos, "the result has another type");
		kl_ig_store(g, &p, first + i);
	}
}

static void return_stmt(struct kl_igen *g, const struct kl_stmt *s)
{
	const struct kl_method *m = &g->m->pub;
	unsigned int first = g->g.top, i, r;

	if (g->code != KL_IC_METHOD) {
		kl_ig_err(g, s->pos, "'return' is for methods");
		return;
	}
	g->returns |= !g->unset.dead;
	if (s->nret != m->nresults) {
		kl_ig_err(g, s->pos, "'%s' has %u result%s, 'return' gives %u", m->name,
			  m->nresults, m->nresults == 1 ? "" : "s", s->nret);
		return;
	}
	for (i = 0; i < s->nret; i++)
		kl_gen_temp(&g->g);
	for (i = 0; i < s->nret; i++) {
		r = kl_ig_value(g, s->ret[i], m->results[i].type == KL_T_BOOL ? KL_IT_BOOL :
				KL_IT_WORD, "the result");
		kl_ig_emit(g, kl_insn(KL_I_MOV, first + i, r, 0));
	}
	kl_ig_emit(g, kl_insn(KL_I_RETURN, s->nret, first, 0));
}

static bool atomic(struct kl_igen *g, const struct kl_stmt *s)
{
	bool ends;

	if (g->atomic) {
		kl_ig_err(g, s->pos, "an atomic block inside the atomic block of line "
				     "%u", g->atomic);
		return false;
	}
	if (g->code == KL_IC_FINAL || g->code == KL_IC_INIT)
		kl_ig_err(g, s->pos, "no other thread runs here: an atomic block has no effect");
	g->atomic = s->pos.line;
	kl_ig_emit(g, kl_insn(KL_I_BLOCK, s->flush, 0, 0));
	ends = kl_ig_list(g, s->body);
	if (!ends)
		kl_ig_emit(g, kl_insn(KL_I_END, 0, 0, 0));
	g->atomic = 0;
	return ends;
}

static void jump(struct kl_igen *g, const struct kl_stmt *s)
{
	const char *name = s->kind == KL_S_BREAK ? "break" : "continue";

	if (!g->nloops) {
		kl_ig_err(g, s->pos, "'%s' outside a loop", name);
		return;
	}
	if (g->atomic)
		kl_ig_err(g, s->pos, "'%s' inside the atomic block of line %u", name, g->atomic);
	g->broken |= s->kind == KL_S_BREAK;
	kl_ig_meet(s->kind == KL_S_BREAK ? &g->at_brk : &g->at_cont, &g->unset);
	chain(g, s->kind == KL_S_BREAK ? &g->brk : &g->cont);
}

static void choose(struct kl_igen *g, const struct kl_stmt *s)
{
	unsigned int a, b, i;

	if (!s->a)
		kl_ig_err(g, s->pos, "a range is needed: 'choose x in 0..3;'");
	a = s->a ? kl_ig_value(g, s->a, KL_IT_WORD, "the range's first end") : 0;
	b = s->b ? kl_ig_value(g, s->b, KL_IT_WORD, "the range's second end") : 0;
	for (i = g->nlocals; i--;)
		if (!s->has_type && !strcmp(g->local[i].name, s->name))
			break;
	if (i >= g->nlocals) {
		i = g->nlocals;
		declare(g, s->name, s->pos, KL_IT_WORD);
	}
	kl_ig_has_value(g, i);
	kl_ig_emit(g, kl_insn(KL_I_CHOOSE, i, a, b));
}

/* Compile a statement.  Return: true if the statement after it cannot be reached. */
static bool stmt(struct kl_igen *g, const struct kl_stmt *s)
{
	unsigned int r;
	bool ends;

	g->g.line = s->pos.line;
	switch (s->kind) {
	case KL_S_BLOCK:
		kl_ig_lin(g, s->lin, NULL, false);
		return kl_ig_list(g, s->body);
	case KL_S_IF:
		return if_stmt(g, s);
	case KL_S_WHILE:
	case KL_S_DO:
		return loop(g, s);
	case KL_S_DECL:
		decl(g, s);
		return false;
	case KL_S_ASSIGN:
		assign(g, s);
		return false;
	case KL_S_EXPR:
		kl_ig_expr(g, s->lhs, kl_gen_temp(&g->g));
		return false;
	case KL_S_RETURN:
		return_stmt(g, s);
		return true;
	case KL_S_ASSUME:
	case KL_S_ASSERT:
		r = kl_ig_value(g, s->a, KL_IT_BOOL, "the condition");
		kl_ig_emit(g, kl_insn(s->kind == KL_S_ASSUME ? KL_I_ASSUME : KL_I_ASSERT, r, 0, 0));
		if (s->kind == KL_S_ASSERT)
			kl_ig_emit(g, s->pos.line);
		return false;
	case KL_S_CHOOSE:
		choose(g, s);
		return false;
	case KL_S_EITHER:
		return either(g, s);
	case KL_S_ATOMIC:
		ends = atomic(g, s);
		kl_ig_lin(g, s->lin, NULL, true);
		return ends;
	case KL_S_FENCE:
		if (g->atomic)
			kl_ig_err(g, s->pos, "'fence' inside the atomic block of line %u",
				  g->atomic);
		kl_ig_emit(g, kl_insn(KL_I_FENCE, 0, 0, 0));
		return false;
	case KL_S_BREAK:
	case KL_S_CONTINUE:
		jump(g, s);
		return true;
	case KL_S_LOCK:
	case KL_S_UNLOCK:
		lock_stmt(g, s);
		kl_ig_lin(g, s->lin, NULL, true);
		return false;
	case KL_S_CALL:
		call(g, s);
		return false;
	}
	return false;
}

bool kl_ig_list(struct kl_igen *g, const struct kl_stmt *s)
{
	const unsigned int nlocals = g->nlocals;
	bool ends = false;

	for (; s; s = s->next) {
		if (ends)
			kl_diag_warn(g->g.d, s->pos, "this statement is never reached");
		g->g.top = g->nlocals;
		g->later = NULL;
		g->rmw_type = 0;
		ends |= stmt(g, s);
		g->unset.dead |= ends;
	}
	g->nkept = g->nlocals;
	g->nlocals = nlocals;
	return ends;
}
