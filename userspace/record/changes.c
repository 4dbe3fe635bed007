// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's code changes while it is recorded.
 *
 * A module is unloaded, and may be loaded again.  Fentry programs and klin.ko's tracepoints
 * hold the module; kprobes do not.  Those of tracefs come back with the module, those of
 * klin.ko do not.  Objects of the new module begin in their first states at addresses that
 * old ones had, and its code may be another one.  So from the last time that the old module
 * was seen on, nothing is known.
 *
 * A live patch comes: its functions may have inlined what is probed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "record/attach/coverage.h"
#include "record/recorder.h"

/*
 * A number that a loaded module has until it is unloaded: the inode of its directory, for
 * sysfs gives none twice.  0 when the module is not there.
 */
static uint64_t module_id(const char *module)
{
	struct stat st;
	char path[256];

	if (snprintf(path, sizeof(path), "/sys/module/%s", module) >= (int)sizeof(path) ||
	    stat(path, &st))
		return 0;
	return st.st_ino;
}

/*
 * The functions of the live patch @patch may have inlined what the probes of @method are on.
 * What is asserted stays, as it does when a patch is there from the beginning.
 */
static int doubt(struct kl_history *h, const char *method, const char *patch)
{
	size_t i;

	for (i = 0; i < h->ncoverage; i++) {
		struct kl_coverage *c = &h->coverage[i];
		char text[200];

		if (c->kind != KL_COVER_WHOLE || strcmp(c->method, method))
			continue;
		snprintf(text, sizeof(text), "the live patch %.64s came while recording: its "
			 "functions may have inlined what is probed", patch);
		free(c->text);
		c->text = strdup(text);
		c->kind = KL_COVER_UNKNOWN;
		if (!c->text)
			return -ENOMEM;
	}
	return 0;
}

/**
 * kl_changes_open() - note which modules the chosen functions are in
 * @r: the recorder, its clauses chosen
 */
void kl_changes_open(struct kl_recorder *r)
{
	unsigned int i;

	for (i = 0; i < r->nclauses; i++)
		if (r->clauses[i].found.func.module[0])
			r->clauses[i].module_id = module_id(r->clauses[i].found.func.module);
}

static void look_at_modules(struct kl_recorder *r)
{
	unsigned int i;

	for (i = 0; i < r->nclauses && !r->module_gone; i++) {
		const struct kl_clause *c = &r->clauses[i];

		if (!c->module_id || module_id(c->found.func.module) == c->module_id)
			continue;
		r->module_gone = true;
		/* The look before this one came after that time. */
		r->module_seen = r->polled;
		kl_warn("module %s was unloaded while it was recorded: the rest of the recording is "
			"a gap; record again", c->found.func.module);
	}
}

static int look_for_patches(struct kl_recorder *r)
{
	char name[64];
	unsigned int i;
	int err = 0;

	if (r->patched || !kl_live_patch(r->kernel, name, sizeof(name)))
		return 0;
	r->patched = true;
	for (i = 0; i < r->nclauses && !err; i++)
		if (!r->clauses[i].tracepoint)
			err = doubt(r->h, r->clauses[i].method->name, name);
	return err;
}

/**
 * kl_changes_look() - has the kernel still the code that was attached to?
 * @r: the recorder, attached; r->polled is the time before the last look
 *
 * Return: 0 or -ENOMEM.
 */
int kl_changes_look(struct kl_recorder *r)
{
	look_at_modules(r);
	return look_for_patches(r);
}
