/* SPDX-License-Identifier: GPL-2.0 */
/* Probe clauses to fetch programs, typed by the kernel's BTF. */
#ifndef KL_RECORD_EXPR_COMPILE_H
#define KL_RECORD_EXPR_COMPILE_H

#include "bpf/klin_event.h"
#include "record/attach/kernel.h"
#include "record/attach/place.h"
#include "spec/lang/probe.h"

/* Why a target does not fit a kernel, and where the spec says what does not. */
struct kl_misfit {
	struct kl_pos pos;
	char why[600];
};

/**
 * kl_compile() - compile the expressions of a target for the function it names
 * @k: the kernel
 * @t: the target
 * @f: its function in the kernel
 * @place: where in it, NULL: at its call and return
 * @conf: call, ret, nparams, nvals, call_vals, call_object and call_filter are set
 * @bad: what does not fit
 *
 * Return: 0, or -EINVAL with @bad filled.
 */
int kl_compile(struct kl_kernel *k, const struct kl_probe_target *t, const struct kl_func *f,
	       const struct kl_kplace *place, struct klin_conf *conf, struct kl_misfit *bad);

#endif
