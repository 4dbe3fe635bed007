/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interfaces of the online frontier. */
#ifndef KL_CHECK_ONLINE_ONLINE_FRONTIER_H
#define KL_CHECK_ONLINE_ONLINE_FRONTIER_H

#include "check/online/internal.h"

#define LIVE_NO_SLOT	ON_SLOTS

static inline uint64_t live_bit(unsigned int slot)
{
	return 1ull << slot;
}

/* kl_stepper_step() with a cache of each signature's last steps. */
static inline int live_step(struct kl_online *o, uint32_t state, uint32_t sig,
			    const uint32_t **next)
{
	struct on_step *s = &o->steps[sig];
	int n;

	if (s->from[0] == state || s->from[1] == state) {
		*next = &s->to[s->from[0] != state];
		return **next != ON_NONE;
	}
	n = kl_stepper_step(&o->sim, state, sig, next);
	if (n == 0 || n == 1) {
		s->from[1] = s->from[0];
		s->to[1] = s->to[0];
		s->from[0] = state;
		s->to[0] = n ? **next : ON_NONE;
	}
	return n;
}

/*
 * online_frontier_order.c: in the configuration @rec, let open operations take effect that change
 * nothing, if the state allows them and no ghost is excluded.  Return: 0, or a negative errno.
 */
int live_settle(struct kl_online *o, struct live *l, uint64_t *rec);
/*
 * Find all configurations in which the operation of @slot took effect, in place of the present
 * ones.  Return: 0, 1 if there are none, or a negative errno.
 */
int live_satisfy(struct kl_online *o, struct live *l, unsigned int slot);
/* Make @what the reason why the frontier cannot go on.  Return: -EDQUOT. */
int live_too_many(struct kl_online *o, const char *what);

#endif
