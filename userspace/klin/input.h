/* SPDX-License-Identifier: GPL-2.0 */
/* What sub-commands have in common: input files and numbers on the command line. */
#ifndef KLIN_INPUT_H
#define KLIN_INPUT_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "history/history.h"
#include "spec/spec.h"

/**
 * kl_load_input() - a history and the specification to check it with
 * @spec_path: the specification, or NULL: the one that the history carries
 * @history_path: the history
 * @opts: how the history is read
 * @spec: the specification, to be freed also on failure; where there is one already, it is
 *	used
 * @h: the history, to be freed also on failure
 *
 * Return: 0; after a message -EINVAL, or another negative errno of the system.
 */
int kl_load_input(const char *spec_path, const char *history_path,
		  const struct kl_read_opts *opts, struct kl_spec **spec, struct kl_history **h);

/* The form @arg that --to names, `help' lists them and ends klin.  Or argp_error(). */
const struct kl_form *kl_arg_to(struct argp_state *state, const char *arg);

/* "; did you mean FORM?" if @arg is near the name of a form, else "".  Returns @hint. */
const char *kl_form_hint(const char *arg, char hint[32]);

/* The same for --from. */
const struct kl_form *kl_arg_from(struct argp_state *state, const char *arg);

#define KLIN_INDEPENDENT	"In EDN and Jepsen's log, values [KEY VALUE] are of " \
	"independent keys, yes or no; by default as reads and cas tell"

/* Are keys independent, as the option --independent says: yes or no?  Or argp_error(). */
enum kl_independent kl_arg_independent(struct argp_state *state, const char *arg);

/**
 * kl_carried_path() - the specification's file that a history names
 * @h: the history, which names one
 * @history_path: its own file: what is named is looked for beside it first
 * @path: the file's path, or the name of a shipped specification; free() it
 *
 * Return: 0, or -ENOMEM after a message.
 */
int kl_carried_path(const struct kl_history *h, const char *history_path, char **path);

/* The specification that a history carries; -EINVAL or -ENOMEM after a message. */
int kl_carried_spec(const struct kl_history *h, const char *history_path, struct kl_spec **spec);

/**
 * kl_extended_spec() - put what a history needs in the place of the specification that was named
 * @h: the history
 * @history_path: its file
 * @spec: the specification that was named; if the history carries the same with the appends of
 *	its log, as those of kl_kv_spec() do, it is freed and @spec is that one
 *
 * Return: 0; -EINVAL or -ENOMEM after a message.
 */
int kl_extended_spec(const struct kl_history *h, const char *history_path, struct kl_spec **spec);

/* A number of @min..@max from the option @name, or argp_error(). */
uint64_t kl_arg_number(struct argp_state *state, const char *name, const char *arg, uint64_t min,
		       uint64_t max);

/* Is it the memory model sc, and not tso, that --memory-model asks for?  Or argp_error(). */
bool kl_arg_sc(struct argp_state *state, const char *arg);
/* Nanoseconds, from an option in seconds. */
uint64_t kl_arg_seconds(struct argp_state *state, const char *name, const char *arg);
/* Bytes, from an option in MiB. */
uint64_t kl_arg_mib(struct argp_state *state, const char *name, const char *arg);
/* The only argument, a @what: of ARGP_KEY_ARG and ARGP_KEY_NO_ARGS.  Or argp_error(). */
void kl_arg_only(struct argp_state *state, const char *what, const char *arg, const char **only);

#endif
