/* SPDX-License-Identifier: GPL-2.0 */
/* Loads, which make the operations that are recorded.  Each kind is one file. */
#ifndef KL_RECORD_LOAD_LOAD_H
#define KL_RECORD_LOAD_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct kl_load;

/**
 * struct kl_load_ops - a kind of load
 * @name: the first word of --load
 * @help: one line with its settings
 * @open: prepares the load from settings "name=value,..."; returns -EINVAL after a message for a
 *	wrong setting
 * @start: starts the load
 * @done: returns 1 if the load has ended by itself, or a negative errno if it failed
 * @ack: tells the load the number of operations that were read (may be NULL)
 * @stop: ends the load, and undoes its changes
 * @report: prints a line about the load (may be NULL)
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
 * struct kl_load - a load; the structure of each kind contains one
 * @ops: its kind
 * @fresh: the load made its object, in the first state, and has not used it yet
 * @object: the object's address, 0 if the load makes none
 * @lock: the address of the kernel's lock in the object, 0 if there is none
 * @pid: the only process that uses the objects; 0 if others may use them
 * @interrupts: interrupts use the object, too
 */
struct kl_load {
	const struct kl_load_ops *ops;
	bool fresh, interrupts;
	uint64_t object, lock;
	pid_t pid;
};

/* Prepare the load that --load names: "user:NAME,..." or settings of klin.ko. */
int kl_load_open(const char *arg, struct kl_load **out);
/* Print the loads' names, texts and settings for --help, sorted by name. */
void kl_load_help(FILE *f);

/**
 * kl_load_number() - read a setting that is a number
 * @settings: "name=value,..."
 * @name: the setting
 * @min: least value
 * @max: greatest value
 * @value: gets its value; unchanged if the setting is not given
 *
 * Return: 0, or -EINVAL after a message.
 */
int kl_load_number(const char *settings, const char *name, uint64_t min, uint64_t max,
		   uint64_t *value);
/* Return: 0, or -EINVAL after a message if a setting is not in @names, which NULL ends. */
int kl_load_check(const char *settings, const char *const *names);

/* Register a load, so that kl_load_open() and kl_load_help() find it. */
#define KL_LOAD(_ops)								\
	static const struct kl_load_ops *const kl_load_p_##_ops			\
	__attribute__((used, section("kl_loads"))) = &_ops

#endif
