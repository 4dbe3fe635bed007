// SPDX-License-Identifier: GPL-2.0
/* The bounds that lost and missed events of a recording put on its operations. */
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

/* Two clauses, each with its own programs: get (0) and set (1). */
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
	const struct kl_opsig s = { .method = method };

	assert_int_equal(kl_history_add(f->r.h, &op, &s, NULL, NULL), 0);
	return &f->r.h->ops[f->r.h->nops - 1];
}

/* An event that was written but never arrives is reported once, as soon as this is certain. */
static void test_event_never_arrives(void **state)
{
	static const struct {
		struct kl_account_look l;
		uint64_t missing, floor;
	} t[] = {
		{ { .before = 10, .after = 10, .got = 10, .floor = 100 }, 0, 100 },
		/* The event is in transit, then arrives. */
		{ { .before = 20, .after = 20, .got = 19, .floor = 200 }, 0, 100 },
		{ { .before = 20, .after = 20, .got = 20, .floor = 300 }, 0, 300 },
		/* The event's program has not finished. */
		{ { .before = 30, .after = 30, .got = 29, .open = 1, .floor = 400 }, 0, 300 },
		{ { .before = 30, .after = 30, .got = 29, .open = 1, .floor = 400 }, 0, 300 },
		{ { .before = 30, .after = 30, .got = 30, .floor = 400 }, 0, 400 },
		/* Nothing is certain while other programs write. */
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

/* In follow mode an operation may stay in the history: its miss is counted once. */
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

/* A call that lost its slot also returns without a call, so such a return proves no miss. */
static void test_displaced_call_is_no_miss(void **state)
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
	/* Inconsistent values, read while the task ran. */
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
	/* A pending operation never ends. */
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
	/* Only reads can have been lost. */
	f->cpus[0][0] = *c;
	c->nlosses = 0;
	assert_true(quiet(f));
	/* The log of losses is full. */
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
	/* A call was missed and may not have returned. */
	g->progs[0].misses = 1;
	assert_false(quiet(f));
	add(f, 1, 0, 850, KL_OP_NOCALL);
	assert_true(quiet(f));
	g->miss_to = 995;
	assert_false(quiet(f));
	/* Now the missed call may only be a read. */
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

/* Miss one call in 2000..2100.  Return: the end of its gap. */
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

static void test_missed_call_returned(void **state)
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

/* Programs of two clauses missed a call, which may be an operation of either clause. */
static void test_missed_call_of_two_clauses(void **state)
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

/* These returns without a call prove nothing about the missed call. */
static void test_missed_unrelated_returns(void **state)
{
	struct fixture *f = *state;
	struct kl_op *op = add(f, 1, 0, 600, KL_OP_NOCALL);

	/* The operation was in progress when the recording began, and ended before the miss. */
	assert_int_equal(gap_end(f), END);
	/* The operation may have ended before the miss. */
	op->ret = 2009;
	assert_int_equal(gap_end(f), END);
	op->ret = 2010;
	assert_int_equal(gap_end(f), 2100);
	/* The operation belongs to another clause. */
	f->r.h->opsigs[op->sig].method = 0;
	assert_int_equal(gap_end(f), END);
	f->r.h->opsigs[op->sig].method = 1;
	/* The operation returned after the end. */
	op->ret = END + 1;
	assert_int_equal(gap_end(f), END);
	op->ret = 2050;
	/* The operation's call was seen. */
	op->flags = 0;
	assert_int_equal(gap_end(f), END);
}

/* Operations that were in progress at the begin may return after the miss. */
static void test_missed_but_ops_in_progress(void **state)
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
	/* No operation on a fresh object is older than the object. */
	f->r.opts.fresh = true;
	assert_int_equal(gap_end(f), END);
	f->r.opts.one_object = true;
	assert_int_equal(gap_end(f), 2100);
	f->clauses[1].tracepoint = false;
	assert_int_equal(gap_end(f), 2100);
	f->clauses[1].found.target = &global;
	assert_int_equal(gap_end(f), END);
}

static void test_missed_unknown_returns(void **state)
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
	/* The operation may be on another, older object. */
	f->r.opts.fresh = f->r.opts.one_object = true;
	assert_int_equal(gap_end(f), END);
	f->unknown[0].object = 0;
	assert_int_equal(gap_end(f), 2100);
	f->unknown[0].nocall = false;
	assert_int_equal(gap_end(f), END);
}

static void test_earliest_call_time(void **state)
{
	struct fixture *f = *state;
	struct kl_op *op = add(f, 1, 0, 2050, KL_OP_NOCALL);
	struct kl_unknown u = { .from = 5, .to = 2050, .clause = 1 };

	gap_end(f);
	assert_int_equal(kl_op_from(&f->r, op), 2000);
	assert_int_equal(kl_unknown_from(&f->r, &u), 5);
	u.nocall = true;
	assert_int_equal(kl_unknown_from(&f->r, &u), 2000);
	/* The operation may have been in progress when the recording began. */
	f->r.nblocked = 1;
	assert_int_equal(kl_op_from(&f->r, op), KL_TIME_MIN);
	assert_int_equal(kl_unknown_from(&f->r, &u), KL_TIME_MIN);
	f->r.nblocked = 0;
	/* A second clause of the same method, which missed no call. */
	f->clauses[0].history_method = 1;
	assert_int_equal(kl_op_from(&f->r, op), KL_TIME_MIN);
	assert_int_equal(gap_end(f), END);
	f->clauses[0].group = 1;
	assert_int_equal(kl_op_from(&f->r, op), 2000);
	assert_int_equal(gap_end(f), 2100);
	/* One clause's operation may be on another, older object. */
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
		TEST(test_missed_call_returned),
		TEST(test_missed_call_of_two_clauses),
		TEST(test_missed_unrelated_returns),
		TEST(test_missed_but_ops_in_progress),
		TEST(test_missed_unknown_returns),
		TEST(test_missed_counted_once),
		TEST(test_displaced_call_is_no_miss),
		TEST(test_earliest_call_time),
		cmocka_unit_test(test_slot_span),
		cmocka_unit_test(test_event_never_arrives),
		cmocka_unit_test(test_time_add),
	};

	return cmocka_run_group_tests_name("loss_bounds", tests, NULL, NULL);
}
