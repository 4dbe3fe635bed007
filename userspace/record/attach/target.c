// SPDX-License-Identifier: GPL-2.0
/* Chooses the target of a clause that the kernel has, see target.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "record/attach/target.h"
#include "spec/spec.h"

#define METHODS "/sys/kernel/debug/klin/methods"

/* Search klin.ko's file of methods, whose lines are "ID SUBJECT.METHOD". */
int kl_klin_method(const char *name, uint32_t *id)
{
	char *data, *line, *save;
	unsigned int n;
	size_t len, at;
	int err;

	err = kl_read_file(METHODS, &data, &len);
	if (err)
		return err == -ENOMEM ? err : -ENODEV;
	err = -ENOENT;
	for (line = strtok_r(data, "\n", &save); line && err; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%u %zn", &n, &at) == 1 && !strcmp(line + at, name)) {
			*id = n;
			err = 0;
		}
	}
	free(data);
	return err;
}

const struct kl_kplace *kl_found_place(const struct kl_found *f)
{
	return f->nplaces ? &f->places[f->which] : NULL;
}

bool kl_target_lacks_object(const struct kl_spec *s, const struct kl_probe_target *t)
{
	return t->kind == KL_TARGET_FUNC && !t->object && kl_spec_partition(s) != KL_PART_NONE;
}

/* Check that the target's expressions fit the function.  Return: 0, -EINVAL or -ENOMEM. */
static int compile_target(struct kl_kernel *k, struct kl_found *f)
{
	struct klin_conf conf = { 0 };
	struct kl_misfit bad;
	int err = kl_compile(k, f->target, &f->func, kl_found_place(f), &conf, &bad);

	if (err) {
		f->way = KL_WAY_NONE;
		f->why_pos = bad.pos;
		snprintf(f->why, sizeof(f->why), "%s", bad.why);
	}
	return err;
}

int kl_target_place(struct kl_kernel *k, struct kl_found *f, unsigned int which)
{
	const struct kl_kplace *p = &f->places[which];
	const char *module = p->module[0] ? p->module : NULL;

	f->which = which;
	if (kl_func_find(k, p->owner, module, &f->func) || strcmp(f->func.module, p->module)) {
		snprintf(f->why, sizeof(f->why), "the kernel has no function '%s'", p->owner);
		return -ENOENT;
	}
	if (!f->func.btf)
		f->func.btf = kl_kernel_btf(k, module);
	f->way = kl_func_way(&f->func, f->why, sizeof(f->why));
	/* A part that GCC split off from a function has no type in BTF; a place needs none. */
	if (f->way == KL_WAY_NONE && !f->func.blacklisted && f->func.copies == 1 && f->func.btf &&
	    (f->func.traceable || kl_module_probes()))
		f->way = f->func.traceable ? KL_WAY_KPROBE : KL_WAY_MODULE;
	/* The order of probes at one address is known for kprobes only, see attach_func(). */
	if (f->way == KL_WAY_FENTRY && !p->offset && !strcmp(p->symbol, p->owner))
		f->way = KL_WAY_KPROBE;
	if (f->way == KL_WAY_NONE)
		return -EOPNOTSUPP;
	return compile_target(k, f);
}

static int try_places(struct kl_kernel *k, struct kl_found *f)
{
	const struct kl_probe_target *t = f->target;
	unsigned int i;
	int err = kl_places_find(k, t->inlined, t->name, t->module, t->offset, f->places,
				 &f->nplaces, f->why, sizeof(f->why));

	for (i = f->nplaces; !err && i-- > 0;)
		err = kl_target_place(k, f, i);
	return err;
}

/* Check that the kernel has the places of the target's linearization points. */
static int try_point(struct kl_kernel *k, struct kl_found *f)
{
	const struct kl_spot *s = f->target->point;
	struct kl_kplace places[KL_PLACES_MAX];
	unsigned int n;
	int err = kl_places_find(k, s->inlined, s->name, s->module, s->offset, places, &n, f->why,
				 sizeof(f->why));

	if (err)
		f->why_pos = s->pos;
	return err;
}

int kl_target_try(struct kl_kernel *k, const struct kl_probe_target *t, struct kl_found *f)
{
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
	if (kl_target_is_place(t)) {
		err = try_places(k, f);
		return err || !t->point ? err : try_point(k, f);
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
	err = compile_target(k, f);
	return err || !t->point ? err : try_point(k, f);
}

int kl_target_choose(struct kl_kernel *k, const struct kl_spec *s, const struct kl_probe *p,
		     struct kl_found *f)
{
	const struct kl_probe_target *t = p->targets;
	char near[400] = "";
	unsigned int i;
	int err;

	for (i = 0; i < p->ntargets; i++) {
		err = kl_target_try(k, &p->targets[i], f);
		if (!err || err == -ENOMEM)
			return err;
	}
	kl_target_try(k, t, f);
	if (p->ntargets == 1 && f->why_pos.line) {
		kl_spec_err_at(s, f->why_pos, "%s", f->why);
		return -EINVAL;
	}
	if (t->kind == KL_TARGET_FUNC && !f->func.copies && !kl_target_is_place(t))
		kl_func_suggest(k, t->name, near, sizeof(near));
	kl_spec_err_at(s, t->pos,
		       "'%s%s%s%s' cannot be attached on kernel %s: "
		       "%s%s%s%s%s",
		       t->kind == KL_TARGET_KLIN ? "klin:" :
		       t->inlined		 ? "inlined " :
						   "",
		       t->inlined ? t->inlined : "", t->inlined ? " in " : "", t->name, k->release,
		       f->why, *near ? "; did you mean " : "", near, *near ? "?" : "",
		       p->ntargets > 1 ? "; nor can its alternatives, see `klin list'" : "");
	return -EINVAL;
}
