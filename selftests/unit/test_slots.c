// SPDX-License-Identifier: GPL-2.0
/*
 * The stack of a task's open operations (bpf/slots.h) when interrupts hit the BPF programs.
 *
 * bpf/tp.bpf.c is compiled for this machine and single-stepped.  Between any two instructions
 * an interrupt calls and returns from operations of its own, and may miss some returns.  In
 * all cases an operation is reported at most once, with its own arguments, results and times,
 * and unreported operations are counted.  In the interrupt, userspace also reads the rings
 * (bpf/ring.h), which must be complete up to the head.  With lent slots, a task on another CPU
 * also claims a free slot or frees one.
 *
 * With CLAUSES the tested program is bpf/func.bpf.c with several clauses on one function, see
 * test_slots_two.c.
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

#include "bpf_names.h"
#include "bpf/klin_event.h"
/* Read-only for the programs, but not for their loader. */
#define WRITTEN __attribute__((section(".data.conf")))
#ifdef CLAUSES
extern const volatile struct klin_conf confs[CLAUSES] WRITTEN;
static long bpf_get_func_arg(void *ctx, uint32_t n, __u64 *value);
static long bpf_get_func_ret(void *ctx, __u64 *value);
static long bpf_probe_read_kernel(void *to, uint32_t size, const void *from);
static long bpf_probe_read_user(void *to, uint32_t size, const void *from);
static long bpf_probe_read_kernel_str(void *to, uint32_t size, const void *from);
static uint64_t bpf_get_current_task(void);
#define KLIN_CLAUSES	CLAUSES
#define KLIN_STEPS	8	/* maximum number of steps of the programs below */
#define PROGRAMS	"bpf/func.bpf.c"
#else
extern const volatile struct klin_tp_conf conf WRITTEN;
#define CLAUSES		1
/*
 * The stacks of a task and of an interrupt; both cross a multiple of the stack size without
 * KASAN.
 */
#define STACK_SIZE	32768
static const struct task_struct *bpf_get_current_task_btf(void);
#define PROGRAMS	"bpf/tp.bpf.c"
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include PROGRAMS
#include "history_util.h"
#pragma GCC diagnostic pop

#define OPS		40
#define EVENTS		128
#define ENTRIES		7	/* maximum size of a ring */
#define NVALS		2
#define LENT		2
#define LENT_MASK	7	/* mask of the kept slots; LENT slots follow */
/* mask of the kept slots, if there are as many lent slots as a task tries */
#define ROOMY_MASK	63
#define NESTED		(KLIN_DEPTH + 3)	/* maximum depth of an interrupt's operations */
#define FLAG_TRAP	0x100
#define STACK		41	/* id of the stack of all calls */
#ifdef __SANITIZE_ADDRESS__
/* with sanitizers, most instructions are theirs, and each is a trap */
#define SLOW		10
#else
#define SLOW		1
#endif

/* An operation that the test made. */
struct op {
	/* from, to: clock before and after the call, which is in between */
	uint64_t object, from, to;
	/* clock before and after the return; 0: the program at the return did not run */
	uint64_t left, over;
	unsigned int depth;		/* number of calls on its stack */
	unsigned int told[CLAUSES];
};

/*
 * slots_of: the slots that the task (tid 7) may use.  In scenes with lent slots another task owns
 * all kept slots.
 */
static struct klin_slot slots_of[LENT], kept;
/* Counters for the task's function, the interrupt's function, and another CPU. */
static struct klin_cpu counts[3][KLIN_SIDES];
static unsigned int clause;
static uint64_t rings[3][ENTRIES][KLIN_EVENT_SIZE(NVALS) / sizeof(uint64_t)];
static struct klin_home home = { .came = 1, .open = 1 };
static bool active[2][2];	/* the kernel does not run a program recursively */
static unsigned int nskipped;
static struct klin_event events_seen[EVENTS];
static struct op ops[OPS];
static unsigned int nevents, nops;
static uint64_t clock_now;
/* Nonzero in kernel functions, which interrupts do not hit. */
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

/* Contexts on the three stacks. */
static struct {
#ifdef KLIN_CLAUSES
	_Alignas(1 << KLIN_STACK_BITS) uint64_t args[32];
#else
	_Alignas(STACK_SIZE) char at[STACK_SIZE];
#endif
} stacks[3];

/*
 * A scene: the task's open operations, its action when the interrupt hits, and the interrupt's
 * operations.  The interrupt makes @nested operations, each inside the previous one; those
 * with a bit in @unseen do not return.
 */
struct scene {
	unsigned int open;
	int returns;		/* the task returns from this operation; -1: it calls another */
	unsigned int nested, unseen;
	/* the interrupt's operations belong to another clause, with its own programs */
	bool others;
	unsigned int entries;	/* size of the rings */
	bool closed;		/* a new CPU has closed the rings */
	bool split;		/* each operation belongs to one of the clauses */
	bool lent;		/* there is no kept slot */
	bool roomy;		/* the task tries each lent slot once, and the first is free */
	bool thief;		/* another task takes all free slots after the interrupt */
	/* another task frees the first slot before (1) or after (2) the interrupt's operations */
	unsigned int freed;
};

static uint32_t slot_mask_of(const struct scene *s)
{
	return s->roomy ? ROOMY_MASK : s->lent ? LENT_MASK : 0;
}

static volatile sig_atomic_t steps, hit_at;
/* The running program belongs to another task; the operations of such tasks. */
static bool other;
static unsigned int stolen[LENT], nstolen;
static unsigned long all_stolen;
static const struct scene *scene;

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	const uint32_t i = *(const uint32_t *)key;

	if (map == &slots && scene->roomy)
		return i == KLIN_LENT_AT(7, ROOMY_MASK, 0) ? &slots_of[0] : &kept;
	if (map == &slots && scene->lent)
		return i <= LENT_MASK ? &kept :
		       i <= LENT_MASK + LENT ? &slots_of[i - LENT_MASK - 1] : NULL;
	if (map == &slots)
		return i == 0 ? &slots_of[0] : i == 1 ? &kept : NULL;
	if (map == &cpus)
		return i < KLIN_SIDES ? &counts[clause][i] : NULL;
	if (map == &homes)
		return i ? NULL : &home;
	if (map == &ring) {
		/* Memory beyond this index belongs to another CPU. */
		assert_true(i < conf.ring);
		return rings[clause][i];
	}
	return NULL;
}

/* Read the rings as userspace may do at any time. */
static void read_rings(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
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

static long bpf_get_stackid(void *ctx, void *map, uint64_t flags)
{
	return STACK;
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
	return other ? 8 + nstolen : 7;
}

static uint32_t bpf_get_smp_processor_id(void)
{
	return 0;
}

#ifdef KLIN_CLAUSES
/* The context's address gives the number of the operation and its depth on the stack. */
static long bpf_get_func_arg(void *ctx, uint32_t n, __u64 *value)
{
	const uint64_t op = *(uint64_t *)ctx;

	*value = n ? op : ops[op].object;
	return 0;
}

static long bpf_get_func_ret(void *ctx, __u64 *value)
{
	*value = *(uint64_t *)ctx + 1000;
	return 0;
}

/* These programs read no other memory. */
static long bpf_probe_read_kernel(void *to, uint32_t size, const void *from)
{
	return -EFAULT;
}

static long bpf_probe_read_user(void *to, uint32_t size, const void *from)
{
	return -EFAULT;
}

static long bpf_probe_read_kernel_str(void *to, uint32_t size, const void *from)
{
	return -EFAULT;
}

static uint64_t bpf_get_current_task(void)
{
	return 0;
}

static void *context_of(unsigned int stack, bool returns, unsigned int n)
{
	uint64_t *ctx = &stacks[stack].args[31 - ops[n].depth];

	*ctx = n;
	return ctx;
}

#define klin_at_call(ctx)	klin_fentry(ctx)
#define klin_at_return(ctx)	klin_fexit(ctx)

static bool wanted_by(unsigned int n, unsigned int probe)
{
	return !scene->split || n % CLAUSES == probe;
}

/* Record the object, the argument and the result; with @split, each clause only its operations. */
static void set_conf(const struct scene *s)
{
	unsigned int i;

	for (i = 0; i < CLAUSES; i++) {
		struct klin_conf *cl = (struct klin_conf *)&confs[i];
		struct klin_insn *at;

		/* Hides the store to a constant from the compiler, which could omit it. */
		asm volatile("" : "+r"(cl) : : "memory");
		at = cl->call;
		memset(cl, 0, sizeof(*cl));
		cl->probe = i;
		cl->clock = KLIN_CLOCK_MONO;
		cl->stacks = 1;
		cl->ring = s->entries;
		cl->slot_mask = slot_mask_of(s);
		cl->nvals = NVALS;
		cl->all = cl->call_object = cl->call_vals = 1;
		cl->call_args = 3;
		cl->call_filter = s->split;
		if (s->split) {
			*at++ = (struct klin_insn){ .code = KLIN_CODE(KLIN_ARG, 0, 1, 0, 0) };
			*at++ = (struct klin_insn){ .code = KLIN_CODE(KLIN_IMM, 1, 0, 0, 0),
						    .imm = CLAUSES };
			*at++ = (struct klin_insn){ .code = KLIN_CODE(KLIN_MOD, 0, 1, 0, 0) };
			*at++ = (struct klin_insn){ .code = KLIN_CODE(KLIN_IMM, 1, 0, 0, 0),
						    .imm = i };
			*at++ = (struct klin_insn){ .code = KLIN_CODE(KLIN_EQ, 0, 1, 0, 0) };
			*at++ = (struct klin_insn){ .code = KLIN_CODE(KLIN_WHEN, 0, 0, 0, 0) };
		}
		*at++ = (struct klin_insn){ .code = KLIN_CODE(KLIN_OBJECT_ARG, 0, 0, 0, 0) };
		*at = (struct klin_insn){ .code = KLIN_CODE(KLIN_VAL_ARG, 0, 1, 0, 0) };
		cl->ret[0].code = KLIN_CODE(KLIN_VAL_RET, 0, 0, 0, 1);
	}
}
#else
static const struct task_struct *bpf_get_current_task_btf(void)
{
	static const struct task_struct task = { .stack = stacks[0].at };
	static const struct task_struct thief = { .stack = stacks[2].at };

	return other ? &thief : &task;
}

static void *context_of(unsigned int stack, bool returns, unsigned int n)
{
	const uint64_t args[] = { ops[n].object, 0, returns ? n + 1000 : n };

	/* The return has another depth of the stack than the call. */
	return memcpy(&stacks[stack].at[STACK_SIZE / 2 - returns * sizeof(args)], args,
		      sizeof(args));
}

#define klin_at_call(ctx)	klin_tp_call(ctx)
#define klin_at_return(ctx)	klin_tp_return(ctx)

static bool wanted_by(unsigned int n, unsigned int probe)
{
	return true;
}

static void set_conf(const struct scene *s)
{
	struct klin_tp_conf *c = (struct klin_tp_conf *)&conf;

	/* Hides the store to a constant from the compiler, which could omit it. */
	asm volatile("" : "+r"(c) : : "memory");
	c->clock = KLIN_CLOCK_MONO;
	c->stacks = 1;
	c->nvals = NVALS;
	c->ring = s->entries;
	c->slot_mask = slot_mask_of(s);
	c->stack_size = STACK_SIZE;
	c->method[0].used = c->method[0].nargs = c->method[0].nres = 1;
}
#endif

/*
 * Run a program as the kernel does, for operation @n of a single method.  Its argument is @n
 * and its result is @n + 1000.
 */
static void run(unsigned int stack, bool returns, unsigned int n)
{
	const unsigned int of = stack && scene->others, before = clause;
	void *ctx;

	enter();
	if (active[of][returns]) {
		nskipped += CLAUSES;
		leave();
		return;
	}
	active[of][returns] = true;
	clause = of;
	ctx = context_of(stack, returns, n);
	*(returns ? &ops[n].left : &ops[n].from) = clock_now;
	leave();
	if (returns)
		klin_at_return(ctx);
	else
		klin_at_call(ctx);
	enter();
	*(returns ? &ops[n].over : &ops[n].to) = clock_now;
	clause = before;
	active[of][returns] = false;
	leave();
}

static unsigned int new_op(uint64_t object, unsigned int depth)
{
	assert_true(nops < OPS);
	ops[nops] = (struct op){ .object = object, .depth = depth };
	return nops++;
}

/* Run a program of another task, on another CPU, where the kernel does not run it already. */
static void run_other(bool returns, unsigned int n)
{
	const unsigned int before = clause;
	void *ctx;

	other = true;
	clause = 2;
	ctx = context_of(2, returns, n);
	*(returns ? &ops[n].left : &ops[n].from) = clock_now;
	if (returns)
		klin_at_return(ctx);
	else
		klin_at_call(ctx);
	*(returns ? &ops[n].over : &ops[n].to) = clock_now;
	clause = before;
	other = false;
}

/* Let other tasks take all free slots. */
static void steal(void)
{
	while (!slots_of[0].word || !slots_of[1].word) {
		stolen[nstolen] = new_op(70, 0);
		run_other(false, stolen[nstolen]);
		assert_true(slots_of[0].owner == 8 + nstolen || slots_of[1].owner == 8 + nstolen);
		nstolen++;
	}
}

static void interrupt(void)
{
	unsigned int n[NESTED], i;

	read_rings();
	if (scene->freed == 1)
		slots_of[0].word = 0;
	for (i = 0; i < scene->nested; i++) {
		n[i] = new_op(100 + i, i);
		run(1, false, n[i]);
	}
	while (i--)
		if (!(scene->unseen >> i & 1))
			run(1, true, n[i]);
	if (scene->freed == 2)
		slots_of[0].word = 0;
	if (scene->thief)
		steal();
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	if (steps++ < hit_at || kernel)
		return;
	u->uc_mcontext.gregs[REG_EFL] &= ~FLAG_TRAP;
	interrupt();
}

/* Single-step until the interrupt has come. */
static __always_inline void begin_steps(void)
{
	steps = 0;
	asm volatile("pushfq; orq %0, (%%rsp); popfq" :: "i"(FLAG_TRAP) : "memory", "cc");
}

static __always_inline void end_steps(void)
{
	asm volatile("pushfq; andq %0, (%%rsp); popfq" :: "i"(~FLAG_TRAP) : "memory", "cc");
}

static void hit(bool returns, unsigned int n)
{
	begin_steps();
	run(0, returns, n);
	end_steps();
}

static void tell(const struct klin_event *ev, bool over)
{
	struct op *o;

	if (ev->flags & KLIN_F_NOCALL) {
		/* A return without its call: it says nothing about the call. */
		assert_int_equal(ev->call, 0);
		assert_int_equal(ev->flags >> KLIN_STACK_SHIFT, 0);
		assert_true(ev->val[1] >= 1000 && ev->val[1] - 1000 < nops);
		o = &ops[ev->val[1] - 1000];
		assert_true(ev->ret > o->left && ev->ret <= o->over);
		if (!(ev->fault & KLIN_FAULT_OBJECT))
			assert_int_equal(ev->object, o->object);
		return;
	}
	assert_true(ev->val[0] < nops);
	o = &ops[ev->val[0]];
	assert_true(ev->probe < CLAUSES && wanted_by(ev->val[0], ev->probe));
	assert_int_equal(o->told[ev->probe]++, 0);
	assert_int_equal(ev->object, o->object);
	assert_int_equal(ev->flags >> KLIN_STACK_SHIFT, STACK + 1);
	assert_true(ev->call > o->from && ev->call <= o->to);
	if (!over)
		return;
	assert_true(ev->ret >= ev->call);
	if (!(ev->flags & KLIN_F_NORET)) {
		assert_true(ev->ret > o->left && ev->ret <= o->over);
		assert_int_equal(ev->val[1], ev->val[0] + 1000);
	}
}

static unsigned long seen_again;

/*
 * Check the open operations of a slot.  A lent slot has an owner only while operations are
 * open in it.  If another slot was freed meanwhile, the task and its interrupt may each have
 * claimed one.
 */
static void check_slot(const struct klin_slot *s)
{
	const bool used = klin_in_use(s);
	unsigned int i;

	for (i = 0; i < KLIN_DEPTH; i++) {
		assert_int_not_equal(s->frames[i].open, KLIN_BUSY);
		if (s->frames[i].open == KLIN_OPEN)
			tell(&s->frames[i].ev, false);
	}
	if (used)
		assert_int_equal(s->owner, 7);
	if (!scene->lent)
		return;
	assert_int_equal(KLIN_HOLDS(s->word), 0);
	if (!used && !scene->freed)
		assert_true(s->word == 0);
}

/* Check the reports as userspace reads them after all programs have ended. */
static void check(void)
{
	unsigned int i, j, untold = 0, missed = nskipped, again = 0, displaced = 0;
	uint64_t written = 0;

	read_rings();
	for (i = 0; i < nevents; i++)
		tell(&events_seen[i], true);
	for (i = 0; i < LENT; i++)
		check_slot(&slots_of[i]);
	for (i = 0; i < nops; i++)
		for (j = 0; j < CLAUSES; j++)
			untold += wanted_by(i, j) && !ops[i].told[j];
	for (i = 0; i < KLIN_SIDES; i++) {
		for (j = 0; j < 3; j++) {
			missed += counts[j][i].missed;
			displaced += counts[j][i].displaced;
			written += counts[j][i].events;
			if (scene->closed)
				assert_int_equal(counts[j][i].head, 0);
		}
	}
	assert_int_equal(written, nevents);
	assert_true(untold <= missed);
	/* The return of an operation that lost its slot is reported separately from its call. */
	for (i = 0; i < nevents; i++)
		again += events_seen[i].flags & KLIN_F_NOCALL &&
			 ops[events_seen[i].val[1] - 1000].told[events_seen[i].probe];
	assert_true(again <= displaced + missed);
	seen_again += again;
}

/* When no program runs, each slot with an open operation has an owner. */
static void check_owners(void)
{
	unsigned int i;

	for (i = 0; i < LENT; i++)
		assert_true(slots_of[i].owner || !klin_in_use(&slots_of[i]));
}

/* Reset the state, with the interrupt before instruction @at. */
static void begin(const struct scene *s, int at)
{
	memset(slots_of, 0, sizeof(slots_of));
	memset(&kept, 0, sizeof(kept));
	kept.owner = 99;
	if (s->freed)
		slots_of[0].owner = 99;
	nstolen = 0;
	memset(counts, 0, sizeof(counts));
	nevents = nops = nskipped = 0;
	clock_now = 0;
	scene = s;
	set_conf(s);
	home.open = !s->closed;
	hit_at = at;
}

/* Play the scene, hit before instruction @at.  Return: false if there is no such instruction. */
static bool play(const struct scene *s, int at)
{
	unsigned int i, j, last, n;
	uint64_t theirs = 0;

	begin(s, at);
	for (i = 0; i < s->open; i++)
		run(0, false, new_op(i, i));
	if (s->returns >= 0) {
		hit(true, s->returns);
		last = s->returns;
	} else {
		last = new_op(50, s->open);
		hit(false, last);
		last++;
	}
	check_owners();
	all_stolen += nstolen;
	while (nstolen) {
		n = stolen[--nstolen];
		run_other(true, n);
		theirs |= 1ULL << n;
	}
	/* The remaining operations return in turn. */
	for (i = last; i--; )
		run(0, true, i);
	/* A later operation is always reported. */
	last = new_op(60, 0);
	run(0, false, last);
	run(0, true, last);
	check();
	for (i = 0; i < CLAUSES; i++) {
		assert_true(!wanted_by(last, i) || ops[last].told[i]);
		/* The other task's operations were not disturbed. */
		for (j = 0; j < nops; j++)
			assert_true(!(theirs >> j & 1) || !wanted_by(j, i) || ops[j].told[i]);
	}
	return steps > at;
}

/* Random scenes, each hit at some instructions. */
static void test_random_scenes(void **state)
{
	const struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	unsigned int i, n = wanted_runs(4000) / 600 + 2;
	unsigned int there;
	struct scene s;
	int at;
	const int apart = SLOW * 48 * CLAUSES * CLAUSES;

	assert_int_equal(sigaction(SIGTRAP, &sa, NULL), 0);
	srand(2);
	for (i = 0; i < n; i++) {
		s.open = rand() % 4 ? KLIN_DEPTH - 2 + rand() % 4 : 1 + rand() % KLIN_DEPTH;
		/* An operation that is still in its slot. */
		there = s.open < KLIN_DEPTH ? s.open : KLIN_DEPTH;
		s.returns = rand() % 3 ? (int)(s.open - 1 - rand() % there) : -1;
		s.nested = rand() % 4 ? 1 + rand() % 3 : 1 + rand() % NESTED;
		s.unseen = rand() % (1 << s.nested);
		s.others = rand() % 3;
		s.entries = rand() % (ENTRIES + 1);
		s.closed = rand() % 5 == 0;
		s.split = rand() % 2;
		s.lent = rand() % 2;
		s.roomy = false;
		s.freed = s.lent ? rand() % 3 : 0;
		s.thief = s.lent && rand() % 2;
		for (at = rand() % 16; play(&s, at); at += 1 + rand() % apart)
			;
	}
	signal(SIGTRAP, SIG_DFL);
	assert_true(seen_again);
}

/*
 * All scenes in which few operations are open, so that a lent slot is claimed and freed.  The
 * interrupt's operation returns or does not, and other tasks take free slots.
 */
static void test_lent_slots(void **state)
{
	const struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	const int apart = SLOW * CLAUSES * (120000 / (wanted_runs(4000) + 1) + 1);
	unsigned int i;

	assert_int_equal(sigaction(SIGTRAP, &sa, NULL), 0);
	srand(3);
	for (i = 0; i < 3 * 2 * 2 * 2 * 3; i++) {
		struct scene s = {
			.open = i % 3 > 0, .returns = i % 3 > 1 ? 0 : -1, .lent = true,
			.nested = 1, .unseen = i / 3 % 2, .others = i / 6 % 2,
			.thief = i / 12 % 2, .freed = i / 24, .entries = rand() % (ENTRIES + 1),
		};
		int at;

		for (at = rand() % apart; play(&s, at); at += 1 + rand() % apart)
			;
	}
	signal(SIGTRAP, SIG_DFL);
	assert_true(all_stolen);
}

/* A task with an open operation finds its slot, whatever an interrupt does in it. */
static bool find_when_hit(const struct scene *s, int at)
{
	struct klin_slot *found;

	begin(s, at);
	run(0, false, new_op(0, 0));
	assert_int_equal(slots_of[0].owner, 7);
	begin_steps();
	found = klin_find_slot(&counts[0][KLIN_AT_CALL], 7, slot_mask_of(s), false);
	end_steps();
	assert_ptr_equal(found, &slots_of[0]);
	assert_int_equal(KLIN_HOLDS(found->word), 1);
	return steps > at;
}

/* A slot in which an interrupt has just left an open operation is not freed. */
static bool leave_when_hit(const struct scene *s, int at)
{
	struct klin_slot *slot;

	begin(s, at);
	slot = klin_find_slot(&counts[0][KLIN_AT_CALL], 7, slot_mask_of(s), true);
	begin_steps();
	klin_leave(slot);
	end_steps();
	check_owners();
	assert_int_equal(KLIN_HOLDS(slots_of[0].word) + KLIN_HOLDS(slots_of[1].word), 0);
	return steps > at;
}

/* The task keeps its slot if an interrupt hits any instruction (with sanitizers: some). */
static void test_slot_kept_when_hit(void **state)
{
	const struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	const struct scene returns = { .lent = true, .roomy = true, .nested = 1 };
	const struct scene stays = { .lent = true, .roomy = true, .nested = 1, .unseen = 1 };
	int at;

	assert_int_equal(sigaction(SIGTRAP, &sa, NULL), 0);
	for (at = 0; find_when_hit(&returns, at); at += SLOW)
		;
	assert_true(at > 0);
	for (at = 0; find_when_hit(&stays, at); at += SLOW)
		;
	for (at = 0; leave_when_hit(&stays, at); at += SLOW)
		;
	assert_true(at > 0);
	signal(SIGTRAP, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_scenes),
		cmocka_unit_test(test_lent_slots),
		cmocka_unit_test(test_slot_kept_when_hit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
