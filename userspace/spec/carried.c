// SPDX-License-Identifier: GPL-2.0
/* The specification of a history, see carried.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ending.h"
#include "base/err.h"
#include "base/shipped.h"
#include "history/formats/kv_spec.h"
#include "spec/carried.h"

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
		if (asprintf(path, "%.*s%s", (int)(slash + 1 - history_path), history_path, name) <
		    0)
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

int kl_complete_pending(const struct kl_spec *spec, struct kl_history *h)
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
