/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Subjects: structures under test, correct ones and mutants.
 *
 * A group is a set of subjects with the same methods.  It is one file, which also has the step
 * that a load's threads repeat.  A mutant has one bug that a programmer could make, and names
 * the correct subject that it was made from (its twin).  To add a subject, add it to its
 * group's array.  To add a group, add a file to subjects/ that has a line KLIN_GROUP(); Kbuild
 * finds it.
 */
#ifndef KLIN_SUBJECT_H
#define KLIN_SUBJECT_H

#include <linux/sched.h>
#include <linux/types.h>

#include "delay.h"
#include "klin.h"

#define KLIN_METHODS_MAX 6	/* limit for a group */

struct klin_group;
struct seq_file;

/**
 * struct klin_subject - a structure under test
 * @name: its name; a mutant's name is its twin's, a dot, and the bug
 * @description: one line; for a mutant, its bug
 * @twin: the correct subject it was made from, or NULL for a correct subject
 * @ops: its operations, of a type that the group defines
 */
struct klin_subject {
	const char *name;
	const char *description;
	const char *twin;
	const void *ops;
};

/**
 * struct klin_object - an instance of a subject, fresh for each load
 * @subject: the subject
 * @stop: set when the load ends: operations must then stop waiting
 * @window: average duration of the critical windows, in turns of an empty loop;
 *	mutants have the same windows as their twins
 * @others: counters of operations outside the load's threads, such as in interrupts,
 *	or NULL
 * @nothers: number of elements of @others
 */
struct klin_object {
	const struct klin_subject *subject;
	const bool *stop;
	u32 window;
	struct klin_worker *others;
	unsigned int nothers;
};

/**
 * struct klin_worker - a thread of a load
 * @rng: state of its random numbers
 * @index: its number
 * @workers: number of threads
 * @mix: percentage of the group's second kind of operation
 * @made: number of unique values that it has made
 * @ops: number of operations that it has completed
 * @count: number of completed operations of each method, in the group's order
 * @truth: number of violations that the thread itself has seen; the checker does not
 *	get it
 * @pending: number of operations without a return, because the load was stopped or
 *	memory ran out
 * @stalls: number of waits for the reader
 */
struct klin_worker {
	u64 rng;
	unsigned int index, workers;
	unsigned int mix;
	u64 made;
	u64 ops;
	u64 count[KLIN_METHODS_MAX];
	u64 truth;
	u64 pending;
	u64 stalls;
} ____cacheline_aligned_in_smp;

/**
 * struct klin_group - subjects with the same methods
 * @name: its name
 * @methods: its methods
 * @nmethods: number of methods, at most KLIN_METHODS_MAX
 * @subjects: its subjects
 * @nsubjects: number of subjects
 * @create: create an object in its initial state; NULL if memory runs out
 * @destroy: free it
 * @lock: the address of the kernel lock in it, as the lock's functions get it, or NULL
 * @step: run one operation, or a few that belong together, in one thread
 * @quiesce: wait until timers, interrupts and tasklets that the thread started are
 *	done, or NULL
 */
struct klin_group {
	const char *name;
	struct klin_method *const *methods;
	unsigned int nmethods;
	const struct klin_subject *subjects;
	unsigned int nsubjects;
	struct klin_object *(*create)(const struct klin_subject *subject);
	void (*destroy)(struct klin_object *object);
	const void *(*lock)(const struct klin_object *object);
	void (*step)(struct klin_object *object, struct klin_worker *w);
	void (*quiesce)(struct klin_object *object);
};

/*
 * KLIN_GROUP(klin_NAME_group) = { ... }; in a file of subjects/ registers it: Kbuild finds the
 * line.
 */
#define KLIN_GROUP(group)						\
	extern const struct klin_group group;				\
	const struct klin_group group

int klin_subjects_init(void);
void klin_subjects_exit(void);
const struct klin_subject *klin_subject_find(const char *name, const struct klin_group **group);
const struct klin_group *klin_group_next(const struct klin_group *group);
int klin_subjects_show(struct seq_file *s, void *unused);

/* A critical window, in which another CPU gets a chance to interfere. */
static inline void klin_window(const struct klin_object *o)
{
	if (o->window)
		klin_turns_about(o->window);
}

/*
 * Call this in each loop that waits for another thread, with preemption enabled.  That thread
 * may need this CPU, or the host CPU of a virtual machine, so after many turns the function
 * sleeps briefly.
 *
 * Return: false if the load is being stopped; a mutant could otherwise wait forever.
 */
static inline bool klin_wait_on(const struct klin_object *o, unsigned int *turns)
{
	cpu_relax();
	if (++*turns % 512 == 0)
		klin_nap();
	return !READ_ONCE(*o->stop);
}

/* Return: a value that no other thread of the load makes, never 0. */
static inline u64 klin_value(struct klin_worker *w)
{
	return w->made++ * w->workers + w->index + 1;
}

/* Count a violation that this thread has seen. */
static inline void klin_truth(struct klin_worker *w)
{
	WRITE_ONCE(w->truth, w->truth + 1);
}

/* Each counter has one writer and may be read at any time. */
static inline void klin_count(struct klin_worker *w, unsigned int method)
{
	WRITE_ONCE(w->count[method], w->count[method] + 1);
	WRITE_ONCE(w->ops, w->ops + 1);
}

#endif
