// SPDX-License-Identifier: GPL-2.0
/*
 * Random implementations, see random_impl.h, made of pieces.  Each piece has two forms: text, and
 * code of the naive machine.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "random_impl.h"

#define HERE	(-100)		/* a jump target relative to the begin of the piece */
#define AT(i)	(HERE - (i))

struct piece {
	const char *text;
	bool words_only;	/* the piece computes with the value */
	struct n_insn code[20];
};

#define I(op, ...)	{ op, { __VA_ARGS__ } }
#define LOCKED(...)	I(N_BEGIN, 1), __VA_ARGS__, I(N_END, 0)
#define END_OF_CODE	I(N_RET, -2)

static const struct piece sets[] = {
	{ "x = v;", false, { I(N_ST, N_X, R_V), END_OF_CODE } },
	{ "y = v;", false, { I(N_ST, N_Y, R_V), END_OF_CODE } },
	{ "fence;", false, { I(N_FENCE, 0), END_OF_CODE } },
	{ "xchg(&x, v);", false, { LOCKED(I(N_ST, N_X, R_V)), END_OF_CODE } },
	{ "cas(&x, 0, v);", false,
	  { I(N_BEGIN, 1), I(N_LD, R_T, N_X), I(N_JNE, AT(4), R_T, R_0), I(N_ST, N_X, R_V),
	    I(N_END, 0), END_OF_CODE } },
	{ "n = new node; n->v = v; p = n;", false,
	  { I(N_NEW, R_N), I(N_STF, R_V, R_N, 0), I(N_ST, N_P, R_N), END_OF_CODE } },
	{ "lock(m); x = v; unlock(m);", false,
	  { LOCKED(I(N_LD, R_T, N_M), I(N_ASSUME0, R_T), I(N_CONST, R_T, 1),
		   I(N_ST, N_M, R_T)),
	    I(N_ST, N_X, R_V), I(N_ST, N_M, R_0), END_OF_CODE } },
	{ "lock(m); x = v;", false,
	  { LOCKED(I(N_LD, R_T, N_M), I(N_ASSUME0, R_T), I(N_CONST, R_T, 1),
		   I(N_ST, N_M, R_T)),
	    I(N_ST, N_X, R_V), END_OF_CODE } },
	{ "a = x; y = a;", false, { I(N_LD, R_A, N_X), I(N_ST, N_Y, R_A), END_OF_CODE } },
	{ "atomic { x = v; y = v; }", false,
	  { I(N_BEGIN, 0), I(N_ST, N_X, R_V), I(N_ST, N_Y, R_V), I(N_END, 0), END_OF_CODE } },
	{ "atomic_flush { x = v; y = v; }", false,
	  { LOCKED(I(N_ST, N_X, R_V), I(N_ST, N_Y, R_V)), END_OF_CODE } },
	{ "fadd(&y, 1);", true,
	  { LOCKED(I(N_LD, R_T, N_Y), I(N_INC, R_T, 1), I(N_ST, N_Y, R_T)), END_OF_CODE } },
	{ "do { a = x; } while (!cas(&x, a, v));", false,
	  { I(N_LD, R_A, N_X), I(N_BEGIN, 1), I(N_LD, R_T, N_X), I(N_JNE, AT(5), R_T, R_A),
	    I(N_ST, N_X, R_V), I(N_END, 0), I(N_JNE, AT(0), R_T, R_A), END_OF_CODE } },
	{ "q = p; if (q != null) q->v = v;", false,
	  { I(N_LD, R_Q, N_P), I(N_JEQ, AT(3), R_Q, R_0), I(N_STF, R_V, R_Q, 0), END_OF_CODE } },
	{ "do { a = y; } while (y != a);", false,
	  { I(N_LD, R_A, N_Y), I(N_LD, R_T, N_Y), I(N_JNE, AT(0), R_T, R_A), END_OF_CODE } },
	{ "z += 1; x = v; z += 1;", false,
	  { I(N_LD, R_T, N_Z), I(N_INC, R_T, 1), I(N_ST, N_Z, R_T), I(N_ST, N_X, R_V),
	    I(N_LD, R_T, N_Z), I(N_INC, R_T, 1), I(N_ST, N_Z, R_T), END_OF_CODE } },
	{ "n = new node; n->v = v; do { q = p; n->next = q; } while (!cas(&p, q, n));", false,
	  { I(N_NEW, R_N), I(N_STF, R_V, R_N, 0), I(N_LD, R_Q, N_P), I(N_STF, R_Q, R_N, 1),
	    I(N_BEGIN, 1), I(N_LD, R_T, N_P), I(N_JNE, AT(8), R_T, R_Q), I(N_ST, N_P, R_N),
	    I(N_END, 0), I(N_JNE, AT(2), R_T, R_Q), END_OF_CODE } },
};

static const struct piece gets[] = {
	{ "return x;", false, { I(N_LD, R_A, N_X), I(N_RET, R_A), END_OF_CODE } },
	{ "return y;", false, { I(N_LD, R_A, N_Y), I(N_RET, R_A), END_OF_CODE } },
	{ "a = x; b = y; return a == b ? a : x;", false,
	  { I(N_LD, R_A, N_X), I(N_LD, R_B, N_Y), I(N_JEQ, AT(4), R_A, R_B),
	    I(N_LD, R_A, N_X), I(N_RET, R_A), END_OF_CODE } },
	{ "q = p; if (q == null) return x; return q->v;", false,
	  { I(N_LD, R_Q, N_P), I(N_JNE, AT(4), R_Q, R_0), I(N_LD, R_A, N_X), I(N_RET, R_A),
	    I(N_LDF, R_A, R_Q, 0), I(N_RET, R_A), END_OF_CODE } },
	{ "fence; return x;", false,
	  { I(N_FENCE, 0), I(N_LD, R_A, N_X), I(N_RET, R_A), END_OF_CODE } },
	{ "lock(m); a = x; unlock(m); return a;", false,
	  { LOCKED(I(N_LD, R_T, N_M), I(N_ASSUME0, R_T), I(N_CONST, R_T, 1),
		   I(N_ST, N_M, R_T)),
	    I(N_LD, R_A, N_X), I(N_ST, N_M, R_0), I(N_RET, R_A), END_OF_CODE } },
	{ "atomic { a = x; } return a;", false,
	  { I(N_BEGIN, 0), I(N_LD, R_A, N_X), I(N_END, 0), I(N_RET, R_A), END_OF_CODE } },
	{ "do { a = x; } while (a != x); return a;", false,
	  { I(N_LD, R_A, N_X), I(N_LD, R_T, N_X), I(N_JNE, AT(0), R_T, R_A), I(N_RET, R_A),
	    END_OF_CODE } },
	{ "return fadd(&x, 0);", true,
	  { LOCKED(I(N_LD, R_A, N_X), I(N_ST, N_X, R_A)), I(N_RET, R_A), END_OF_CODE } },
	{ "do { do { c = z; } while (c % 2 != 0); a = x; } while (z != c); return a;", false,
	  { I(N_LD, R_C, N_Z), I(N_JODD, AT(0), R_C), I(N_LD, R_A, N_X), I(N_LD, R_T, N_Z),
	    I(N_JNE, AT(0), R_T, R_C), I(N_RET, R_A), END_OF_CODE } },
	{ "do { q = p; if (q == null) return x; n = q->next; } while (!cas(&p, q, n)); "
	  "return q->v;", false,
	  { I(N_LD, R_Q, N_P), I(N_JNE, AT(4), R_Q, R_0), I(N_LD, R_A, N_X), I(N_RET, R_A),
	    I(N_LDF, R_N, R_Q, 1), I(N_BEGIN, 1), I(N_LD, R_T, N_P),
	    I(N_JNE, AT(9), R_T, R_Q), I(N_ST, N_P, R_N), I(N_END, 0),
	    I(N_JNE, AT(0), R_T, R_Q), I(N_LDF, R_A, R_Q, 0), I(N_RET, R_A), END_OF_CODE } },
	{ "q = p; return q->v;", false,
	  { I(N_LD, R_Q, N_P), I(N_LDF, R_A, R_Q, 0), I(N_RET, R_A), END_OF_CODE } },
	{ "a = x; b = x; assert(a == b); return a;", false,
	  { I(N_LD, R_A, N_X), I(N_LD, R_B, N_X), I(N_ASSERT, R_A, R_B), I(N_RET, R_A),
	    END_OF_CODE } },
	{ "do { a = y; } while (a == 0); return x;", false,
	  { I(N_LD, R_A, N_Y), I(N_JEQ, AT(0), R_A, R_0), I(N_LD, R_A, N_X), I(N_RET, R_A),
	    END_OF_CODE } },
	{ "a = x; z = a; return x;", true,
	  { I(N_LD, R_A, N_X), I(N_ST, N_Z, R_A), I(N_LD, R_A, N_X), I(N_RET, R_A),
	    END_OF_CODE } },
};

static bool is_jump(enum n_op op)
{
	return op == N_JMP || op == N_JEQ || op == N_JNE || op == N_JODD;
}

static void add(struct n_method *m, const struct piece *p)
{
	const int start = m->n;
	int i;

	for (i = 0; p->code[i].op != N_RET || p->code[i].o[0] != -2; i++) {
		m->code[m->n] = p->code[i];
		if (is_jump(p->code[i].op) && p->code[i].o[0] <= HERE)
			m->code[m->n].o[0] = start + HERE - p->code[i].o[0];
		m->n++;
	}
}

static const struct piece *pick(uint64_t *seed, const struct piece *all, size_t n, bool data)
{
	const struct piece *p;

	do {
		p = &all[kl_rand_below(seed, n)];
	} while (data && p->words_only);
	return p;
}

static void spec_methods(struct n_program *p, bool flush_set, bool flush_get)
{
	const struct n_insn set[] = {
		I(N_BEGIN, flush_set), I(N_ST, N_X, R_V), I(N_END, 0), I(N_RET, -1),
	};
	const struct n_insn get[] = {
		I(N_BEGIN, flush_get), I(N_LD, R_A, N_X), I(N_END, 0), I(N_RET, R_A),
	};

	memcpy(p->spec[0].code, set, sizeof(set));
	memcpy(p->spec[1].code, get, sizeof(get));
}

static const char *client(uint64_t *seed, struct n_program *p)
{
	static const struct {
		const char *text;
		int threads, ops;
		unsigned int may[3];
	} all[] = {
		{ "general(2) ops(1)", 2, 1, { 3, 3 } },
		{ "general(2) ops(1)", 2, 1, { 3, 3 } },
		{ "roles(set, set|get) ops(1)", 2, 1, { 1, 3 } },
		{ "roles(get, set) ops(2)", 2, 2, { 2, 1 } },
		{ "general(2) ops(2)", 2, 2, { 3, 3 } },
		{ "general(3) ops(1)", 3, 1, { 3, 3, 3 } },
		{ "roles(set, get) ops(2)", 2, 2, { 1, 2 } },
		{ "roles(set, get, get) ops(1)", 3, 1, { 1, 2, 2 } },
		{ "roles(set, set, get) ops(1)", 3, 1, { 1, 1, 2 } },
		{ "roles(set, set|get) ops(2)", 2, 2, { 1, 3 } },
	};
	const size_t i = kl_rand_below(seed, sizeof(all) / sizeof(*all));

	p->nthreads = all[i].threads;
	p->ops = all[i].ops;
	memcpy(p->may, all[i].may, sizeof(all[i].may));
	return all[i].text;
}

void random_impl(uint64_t *seed, struct n_program *p, char text[RANDOM_IMPL_TEXT])
{
	const size_t nsets = sizeof(sets) / sizeof(*sets), ngets = sizeof(gets) / sizeof(*gets);
	const bool flush_set = !kl_rand_below(seed, 3), flush_get = !kl_rand_below(seed, 6);
	const bool data = kl_rand_below(seed, 2), two = kl_rand_below(seed, 2);
	const struct piece *s1 = pick(seed, sets, nsets, data), *s2 = NULL, *g = NULL;
	const char *threads, *type = data ? "data" : "word";

	memset(p, 0, sizeof(*p));
	p->data = data;
	p->nvalues = 1 + kl_rand_below(seed, 2);
	p->values[0] = 1;
	p->values[1] = 2;
	spec_methods(p, flush_set, flush_get);
	p->impl[0].has_arg = true;
	p->impl[1].has_result = true;
	add(&p->impl[0], s1);
	if (two) {
		s2 = pick(seed, sets, nsets, data);
		add(&p->impl[0], s2);
	}
	p->impl[0].code[p->impl[0].n++] = (struct n_insn)I(N_RET, -1);
	g = pick(seed, gets, ngets, data);
	add(&p->impl[1], g);
	threads = client(seed, p);
	snprintf(text, RANDOM_IMPL_TEXT,
		 "spec r {\n	word x = 0;\n"
		 "	method set(word v) { %s { x = v; } }\n"
		 "	method get() -> word { %s { return x; } }\n}\n"
		 "struct node { %s v; node *next; }\n"
		 "shared word x = 0, y = 0, z = 0; shared node *p = null; shared lock m;\n"
		 "method set(%s v) {\n	node *n = null; node *q = null; word a = 0;\n"
		 "	%s\n	%s\n	n = null; q = null; a = 0;\n}\n"
		 "method get() -> %s {\n"
		 "	node *n = null; node *q = null; word a = 0; word b = 0; word c = 0;\n"
		 "	%s\n}\nclient %s values(%s);\n",
		 flush_set ? "atomic_flush" : "atomic", flush_get ? "atomic_flush" : "atomic",
		 type, type, s1->text, s2 ? s2->text : "", type, g->text, threads,
		 p->nvalues == 2 ? "1, 2" : "1");
}
