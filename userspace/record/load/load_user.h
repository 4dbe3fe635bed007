/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loads from user space: one process whose threads call the kernel.  What is
 * particular to a structure is a struct kl_user_kind; a file has those of a family.
 */
#ifndef KL_RECORD_LOAD_LOAD_USER_H
#define KL_RECORD_LOAD_LOAD_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "record/load/load.h"

#define KL_USER_TASKS	64
#define KL_USER_NUMBERS	4	/* settings of a kind's own */

/* A setting that is a number, and its value when it is not given. */
struct kl_user_number {
	const char *name;
	uint64_t min, max, value;
};

/**
 * struct kl_user_task - a thread of the load
 * @index: its number, from 0
 * @ntasks: how many there are
 * @rng: state of its random numbers
 * @made: unique values it has made
 * @ops: operations it has done
 * @number: the kind's settings
 * @priv: what the kind's setup() left
 */
struct kl_user_task {
	unsigned int index, ntasks;
	uint64_t rng, made, ops;
	const uint64_t *number;
	void *priv;
};

/**
 * struct kl_user_kind - what a load does
 * @name: as in "user:NAME"
 * @numbers: its own settings, a name of NULL ends them
 * @tasks: threads when tasks= is not given
 * @shared: the structure is not the load's own: others use it, it has a past
 * @prepare: in the process that will run the load, before anything is attached;
 *	may be NULL
 * @setup: there too, recorded: make the structure; *@priv is for the threads
 * @step: an operation or a few; how many, or a negative errno
 * @teardown: when the threads have ended; may be NULL
 * @keep: of the whole system: read what the load will change, before; may be NULL
 * @undo: put it back, after; may be NULL
 */
struct kl_user_kind {
	const char *name;
	struct kl_user_number numbers[KL_USER_NUMBERS];
	unsigned int tasks;
	bool shared;
	int (*prepare)(const uint64_t *number);
	int (*setup)(const uint64_t *number, void **priv);
	int (*step)(struct kl_user_task *t);
	int (*teardown)(void *priv);
	int (*keep)(void);
	int (*undo)(void);
};

/* Open a load of this kind, see struct kl_load_ops. */
int kl_user_open(const struct kl_load_ops *ops, const struct kl_user_kind *kind,
		 const char *settings, struct kl_load **out);
int kl_user_start(struct kl_load *load);
int kl_user_done(struct kl_load *load);
void kl_user_ack(struct kl_load *load, uint64_t ops);
int kl_user_stop(struct kl_load *load);
void kl_user_report(struct kl_load *load, FILE *f);
void kl_user_free(struct kl_load *load);

/* A value that no other thread makes, never 0; small ones come first. */
static inline uint64_t kl_user_value(struct kl_user_task *t)
{
	return t->made++ * t->ntasks + t->index + 1;
}

/* A number below @n. */
static inline uint64_t kl_user_below(struct kl_user_task *t, uint64_t n)
{
	t->rng = t->rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return (t->rng >> 33) % n;
}

/* The load "user:KIND" of KIND_kind and KIND_help[]. */
#define KL_USER_LOAD(_name)							\
	static int _name##_open(const char *settings, struct kl_load **out);	\
	static const struct kl_load_ops _name##_ops = {				\
		.name = "user:" #_name, .open = _name##_open,			\
		.help = _name##_help, .start = kl_user_start,			\
		.done = kl_user_done, .ack = kl_user_ack, .stop = kl_user_stop,	\
		.report = kl_user_report, .free = kl_user_free,			\
	};									\
	static int _name##_open(const char *settings, struct kl_load **out)	\
	{									\
		return kl_user_open(&_name##_ops, &_name##_kind, settings, out); \
	}									\
	KL_LOAD(_name##_ops)

#endif
