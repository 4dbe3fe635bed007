/* SPDX-License-Identifier: GPL-2.0 */
/* Probe clauses to fetch programs, typed by the kernel's BTF. */
#ifndef KL_PROBE_COMPILE_H
#define KL_PROBE_COMPILE_H

#include "bpf/klin_event.h"
#include "probe/kernel.h"
#include "spec/probe.h"

/**
 * kl_compile() - compile the expressions of a clause for one of its functions
 * @path: the spec file, for messages
 * @k: the kernel
 * @p: the clause
 * @t: the target that is taken
 * @f: the same in the kernel
 * @conf: call, ret, nparams, nvals, call_vals, call_object and call_filter are set
 *
 * Return: 0, or -EINVAL after a message that names file, line and column.
 */
int kl_compile(const char *path, struct kl_kernel *k, const struct kl_probe *p,
	       const struct kl_probe_target *t, const struct kl_func *f, struct klin_conf *conf);

#endif
