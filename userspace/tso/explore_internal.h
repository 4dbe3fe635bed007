/* SPDX-License-Identifier: GPL-2.0 */
/* What the search and the printing of its run share. */
#ifndef KL_TSO_EXPLORE_INTERNAL_H
#define KL_TSO_EXPLORE_INTERNAL_H

#include "spec/impl.h"
#include "tso/abstract.h"
#include "tso/explore.h"
#include "tso/store.h"

#define KL_EX_NO_PLACE	((1ULL << 48) - 1)

struct kl_explorer {
	struct kl_spec *spec;
	struct kl_explore_options o;
	struct kl_vm_prog prog;
	struct kl_vm_method methods[KL_ITEMS_MAX];
	struct kl_vm_struct structs[KL_STRUCTS_MAX];
	uint64_t *pool, *live;
	struct kl_abstract *abs;
	struct kl_store store;
	struct kl_vm vm, before;
	uint32_t set;			/* of vm */
	uint8_t packed[4 + KL_VM_PACKED];
	uint64_t transitions, expanded;
	double seconds;
	/* While a run is printed: the state with names that stay, and its set. */
	struct kl_vm shown;
	uint32_t shown_set;
	/* What was found: the last state, and the step from it. */
	uint64_t last;			/* its place; KL_EX_NO_PLACE if there is none */
	int thread;			/* who makes the last step, -1: there is none */
	bool flush;			/* it is a flush */
	uint8_t choice[16];
	unsigned int nchoice;
	enum kl_explore_verdict verdict;
	char message[400];
};

/*
 * kl_ex_after() - what follows from a step of x->vm: its events in the
 * specification, empty layers that go at once.  1; 0 if the history cannot be
 * explained any more; a negative errno.
 */
int kl_ex_after(struct kl_explorer *x);
/* The first state to x->vm and x->set. */
int kl_ex_first(struct kl_explorer *x);
/* Load the state at a place. */
void kl_ex_load(struct kl_explorer *x, uint64_t at);
/* The state as bytes in x->packed: their number, or a negative errno. */
int64_t kl_ex_pack(struct kl_explorer *x);

#endif
