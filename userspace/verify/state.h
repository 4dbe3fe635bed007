/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An abstract state: variables, and a graph of individuals.  Individual 0 is null.  An individual
 * that a variable holds is one node.  A summary stands for any number of nodes of its kind, or for
 * none.  An edge set has a bit for each individual to which the next pointer may lead.
 */
#ifndef KL_VERIFY_STATE_H
#define KL_VERIFY_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "verify/verify.h"

#define KL_VF_NODES	32
#define KL_VF_GLOBALS	48
#define KL_VF_REGS	56
#define KL_VF_RESULTS	2
/* maximal number of a node's fields, without its pointer and its lock */
#define KL_VF_FIELDS	4
#define KL_VF_CONSTS	62

/* Values of variables, in a byte. */
enum {
	VF_NULL		= 0,	/* also the word 0 and false; 1..31 is an individual */
	VF_TOK		= 0x20,	/* + an individual: the argument of the operation that made it */
	VF_CONST	= 0x40,	/* + the index in consts[] of a constant other than 0 */
	VF_ARG		= 0x80,	/* + k: argument k of the running operation, which is data */
	VF_KEY		= 0x90,	/* + a class of keys, see below */
	VF_RANK		= 0xa0,	/* + 1..5: a key in concrete mode; 3 is the observed one */
	VF_OWN		= 0xb0,	/* + t: the thread that holds a lock */
	VF_OTHER	= 0xb8,	/* a thread outside of the view holds the lock */
	VF_TOP		= 0xff,	/* unknown */
};

/* Classes of keys, relative to the observed key; the sentinels have KEY_MIN and KEY_MAX. */
enum { KEY_LESS, KEY_SAME, KEY_MORE, KEY_MIN, KEY_MAX };

#define RANK_SAME	3

/*
 * A kind has, from the lowest bits on: 16 bits of flags, and a byte each for the reference's
 * data, the lock, and the implementation's fields.
 */
#define KF_CAND		0x01	/* a node of the implementation */
#define KF_REF		0x02	/* a node of the reference */
/* a node of both, whose two next pointers agree, so that one edge set stands for both */
#define KF_UNIF		0x04
#define KF_SUM		0x08	/* a summary */
#define KF_ESC		0x10	/* other threads may know the node */
#define KF_IN		0x20	/* on the sorted list */
#define KF_ORD		0x40	/* its next pointer has not changed since it was on the list */
#define KF_WAS		0x80	/* it was on the list at some time */
/* << t: it was on the list at some time since thread t read the list's head */
#define KF_SEEN		0x100
#define KF_SEEN_ALL	0xff00ULL

static inline bool kl_vf_is_ptr(uint8_t v)
{
	return v && v < KL_VF_NODES;
}

/* Return: the individual that a value names, or 0. */
static inline unsigned int kl_vf_names(uint8_t v)
{
	return v < 2 * KL_VF_NODES ? v & (KL_VF_NODES - 1) : 0;
}

static inline bool kl_vf_is_data(uint8_t v)
{
	return (v > VF_TOK && v < VF_CONST) || (v >= VF_ARG && v < VF_ARG + 8);
}

static inline uint8_t kf_rdata(uint64_t k)
{
	return k >> 16;
}

static inline uint8_t kf_lock(uint64_t k)
{
	return k >> 24;
}

static inline uint8_t kf_field(uint64_t k, unsigned int i)
{
	return k >> (32 + 8 * i);
}

static inline uint64_t kf_set(uint64_t k, unsigned int shift, uint8_t v)
{
	return (k & ~(0xffULL << shift)) | (uint64_t)v << shift;
}

static inline uint64_t kf_set_lock(uint64_t k, uint8_t v)
{
	return kf_set(k, 24, v);
}

static inline uint64_t kf_set_field(uint64_t k, unsigned int i, uint8_t v)
{
	return kf_set(k, 32 + 8 * i, v);
}

/* The linearization of an operation so far. */
enum { LIN_NONE, LIN_PURE, LIN_EFFECT, LIN_MASK = 3, LIN_OTHER = 4 };

struct kl_vf_thread {
	uint16_t pc;
	int8_t method;			/* -1: idle */
	/* @lin: LIN_...; @corr: the node that the operation made; @key: class of its key */
	uint8_t lin, corr, key;
	uint8_t seen;			/* bit set of states of the observed key since the call */
	uint8_t bits;			/* values of bool arguments, a bit each */
	uint8_t ops;			/* concrete mode: number of operations that began */
	uint8_t ret[KL_VF_RESULTS];	/* results of the reference */
	uint8_t reg[KL_VF_REGS];
};

struct kl_vf_state {
	uint8_t nn;			/* number of individuals, with null */
	uint8_t nt;
	uint8_t g[KL_VF_GLOBALS];	/* globals of the implementation, then of the reference */
	uint64_t kind[KL_VF_NODES];
	/* edge sets in the implementation's heap, and in the reference's, see kf_has_rsucc() */
	uint32_t succ[KL_VF_NODES], rsucc[KL_VF_NODES];
	struct kl_vf_thread th[KL_VF_THREADS];
};

static inline void kl_vf_copy(struct kl_vf_state *to, const struct kl_vf_state *from)
{
	to->nn = from->nn;
	to->nt = from->nt;
	memcpy(to->g, from->g, sizeof(to->g));
	memcpy(to->kind, from->kind, from->nn * sizeof(*to->kind));
	memcpy(to->succ, from->succ, from->nn * sizeof(*to->succ));
	memcpy(to->rsucc, from->rsucc, from->nn * sizeof(*to->rsucc));
	memcpy(to->th, from->th, from->nt * sizeof(*to->th));
}

/* Return: true if a node of this kind has an edge set of its own in the reference's heap. */
static inline bool kf_has_rsucc(uint64_t k)
{
	return (k & KF_REF) && !(k & KF_UNIF);
}

static inline bool kl_vf_single(uint32_t set)
{
	return set && !(set & (set - 1));
}

static inline uint32_t kl_vf_bit(unsigned int i)
{
	return (uint32_t)1 << i;
}

#endif
