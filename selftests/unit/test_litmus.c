// SPDX-License-Identifier: GPL-2.0
/*
 * Random litmus tests.  The machine, with and without its reductions, on TSO and SC, reaches
 * the same final states as a naive enumerator.  The enumerator follows the definition, knows
 * no byte code, and tries one instruction or one flush at a time.  KLIN_RUNS sets the number
 * of programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "history_util.h"
#include "tso/litmus/litmus_story.h"

#define THREADS		3
#define INSNS		4
#define LOCS		3
#define REGS		2
#define FINALS_MAX	4096
#define SEEN_SLOTS	(1u << 16)

enum kind { STORE, LOAD, STORE_REG, MFENCE, XCHG, XADD, INC, LOCK_INC, CMPXCHG, JUMP, KINDS };

struct insn {
	enum kind kind;
	unsigned int loc, reg, val;
};

struct program {
	unsigned int nthreads, n[THREADS];
	struct insn insn[THREADS][INSNS];
};

/* Bytes only, without holes, so that states can be compared and hashed. */
struct state {
	uint8_t mem[LOCS], pc[THREADS], half[THREADS], held[THREADS];
	uint8_t reg[THREADS][REGS];
	uint8_t nbuf[THREADS], buf[THREADS][INSNS][2];
};

struct naive {
	const struct program *p;
	bool sc;
	struct state *seen;
	uint8_t *used;
	size_t nseen;
	uint64_t finals[FINALS_MAX];
	size_t nfinals;
};

static bool new_state(struct naive *n, const struct state *s)
{
	uint64_t words[(sizeof(*s) + 7) / 8] = { 0 };
	size_t i;

	memcpy(words, s, sizeof(*s));
	for (i = kl_hash_words(words, sizeof(words) / 8, 1) % SEEN_SLOTS; n->used[i];
	     i = (i + 1) % SEEN_SLOTS)
		if (!memcmp(&n->seen[i], s, sizeof(*s)))
			return false;
	assert_true(++n->nseen < SEEN_SLOTS * 9 / 10);
	n->used[i] = 1;
	n->seen[i] = *s;
	return true;
}

static uint8_t see(const struct state *s, unsigned int t, unsigned int loc)
{
	unsigned int i;

	for (i = s->nbuf[t]; i--;)
		if (s->buf[t][i][0] == loc)
			return s->buf[t][i][1];
	return s->mem[loc];
}

static void put(struct naive *n, struct state *s, unsigned int t, unsigned int loc, uint8_t val)
{
	if (n->sc) {
		s->mem[loc] = val;
		return;
	}
	s->buf[t][s->nbuf[t]][0] = loc;
	s->buf[t][s->nbuf[t]++][1] = val;
}

/* Run one instruction of a thread.  Return: false if it must wait. */
static bool execute(struct naive *n, struct state *s, unsigned int t)
{
	const struct insn *i = &n->p->insn[t][s->pc[t]];
	uint8_t *reg = s->reg[t], old;

	switch (i->kind) {
	case STORE:
		put(n, s, t, i->loc, i->val);
		break;
	case STORE_REG:
		put(n, s, t, i->loc, reg[i->reg]);
		break;
	case LOAD:
		reg[i->reg] = see(s, t, i->loc);
		break;
	case INC:
		/* A load and a store, between which other threads may run. */
		if (!s->half[t]) {
			s->half[t] = 1;
			s->held[t] = see(s, t, i->loc) + 1;
			return true;
		}
		put(n, s, t, i->loc, s->held[t]);
		s->half[t] = s->held[t] = 0;
		break;
	case JUMP:
		/* cmp reg, val; jne over the next instruction */
		if (reg[i->reg] != i->val && s->pc[t] + 1u < n->p->n[t])
			s->pc[t]++;
		break;
	default:
		if (s->nbuf[t])
			return false;
		old = s->mem[i->loc];
		if (i->kind == XCHG || i->kind == XADD) {
			s->mem[i->loc] = i->kind == XCHG ? reg[i->reg] : old + reg[i->reg];
			reg[i->reg] = old;
		} else if (i->kind == LOCK_INC) {
			s->mem[i->loc]++;
		} else if (i->kind == CMPXCHG) {
			if (old == reg[0])
				s->mem[i->loc] = reg[1];
			else
				reg[0] = old;
		}
		break;
	}
	s->pc[t]++;
	return true;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void final(struct naive *n, const struct state *s)
{
	uint64_t v = 0;
	unsigned int t, r;
	size_t i;

	for (t = 0; t < n->p->nthreads; t++)
		for (r = 0; r < REGS; r++)
			v = v << 6 | s->reg[t][r];
	for (r = 0; r < LOCS; r++)
		v = v << 6 | s->mem[r];
	for (i = 0; i < n->nfinals; i++)
		if (n->finals[i] == v)
			return;
	assert_true(n->nfinals < FINALS_MAX);
	n->finals[n->nfinals++] = v;
}

static void explore(struct naive *n, const struct state *s)
{
	bool open = false;
	unsigned int t, i;
	struct state next;

	if (!new_state(n, s))
		return;
	for (t = 0; t < n->p->nthreads; t++) {
		if (s->pc[t] < n->p->n[t]) {
			open = true;
			next = *s;
			if (execute(n, &next, t))
				explore(n, &next);
		}
		if (s->nbuf[t]) {
			open = true;
			next = *s;
			next.mem[s->buf[t][0][0]] = s->buf[t][0][1];
			next.nbuf[t]--;
			for (i = 0; i < INSNS; i++)
				memcpy(next.buf[t][i], i < next.nbuf[t] ? s->buf[t][i + 1] :
				       (const uint8_t[2]){ 0, 0 }, 2);
			explore(n, &next);
		}
	}
	if (!open)
		final(n, s);
}

static void make(struct program *p, uint64_t *seed)
{
	const unsigned int locs = 2 + kl_rand_below(seed, LOCS - 1);
	unsigned int t, i;

	p->nthreads = 2 + kl_rand_below(seed, THREADS - 1);
	for (t = 0; t < p->nthreads; t++) {
		p->n[t] = 1 + kl_rand_below(seed, p->nthreads == THREADS ? INSNS - 1 : INSNS);
		for (i = 0; i < p->n[t]; i++)
			p->insn[t][i] = (struct insn){
				/* Most instructions are plain loads and stores. */
				kl_rand_below(seed, 4) ? kl_rand_below(seed, 2) :
				kl_rand_below(seed, KINDS), kl_rand_below(seed, locs),
				kl_rand_below(seed, REGS), 1 + kl_rand_below(seed, 2),
			};
	}
}

static int cell(char *s, size_t size, const struct program *p, unsigned int t, unsigned int i)
{
	const struct insn *x = &p->insn[t][i];
	const char *reg = x->reg ? "EBX" : "EAX";
	const char loc = "xyz"[x->loc];
	/* The target of a jump before the previous instruction. */
	const bool target = i > 1 && p->insn[t][i - 2].kind == JUMP;
	int n = target ? snprintf(s, size, "L%u: ", i) : 0;

	s += n;
	size -= n;
	switch (x->kind) {
	case STORE:
		return n + snprintf(s, size, "MOV [%c],$%u", loc, x->val);
	case LOAD:
		return n + snprintf(s, size, "MOV %s,[%c]", reg, loc);
	case STORE_REG:
		return n + snprintf(s, size, "MOV [%c],%s", loc, reg);
	case MFENCE:
		return n + snprintf(s, size, "MFENCE");
	case XCHG:
		return n + snprintf(s, size, "XCHG [%c],%s", loc, reg);
	case XADD:
		return n + snprintf(s, size, "LOCK XADD [%c],%s", loc, reg);
	case INC:
		return n + snprintf(s, size, "INC [%c]", loc);
	case LOCK_INC:
		return n + snprintf(s, size, "LOCK INC [%c]", loc);
	case CMPXCHG:
		return n + snprintf(s, size, "LOCK CMPXCHG [%c],EBX", loc);
	default:
		return n + snprintf(s, size, "CMP %s,$%u", reg, x->val);
	}
}

/* Write the program as text; a jump takes a row of its own after its comparison. */
static void write_text(const struct program *p, char *s, size_t size)
{
	unsigned int t, i, half;
	int n = snprintf(s, size, "X86 random\n{ }\n");

	for (t = 0; t < p->nthreads; t++)
		n += snprintf(s + n, size - n, "%sP%u", t ? " | " : " ", t);
	n += snprintf(s + n, size - n, " ;\n");
	for (i = 0; i <= INSNS; i++) {
		for (half = 0; half < 2; half++) {
			for (t = 0; t < p->nthreads; t++) {
				const bool jump = i < p->n[t] && p->insn[t][i].kind == JUMP;

				n += snprintf(s + n, size - n, t ? " | " : " ");
				if (i < p->n[t] && !half)
					n += cell(s + n, size - n, p, t, i);
				else if (jump && half)
					n += snprintf(s + n, size - n, "JNE L%u",
						      i + 2 < p->n[t] ? i + 2 : 99);
				else if (i == INSNS && !half)
					n += snprintf(s + n, size - n, "L99:");
			}
			n += snprintf(s + n, size - n, " ;\n");
		}
	}
	n += snprintf(s + n, size - n, "locations [x; y; z;");
	for (t = 0; t < p->nthreads; t++)
		n += snprintf(s + n, size - n, " %u:EAX; %u:EBX;", t, t);
	n += snprintf(s + n, size - n, "]\nexists (x=0)\n");
	assert_true((size_t)n < size);
}

static void compare(struct naive *n, const struct kl_litmus *l, bool unreduced, const char *text)
{
	const struct kl_litmus_options o = {
		.sc = n->sc, .unreduced = unreduced, .memory = 1u << 28,
	};
	struct kl_litmus_result r;
	size_t i, j;

	assert_int_equal(kl_litmus_run(l, &o, &r), 0);
	if (r.nstates != n->nfinals)
		print_message("%s: %zu states, %zu expected\n%s\n", n->sc ? "SC" : "TSO", r.nstates,
			      n->nfinals, text);
	assert_int_equal(r.nstates, n->nfinals);
	for (i = 0; i < r.nstates; i++) {
		uint64_t v = 0;

		for (j = 0; j < l->nitems; j++)
			v = v << 6 | r.states[i * l->nitems + j];
		assert_non_null(bsearch(&v, n->finals, n->nfinals, sizeof(v), by_value));
	}
	kl_litmus_result_free(&r);
}

static void test_agrees_with_naive(void **state)
{
	unsigned long runs = wanted_runs(10000), i, weak = 0;
	struct naive n = { .seen = calloc(SEEN_SLOTS, sizeof(*n.seen)),
			   .used = calloc(SEEN_SLOTS, 1) };
	const struct state first = { 0 };
	uint64_t seed = 20120324;
	struct program p;
	struct kl_litmus *l;
	char text[4096];
	size_t sc = 0;
	int model;

	(void)state;
	/* More programs would find nothing new. */
	runs = runs < 10000 ? runs : 10000;
	assert_true(n.seen && n.used);
	for (i = 0; i < runs; i++) {
		make(&p, &seed);
		write_text(&p, text, sizeof(text));
		assert_int_equal(kl_litmus_parse("random", text, &l), 0);
		n.p = &p;
		for (model = 0; model < 2; model++) {
			n.sc = !model;
			n.nseen = n.nfinals = 0;
			memset(n.used, 0, SEEN_SLOTS);
			explore(&n, &first);
			qsort(n.finals, n.nfinals, sizeof(*n.finals), by_value);
			compare(&n, l, false, text);
			compare(&n, l, true, text);
			if (n.sc)
				sc = n.nfinals;
		}
		weak += n.nfinals > sc;
		kl_litmus_free(l);
	}
	/* Programs on which TSO and SC agree test little. */
	print_message("%lu programs, on %lu TSO has more final states than SC\n", runs, weak);
	assert_true(runs < 100 || weak > runs / 100);
	free(n.seen);
	free(n.used);
}

/* Write the @i-th final state as a condition. */
static void write_state(const struct kl_litmus *l, const struct kl_litmus_result *r, size_t i,
			char *s, size_t size)
{
	char buf[32];
	size_t j;
	int n = 0;

	for (j = 0; j < l->nitems; j++) {
		const struct kl_lit_item *it = &l->items[j];

		if (it->thread < 0)
			n += snprintf(s + n, size - n, "%s=", l->locs[it->index].name);
		else
			n += snprintf(s + n, size - n, "%d:%s=", it->thread,
				      kl_litmus_reg(l->x64, it->index));
		n += snprintf(s + n, size - n, "%s; ",
			      kl_litmus_value(l, j, r->states[i * l->nitems + j], buf));
	}
	assert_true((size_t)n < size);
}

static bool has_state(const struct kl_litmus_result *r, const uint64_t *state, size_t nitems)
{
	size_t i;

	for (i = 0; i < r->nstates; i++)
		if (!memcmp(r->states + i * nitems, state, nitems * sizeof(*state)))
			return true;
	return false;
}

/* A run with store buffers has a cycle, in which a store waited; each of its edges holds. */
static void check_cycle(const struct kl_lit_story *s)
{
	bool waited = false;
	size_t i;

	assert_true(s->ncycle > 1);
	for (i = 0; i < s->ncycle; i++) {
		const struct kl_lit_link *k = &s->cycle[i];
		const struct kl_lit_step *a = &s->steps[k->from], *b = &s->steps[k->to];

		assert_int_equal(k->to, s->cycle[(i + 1) % s->ncycle].from);
		waited |= k->edge == KL_LIT_PO && kl_lit_waited(s, k->from, k->to);
		if (k->edge == KL_LIT_PO) {
			assert_true(a->thread == b->thread && k->from < k->to);
			continue;
		}
		assert_int_equal(a->loc, b->loc);
		if (k->edge == KL_LIT_RF)
			assert_int_equal(b->from, k->from);
		else if (k->edge == KL_LIT_CO)
			assert_true(a->left < b->left);
		else
			assert_true((a->from ? s->steps[a->from].left : 0) < b->left);
	}
	assert_true(waited);
}

/* Each final state has a story, whose run needs buffers if SC has no such state. */
static void test_stories(void **state)
{
	unsigned long runs = wanted_runs(400), i, weak = 0, forbidden = 0;
	struct kl_litmus_options o = { .memory = 1u << 28 };
	uint64_t seed = 20261128;
	struct program p;
	char text[4096], condition[400];

	(void)state;
	runs = runs < 2000 ? runs : 2000;
	for (i = 0; i < runs; i++) {
		struct kl_litmus_result tso, sc;
		struct kl_lit_story *s;
		struct kl_litmus *l;
		size_t at = 0;

		make(&p, &seed);
		write_text(&p, text, sizeof(text));
		assert_int_equal(kl_litmus_parse("random", text, &l), 0);
		o.sc = true;
		assert_int_equal(kl_litmus_run(l, &o, &sc), 0);
		o.sc = false;
		assert_int_equal(kl_litmus_run(l, &o, &tso), 0);
		/* A state that needs store buffers, if there is one. */
		while (at + 1 < tso.nstates &&
		       has_state(&sc, tso.states + at * l->nitems, l->nitems))
			at++;
		write_state(l, &tso, at, condition, sizeof(condition));
		assert_int_equal(kl_litmus_tell("random", text, condition, &o, &s), 0);
		assert_true(s->reached);
		assert_int_equal(s->sc, has_state(&sc, s->outcome, l->nitems));
		assert_memory_equal(s->outcome, tso.states + at * l->nitems,
				    l->nitems * sizeof(*s->outcome));
		if (s->sc)
			assert_int_equal(s->ncycle, 0);
		else
			check_cycle(s);
		weak += !s->sc;
		/* Enough fences forbid each outcome that needs store buffers. */
		if (!s->sc)
			assert_true(s->nmore > 0);
		forbidden += s->nmore > 0;
		kl_lit_story_free(s);
		kl_litmus_result_free(&sc);
		kl_litmus_result_free(&tso);
		kl_litmus_free(l);
	}
	print_message("%lu stories, %lu need store buffers, %lu can be forbidden\n", runs, weak,
		      forbidden);
	assert_true(runs < 100 || weak > runs / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_naive),
		cmocka_unit_test(test_stories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
