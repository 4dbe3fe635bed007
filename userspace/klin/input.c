// SPDX-License-Identifier: GPL-2.0
/* Input files and option values of the sub-commands, see input.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ending.h"
#include "base/err.h"
#include "history/formats/kv_spec.h"
#include "klin/input.h"
#include "base/shipped.h"
#include "records/records.h"

int kl_carried_path(const struct kl_history *h, const char *history_path, char **path)
{
	const char *slash = strrchr(history_path, '/'), *name = h->spec_path;
	struct stat st;

	*path = NULL;
	/*
	 * If the history names a shipped specification, ignore a file of this name beside the
	 * history.  The file may be anything, such as another history.
	 */
	if (slash && *name != '/' && !kl_shipped_text(name)) {
		if (asprintf(path, "%.*s%s", (int)(slash + 1 - history_path), history_path,
			     name) < 0)
			goto no_memory;
		if (!stat(*path, &st) && S_ISREG(st.st_mode))
			return 0;
		free(*path);
	}
	*path = strdup(name);
	if (*path)
		return 0;
no_memory:
	*path = NULL;
	kl_err("%s: out of memory", history_path);
	return -ENOMEM;
}

/* Load the specification file that the history names. */
static int load_named(const struct kl_history *h, const char *history_path, struct kl_spec **spec)
{
	char *path;
	int ret;

	ret = kl_carried_path(h, history_path, &path);
	if (!ret)
		ret = kl_spec_load(path, spec);
	free(path);
	return ret;
}

int kl_carried_spec(const struct kl_history *h, const char *history_path, struct kl_spec **spec)
{
	int ret = -ENOENT;

	if (h->spec_text)
		ret = kl_spec_parse(h->spec_path ? h->spec_path : "spec in the history",
				    h->spec_text, strlen(h->spec_text), spec);
	else if (h->spec_path)
		ret = load_named(h, history_path, spec);
	else
		kl_err("%s: the history carries no specification; name one, as in `klin check "
		       "SPEC.lin HISTORY' or `klin replay --spec=SPEC.lin CERTIFICATE'",
		       history_path);
	return kl_ending_input(ret);
}

int kl_extended_spec(const struct kl_history *h, const char *history_path, struct kl_spec **spec)
{
	struct kl_spec *named = *spec;
	int ret;

	if (!h->spec_text || !kl_kv_spec_extends(kl_spec_text(named), h->spec_text))
		return 0;
	*spec = NULL;
	ret = kl_carried_spec(h, history_path, spec);
	kl_spec_free(named);
	return ret;
}

/*
 * Give pending operations that were written without results the number of results that their
 * method has.
 */
static int complete_sigs(const struct kl_method *const *methods, struct kl_history *h)
{
	size_t i;

	for (i = 0; i < h->nops; i++) {
		struct kl_op *op = &h->ops[i];
		struct kl_opsig s = *kl_op_sig(h, op);
		const struct kl_method *m = methods[s.method];
		int64_t sig;

		if (!(op->flags & KL_OP_PENDING) || s.nres || !m || m->nparams != s.nargs ||
		    !m->nresults)
			continue;
		s.nres = m->nresults;
		sig = kl_history_sig(h, &s, kl_op_args(h, op), NULL);
		if (sig < 0)
			return sig;
		op->sig = sig;
	}
	return 0;
}

/*
 * A history does not show how many results a method has if the method never returned.  Take the
 * number from the specification.
 */
static int complete_pending(const struct kl_spec *spec, struct kl_history *h)
{
	const struct kl_method **methods = calloc(h->nmethods + 1, sizeof(*methods));
	bool missing = false;
	size_t i;
	int ret;

	if (!methods)
		return -ENOMEM;
	for (i = 0; i < h->nmethods; i++) {
		const int method = kl_spec_find_method(spec, h->methods[i]);

		methods[i] = method < 0 ? NULL : kl_spec_method(spec, method);
		missing |= h->arities[i] & kl_arity_results(0) && methods[i] &&
			   methods[i]->nresults;
	}
	ret = missing ? complete_sigs(methods, h) : 0;
	free(methods);
	return ret;
}

void kl_warn_blocks(const struct kl_spec *spec)
{
	const struct kl_method *m;
	unsigned int i;

	for (i = 0; i < kl_spec_nmethods(spec); i++) {
		m = kl_spec_method(spec, i);
		if (m->nblocks > 1)
			kl_warn("spec '%s': method '%s' has up to %u atomic blocks on a path; a "
				"history that shows a state between them is reported as a "
				"violation", kl_spec_name(spec), m->name, m->nblocks);
	}
}

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
	ret = complete_pending(*spec, *h);
	if (ret)
		kl_err("%s: out of memory", history_path);
	return ret;
}

uint64_t kl_arg_number(struct argp_state *state, const char *name, const char *arg, uint64_t min,
		       uint64_t max)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(arg, &end, 0);
	/* strtoull() skips blanks and takes a sign. */
	if (errno || *arg < '0' || *arg > '9' || *end || n < min || n > max)
		argp_error(state, "--%s=%s: expected a number from %" PRIu64 " to %" PRIu64, name,
			   arg, min, max);
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

enum kl_independent kl_arg_independent(struct argp_state *state, const char *arg)
{
	const bool yes = !strcmp(arg, "yes");

	if (!yes && strcmp(arg, "no"))
		argp_error(state, "--independent=%s: expected yes or no", arg);
	return yes ? KL_INDEPENDENT_YES : KL_INDEPENDENT_NO;
}

bool kl_arg_sc(struct argp_state *state, const char *arg)
{
	const bool sc = !strcmp(arg, "sc");

	if (!sc && strcmp(arg, "tso"))
		argp_error(state, "--memory-model=%s: expected tso or sc", arg);
	return sc;
}

uint64_t kl_arg_seconds(struct argp_state *state, const char *name, const char *arg)
{
	return kl_arg_number(state, name, arg, 1, 1u << 30) * 1000000000ull;
}

uint64_t kl_arg_mib(struct argp_state *state, const char *name, const char *arg)
{
	return kl_arg_number(state, name, arg, 1, 1u << 24) << 20;
}

void kl_arg_only(struct argp_state *state, const char *what, const char *arg, const char **only)
{
	if (!arg)
		argp_error(state, "expected a %s", what);
	if (*only)
		argp_error(state, "expected one %s, found also '%s'", what, arg);
	*only = arg;
}
