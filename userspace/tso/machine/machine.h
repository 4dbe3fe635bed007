/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a TSO machine that runs a specification: memory and store buffers.  The engine `tso'
 * uses it.  Programs of the explorer run on the machine of vm.h instead.
 */
#ifndef KL_TSO_MACHINE_MACHINE_H
#define KL_TSO_MACHINE_MACHINE_H

#include "check/check.h"

/*
 * Capacity of a store buffer in entries.  An entry has at least one store, and the largest store
 * buffer of an x86 processor so far has 112 stores.
 */
#define KL_BUFFER_DEPTH	128

struct kl_write {
	uint32_t slot, pad;
	struct kl_val v;
};

/* An entry of a store buffer: the stores of one atomic block, writes[first .. first + n - 1]. */
struct kl_entry {
	uint32_t thread, item;	/* @item is KL_NO_OP where it does not matter */
	uint32_t first, n;
	bool hidden;		/* the entry may have left already, see engine.c */
	bool due;		/* it must leave before the current operation of @thread returns */
};

/*
 * The state of the machine.  The buffers of all threads share one array.  Its entries are in the
 * order of insertion, so the entries of each thread leave in this order.
 */
struct kl_machine {
	bool in_gap;		/* in a gap of lost events memory is unknown after every step */
	struct kl_val *mem;
	size_t nmem;		/* number of words in @mem */
	struct kl_val *notes;	/* constraints on unknowns, see kl_run_set_raw() */
	size_t nnotes, cnotes;
	struct kl_entry *entries;
	struct kl_write *writes;
	size_t nentries, nwrites, centries, cwrites;
};

int kl_machine_init(struct kl_machine *m, size_t nmem);
void kl_machine_free(struct kl_machine *m);
int kl_machine_copy(struct kl_machine *to, const struct kl_machine *from);

/**
 * kl_machine_view() - make the state that a thread sees, for the interpreter's raw mode
 * @m: the machine
 * @thread: the thread, whose own buffered stores replace words of memory
 * @view: growable array; set to the words of memory, followed by notes
 * @cap: capacity of @view
 * @len: set to the number of values in @view
 *
 * Return: 0 or -ENOMEM.
 */
int kl_machine_view(const struct kl_machine *m, uint32_t thread, struct kl_val **view, size_t *cap,
		    size_t *len);
/*
 * Return: true if knowledge about unknowns was lost, see kl_state_lost(); false in a gap, where the
 * whole state is unknown.
 */
bool kl_machine_lost(const struct kl_machine *m);
/* Return: one more than the largest number of an unknown in the machine; 0 without unknowns. */
uint64_t kl_machine_next_unknown(const struct kl_machine *m);
/* Set each word of memory to a new unknown. */
void kl_machine_forget(struct kl_machine *m);
/* Return: the index of the oldest entry of @thread, or -1. */
int64_t kl_machine_oldest(const struct kl_machine *m, uint32_t thread);
/* Move the oldest entry of @thread to memory.  Return: false if it has no entry. */
bool kl_machine_flush(struct kl_machine *m, uint32_t thread);
/* Remove the oldest entry of @thread without storing it.  Return: false if it has no entry. */
bool kl_machine_drop(struct kl_machine *m, uint32_t thread);

/**
 * kl_machine_exec() - apply one outcome of an operation to the machine
 * @m: the machine, changed in place
 * @o: an outcome in the state kl_machine_view() of @thread, in raw mode; its new unknowns have
 *	numbers from kl_machine_next_unknown() on
 * @thread: the thread that executed the operation
 * @item: the operation, stored in the new entry, or KL_NO_OP
 *
 * Return: 1 if the buffer has a new entry, 0 if not, -ENOMEM.
 */
int kl_machine_exec(struct kl_machine *m, const struct kl_outcome *o, uint32_t thread,
		    uint32_t item);
/* Number unknowns by first occurrence: in memory, in entries, then in notes. */
void kl_machine_canon(struct kl_machine *m);

#endif
