/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store of abstract states.  A state's key is everything except its edges.  States with equal
 * keys are joined: their edge sets are united.  The end of a key, which has the summaries, may be
 * ignored in comparisons.
 */
#ifndef KL_VERIFY_STORE_H
#define KL_VERIFY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "verify/state.h"

/* Maximal number of bytes of a key, see pack.c; in concrete mode with the edges. */
#define KL_VF_THREAD_MAX	(9 + KL_VF_RESULTS + KL_VF_REGS)
#define KL_VF_EDGES_MAX		(2 * KL_VF_NODES)
#define KL_VF_KEY_MAX		(1 + KL_VF_GLOBALS + KL_VF_THREADS * KL_VF_THREAD_MAX + \
				 8 * KL_VF_NODES + 4 * KL_VF_EDGES_MAX)
#define KL_VF_NO_STATE	UINT32_MAX

struct kl_vf_entry {
	uint64_t at;		/* index in bytes[] of the key; the edges follow */
	/* the state before; the view whose thread made the step, or KL_VF_NO_STATE */
	uint32_t parent, actor;
	uint32_t hash;
	int16_t method;		/* method of the step's operation, and the line where it began */
	uint16_t line;
	uint16_t len, core;	/* length of the key; @core: the part that is compared */
	uint8_t nedges;
	bool queued;
};

struct kl_vf_store {
	uint8_t *bytes;
	size_t nbytes, cbytes;
	struct kl_vf_entry *e;
	size_t n, ce;
	struct kl_table table;
	uint32_t *queue;	/* a ring of entries to follow */
	size_t qfirst, nqueue, cqueue;
	/* The state to be added. */
	uint8_t key[KL_VF_KEY_MAX];
	uint32_t edges[KL_VF_EDGES_MAX];
	unsigned int len, core, nedges;
};

/*
 * Add the state in key[] and edges[], and queue it if it is new or grew.
 * Return: the state's number, or -ENOMEM.
 */
int64_t kl_vf_store_add(struct kl_vf_store *st, uint32_t parent, uint32_t actor);
/* Return: the entry with the core of the state in key[], or -1. */
int64_t kl_vf_store_find(const struct kl_vf_store *st);
/* Replace entry @i by the state in key[] and edges[], and queue it.  Return: 0 or -ENOMEM. */
int kl_vf_store_replace(struct kl_vf_store *st, uint32_t i);
/* Return: the next state to follow, or KL_VF_NO_STATE. */
uint32_t kl_vf_store_next(struct kl_vf_store *st);
void kl_vf_store_clear(struct kl_vf_store *st);
void kl_vf_store_free(struct kl_vf_store *st);
uint64_t kl_vf_store_bytes(const struct kl_vf_store *st);

#endif
