/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interface of spec_configs.c and spec_configs_set.c. */
#ifndef KL_TSO_EXPLORE_SPEC_CONFIGS_INTERNAL_H
#define KL_TSO_EXPLORE_SPEC_CONFIGS_INTERNAL_H

#include "tso/explore/spec_configs.h"

/*
 * A configuration is 1 + nthreads words: the number of its memory, and for each thread
 * kl_abs_local() of the numbers of the thread's operation and of its buffer.  Memory, operations
 * and buffers are interned strings of words:
 *
 * memory: value and tag of each slot
 * operation: IDLE, or
 *	CALLED, the method and its arguments, or
 *	BETWEEN, the method, the place between two of its steps, and its variables, or
 *	DONE and the results
 * buffer: for each entry or marker a word kind | n << 8, and for an entry n pairs of slot and
 *	value
 */
enum kl_abs_phase { IDLE, CALLED, BETWEEN, DONE };

#define KL_ABS_CONFIG	(1 + KL_VM_THREADS)
#define KL_ABS_WORDS	4096		/* maximal number of words of a buffer, and of memory */

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

/* A hash table of known results: what was done with a set, and the set to which this led. */
struct kl_abs_memo {
	struct kl_abs_known {
		uint64_t what;		/* an event or names in a word */
		uint32_t set, next;	/* @next: the resulting set plus 1; 0 if the slot is free */
	} *slot;
	size_t n, nslots;
};

struct kl_abstract {
	const struct kl_spec *spec;
	struct kl_run *run;
	unsigned int n;			/* number of threads */
	bool sc;
	struct kl_intern mem, op, buf, config, set;
	struct kl_intern long_event, long_naming;	/* those that do not fit a word */
	/*
	 * Internal steps of one thread.  They depend only on memory and on the thread's local word.
	 * @alone numbers these pairs; steps_alone[] has for each the pairs after the steps, which
	 * are pair[first .. first + n - 1].
	 */
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
	uint64_t *data;			/* data values of each set, a bit for each number */
	uint64_t *sign;			/* of each set: a hash, with a bit for each configuration */
	size_t cdata, csign;
	uint32_t *empty;		/* of each set, see kl_abstract_empty_layers() */
	size_t cempty;
	struct kl_abs_info {
		uint64_t data;		/* data values, a bit for each number */
		uint32_t mark;		/* @stamp of the set to which it was added last */
		uint32_t empty;		/* threads whose oldest layer is complete and empty */
		uint32_t after;		/* its first index in a->after[]; 0: not known yet */
	} *info;			/* of each configuration */
	/*
	 * For each configuration with known internal steps: the number of steps, and then, from
	 * info.after on, the configurations to which they lead.
	 */
	uint32_t *after;
	size_t cinfo, nafter, cafter;
	/* The set that is being made: its configurations, and its number among all made sets. */
	uint32_t *todo;
	size_t ntodo, ctodo;
	uint32_t stamp;
	/*
	 * While a set is renamed: for each memory, operation and buffer its number after the
	 * renaming, which is only valid if the entry's stamp is a->stamp.
	 */
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

/* Begin a set, which has no configurations yet. */
void kl_abs_start(struct kl_abstract *a);
/* Add a configuration to the set in a->todo.  Return: 0 or a negative errno. */
int kl_abs_add(struct kl_abstract *a, const uint64_t *config);
/* Return: the number of a configuration, or a negative errno. */
int64_t kl_abs_config(struct kl_abstract *a, const uint64_t *config);
/* Add the configuration with number @id to the set in a->todo.  Return: 0 or a negative errno. */
int kl_abs_put(struct kl_abstract *a, uint32_t id);
/* Return: the configurations of a set in ascending order; @n gets how many there are. */
const uint32_t *kl_abs_set(const struct kl_abstract *a, uint32_t set, size_t *n);
/* Return: the number of the set in a->todo, which must be complete; or a negative errno. */
int64_t kl_abs_number(struct kl_abstract *a);
/* Set the text of kl_abstract_error(): something is too large.  Return: -E2BIG. */
int kl_abs_fail(struct kl_abstract *a, const char *what);
/* Return: 0, or -ENOSPC if the sets have more bytes than a->limit. */
int kl_abs_room(const struct kl_abstract *a);
/* Print the message that the explorer cannot run the specification.  Return: -EINVAL. */
int kl_abs_refuse(const struct kl_abstract *a, struct kl_pos pos, const char *what);
/*
 * Return: the slot for the result of @what on @set, whose @next is 0 if the result is not known;
 * NULL without memory.
 */
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
