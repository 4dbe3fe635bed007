// SPDX-License-Identifier: GPL-2.0
/*
 * Coarse times (bpf/clock.h) when interrupts hit the BPF program that takes a time.  The
 * program is compiled for this machine and single-stepped.  Before each instruction an
 * interrupt takes times of its own, and a second interrupt may hit the first.  A time that is
 * taken after an interrupt must be later than the interrupt's last time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

/* These names replace libbpf's header, so that the program compiles for this machine. */
#define __BPF_HELPERS__
#define SEC(name)
#define __uint(name, value) int (*name)[value]
#define __type(name, value) __typeof__(value) *name

static void *bpf_map_lookup_elem(void *map, const void *key);

static uint64_t bpf_ktime_get_ns(void)
{
	return 0;
}

#include "bpf/klin_event.h"

static const volatile struct {
	uint32_t clock;
} conf = { KLIN_CLOCK_COARSE };

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "bpf/clock.h"
#pragma GCC diagnostic pop

#define STEPS	1000		/* more than the program's instructions */
#define TIMES	3		/* times that an interrupt takes */
#define TRAP	0x100		/* the flag for single-stepping */

static struct klin_time lines[2];
static volatile int at, hits[2];	/* hits: instructions to interrupt; -1: none */
static volatile bool stepping;
static volatile uint64_t latest;

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	return &lines[*(const uint32_t *)key];
}

__attribute__((noinline))
static uint64_t stamp(void)
{
	return klin_time(0);
}

static void interrupt(void)
{
	int i;

	for (i = 0; i < TIMES; i++)
		latest = stamp();
}

static void step(bool on)
{
	stepping = on;
	if (on)
		asm volatile("pushfq; orq %0, (%%rsp); popfq" : : "i" (TRAP) : "memory", "cc");
}

/* hits[0] counts the program's instructions, hits[1] those of the first interrupt. */
static void on_trap(int sig, siginfo_t *info, void *context)
{
	static volatile int inner, level;
	ucontext_t *u = context;

	if (!stepping)
		u->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
	else if (level && inner++ == hits[1])
		interrupt();
	else if (!level && at++ == hits[0]) {
		level = 1;
		inner = 0;
		step(hits[1] >= 0);
		interrupt();
		asm volatile("pushfq; andq %0, (%%rsp); popfq" : : "i" (~TRAP) : "memory", "cc");
		level = 0;
		stepping = true;
	}
}

static bool goes_back(int outer, int inner)
{
	uint64_t call, ret;

	memset(lines, 0, sizeof(lines));
	lines[0].now = 1;
	stamp();
	hits[0] = outer;
	hits[1] = inner;
	at = 0;
	latest = 0;
	step(true);
	call = stamp();
	stepping = false;
	asm volatile("nop" : : : "memory");
	ret = stamp();
	assert_true(call <= ret);
	return ret <= latest;
}

static void test_interrupts_between_instructions(void **state)
{
	const struct sigaction act = {
		.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER,
	};
	int outer, inner, n = 0;

	sigaction(SIGTRAP, &act, NULL);
	do {
		assert_false(goes_back(n, -1));
		n += n < 64 ? 1 : 5;
	} while (latest && n < STEPS);
	/* The last instruction was hit, too. */
	assert_true(n > 10 && n < STEPS);
	/* Some pairs of instructions suffice, because each step costs a signal. */
	for (outer = 0; outer < n; outer += n / 8 + 1)
		for (inner = 0; inner < n; inner += n / 24 + 1)
			assert_false(goes_back(outer, inner));
}

/* At the end of a tick times stay equal; in the next tick they increase again. */
static void test_end_of_tick(void **state)
{
	const uint64_t last = (1ull << (KLIN_TICK_BITS + 1)) - 1;
	uint64_t before = 0, now;
	uint32_t i;

	memset(lines, 0, sizeof(lines));
	lines[0].now = 1;
	for (i = 0; i < (1u << KLIN_TICK_BITS) + 10; i++, before = now) {
		now = stamp();
		assert_true(now > before || now == last);
	}
	assert_true(before == last);
	lines[0].now = 2;
	assert_true(stamp() == last + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupts_between_instructions),
		cmocka_unit_test(test_end_of_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
