/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comparison under abstraction (Amit, Rinetzky, Reps, Sagiv and Yahav, CAV
 * 2007): the implementation and its specification run side by side, the
 * specification's operation at the linearization point that the model states,
 * over heaps of any size and histories of any length.  The two heaps are kept as
 * one: a node of the implementation and the one that the specification made for
 * the same operation are one individual (a duo), and while their next pointers
 * agree (it is uniform) one set of edges stands for both.  What no variable points
 * to is summarised.
 *
 * Sequential consistency, and memory that is never given back.
 */
#ifndef KL_VERIFY_VERIFY_H
#define KL_VERIFY_VERIFY_H

#include <stdio.h>

#include "check/budget.h"
#include "spec/spec.h"

#define KL_VF_THREADS	8	/* that can be verified side by side */

struct kl_verify_options {
	unsigned int threads;		/* 0: any number */
	/* What each thread calls, a bit for each method; all 0: everything, or as the file says. */
	uint64_t methods[KL_VF_THREADS];
	bool roles;			/* methods is given */
	/* Reductions that are turned off: */
	bool no_merge, no_symmetry, no_por;
	uint64_t memory;		/* bytes; 0: no bound */
	const struct kl_limits *lim;	/* its deadline and its stop are looked at; may be NULL */
};

enum kl_verify_verdict {
	KL_VF_VERIFIED,
	KL_VF_ALARM,			/* not proved, see kl_verify_message() */
	KL_VF_MEMORY,			/* the bound on memory was reached */
	KL_VF_STOPPED,			/* interrupted, or time is over: kl_verify_message() */
};

struct kl_verify_stats {
	uint64_t states, steps, bytes;
	uint64_t open;			/* states not yet followed, if it gave up */
	unsigned int threads;		/* 0: any number */
	bool any;			/* the states are those of any number of threads */
	unsigned int rounds;		/* how often the search began anew */
	/* the implementation has steps that wait: for locks, assume() */
	bool waits;
	bool ordered_locks;		/* verified, and no threads can wait for each other */
	bool keyed;			/* a set: of all keys but 0 and ~0 */
	double seconds;
};

struct kl_verifier;

/**
 * kl_verify() - verify an implementation
 * @spec: a specification with an implementation
 * @o: how
 * @verdict: the answer
 * @out: to ask for figures and the trail; kl_verifier_free() it, also after an error
 *
 * Return: 0; -EINVAL after a message (no implementation, or one that the
 * verifier cannot read); -ENOMEM.
 */
int kl_verify(struct kl_spec *spec, const struct kl_verify_options *o,
	      enum kl_verify_verdict *verdict, struct kl_verifier **out);
/**
 * kl_verify_longer() - look longer for a proof
 * @x: what was not proved
 * @verdict: the answer, if it is another one now
 *
 * The searches that keep more apart have a bound, which keeps the time short in which
 * something wrong is not proved.  Here it is twenty times as high, for what no
 * concrete run was found of.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_verify_longer(struct kl_verifier *x, enum kl_verify_verdict *verdict);
void kl_verifier_free(struct kl_verifier *x);
void kl_verify_stats(const struct kl_verifier *x, struct kl_verify_stats *st);
/* Why it was not proved, in a line. */
const char *kl_verify_message(const struct kl_verifier *x);
/**
 * kl_verify_roles() - the threads that the file's client has
 * @spec: a specification with an implementation
 * @o: threads and methods are set if it is `client roles(...)'
 *
 * Return: is it?
 */
bool kl_verify_roles(const struct kl_spec *spec, struct kl_verify_options *o);

struct kl_explorer;

/* How far kl_verify_confirm() came. */
struct kl_verify_search {
	/* of each number of threads: all runs of up to so many operations are right */
	unsigned int ops[KL_VF_THREADS + 1];
	/* some search did not come to its end: for want of memory; of time; as the explorer cannot */
	bool no_memory, stopped, cannot;
	char why[300];			/* why the first of these did not */
	/* the run found is not linearizable; and the client has keys that are not verified */
	bool not_linearizable, other_keys;
};

/**
 * kl_verify_confirm() - look for a concrete run that goes wrong
 * @x: what was not proved; or what was, to look for deadlocks
 * @memory: bytes that the search may take
 * @bounds: how many pairs of threads and operations are tried, of 5: 2 x 1, 2 x 2, 3 x 1,
 *	2 x 3, 3 x 2
 * @s: set to how far the search came
 * @out: the explorer with the run, to be freed, if there is one
 *
 * The explorer runs the same model on sequentially consistent memory, with small
 * numbers of threads and operations.
 *
 * Return: 1 if there is such a run, 0 if none was found, a negative errno.  What the explorer
 * cannot search is no error.
 */
int kl_verify_confirm(struct kl_verifier *x, uint64_t memory, unsigned int bounds,
		      struct kl_verify_search *s, struct kl_explorer **out);
/* The abstract run to the alarm, the two heaps of each state drawn as text. */
void kl_verify_print_trail(struct kl_verifier *x, FILE *f);
/* The same for Graphviz: a cluster for each state. */
void kl_verify_print_dot(struct kl_verifier *x, FILE *f);

/**
 * kl_verify_cover() - the covering test
 * @x: what verified
 * @threads: of the bounded run, 1 to KL_VF_THREADS; as many as were verified
 *	unless that was any number
 * @ops: operations of each thread
 * @states: how many concrete states there were; may be NULL
 * @why: what is not covered, if anything
 * @size: of @why
 *
 * Runs the model concretely, by the same interpreter but without any
 * abstraction, and looks whether each state, abstracted, lies below one that the
 * verifier has stored.  For any number of threads: whether each thread's view does.
 *
 * Return: 1 if all are covered, 0 if not, a negative errno.
 */
int kl_verify_cover(struct kl_verifier *x, unsigned int threads, unsigned int ops,
		    uint64_t *states, char *why, size_t size);

#endif
