/* SPDX-License-Identifier: GPL-2.0 */
/* The options of `klin record' and `klin monitor', and the run of their load or command. */
#ifndef KLIN_RECORDING_H
#define KLIN_RECORDING_H

#include <argp.h>

#include "record/load/load.h"
#include "record/record.h"

struct recording {
	const char *spec, *load;
	char **command;		/* the arguments of COMMAND, or NULL */
	double duration;	/* in seconds; 0: no bound */
	/* the command could not be run, had a nonzero status, or was ended by a signal */
	bool command_failed;
	struct kl_record_opts opts;
};

/* A child parser for the options; its input is a struct recording. */
extern const struct argp recording_argp;
void recording_init(struct recording *a);
/* A help filter of argp, which puts the list of loads and @examples at the end of the help. */
char *recording_help(int key, const char *text, const char *examples);

/**
 * recording_open() - load the spec, open the load, make the recorder
 * @a: the options
 * @spec: gets the specification
 * @load: gets the load, if the options name one
 * @r: gets the recorder
 *
 * The caller frees all three, also after an error; the load with ops->free().
 *
 * Return: 0; -EINVAL after a message if the user is at fault; another negative errno if the system
 * refused.
 */
int recording_open(struct recording *a, struct kl_spec **spec, struct kl_load **load,
		   struct kl_recorder **r);

/**
 * recording_run() - record until the load, the command or the duration ends, or a signal comes
 * @a: the options
 * @r: the recorder, attached
 * @load: the load, or NULL
 * @poll: reads new events, every few milliseconds; returns 0 or a negative errno
 * @ctx: argument for @poll
 *
 * Return: 0 or a negative errno.  A command that fails sets a->command_failed only.
 */
int recording_run(struct recording *a, struct kl_recorder *r, struct kl_load *load,
		  int (*poll)(void *ctx), void *ctx);
/* The signal that ended the recording, or 0. */
extern volatile int recording_stopped;

/* Return: the exit code for @err, which is 0 or a negative errno. */
int recording_exit_code(int err);

#endif
