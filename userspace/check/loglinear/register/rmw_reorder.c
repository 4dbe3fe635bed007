// SPDX-License-Identifier: GPL-2.0
/*
 * Registers: chains change places, see rmw.c.  An operation found that a word was not
 * there; in the order of the chains it was all the while.  So another chain has to come
 * behind it, early enough, or it has to come later itself.
 *
 * A chain may be put anywhere if it may stand behind each that is before it then and was
 * not: hi of the one that comes first is not more than lo of the other.
 */
#include <string.h>

#include "check/loglinear/register/rmw.h"

#define FAR	256	/* chains that are looked at to either side */
#define LOOKS	64	/* wishes from one look at the clock to the next */

/* Put chain @from at place @to, those between move by one. */
static void put(struct moves *m, uint32_t from, uint32_t to)
{
	const struct moves_chain c = m->chain[from];

	if (from > to)
		memmove(&m->chain[to + 1], &m->chain[to], (from - to) * sizeof(c));
	else
		memmove(&m->chain[from], &m->chain[from + 1], (to - from) * sizeof(c));
	m->chain[to] = c;
}

/* The word that a chain begins with is there by @time. */
static bool begins_by(const struct moves *m, uint32_t c, uint64_t time)
{
	const uint32_t maker = m->v[m->chain[c].head].maker;

	return maker != MONO_NONE && m->op[maker].call <= time;
}

/* A later chain comes next after @c, before @op has returned. */
static bool later_one(struct moves *m, uint32_t c, const struct moves_op *op)
{
	uint64_t lo = FOREVER;
	uint32_t d;

	for (d = c + 1; d < m->nchains && d - c < FAR; d++) {
		if (d > c + 1 && m->chain[d].hi <= lo && begins_by(m, d, op->ret)) {
			put(m, d, c + 1);
			return true;
		}
		lo = m->chain[d].lo < lo ? m->chain[d].lo : lo;
	}
	return false;
}

/* So does an earlier one. */
static bool earlier_one(struct moves *m, uint32_t c, const struct moves_op *op)
{
	uint64_t hi = m->chain[c].hi;
	uint32_t d;

	for (d = c; d-- > 0 && c - d < FAR; ) {
		if (m->chain[d].lo >= hi && begins_by(m, d, op->ret)) {
			put(m, d, c);
			return true;
		}
		hi = m->chain[d].hi > hi ? m->chain[d].hi : hi;
	}
	return false;
}

/* @c comes behind a later one of which something had returned when @op was called. */
static bool itself(struct moves *m, uint32_t c, const struct moves_op *op)
{
	uint32_t d, last = c;

	if (m->chain[c].lo < op->call)
		return false;
	for (d = c + 1; d < m->nchains && d - c < FAR && m->chain[d].hi <= m->chain[c].lo; d++)
		if (m->chain[d].lo < op->call)
			last = d;
	if (last == c)
		return false;
	put(m, c, last);
	return true;
}

/* Where is the chain of a word?  It was at @c before others moved. */
static uint32_t find_again(const struct moves *m, uint32_t head, uint32_t c)
{
	uint32_t d;

	for (d = 0; d <= m->nwishes; d++) {
		if (c + d < m->nchains && m->chain[c + d].head == head)
			return c + d;
		if (d <= c && m->chain[c - d].head == head)
			return c - d;
	}
	return MONO_NONE;
}

bool moves_make_way(struct moves *m)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < m->nwishes; i++) {
		const struct moves_op *op = &m->op[m->wish[i].item];
		uint32_t c;

		if (!(i % LOOKS) && kl_time_over(m->lim, m->why, sizeof(m->why)))
			return false;
		c = find_again(m, m->wish[i].head, m->wish[i].chain);
		if (c == MONO_NONE)
			continue;
		any |= later_one(m, c, op) || earlier_one(m, c, op) || itself(m, c, op);
	}
	return any;
}
