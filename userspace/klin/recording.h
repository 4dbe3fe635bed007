/* SPDX-License-Identifier: GPL-2.0 */
/* What `record' and `monitor' have in common: their options, and running a load. */
#ifndef KLIN_RECORDING_H
#define KLIN_RECORDING_H

#include <argp.h>

#include "record/load/load.h"
#include "record/record.h"

struct recording {
	const char *spec, *load;
	char **command;
	double duration;
	bool command_failed;	/* it could not be run, or ended with a status or by a signal */
	struct kl_record_opts opts;
};

/* A child of the command's parser; its input is a struct recording. */
extern const struct argp recording_argp;
void recording_init(struct recording *a);
/* The help's end: loads, and what follows; for ARGP_KEY_HELP_POST_DOC. */
char *recording_help(int key, const char *text, const char *examples);

/**
 * recording_open() - load the spec, open the load, make the recorder
 * @a: the options
 * @spec: to be freed also on failure, as are
 * @load: the load, if any, with ops->free(), and
 * @r: the recorder
 *
 * Return: 0; -EINVAL after a message for what a person got wrong, else the system refused.
 */
int recording_open(struct recording *a, struct kl_spec **spec, struct kl_load **load,
		   struct kl_recorder **r);

/**
 * recording_run() - let what makes the operations run until it ends, or a signal comes
 * @a: the options
 * @r: the recorder, attached
 * @load: the load, or NULL
 * @poll: called every few milliseconds to read what has come; 0 or a negative errno
 * @ctx: for @poll
 *
 * Return: 0 or a negative errno; a->command_failed is no error of the recording.
 */
int recording_run(struct recording *a, struct kl_recorder *r, struct kl_load *load,
		  int (*poll)(void *ctx), void *ctx);
/* Set by the signals that end a recording. */
extern volatile int recording_stopped;

int recording_exit_code(int err);

#endif
