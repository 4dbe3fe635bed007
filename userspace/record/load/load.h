/* SPDX-License-Identifier: GPL-2.0 */
/* Loads: what makes the operations that are recorded.  One file each. */
#ifndef KL_RECORD_LOAD_LOAD_H
#define KL_RECORD_LOAD_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct kl_load;

/**
 * struct kl_load_ops - a kind of load
 * @name: what --load begins with
 * @help: one line: its settings
 * @open: prepare it, from settings "name=value,..."; a message on failure, -EINVAL
 *	for a wrong setting
 * @start: let it run
 * @done: has it ended by itself?  A negative errno when it failed
 * @ack: so many operations have been read (may be NULL)
 * @stop: end it, and undo what it changed
 * @report: what it did, in one line (may be NULL)
 */
struct kl_load_ops {
	const char *name, *help;
	int (*open)(const char *settings, struct kl_load **out);
	int (*start)(struct kl_load *l);
	int (*done)(struct kl_load *l);
	void (*ack)(struct kl_load *l, uint64_t ops);
	int (*stop)(struct kl_load *l);
	void (*report)(struct kl_load *l, FILE *f);
	void (*free)(struct kl_load *l);
};

/**
 * struct kl_load - a load; embedded in those of each kind
 * @ops: its kind
 * @fresh: it made its object, in the first state, and has not touched it yet
 * @object: the object's address, 0 if it does not make one
 * @lock: the address of the kernel's own lock in it, 0 if there is none
 * @pid: the process that alone uses its objects; 0 if that is not so
 * @interrupts: interrupts use its object, too
 */
struct kl_load {
	const struct kl_load_ops *ops;
	bool fresh, interrupts;
	uint64_t object, lock;
	pid_t pid;
};

/* Prepare the load that --load names: "user:NAME,..." or settings of klin.ko. */
int kl_load_open(const char *arg, struct kl_load **out);
/* Names and settings, for --help. */
void kl_load_help(FILE *f);

/**
 * kl_load_number() - a setting that is a number
 * @settings: "name=value,..."
 * @name: the setting
 * @min: least value
 * @max: greatest value
 * @value: its value; untouched if it is not given
 *
 * Return: 0, -EINVAL after a message.
 */
int kl_load_number(const char *settings, const char *name, uint64_t min, uint64_t max,
		   uint64_t *value);
/* -EINVAL after a message if a setting is not among @names (NULL at the end). */
int kl_load_check(const char *settings, const char *const *names);

#define KL_LOAD(_ops)								\
	static const struct kl_load_ops *const kl_load_p_##_ops			\
	__attribute__((used, section("kl_loads"))) = &_ops

#endif
