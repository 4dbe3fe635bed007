// SPDX-License-Identifier: GPL-2.0
/*
 * The stack of open operations of a task (bpf/slots.h) when interrupts hit the programs
 * themselves: bpf/tp.bpf.c, compiled for this machine, is stepped through instruction by
 * instruction, and between any two of them an interrupt calls and returns from operations
 * of its own, some of whose returns are missed.  Whatever it hits, an operation is told
 * once at most, with its own arguments, results and times, and what is not told is
 * counted.  The interrupt is also where userspace reads the rings (bpf/ring.h): what the
 * head says is there is there as a whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* In place of libbpf's header: the same names, for this machine. */
#define __BPF_HELPERS__
#define SEC(name)
#define __uint(name, value) int (*name)[value]
#define __type(name, value) __typeof__(value) *name
#define __noinline __attribute__((noinline))
#define barrier() asm volatile("" ::: "memory")

static void *bpf_map_lookup_elem(void *map, const void *key);
static long bpf_perf_event_output(void *ctx, void *map, uint64_t flags, void *data, uint64_t size);
static uint64_t bpf_ktime_get_ns(void);
static uint64_t bpf_get_current_pid_tgid(void);
static uint32_t bpf_get_smp_processor_id(void);

#include "bpf/klin_event.h"
/* It is read-only for the programs, not for who loads them. */
extern const volatile struct klin_tp_conf conf __attribute__((section(".data.conf")));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "bpf/tp.bpf.c"
#include "history_util.h"
#pragma GCC diagnostic pop

#define OPS		40
#define EVENTS		128
#define ENTRIES		7	/* of a ring, at most */
#define NVALS		2
#define FLAG_TRAP	0x100

/* An operation that the test did. */
struct op {
	uint64_t object, from, to;	/* the clock around its call: it was called in between */
	uint64_t left, over;		/* around its return; 0: it was not told of one */
	unsigned int told;
};

static struct klin_slot slot;
/* Of two clauses: of the task's operations and of the interrupt's. */
static struct klin_cpu counts[2][KLIN_SIDES];
static unsigned int clause;
static uint64_t rings[2][ENTRIES][KLIN_EVENT_SIZE(NVALS) / sizeof(uint64_t)];
static struct klin_home home = { .came = 1, .open = 1 };
static bool active[2][2];	/* the kernel runs no program that it is in already */
static unsigned int skipped;
static struct klin_event events_seen[EVENTS];
static struct op ops[OPS];
static unsigned int nevents, nops;
static uint64_t clock_now;
/* What the programs cannot be hit in: the kernel's own. */
static volatile sig_atomic_t kernel;

static void enter(void)
{
	kernel++;
	barrier();
}

static void leave(void)
{
	barrier();
	kernel--;
}

/* Contexts of two stacks. */
static struct {
	_Alignas(1 << KLIN_STACK_BITS) uint64_t args[8];
} stacks[2];

/*
 * What the task has open, what it is doing when it is hit, and what the interrupt does:
 * so many operations, each in the one before, of which bits in @unseen do not return.
 */
struct scene {
	unsigned int open;
	int returns;		/* this one of those; -1: one more is called */
	unsigned int nested, unseen;
	bool others;		/* its operations are of another clause, with programs of its own */
	unsigned int entries;	/* of the rings */
	bool closed;		/* by a CPU that came */
};

static volatile sig_atomic_t steps, hit_at;
static const struct scene *scene;

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	const uint32_t i = *(const uint32_t *)key;

	if (map == &slots)
		return i ? NULL : &slot;
	if (map == &cpus)
		return i < KLIN_SIDES ? &counts[clause][i] : NULL;
	if (map == &homes)
		return i ? NULL : &home;
	if (map == &ring) {
		/* Behind it is another CPU's. */
		assert_true(i < conf.ring);
		return rings[clause][i];
	}
	return NULL;
}

/* As userspace does at any time. */
static void read_rings(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct klin_cpu *c = &counts[i][KLIN_AT_RETURN];

		assert_true(c->head - c->tail <= conf.ring);
		for (; c->tail != c->head; c->tail++) {
			assert_true(nevents < EVENTS);
			memset(&events_seen[nevents], 0, sizeof(*events_seen));
			memcpy(&events_seen[nevents++], rings[i][c->tail % conf.ring],
			       sizeof(rings[i][0]));
			memset(rings[i][c->tail % conf.ring], 0xff, sizeof(rings[i][0]));
		}
	}
}

static long bpf_perf_event_output(void *ctx, void *map, uint64_t flags, void *data, uint64_t size)
{
	enter();
	assert_true(nevents < EVENTS);
	memset(&events_seen[nevents], 0, sizeof(*events_seen));
	memcpy(&events_seen[nevents++], data, size);
	leave();
	return 0;
}

static uint64_t bpf_ktime_get_ns(void)
{
	uint64_t now;

	enter();
	now = ++clock_now;
	leave();
	return now;
}

static uint64_t bpf_get_current_pid_tgid(void)
{
	return 7;
}

static uint32_t bpf_get_smp_processor_id(void)
{
	return 0;
}

/*
 * Run a program as the kernel does, for the operation @n: of one method, which has its
 * number as the argument and that and 1000 as the result.
 */
static void run(unsigned int stack, bool returns, unsigned int n)
{
	struct bpf_raw_tracepoint_args *ctx = (void *)stacks[stack].args;
	const unsigned int of = stack && scene->others, before = clause;
	const uint64_t args[] = { ops[n].object, 0, returns ? n + 1000 : n };

	enter();
	if (active[of][returns]) {
		skipped++;
		leave();
		return;
	}
	active[of][returns] = true;
	clause = of;
	memcpy(ctx, args, sizeof(args));
	*(returns ? &ops[n].left : &ops[n].from) = clock_now;
	leave();
	if (returns)
		klin_tp_return(ctx);
	else
		klin_tp_call(ctx);
	enter();
	*(returns ? &ops[n].over : &ops[n].to) = clock_now;
	clause = before;
	active[of][returns] = false;
	leave();
}

static unsigned int new_op(uint64_t object)
{
	assert_true(nops < OPS);
	ops[nops] = (struct op){ .object = object };
	return nops++;
}

static void interrupt(void)
{
	unsigned int n[KLIN_DEPTH], i;

	read_rings();
	for (i = 0; i < scene->nested; i++) {
		n[i] = new_op(100 + i);
		run(1, false, n[i]);
	}
	while (i--)
		if (!(scene->unseen >> i & 1))
			run(1, true, n[i]);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	if (steps++ < hit_at || kernel)
		return;
	u->uc_mcontext.gregs[REG_EFL] &= ~FLAG_TRAP;
	interrupt();
}

/* Do it under single steps, until the interrupt has come. */
static void hit(bool returns, unsigned int n)
{
	steps = 0;
	asm volatile("pushfq; orq %0, (%%rsp); popfq" :: "i"(FLAG_TRAP) : "memory", "cc");
	run(0, returns, n);
	asm volatile("pushfq; andq %0, (%%rsp); popfq" :: "i"(~FLAG_TRAP) : "memory", "cc");
}

static void tell(const struct klin_event *ev, bool over)
{
	struct op *o;

	if (ev->flags & KLIN_F_NOCALL) {
		/* A return alone: what it says of its call is nothing. */
		assert_int_equal(ev->call, 0);
		assert_true(ev->val[1] >= 1000 && ev->val[1] - 1000 < nops);
		o = &ops[ev->val[1] - 1000];
		assert_true(ev->ret > o->left && ev->ret <= o->over);
		assert_int_equal(ev->object, o->object);
		return;
	}
	assert_true(ev->val[0] < nops);
	o = &ops[ev->val[0]];
	assert_int_equal(o->told++, 0);
	assert_int_equal(ev->object, o->object);
	assert_true(ev->call > o->from && ev->call <= o->to);
	if (!over)
		return;
	assert_true(ev->ret >= ev->call);
	if (!(ev->flags & KLIN_F_NORET)) {
		assert_true(ev->ret > o->left && ev->ret <= o->over);
		assert_int_equal(ev->val[1], ev->val[0] + 1000);
	}
}

/* As userspace reads it when all programs have ended. */
static void check(void)
{
	unsigned int i, untold = 0, missed = skipped;
	uint64_t written = 0;

	read_rings();
	for (i = 0; i < nevents; i++)
		tell(&events_seen[i], true);
	for (i = 0; i < KLIN_DEPTH; i++) {
		assert_int_not_equal(slot.frames[i].open, KLIN_BUSY);
		if (slot.frames[i].open == KLIN_OPEN)
			tell(&slot.frames[i].ev, false);
	}
	for (i = 0; i < nops; i++)
		untold += !ops[i].told;
	for (i = 0; i < KLIN_SIDES; i++) {
		missed += counts[0][i].missed + counts[1][i].missed;
		written += counts[0][i].events + counts[1][i].events;
		if (scene->closed)
			assert_int_equal(counts[0][i].head + counts[1][i].head, 0);
	}
	assert_int_equal(written, nevents);
	assert_true(untold <= missed);
}

/* The scene, hit before instruction @at; false when there is none. */
static bool play(const struct scene *s, int at)
{
	unsigned int i, last;

	memset(&slot, 0, sizeof(slot));
	memset(counts, 0, sizeof(counts));
	nevents = nops = skipped = 0;
	clock_now = 0;
	scene = s;
	((struct klin_tp_conf *)&conf)->ring = s->entries;
	home.open = !s->closed;
	hit_at = at;
	for (i = 0; i < s->open; i++)
		run(0, false, new_op(i));
	if (s->returns >= 0) {
		hit(true, s->returns);
		last = s->returns;
	} else {
		last = new_op(50);
		hit(false, last);
		last++;
	}
	/* What is still there returns in turn. */
	for (i = last; i--; )
		run(0, true, i);
	check();
	return steps > at;
}

/* Scenes that a seed chooses, and some of the places where each can be hit. */
static void test_interrupts(void **state)
{
	const struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	unsigned int i, n = wanted_runs(4000) / 300 + 2;
	unsigned int there;
	struct scene s;
	int at;
#ifdef __SANITIZE_ADDRESS__
	/* Most instructions are the sanitizer's, and each is a trap. */
	const int apart = 500;
#else
	const int apart = 48;
#endif

	assert_int_equal(sigaction(SIGTRAP, &sa, NULL), 0);
	srand(2);
	for (i = 0; i < n; i++) {
		s.open = rand() % 4 ? KLIN_DEPTH - 2 + rand() % 4 : 1 + rand() % KLIN_DEPTH;
		/* One that is still in its place. */
		there = s.open < KLIN_DEPTH ? s.open : KLIN_DEPTH;
		s.returns = rand() % 3 ? (int)(s.open - 1 - rand() % there) : -1;
		s.nested = 1 + rand() % 3;
		s.unseen = rand() % (1 << s.nested);
		s.others = rand() % 3;
		s.entries = rand() % (ENTRIES + 1);
		s.closed = rand() % 5 == 0;
		for (at = rand() % 16; play(&s, at); at += 1 + rand() % apart)
			;
	}
	signal(SIGTRAP, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupts),
	};
	struct klin_tp_conf *c = (struct klin_tp_conf *)&conf;

	/* One slot; times are the clock above. */
	c->clock = KLIN_CLOCK_MONO;
	c->nvals = NVALS;
	c->method[0].used = c->method[0].nargs = c->method[0].nres = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
