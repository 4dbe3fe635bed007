// SPDX-License-Identifier: GPL-2.0
/*
 * Registers that are only written and read, each word written once at most: is there an
 * order for certain?  (Gibbons & Korach, Testing shared memories, section 4.)
 *
 * A value's write and its reads go together, in one block; one block comes before another
 * if an operation of it returned before one of the other was called.  With `lo' the first
 * return of a block and `hi' its last call that is lo < hi of the other.  A block with
 * lo < hi is a zone: the register has the value all that time.  So there is an order if
 * no two zones overlap, and no block without one lies, from hi to lo, within a zone.
 *
 * The clock is taken to have no error, and no thread to be called when it returns: that
 * orders all that is certain, and maybe more.  So a yes is a yes; all else, also what is
 * not as simple as that, is for the monitor that counts events, see register.c.
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
	uint64_t lo, hi;
	uint32_t nops;
	bool written;
	bool before;		/* it has no zone, and goes before the last one that began */
};

struct blocks {
	const struct kl_slice *s;
	const struct kl_container *c;
	uint8_t *roles;		/* of the history's methods */
	uint64_t *latest;	/* of each thread, its last return + 1 */
	struct mono_words words;
	struct block *block;	/* by the number of its word */
	uint32_t *number;	/* of each operation twice that, + 1 if it reads; NULL: no order wanted */
	uint32_t *place;	/* in that, of the write of each block, and of its next read */
	struct kl_key *key;	/* blocks by lo */
	bool first_known;	/* what was there first is c->first */
};

static inline bool is_zone(const struct block *k)
{
	return k->lo < k->hi;
}

static inline const struct kl_op *op_of(const struct blocks *b, uint32_t item)
{
	return &b->s->h->ops[b->s->ops ? b->s->ops[item] : item];
}

/* What a read saw that is not known is no matter; but if it returned it is part of an order. */
static int add_unknown(struct blocks *b, uint32_t item, enum kl_role role, struct kl_val v)
{
	if (b->number)
		b->number[item] = NO_BLOCK;
	return role == KL_ROLE_PEEK && v.tag == KL_ANY &&
	       (!b->number || op_of(b, item)->flags & KL_OP_PENDING);
}

/*
 * 1, 0: it is not as simple as that, -ENOMEM.  *@less: nor is it if there is a bit; whether
 * it writes is chance, so that is no branch.  @first: the word that was there first, if @known.
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
	/* In case it is new. */
	b->block[b->words.n] = (struct block){ .lo = KL_TIME_MAX };
	if (mono_words_number(&b->words, v.v, mono_words_hash(v.v), &number))
		return -ENOMEM;
	k = &b->block[number];
	/* What was read before it was written may have been there before, too. */
	*less |= (k->written | (k->lo < op->call) | (known & (first == v.v))) & writes;
	k->written |= writes;
	k->lo = op->ret < k->lo ? op->ret : k->lo;
	k->hi = op->call;
	k->nops++;
	if (b->number)
		b->number[item] = number << 1 | !writes;
	return 1;
}

/* Words are looked up together, so that they do not wait for memory one by one. */
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
		const struct kl_shape *s = &h->shapes[op->shape];

		__builtin_prefetch(op + TOGETHER);
		role[i] = b->roles[s->method];
		if (role[i] != KL_ROLE_ADD && role[i] != KL_ROLE_PEEK)
			return 0;
		/* Its argument if it writes, else its result: there is no other. */
		v[i] = h->vals[s->vals];
		mono_words_soon(&b->words, v[i].v, mono_words_hash(v[i].v));
	}
	for (i = 0; i < n && b->words.table; i++)
		__builtin_prefetch(&b->block[mono_words_sooner(&b->words, v[i].v,
							       mono_words_hash(v[i].v))], 1);
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

/* What was there first is read without a write: its zone is from before all else. */
static bool find_first(struct blocks *b)
{
	struct block *first = NULL;
	uint64_t earliest = KL_TIME_MAX;
	uint32_t i;

	for (i = 0; i < b->words.n; i++) {
		struct block *k = &b->block[i];

		if (k->written) {
			earliest = k->lo < earliest ? k->lo : earliest;
			continue;
		}
		if (first || (b->first_known && (b->c->first.tag != KL_WORD ||
						 b->c->first.v != b->words.word[i])))
			return false;
		first = k;
		k->lo = KL_TIME_MIN;
		k->hi = k->hi ? k->hi : 1;
	}
	return !first || earliest >= first->hi;
}

static int sort_blocks(struct blocks *b)
{
	const uint32_t n = b->words.n;
	uint32_t i;

	b->key = kl_big_alloc(2 * ((size_t)n + 1) * sizeof(*b->key));
	if (!b->key)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		b->key[i] = (struct kl_key){ .key = b->block[i].lo, .val = i };
	kl_sort_keys(b->key, n, b->key + n);
	return 1;
}

/*
 * By lo, of the zones the last one alone can overlap what comes next, or hold it.
 * A block without a zone is behind it, else just before it: no other is between.
 */
static bool walk(struct blocks *b)
{
	const struct block *zone = NULL;
	uint32_t i;

	for (i = 0; i < b->words.n; i++) {
		struct block *k = &b->block[b->key[i].val];

		k->before = zone && zone->hi > k->lo;
		if (k->before && zone->lo < k->hi)
			return false;
		if (is_zone(k))
			zone = k;
	}
	return true;
}

/* Block @k is next: the write first, then reads in order of call. */
static inline void place(struct blocks *b, uint32_t k, uint32_t *at)
{
	const struct block *block = &b->block[k];

	b->place[2 * k] = *at;
	b->place[2 * k + 1] = *at + block->written;
	*at += block->nops;
}

/* From one zone to the next: what goes before it, itself, what is behind it.  How many in all. */
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
	b->roles = mono_roles(s);
	b->block = kl_big_alloc(n * sizeof(*b->block));
	b->number = ordered ? kl_big_alloc(n * sizeof(*b->number)) : NULL;
	if (!b->latest || !b->roles || !b->block || (ordered && !b->number))
		return -ENOMEM;
	return mono_words_init(&b->words, s->h, s->nops) ?: 1;
}

int mono_blocks(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
		struct kl_answer *a)
{
	struct blocks b = { .s = s, .c = c, .first_known = c->init && s->h->fresh };
	int ret = allocate(&b, !lim->no_witness);

	if (ret > 0)
		ret = add_all(&b);
	mono_words_close(&b.words);
	if (ret > 0)
		ret = find_first(&b) ? sort_blocks(&b) : 0;
	if (ret > 0)
		ret = walk(&b);
	if (ret > 0 && b.number)
		ret = order(&b, a);
	if (ret > 0)
		a->verdict = KL_LINEARIZABLE;
	mono_words_free(&b.words);
	free(b.latest);
	free(b.roles);
	free(b.block);
	free(b.number);
	free(b.place);
	free(b.key);
	return ret < 0 ? ret : 0;
}
