// SPDX-License-Identifier: GPL-2.0
/* The order of a register's chains, and of all operations, see rmw.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/loglinear/register/rmw.h"

#define ROUNDS	32	/* rounds in which chains change places */

/*
 * Follow a chain from its head, find its first_ret and last_call, and add the number of its values
 * to *count.  Return: false, with m->why, if the chain's order contradicts times.
 */
static bool follow(struct rmw *m, struct rmw_chain *c, uint32_t *count)
{
	uint32_t value, last = c->head, from = c->head, op;
	uint64_t latest = 0;

	for (value = c->head; ; value = m->op[op].after) {
		const struct rmw_value *v = &m->v[value];

		++*count;
		if (v->maker != LL_NONE) {
			const struct rmw_op *maker = &m->op[v->maker];

			c->first_ret = maker->ret < c->first_ret ? maker->ret : c->first_ret;
			last = value;
			if (maker->ret < latest)
				break;
			if (maker->call > latest) {
				latest = maker->call;
				from = value;
			}
		}
		if (v->first_ret < latest)
			break;
		if (v->last_call > latest) {
			latest = v->last_call;
			from = value;
		}
		c->first_ret = v->first_ret < c->first_ret ? v->first_ret : c->first_ret;
		op = v->taker;
		if (op == LL_NONE) {
			c->last_call = latest;
			return true;
		}
		last = m->op[op].after;
	}
	m->bad[0] = c->head;
	if (from == last)
		snprintf(m->why, sizeof(m->why), "%" PRIu64 " was read before it was written",
			 rmw_word(m, last));
	else
		snprintf(m->why, sizeof(m->why),
			 "%" PRIu64 " was in the register before %" PRIu64
			 ", which it was made from, was written or replaced",
			 rmw_word(m, last), rmw_word(m, from));
	return false;
}

static int find_chains(struct rmw *m)
{
	uint32_t i, count = 0, nvalues = 0, without = LL_NONE;

	for (i = 0; i < m->words.n; i++) {
		const struct rmw_value *v = &m->v[i];
		struct rmw_chain *c = &m->chain[m->nchains];

		if (!rmw_used(v))
			continue;
		nvalues++;
		if (v->maker != LL_NONE && m->op[v->maker].before != LL_NONE)
			continue;
		*c = (struct rmw_chain){ .head = i, .first_ret = FOREVER };
		if (v->maker == LL_NONE) {
			c->first_ret = 0;
			if (m->first != LL_NONE && m->first != i) {
				snprintf(m->why, sizeof(m->why),
					 "%" PRIu64 " was read, but never written",
					 rmw_word(m, i));
				m->bad[0] = i;
				return 0;
			}
			if (without != LL_NONE) {
				snprintf(m->why, sizeof(m->why),
					 "neither %" PRIu64 " nor %" PRIu64 " was ever written",
					 rmw_word(m, without), rmw_word(m, i));
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
	snprintf(m->why, sizeof(m->why), "words were made from each other in a circle");
	return 0;
}

static const char *and_others(const struct rmw *m, const struct rmw_chain *c)
{
	return m->v[c->head].taker == LL_NONE ? "" : " or a word that was made from it";
}

int rmw_chains(struct rmw *m)
{
	struct kl_key *k;
	struct rmw_chain *sorted;
	uint64_t latest = 0;
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
		k[i] = (struct kl_key){
			.key = m->chain[i].first_ret + m->chain[i].last_call, .val = i,
		};
	kl_sort_keys(k, m->nchains, k + m->nchains);
	for (i = 0; i < m->nchains; i++)
		sorted[i] = m->chain[k[i].val];
	free(k);
	free(m->chain);
	m->chain = sorted;
	for (i = 0; i < m->nchains; i++) {
		if (sorted[i].first_ret < latest) {
			snprintf(m->why, sizeof(m->why),
				 "%" PRIu64 "%s was in the register while %" PRIu64 "%s was",
				 rmw_word(m, sorted[i].head), and_others(m, &sorted[i]),
				 rmw_word(m, sorted[at].head), and_others(m, &sorted[at]));
			m->bad[0] = sorted[i].head;
			m->bad[1] = sorted[at].head;
			return 0;
		}
		if (sorted[i].last_call > latest) {
			latest = sorted[i].last_call;
			at = i;
		}
	}
	return 1;
}

/* Make m->block: the values' periods in the register, in the order of chains. */
static int list_blocks(struct rmw *m)
{
	uint32_t i, value, op;

	m->block = malloc(((size_t)m->words.n + 1) * sizeof(*m->block));
	if (!m->block)
		return -ENOMEM;
	/* No operation saw the first word: its period has no chain. */
	if (!m->nchains || m->v[m->chain[0].head].maker != LL_NONE)
		m->block[m->nblocks++] = m->first;
	for (i = 0; i < m->nchains; i++) {
		for (value = m->chain[i].head; ; value = m->op[op].after) {
			m->v[value].block = m->nblocks;
			m->v[value].chain = i;
			m->block[m->nblocks++] = value;
			op = m->v[value].taker;
			if (op == LL_NONE)
				break;
		}
	}
	return 0;
}

/*
 * Places of operations that saw a word absent, or saw no word.  An operation x is placed in a block
 * between two bounds.  No earlier than: each block with an operation that returned before x was
 * called, and the place of each such operation.  No later than: each block with an operation that
 * was called after x returned.  The first block that fits is taken, which leaves most to later
 * operations.
 */
struct places {
	uint64_t *first;	/* by block: first return of operations in it or after it */
	uint64_t *last;		/* by block: last call of operations before it, and of its maker */
	uint32_t *at;		/* the block of each item */
};

static void find_bounds(const struct rmw *m, struct places *p)
{
	uint64_t last = 0, first = FOREVER;
	uint32_t i;

	for (i = 0; i < m->nblocks; i++) {
		const struct rmw_value *v = m->block[i] == LL_NONE ? NULL : &m->v[m->block[i]];

		if (v && v->maker != LL_NONE && m->op[v->maker].call > last)
			last = m->op[v->maker].call;
		p->last[i] = last;
		if (v && v->last_call > last)
			last = v->last_call;
	}
	for (i = m->nblocks; i--; ) {
		const struct rmw_value *v = m->block[i] == LL_NONE ? NULL : &m->v[m->block[i]];

		if (v && v->first_ret < first)
			first = v->first_ret;
		if (v && v->maker != LL_NONE && m->op[v->maker].ret < first)
			first = m->op[v->maker].ret;
		p->first[i] = first;
	}
}

/* Return: the last block that has, in it or after it, an operation that returned before @call. */
static uint32_t not_before(const struct rmw *m, const struct places *p, uint64_t call)
{
	uint32_t lo = 0, hi = m->nblocks;

	/* p->first never falls.  It is less than @call at all indices below @lo. */
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
 * Return: true if the word that @op saw absent is certainly in the register from the call of @op to
 * its return.
 */
static bool is_forced(const struct rmw *m, const struct rmw_op *op)
{
	const struct rmw_value *v = &m->v[op->before];
	bool begun = v->first_ret < op->call, over = v->last_call > op->ret;
	uint32_t at = op->before, next = v->taker;

	if (next != LL_NONE)
		over |= m->op[next].call > op->ret;
	for (; !begun && next != LL_NONE; next = m->v[at].taker) {
		at = m->op[next].after;
		begun = m->op[next].ret < op->call || m->v[at].first_ret < op->call;
	}
	/* The first word was there from the start. */
	for (at = op->before; (!begun || !over) && m->v[at].maker != LL_NONE;) {
		next = m->v[at].maker;
		begun |= at == op->before && m->op[next].ret < op->call;
		over |= m->op[next].call > op->ret;
		at = m->op[next].before;
		if (at == LL_NONE)
			return begun && over;
		over |= m->v[at].last_call > op->ret;
	}
	at = op->before;
	return (begun || m->v[at].maker == LL_NONE) && over;
}

/*
 * Place the operations that saw no word, or a word absent.  Return: 1, 0 if some have no place in
 * this order of chains and are in m->wish, -ENOMEM.
 */
static int place_rest(struct rmw *m, struct places *p)
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
		const struct rmw_op *op = &m->op[i];

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
		if (op->kind != KL_WORD_SEES_NOT || m->v[op->before].block == LL_NONE ||
		    m->nwishes == RMW_WISHES)
			continue;
		c = m->v[op->before].chain;
		m->wish[m->nwishes++] = (struct rmw_wish){
			.item = i,
			.head = m->chain[c].head,
			.chain = c,
		};
		if (!is_forced(m, op))
			continue;
		m->forced = true;
		snprintf(m->why, sizeof(m->why), "%" PRIu64
			 " was not found while it was in the register",
			 rmw_word(m, op->before));
		break;
	}
	free(k);
	return ret;
}

/* Make m->order, by block; in a block the maker is first, the others go by call.  1, or -ENOMEM. */
static int put_all(struct rmw *m, struct places *p)
{
	const uint32_t n = m->s->nops;
	uint32_t *next = calloc((size_t)m->nblocks + 2, sizeof(*next)), i;

	m->order = kl_big_alloc(((size_t)n + 1) * sizeof(*m->order));
	if (!next || !m->order) {
		free(next);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		const struct rmw_op *op = &m->op[i];

		if (op->kind == KL_WORD_NEVER)
			p->at[i] = LL_NONE;
		else if (op->kind == KL_WORD_SEES)
			p->at[i] = m->v[op->before].block;
		else if (op->kind == KL_WORD_WRITES || op->kind == KL_WORD_MOVES)
			p->at[i] = m->v[op->after].block;
		if (p->at[i] == LL_NONE)
			continue;
		next[p->at[i] + 1]++;
		m->norder++;
	}
	for (i = 0; i < m->nblocks; i++) {
		const uint32_t maker = m->block[i] == LL_NONE ? LL_NONE : m->v[m->block[i]].maker;

		next[i + 1] += next[i];
		if (maker != LL_NONE) {
			m->order[next[i]++] = (struct kl_step){ .item = maker };
			p->at[maker] = LL_NONE;
		}
	}
	for (i = 0; i < n; i++)
		if (p->at[i] != LL_NONE)
			m->order[next[p->at[i]]++] = (struct kl_step){ .item = i };
	free(next);
	return 1;
}

/* Forget the blocks, and the operations that found no place. */
static void begin_again(struct rmw *m)
{
	uint32_t i;

	for (i = 0; i < m->nblocks; i++)
		if (m->block[i] != LL_NONE)
			m->v[m->block[i]].block = LL_NONE;
	free(m->block);
	m->block = NULL;
	m->nblocks = m->nwishes = 0;
}

static int try_order(struct rmw *m, struct places *p)
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

int rmw_order(struct rmw *m)
{
	struct places p = { .at = kl_big_alloc(((size_t)m->s->nops + 1) * sizeof(*p.at)) };
	unsigned int rounds = 0;
	int ret = -ENOMEM;

	m->wish = malloc(RMW_WISHES * sizeof(*m->wish));
	if (p.at && m->wish)
		ret = try_order(m, &p);
	while (!ret && !m->forced && rounds++ < ROUNDS && rmw_make_way(m)) {
		begin_again(m);
		ret = try_order(m, &p);
	}
	if (!ret && !m->forced && !kl_time_over(m->lim, m->why, sizeof(m->why)))
		snprintf(m->why, sizeof(m->why),
			 "found no order that explains the failed comparisons");
	if (ret > 0)
		ret = put_all(m, &p);
	free(p.at);
	return ret;
}
