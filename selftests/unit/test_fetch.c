// SPDX-License-Identifier: GPL-2.0
/*
 * Fetch programs after the peephole optimizer (userspace/record/expr/fetch_peephole.c) fetch
 * the same values as before.  Random programs, such as the compiler makes, run by bpf/fetch.h,
 * compiled for this machine, on random arguments and memory that is partly unreadable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "history_util.h"
#include "record/expr/compiler.h"

/* These names replace libbpf's header, so that bpf/fetch.h compiles for this machine. */
#define __BPF_HELPERS__
#define __noinline __attribute__((noinline))

/* The address determines the contents of memory, and whether reading it fails. */
static long bpf_probe_read_kernel(void *to, uint32_t size, const void *from)
{
	const uint64_t at = (uintptr_t)from, v = at * 0x9e3779b97f4a7c15ULL;

	if (at % 3 == 0)
		return -14;
	memcpy(to, &v, size);
	return 0;
}

static long bpf_probe_read_user(void *to, uint32_t size, const void *from)
{
	return bpf_probe_read_kernel(to, size, (const void *)((uintptr_t)from + 1));
}

static long bpf_probe_read_kernel_str(void *to, uint32_t size, const void *from)
{
	return -14;
}

static uint64_t bpf_get_current_task(void)
{
	return 77;
}

struct pt_regs;
#define KLIN_STEPS KLIN_INSNS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "bpf/fetch.h"
#pragma GCC diagnostic pop

#define ROOM	20	/* maximum number of steps of a value */

struct out {
	uint64_t val[KLIN_MAX_VALS], object;
	uint32_t fault;
	bool is;
};

static struct klin_insn prog[KLIN_INSNS];
static unsigned int nsteps;

static void emit(unsigned int op, unsigned int dst, unsigned int src, unsigned int size, int off)
{
	prog[nsteps++] = (struct klin_insn){
		.code = KLIN_CODE(op, dst, src, size, off), .imm = rand() % 4,
	};
}

static unsigned int any_size(void)
{
	return 1U << rand() % 4 | (rand() % 2 ? KLIN_SIGNED : 0);
}

/* Append steps that compute a value in @reg as the compiler does, with the registers above it. */
static void value(unsigned int reg, unsigned int depth)
{
	/* No divisions: a division by 0 traps here. */
	static const unsigned int ops[] = {
		KLIN_ADD, KLIN_SUB, KLIN_MUL, KLIN_AND, KLIN_XOR, KLIN_SHL,
		KLIN_SAR, KLIN_EQ, KLIN_LTU, KLIN_LTS,
	};

	switch (depth ? rand() % 9 : rand() % 4) {
	case 0:
	case 1:
		emit(KLIN_ARG, reg, rand() % KLIN_MAX_PARAMS, 0, 0);
		break;
	case 2:
		emit(KLIN_RETVAL, reg, 0, 0, 0);
		break;
	case 3:
		emit(rand() % 8 ? KLIN_IMM : rand() % 2 ? KLIN_UNKNOWN : KLIN_CURRENT,
		     reg, 0, 0, 0);
		break;
	case 4:
		value(reg, depth - 1);
		emit(KLIN_LOAD, reg, reg, any_size() | (rand() % 4 ? 0 : KLIN_USER), rand() % 8);
		break;
	case 5:
		value(reg, depth - 1);
		value(reg + 1, depth - 1);
		value(reg + 2, 0);
		emit(KLIN_SELECT, reg, reg + 1, 0, reg + 2);
		break;
	case 6:
		value(reg, depth - 1);
		emit(KLIN_LNOT, reg, 0, 0, 0);
		value(reg + 1, 0);
		emit(KLIN_LNOT, reg + 1, 0, 0, 0);
		emit(rand() % 2 ? KLIN_LAND : KLIN_LOR, reg, reg + 1, 0, 0);
		break;
	default:
		value(reg, depth - 1);
		value(reg + 1, depth - 1);
		emit(ops[rand() % (sizeof(ops) / sizeof(*ops))], reg, reg + 1, 0, 0);
	}
	if (rand() % 3 == 0)
		emit(KLIN_EXT, reg, 0, any_size(), 0);
}

static void make(void)
{
	unsigned int i;

	memset(prog, 0, sizeof(prog));
	nsteps = 0;
	if (rand() % 3 == 0) {
		value(0, 1);
		emit(KLIN_WHEN, 0, 0, 0, 0);
	}
	if (rand() % 2) {
		value(0, rand() % 2);
		emit(KLIN_OBJECT, 0, 0, 0, 0);
	}
	for (i = 0; i < KLIN_MAX_VALS && nsteps + 2 * ROOM < KLIN_INSNS; i++) {
		value(0, rand() % 3);
		emit(KLIN_VAL, 0, 0, 0, i);
		if (rand() % 4)
			continue;
		value(0, 0);
		emit(KLIN_LNOT, 0, 0, 0, 0);
		emit(KLIN_MARK, 0, 0, 0, i);
	}
}

static struct out run(const uint64_t *args, uint64_t retval)
{
	struct out o = { .object = 5 };

	o.is = klin_fetch(prog, (const __u64 *)args, retval, (__u64 *)o.val, (__u64 *)&o.object,
			  &o.fault);
	return o;
}

static void test_optimized_fetches_same(void **state)
{
	unsigned int i, j, n = wanted_runs(4000) * 5, before, used, steps = 0, left = 0;
	uint64_t args[KLIN_MAX_PARAMS], retval;
	struct out raw, small;

	srand(3);
	for (i = 0; i < n; i++) {
		make();
		for (j = 0; j < KLIN_MAX_PARAMS; j++)
			args[j] = rand() % 4 ? (uint64_t)rand() << 33 ^ rand() :
				(uint64_t)rand() % 3;
		retval = args[0] ^ args[1];
		raw = run(args, retval);
		before = nsteps;
		used = kl_optimize_fetch(prog, nsteps);
		for (nsteps = 0; prog[nsteps].code; nsteps++)
			;
		assert_true(nsteps <= before);
		/* Parameters that the program claims not to use are random. */
		for (j = 0; j < KLIN_MAX_PARAMS; j++)
			if (!(used >> j & 1))
				args[j] = ~args[j];
		small = run(args, retval);
		assert_int_equal(raw.is, small.is);
		if (!raw.is)
			continue;
		assert_memory_equal(raw.val, small.val, sizeof(raw.val));
		assert_int_equal(raw.object, small.object);
		assert_int_equal(raw.fault, small.fault);
		steps += before;
		left += nsteps;
	}
	assert_true(left < steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_optimized_fetches_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
