// SPDX-License-Identifier: GPL-2.0
/* The order of a register's chains, and of all operations, see rmw.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/loglinear/register/rmw.h"

#define ROUNDS	32	/* in which chains change places */

/* Follow a chain: is its order all right?  Adds to its zone. */
static bool follow(struct moves *m, struct moves_chain *c, uint32_t *count)
{
	uint32_t value, last = c->head, from = c->head, op;
	uint64_t latest = 0;

	for (value = c->head; ; value = m->op[op].after) {
		const struct moves_value *v = &m->v[value];

		++*count;
		if (v->maker != MONO_NONE) {
			const struct moves_op *maker = &m->op[v->maker];

			c->lo = maker->ret < c->lo ? maker->ret : c->lo;
			last = value;
			if (maker->ret < latest)
				break;
			if (maker->call > latest) {
				latest = maker->call;
				from = value;
			}
		}
		if (v->lo < latest)
			break;
		if (v->hi > latest) {
			latest = v->hi;
			from = value;
		}
		c->lo = v->lo < c->lo ? v->lo : c->lo;
		op = v->taker;
		if (op == MONO_NONE) {
			c->hi = latest;
			return true;
		}
		last = m->op[op].after;
	}
	m->bad[0] = c->head;
	if (from == last)
		snprintf(m->why, sizeof(m->why), "%" PRIu64 " was seen before it was there",
			 moves_word(m, last));
	else
		snprintf(m->why, sizeof(m->why), "%" PRIu64 " was there before %" PRIu64
			 ", which it was made of, was there or gone", moves_word(m, last),
			 moves_word(m, from));
	return false;
}

static int find_chains(struct moves *m)
{
	uint32_t i, count = 0, nvalues = 0, without = MONO_NONE;

	for (i = 0; i < m->words.n; i++) {
		const struct moves_value *v = &m->v[i];
		struct moves_chain *c = &m->chain[m->nchains];

		if (!moves_used(v))
			continue;
		nvalues++;
		if (v->maker != MONO_NONE && m->op[v->maker].before != MONO_NONE)
			continue;
		*c = (struct moves_chain){ .head = i, .lo = FOREVER };
		if (v->maker == MONO_NONE) {
			c->lo = 0;
			if (m->first != MONO_NONE && m->first != i) {
				snprintf(m->why, sizeof(m->why), "%" PRIu64 " was seen and never "
					 "written", moves_word(m, i));
				m->bad[0] = i;
				return 0;
			}
			if (without != MONO_NONE) {
				snprintf(m->why, sizeof(m->why), "neither %" PRIu64 " nor %" PRIu64
					 " was ever written", moves_word(m, without),
					 moves_word(m, i));
				m->bad[0] = without;
				m->bad[1] = i;
				return 0;
			}
			without = i;
		}
		if (!follow(m, c, &count))
			return 0;
		m->nchains++;
	}
	if (count == nvalues)
		return 1;
	snprintf(m->why, sizeof(m->why), "words that were made of each other in a circle");
	return 0;
}

static const char *and_others(const struct moves *m, const struct moves_chain *c)
{
	return m->v[c->head].taker == MONO_NONE ? "" : " or what was made of it";
}

int moves_chains(struct moves *m)
{
	struct kl_key *k;
	struct moves_chain *sorted;
	uint64_t hi = 0;
	uint32_t i, at = 0;
	int ret = find_chains(m);

	if (ret <= 0)
		return ret;
	k = kl_big_alloc(2 * ((size_t)m->nchains + 1) * sizeof(*k));
	sorted = kl_big_alloc(((size_t)m->nchains + 1) * sizeof(*sorted));
	if (!k || !sorted) {
		free(k);
		free(sorted);
		return -ENOMEM;
	}
	for (i = 0; i < m->nchains; i++)
		k[i] = (struct kl_key){ .key = m->chain[i].lo + m->chain[i].hi, .val = i };
	kl_sort_keys(k, m->nchains, k + m->nchains);
	for (i = 0; i < m->nchains; i++)
		sorted[i] = m->chain[k[i].val];
	free(k);
	free(m->chain);
	m->chain = sorted;
	for (i = 0; i < m->nchains; i++) {
		if (sorted[i].lo < hi) {
			snprintf(m->why, sizeof(m->why), "%" PRIu64 "%s was in the register while %"
				 PRIu64 "%s was", moves_word(m, sorted[i].head),
				 and_others(m, &sorted[i]), moves_word(m, sorted[at].head),
				 and_others(m, &sorted[at]));
			m->bad[0] = sorted[i].head;
			m->bad[1] = sorted[at].head;
			return 0;
		}
		if (sorted[i].hi > hi) {
			hi = sorted[i].hi;
			at = i;
		}
	}
	return 1;
}

/* Number the blocks, the times of the values, in their order. */
static int list_blocks(struct moves *m)
{
	uint32_t i, value, op;

	m->block = malloc(((size_t)m->words.n + 1) * sizeof(*m->block));
	if (!m->block)
		return -ENOMEM;
	/* Before all was what nobody saw. */
	if (!m->nchains || m->v[m->chain[0].head].maker != MONO_NONE)
		m->block[m->nblocks++] = m->first;
	for (i = 0; i < m->nchains; i++) {
		for (value = m->chain[i].head; ; value = m->op[op].after) {
			m->v[value].block = m->nblocks;
			m->v[value].chain = i;
			m->block[m->nblocks++] = value;
			op = m->v[value].taker;
			if (op == MONO_NONE)
				break;
		}
	}
	return 0;
}

/*
 * What sees that a word is not there, or sees nothing at all, has its place in a block.
 * Not before one of which an operation had returned when it was called, nor before what
 * had returned by then and has such a place; nor behind one of which an operation was called
 * when it had returned.  Both are so of a run of blocks, of which the first one that may be
 * is taken; then those that come after it have the most.
 */
struct places {
	uint64_t *first;	/* return of what is in a block or behind it */
	uint64_t *last;		/* call of what is before it, or makes it */
	uint32_t *at;		/* block of each item */
};

static void find_bounds(const struct moves *m, struct places *p)
{
	uint64_t last = 0, first = FOREVER;
	uint32_t i;

	for (i = 0; i < m->nblocks; i++) {
		const struct moves_value *v = m->block[i] == MONO_NONE ? NULL : &m->v[m->block[i]];

		if (v && v->maker != MONO_NONE && m->op[v->maker].call > last)
			last = m->op[v->maker].call;
		p->last[i] = last;
		if (v && v->hi > last)
			last = v->hi;
	}
	for (i = m->nblocks; i--; ) {
		const struct moves_value *v = m->block[i] == MONO_NONE ? NULL : &m->v[m->block[i]];

		if (v && v->lo < first)
			first = v->lo;
		if (v && v->maker != MONO_NONE && m->op[v->maker].ret < first)
			first = m->op[v->maker].ret;
		p->first[i] = first;
	}
}

/* The last block of which, or behind which, something had returned before @call. */
static uint32_t not_before(const struct moves *m, const struct places *p, uint64_t call)
{
	uint32_t lo = 0, hi = m->nblocks;

	/* p->first grows: below @lo it is less. */
	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (p->first[mid] < call)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : 0;
}

/*
 * Is the word there, for what is known of its chain, all the time that an operation takes
 * which did not find it?
 */
static bool is_forced(const struct moves *m, const struct moves_op *op)
{
	const struct moves_value *v = &m->v[op->before];
	bool begun = v->lo < op->call, over = v->hi > op->ret;
	uint32_t at = op->before, next = v->taker;

	if (next != MONO_NONE)
		over |= m->op[next].call > op->ret;
	for (; !begun && next != MONO_NONE; next = m->v[at].taker) {
		at = m->op[next].after;
		begun = m->op[next].ret < op->call || m->v[at].lo < op->call;
	}
	/* What was there first was so from the start. */
	for (at = op->before; (!begun || !over) && m->v[at].maker != MONO_NONE; ) {
		next = m->v[at].maker;
		begun |= at == op->before && m->op[next].ret < op->call;
		over |= m->op[next].call > op->ret;
		at = m->op[next].before;
		if (at == MONO_NONE)
			return begun && over;
		over |= m->v[at].hi > op->ret;
	}
	at = op->before;
	return (begun || m->v[at].maker == MONO_NONE) && over;
}

/*
 * Give those that see nothing their places.  1; 0: some, in m->wish, find none where the
 * chains are now; -ENOMEM.
 */
static int place_rest(struct moves *m, struct places *p)
{
	const uint32_t n = m->s->nops;
	struct kl_key *k;
	uint32_t i, count = 0, over = 0, least = 0, at, c;
	int ret = 1;

	for (i = 0; i < n; i++)
		count += m->op[i].kind == KL_WORD_SEES_NOT || m->op[i].kind == KL_WORD_NOTHING;
	if (!count)
		return 1;
	k = kl_big_alloc(2 * ((size_t)count + 1) * sizeof(*k));
	if (!k)
		return -ENOMEM;
	find_bounds(m, p);
	for (i = count = 0; i < n; i++)
		if (m->op[i].kind == KL_WORD_SEES_NOT || m->op[i].kind == KL_WORD_NOTHING)
			k[count++] = (struct kl_key){ .key = m->op[i].ret, .val = i };
	kl_sort_keys(k, count, k + count);
	for (i = 0; i < n; i++) {
		const struct moves_op *op = &m->op[i];

		if (op->kind != KL_WORD_SEES_NOT && op->kind != KL_WORD_NOTHING)
			continue;
		for (; over < count && k[over].key < op->call; over++)
			least = p->at[k[over].val] > least ? p->at[k[over].val] : least;
		at = not_before(m, p, op->call);
		at = at > least ? at : least;
		if (op->kind == KL_WORD_SEES_NOT && m->block[at] == op->before)
			at++;
		p->at[i] = at;
		if (at < m->nblocks && p->last[at] <= op->ret)
			continue;
		ret = 0;
		p->at[i] = least;
		if (op->kind != KL_WORD_SEES_NOT || m->v[op->before].block == MONO_NONE ||
		    m->nwishes == MOVES_WISHES)
			continue;
		c = m->v[op->before].chain;
		m->wish[m->nwishes++] = (struct moves_wish){
			.item = i, .head = m->chain[c].head, .chain = c,
		};
		if (!is_forced(m, op))
			continue;
		m->forced = true;
		snprintf(m->why, sizeof(m->why), "%" PRIu64 " was not found while it was there",
			 moves_word(m, op->before));
		break;
	}
	free(k);
	return ret;
}

/* All operations by block, the one that makes it first, the others as they were called. */
static int put_all(struct moves *m, struct places *p)
{
	const uint32_t n = m->s->nops;
	uint32_t *next = calloc((size_t)m->nblocks + 2, sizeof(*next)), i;

	m->order = kl_big_alloc(((size_t)n + 1) * sizeof(*m->order));
	if (!next || !m->order) {
		free(next);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		const struct moves_op *op = &m->op[i];

		if (op->kind == KL_WORD_NEVER)
			p->at[i] = MONO_NONE;
		else if (op->kind == KL_WORD_SEES)
			p->at[i] = m->v[op->before].block;
		else if (op->kind == KL_WORD_WRITES || op->kind == KL_WORD_MOVES)
			p->at[i] = m->v[op->after].block;
		if (p->at[i] == MONO_NONE)
			continue;
		next[p->at[i] + 1]++;
		m->norder++;
	}
	for (i = 0; i < m->nblocks; i++) {
		const uint32_t maker = m->block[i] == MONO_NONE ? MONO_NONE :
				       m->v[m->block[i]].maker;

		next[i + 1] += next[i];
		if (maker != MONO_NONE) {
			m->order[next[i]++] = (struct kl_step){ .item = maker };
			p->at[maker] = MONO_NONE;
		}
	}
	for (i = 0; i < n; i++)
		if (p->at[i] != MONO_NONE)
			m->order[next[p->at[i]]++] = (struct kl_step){ .item = i };
	free(next);
	return 1;
}

/* Forget the blocks, and what did not find a place in them. */
static void begin_again(struct moves *m)
{
	uint32_t i;

	for (i = 0; i < m->nblocks; i++)
		if (m->block[i] != MONO_NONE)
			m->v[m->block[i]].block = MONO_NONE;
	free(m->block);
	m->block = NULL;
	m->nblocks = m->nwishes = 0;
}

static int try_order(struct moves *m, struct places *p)
{
	int ret = list_blocks(m);

	if (ret)
		return ret;
	p->first = kl_big_alloc(((size_t)m->nblocks + 1) * sizeof(*p->first));
	p->last = kl_big_alloc(((size_t)m->nblocks + 1) * sizeof(*p->last));
	ret = p->first && p->last ? place_rest(m, p) : -ENOMEM;
	free(p->first);
	free(p->last);
	return ret;
}

int moves_order(struct moves *m)
{
	struct places p = { .at = kl_big_alloc(((size_t)m->s->nops + 1) * sizeof(*p.at)) };
	unsigned int rounds = 0;
	int ret = -ENOMEM;

	m->wish = malloc(MOVES_WISHES * sizeof(*m->wish));
	if (p.at && m->wish)
		ret = try_order(m, &p);
	while (!ret && !m->forced && rounds++ < ROUNDS && moves_make_way(m)) {
		begin_again(m);
		ret = try_order(m, &p);
	}
	if (!ret && !m->forced && !kl_time_over(m->lim, m->why, sizeof(m->why)))
		snprintf(m->why, sizeof(m->why),
			 "no order found in which words were not there when they were not found");
	if (ret > 0)
		ret = put_all(m, &p);
	free(p.at);
	return ret;
}
