// SPDX-License-Identifier: GPL-2.0
/* Which of a clause's alternatives the running kernel has. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "probe/target.h"

#define METHODS "/sys/kernel/debug/klin/methods"

/* The lines of klin/methods are "ID SUBJECT.METHOD". */
int kl_klin_method(const char *name, uint32_t *id)
{
	char *data, *line, *save;
	int err = -ENOENT;
	unsigned int n;
	size_t len, at;

	if (kl_read_file(METHODS, &data, &len))
		return -ENODEV;
	for (line = strtok_r(data, "\n", &save); line && err; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%u %zn", &n, &at) == 1 && !strcmp(line + at, name)) {
			*id = n;
			err = 0;
		}
	}
	free(data);
	return err;
}

int kl_target_try(struct kl_kernel *k, const struct kl_probe_target *t, struct kl_found *f)
{
	struct klin_conf conf = { 0 };
	struct kl_misfit bad;
	int err;

	memset(f, 0, sizeof(*f));
	f->target = t;
	f->way = KL_WAY_NONE;
	if (t->kind == KL_TARGET_NOTHING)
		return 0;
	if (t->kind == KL_TARGET_KLIN) {
		err = kl_klin_method(t->name, &f->id);
		if (err == -ENODEV)
			snprintf(f->why, sizeof(f->why), "klin.ko is not loaded, or debugfs is not "
				 "mounted at /sys/kernel/debug");
		else if (err)
			snprintf(f->why, sizeof(f->why), "no module that is loaded declares this "
				 "method; " METHODS " lists them");
		f->way = KL_WAY_NONE;
		return err;
	}
	err = kl_func_find(k, t->name, t->module, &f->func);
	if (err) {
		snprintf(f->why, sizeof(f->why), "%s has no such function (inlined, renamed, or "
			 "not built in)", t->module ? "that module is not loaded, or" :
			 "the kernel");
		return err;
	}
	f->way = kl_func_way(&f->func, f->why, sizeof(f->why));
	if (f->way == KL_WAY_NONE)
		return -EOPNOTSUPP;
	err = kl_compile(k, t, &f->func, &conf, &bad);
	if (err) {
		f->way = KL_WAY_NONE;
		f->misfit = bad.pos;
		snprintf(f->why, sizeof(f->why), "%s", bad.why);
	}
	return err;
}

int kl_target_choose(struct kl_kernel *k, const char *path, const struct kl_probe *p,
		     struct kl_found *f)
{
	const struct kl_probe_target *t = p->targets;
	char near[400] = "";
	unsigned int i;

	for (i = 0; i < p->ntargets; i++)
		if (!kl_target_try(k, &p->targets[i], f))
			return 0;
	kl_target_try(k, t, f);
	if (p->ntargets == 1 && f->misfit.line) {
		kl_err_at(path, f->misfit.line, f->misfit.col, "%s", f->why);
		return -EINVAL;
	}
	if (t->kind == KL_TARGET_FUNC && !f->func.copies)
		kl_func_suggest(k, t->name, near, sizeof(near));
	kl_err_at(path, t->pos.line, t->pos.col, "'%s%s' cannot be attached on kernel %s: %s%s%s%s%s",
		  t->kind == KL_TARGET_KLIN ? "klin:" : "", t->name, k->release, f->why,
		  *near ? "; did you mean " : "", near, *near ? "?" : "",
		  p->ntargets > 1 ? "; nor can its alternatives, see `klin list'" : "");
	return -EINVAL;
}
