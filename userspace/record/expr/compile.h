/* SPDX-License-Identifier: GPL-2.0 */
/* Compiles probe clauses to fetch programs, with the types of the kernel's BTF. */
#ifndef KL_RECORD_EXPR_COMPILE_H
#define KL_RECORD_EXPR_COMPILE_H

#include "bpf/klin_event.h"
#include "record/attach/kernel.h"
#include "record/attach/place.h"
#include "spec/probe/probe.h"

/* The reason why a target does not fit a kernel, and its position in the spec. */
struct kl_misfit {
	struct kl_pos pos;
	char why[600];
};

/**
 * kl_compile() - compile the expressions of a target for its function
 * @k: the kernel
 * @t: the target
 * @f: its function in the kernel
 * @place: a place in the function; NULL: its call and return
 * @conf: gets the fetch programs @call and @ret, and the fields that describe them: nparams, nvals,
 *	call_args, ret_args, call_vals, call_object, call_filter, call_loads and ret_loads
 * @bad: gets the reason if the target does not fit
 *
 * Return: 0, or -EINVAL with @bad filled.
 */
int kl_compile(struct kl_kernel *k, const struct kl_probe_target *t, const struct kl_func *f,
	       const struct kl_kplace *place, struct klin_conf *conf, struct kl_misfit *bad);

#endif
