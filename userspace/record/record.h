/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recording: attach what a spec's probe clauses name, read what they write, and
 * make a history of it in which all that was not seen is written down.
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

#define KL_CPU_WORDS	8	/* CPUs below 64 times this can be named */

/**
 * struct kl_record_opts - what to record and how
 * @spec: the spec with its probe clauses
 * @only: KL_WAY_FENTRY or KL_WAY_KPROBE: only this way to functions; KL_WAY_NONE: the best
 * @pages: pages a CPU for rings and perf buffers, a power of two
 * @slots: tasks that can keep a slot for their operations, a power of two; others are lent
 *	one for an operation
 * @one_object: record operations on one object only
 * @object: its address
 * @lock: its address as functions of the kernel itself (not of modules) know it,
 *	0 if that is the same
 * @plain: klin.ko records, by plain stores, what announces itself; no BPF program does
 * @private_object: @object is used in process context only
 * @pid: record operations of this process only; 0: of all
 * @cpus: bit i of word i / 64: record operations called on this CPU, if @by_cpu
 * @sample: record all operations on one of so many objects; 0 and 1: on all
 * @others: those that @pid and @cpus leave out may be on objects that are recorded, too
 * @fresh: the objects are created, in their first state, after attaching
 * @debug: files with debugging information to look at first, for inlined functions
 * @clock: how times are told, see clocks.c
 * @clock_known: take @clock_error (ns) instead of measuring the monotonic clock's error
 */
struct kl_record_opts {
	const struct kl_spec *spec;
	struct kl_files debug;
	enum kl_way only;
	unsigned int pages, slots;
	bool one_object, private_object, fresh, clock_known, plain;
	uint64_t object, lock, clock_error;
	pid_t pid;
	uint64_t cpus[KL_CPU_WORDS];
	bool by_cpu, others;
	unsigned int sample;
	enum kl_clock clock;
};

/**
 * struct kl_record_stats - how a recording went
 * @ops: operations in the history
 * @received: events read
 * @bytes: their size in the buffers
 * @lost: operations whose events did not fit the buffers
 * @missed: times that a probe did not run, or found no place for an operation
 * @missed_calls: of these, at calls: operations that are not there, or only by their return
 * @ignored: misses that cannot have been of the object (see @private_object)
 * @shared: objects that operations were on which @pid and @cpus left out: their whole
 *	history is a gap
 * @pending: operations without a return
 * @nocall: operations without a call, also such that are lost
 * @lent: slots that were lent for an operation: its call drained the store buffer
 * @unaccounted: events that the programs wrote and nobody saw; 0 unless something is broken
 * @begin: time when everything was attached, by CLOCK_MONOTONIC
 * @end: time when the recording ended
 */
struct kl_record_stats {
	uint64_t ops, received, bytes, lost, missed, missed_calls, ignored;
	uint64_t pending, nocall, unaccounted;
	uint64_t shared, lent;
	uint64_t begin, end;
};

struct kl_recorder;

/* Message on failure; -EINVAL for what a person got wrong, else the system refused. */
int kl_recorder_new(const struct kl_record_opts *opts, struct kl_recorder **out);
void kl_recorder_free(struct kl_recorder *r);

/* Attach all clauses, or none.  Same returns as kl_recorder_new(). */
int kl_recorder_attach(struct kl_recorder *r);
/* One line a clause: what was attached, how, and whether that drains the store buffer. */
void kl_recorder_show(const struct kl_recorder *r, FILE *f);

/* Read what has come; to be called every few milliseconds. */
int kl_recorder_poll(struct kl_recorder *r);
/* Operations read so far. */
uint64_t kl_recorder_received(const struct kl_recorder *r);

/**
 * kl_recorder_stop() - detach, and finish the history
 * @r: the recorder, attached
 * @out: the history; the caller frees it
 * @stats: how it went
 */
int kl_recorder_stop(struct kl_recorder *r, struct kl_history **out, struct kl_record_stats *stats);

/**
 * kl_recorder_follow() - read what has come, to be checked at once
 * @r: the recorder, attached
 * @floor: every operation still to come is called at that time or later
 *
 * To be called every few milliseconds, instead of kl_recorder_poll(); what is to be
 * handed on is in kl_recorder_history() until the next time.
 */
int kl_recorder_follow(struct kl_recorder *r, uint64_t *floor);
/* Detach; the rest is in kl_recorder_history().  Instead of kl_recorder_stop(). */
int kl_recorder_follow_end(struct kl_recorder *r);
const struct kl_history *kl_recorder_history(struct kl_recorder *r);
/* How it goes so far, while it is followed: ops, received, bytes, lost and missed are set. */
void kl_recorder_counts(const struct kl_recorder *r, struct kl_record_stats *stats);

/* What the clock is worth, in a line; the recording has ended. */
void kl_recorder_show_clock(const struct kl_recorder *r, const struct kl_history *h, FILE *f);

/* A child that is going to execute a command: give it the limits that klin was given. */
void kl_room_restore(void);

/* Is it the kernel's, in no time namespace?  0, or -EPERM after a message. */
int kl_clock_check(void);
/**
 * kl_clock_error() - how much the CPUs' monotonic clocks differ
 * @error: the bound, in ns
 * @all: false if some CPUs could not be compared, so that it is none
 *
 * Return: 0 or a negative errno.
 */
int kl_clock_error(uint64_t *error, bool *all);
/* The kernel's clock source, "tsc" where times of different CPUs can be trusted. */
const char *kl_clock_source(char *buf, size_t size);

#endif
