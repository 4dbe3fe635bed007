// SPDX-License-Identifier: GPL-2.0
/*
 * Registers with only reads and writes, each word written at most once (Gibbons & Korach, Testing
 * shared memories, section 4).
 *
 * A value's write and its reads are one block.  Let r be the first return of a block's
 * operations, and c their last call.  A block comes before another if one of its operations
 * returned before one of the other was called: r < c'.  A block with r < c has a zone: from r to c
 * the register has the value.  So there is an order if no two zones overlap, and no block without
 * a zone lies, from c to r, within a zone.
 *
 * The clock is taken to have no error, and no thread to have a call at the time of its return.
 * These times contain the certain order, and maybe more.  So a yes is right.  All other histories
 * are left to the monitor that counts events, see register.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/loglinear/register/zones.h"
#include "check/loglinear/loglinear.h"
#include "check/loglinear/words.h"

#define TOGETHER	128	/* operations whose words are looked up together */
#define NO_BLOCK	UINT32_MAX

struct block {
	uint64_t first_ret, last_call;
	uint32_t nops;
	bool written;		/* one of the operations is a write */
	/* the block has no zone, and goes before the last zone that began */
	bool before;
};

struct blocks {
	const struct kl_slice *s;
	const struct kl_container *c;
	uint8_t *roles;		/* enum kl_role of each method */
	uint64_t *latest;	/* time of each thread's last return + 1 */
	struct ll_words words;
	struct block *block;	/* by the number of the word */
	/* for each operation 2 * number of its word, + 1 for a read; NULL if no order is wanted */
	uint32_t *number;
	uint32_t *place;	/* index in the order of each block's write, and of its next read */
	struct kl_key *key;	/* blocks by first_ret */
	bool first_known;	/* the register begins with c->first */
};

static inline bool is_zone(const struct block *k)
{
	return k->first_ret < k->last_call;
}

static inline const struct kl_op *op_of(const struct blocks *b, uint32_t item)
{
	return &b->s->h->ops[b->s->ops ? b->s->ops[item] : item];
}

/*
 * Add an operation without a word.  Return: 1 if it is a read of an unknown value, and no order has
 * to contain it; else 0.
 */
static int add_unknown(struct blocks *b, uint32_t item, enum kl_role role, struct kl_val v)
{
	if (b->number)
		b->number[item] = NO_BLOCK;
	return role == KL_ROLE_PEEK && v.tag == KL_ANY &&
	       (!b->number || op_of(b, item)->flags & KL_OP_PENDING);
}

/*
 * Add an operation; @first: the first word, if @known.  Return: 1, 0 if the history is not simple
 * enough, -ENOMEM.  *less also becomes 1 if it is not simple enough: whether an operation writes
 * cannot be predicted, so there is no branch for that.
 */
static inline int add(struct blocks *b, uint32_t item, enum kl_role role, struct kl_val v,
		      uint64_t first, bool known, unsigned int *less)
{
	const struct kl_op *op = op_of(b, item);
	const bool writes = role == KL_ROLE_ADD;
	uint64_t *latest = &b->latest[op->thread];
	uint32_t number;
	struct block *k;

	if (op->call < *latest)
		return 0;
	if (op->ret != KL_TIME_MAX)
		*latest = op->ret + 1;
	if (v.tag != KL_WORD)
		return add_unknown(b, item, role, v);
	/* The word may be new. */
	b->block[b->words.n] = (struct block){ .first_ret = KL_TIME_MAX };
	if (ll_words_number(&b->words, v.v, ll_words_hash(v.v), &number))
		return -ENOMEM;
	k = &b->block[number];
	/* A word that was read before its write may also have been there before. */
	*less |= (k->written | (k->first_ret < op->call) | (known & (first == v.v))) & writes;
	k->written |= writes;
	k->first_ret = op->ret < k->first_ret ? op->ret : k->first_ret;
	k->last_call = op->call;
	k->nops++;
	if (b->number)
		b->number[item] = number << 1 | !writes;
	return 1;
}

/*
 * Add @n operations.  Their words are looked up together, so that cache misses overlap.  Return: as
 * add().
 */
static int add_some(struct blocks *b, uint32_t from, uint32_t n)
{
	const struct kl_history *h = b->s->h;
	const struct kl_val first = b->c->first;
	const bool known = b->first_known && first.tag == KL_WORD;
	uint8_t role[TOGETHER];
	struct kl_val v[TOGETHER];
	unsigned int less = 0;
	uint32_t i;
	int ret = 1;

	for (i = 0; i < n; i++) {
		const struct kl_op *op = op_of(b, from + i);
		const struct kl_opsig *s = &h->opsigs[op->sig];

		__builtin_prefetch(op + TOGETHER);
		role[i] = b->roles[s->method];
		if (role[i] != KL_ROLE_ADD && role[i] != KL_ROLE_PEEK)
			return 0;
		/* A write's only value is its argument, a read's is its result. */
		v[i] = h->vals[s->vals];
		ll_words_soon(&b->words, v[i].v, ll_words_hash(v[i].v));
	}
	for (i = 0; i < n && b->words.table; i++)
		__builtin_prefetch(
			&b->block[ll_words_sooner(&b->words, v[i].v, ll_words_hash(v[i].v))], 1);
	for (i = 0; i < n && ret > 0; i++)
		ret = add(b, from + i, role[i], v[i], first.v, known, &less);
	return ret > 0 ? !less : ret;
}

static int add_all(struct blocks *b)
{
	const uint32_t nops = b->s->nops;
	uint32_t i, n;
	int ret = 1;

	for (i = 0; i < nops && ret > 0; i += n) {
		n = nops - i < TOGETHER ? nops - i : TOGETHER;
		ret = add_some(b, i, n);
	}
	return ret;
}

/*
 * Find the block of the first word, which has no write; its zone begins before everything.  Return:
 * false if there is no order.
 */
static bool find_first(struct blocks *b)
{
	struct block *first = NULL;
	uint64_t earliest = KL_TIME_MAX;
	uint32_t i;

	for (i = 0; i < b->words.n; i++) {
		struct block *k = &b->block[i];

		if (k->written) {
			earliest = k->first_ret < earliest ? k->first_ret : earliest;
			continue;
		}
		if (first || (b->first_known && (b->c->first.tag != KL_WORD ||
						 b->c->first.v != b->words.word[i])))
			return false;
		first = k;
		k->first_ret = KL_TIME_MIN;
		k->last_call = k->last_call ? k->last_call : 1;
	}
	return !first || earliest >= first->last_call;
}

static int sort_blocks(struct blocks *b)
{
	const uint32_t n = b->words.n;
	uint32_t i;

	b->key = kl_big_alloc(2 * ((size_t)n + 1) * sizeof(*b->key));
	if (!b->key)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		b->key[i] = (struct kl_key){ .key = b->block[i].first_ret, .val = i };
	kl_sort_keys(b->key, n, b->key + n);
	return 1;
}

/*
 * Walk over the blocks by first_ret.  Only the last zone can overlap or contain the next block.
 * A block without a zone goes after that zone if the zone has ended, else just before it.  Return:
 * false if there is no order.
 */
static bool walk(struct blocks *b)
{
	const struct block *zone = NULL;
	uint32_t i;

	for (i = 0; i < b->words.n; i++) {
		struct block *k = &b->block[b->key[i].val];

		k->before = zone && zone->last_call > k->first_ret;
		if (k->before && zone->first_ret < k->last_call)
			return false;
		if (is_zone(k))
			zone = k;
	}
	return true;
}

/* Place block @k next: its write, then its reads in order of call. */
static inline void place(struct blocks *b, uint32_t k, uint32_t *at)
{
	const struct block *block = &b->block[k];

	b->place[2 * k] = *at;
	b->place[2 * k + 1] = *at + block->written;
	*at += block->nops;
}

/*
 * Place all blocks, zone by zone, each zone after the blocks that go before it.  Return: the number
 * of operations.
 */
static uint32_t place_blocks(struct blocks *b)
{
	const uint32_t n = b->words.n;
	uint32_t i = 0, end, k, at = 0;

	for (; i < n; i = end) {
		for (end = i + 1; end < n; end++)
			if (is_zone(&b->block[b->key[end].val]))
				break;
		for (k = i; k < end; k++)
			if (b->block[b->key[k].val].before)
				place(b, b->key[k].val, &at);
		for (k = i; k < end; k++)
			if (!b->block[b->key[k].val].before)
				place(b, b->key[k].val, &at);
	}
	return at;
}

static int order(struct blocks *b, struct kl_answer *a)
{
	uint32_t i;

	a->steps = kl_big_alloc(((size_t)b->s->nops + 1) * sizeof(*a->steps));
	b->place = kl_big_alloc(2 * ((size_t)b->words.n + 1) * sizeof(*b->place));
	if (!a->steps || !b->place)
		return -ENOMEM;
	a->nsteps = place_blocks(b);
	for (i = 0; i < b->s->nops; i++)
		if (b->number[i] != NO_BLOCK)
			a->steps[b->place[b->number[i]]++] = (struct kl_step){ .item = i };
	return 1;
}

static int allocate(struct blocks *b, bool ordered)
{
	const struct kl_slice *s = b->s;
	const size_t n = (size_t)s->nops + 1;

	b->latest = calloc(s->h->nthreads + 1, sizeof(*b->latest));
	b->roles = ll_roles(s);
	b->block = kl_big_alloc(n * sizeof(*b->block));
	b->number = ordered ? kl_big_alloc(n * sizeof(*b->number)) : NULL;
	if (!b->latest || !b->roles || !b->block || (ordered && !b->number))
		return -ENOMEM;
	return ll_words_init(&b->words, s->h, s->nops) ?: 1;
}

int ll_zones(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	     struct kl_answer *a)
{
	struct blocks b = { .s = s, .c = c, .first_known = c->init && s->h->fresh };
	int ret = allocate(&b, !lim->no_witness);

	if (ret > 0)
		ret = add_all(&b);
	ll_words_close(&b.words);
	if (ret > 0)
		ret = find_first(&b) ? sort_blocks(&b) : 0;
	if (ret > 0)
		ret = walk(&b);
	if (ret > 0 && b.number)
		ret = order(&b, a);
	if (ret > 0)
		a->verdict = KL_LINEARIZABLE;
	ll_words_free(&b.words);
	free(b.latest);
	free(b.roles);
	free(b.block);
	free(b.number);
	free(b.place);
	free(b.key);
	return ret < 0 ? ret : 0;
}
