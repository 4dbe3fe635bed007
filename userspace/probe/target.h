/* SPDX-License-Identifier: GPL-2.0 */
/* Which of a clause's alternatives the running kernel has. */
#ifndef KL_PROBE_TARGET_H
#define KL_PROBE_TARGET_H

#include "probe/compile.h"
#include "probe/kernel.h"
#include "spec/probe.h"

/**
 * struct kl_found - a target as found in the running kernel
 * @target: which
 * @func: what is known about it, of functions
 * @id: its number, of klin: methods
 * @way: how it can be attached, of functions
 * @why: what is in the way of attaching it, or of a better way
 * @misfit: where the spec asks for what the function does not have; line 0: nowhere
 */
struct kl_found {
	const struct kl_probe_target *target;
	struct kl_func func;
	uint32_t id;
	enum kl_way way;
	char why[600];
	struct kl_pos misfit;
};

/* The number of a method that instrumented code declares; -ENOENT, -ENODEV without klin.ko. */
int kl_klin_method(const char *name, uint32_t *id);
/* 0 if it fits and can be attached, else a negative errno with @f->why filled. */
int kl_target_try(struct kl_kernel *k, const struct kl_probe_target *t, struct kl_found *f);
/* The first of the clause's targets that can be attached; -EINVAL after a message. */
int kl_target_choose(struct kl_kernel *k, const char *path, const struct kl_probe *p,
		     struct kl_found *f);

#endif
