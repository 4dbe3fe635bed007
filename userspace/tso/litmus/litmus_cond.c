// SPDX-License-Identifier: GPL-2.0
/* Parser of litmus tests: locations, filter and condition. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "spec/interp/flow.h"
#include "tso/litmus/litmus_text.h"

#define DEPTH_MAX	200	/* depth of nested conditions */

/* Return: true if an instruction of thread @t may set the register. */
static bool sets(const struct kl_litmus *l, unsigned int t, unsigned int reg)
{
	const size_t end = t + 1 < l->nthreads ? l->prog.start[t + 1] : l->ncode;
	struct kl_flow f;
	size_t i;

	for (i = l->prog.start[t]; i < end; i += f.words) {
		kl_insn_flow(l->code + i, &f);
		if (f.def >> reg & 1)
			return true;
	}
	return false;
}

/* Return: true for a register that is 0 in each final state, since nothing gives it a value. */
static bool is_unset(const struct kl_litmus *l, const struct kl_lit_item *it)
{
	return it->thread >= 0 && it->index < KL_LIT_GPRS &&
	       !(l->has_init[it->thread] >> it->index & 1) && !sets(l, it->thread, it->index);
}

/*
 * Warn of a register or location at @at that is 0 in each final state, since nothing gives it a
 * value: most often it is misspelt, and the condition always holds or never.
 */
static void warn_unset(const struct kl_lt_cursor *c, const struct kl_lit_item *it, const char *at)
{
	const struct kl_litmus *l = c->l;
	const unsigned int i = it->index, t = it->thread;
	unsigned int size;

	if (it->thread < 0) {
		if (i >= l->nprogram)
			kl_lit_warn(l, at,
				    "'%s' is always 0: the test has no other mention of it%s",
				    l->locs[i].name,
				    kl_lit_register(l->x64, l->locs[i].name,
						    strlen(l->locs[i].name), &size) < 0 ?
					    "" :
					    "; write '0:' before a register of P0");
	} else if (is_unset(l, it)) {
		kl_lit_warn(l, at, "register %s of P%u is always 0: no instruction of P%u sets it",
			    kl_litmus_reg(l->x64, i), t, t);
	}
}

static int find_item(struct kl_lt_cursor *c, const struct kl_lit_item *it, const char *at)
{
	struct kl_litmus *l = c->l;
	unsigned int i;

	for (i = 0; i < l->nitems; i++)
		if (l->items[i].thread == it->thread && l->items[i].index == it->index)
			return i;
	if (i == KL_LIT_ITEMS) {
		kl_lt_fail(c, "the condition has too many registers and locations: klin litmus "
			   "supports %d", KL_LIT_ITEMS);
		return -1;
	}
	if (it->thread >= (int)l->nthreads) {
		kl_lt_fail(c, "the program has no thread %d", it->thread);
		return -1;
	}
	if (c->other && is_unset(l, it)) {
		c->p = at;
		kl_lt_fail(c, "register %s of P%u is always 0: no instruction of P%u sets it",
			   kl_litmus_reg(l->x64, it->index), it->thread, it->thread);
		return -1;
	}
	warn_unset(c, it, at);
	l->items[l->nitems++] = *it;
	return i;
}

static int add_node(struct kl_lt_cursor *c, enum kl_lit_op op, unsigned int a, unsigned int b,
		    uint64_t val)
{
	struct kl_litmus *l = c->l;

	if (c->err)
		return 0;
	if (l->nnodes == KL_LIT_NODES) {
		kl_lt_fail(c, "the condition has more than %d parts", KL_LIT_NODES);
		return 0;
	}
	c->err = kl_grow(l->nodes, l->cnodes, l->nnodes + 1);
	if (c->err)
		return 0;
	l->nodes[l->nnodes] = (struct kl_lit_node){ .op = op, .a = a, .b = b, .val = val };
	return l->nnodes++;
}

/* Return: the bits of the item that are compared.  @size is the size of a register, in bytes. */
static uint64_t compared_bits(const struct kl_lt_cursor *c, const struct kl_lit_item *it,
			      unsigned int size)
{
	return kl_lit_mask(it->thread < 0 ? c->l->locs[it->index].size : size);
}

static int atom(struct kl_lt_cursor *c)
{
	struct kl_lit_item it = { 0 }, other = { 0 };
	unsigned int size = 0;
	const char *at;
	bool differs;
	char buf[32];
	uint64_t v;
	int a, n;

	kl_lt_space(c);
	at = c->p;
	if (!kl_lt_place(c, &it, &size))
		return 0;
	a = find_item(c, &it, at);
	if (a < 0)
		return 0;
	differs = kl_lt_take(c, "<>") || kl_lt_take(c, "!=");
	if (!differs && !kl_lt_take(c, "==") && !kl_lt_take(c, "=")) {
		kl_lt_fail(c, "expected '=' or '<>', found '%s'", kl_lt_here(c, buf));
		return 0;
	}
	kl_lt_space(c);
	if (kl_lt_at_thread(c) || *c->p == '[' || *c->p == '*') {
		unsigned int other_size;

		at = c->p;
		if (!kl_lt_place(c, &other, &other_size))
			return 0;
		n = find_item(c, &other, at);
		n = n < 0 ? 0 : add_node(c, KL_LIT_SAME, a, n, 0);
	} else if (kl_lt_value(c, &v)) {
		if (!kl_vm_is_ptr(v))
			v &= compared_bits(c, &it, size);
		n = add_node(c, KL_LIT_EQ, a, 0, v);
		if (!c->err)
			c->l->nodes[n].mask = kl_vm_is_ptr(v) ? UINT64_MAX :
								compared_bits(c, &it, size);
	} else {
		return 0;
	}
	return differs ? add_node(c, KL_LIT_NOT, n, 0, 0) : n;
}

static int implies(struct kl_lt_cursor *c);

/* Advice on an operator of C or another language at @p. */
static const char *operator_meant(const char *p)
{
	if (*p == '&' || !strncasecmp(p, "and", 3) || *p == ',' || *p == '^')
		return "; write '/\\' for and";
	if (*p == '|' || !strncasecmp(p, "or", 2))
		return "; write '\\/' for or";
	return kl_lt_name_len(p) || isdigit((unsigned char)*p) ?
		       "; '/\\' or '\\/' stands between two conditions" :
		       "";
}

static int unary(struct kl_lt_cursor *c)
{
	char buf[32];
	int n = 0;

	if (c->err)
		return 0;
	if (c->depth == DEPTH_MAX) {
		kl_lt_fail(c, "the condition is nested more than %d deep", DEPTH_MAX);
		return 0;
	}
	c->depth++;
	if (kl_lt_take(c, "~") || kl_lt_take(c, "not")) {
		n = add_node(c, KL_LIT_NOT, unary(c), 0, 0);
	} else if (kl_lt_take(c, "true")) {
		n = add_node(c, KL_LIT_TRUE, 0, 0, 0);
	} else if (kl_lt_take(c, "false")) {
		n = add_node(c, KL_LIT_FALSE, 0, 0, 0);
	} else if (kl_lt_take(c, "(")) {
		n = implies(c);
		if (!c->err && !kl_lt_take(c, ")"))
			kl_lt_fail(c, "expected ')', found '%s'%s", kl_lt_here(c, buf),
				   operator_meant(c->p));
	} else {
		n = atom(c);
	}
	c->depth--;
	return n;
}

static int conjunction(struct kl_lt_cursor *c)
{
	int n = unary(c);

	while (!c->err && kl_lt_take(c, "/\\"))
		n = add_node(c, KL_LIT_AND, n, unary(c), 0);
	return n;
}

static int disjunction(struct kl_lt_cursor *c)
{
	int n = conjunction(c);

	while (!c->err && kl_lt_take(c, "\\/"))
		n = add_node(c, KL_LIT_OR, n, conjunction(c), 0);
	return n;
}

static int implies(struct kl_lt_cursor *c)
{
	int n = disjunction(c);

	/* The operator is right-associative, as in herd. */
	if (!c->err && kl_lt_take(c, "=>"))
		n = add_node(c, KL_LIT_IMPLIES, n, implies(c), 0);
	return n;
}

static bool locations(struct kl_lt_cursor *c)
{
	struct kl_lit_item it;
	const char *s, *at;
	unsigned int size;
	size_t len;

	if (!kl_lt_expect(c, "["))
		return false;
	while (!kl_lt_take(c, "]")) {
		it = (struct kl_lit_item){ 0 };
		kl_lt_space(c);
		at = c->p;
		if (!kl_lt_place(c, &it, &size) || find_item(c, &it, at) < 0)
			return false;
		kl_lt_space(c);
		/* A type says how to print the item; the declaration says the same, so skip it. */
		if (kl_lt_name(c, &s, &len))
			kl_lt_take(c, "*");
		kl_lt_space(c);
		if (*c->p != ']' && !kl_lt_expect(c, ";"))
			return false;
	}
	return true;
}

/*
 * Read the quantifiers that a test with `final' expects of each memory model, as in
 * `with tso: ~exists; default: exists;'.  The quantifier of tso or x86, else the default, is taken.
 */
static bool quantifiers(struct kl_lt_cursor *c)
{
	bool set = false, mine, any;
	const char *s;
	char buf[32];
	size_t len;

	do {
		enum kl_lit_quantifier q;

		if (!kl_lt_name(c, &s, &len) || !kl_lt_expect(c, ":"))
			return kl_lt_fail(c, "expected a model and ':', found "
					  "'%s'", kl_lt_here(c, buf));
		mine = (len == 3 && !memcmp(s, "tso", 3)) || (len == 3 && !memcmp(s, "x86", 3));
		any = len == 7 && !memcmp(s, "default", 7) && !set;
		if (kl_lt_take(c, "~") || kl_lt_take(c, "not"))
			q = kl_lt_expect(c, "exists") ? KL_LIT_NOT_EXISTS : KL_LIT_EXISTS;
		else if (kl_lt_take(c, "exists"))
			q = KL_LIT_EXISTS;
		else if (kl_lt_take(c, "forall"))
			q = KL_LIT_FORALL;
		else
			return kl_lt_fail(c, "expected 'exists', '~exists' or 'forall', found '%s'",
				    kl_lt_here(c, buf));
		if (mine || any)
			c->l->quantifier = q;
		set |= mine;
		kl_lt_space(c);
	} while (!c->err && kl_lt_take(c, ";") && (kl_lt_space(c), kl_lt_name_len(c->p)));
	return !c->err;
}

bool kl_lt_condition(struct kl_lt_cursor *c)
{
	struct kl_litmus *l = c->l;
	unsigned int t;
	char buf[32];

	for (t = l->nthreads; t < KL_VM_THREADS; t++)
		if (l->init_at[t])
			kl_lit_warn(l, l->init_at[t], "the program has no thread %u", t);

	if (kl_lt_take(c, "locations") && !locations(c))
		return false;
	l->filter = -1;
	if (kl_lt_take(c, "filter"))
		l->filter = implies(c);
	kl_lt_space(c);
	if (kl_lt_take(c, "exists") || kl_lt_take(c, "final")) {
		l->quantifier = KL_LIT_EXISTS;
		l->condition = implies(c);
	} else if (kl_lt_take(c, "forall")) {
		l->quantifier = KL_LIT_FORALL;
		l->condition = implies(c);
	} else if (kl_lt_take(c, "~") || kl_lt_take(c, "not")) {
		l->quantifier = KL_LIT_NOT_EXISTS;
		if (kl_lt_expect(c, "exists"))
			l->condition = implies(c);
	} else if (!*c->p) {
		/* A test that lists locations asks for the states alone. */
		if (!l->nitems)
			kl_lit_warn(l, NULL,
				    "the test has no condition, such as `exists (x=1)', so "
				    "nothing is decided");
		l->quantifier = KL_LIT_FORALL;
		l->condition = add_node(c, KL_LIT_TRUE, 0, 0, 0);
	} else {
		return kl_lt_fail(c, "expected 'exists', '~exists' or 'forall', found '%s'",
			    kl_lt_here(c, buf));
	}
	kl_lt_take(c, ";");
	if (!c->err && kl_lt_take(c, "with") && !quantifiers(c))
		return false;
	/* Skip directives for memevents. */
	while (!c->err && kl_lt_take(c, "<<")) {
		while (*c->p && strncmp(c->p, ">>", 2))
			c->p++;
		if (!kl_lt_expect(c, ">>"))
			return false;
	}
	kl_lt_space(c);
	if (*c->p)
		kl_lt_fail(c, "expected the end of the test, found '%s'%s", kl_lt_here(c, buf),
			   strncmp(c->p, "exists", 6) ? operator_meant(c->p) :
							"; a test has one condition");
	return !c->err;
}

bool kl_lt_other_condition(struct kl_lt_cursor *c, const char *text)
{
	struct kl_litmus *l = c->l;
	const char *path = l->path, *old = l->text, *copy = l->copy;
	const unsigned int nlocs = l->nlocs;
	char buf[32];

	/* Messages show the condition, and not the test. */
	c->other = true;
	l->path = "--explain";
	l->text = l->copy = c->p = text;
	l->quantifier = KL_LIT_EXISTS;
	l->condition = implies(c);
	/* A line of final states, such as "0:EAX=0; x=1;", is a condition too. */
	while (!c->err && kl_lt_take(c, ";") && (kl_lt_space(c), *c->p))
		l->condition = add_node(c, KL_LIT_AND, l->condition, implies(c), 0);
	kl_lt_space(c);
	if (l->nlocs != nlocs) {
		c->p = text;
		kl_lt_fail(c, "the test has no location '%s'", l->locs[nlocs].name);
	} else if (*c->p) {
		kl_lt_fail(c, "expected the end of the condition, found '%s'", kl_lt_here(c, buf));
	}
	l->path = path;
	l->text = old;
	l->copy = copy;
	return !c->err;
}
