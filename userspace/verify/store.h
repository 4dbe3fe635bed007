/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Abstract states, each kept once: its key is everything but the edges, and
 * states with equal keys are joined, their edge sets united.  The end of a key may
 * be left out of the comparison: what it is of the summaries.
 */
#ifndef KL_VERIFY_STORE_H
#define KL_VERIFY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verify/state.h"

/* The bytes of a key, see pack.c: of concrete states all edges are among them. */
#define KL_VF_THREAD_MAX	(9 + KL_VF_RESULTS + KL_VF_REGS)
#define KL_VF_EDGES_MAX		(2 * KL_VF_NODES)
#define KL_VF_KEY_MAX		(1 + KL_VF_GLOBALS + KL_VF_THREADS * KL_VF_THREAD_MAX + \
				 8 * KL_VF_NODES + 4 * KL_VF_EDGES_MAX)
#define KL_VF_NO_STATE	UINT32_MAX

struct kl_vf_entry {
	uint64_t at;		/* the key in bytes[], the edges behind it */
	uint32_t parent, actor;	/* the state before; whose thread stepped, if not its own */
	uint32_t hash;
	int16_t method;		/* of the operation that made the step, and from which line */
	uint16_t line;
	uint16_t len, core;	/* core: the bytes that tell states apart */
	uint8_t nedges;
	bool queued;
};

struct kl_vf_store {
	uint8_t *bytes;
	size_t nbytes, cbytes;
	struct kl_vf_entry *e;
	size_t n, ce;
	uint32_t *table;	/* number + 1 */
	size_t tsize;
	uint32_t *queue;	/* a ring of entries to follow */
	size_t qfirst, nqueue, cqueue;
	/* What is to be added. */
	uint8_t key[KL_VF_KEY_MAX];
	uint32_t edges[KL_VF_EDGES_MAX];
	unsigned int len, core, nedges;
};

/* Add what is in key[] and edges[]; queued if it is new or has grown.  Its number or -ENOMEM. */
int64_t kl_vf_store_add(struct kl_vf_store *st, uint32_t parent, uint32_t actor);
/* The number of the entry with that core, or -1. */
int64_t kl_vf_store_find(const struct kl_vf_store *st);
/* Let what is in key[] and edges[] take the place of entry @i; queued.  0 or -ENOMEM. */
int kl_vf_store_replace(struct kl_vf_store *st, uint32_t i);
/* The next to follow, KL_VF_NO_STATE when there is none. */
uint32_t kl_vf_store_next(struct kl_vf_store *st);
void kl_vf_store_clear(struct kl_vf_store *st);
void kl_vf_store_free(struct kl_vf_store *st);
uint64_t kl_vf_store_bytes(const struct kl_vf_store *st);

#endif
