// SPDX-License-Identifier: GPL-2.0
/* Input files and option values of the sub-commands, see input.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/ending.h"
#include "base/err.h"
#include "base/nearest.h"
#include "history/formats/form.h"
#include "klin/input.h"
#include "records/records.h"

int kl_read_by(const struct kl_spec *spec, const char *path, const struct kl_read_opts *opts,
	       struct kl_history **h)
{
	if (spec && kl_spec_maps(spec) && kl_records_open && !opts->form)
		return kl_records_open(path, opts, spec, h);
	return kl_history_read_with(path, opts, h);
}

int kl_load_input(const char *spec_path, const char *history_path,
		  const struct kl_read_opts *opts, struct kl_spec **spec, struct kl_history **h)
{
	int ret = spec_path ? kl_spec_load(spec_path, spec) : 0;

	if (!ret)
		ret = kl_read_by(*spec, history_path, opts, h);
	if (!ret && !*spec)
		ret = kl_carried_spec(*h, history_path, spec);
	else if (!ret && spec_path)
		ret = kl_extended_spec(*h, history_path, spec);
	if (ret)
		return ret;
	ret = kl_complete_pending(*spec, *h);
	if (ret)
		kl_err("%s: out of memory", history_path);
	return ret;
}

uint64_t kl_arg_amount(struct argp_state *state, const char *name, const char *arg,
		       const char *what, uint64_t min, uint64_t max)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(arg, &end, 0);
	/* strtoull() skips blanks and takes a sign. */
	if (errno || *arg < '0' || *arg > '9' || *end || n < min || n > max)
		argp_error(state, "--%s=%s: expected a number%s from %" PRIu64 " to %" PRIu64, name,
			   arg, what, min, max);
	return n;
}

const char *kl_form_hint(const char *arg, char hint[32])
{
	const char *near = kl_form_near(arg);

	*hint = 0;
	if (near)
		snprintf(hint, 32, "; did you mean %s?", near);
	return hint;
}

/* Return: the form that --@option=@arg names.  For `help', list all forms and end klin. */
static const struct kl_form *find_form(struct argp_state *state, const char *option,
				       const char *arg, bool written)
{
	const struct kl_form *form = kl_form_find(arg);
	char names[KL_FORM_NAMES], hint[32];

	if (!strcmp(arg, "help")) {
		kl_forms_list();
		exit(kl_ending(KLIN_EXIT_OK));
	}
	if (!form)
		argp_error(state, "--%s=%s: expected %s%s", option, arg,
			   kl_form_names(names, written), kl_form_hint(arg, hint));
	else if (written && !kl_form_written(form))
		argp_error(state, "--%s=%s: klin only reads this form; expected %s", option, arg,
			   kl_form_names(names, written));
	return form;
}

const struct kl_form *kl_arg_from(struct argp_state *state, const char *arg)
{
	return find_form(state, "from", arg, false);
}

const struct kl_form *kl_arg_to(struct argp_state *state, const char *arg)
{
	return find_form(state, "to", arg, true);
}

unsigned int kl_arg_choice(struct argp_state *state, const char *option, const char *arg,
			   const char *const *names)
{
	char list[256] = "";
	const char *near;
	unsigned int i, n;
	size_t at = 0;

	for (n = 0; names[n]; n++)
		if (!strcmp(arg, names[n]))
			return n;
	for (i = 0; i < n && at < sizeof(list); i++)
		at += snprintf(list + at, sizeof(list) - at, "%s%s",
			       !i	 ? "" :
			       i + 1 < n ? ", " :
					   " or ",
			       names[i]);
	near = kl_nearest(arg, names, n);
	argp_error(state, "--%s=%s: expected %s%s%s%s", option, arg, list,
		   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	return 0;
}

enum kl_independent kl_arg_independent(struct argp_state *state, const char *arg)
{
	static const char *const names[] = { "yes", "no", NULL };

	return kl_arg_choice(state, "independent", arg, names) ? KL_INDEPENDENT_NO :
								 KL_INDEPENDENT_YES;
}

bool kl_arg_sc(struct argp_state *state, const char *arg)
{
	static const char *const names[] = { "tso", "sc", NULL };

	return kl_arg_choice(state, "memory-model", arg, names);
}

uint64_t kl_arg_seconds(struct argp_state *state, const char *name, const char *arg)
{
	return kl_arg_amount(state, name, arg, " of seconds", 1, 1u << 30) * 1000000000ull;
}

uint64_t kl_arg_mib(struct argp_state *state, const char *name, const char *arg)
{
	return kl_arg_amount(state, name, arg, " of MiB", 1, 1u << 24) << 20;
}

void kl_arg_only(struct argp_state *state, const char *what, const char *arg, const char **only)
{
	if (!arg)
		kl_args_missing(state, "expected a %s", what);
	if (*only)
		argp_error(state, "expected one %s, found also '%s'", what, arg);
	*only = arg;
}
