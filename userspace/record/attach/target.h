/* SPDX-License-Identifier: GPL-2.0 */
/* Which of a clause's alternatives the running kernel has. */
#ifndef KL_RECORD_ATTACH_TARGET_H
#define KL_RECORD_ATTACH_TARGET_H

#include "record/expr/compile.h"
#include "record/attach/kernel.h"
#include "spec/lang/probe.h"

/**
 * struct kl_found - a target as found in the running kernel
 * @target: which
 * @func: what is known about it, of functions; of a place: the function around it
 * @places: of a target that is a place: where it is, all of them must be recorded
 * @nplaces: how many
 * @which: the one that func, way and why are of
 * @id: its number, of klin: methods
 * @way: how it can be attached, of functions
 * @why: what is in the way of attaching it, or of a better way
 * @misfit: where the spec asks for what the function does not have; line 0: nowhere
 */
struct kl_found {
	const struct kl_probe_target *target;
	struct kl_func func;
	struct kl_kplace places[KL_PLACES_MAX];
	unsigned int nplaces, which;
	uint32_t id;
	enum kl_way way;
	char why[600];
	struct kl_pos misfit;
};

/* The number of a method that instrumented code declares; -ENOENT, -ENODEV without klin.ko. */
int kl_klin_method(const char *name, uint32_t *id);
/* The place that a clause is on, NULL: it is on a function's call and return. */
const struct kl_kplace *kl_found_place(const struct kl_found *f);
/* Look at place @which of @f; 0, or a negative errno with @f->why filled. */
int kl_target_place(struct kl_kernel *k, struct kl_found *f, unsigned int which);
/* 0 if it fits and can be attached, else a negative errno with @f->why filled. */
int kl_target_try(struct kl_kernel *k, const struct kl_probe_target *t, struct kl_found *f);
/* The first of the clause's targets that can be attached; -EINVAL after a message. */
int kl_target_choose(struct kl_kernel *k, const char *path, const struct kl_probe *p,
		     struct kl_found *f);

#endif
