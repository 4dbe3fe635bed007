/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Updating values, event by event.  The kind of the next event cannot be predicted, so there are
 * no branches on it: a table says which fields of a value each kind of event writes.
 */
#ifndef KL_CHECK_LOGLINEAR_VALUE_SCAN_H
#define KL_CHECK_LOGLINEAR_VALUE_SCAN_H

#include <stddef.h>

#include "check/loglinear/loglinear.h"

/* Indices of the fields of struct ll_value. */
enum {
	LL_ADDED,
	LL_REMOVED,
	LL_CALL,
	LL_REMOVE_RET,
	LL_FIRST_RET,
	LL_LAST_CALL,
	LL_FIRST_SEEN_RET,
	LL_PEEKS
};

/* A copy of some fields of struct loglinear, which the compiler keeps in registers. */
struct ll_scan {
	uint32_t *op, *ins;
	uint32_t listed;	/* 1 if @ins is wanted, else 0 */
	struct ll_value *v;
	struct ll_cut *cut;
	uint32_t nins, ncuts;	/* numbers of entries of @ins and @cut so far */
	uint32_t time;		/* time of the last event */
	uint32_t each;		/* 1 if time counts events, 0 if it counts phases */
	uint32_t last;		/* the last event, as in loglinear.ev */
};

static inline struct ll_scan ll_scan_begin(struct loglinear *m)
{
	return (struct ll_scan){
		.op = m->op,
		.v = m->v,
		.cut = m->cut,
		.nins = m->nins,
		.ncuts = m->ncuts,
		.ins = m->ins ? m->ins : &m->unlisted,
		.listed = !!m->ins,
		.time = m->phases,
		.each = !m->phases,
		.last = 1,
	};
}

static inline void ll_scan_end(const struct ll_scan *eye, struct loglinear *m)
{
	m->nins = eye->nins;
	m->ncuts = eye->ncuts;
	m->end = eye->time + 2;
}

/* Process an event of an operation that found the container empty; ignore other kinds. */
static inline void ll_scan_empty(struct ll_scan *eye, uint32_t item, bool ret)
{
	const uint32_t op = eye->op[item];

	if (ll_kind(op) != LL_EMPTY)
		return;
	if (ret) {
		eye->cut[op & LL_VALUE].ret = eye->time;
		return;
	}
	eye->op[item] = ll_op(LL_EMPTY, eye->ncuts);
	eye->cut[eye->ncuts++] = (struct ll_cut){ .item = item, .call = eye->time };
}

/* Return: the time of the next event; a phase ends where a call follows a return. */
static inline uint32_t ll_scan_time(struct ll_scan *eye, uint32_t event)
{
	eye->time += (eye->each | (event & ~eye->last)) & 1;
	eye->last = event;
	return eye->time;
}

/* Update the values by the next event, see loglinear.ev. */
static inline __attribute__((always_inline)) void ll_scan_event(struct ll_scan *eye, uint32_t event)
{
	/*
	 * Rows: the call and the return of an addition, a removal and a peek.  Columns: the field
	 * that gets the item; two fields that get the time; the field that keeps the earliest
	 * return; 1 for a peek's call; 1 for an addition's call.  A row that has no field for
	 * a column names FIRST_RET, which is written last.
	 */
	static const struct {
		uint8_t item, time, last, first, peek, in;
	} __attribute__((aligned(8))) rows[] = {
		{ LL_ADDED, LL_CALL, LL_LAST_CALL, LL_FIRST_RET, 0, 1 },
		{ LL_FIRST_RET, LL_FIRST_RET, LL_FIRST_RET, LL_FIRST_RET, 0, 0 },
		{ LL_REMOVED, LL_LAST_CALL, LL_LAST_CALL, LL_FIRST_RET, 0, 0 },
		{ LL_FIRST_RET, LL_REMOVE_RET, LL_FIRST_RET, LL_FIRST_SEEN_RET, 0, 0 },
		{ LL_FIRST_RET, LL_LAST_CALL, LL_LAST_CALL, LL_FIRST_RET, 1, 0 },
		{ LL_FIRST_RET, LL_FIRST_RET, LL_FIRST_RET, LL_FIRST_SEEN_RET, 0, 0 },
	}, *row;
	const uint32_t item = event >> 1, op = eye->op[item], value = op & LL_VALUE;
	const uint32_t time = ll_scan_time(eye, event);
	const uint32_t returned = time | ((event & 1) - 1);	/* LL_UNSEEN if a call */
	uint32_t *v, first_ret, first;

	_Static_assert(sizeof(struct ll_value) == 4 * (LL_PEEKS + 1) &&
			       offsetof(struct ll_value, remove) == 4 * LL_REMOVED &&
			       offsetof(struct ll_value, call) == 4 * LL_CALL &&
			       offsetof(struct ll_value, remove_ret) == 4 * LL_REMOVE_RET &&
			       offsetof(struct ll_value, first_ret) == 4 * LL_FIRST_RET &&
			       offsetof(struct ll_value, last_call) == 4 * LL_LAST_CALL &&
			       offsetof(struct ll_value, first_seen_ret) == 4 * LL_FIRST_SEEN_RET,
		       "as they are there");
	if (__builtin_expect(ll_kind(op) > LL_PEEK, 0)) {
		ll_scan_empty(eye, item, event & 1);
		return;
	}
	row = &rows[2 * ll_kind(op) + (event & 1)];
	v = (uint32_t *)&eye->v[value];
	first_ret = v[LL_FIRST_RET];
	first = v[row->first];
	v[row->item] = item;
	v[row->time] = time;
	v[row->last] = time;
	v[row->first] = first < returned ? first : returned;
	v[LL_PEEKS] += row->peek;
	v[LL_FIRST_RET] = first_ret < returned ? first_ret : returned;
	eye->ins[eye->nins] = ll_in(value, event & 1);
	if (eye->listed)
		eye->nins += row->in + (first_ret > returned);
}

#endif
