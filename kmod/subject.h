/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Subjects: structures under test, correct and mutated.
 *
 * A group is the subjects with the same methods; it is one file, which also
 * knows how to drive them by one step of a load.  A mutant has one mistake in it
 * that a person could make, and names the correct subject it was made from (its
 * twin).  To add a subject, add it to its group's array; to add a group, add its
 * file to Kbuild and a line to groups[] in subject.c.
 */
#ifndef KLIN_SUBJECT_H
#define KLIN_SUBJECT_H

#include <linux/sched.h>
#include <linux/types.h>

#include "delay.h"
#include "klin.h"

#define KLIN_METHODS_MAX 6	/* methods of a group */

struct klin_group;
struct seq_file;

/**
 * struct klin_subject - a structure under test
 * @name: its name; a mutant's is its twin's, a dot, and its mistake
 * @description: one line; of a mutant: its mistake
 * @twin: the correct subject it was made from, or NULL when it is correct itself
 * @ops: its operations, in the form its group defines
 */
struct klin_subject {
	const char *name;
	const char *description;
	const char *twin;
	const void *ops;
};

/**
 * struct klin_object - an instance of a subject, fresh for each load
 * @subject: what it is an instance of
 * @stop: set when the load ends: no operation may wait any longer
 * @window: how long to stay in the critical windows, about, in turns of an empty
 *	loop; correct and mutated code has the same windows
 * @others: sums of what is done in other contexts than the load's threads, or NULL;
 *	then operations of interrupts are among them
 * @nothers: how many
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
 * @workers: how many there are
 * @mix: percentage of the group's second kind of operation
 * @made: unique values it has made
 * @ops: operations it has completed
 * @count: the same by method, in the group's order
 * @truth: violations it has seen with its own eyes (the monitor does not get these)
 * @pending: operations it left without a return, since the load was stopped or there
 *	was no memory for them
 * @stalls: how often it waited for the reader
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
 * @nmethods: how many, at most KLIN_METHODS_MAX
 * @subjects: its subjects
 * @nsubjects: how many
 * @create: make an object in its initial state, NULL without memory
 * @destroy: free it
 * @lock: the address of the kernel's own lock in it, as its functions know it, or NULL
 * @step: one operation, or a few that belong together, by one thread
 * @quiesce: wait until what the thread's steps have set going elsewhere is over, or NULL
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

/* KLIN_GROUP(klin_NAME_group) = { ... }; in subjects/ registers it: Kbuild looks for the line. */
#define KLIN_GROUP(group)						\
	extern const struct klin_group group;				\
	const struct klin_group group

int klin_subjects_init(void);
void klin_subjects_exit(void);
const struct klin_subject *klin_subject_find(const char *name, const struct klin_group **group);
const struct klin_group *klin_group_next(const struct klin_group *group);
int klin_subjects_show(struct seq_file *s, void *unused);

/* A window in which another CPU should get a chance to do harm. */
static inline void klin_window(const struct klin_object *o)
{
	if (o->window)
		klin_turns_about(o->window);
}

/*
 * Called in each loop that waits for another thread, with preemption enabled.
 * That thread may need this CPU, or the host's under a virtual one, so who waits
 * long sleeps a little.  False: the load is being stopped, give up; a mutant may
 * otherwise wait for ever.
 */
static inline bool klin_wait_on(const struct klin_object *o, unsigned int *turns)
{
	cpu_relax();
	if (++*turns % 512 == 0)
		klin_nap();
	return !READ_ONCE(*o->stop);
}

/* A value that no other thread of the load makes, never 0. */
static inline u64 klin_value(struct klin_worker *w)
{
	return w->made++ * w->workers + w->index + 1;
}

/* The thread has seen something that cannot be. */
static inline void klin_truth(struct klin_worker *w)
{
	WRITE_ONCE(w->truth, w->truth + 1);
}

/* Counters have one writer and are read at any time. */
static inline void klin_count(struct klin_worker *w, unsigned int method)
{
	WRITE_ONCE(w->count[method], w->count[method] + 1);
	WRITE_ONCE(w->ops, w->ops + 1);
}

#endif
