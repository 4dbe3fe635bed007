// SPDX-License-Identifier: GPL-2.0
/* What a recording concludes from what it lost and missed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "record/recorder.h"

#define ERROR 10
#define END 10000

static const struct kl_method reads = { .pure = true }, stores;
static const struct kl_probe_target global, of_object = { .object = (void *)&global };

/* Two clauses, each with its programs: get (0) and set (1). */
struct fixture {
	struct kl_recorder r;
	struct kl_clause clauses[2];
	struct kl_group groups[2];
	struct klin_cpu cpus[2][2 * KLIN_SIDES];
	struct kl_unknown unknown[2];
};

static const struct kl_cut at_1000 = { 1000, 1050 };

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	unsigned int i;

	assert_non_null(f);
	f->r.h = kl_history_new();
	assert_non_null(f->r.h);
	f->r.h->error = ERROR;
	f->r.clauses = f->clauses;
	f->r.nclauses = 2;
	f->r.groups = f->groups;
	f->r.ngroups = 2;
	f->r.unknown = f->unknown;
	f->r.ncpus = 2;
	f->r.begin = 100;
	f->r.settled = 500;
	f->r.end = END;
	for (i = 0; i < 2; i++) {
		f->clauses[i].found.target = &of_object;
		f->clauses[i].method = i ? &stores : &reads;
		f->clauses[i].group = i;
		f->clauses[i].history_method = kl_history_method(f->r.h, i ? "set" : "get", 3);
		f->groups[i].cpus = f->cpus[i];
	}
	kl_history_object(f->r.h, 1);
	kl_history_thread(f->r.h, 1);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	kl_history_free(f->r.h);
	free(f);
	return 0;
}

static struct kl_op *add(struct fixture *f, unsigned int method, uint64_t call, uint64_t ret,
			 unsigned int flags)
{
	struct kl_op op = { .call = call, .ret = ret, .flags = flags };
	const struct kl_shape s = { .method = method };

	assert_int_equal(kl_history_add(f->r.h, &op, &s, NULL, NULL), 0);
	return &f->r.h->ops[f->r.h->nops - 1];
}

/* Of what the programs wrote one event never comes: that is told, once, when it can be known. */
static void test_account(void **state)
{
	static const struct {
		struct kl_account_look l;
		uint64_t missing, floor;
	} t[] = {
		{ { .before = 10, .after = 10, .got = 10, .floor = 100 }, 0, 100 },
		/* On its way, and there. */
		{ { .before = 20, .after = 20, .got = 19, .floor = 200 }, 0, 100 },
		{ { .before = 20, .after = 20, .got = 20, .floor = 300 }, 0, 300 },
		/* In a program that does not get on. */
		{ { .before = 30, .after = 30, .got = 29, .open = 1, .floor = 400 }, 0, 300 },
		{ { .before = 30, .after = 30, .got = 29, .open = 1, .floor = 400 }, 0, 300 },
		{ { .before = 30, .after = 30, .got = 30, .floor = 400 }, 0, 400 },
		/* While others write nothing is known. */
		{ { .before = 40, .after = 45, .got = 42, .floor = 500 }, 0, 400 },
		{ { .before = 46, .after = 50, .got = 48, .floor = 600 }, 0, 400 },
		{ { .before = 50, .after = 50, .got = 49, .floor = 700 }, 0, 400 },
		{ { .before = 50, .after = 50, .got = 49, .floor = 800 }, 1, 400 },
		{ { .before = 50, .after = 50, .got = 49, .floor = 900 }, 0, 900 },
		{ { .before = 60, .after = 60, .got = 59, .floor = 1000 }, 0, 1000 },
		{ { .before = 70, .after = 70, .got = 65, .floor = 1100 }, 0, 1000 },
		{ { .before = 71, .after = 72, .got = 67, .floor = 1200 }, 2, 1000 },
	};
	struct kl_account a = { 0 };
	unsigned int i;

	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		assert_int_equal(kl_account(&a, &t[i].l), t[i].missing);
		assert_int_equal(a.floor, t[i].floor);
	}
}

static bool quiet(struct fixture *f)
{
	kl_count_ended(&f->r);
	return kl_quiet(&f->r, &at_1000);
}

/* Followed, an operation may wait for its turn: its miss has ended once. */
static void test_missed_counted_once(void **state)
{
	struct fixture *f = *state;
	struct kl_group *g = &f->groups[1];

	g->miss_from = 700;
	g->miss_to = 900;
	g->progs[0].misses = 2;
	add(f, 1, 0, 800, KL_OP_NOCALL);
	kl_count_ended(&f->r);
	assert_int_equal(g->ended, 1);
	f->r.follow.counted = f->r.h->nops;
	kl_count_ended(&f->r);
	assert_int_equal(g->ended, 0);
	add(f, 1, 0, 850, KL_OP_NOCALL);
	kl_count_ended(&f->r);
	assert_int_equal(g->ended, 1);
}

/* A call that was seen and lost its place returns without one, too: it stands for no miss. */
static void test_displaced(void **state)
{
	struct fixture *f = *state;
	struct kl_group *g = &f->groups[1];
	const struct kl_op *op;

	g->miss_from = 700;
	g->miss_to = 900;
	g->progs[0].misses = 1;
	op = add(f, 1, 0, 800, KL_OP_NOCALL);
	kl_count_ended(&f->r);
	assert_int_equal(g->ended, 1);
	assert_int_equal(kl_op_from(&f->r, op), 700);
	f->r.displaced = true;
	kl_count_ended(&f->r);
	assert_int_equal(g->ended, 0);
	assert_int_equal(kl_op_from(&f->r, op), KL_TIME_MIN);
}

static unsigned int frames(uint32_t base, uint32_t top)
{
	const struct klin_slot s = { .base = base, .top = top };
	uint32_t from, to;
	unsigned int n;

	kl_slot_span(&s, &from, &to);
	for (n = 0; from != to; from++)
		if (++n > KLIN_DEPTH)
			break;
	return n;
}

static void test_slot_span(void **state)
{
	assert_int_equal(frames(5, 5), 0);
	assert_int_equal(frames(UINT32_MAX - 1, 1), 3);
	assert_int_equal(frames(7, 7 + KLIN_DEPTH), KLIN_DEPTH);
	/* Read while the task went on. */
	assert_int_equal(frames(0, 1000), KLIN_DEPTH);
	assert_int_equal(frames(9, 3), KLIN_DEPTH);
}

static void test_quiet_ops(void **state)
{
	struct fixture *f = *state;

	assert_true(quiet(f));
	add(f, 0, 900, 1200, 0);
	add(f, 0, 900, KL_TIME_MAX, KL_OP_PENDING);
	add(f, 1, 900, 989, 0);
	add(f, 1, 1061, 1100, 0);
	assert_true(quiet(f));
	add(f, 1, 900, 990, 0);
	assert_false(quiet(f));
	f->r.h->nops--;
	add(f, 1, 1060, 1100, 0);
	assert_false(quiet(f));
	f->r.h->nops--;
	assert_true(quiet(f));
	/* One that did not return is under way for ever. */
	add(f, 1, 900, KL_TIME_MAX, KL_OP_PENDING);
	assert_false(quiet(f));
}

static void test_quiet_lost(void **state)
{
	struct fixture *f = *state;
	struct klin_cpu *c = &f->cpus[1][KLIN_SIDES + KLIN_AT_RETURN];

	c->nlosses = 2;
	c->losses[0] = (struct klin_loss){ 900, 989, 1 };
	c->losses[1] = (struct klin_loss){ 1061, 1100, 1 };
	assert_true(quiet(f));
	c->losses[1].from = 1060;
	assert_false(quiet(f));
	c->losses[1].from = 1061;
	c->losses[0].to = 990;
	assert_false(quiet(f));
	/* What only reads can have been lost. */
	f->cpus[0][0] = *c;
	c->nlosses = 0;
	assert_true(quiet(f));
	/* A full log. */
	c->nlosses = KLIN_LOSSES + 5;
	memset(c->losses, 0, sizeof(c->losses));
	c->losses[KLIN_LOSSES - 1] = (struct klin_loss){ 950, KL_TIME_MAX, 1 };
	assert_false(quiet(f));
}

static void test_quiet_missed(void **state)
{
	struct fixture *f = *state;
	struct kl_group *g = &f->groups[1];

	g->miss_from = 700;
	g->miss_to = 900;
	g->progs[1].misses = 1;
	assert_true(quiet(f));
	/* A call that was missed, and perhaps has not returned. */
	g->progs[0].misses = 1;
	assert_false(quiet(f));
	add(f, 1, 0, 850, KL_OP_NOCALL);
	assert_true(quiet(f));
	g->miss_to = 995;
	assert_false(quiet(f));
	/* Reads can be missed. */
	f->groups[0] = *g;
	g->miss_from = 0;
	assert_true(quiet(f));
}

static void test_quiet_unknown(void **state)
{
	struct fixture *f = *state;

	f->r.nunknown = 1;
	f->unknown[0] = (struct kl_unknown){ .from = 1060, .to = 1070, .clause = 1 };
	assert_false(quiet(f));
	f->unknown[0].from = 1061;
	assert_true(quiet(f));
	f->unknown[0].nocall = true;
	assert_false(quiet(f));
	f->unknown[0].clause = 0;
	assert_true(quiet(f));
}

/* One call was missed in 2000..2100: when does its gap end? */
static uint64_t gap_end(struct fixture *f)
{
	struct kl_group *g = &f->groups[1];
	uint64_t from, to;

	g->miss_from = 2000;
	g->miss_to = 2100;
	g->progs[0].misses = 1;
	kl_count_ended(&f->r);
	assert_true(kl_missed_span(&f->r, g, &from, &to));
	assert_int_equal(from, 2000);
	return to;
}

static void test_missed_returned(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(gap_end(f), END);
	add(f, 1, 0, 2050, KL_OP_NOCALL);
	assert_int_equal(gap_end(f), 2100);
	f->groups[1].crowded = 1;
	assert_int_equal(gap_end(f), END);
	f->r.ignore_misses = true;
	assert_int_equal(gap_end(f), 2100);
}

/* Programs of two clauses missed a call, which may be an operation of each. */
static void test_missed_of_two(void **state)
{
	struct fixture *f = *state;

	f->clauses[0].group = 1;
	f->groups[1].two = true;
	add(f, 1, 0, 2050, KL_OP_NOCALL);
	assert_int_equal(gap_end(f), END);
	add(f, 0, 0, 2050, KL_OP_NOCALL);
	assert_int_equal(gap_end(f), 2100);
	assert_int_equal(kl_missed_by(&f->groups[1], 0), 2);
}

/* Returns without a call that say nothing of the missed one. */
static void test_missed_open(void **state)
{
	struct fixture *f = *state;
	struct kl_op *op = add(f, 1, 0, 600, KL_OP_NOCALL);

	/* Under way when the recording began, and over before the miss. */
	assert_int_equal(gap_end(f), END);
	/* Perhaps before the miss. */
	op->ret = 2009;
	assert_int_equal(gap_end(f), END);
	op->ret = 2010;
	assert_int_equal(gap_end(f), 2100);
	/* Of another clause. */
	f->r.h->shapes[op->shape].method = 0;
	assert_int_equal(gap_end(f), END);
	f->r.h->shapes[op->shape].method = 1;
	/* After the end. */
	op->ret = END + 1;
	assert_int_equal(gap_end(f), END);
	op->ret = 2050;
	/* With its call. */
	op->flags = 0;
	assert_int_equal(gap_end(f), END);
}

/* The returns of what was under way at the beginning can come later than the miss. */
static void test_missed_old(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 0, 2050, KL_OP_NOCALL);
	f->r.settled = 2040;
	assert_int_equal(gap_end(f), END);
	f->r.settled = 500;
	f->r.blocked_until = 2040;
	assert_int_equal(gap_end(f), END);
	f->r.blocked_until = 2030;
	assert_int_equal(gap_end(f), 2100);
	f->r.nblocked = 1;
	assert_int_equal(gap_end(f), END);
	f->r.nblocked = 0;
	f->clauses[1].tracepoint = true;
	assert_int_equal(gap_end(f), END);
	/* Nothing on an object is older than the object. */
	f->r.opts.fresh = true;
	assert_int_equal(gap_end(f), END);
	f->r.opts.one_object = true;
	assert_int_equal(gap_end(f), 2100);
	f->clauses[1].tracepoint = false;
	assert_int_equal(gap_end(f), 2100);
	f->clauses[1].found.target = &global;
	assert_int_equal(gap_end(f), END);
}

static void test_missed_unknown(void **state)
{
	struct fixture *f = *state;

	f->r.nunknown = 1;
	f->unknown[0] = (struct kl_unknown){
		.to = 2050, .clause = 1, .object = KL_ALL_OBJECTS, .nocall = true,
	};
	assert_int_equal(gap_end(f), 2100);
	f->unknown[0].to = 2009;
	assert_int_equal(gap_end(f), END);
	f->unknown[0].to = 2050;
	/* It may have been another object's, which is old. */
	f->r.opts.fresh = f->r.opts.one_object = true;
	assert_int_equal(gap_end(f), END);
	f->unknown[0].object = 0;
	assert_int_equal(gap_end(f), 2100);
	f->unknown[0].nocall = false;
	assert_int_equal(gap_end(f), END);
}

static void test_from(void **state)
{
	struct fixture *f = *state;
	struct kl_op *op = add(f, 1, 0, 2050, KL_OP_NOCALL);
	struct kl_unknown u = { .from = 5, .to = 2050, .clause = 1 };

	gap_end(f);
	assert_int_equal(kl_op_from(&f->r, op), 2000);
	assert_int_equal(kl_unknown_from(&f->r, &u), 5);
	u.nocall = true;
	assert_int_equal(kl_unknown_from(&f->r, &u), 2000);
	/* Under way when the recording began, perhaps. */
	f->r.nblocked = 1;
	assert_int_equal(kl_op_from(&f->r, op), KL_TIME_MIN);
	assert_int_equal(kl_unknown_from(&f->r, &u), KL_TIME_MIN);
	f->r.nblocked = 0;
	/* A second clause of the same method, which missed nothing. */
	f->clauses[0].history_method = 1;
	assert_int_equal(kl_op_from(&f->r, op), KL_TIME_MIN);
	assert_int_equal(gap_end(f), END);
	f->clauses[0].group = 1;
	assert_int_equal(kl_op_from(&f->r, op), 2000);
	assert_int_equal(gap_end(f), 2100);
	/* Of which one may have been another object's, which is old. */
	f->clauses[0].found.target = &global;
	assert_int_equal(kl_op_from(&f->r, op), KL_TIME_MIN);
}

static void test_time_add(void **state)
{
	assert_int_equal(kl_time_add(3, 4), 7);
	assert_int_equal(kl_time_add(KL_TIME_MAX - 4, 4), KL_TIME_MAX);
	assert_int_equal(kl_time_add(KL_TIME_MAX - 4, 5), KL_TIME_MAX);
	assert_int_equal(kl_time_add(5, KL_TIME_MAX), KL_TIME_MAX);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_quiet_ops),
		TEST(test_quiet_lost),
		TEST(test_quiet_missed),
		TEST(test_quiet_unknown),
		TEST(test_missed_returned),
		TEST(test_missed_of_two),
		TEST(test_missed_open),
		TEST(test_missed_old),
		TEST(test_missed_unknown),
		TEST(test_missed_counted_once),
		TEST(test_displaced),
		TEST(test_from),
		cmocka_unit_test(test_slot_span),
		cmocka_unit_test(test_account),
		cmocka_unit_test(test_time_add),
	};

	return cmocka_run_group_tests_name("doubt", tests, NULL, NULL);
}
