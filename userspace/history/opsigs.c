// SPDX-License-Identifier: GPL-2.0
/* Adds operations to a history, and numbers their signatures; see index.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limit.h"
#include "base/mem.h"
#include "history/batch.h"
#include "history/index.h"
#include "history/internal.h"

#define WAYS	8 /* slots of a set, a cache line */
#define NEAR	4 /* slots that are searched without branches, from the first possible one on */
#define LOOKS	1024	/* searches of the cache between two decisions of count_look() */
#define FEW	(LOOKS / 4)	/* with fewer hits, the next signatures are not searched */
#define RARE	(LOOKS / 16)	/* with fewer hits, those with words are not even hashed */
#define LIMIT_OPS	1024 /* operations between two checks of the time limit */
/* maximum of operations whose signatures are numbered together, after prefetches */
#define TOGETHER	64
#define BLIND	(15 * LOOKS) /* first value of kl_opsigs.blind; it doubles up to MOST_BLIND */
#define MOST_BLIND	(8 * BLIND)

/* Return: the method and the numbers of arguments and results, in one word. */
static inline uint32_t sig_head(const struct kl_opsig *s)
{
	return (uint32_t)s->method << 16 | s->nargs << 8 | s->nres;
}

static inline uint32_t sig_hash(const struct kl_opsig *s, const struct kl_val *v)
{
	uint64_t hash = sig_head(s);
	unsigned int n = s->nargs + s->nres;

	if (!n)
		return kl_mix(hash, 0);
	for (; n; n--, v++)
		hash = kl_mix(hash ^ v->v, v->tag);
	return hash;
}

/*
 * Return: true if two arrays of @n values are equal.  Operations have few values, so this loop is
 * faster than memcmp().
 */
static inline bool same_vals(const struct kl_val *a, const struct kl_val *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (!kl_val_eq(*a, *b))
			return false;
	return true;
}

/* Return: the set of slots for this hash, if the table is a cache. */
static inline uint64_t *set_of(const struct kl_opsigs *t, uint64_t hash)
{
	return &t->slot[hash & t->mask & ~(size_t)(WAYS - 1)];
}

/* Return: a free slot of the set for this hash, or a slot to replace. */
static uint64_t *recent_slot(struct kl_opsigs *t, uint64_t hash)
{
	uint64_t *set = set_of(t, hash);
	unsigned int i;

	for (i = 0; i < WAYS; i++)
		if (!set[i])
			return &set[i];
	return &set[t->turn++ % WAYS];
}

/* Turn the table into a cache, which does not grow any more. */
static int keep_recent(struct kl_opsigs *t)
{
	const size_t size = t->mask + 1;
	uint64_t *old = t->slot;
	size_t i;

	t->slot = aligned_alloc(WAYS * sizeof(*t->slot), size * sizeof(*t->slot));
	if (!t->slot) {
		t->slot = old;
		return -ENOMEM;
	}
	memset(t->slot, 0, size * sizeof(*t->slot));
	t->recent = true;
	for (i = 0; i < size; i++)
		if (old[i])
			*recent_slot(t, old[i] >> 32) = old[i];
	free(old);
	return 0;
}

/* Make room in the table for one more signature, so that at most half of its slots are used. */
static int sigs_reserve(struct kl_history *h)
{
	struct kl_opsigs *t = &h->index->opsigs;
	size_t size = t->slot ? t->mask + 1 : 0, want = size ? size * 2 : 256, i, at;
	uint64_t *slot;

	if (h->nopsigs * 2 < size)
		return 0;
	if (h->nopsigs >= KL_EXACT_OPSIGS)
		return keep_recent(t);
	/* NEAR more slots stay empty, because likely_in() may read them. */
	slot = calloc(want + NEAR, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (i = 0; i < size; i++) {
		if (!t->slot[i])
			continue;
		for (at = t->slot[i] >> 32 & (want - 1); slot[at]; at = (at + 1) & (want - 1))
			;
		slot[at] = t->slot[i];
	}
	free(t->slot);
	t->slot = slot;
	t->mask = want - 1;
	return 0;
}

/* Copy @n values: mostly one or two, too few for a string instruction, which starts slowly. */
static inline void copy_vals(struct kl_val *to, const struct kl_val *from, size_t n)
{
	for (; n > 1; n -= 2, to += 2, from += 2) {
		const struct kl_val v[2] = { from[0], from[1] };

		to[0] = v[0];
		to[1] = v[1];
	}
	if (n)
		*to = *from;
}

/* Make room for @n more signatures and @nvals values. */
static inline int sigs_room(struct kl_history *h, size_t n, size_t nvals)
{
	if (h->nopsigs + n >= UINT32_MAX || h->nvals + nvals > UINT32_MAX)
		return -EOVERFLOW;
	return kl_grow(h->opsigs, h->copsigs, h->nopsigs + n) ?:
	       kl_grow(h->vals, h->cvals, h->nvals + nvals);
}

/*
 * Add the arity of @s to the arities of its method.  The store is conditional, because it is rarely
 * needed, and the next load would wait for it.
 */
static inline void see_arity(struct kl_history *h, const struct kl_opsig *s)
{
	const uint32_t arity = kl_arity(s->nargs, s->nres);

	if ((h->arities[s->method] & arity) != arity)
		h->arities[s->method] |= arity;
}

/*
 * Append a signature with the values @v, for which there is room.  The values may already be in
 * their place, behind the history's values, or further behind.
 */
static inline uint32_t put_sig(struct kl_history *h, const struct kl_opsig *s,
				 const struct kl_val *v)
{
	const size_t n = s->nargs + s->nres;

	see_arity(h, s);
	h->opsigs[h->nopsigs] = *s;
	h->opsigs[h->nopsigs].vals = h->nvals;
	if (n && v != h->vals + h->nvals)
		copy_vals(h->vals + h->nvals, v, n);
	h->nvals += n;
	return h->nopsigs++;
}

static inline int64_t add_sig(struct kl_history *h, const struct kl_opsig *s,
				const struct kl_val *v)
{
	const int ret = sigs_room(h, 1, s->nargs + s->nres);

	return ret ? ret : (int64_t)put_sig(h, s, v);
}

static inline bool same_sig(const struct kl_history *h, uint32_t number, const struct kl_opsig *s,
			      const struct kl_val *v)
{
	const struct kl_opsig *o = &h->opsigs[number];

	return sig_head(o) == sig_head(s) &&
	       same_vals(h->vals + o->vals, v, s->nargs + s->nres);
}

static inline bool is_sig(const struct kl_history *h, uint64_t slot, uint64_t hash,
			    const struct kl_opsig *s, const struct kl_val *v)
{
	return slot && slot >> 32 == hash && same_sig(h, (uint32_t)slot - 1, s, v);
}

/* Count a search in the cache.  After LOOKS searches, decide whether to leave out the next ones. */
static void count_look(struct kl_opsigs *t, bool found)
{
	t->found += found;
	if (++t->looks < LOOKS)
		return;
	t->blind = t->last_blind = t->found >= FEW ? 0 : !t->last_blind ? BLIND :
		   t->last_blind < MOST_BLIND ? 2 * t->last_blind : MOST_BLIND;
	t->rare = t->found < RARE;
	t->looks = t->found = 0;
}

static inline uint64_t *find_recent(struct kl_history *h, const struct kl_opsig *s,
				    const struct kl_val *v, uint64_t hash, bool *found)
{
	struct kl_opsigs *t = &h->index->opsigs;
	uint64_t *set = set_of(t, hash);
	uint64_t *hand = &t->handful[hash % KL_HANDFUL];
	unsigned int i;

	*found = is_sig(h, *hand, hash, s, v);
	if (t->blind)
		t->blind--;
	if (*found || t->blind)
		return hand;
	for (i = 0; i < WAYS && !is_sig(h, set[i], hash, s, v); i++)
		;
	*found = i < WAYS;
	count_look(t, *found);
	if (!*found)
		return recent_slot(t, hash);
	*hand = set[i];
	return &set[i];
}

/* Return: the slot of a signature if it is @found, else the slot in which to store it. */
static inline uint64_t *find_sig(struct kl_history *h, const struct kl_opsig *s,
				   const struct kl_val *v, uint64_t hash, bool *found)
{
	const struct kl_opsigs *t = &h->index->opsigs;
	size_t at = hash & t->mask;

	if (t->recent)
		return find_recent(h, s, v, hash, found);
	while (t->slot[at] && !is_sig(h, t->slot[at], hash, s, v))
		at = (at + 1) & t->mask;
	*found = t->slot[at];
	return &t->slot[at];
}

static inline int64_t number_hashed(struct kl_history *h, const struct kl_opsig *s,
				    const struct kl_val *v, uint64_t hash)
{
	uint64_t *slot;
	bool found;
	int64_t id;
	int ret;

	if (!h->index->opsigs.recent) {
		ret = sigs_reserve(h);
		if (ret)
			return ret;
	}
	slot = find_sig(h, s, v, hash, &found);
	if (found)
		return (uint32_t)*slot - 1;
	id = add_sig(h, s, v);
	if (id >= 0)
		*slot = hash << 32 | (uint32_t)(id + 1);
	return id;
}

static inline bool has_word(const struct kl_opsig *s, const struct kl_val *v)
{
	unsigned int i, n = s->nargs + s->nres;

	for (i = 0; i < n && v[i].tag != KL_WORD; i++)
		;
	return i < n;
}

static int64_t number_sig(struct kl_history *h, const struct kl_opsig *s, const struct kl_val *v)
{
	struct kl_opsigs *t = &h->index->opsigs;

	if (t->blind && t->rare && has_word(s, v)) {
		t->blind--;
		return add_sig(h, s, v);
	}
	return number_hashed(h, s, v, sig_hash(s, v));
}

static inline bool good_sig(const struct kl_history *h, const struct kl_opsig *s)
{
	return s->method < h->nmethods && s->nargs <= KL_MAX_ARGS && s->nres <= KL_MAX_ARGS;
}

/*
 * Return: the arguments and results of @s in one array.  This is @args if the results follow there,
 * unless @args lies in h->vals, which may move.  Otherwise it is @v, which receives a copy.
 * If @res is NULL, the results are unknown.
 */
static inline const struct kl_val *all_vals(const struct kl_history *h, const struct kl_opsig *s,
					    const struct kl_val *args, const struct kl_val *res,
					    struct kl_val *v)
{
	const size_t at = (uintptr_t)args - (uintptr_t)h->vals;
	unsigned int i;

	if (res && res == args + s->nargs && at >= h->nvals * sizeof(*h->vals))
		return args;
	copy_vals(v, args, s->nargs);
	if (res)
		copy_vals(v + s->nargs, res, s->nres);
	for (i = 0; !res && i < s->nres; i++)
		v[s->nargs + i] = kl_special(KL_ANY);
	return v;
}

int64_t kl_history_sig(struct kl_history *h, const struct kl_opsig *s, const struct kl_val *args,
			 const struct kl_val *res)
{
	struct kl_val v[2 * KL_MAX_ARGS];

	return good_sig(h, s) ? number_sig(h, s, all_vals(h, s, args, res, v)) : -EINVAL;
}

/* Remove the return of a pending operation.  Return: true if the operation's times are valid. */
static inline bool good_times(struct kl_op *op)
{
	if (op->flags & KL_OP_PENDING) {
		op->ret = KL_TIME_MAX;
		op->flags &= ~KL_OP_DRAINED;
	} else if (op->ret == KL_TIME_MAX) {
		return false;
	}
	return op->call != KL_TIME_MAX && op->call <= op->ret;
}

/*
 * Give @op, which is stored behind the history's operations, the new signature @s, without a
 * search.  The number of @s is @sig, and its values begin at index @nvals.
 * Return: the index behind these values.
 */
static inline uint32_t put_unseen(struct kl_history *h, struct kl_opsig *s, struct kl_op *op,
				  uint32_t sig, uint32_t nvals)
{
	op->sig = sig;
	see_arity(h, s);
	s->vals = nvals;
	return nvals + s->nargs + s->nres;
}

/*
 * Append the next signatures, at most @n, without a search, up to the first without a word.  They
 * are already in their places.  Return: the number of appended signatures.
 */
static size_t keep_rare(struct kl_history *h, size_t n)
{
	struct kl_opsig *s = h->opsigs + h->nopsigs;
	struct kl_op *op = h->ops + h->nops;
	uint32_t nvals = h->nvals;
	size_t i;

	for (i = 0; i < n && has_word(&s[i], h->vals + nvals); i++)
		nvals = put_unseen(h, &s[i], &op[i], h->nopsigs + i, nvals);
	h->nopsigs += i;
	h->nvals = nvals;
	return i;
}

/* Number the signatures of the next @n operations, searching @handful alone or nothing. */
static void number_blindly(struct kl_history *h, size_t n, const struct kl_opsig *s,
			   const struct kl_val *vals)
{
	struct kl_opsigs *t = &h->index->opsigs;
	const size_t kept = t->rare && s == h->opsigs + h->nopsigs ? keep_rare(h, n) : 0;
	struct kl_op *op = &h->ops[h->nops + kept];
	size_t i;

	if (kept)
		vals = h->vals + h->nvals;
	t->blind -= n;
	for (i = kept; i < n; i++, op++) {
		const struct kl_val *v = vals;
		uint64_t hash, *slot;

		vals += s[i].nargs + s[i].nres;
		if (t->rare && has_word(&s[i], v)) {
			op->sig = put_sig(h, &s[i], v);
			continue;
		}
		hash = sig_hash(&s[i], v);
		slot = &t->handful[hash % KL_HANDFUL];
		if (!is_sig(h, *slot, hash, &s[i], v))
			*slot = hash << 32 | (put_sig(h, &s[i], v) + 1);
		op->sig = (uint32_t)*slot - 1;
	}
}

/*
 * Return: the number + 1 in the first slot with this hash among the @ways slots at @set, or 0.
 * There is no branch for each slot, because the processor could not predict which slot matches.
 */
static inline uint32_t likely_in(const uint64_t *set, unsigned int ways, uint32_t hash)
{
	unsigned int way, found = 0;

#pragma GCC unroll 8
	for (way = 0; way < ways; way++)
		found |= (set[way] >> 32 == hash) << way;
	return found ? set[__builtin_ctz(found)] : 0;
}

/*
 * For each hash, find the number + 1 of a signature that is probably equal, or 0.  First all
 * signatures are prefetched, then all values, so that no comparison waits for memory.
 */
static void find_likely(const struct kl_history *h, const uint32_t *hash, size_t n,
			uint32_t *likely)
{
	const struct kl_opsigs *t = &h->index->opsigs;
	size_t i;

	for (i = 0; i < n; i++) {
		likely[i] = t->recent ? likely_in(set_of(t, hash[i]), WAYS, hash[i]) :
			    likely_in(&t->slot[hash[i] & t->mask], NEAR, hash[i]);
		if (likely[i])
			__builtin_prefetch(&h->opsigs[likely[i] - 1]);
	}
	for (i = 0; i < n; i++)
		if (likely[i])
			__builtin_prefetch(&h->vals[h->opsigs[likely[i] - 1].vals]);
}

/* Number the signatures of the next @n operations, at most TOGETHER, by searching the table. */
static int number_looking(struct kl_history *h, size_t n, const struct kl_opsig *s,
			  const struct kl_val *vals)
{
	struct kl_opsigs *t = &h->index->opsigs;
	uint32_t hash[TOGETHER], likely[TOGETHER] = { 0 };
	struct kl_op *op = &h->ops[h->nops];
	const struct kl_val *v = vals;
	int64_t sig;
	size_t i;

	for (i = 0; i < n; i++, v += s[i - 1].nargs + s[i - 1].nres) {
		hash[i] = sig_hash(&s[i], v);
		if (t->slot)
			__builtin_prefetch(set_of(t, hash[i]));
	}
	if (t->slot)
		find_likely(h, hash, n, likely);
	for (i = 0; i < n; i++, vals += s->nargs + s->nres, s++) {
		if (likely[i] && same_sig(h, likely[i] - 1, s, vals)) {
			op[i].sig = likely[i] - 1;
			if (t->recent)
				count_look(t, true);
			continue;
		}
		sig = number_hashed(h, s, vals, hash[i]);
		if (sig < 0)
			return sig;
		op[i].sig = sig;
	}
	return 0;
}

/* Number the signatures of the next @n operations (at most TOGETHER), whose values have room. */
static int number_some(struct kl_history *h, size_t n, const struct kl_opsig *s,
		       const struct kl_val *vals)
{
	if (h->index->opsigs.blind < n)
		return number_looking(h, n, s, vals);
	number_blindly(h, n, s, vals);
	return 0;
}

int kl_history_room(struct kl_history *h, size_t n, size_t nvals)
{
	return kl_grow(h->ops, h->cops, h->nops + n) ?: sigs_room(h, n, nvals);
}

/* Append @n signatures, already in place, without a search.  Return: false if a time is wrong. */
static bool keep_all(struct kl_history *h, size_t n)
{
	struct kl_opsig *s = h->opsigs + h->nopsigs;
	struct kl_op *op = h->ops + h->nops;
	uint32_t nvals = h->nvals;
	bool good = true;
	size_t i;

	for (i = 0; i < n; i++) {
		good &= good_times(&op[i]);
		nvals = put_unseen(h, &s[i], &op[i], h->nopsigs + i, nvals);
	}
	return good;
}

static int append_each(struct kl_history *h, size_t n)
{
	const struct kl_opsig *s = h->opsigs + h->nopsigs;
	const struct kl_val *vals = h->vals + h->nvals;
	size_t i, part, nvals;
	int ret = 0;

	for (i = 0; i < n; i++)
		if (!good_times(&h->ops[h->nops + i]))
			return -EINVAL;
	for (; n && !ret; n -= part, s += part, vals += nvals) {
		part = n < TOGETHER ? n : TOGETHER;
		/* Count the values first: number_some() may overwrite the signatures. */
		for (i = nvals = 0; i < part; i++)
			nvals += s[i].nargs + s[i].nres;
		ret = number_some(h, part, s, vals);
		h->nops += ret ? 0 : part;
	}
	return ret;
}

int kl_history_append(struct kl_history *h, size_t n, size_t nvals, bool words)
{
	struct kl_opsigs *t = &h->index->opsigs;
	int ret = kl_history_no_points(h, n);

	if (ret)
		return ret;
	if (h->nops + n > KL_NO_OP)
		return -EOVERFLOW;
	if (!words || !t->rare || t->blind < n)
		return append_each(h, n);
	if (!keep_all(h, n))
		return -EINVAL;
	t->blind -= n;
	h->nops += n;
	h->nopsigs += n;
	h->nvals += nvals;
	return 0;
}

int kl_history_flush(struct kl_history *h)
{
	const struct kl_batch b = h->index->batch;

	h->index->batch = (struct kl_batch){ .words = true };
	return b.n ? kl_history_append(h, b.n, b.nvals, b.words) : 0;
}

int kl_batch_next(struct kl_history *h)
{
	const int ret = kl_history_flush(h) ?:
			kl_history_room(h, TOGETHER, TOGETHER * KL_BATCH_VALS);

	h->index->batch.room = ret ? 0 : TOGETHER;
	return ret;
}

int kl_history_add(struct kl_history *h, struct kl_op *op, const struct kl_opsig *s,
		   const struct kl_val *args, const struct kl_val *res)
{
	struct kl_val v[2 * KL_MAX_ARGS];
	int64_t sig;
	int ret;

	if (op->object >= h->nobjects || op->thread >= h->nthreads || !good_sig(h, s))
		return -EINVAL;
	if (h->nops >= KL_NO_OP)
		return -EOVERFLOW;
	ret = h->nops % LIMIT_OPS ? 0 : kl_limit_look(NULL, 0);
	if (ret)
		return ret;
	args = all_vals(h, s, args, op->flags & KL_OP_PENDING ? NULL : res, v);
	ret = kl_history_room(h, 1, s->nargs + s->nres) ?: kl_history_no_points(h, 1);
	if (ret)
		return ret;
	h->ops[h->nops] = *op;
	if (!good_times(&h->ops[h->nops]))
		return -EINVAL;
	sig = number_sig(h, s, args);
	if (sig < 0)
		return sig;
	op->sig = h->ops[h->nops++].sig = sig;
	return 0;
}
