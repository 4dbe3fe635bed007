/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a TSO machine that runs a specification: memory and store buffers. */
#ifndef KL_TSO_MACHINE_MACHINE_H
#define KL_TSO_MACHINE_MACHINE_H

#include "check/check.h"

/*
 * As many entries as a store buffer can hold at most: each has at least one
 * store, and no x86 so far has room for more stores (the largest has 112).
 */
#define KL_BUFFER_DEPTH	128

struct kl_write {
	uint32_t slot, pad;
	struct kl_val v;
};

/* One entry: the writes of one atomic block, [first, first + n) of writes. */
struct kl_entry {
	uint32_t thread, item;	/* item: KL_NO_OP where it does not matter */
	uint32_t first, n;
	bool hidden;		/* see engine.c: it may have left before, */
	bool due;		/* and has to by the return of what its thread is in */
};

/*
 * The machine unfolded.  Entries are in the order in which they were put in;
 * those of one thread leave in that order.
 */
struct kl_machine {
	bool in_gap;		/* memory is unknown after every step */
	struct kl_val *mem;
	size_t nmem;
	struct kl_val *notes;	/* what is known of its unknowns, see kl_run_set_raw() */
	size_t nnotes, cnotes;
	struct kl_entry *entries;
	struct kl_write *writes;
	size_t nentries, nwrites, centries, cwrites;
};

int kl_machine_init(struct kl_machine *m, size_t nmem);
void kl_machine_free(struct kl_machine *m);
int kl_machine_copy(struct kl_machine *to, const struct kl_machine *from);

/**
 * kl_machine_view() - the state in which a thread executes, for raw mode
 * @m: the machine
 * @thread: its own entries are over memory; what is known of unknowns is behind it
 * @view: growable
 * @cap: its capacity
 * @len: its length
 *
 * Return: 0 or -ENOMEM.
 */
int kl_machine_view(const struct kl_machine *m, uint32_t thread, struct kl_val **view, size_t *cap,
		    size_t *len);
/* See kl_state_lost(); in a gap it is known that nothing is known. */
bool kl_machine_lost(const struct kl_machine *m);
/* One more than the largest number of an unknown in it. */
uint64_t kl_machine_next_unknown(const struct kl_machine *m);
/* All of memory becomes unknown, each word by itself. */
void kl_machine_forget(struct kl_machine *m);
/* Index of the oldest entry of @thread, or -1. */
int64_t kl_machine_oldest(const struct kl_machine *m, uint32_t thread);
/* The oldest entry of @thread reaches memory.  Return: was there one? */
bool kl_machine_flush(struct kl_machine *m, uint32_t thread);
/* It goes without a trace.  Return: was there one? */
bool kl_machine_drop(struct kl_machine *m, uint32_t thread);

/**
 * kl_machine_exec() - the machine after one outcome of an operation
 * @m: the machine before; changed in place
 * @o: the outcome in kl_machine_view() of @thread, in raw mode, its new unknowns
 *	numbered from kl_machine_next_unknown() on
 * @thread: who executed it
 * @item: to know its entry by, or KL_NO_OP
 *
 * Return: 1 if it left an entry in the buffer, 0 if not, -ENOMEM.
 */
int kl_machine_exec(struct kl_machine *m, const struct kl_outcome *o, uint32_t thread,
		    uint32_t item);
/* Number unknowns by first occurrence, in memory and then in entries. */
void kl_machine_canon(struct kl_machine *m);

#endif
