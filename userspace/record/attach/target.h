/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses the target of a clause: the first of its alternatives that the kernel has. */
#ifndef KL_RECORD_ATTACH_TARGET_H
#define KL_RECORD_ATTACH_TARGET_H

#include "record/expr/compile.h"
#include "record/attach/kernel.h"
#include "spec/probe/probe.h"

/**
 * struct kl_found - a target, as found in the kernel
 * @target: the target
 * @func: its function, or the function around its place
 * @places: places of a target that is a place; all of them must be recorded
 * @nplaces: number of places, 0 for other targets
 * @which: index of the place that @func, @way and @why belong to
 * @id: for targets klin:SUBJECT.METHOD: klin.ko's number of the method
 * @way: way of attaching to @func, or KL_WAY_NONE
 * @why: the reason why the target cannot be attached, or why no better way is possible
 * @why_pos: position in the spec of the expression that @why is about; line 0: none
 */
struct kl_found {
	const struct kl_probe_target *target;
	struct kl_func func;
	struct kl_kplace places[KL_PLACES_MAX];
	unsigned int nplaces, which;
	uint32_t id;
	enum kl_way way;
	char why[600];
	struct kl_pos why_pos;
};

/*
 * Get the number of a method that instrumented code declares.  Return: 0, -ENOENT if there is no
 * such method, -ENODEV without klin.ko, or -ENOMEM.
 */
int kl_klin_method(const char *name, uint32_t *id);
/* Return: the chosen place, or NULL if the target is a function's call and return. */
const struct kl_kplace *kl_found_place(const struct kl_found *f);
/*
 * Choose place @which of @f, and check it.  Return: 0, or a negative errno with @f->why filled if
 * the place does not fit or cannot be attached.
 */
int kl_target_place(struct kl_kernel *k, struct kl_found *f, unsigned int which);
/*
 * Return: true if the clause names no object, so that all calls of its function are operations on
 * one object, although the specification is about objects.  This is seldom meant.
 */
bool kl_target_lacks_object(const struct kl_spec *s, const struct kl_probe_target *t);
/*
 * Look up the target @t in the kernel.  Return: 0, or a negative errno with @f->why filled if the
 * target does not fit or cannot be attached.
 */
int kl_target_try(struct kl_kernel *k, const struct kl_probe_target *t, struct kl_found *f);
/*
 * Find the first of the clause's targets that can be attached.  Return: 0, -EINVAL after a
 * message, or -ENOMEM without one.
 */
int kl_target_choose(struct kl_kernel *k, const struct kl_spec *s, const struct kl_probe *p,
		     struct kl_found *f);

#endif
