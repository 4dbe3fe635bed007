/* SPDX-License-Identifier: GPL-2.0 */
/* What the steps of configurations and their sets share. */
#ifndef KL_TSO_EXPLORE_SPEC_CONFIGS_INTERNAL_H
#define KL_TSO_EXPLORE_SPEC_CONFIGS_INTERNAL_H

#include "tso/explore/spec_configs.h"

/*
 * A configuration is 1 + nthreads words: memory, then for each thread its operation and
 * its buffer in one, kl_abs_local(), each the number of an interned string.
 *
 * operation: phase, then method and arguments; or method, place and variables of one
 *	that has several steps and is between two of them; or results
 * buffer: for each entry or marker a word kind | n << 8, for an entry n pairs
 *	of slot and value behind it
 */
enum kl_abs_phase { IDLE, CALLED, BETWEEN, DONE };

#define KL_ABS_CONFIG	(1 + KL_VM_THREADS)
#define KL_ABS_WORDS	4096		/* of a buffer, of memory */

static inline uint64_t kl_abs_local(uint32_t op, uint32_t buf)
{
	return (uint64_t)op << 32 | buf;
}

static inline uint32_t kl_abs_op(uint64_t local)
{
	return local >> 32;
}

static inline uint32_t kl_abs_buf(uint64_t local)
{
	return local;
}

/* Of what was done before: a set and what happened to it lead to a set. */
struct kl_abs_memo {
	struct kl_abs_known {
		uint64_t what;
		uint32_t set, next;	/* next: plus 1; 0 if free */
	} *slot;
	size_t n, nslots;
};

struct kl_abstract {
	const struct kl_spec *spec;
	struct kl_run *run;
	unsigned int n;			/* threads */
	bool sc;
	struct kl_intern mem, op, buf, config, set;
	struct kl_intern long_event, long_naming;	/* those that are no word */
	/* Internal steps of a thread: of memory and what is its own, to the same. */
	struct kl_intern alone;
	struct kl_abs_alone {
		uint32_t first, n;
	} *steps_alone;
	struct kl_abs_pair {
		uint64_t local;
		uint32_t mem;
	} *pair;
	size_t csteps_alone, npair, cpair;
	struct kl_abs_memo steps, namings;
	uint64_t *data;			/* of each set */
	uint64_t *sign;			/* of each set: some bit of each configuration */
	size_t cdata, csign;
	uint32_t *empty;		/* of each set */
	size_t cempty;
	struct kl_abs_info {
		uint64_t data;		/* that it has, a bit for each number */
		uint32_t mark;		/* the set it was last put in */
		uint32_t empty;		/* threads whose oldest layer is complete and empty */
		uint32_t after;		/* in a->after, plus 1: its internal steps; 0: not known */
	} *info;			/* of each configuration */
	/* How many internal steps, and the configurations that they lead to. */
	uint32_t *after;
	size_t cinfo, nafter, cafter;
	/* The set being made. */
	uint32_t *todo;
	size_t ntodo, ctodo;
	uint32_t stamp;
	/* While a set is renamed: what its parts are then, each with the stamp. */
	struct kl_abs_renamed {
		struct kl_abs_new {
			uint32_t stamp, id;
		} *of;
		size_t n;
	} renamed[3];
	struct kl_val view[KL_ABS_WORDS];
	uint64_t words[2 * KL_ABS_WORDS];
	const struct kl_vm_event *wanted;	/* see kl_abstract_drains() */
	bool refused;
	size_t limit;			/* bytes */
	char error[200];
};

/* An empty set, to which configurations are added. */
void kl_abs_start(struct kl_abstract *a);
int kl_abs_add(struct kl_abstract *a, const uint64_t *config);
/* The number of a configuration, and to add the one with that number; a negative errno. */
int64_t kl_abs_config(struct kl_abstract *a, const uint64_t *config);
int kl_abs_put(struct kl_abstract *a, uint32_t id);
/* The configurations of a set, @n of them in the order of their numbers. */
const uint32_t *kl_abs_set(const struct kl_abstract *a, uint32_t set, size_t *n);
/* The number of the set in todo, which is closed; a negative errno. */
int64_t kl_abs_number(struct kl_abstract *a);
/* Something is too large, as kl_abstract_error() says then.  Return: -E2BIG. */
int kl_abs_fail(struct kl_abstract *a, const char *what);
/* Is there room for more?  0, or -ENOSPC. */
int kl_abs_room(const struct kl_abstract *a);
/* The specification is none for the explorer.  Return: -EINVAL after a message. */
int kl_abs_refuse(const struct kl_abstract *a, const char *what);
/* The place for what is known of @set and @what; NULL: no memory. */
struct kl_abs_known *kl_abs_known(struct kl_abs_memo *m, uint32_t set, uint64_t what);

static inline unsigned int kl_abs_item_words(uint64_t head)
{
	return 1 + 2 * (head >> 8);
}

static inline enum kl_vm_kind kl_abs_item_kind(uint64_t head)
{
	return head & 0xff;
}

#endif
