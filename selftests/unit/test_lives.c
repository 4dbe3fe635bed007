// SPDX-License-Identifier: GPL-2.0
/*
 * The lives of objects whose memory is used again (userspace/record/lives.c).
 *
 * A simulated machine has registers that live one after the other at the same addresses, and CPUs
 * whose clocks differ.  Each operation has its register's address from its call or from its return,
 * when the register exists.  What kl_lives_assign() makes of the recording is never a violation;
 * the recording itself often is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "check/check.h"
#include "history/spell.h"
#include "history_util.h"
#include "record/recorder.h"

#define ADDR	0xffff888000001000ULL
#define ADDRS	2
#define CPUS	3
#define LIVES	4	/* at most, of an address */
#define OPS	6	/* at most, of a life */
#define STEP	100	/* length of a life; the next one begins within half of it */

/* A recording. */
struct scene {
	struct kl_recorder r;
	uint64_t seed, skew[CPUS];
	bool across;		/* operations may last beyond a free */
	uint64_t value;		/* the last value that was written */
	size_t lives;
};

static uint64_t below(struct scene *s, uint64_t n)
{
	return kl_rand_below(&s->seed, n);
}

static void add_op(struct scene *s, uint64_t addr, uint64_t call, uint64_t ret, bool at_return,
		   bool write, uint64_t value)
{
	struct kl_history *h = s->r.h;
	const uint16_t cpu = below(s, CPUS);
	struct kl_op op = {
		.call = call + s->skew[cpu], .ret = ret + s->skew[cpu], .cpu = cpu,
		.object = kl_history_object(h, addr), .thread = kl_history_thread(h, h->nops + 1),
		.pad = at_return ? KL_LIFE_AT_RETURN : 0,
	};
	const struct kl_val v = kl_word(value);
	const struct kl_opsig sig = {
		.method = write ? kl_history_method(h, "write", 5) :
				  kl_history_method(h, "read", 4),
		.nargs = write, .nres = !write,
	};

	assert_int_equal(kl_history_add(h, &op, &sig, &v, &v), 0);
}

static void add_free(struct scene *s, uint64_t addr, uint64_t time)
{
	const uint16_t cpu = below(s, CPUS);
	const struct klin_event ev = {
		.type = KLIN_EV_FREE, .probe = 1, .val = { addr }, .ret = time + s->skew[cpu],
		.cpu_ret = cpu,
	};

	assert_int_equal(kl_lives_freed(&s->r, &ev), 0);
}

/*
 * Add the operations of a life from @from to @to; the life before ended at @before.  With s->across
 * some return after it, and some were called in the life before, perhaps with its address.
 */
static void add_life(struct scene *s, uint64_t addr, uint64_t from, uint64_t to, uint64_t before)
{
	const unsigned int n = 1 + below(s, OPS);
	uint64_t value = ++s->value;	/* no operation has written the first one */
	unsigned int i;

	s->lives++;
	for (i = 0; i < n; i++) {
		const uint64_t at = from + (to - from) * (i + 1) / (n + 1);
		uint64_t call = at - below(s, at - from), ret = at + below(s, to - at);
		const bool write = below(s, 2);
		bool at_return = below(s, 2);

		if (s->across && !below(s, 3)) {
			if (before && below(s, 2))
				call = before - 1 - below(s, STEP / 2);
			else if (!at_return)
				ret = to + 1 + below(s, STEP);
		}
		if (write)
			value = ++s->value;
		add_op(s, addr, call, ret, at_return, write, value);
	}
}

/* Return: a recording until @end, without operations. */
static struct scene empty(uint64_t end)
{
	struct scene s = { .r = { .h = kl_history_new(), .end = end } };

	assert_non_null(s.r.h);
	s.r.lives.living_fd = s.r.lives.blocks_fd = -1;
	return s;
}

static void begin(struct scene *s, uint64_t seed, uint64_t error, bool across)
{
	unsigned int i, k;

	*s = empty(1000 * STEP);
	s->seed = seed;
	s->across = across;
	s->r.h->error = error;
	for (i = 0; i < CPUS; i++)
		s->skew[i] = below(s, error + 1);
	for (i = 0; i < ADDRS; i++) {
		const unsigned int lives = 1 + below(s, LIVES);
		uint64_t from = STEP, before = 0;

		for (k = 0; k < lives; k++) {
			add_life(s, ADDR + 64 * i, from, from + STEP, before);
			before = from + STEP;
			add_free(s, ADDR + 64 * i, before);
			from = before + 1 + (below(s, STEP / 2) >> below(s, 6));
		}
	}
}

static void end(struct scene *s)
{
	kl_history_free(s->r.h);
	kl_lives_close(&s->r);
}

static enum kl_verdict verdict(struct kl_history *h)
{
	const struct kl_options opt = { .threads = 1, .classical = true };
	struct kl_spec *spec = shipped_spec("register");
	struct kl_report *r;
	enum kl_verdict v;

	assert_int_equal(kl_history_finish(h), 0);
	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	v = r->verdict;
	kl_report_free(r);
	kl_spec_free(spec);
	return v;
}

/* Exact clocks, and no operation across a free: each life is an object, and nothing is unknown. */
static void test_exact(void **state)
{
	const unsigned long runs = wanted_runs(2000);
	unsigned long i, wrong = 0;
	struct scene s;

	for (i = 0; i < runs; i++) {
		begin(&s, i, 0, false);
		wrong += verdict(s.r.h) == KL_VIOLATION;
		end(&s);
		begin(&s, i, 0, false);
		assert_int_equal(
			kl_lives_assign(&s.r, s.r.h->nops, KL_TIME_MIN, s.r.end, KL_TIME_MAX), 0);
		assert_int_equal(s.r.h->nobjects, s.lives);
		assert_int_equal(s.r.h->ngaps, 0);
		assert_int_equal(verdict(s.r.h), KL_LINEARIZABLE);
		end(&s);
	}
	/* With one object an address, many recordings are violations. */
	assert_true(wrong > runs / 10);
}

/* Clocks that differ, and operations across frees: no violation, and often a verdict. */
static void test_sound(void **state)
{
	const unsigned long runs = wanted_runs(20000);
	unsigned long i, decided = 0;
	struct scene s;
	enum kl_verdict v;

	for (i = 0; i < runs; i++) {
		begin(&s, i, i % 3 * 20, i & 1);
		assert_int_equal(
			kl_lives_assign(&s.r, s.r.h->nops, KL_TIME_MIN, s.r.end, KL_TIME_MAX), 0);
		v = verdict(s.r.h);
		assert_int_not_equal(v, KL_VIOLATION);
		decided += v == KL_LINEARIZABLE;
		end(&s);
	}
	assert_true(decided > runs / 10);
}

/* An operation that frees its object lasts beyond its life; the next life knows nothing of it. */
static void test_last_operation(void **state)
{
	struct scene s = empty(1000);
	unsigned int later;

	/* The next life begins after the operation's return, or before. */
	for (later = 0; later < 2; later++) {
		const uint64_t addr = ADDR + 64 * later;

		add_op(&s, addr, 10, 40, false, true, 1);
		add_free(&s, addr, 30);
		add_op(&s, addr, later ? 35 : 50, 60, false, false, 7);
	}
	assert_int_equal(kl_lives_assign(&s.r, 4, KL_TIME_MIN, 1000, KL_TIME_MAX), 0);
	assert_int_equal(s.r.h->nobjects, 4);
	assert_true(s.r.h->ops[0].flags & KL_OP_PENDING);
	assert_int_equal(s.r.h->ngaps, 1);
	assert_int_equal(s.r.h->gaps[0].object, s.r.h->ops[3].object);
	assert_int_equal(s.r.h->gaps[0].from, 10);
	assert_int_equal(s.r.h->gaps[0].to, 40);
	end(&s);
}

/*
 * A followed recording decides about the gap before it knows the operations of the next life: these
 * may still overlap, unless the floor is later than the return.
 */
static void test_followed_last_operation(void **state)
{
	struct scene s = empty(KL_TIME_MAX);
	struct kl_history *h = s.r.h;
	uint64_t object;

	add_op(&s, ADDR, 10, 40, false, true, 1);
	add_free(&s, ADDR, 30);
	assert_int_equal(kl_lives_assign(&s.r, 1, 0, 50, 41), 0);
	assert_int_equal(h->ngaps, 0);
	h->ops[0].ret = 40;
	h->ops[0].flags = 0;
	assert_int_equal(kl_lives_assign(&s.r, 1, 0, 50, 35), 0);
	assert_int_equal(h->ngaps, 1);
	object = h->objects[h->gaps[0].object];
	assert_int_not_equal(object, ADDR);
	h->nops = h->ngaps = 0;
	add_op(&s, ADDR, 36, 60, false, false, 7);
	assert_int_equal(kl_lives_assign(&s.r, 1, 50, 70, 70), 0);
	assert_int_equal(h->objects[h->ops[0].object], object);
	end(&s);
}

/* Memory of a SLAB_TYPESAFE_BY_RCU cache: nothing is known of later lives. */
static void test_same_type(void **state)
{
	struct scene s = empty(1000);
	const struct klin_event ev = {
		.type = KLIN_EV_FREE,
		.probe = 1,
		.val = { ADDR },
		.ret = 30,
		.flags = KLIN_F_UNWATCHED,
	};

	add_op(&s, ADDR, 10, 20, false, true, 1);
	assert_int_equal(kl_lives_freed(&s.r, &ev), 0);
	add_op(&s, ADDR, 40, 50, false, true, 1);
	assert_int_equal(kl_lives_assign(&s.r, 2, KL_TIME_MIN, 1000, KL_TIME_MAX), 0);
	assert_int_equal(s.r.h->ngaps, 1);
	assert_int_equal(s.r.h->gaps[0].object, s.r.h->ops[1].object);
	assert_int_equal(s.r.h->gaps[0].from, 30);
	assert_int_equal(s.r.h->gaps[0].to, KL_TIME_MAX);
	end(&s);
}

/* The object of a later life is named after its memory. */
static void test_name(void **state)
{
	struct scene s = empty(1000);
	struct kl_history *h = s.r.h;

	assert_int_equal(kl_history_spell_kind(h, KL_SPELLED_SLAB, ADDR, "kmalloc-64", 10), 0);
	add_op(&s, ADDR, 10, 20, false, true, 1);
	add_free(&s, ADDR, 30);
	add_op(&s, ADDR, 40, 50, false, true, 1);
	assert_int_equal(kl_lives_assign(&s.r, 2, KL_TIME_MIN, 1000, KL_TIME_MAX), 0);
	assert_int_equal(h->objects[h->ops[0].object], ADDR);
	assert_string_equal(kl_history_slab(h, h->objects[h->ops[1].object]),
			    "kmalloc-64 at 0xffff888000001000, used again");
	end(&s);
}

/* Memory that is not watched: nothing is known of the object; gaps are those of all its lives. */
static void test_unwatched(void **state)
{
	struct scene s = empty(1000);
	struct kl_history *h = s.r.h;

	add_op(&s, ADDR, 10, 20, false, true, 1);
	h->ops[0].pad |= KL_LIFE_UNWATCHED;
	add_free(&s, ADDR, 30);
	add_op(&s, ADDR, 40, 50, false, true, 1);
	add_op(&s, ADDR + 64, 40, 50, false, true, 1);
	assert_int_equal(kl_lives_assign(&s.r, 3, 5, 500, KL_TIME_MAX), 0);
	assert_int_equal(h->ngaps, 2);
	assert_int_equal(h->gaps[0].object, h->ops[0].object);
	assert_int_equal(h->gaps[1].object, h->ops[1].object);
	assert_int_equal(h->gaps[0].from, 5);
	assert_int_equal(h->gaps[1].to, 500);
	end(&s);
}

/* A followed recording learns which objects are over, once, and forgets their lives. */
static void test_over(void **state)
{
	struct scene s = empty(KL_TIME_MAX);
	uint64_t second;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		add_op(&s, ADDR, 100 * i + 10, 100 * i + 20, false, true, 1);
		add_free(&s, ADDR, 100 * i + 50);
	}
	assert_int_equal(kl_lives_assign(&s.r, 3, 0, 400, KL_TIME_MAX), 0);
	second = s.r.h->objects[s.r.h->ops[1].object];
	assert_int_equal(kl_lives_forget(&s.r, 50), 0);
	assert_int_equal(s.r.lives.nover, 0);
	assert_int_equal(kl_lives_forget(&s.r, 151), 0);
	assert_int_equal(s.r.lives.nover, 2);
	assert_int_equal(s.r.lives.over[0], ADDR);
	assert_int_equal(s.r.lives.over[1], second);
	assert_int_equal(kl_lives_forget(&s.r, 300), 0);
	assert_int_equal(s.r.lives.nover, 1);
	assert_int_equal(s.r.lives.home[0].n, 1);
	assert_int_equal(kl_lives_forget(&s.r, 900), 0);
	assert_int_equal(s.r.lives.nover, 0);
	/* The address is in its fourth life. */
	add_op(&s, ADDR, 910, 920, false, true, 1);
	assert_int_equal(kl_lives_assign(&s.r, 4, 0, 1000, KL_TIME_MAX), 0);
	assert_true(s.r.h->ops[3].object != s.r.h->ops[2].object);
	assert_int_equal(s.r.h->nobjects, 4);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_last_operation),
		cmocka_unit_test(test_followed_last_operation),
		cmocka_unit_test(test_same_type),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_unwatched),
		cmocka_unit_test(test_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
