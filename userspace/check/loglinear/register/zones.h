/* SPDX-License-Identifier: GPL-2.0 */
/* Registers that are simple enough for one pass over their zones, see zones.c. */
#ifndef KL_CHECK_LOGLINEAR_REGISTER_ZONES_H
#define KL_CHECK_LOGLINEAR_REGISTER_ZONES_H

#include "check/check.h"
#include "spec/classify/container.h"

/**
 * ll_zones() - find an order if the history is simple
 * @s: operations of a register
 * @lim: says whether a witness is wanted
 * @c: the register
 * @a: becomes LINEARIZABLE, with a witness if wanted; unchanged if this finds no order
 *
 * Return: 0 or -ENOMEM.
 */
int ll_zones(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	     struct kl_answer *a);

#endif
