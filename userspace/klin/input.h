/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Input files and option values, for all sub-commands.  Functions named kl_arg_...() parse the
 * value of an option and end klin through argp_error() if the value is wrong.
 */
#ifndef KLIN_INPUT_H
#define KLIN_INPUT_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "history/history.h"
#include "spec/carried.h"

/**
 * kl_load_input() - load a history and the specification to check it with
 * @spec_path: file of the specification, or NULL for the one that the history carries
 * @history_path: file of the history
 * @opts: options for reading the history
 * @spec: gets the specification, unless *@spec already is one; the caller frees it, also
 *	after an error
 * @h: gets the history; the caller frees it, also after an error
 *
 * Return: 0; after a message -EINVAL for a wrong input, or another negative errno of the system.
 */
int kl_load_input(const char *spec_path, const char *history_path,
		  const struct kl_read_opts *opts, struct kl_spec **spec, struct kl_history **h);

/*
 * Read a history by the history block of @spec, if it has one and @opts names no form; else in its
 * own form.  Return: as kl_history_read_with().
 */
int kl_read_by(const struct kl_spec *spec, const char *path, const struct kl_read_opts *opts,
	       struct kl_history **h);

/* Return: the form that --to=@arg names.  For `help', list all forms and end klin. */
const struct kl_form *kl_arg_to(struct argp_state *state, const char *arg);

/* Write "; did you mean FORM?" if @arg resembles the name of a form, else "".  Return: @hint. */
const char *kl_form_hint(const char *arg, char hint[32]);

/* Return: the form that --from=@arg names.  For `help', list all forms and end klin. */
const struct kl_form *kl_arg_from(struct argp_state *state, const char *arg);

#define KLIN_INDEPENDENT                                            \
	"In EDN and Jepsen's log: do values [KEY VALUE] belong to " \
	"independent keys?  By default klin infers this from reads and cas"

/**
 * kl_arg_choice() - find an option's value among those that exist
 * @state: the parser's state
 * @option: the option's name
 * @arg: its value
 * @names: the existing values, ending with NULL
 *
 * Another value ends klin with a message that lists all, and suggests one.
 *
 * Return: the index of @arg in @names.
 */
unsigned int kl_arg_choice(struct argp_state *state, const char *option, const char *arg,
			   const char *const *names);

/* Return: the value of --independent=@arg, which is yes or no. */
enum kl_independent kl_arg_independent(struct argp_state *state, const char *arg);

/*
 * Return: the number @arg, the value of the option @name, which must be from @min to @max.  @what
 * names the unit in the message, as " of seconds", or is "".
 */
uint64_t kl_arg_amount(struct argp_state *state, const char *name, const char *arg,
		       const char *what, uint64_t min, uint64_t max);

/* Return: the number @arg, as kl_arg_amount() does, without a unit. */
static inline uint64_t kl_arg_number(struct argp_state *state, const char *name, const char *arg,
				     uint64_t min, uint64_t max)
{
	return kl_arg_amount(state, name, arg, "", min, max);
}

/* Return: true for --memory-model=sc, false for tso. */
bool kl_arg_sc(struct argp_state *state, const char *arg);
/* Return: the value @arg of the option @name, given in seconds, in nanoseconds. */
uint64_t kl_arg_seconds(struct argp_state *state, const char *name, const char *arg);
/* Return: the value @arg of the option @name, given in MiB, in bytes. */
uint64_t kl_arg_mib(struct argp_state *state, const char *name, const char *arg);
/*
 * Handle the key ARGP_KEY_ARG, or ARGP_KEY_NO_ARGS with @arg NULL, of a command that has exactly
 * one argument.  @what names the argument in messages, such as "file"; @only gets @arg.
 */
void kl_arg_only(struct argp_state *state, const char *what, const char *arg, const char **only);

#endif
