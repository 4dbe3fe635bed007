/* SPDX-License-Identifier: GPL-2.0 */
/* Recordings whose reads and writes meet on no object: a probe clause names a wrong one. */
#ifndef KL_CHECK_APART_H
#define KL_CHECK_APART_H

#include <stdbool.h>

#include "history/history.h"
#include "spec/spec.h"

/**
 * kl_reads_apart() - find out whether reads and writes have no object in common
 * @spec: the specification
 * @h: the history
 *
 * In such a history each read finds an unknown state, so nothing that it returns can be wrong.
 *
 * Return: 1 if the history has operations that only read and others, and no object has both;
 * 0 if not; -ENOMEM.
 */
int kl_reads_apart(const struct kl_spec *spec, const struct kl_history *h);

#endif
