/* SPDX-License-Identifier: GPL-2.0 */
/* Registers in one pass over times, see zones.c. */
#ifndef KL_CHECK_LOGLINEAR_REGISTER_ZONES_H
#define KL_CHECK_LOGLINEAR_REGISTER_ZONES_H

#include "check/check.h"
#include "spec/classify/container.h"

/**
 * ll_zones() - is there an order for certain?
 * @s: operations of a register
 * @lim: whether a witness is wanted
 * @c: the register
 * @a: LINEARIZABLE, with its witness, if so; else it is left as it is
 *
 * Return: 0 or -ENOMEM.
 */
int ll_zones(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	     struct kl_answer *a);

#endif
