/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recording: attaches to the targets of a spec's probe clauses, reads events, and makes a history.
 * Gaps in the history state where operations were lost or missed.
 */
#ifndef KL_RECORD_RECORD_H
#define KL_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/now.h"
#include "history/history.h"
#include "record/attach/kernel.h"
#include "spec/spec.h"

#define KL_CPU_WORDS	8 /* words of a mask of CPUs */

/**
 * struct kl_record_opts - options of a recording
 * @spec: the spec with its probe clauses
 * @only: KL_WAY_FENTRY or KL_WAY_KPROBE: the only way of attaching; KL_WAY_NONE: the best way
 * @pages: pages of rings and perf buffers for each CPU, a power of two
 * @slots: number of tasks that can keep a slot for their open operations, a power of two; other
 *	tasks borrow a slot for each operation
 * @one_object: record operations on one object only
 * @object: address of this object
 * @lock: the address to expect instead of @object in functions of the kernel itself, which get the
 *	lock inside the object; 0: @object
 * @stacks: keep the kernel stack of each call, see stacks.c
 * @plain: klin.ko records instrumented code by plain stores, without BPF programs
 * @private_object: @object is used in process context only
 * @pid: record operations of this process only; 0: of all processes
 * @cpus: mask of the CPUs whose operations are recorded, if @by_cpu
 * @sample: record all operations on one of this number of objects; 0 and 1: on all objects
 * @others: operations that @pid or @cpus leaves out may use the recorded objects, too
 * @fresh: the objects are created, in their first state, after attaching
 * @debug: files with debugging information to search first, for inlined functions
 * @clock: the clock, see clocks.c
 * @clock_known: use @clock_error (ns) instead of measuring the monotonic clock's error
 */
struct kl_record_opts {
	const struct kl_spec *spec;
	struct kl_files debug;
	enum kl_way only;
	unsigned int pages, slots;
	bool one_object, private_object, fresh, clock_known, plain, stacks;
	uint64_t object, lock, clock_error;
	pid_t pid;
	uint64_t cpus[KL_CPU_WORDS];
	bool by_cpu, others;
	unsigned int sample;
	enum kl_clock clock;
};

/**
 * struct kl_record_stats - statistics of a recording
 * @ops: number of operations in the history
 * @received: number of events read
 * @bytes: size of these events in the buffers
 * @lost: number of operations whose events did not fit the buffers
 * @missed: number of times that a probe did not run, or found no room for an operation
 * @missed_calls: number of misses in @missed that were at calls; the history lacks these
 *	operations, or has their returns only
 * @ignored: number of misses that cannot belong to the object (see @private_object)
 * @shared: number of objects whose whole history is a gap, because operations that @pid or @cpus
 *	leaves out used them
 * @pending: number of operations without a return
 * @nocall: number of operations without a call, including lost operations
 * @lent: number of times that a task borrowed a slot, which drained the store buffer at a call
 * @freed: number of times that an object's memory was freed, see lives.c
 * @unaccounted: number of events that were written and never read; it is 0 without a bug
 * @begin: time when everything was attached, by CLOCK_MONOTONIC
 * @end: time when the recording ended
 */
struct kl_record_stats {
	uint64_t ops, received, bytes, lost, missed, missed_calls, ignored;
	uint64_t pending, nocall, unaccounted;
	uint64_t shared, lent, freed;
	uint64_t begin, end;
};

struct kl_recorder;

/* Return: 0, or a negative errno after a message: -EINVAL for wrong input, or a system error. */
int kl_recorder_new(const struct kl_record_opts *opts, struct kl_recorder **out);
void kl_recorder_free(struct kl_recorder *r);

/* Attach all clauses, or none.  Return: as kl_recorder_new(). */
int kl_recorder_attach(struct kl_recorder *r);
/**
 * kl_recorder_settled() - find out whether the recorder still needs the privileges of attaching
 * @r: the recorder, attached and followed
 *
 * While tasks are inside a probed function since before it was probed, their stacks are read.
 *
 * Return: true if the recorder can go on without privileges, where kl_recorder_readable() says so,
 * too.  Events on a CPU that comes online later are then lost.
 */
bool kl_recorder_settled(const struct kl_recorder *r);
/* Read now what needs privileges and would be read later.  Return: 0 or -ENOMEM. */
int kl_recorder_read_ahead(struct kl_recorder *r);
/* Return: 0 if this thread may read the counts that a recording needs, or a negative errno. */
int kl_recorder_readable(const struct kl_recorder *r);
/*
 * Print a line for each clause: its target, the way of attaching, and whether it drains the store
 * buffer.
 */
void kl_recorder_show(const struct kl_recorder *r, FILE *f);

/* Read new events; to be called every few milliseconds. */
int kl_recorder_poll(struct kl_recorder *r);
/* Return: the number of operations read so far. */
uint64_t kl_recorder_received(const struct kl_recorder *r);

/**
 * kl_recorder_stop() - detach, and finish the history
 * @r: the recorder, attached
 * @out: the history; the caller frees it
 * @stats: gets the statistics
 */
int kl_recorder_stop(struct kl_recorder *r, struct kl_history **out, struct kl_record_stats *stats);

/**
 * kl_recorder_follow() - read new events, to be checked at once
 * @r: the recorder, attached
 * @floor: gets a lower bound of the calls of later operations
 *
 * To be called every few milliseconds, instead of kl_recorder_poll().  kl_recorder_history() has
 * the new operations until the next call.
 */
int kl_recorder_follow(struct kl_recorder *r, uint64_t *floor);
/*
 * Detach at the end of a followed recording, instead of kl_recorder_stop().  kl_recorder_history()
 * then has the last operations.
 */
int kl_recorder_follow_end(struct kl_recorder *r);
const struct kl_history *kl_recorder_history(struct kl_recorder *r);
/*
 * Return: the objects, *n, whose memory was freed: no operation of the last kl_recorder_follow() or
 * of a later one is on them, except those that kl_recorder_history() has.
 */
const uint64_t *kl_recorder_over(const struct kl_recorder *r, size_t *n);
/* Get the statistics so far: ops, received, bytes, lost and missed. */
void kl_recorder_counts(const struct kl_recorder *r, struct kl_record_stats *stats);

/* Print a line about the clock's precision, after the recording. */
void kl_recorder_show_clock(const struct kl_recorder *r, const struct kl_history *h, FILE *f);

/* Restore the limits that klin was started with, in a child that will execute a command. */
void kl_room_restore(void);

#endif
