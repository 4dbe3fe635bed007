/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recording the operations of a program, for klin/klin.h.
 *
 *	rec = klin_rec_open("queue", KLIN_CLOCK_PLAIN, 4, 100000);
 *	deq = klin_rec_method(rec, "deq");
 *
 * and then in each thread:
 *
 *	struct klin_lane *lane = klin_rec_thread(rec);
 *
 *	klin_call(lane, deq, (uintptr_t)queue);
 *	if (my_deq(queue, &v))
 *		klin_return1(lane, v);
 *	else
 *		klin_return_value(lane, klin_empty());
 *
 * and at the end klin_rec_check(rec, &result), or klin_rec_write(rec, "run.klh").
 *
 * A call and a return are plain stores into a buffer of the thread's own, and a time.  Nothing
 * waits, allocates or makes a system call.
 */
#ifndef KLIN_RECORD_H
#define KLIN_RECORD_H

#include "klin.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- recordings ---- */

enum klin_clock {
	/*
	 * The CPU's time stamp counter.  It drains no store buffer: a store of the operation may
	 * become visible after the time of its return.  The history says so (`# memory tso').  What
	 * such a store may explain is no KLIN_VIOLATION, but KLIN_UNKNOWN with its story.
	 */
	KLIN_CLOCK_PLAIN,
	/*
	 * The same, but a fence before the time of each return drains the store buffer.  Fences
	 * hide some bugs, but each operation is held to linearizability without store buffers
	 * (`# memory sc').
	 */
	KLIN_CLOCK_DRAIN,
	/*
	 * A counter that all threads raise.  It drains the store buffer, too, and it is slow where
	 * many threads run, but its order has no error.
	 */
	KLIN_CLOCK_ORDER,
	/*
	 * As KLIN_CLOCK_PLAIN, and the caller promises: an operation of a method with
	 * `atomic_flush', as shipped containers have it, ends with a locked instruction, such as
	 * that of a compare-and-swap, or with a fence.  Violations are then KLIN_VIOLATION.
	 */
	KLIN_CLOCK_LOCKED,
};

struct klin_rec;
struct klin_lane; /* what a thread records in */

/**
 * klin_rec_open() - begin a recording
 * @path: the specification, as of klin_spec_load(), whose methods the operations have
 * @clock: the source of times
 * @threads: most threads that record, also if some end before others begin
 * @operations: most operations of each thread; later ones are counted only, and the verdict is then
 *	KLIN_UNKNOWN, or a violation that came before
 *
 * The objects must be new, as the specification begins.
 *
 * Return: the recording, which klin_rec_free() frees; NULL with klin_error().  klin_rec_run(),
 * klin_rec_history(), klin_rec_write() and klin_rec_check() refuse NULL, and leave klin_error().
 */
struct klin_rec *klin_rec_open(const char *path, enum klin_clock clock, unsigned int threads,
			       size_t operations);
/* The same with a specification that was read. */
struct klin_rec *klin_rec_open_spec(struct klin_spec *spec, enum klin_clock clock,
				    unsigned int threads, size_t operations);

/*
 * Return: the number of the method of this name, or -1 with klin_error().  An operation of method
 * -1 is recorded, but then the recording has no history, and klin_error() names the method.
 */
int klin_rec_method(const struct klin_rec *rec, const char *name);

/*
 * Return: the lane of the calling thread.  The first call of a thread allocates it.  If there is no
 * memory, or there are too many threads, all operations of the lane are lost, and are counted.
 */
struct klin_lane *klin_rec_thread(struct klin_rec *rec);

/**
 * klin_rec_run() - run a function in all threads of the recording at once, and wait for them
 * @rec: the recording
 * @work: the function, which gets the recording, the thread's lane, and the thread's number from 0
 *
 * Reports call the threads of a recording t0, t1, ... in the order in which they began to record:
 * these are the numbers, if no thread has recorded before.
 */
int klin_rec_run(struct klin_rec *rec,
		 void (*work)(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread));

/**
 * klin_rec_history() - make a history of all operations so far
 * @rec: the recording; threads may go on recording
 * @h: gets the history, with the specification; operations in progress are pending
 */
int klin_rec_history(struct klin_rec *rec, struct klin_history **h);
/* Write that history to a file, see klin_history_write(). */
int klin_rec_write(struct klin_rec *rec, const char *path);
/* Check that history, see klin_check(). */
int klin_rec_check(struct klin_rec *rec, struct klin_result **result);
/* Free a recording that no thread uses any more. */
void klin_rec_free(struct klin_rec *rec);

/* ---- inner parts ---- */

/* The clocks as lanes have them.  Those of the kernel replace a counter that cannot be trusted. */
enum klin_lane_clock {
	KLIN_LANE_TSC,
	KLIN_LANE_TSC_DRAIN,
	KLIN_LANE_ORDER,
	KLIN_LANE_KERNEL,
	KLIN_LANE_KERNEL_DRAIN,
};

/*
 * One operation.  Its values follow: arguments, then results.  The layout of this structure and of
 * struct klin_lane is that of libklin.so.0; programs use the functions below.
 */
struct klin_slot {
	uint64_t call;
	uint64_t ret; /* KLIN_PENDING until the operation has returned */
	uint64_t object;
	uint64_t kinds; /* enum klin_kind of each value, 4 bits each */
	uint16_t method;
	uint8_t nargs, nresults;
	uint32_t reserved;
};

/* The buffer of a thread. */
struct klin_lane {
	char *at, *end; /* the next slot, and the end of the slots */
	struct klin_slot *open; /* the operation in progress, or NULL */
	uint64_t *order; /* the counter of KLIN_CLOCK_ORDER */
	uint32_t stride; /* bytes of a slot with its values */
	uint32_t room; /* values that a slot has room for */
	uint32_t clock; /* enum klin_lane_clock */
	/* for a message: 1 + the method of a call without a slot, or + the results of a return */
	uint32_t given;
	uint64_t lost, lost_from; /* operations without a slot, and the call of the first */
	uint64_t wrong; /* calls and returns with too many values, returns without a call */
	struct klin_rec *rec;
};

/* The slow paths of the functions below. */
uint64_t klin_lane_now(void);
void klin_lane_lost(struct klin_lane *lane, unsigned int nargs);
void klin_lane_wrong(struct klin_lane *lane);

/*
 * The time of a call must not be later than the operation's first load or store.  An earlier one
 * only makes the operation longer, which hides no order that was seen, and invents none.
 *
 * A CPU may execute later instructions before RDTSC reads the counter.  LFENCE after RDTSC keeps
 * them behind: it completes only when RDTSC has, and nothing after it begins before (on AMD, too,
 * as Linux sets it up).  What stands between RDTSC and LFENCE is the recorder's own, and is
 * executed while RDTSC reads the counter: this hides its cost.
 *
 * Return: the time, which is right when klin_begin_after() has been called behind it.
 */
static inline uint64_t klin_read_call(struct klin_lane *lane)
{
#if defined(__x86_64__)
	if (__builtin_expect(lane->clock <= KLIN_LANE_TSC_DRAIN, 1)) {
		uint32_t low, high;

		__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
		return (uint64_t)high << 32 | low;
	}
#endif
	if (lane->clock == KLIN_LANE_ORDER)
		return __atomic_fetch_add(lane->order, 1, __ATOMIC_SEQ_CST);
	return klin_lane_now();
}

/* Let the operation begin only when the time of its call has been read. */
static inline void klin_begin_after(struct klin_lane *lane)
{
#if defined(__x86_64__)
	/* A locked instruction has raised the counter: nothing behind it was executed before. */
	if (lane->clock != KLIN_LANE_ORDER)
		__asm__ volatile("lfence" : : : "memory");
	/* An empty text keeps the compiler from moving stores, and is no instruction. */
	__asm__ volatile("" : : : "memory");
#else
	(void)lane;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/*
 * The time of a return must not be earlier than the operation's last load.  A later one only
 * makes the operation longer.  LFENCE before RDTSC waits until all earlier instructions have been
 * executed and all earlier loads have their values.  Earlier stores may still be in the store
 * buffer, unless MFENCE has waited for them.  Later instructions may be executed before RDTSC reads
 * the counter, which makes the return later: no harm.
 *
 * LFENCE comes first, also where a clock does not need it: what follows is then executed while the
 * counter is read.
 */
static inline uint64_t klin_time_of_return(struct klin_lane *lane)
{
#if defined(__x86_64__)
	__asm__ volatile("lfence" : : : "memory");
	if (__builtin_expect(lane->clock <= KLIN_LANE_TSC_DRAIN, 1)) {
		uint32_t low, high;

		if (lane->clock == KLIN_LANE_TSC_DRAIN)
			__asm__ volatile("mfence\n\tlfence" : : : "memory");
		__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
		return (uint64_t)high << 32 | low;
	}
	if (lane->clock == KLIN_LANE_ORDER)
		return __atomic_fetch_add(lane->order, 1, __ATOMIC_SEQ_CST);
	if (lane->clock == KLIN_LANE_KERNEL_DRAIN)
		__asm__ volatile("mfence\n\tlfence" : : : "memory");
#else
	if (lane->clock == KLIN_LANE_ORDER)
		return __atomic_fetch_add(lane->order, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
	return klin_lane_now();
}

/* ---- calls and returns ---- */

/**
 * klin_callv() - record that an operation begins
 * @lane: the thread's lane
 * @method: its method, from klin_rec_method()
 * @object: its structure: an address, or any number
 * @args: its arguments
 * @n: number of arguments
 *
 * The lane's operation before must have returned, or the recording has no history.  Only the last
 * one may stay without a return: it is pending.
 */
static inline void klin_callv(struct klin_lane *lane, int method, uint64_t object,
			      const struct klin_value *args, unsigned int n)
{
	const uint64_t t = klin_read_call(lane);
	struct klin_slot *s = (struct klin_slot *)(void *)lane->at;
	uint64_t *values, kinds = 0;
	unsigned int i;

	if (__builtin_expect(lane->at == lane->end || n > lane->room, 0)) {
		__atomic_store_n(&lane->given, 1u + (uint16_t)method, __ATOMIC_RELAXED);
		klin_lane_lost(lane, n);
		return;
	}
	values = (uint64_t *)(void *)(s + 1);
	for (i = 0; i < n; i++) {
		values[i] = args[i].word;
		kinds |= (uint64_t)args[i].kind << 4 * i;
	}
	s->ret = KLIN_PENDING;
	s->object = object;
	s->kinds = kinds;
	s->method = (uint16_t)method;
	s->nargs = (uint8_t)n;
	s->nresults = 0;
	s->call = t;
	lane->open = s;
	/*
	 * Publish the operation before its first store, so that klin_rec_history() finds each
	 * operation whose effect another one has seen.  On x86 stores become visible in order, so
	 * this is a plain store; elsewhere the fence of klin_begin_after() keeps the operation's
	 * stores behind it.
	 */
	__atomic_store_n(&lane->at, lane->at + lane->stride, __ATOMIC_RELEASE);
	klin_begin_after(lane);
}

/* Record that the operation of the last klin_callv() has returned, with @n results. */
static inline void klin_returnv(struct klin_lane *lane, const struct klin_value *results,
				unsigned int n)
{
	const uint64_t t = klin_time_of_return(lane);
	struct klin_slot *s = lane->open;
	uint64_t *values, kinds;
	unsigned int i;

	if (__builtin_expect(!s || n > lane->room - s->nargs, 0)) {
		__atomic_store_n(&lane->given, 1u + n, __ATOMIC_RELAXED);
		klin_lane_wrong(lane);
		return;
	}
	values = (uint64_t *)(void *)(s + 1) + s->nargs;
	kinds = s->kinds;
	for (i = 0; i < n; i++) {
		values[i] = results[i].word;
		kinds |= (uint64_t)results[i].kind << 4 * (s->nargs + i);
	}
	__atomic_store_n(&s->kinds, kinds, __ATOMIC_RELAXED);
	s->nresults = (uint8_t)n;
	lane->open = NULL;
	/* Publish the results with the time. */
	__atomic_store_n(&s->ret, t, __ATOMIC_RELEASE);
}

/* The same for an operation without arguments, or with words. */
static inline void klin_call(struct klin_lane *lane, int method, uint64_t object)
{
	klin_callv(lane, method, object, NULL, 0);
}

static inline void klin_call1(struct klin_lane *lane, int method, uint64_t object, uint64_t arg)
{
	const struct klin_value v = klin_word(arg);

	klin_callv(lane, method, object, &v, 1);
}

static inline void klin_call2(struct klin_lane *lane, int method, uint64_t object, uint64_t arg,
			      uint64_t arg2)
{
	const struct klin_value v[2] = { klin_word(arg), klin_word(arg2) };

	klin_callv(lane, method, object, v, 2);
}

/* The same for an operation without results, with words, or with a value such as klin_empty(). */
static inline void klin_return(struct klin_lane *lane)
{
	klin_returnv(lane, NULL, 0);
}

static inline void klin_return1(struct klin_lane *lane, uint64_t result)
{
	const struct klin_value v = klin_word(result);

	klin_returnv(lane, &v, 1);
}

static inline void klin_return2(struct klin_lane *lane, uint64_t result, uint64_t result2)
{
	const struct klin_value v[2] = { klin_word(result), klin_word(result2) };

	klin_returnv(lane, v, 2);
}

static inline void klin_return_value(struct klin_lane *lane, struct klin_value result)
{
	klin_returnv(lane, &result, 1);
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
