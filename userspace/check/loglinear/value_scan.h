/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What events say about values, one event after the other.  Which kind comes next, and
 * whether it is a call or a return, is chance: so there are no branches that could be
 * guessed, but masks of which fields of a value an event writes.
 */
#ifndef KL_CHECK_LOGLINEAR_VALUE_SCAN_H
#define KL_CHECK_LOGLINEAR_VALUE_SCAN_H

#include <stddef.h>

#include "check/loglinear/loglinear.h"

/* Fields of struct mono_value. */
enum { MONO_ADDED, MONO_REMOVED, MONO_CALL, MONO_RRET, MONO_LO, MONO_HI, MONO_ORET, MONO_PEEKS };

/* A copy of some of struct mono, for the registers. */
struct mono_eye {
	uint32_t *op, *ins, listed;	/* 1 or 0 */
	struct mono_value *v;
	struct mono_cut *cut;
	uint32_t nins, ncuts;
	uint32_t time, each;	/* of the last event; 1: it goes on with each of them */
	uint32_t last;		/* event */
};

static inline struct mono_eye mono_open_eye(struct mono *m)
{
	return (struct mono_eye){
		.op = m->op, .v = m->v, .cut = m->cut, .nins = m->nins, .ncuts = m->ncuts,
		.ins = m->ins ? m->ins : &m->unlisted, .listed = !!m->ins, .time = m->phases,
		.each = !m->phases, .last = 1,
	};
}

static inline void mono_close_eye(const struct mono_eye *eye, struct mono *m)
{
	m->nins = eye->nins;
	m->ncuts = eye->ncuts;
	m->end = eye->time + 2;
}

static inline void mono_see_other(struct mono_eye *eye, uint32_t item, bool ret)
{
	const uint32_t op = eye->op[item];

	if (mono_kind(op) != MONO_EMPTY)
		return;
	if (ret) {
		eye->cut[op & MONO_VALUE].ret = eye->time;
		return;
	}
	eye->op[item] = mono_op(MONO_EMPTY, eye->ncuts);
	eye->cut[eye->ncuts++] = (struct mono_cut){ .item = item, .call = eye->time };
}

/* The time of the next event: in phases it goes on where a return follows a call. */
static inline uint32_t mono_tick(struct mono_eye *eye, uint32_t event)
{
	eye->time += (eye->each | (event & ~eye->last)) & 1;
	eye->last = event;
	return eye->time;
}

/* The next event, see m->ev. */
static inline __attribute__((always_inline)) void mono_see(struct mono_eye *eye, uint32_t event)
{
	/*
	 * Of calls, then returns, to add, remove, look: the fields that say which item it is, and
	 * when, twice, and the one that is the first such time; LO, which is written last, if it
	 * is none.  Is it one more peek, or a place to come in?
	 */
	static const struct {
		uint8_t item, time, last, first, peek, in;
	} __attribute__((aligned(8))) rows[] = {
		{ MONO_ADDED, MONO_CALL, MONO_HI, MONO_LO, 0, 1 },
		{ MONO_LO, MONO_LO, MONO_LO, MONO_LO, 0, 0 },
		{ MONO_REMOVED, MONO_HI, MONO_HI, MONO_LO, 0, 0 },
		{ MONO_LO, MONO_RRET, MONO_LO, MONO_ORET, 0, 0 },
		{ MONO_LO, MONO_HI, MONO_HI, MONO_LO, 1, 0 },
		{ MONO_LO, MONO_LO, MONO_LO, MONO_ORET, 0, 0 },
	}, *row;
	const uint32_t item = event >> 1, op = eye->op[item], value = op & MONO_VALUE;
	const uint32_t time = mono_tick(eye, event);
	const uint32_t returned = time | ((event & 1) - 1);	/* UNSEEN of calls */
	uint32_t *v, lo, first;

	_Static_assert(sizeof(struct mono_value) == 4 * (MONO_PEEKS + 1) &&
		       offsetof(struct mono_value, remove) == 4 * MONO_REMOVED &&
		       offsetof(struct mono_value, call) == 4 * MONO_CALL &&
		       offsetof(struct mono_value, rret) == 4 * MONO_RRET &&
		       offsetof(struct mono_value, lo) == 4 * MONO_LO &&
		       offsetof(struct mono_value, hi) == 4 * MONO_HI &&
		       offsetof(struct mono_value, oret) == 4 * MONO_ORET, "as they are there");
	if (__builtin_expect(mono_kind(op) > MONO_PEEK, 0)) {
		mono_see_other(eye, item, event & 1);
		return;
	}
	row = &rows[2 * mono_kind(op) + (event & 1)];
	v = (uint32_t *)&eye->v[value];
	lo = v[MONO_LO];
	first = v[row->first];
	v[row->item] = item;
	v[row->time] = time;
	v[row->last] = time;
	v[row->first] = first < returned ? first : returned;
	v[MONO_PEEKS] += row->peek;
	v[MONO_LO] = lo < returned ? lo : returned;
	eye->ins[eye->nins] = mono_in(value, event & 1);
	if (eye->listed)
		eye->nins += row->in + (lo > returned);
}

#endif
