// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the kernel's code during a recording.
 *
 * A module may be unloaded and loaded again.  Fentry programs and klin.ko's tracepoints keep the
 * module loaded; kprobes do not.  Kprobes of tracefs come back with the module, those of klin.ko
 * do not.  Objects of the new module may have addresses of old ones, in their first states, and
 * its code may differ.  So the history has a gap from the last time at which the old module was
 * seen.
 *
 * A live patch may be applied.  Its functions may have inlined a probed function, whose coverage
 * then is unknown.
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
 * Return: a number that identifies a loaded module, or 0 if the module is not loaded.  It is the
 * inode of the module's directory; sysfs never uses an inode twice.
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
 * Make the coverage of @method unknown, since functions of the live patch @patch may have inlined
 * its probed function.  An asserted coverage stays asserted, as it does if the patch was applied
 * before the recording.
 */
static int doubt(struct kl_history *h, const char *method, const char *patch)
{
	size_t i;

	for (i = 0; i < h->ncoverage; i++) {
		struct kl_coverage *c = &h->coverage[i];
		char text[200];

		if (c->kind != KL_COVER_WHOLE || strcmp(c->method, method))
			continue;
		snprintf(text, sizeof(text), "the live patch '%.64s' was applied during the "
			 "recording; its functions may have inlined the probed function", patch);
		free(c->text);
		c->text = strdup(text);
		c->kind = KL_COVER_UNKNOWN;
		if (!c->text)
			return -ENOMEM;
	}
	return 0;
}

/**
 * kl_changes_open() - note the modules of the chosen functions
 * @r: the recorder, with chosen targets
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
		/* The previous look, which was after r->polled, still found the module. */
		r->module_seen = r->polled;
		kl_warn("module '%s' was unloaded during the recording: the history has a gap from "
			"then to its end; record again", c->found.func.module);
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
 * kl_changes_look() - find out whether the kernel's probed code has changed
 * @r: the recorder, attached; r->polled is the time before the last look
 *
 * Return: 0 or -ENOMEM.
 */
int kl_changes_look(struct kl_recorder *r)
{
	look_at_modules(r);
	return look_for_patches(r);
}
