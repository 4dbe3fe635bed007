// SPDX-License-Identifier: GPL-2.0
/* A rate limit, see rate.h. */
#include "klind/rate.h"

bool rate_take(struct rate *r, uint64_t now)
{
	if (!r->used || now - r->from >= r->ns) {
		r->from = now;
		r->used = 0;
	}
	if (r->used >= r->burst) {
		r->held++;
		return false;
	}
	r->used++;
	return true;
}

void rate_undo(struct rate *r)
{
	r->used--;
}

uint64_t rate_held(struct rate *r, uint64_t now)
{
	const uint64_t n = r->held;

	if (now - r->from < r->ns)
		return 0;
	r->held = 0;
	return n;
}
