// SPDX-License-Identifier: GPL-2.0
/*
 * Registers (Gibbons & Korach, Testing shared memories, section 4).  A value's write
 * and reads go together in one block, over by lo and not before hi: if lo < hi the
 * register has the value all that time, its zone.  Zones may not overlap, and a
 * block without one, lo >= hi, needs a time from hi to lo outside of all zones.  That
 * is enough: blocks in the order of these times, reads after their write.
 *
 * What was there first is read without a write: its zone is from the start.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "check/loglinear/loglinear.h"

static int pair(struct mono *m, uint32_t v, uint32_t w)
{
	int ret;

	mono_core_start(m, m->v[w].lo);
	mono_core_say(m, "%" PRIu64 " was in the register while %" PRIu64 " was", mono_word(m, w),
		      mono_word(m, v));
	ret = mono_core_add(m, v);
	return ret ? ret : mono_core_add(m, w);
}

/*
 * Walk by the first returns; the zone is the last that began by then.  If it is over,
 * a block without one is behind it, else just before it: no other is between.
 * @time: the gap of each block, NULL: only look whether there is one.
 */
static int walk(struct mono *m, uint32_t *time)
{
	uint32_t zone = MONO_NONE, i;

	for (i = 0; i < m->nvalues; i++) {
		if (m->v[i].lo != MONO_START)
			continue;
		if (zone != MONO_NONE)
			return pair(m, zone, i);
		zone = i;
		if (time)
			time[i] = MONO_START;
	}
	for (i = 0; i < m->nins; i++) {
		const uint32_t value = m->ins[i] >> 1;
		const struct mono_value *v = &m->v[value], *z;

		if (m->ins[i] == mono_in(value, false) || v->lo == MONO_START || mono_gone(m, v))
			continue;
		z = zone == MONO_NONE ? v : &m->v[zone];
		if (zone != MONO_NONE && z->hi > v->lo && z->lo < v->hi)
			return pair(m, zone, value);
		if (time)
			time[value] = mono_critical(v) ? v->lo : zone == MONO_NONE ? v->hi :
				      z->hi > v->lo ? z->lo - 1 :
				      z->hi > v->hi ? z->hi : v->hi;
		if (mono_critical(v))
			zone = value;
	}
	return 1;
}

static int register_decide(struct mono *m)
{
	return walk(m, NULL);
}

static int register_order(struct mono *m)
{
	struct kl_key *k = malloc(2 * ((size_t)m->nvalues + 1) * sizeof(*k));
	uint32_t *time = malloc(((size_t)m->nvalues + 1) * sizeof(*time)), i, n = 0, peek;
	int ret = k && time ? mono_list_peeks(m) : -ENOMEM;

	if (!ret)
		walk(m, time);
	for (i = 0; !ret && i < m->nvalues; i++)
		if (!mono_gone(m, &m->v[i]))
			k[n++] = (struct kl_key){ .key = time[i], .val = i };
	if (!ret)
		kl_sort_keys(k, n, k + n);
	for (i = 0; !ret && i < n; i++) {
		const struct mono_value *v = &m->v[k[i].val];

		if (v->add != MONO_NONE)
			mono_put(m, v->add);
		for (peek = 0; peek < v->peeks; peek++)
			mono_put(m, mono_peeks(m, k[i].val)[peek]);
	}
	free(k);
	free(time);
	return ret;
}

const struct mono_type mono_register = { .decide = register_decide, .order = register_order };
