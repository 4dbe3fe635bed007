/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What events say about values, one event after the other.  Which kind comes next, and
 * whether it is a call or a return, is chance: so there are no branches that could be
 * guessed, but masks of which fields of a value an event writes.
 */
#ifndef KL_CHECK_MONO_EYE_H
#define KL_CHECK_MONO_EYE_H

#include "check/mono/mono.h"

typedef uint32_t mono_four __attribute__((vector_size(16)));

/* A copy of some of struct mono, for the registers. */
struct mono_eye {
	uint32_t *op, *ins, listed;	/* 1 or 0 */
	struct mono_value *v;
	struct mono_cut *cut;
	uint32_t nins, ncuts;
	uint32_t time, each;	/* of the last event; 1: it goes on with each of them */
	uint32_t last;		/* event */
	mono_four again;	/* of what was there already when it was added or removed */
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
	m->again |= eye->again[0] | eye->again[1];
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
	/* Of calls, then returns, to add, remove, look: what is written in any case, */
	static const mono_four writes[2][3][2] = {
		{
			{ { ~0u, 0, ~0u, 0 }, { 0, ~0u, 0, 0 } },
			{ { 0, ~0u, 0, 0 }, { 0, ~0u, 0, 0 } },
			{ { 0, 0, 0, 0 }, { 0, ~0u, 0, 0 } },
		}, {
			{ { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
			{ { 0, 0, 0, ~0u }, { 0, 0, 0, 0 } },
			{ { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
		},
	};
	/* only if it was not seen yet, and what is counted. */
	static const mono_four once[2][3] = {
		{ { 0 }, { 0 }, { 0 } },
		{ { ~0u, 0, 0, 0 }, { ~0u, 0, ~0u, 0 }, { ~0u, 0, ~0u, 0 } },
	};
	static const mono_four more[2][3] = { { { 0 }, { 0 }, { 0, 0, 0, 1 } }, { { 0 }, { 0 }, { 0 } } };
	const uint32_t item = event >> 1, ret = event & 1, op = eye->op[item];
	const uint32_t value = op & MONO_VALUE, time = mono_tick(eye, event);
	const enum mono_kind kind = mono_kind(op);
	const mono_four none = { MONO_NONE, MONO_NONE, MONO_NONE, MONO_NONE };
	const mono_four first = { item, item, time, time }, second = { time, time, time, time };
	mono_four *v, a, b, mask, new;

	_Static_assert(MONO_NONE == MONO_UNSEEN, "one comparison does for both");
	_Static_assert(sizeof(struct mono_value) == 2 * sizeof(mono_four), "two vectors");
	if (__builtin_expect(kind > MONO_PEEK, 0)) {
		mono_see_other(eye, item, ret);
		return;
	}
	v = (mono_four *)&eye->v[value];
	a = v[0];
	b = v[1];
	mask = writes[ret][kind][0];
	eye->again |= mask & (mono_four)(a != none);
	v[0] = (a & ~mask) | (first & mask);
	new = once[ret][kind] & (mono_four)(b == none);
	mask = writes[ret][kind][1] | new;
	v[1] = ((b & ~mask) | (second & mask)) + more[ret][kind];
	eye->ins[eye->nins] = mono_in(value, ret);
	eye->nins += ((ret | kind) ? new[0] & 1 : 1) & eye->listed;
}

#endif
