// SPDX-License-Identifier: GPL-2.0
/*
 * Registers: chains change places, see rmw.c.  An operation saw a word absent, but in the order of
 * the chains the word is there all the time.  So another chain must follow that word's chain early
 * enough, or that word's chain must come later.
 *
 * A chain may move over others if it may change places with each of them.  Two chains may do so if
 * the last call of the one that then comes first is at most the first return of the other.
 */
#include <string.h>

#include "check/loglinear/register/rmw.h"

#define FAR	256	/* chains that are tried on either side */
#define LOOKS	64	/* entries of rmw.wish between two looks at the clock */

/* Move chain @from to index @to; chains between them move by one. */
static void put(struct rmw *m, uint32_t from, uint32_t to)
{
	const struct rmw_chain c = m->chain[from];

	if (from > to)
		memmove(&m->chain[to + 1], &m->chain[to], (from - to) * sizeof(c));
	else
		memmove(&m->chain[from], &m->chain[from + 1], (to - from) * sizeof(c));
	m->chain[to] = c;
}

/* Return: true if the first word of the chain @c was made by an operation called by @time. */
static bool begins_by(const struct rmw *m, uint32_t c, uint64_t time)
{
	const uint32_t maker = m->v[m->chain[c].head].maker;

	return maker != LL_NONE && m->op[maker].call <= time;
}

/* Move a later chain to the place after @c, if it can begin before @op returns. */
static bool later_one(struct rmw *m, uint32_t c, const struct rmw_op *op)
{
	uint64_t first_ret = FOREVER;
	uint32_t d;

	for (d = c + 1; d < m->nchains && d - c < FAR; d++) {
		if (d > c + 1 && m->chain[d].last_call <= first_ret && begins_by(m, d, op->ret)) {
			put(m, d, c + 1);
			return true;
		}
		if (m->chain[d].first_ret < first_ret)
			first_ret = m->chain[d].first_ret;
	}
	return false;
}

/* Move an earlier chain to the place after @c, if it can begin before @op returns. */
static bool earlier_one(struct rmw *m, uint32_t c, const struct rmw_op *op)
{
	uint64_t last_call = m->chain[c].last_call;
	uint32_t d;

	for (d = c; d-- > 0 && c - d < FAR; ) {
		if (m->chain[d].first_ret >= last_call && begins_by(m, d, op->ret)) {
			put(m, d, c);
			return true;
		}
		if (m->chain[d].last_call > last_call)
			last_call = m->chain[d].last_call;
	}
	return false;
}

/* Move @c behind a later chain that has an operation which returned before @op was called. */
static bool itself(struct rmw *m, uint32_t c, const struct rmw_op *op)
{
	const uint64_t first_ret = m->chain[c].first_ret;
	uint32_t d, last = c;

	if (first_ret < op->call)
		return false;
	for (d = c + 1; d < m->nchains && d - c < FAR && m->chain[d].last_call <= first_ret; d++)
		if (m->chain[d].first_ret < op->call)
			last = d;
	if (last == c)
		return false;
	put(m, c, last);
	return true;
}

/* Return: the index of the chain with the head @head, which was @c before others moved. */
static uint32_t find_again(const struct rmw *m, uint32_t head, uint32_t c)
{
	uint32_t d;

	for (d = 0; d <= m->nwishes; d++) {
		if (c + d < m->nchains && m->chain[c + d].head == head)
			return c + d;
		if (d <= c && m->chain[c - d].head == head)
			return c - d;
	}
	return LL_NONE;
}

bool rmw_make_way(struct rmw *m)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < m->nwishes; i++) {
		const struct rmw_op *op = &m->op[m->wish[i].item];
		uint32_t c;

		if (!(i % LOOKS) && kl_time_over(m->lim, m->why, sizeof(m->why)))
			return false;
		c = find_again(m, m->wish[i].head, m->wish[i].chain);
		if (c == LL_NONE)
			continue;
		any |= later_one(m, c, op) || earlier_one(m, c, op) || itself(m, c, op);
	}
	return any;
}
