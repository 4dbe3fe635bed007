/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loads from user space: one process whose threads call the kernel.  A struct kl_user_kind
 * describes one kind of load; similar kinds share a file.
 */
#ifndef KL_RECORD_LOAD_LOAD_USER_H
#define KL_RECORD_LOAD_LOAD_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "record/load/load.h"

#define KL_USER_TASKS	64
#define KL_USER_NUMBERS 4 /* maximal number of settings that a kind adds */

/* A setting that is a number, and its default. */
struct kl_user_number {
	const char *name;
	uint64_t min, max, value;
};

/**
 * struct kl_user_task - a thread of the load
 * @index: its number, from 0
 * @ntasks: number of threads
 * @rng: state of its random numbers
 * @made: number of unique values that it has made
 * @ops: number of operations that it has made
 * @number: values of the kind's settings
 * @priv: data that the kind's setup() has made
 */
struct kl_user_task {
	unsigned int index, ntasks;
	uint64_t rng, made, ops;
	const uint64_t *number;
	void *priv;
};

/**
 * struct kl_user_kind - a kind of load from user space
 * @name: as in "user:NAME"
 * @numbers: its own settings; a name of NULL ends them
 * @tasks: default number of threads
 * @shared: others use the structure, too, so that it is not in its first state
 * @prepare: called in the load's process, before the probes are attached; may be NULL
 * @setup: called in the load's process, while recording: makes the structure, and *@priv for the
 *	threads
 * @step: makes one or several operations; returns their number, or a negative errno
 * @teardown: called after the threads have ended; may be NULL
 * @keep: reads the state of the system that the load will change; may be NULL
 * @undo: restores this state; may be NULL
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

/* Return: a value that no other thread makes, never 0; small values come first. */
static inline uint64_t kl_user_value(struct kl_user_task *t)
{
	return t->made++ * t->ntasks + t->index + 1;
}

/* Return: a random number below @n. */
static inline uint64_t kl_user_below(struct kl_user_task *t, uint64_t n)
{
	t->rng = t->rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return (t->rng >> 33) % n;
}

/* Define the load "user:KIND" from KIND_kind and KIND_help[]. */
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
