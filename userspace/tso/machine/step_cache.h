/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Steps that were made before.  What a thread does next depends on its piece of the
 * state and on memory (collapse.h), and so does what the others do along with a store to
 * memory: most steps of a search were made before, in another state with the same two
 * pieces, and are looked up.  What cannot be said in these terms is left to a step of
 * the whole machine.
 *
 * Numbers for names.  Of data and objects that a step deals with: those of memory have
 * their names, then come the names of the thread's own, then new ones.
 */
#ifndef KL_TSO_MACHINE_STEP_CACHE_H
#define KL_TSO_MACHINE_STEP_CACHE_H

#include "tso/machine/collapse.h"

#define KL_NO_CHANGE	UINT32_MAX

/* Objects that a step makes and its thread keeps are among its first ones. */
#define KL_NEW_OBJECTS	16

/* Data in an event of what a thread does along with a change: a name of the new memory. */
#define KL_NEW_NAME	(1ULL << 32)

/* A step of a thread, or what it does along with another's store. */
struct kl_step {
	uint32_t mem, thread;	/* the pieces after it */
	uint32_t change;	/* of memory, KL_NO_CHANGE: none */
	uint32_t events, names;	/* where they are in kl_steps */
	uint8_t nevents;
	uint8_t nmem;		/* data that the new memory names: where each came from */
	uint8_t nshown;		/* the thread's own objects that memory has got, or that differ */
	uint8_t nfresh;		/* new data */
};

/* All steps of a thread. */
struct kl_known_steps {
	uint32_t mem, thread;
	uint32_t first;		/* in kl_steps.step */
	uint16_t n;
	uint8_t made;		/* steps, with those into an `assume' that is false */
	bool dropped;		/* these are all there are */
	bool machine;		/* left to the machine */
};

/* What a thread does along with a change of memory. */
struct kl_known_change {
	uint32_t change, thread;
	uint32_t step;		/* in kl_steps.step */
	bool machine;
};

struct kl_step_table {
	uint32_t *slot;		/* of what is known, plus 1; 0: free */
	size_t nslots;
};

struct kl_steps {
	struct kl_pieces pieces;
	struct kl_intern change;
	struct kl_known_steps *steps;
	struct kl_known_change *along;
	struct kl_step *step;
	uint64_t *events;	/* kind | method << 8 | n << 32, and n values */
	uint8_t *names;
	size_t nsteps, csteps, nalong, calong, nstep, cstep, nevents, cevents, nnames, cnames;
	struct kl_step_table by_thread, by_change;
	/* Of the step under way: */
	uint64_t words[2 + KL_VM_OBJECTS + KL_VM_DATA_MAX + 2 * KL_VM_MEM];
	uint32_t first_event, recorded;
};

struct kl_explorer;

void kl_steps_free(struct kl_steps *s);
size_t kl_steps_bytes(const struct kl_steps *s);
/* Nothing is known; pieces keep their numbers. */
void kl_steps_forget(struct kl_steps *s);

/*
 * All steps of a thread with that piece beside that memory; NULL: no memory.  If it is
 * not known, x->before and x->vm are used to find out.  What comes back is good until
 * the next call.
 */
const struct kl_known_steps *kl_steps_of(struct kl_explorer *x, uint32_t mem, uint32_t thread);
/* What the thread with that piece does along with a change of memory; NULL: no memory. */
const struct kl_known_change *kl_steps_along(struct kl_explorer *x, uint32_t change,
					     uint32_t thread);
/* What is known of the steps of the state in x->now comes nearer to the CPU, for all at once. */
void kl_steps_near(const struct kl_explorer *x);
/* An event of the step under way. */
int kl_steps_event(struct kl_steps *s, const struct kl_vm_event *e);

#endif
