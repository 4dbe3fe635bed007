/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comparison under abstraction (Amit, Rinetzky, Reps, Sagiv and Yahav, CAV 2007).  The
 * implementation and its specification run side by side, over heaps of any size and histories of
 * any length.  The specification's operation runs at the linearization point that the model
 * states.
 *
 * The two heaps are kept as one.  A node of the implementation and the specification's node of
 * the same operation are one individual, a duo.  While their next pointers agree the duo is
 * uniform, and one edge set stands for both.  Nodes to which no variable points are summarised.
 *
 * Memory is sequentially consistent, and is never freed.
 */
#ifndef KL_VERIFY_VERIFY_H
#define KL_VERIFY_VERIFY_H

#include <stdio.h>

#include "check/budget.h"
#include "spec/spec.h"

#define KL_VF_THREADS	8	/* maximal number of threads, if it is fixed */

struct kl_verify_options {
	unsigned int threads;		/* 0: any number */
	/* Bit sets of the methods that each thread calls; all 0: any, or as the file says. */
	uint64_t methods[KL_VF_THREADS];
	bool roles;			/* @methods is given */
	/* Reductions that are turned off: */
	bool no_merge, no_symmetry, no_por;
	uint64_t memory;		/* bytes; 0: no bound */
	const struct kl_limits *lim;	/* the deadline and the stop, or NULL */
};

enum kl_verify_verdict {
	KL_VF_VERIFIED,
	KL_VF_ALARM,			/* not proved; kl_verify_message() has the reason */
	KL_VF_MEMORY,			/* the bound of memory was reached */
	/* interrupted, or out of time; kl_verify_message() has the reason */
	KL_VF_STOPPED,
};

struct kl_verify_stats {
	uint64_t states, steps, bytes;
	uint64_t open;			/* number of states that were not followed */
	unsigned int threads;		/* 0: any number */
	bool any;			/* the states are those of any number of threads */
	unsigned int rounds;		/* number of times that the search began anew */
	/* the implementation has steps that wait for locks or assume() */
	bool waits;
	/* verified, and locks are taken in one order: no deadlock */
	bool ordered_locks;
	bool keyed;			/* a set, verified for all keys except 0 and ~0 */
	double seconds;
};

struct kl_verifier;

/**
 * kl_verify() - verify an implementation
 * @spec: a specification with an implementation
 * @o: the options
 * @verdict: gets the verdict
 * @out: gets the verifier, for statistics and the trail; kl_verifier_free() it, also after an error
 *
 * Return: 0, -EINVAL after a message if there is no implementation or the verifier cannot read it,
 * -ENOMEM.
 */
int kl_verify(struct kl_spec *spec, const struct kl_verify_options *o,
	      enum kl_verify_verdict *verdict, struct kl_verifier **out);
/**
 * kl_verify_longer() - search longer for a proof
 * @x: a verifier whose model was not proved
 * @verdict: gets the verdict, if it changes
 *
 * Finer searches have a bound, so that a wrong model is soon NOT PROVED.  This function raises the
 * bound twentyfold, for a model of which no wrong concrete run was found.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_verify_longer(struct kl_verifier *x, enum kl_verify_verdict *verdict);
void kl_verifier_free(struct kl_verifier *x);
void kl_verify_stats(const struct kl_verifier *x, struct kl_verify_stats *st);
/* Return: the reason why the model was not proved, in a line. */
const char *kl_verify_message(const struct kl_verifier *x);
/**
 * kl_verify_roles() - take the threads of the file's client
 * @spec: a specification with an implementation
 * @o: gets threads and methods if the client is `client roles(...)'
 *
 * Return: true if the client has roles.
 */
bool kl_verify_roles(const struct kl_spec *spec, struct kl_verify_options *o);

struct kl_explorer;

/* The result of kl_verify_confirm(). */
struct kl_verify_search {
	/* for each number of threads, the number of operations up to which all runs are right */
	unsigned int ops[KL_VF_THREADS + 1];
	/* a search did not end: for lack of memory, of time, or of support by the explorer */
	bool no_memory, stopped, cannot;
	char why[300];			/* the reason for the first such search */
	/* the run that was found is not linearizable; the client has keys that are not verified */
	bool not_linearizable, other_keys;
};

/**
 * kl_verify_confirm() - look for a wrong concrete run
 * @x: a verifier whose model was not proved; or a proved one, to look for deadlocks
 * @memory: bound of the search's memory, in bytes
 * @bounds: number of pairs of threads and operations that are tried, of these 5: 2 x 1, 2 x 2,
 *	3 x 1, 2 x 3, 3 x 2
 * @s: gets the result of the search
 * @out: gets the explorer with the run, if there is one; the caller frees it
 *
 * The explorer runs the same model on sequentially consistent memory, with small
 * numbers of threads and operations.
 *
 * Return: 1 if there is such a run, 0 if none was found, or a negative errno.  A model that the
 * explorer cannot search is not an error.
 */
int kl_verify_confirm(struct kl_verifier *x, uint64_t memory, unsigned int bounds,
		      struct kl_verify_search *s, struct kl_explorer **out);
/*
 * Print the @i-th sentence of the story of an alarm that no run shows, without a full stop: the
 * alarm and the abstract state that shows it, and what such a state may stand for.
 * Return: false, and print nothing, after the last sentence.
 */
bool kl_verify_print_alarm(struct kl_verifier *x, unsigned int i, FILE *f);
/* Print the abstract run to the alarm, with the two heaps of each state as text. */
void kl_verify_print_trail(struct kl_verifier *x, FILE *f);
/* Print the same run for Graphviz, with a cluster for each state. */
void kl_verify_print_dot(struct kl_verifier *x, FILE *f);

/**
 * kl_verify_cover() - run the covering test
 * @x: a verifier that proved its model
 * @threads: number of threads, 1 to KL_VF_THREADS; only used if any number was verified
 * @ops: operations of each thread
 * @states: gets the number of concrete states; may be NULL
 * @why: gets a description of a state that is not covered
 * @size: size of @why in bytes
 *
 * The model runs concretely, by the same interpreter without any abstraction.  Each state,
 * abstracted, must lie below a stored state; for any number of threads, each thread's view must.
 *
 * Return: 1 if all are covered, 0 if not, a negative errno.
 */
int kl_verify_cover(struct kl_verifier *x, unsigned int threads, unsigned int ops,
		    uint64_t *states, char *why, size_t size);

#endif
