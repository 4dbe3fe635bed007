// SPDX-License-Identifier: GPL-2.0
/*
 * Registers (Gibbons & Korach, Testing shared memories, section 4).  A value's write and reads are
 * one block.  If first_ret < last_call, the register has the value from first_ret to last_call:
 * that is the block's zone.  Zones may not overlap.  A block without a zone, first_ret >=
 * last_call, needs a time from last_call to first_ret outside of all zones.  These conditions are
 * enough: blocks go in the order of these times, and in a block reads come after the write.
 *
 * The first value is read without a write, and its zone begins at the start.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "check/loglinear/loglinear.h"

static int pair(struct loglinear *m, uint32_t v, uint32_t w)
{
	int ret;

	ll_core_start(m, m->v[w].first_ret);
	ll_core_say(m, "%" PRIu64 " was in the register while %" PRIu64 " was", ll_word(m, w),
		    ll_word(m, v));
	ret = ll_core_add(m, v);
	return ret ? ret : ll_core_add(m, w);
}

/*
 * Walk over the blocks by first_ret, and keep the last zone that began.  If that zone has ended,
 * a block without a zone goes after it, else just before it; no other zone is between.  @time gets
 * the slot of each block; if it is NULL, only the conditions are checked.  Return: 1, 0 with
 * a core, -ENOMEM.
 */
static int walk(struct loglinear *m, uint32_t *time)
{
	uint32_t zone = LL_NONE, i;

	for (i = 0; i < m->nvalues; i++) {
		if (m->v[i].first_ret != LL_START)
			continue;
		if (zone != LL_NONE)
			return pair(m, zone, i);
		zone = i;
		if (time)
			time[i] = LL_START;
	}
	for (i = 0; i < m->nins; i++) {
		const uint32_t value = m->ins[i] >> 1;
		const struct ll_value *v = &m->v[value], *z;

		if (m->ins[i] == ll_in(value, false) || v->first_ret == LL_START || ll_gone(m, v))
			continue;
		z = zone == LL_NONE ? v : &m->v[zone];
		if (zone != LL_NONE && z->last_call > v->first_ret && z->first_ret < v->last_call)
			return pair(m, zone, value);
		if (time)
			time[value] = ll_critical(v)		  ? v->first_ret :
				      zone == LL_NONE		  ? v->last_call :
				      z->last_call > v->first_ret ? z->first_ret - 1 :
				      z->last_call > v->last_call ? z->last_call :
								  v->last_call;
		if (ll_critical(v))
			zone = value;
	}
	return 1;
}

static int register_decide(struct loglinear *m)
{
	return walk(m, NULL);
}

static int register_order(struct loglinear *m)
{
	struct kl_key *k = malloc(2 * ((size_t)m->nvalues + 1) * sizeof(*k));
	uint32_t *time = malloc(((size_t)m->nvalues + 1) * sizeof(*time)), i, n = 0, peek;
	int ret = k && time ? ll_list_peeks(m) : -ENOMEM;

	if (!ret)
		walk(m, time);
	for (i = 0; !ret && i < m->nvalues; i++)
		if (!ll_gone(m, &m->v[i]))
			k[n++] = (struct kl_key){ .key = time[i], .val = i };
	if (!ret)
		kl_sort_keys(k, n, k + n);
	for (i = 0; !ret && i < n; i++) {
		const struct ll_value *v = &m->v[k[i].val];

		if (v->add != LL_NONE)
			ll_put(m, v->add);
		for (peek = 0; peek < v->peeks; peek++)
			ll_put(m, ll_peeks(m, k[i].val)[peek]);
	}
	free(k);
	free(time);
	return ret;
}

static const struct ll_type ll_register = {
	.kind = KL_CONTAINER_REGISTER,
	.decide = register_decide,
	.order = register_order,
};
LL_MONITOR(ll_register);
