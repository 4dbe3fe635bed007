/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cache of steps.  A step of a thread depends on two pieces only: the thread's and memory
 * (collapse.h).  So most steps of a search were made before, in another state with the same two
 * pieces, and are looked up.
 *
 * After a store to memory other threads may make further steps along with it.  These depend on the
 * other thread's piece and on the change of memory, and are cached in the same way.
 *
 * A step that the cache cannot describe is left to the whole machine.
 *
 * Objects and data of a step have numbers: first the names of memory, then the thread's own names,
 * then new ones.
 */
#ifndef KL_TSO_EXPLORE_STEP_CACHE_H
#define KL_TSO_EXPLORE_STEP_CACHE_H

#include "tso/machine/collapse.h"

#define KL_NO_CHANGE	UINT32_MAX

/*
 * Of the objects that a step makes, its thread may keep only the first KL_NEW_OBJECTS.  Other steps
 * are not cached.
 */
#define KL_NEW_OBJECTS	16

/*
 * In events of steps along with a change, this bit marks data that is given by its name in the new
 * memory.
 */
#define KL_NEW_NAME	(1ULL << 32)

/* A step of a thread, or its steps along with another thread's store. */
struct kl_step {
	uint32_t mem, thread;	/* the pieces after the step */
	uint32_t change;	/* number of the change of memory, or KL_NO_CHANGE */
	uint32_t events, names;	/* index of the first one in kl_steps.events, kl_steps.names */
	uint8_t nevents;
	/*
	 * The names of the step are the numbers of: the thread's own objects that memory now
	 * reaches or that have changed (@nshown); the data that the new memory names (@nmem); the
	 * thread's own data and objects after the step.
	 */
	uint8_t nmem;
	uint8_t nshown;
	uint8_t nfresh;		/* number of new data values */
};

/* All steps of a thread. */
struct kl_known_steps {
	uint32_t mem, thread;	/* the pieces before the steps */
	uint32_t first;		/* index of the first step in kl_steps.step */
	uint16_t n;		/* number of steps */
	uint8_t made;		/* number of steps, with those that end in a false `assume' */
	bool dropped;		/* all steps end in a false `assume' */
	bool machine;		/* the steps are left to the machine */
};

/* The steps of a thread along with a change of memory. */
struct kl_known_change {
	uint32_t change, thread;
	uint32_t step;		/* index in kl_steps.step */
	bool machine;		/* the steps are left to the machine */
};

struct kl_step_table {
	uint32_t *slot;		/* index plus 1; 0 is a free slot */
	size_t nslots;
};

struct kl_steps {
	struct kl_pieces pieces;
	struct kl_intern change;	/* changes of memory, see change_of() */
	struct kl_known_steps *steps;
	struct kl_known_change *along;
	struct kl_step *step;
	uint64_t *events;	/* each is kind | method << 8 | n << 32, and n values */
	uint8_t *names;
	size_t nsteps, csteps, nalong, calong, nstep, cstep, nevents, cevents, nnames, cnames;
	struct kl_step_table by_thread, by_change;
	/* About the step that is being learnt: */
	uint64_t words[2 + KL_VM_OBJECTS + KL_VM_DATA_MAX + 2 * KL_VM_MEM];
	uint32_t first_event, recorded;
};

struct kl_explorer;

void kl_steps_free(struct kl_steps *s);
size_t kl_steps_bytes(const struct kl_steps *s);
/* Forget all steps; pieces keep their numbers. */
void kl_steps_forget(struct kl_steps *s);

/*
 * Get all steps of a thread with the piece @thread and memory @mem.  Steps that are not known are
 * made with x->before and x->vm.  Return: the steps, valid until the next call; NULL when out of
 * memory.
 */
const struct kl_known_steps *kl_steps_of(struct kl_explorer *x, uint32_t mem, uint32_t thread);
/* Get the steps of the thread along with a change of memory.  Return: as kl_steps_of(). */
const struct kl_known_change *kl_steps_along(struct kl_explorer *x, uint32_t change,
					     uint32_t thread);
/* Prefetch the known steps of all threads for the state in x->now. */
void kl_steps_prefetch(const struct kl_explorer *x);
/* Append an event of the step that is being learnt.  Return: 0 or -ENOMEM. */
int kl_steps_event(struct kl_steps *s, const struct kl_vm_event *e);

#endif
