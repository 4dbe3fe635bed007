// SPDX-License-Identifier: GPL-2.0
/* Operations are added to a history, and their shapes have numbers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limit.h"
#include "base/mem.h"
#include "history/batch.h"
#include "history/index.h"
#include "history/internal.h"

#define WAYS	8		/* a cache line */
#define NEAR	4		/* of all shapes' slots, from the first one on that it may be in */
#define LOOKS	1024
#define FEW	(LOOKS / 4)
#define RARE	(LOOKS / 16)
#define LIMIT_OPS	1024	/* operations between two looks at the clock */
#define TOGETHER	64	/* whose places are fetched before their turn */
#define BLIND	(15 * LOOKS)	/* and twice as many each time that few are found, up to */
#define MOST_BLIND	(8 * BLIND)

/* Method and numbers of values. */
static inline uint32_t shape_head(const struct kl_shape *s)
{
	return (uint32_t)s->method << 16 | s->nargs << 8 | s->nres;
}

static inline uint32_t shape_hash(const struct kl_shape *s, const struct kl_val *v)
{
	uint64_t hash = shape_head(s);
	unsigned int n = s->nargs + s->nres;

	if (!n)
		return kl_mix(hash, 0);
	for (; n; n--, v++)
		hash = kl_mix(hash ^ v->v, v->tag);
	return hash;
}

/* They are few, too few for memcmp() to be worth its call. */
static inline bool same_vals(const struct kl_val *a, const struct kl_val *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (!kl_val_eq(*a, *b))
			return false;
	return true;
}

/* The slots that one of this hash may be in, when only the last ones are kept. */
static inline uint64_t *set_of(const struct kl_shapes *t, uint64_t hash)
{
	return &t->slot[hash & t->mask & ~(size_t)(WAYS - 1)];
}

/* Where one of this hash goes: a free slot of its set, or that of another. */
static uint64_t *recent_slot(struct kl_shapes *t, uint64_t hash)
{
	uint64_t *set = set_of(t, hash);
	unsigned int i;

	for (i = 0; i < WAYS; i++)
		if (!set[i])
			return &set[i];
	return &set[t->turn++ % WAYS];
}

/* The table does not grow any more. */
static int keep_recent(struct kl_shapes *t)
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

/* Shapes are many: the hash stands beside the number, so that most tries end there. */
static int shapes_reserve(struct kl_history *h)
{
	struct kl_shapes *t = &h->index->shapes;
	size_t size = t->slot ? t->mask + 1 : 0, want = size ? size * 2 : 256, i, at;
	uint64_t *slot;

	if (h->nshapes * 2 < size)
		return 0;
	if (h->nshapes >= KL_EXACT_SHAPES)
		return keep_recent(t);
	/* Those near the last ones are looked at without thinking: no shape is there. */
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

/* The same: one or two, most often, for which a string instruction takes long to begin. */
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

/* Room for @n more shapes of @nvals values. */
static inline int shapes_room(struct kl_history *h, size_t n, size_t nvals)
{
	if (h->nshapes + n >= UINT32_MAX || h->nvals + nvals > UINT32_MAX)
		return -EOVERFLOW;
	return kl_grow(h->shapes, h->cshapes, h->nshapes + n) ?:
	       kl_grow(h->vals, h->cvals, h->nvals + nvals);
}

/* Seldom new: nothing has to wait for what the one before it stored. */
static inline void see_arity(struct kl_history *h, const struct kl_shape *s)
{
	const uint32_t arity = kl_arity(s->nargs, s->nres);

	if ((h->arities[s->method] & arity) != arity)
		h->arities[s->method] |= arity;
}

/* There is room for it.  It may lie there already, or behind. */
static inline uint32_t put_shape(struct kl_history *h, const struct kl_shape *s,
				 const struct kl_val *v)
{
	const size_t n = s->nargs + s->nres;

	see_arity(h, s);
	h->shapes[h->nshapes] = *s;
	h->shapes[h->nshapes].vals = h->nvals;
	if (n && v != h->vals + h->nvals)
		copy_vals(h->vals + h->nvals, v, n);
	h->nvals += n;
	return h->nshapes++;
}

static inline int64_t add_shape(struct kl_history *h, const struct kl_shape *s,
				const struct kl_val *v)
{
	const int ret = shapes_room(h, 1, s->nargs + s->nres);

	return ret ? ret : (int64_t)put_shape(h, s, v);
}

static inline bool same_shape(const struct kl_history *h, uint32_t number,
			      const struct kl_shape *s, const struct kl_val *v)
{
	const struct kl_shape *o = &h->shapes[number];

	return shape_head(o) == shape_head(s) &&
	       same_vals(h->vals + o->vals, v, s->nargs + s->nres);
}

static inline bool is_shape(const struct kl_history *h, uint64_t slot, uint64_t hash,
			    const struct kl_shape *s, const struct kl_val *v)
{
	return slot && slot >> 32 == hash && same_shape(h, (uint32_t)slot - 1, s, v);
}

/* One was looked up among the last ones: is it worth it? */
static void count_look(struct kl_shapes *t, bool found)
{
	t->found += found;
	if (++t->looks < LOOKS)
		return;
	t->blind = t->last_blind = t->found >= FEW ? 0 : !t->last_blind ? BLIND :
		   t->last_blind < MOST_BLIND ? 2 * t->last_blind : MOST_BLIND;
	t->rare = t->found < RARE;
	t->looks = t->found = 0;
}

static inline uint64_t *find_recent(struct kl_history *h, const struct kl_shape *s,
				    const struct kl_val *v, uint64_t hash, bool *found)
{
	struct kl_shapes *t = &h->index->shapes;
	uint64_t *set = set_of(t, hash);
	uint64_t *hand = &t->handful[hash % KL_HANDFUL];
	unsigned int i;

	*found = is_shape(h, *hand, hash, s, v);
	if (t->blind)
		t->blind--;
	if (*found || t->blind)
		return hand;
	for (i = 0; i < WAYS && !is_shape(h, set[i], hash, s, v); i++)
		;
	*found = i < WAYS;
	count_look(t, *found);
	if (!*found)
		return recent_slot(t, hash);
	*hand = set[i];
	return &set[i];
}

/* Where a shape is noted, if it was found, or is to be in the place of another one. */
static inline uint64_t *find_shape(struct kl_history *h, const struct kl_shape *s,
				   const struct kl_val *v, uint64_t hash, bool *found)
{
	const struct kl_shapes *t = &h->index->shapes;
	size_t at = hash & t->mask;

	if (t->recent)
		return find_recent(h, s, v, hash, found);
	while (t->slot[at] && !is_shape(h, t->slot[at], hash, s, v))
		at = (at + 1) & t->mask;
	*found = t->slot[at];
	return &t->slot[at];
}

static inline int64_t number_hashed(struct kl_history *h, const struct kl_shape *s,
				    const struct kl_val *v, uint64_t hash)
{
	uint64_t *slot;
	bool found;
	int64_t id;
	int ret;

	if (!h->index->shapes.recent) {
		ret = shapes_reserve(h);
		if (ret)
			return ret;
	}
	slot = find_shape(h, s, v, hash, &found);
	if (found)
		return (uint32_t)*slot - 1;
	id = add_shape(h, s, v);
	if (id >= 0)
		*slot = hash << 32 | (uint32_t)(id + 1);
	return id;
}

static inline bool has_word(const struct kl_shape *s, const struct kl_val *v)
{
	unsigned int i, n = s->nargs + s->nres;

	for (i = 0; i < n && v[i].tag != KL_WORD; i++)
		;
	return i < n;
}

static int64_t number_shape(struct kl_history *h, const struct kl_shape *s,
			    const struct kl_val *v)
{
	struct kl_shapes *t = &h->index->shapes;

	if (t->blind && t->rare && has_word(s, v)) {
		t->blind--;
		return add_shape(h, s, v);
	}
	return number_hashed(h, s, v, shape_hash(s, v));
}

static inline bool good_shape(const struct kl_history *h, const struct kl_shape *s)
{
	return s->method < h->nmethods && s->nargs <= KL_MAX_ARGS && s->nres <= KL_MAX_ARGS;
}

/*
 * All values of @s one after the other: in @v, if they are not so, or are the history's, which
 * may go elsewhere.  @res NULL: not known.
 */
static inline const struct kl_val *all_vals(const struct kl_history *h, const struct kl_shape *s,
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

int64_t kl_history_shape(struct kl_history *h, const struct kl_shape *s,
			 const struct kl_val *args, const struct kl_val *res)
{
	struct kl_val v[2 * KL_MAX_ARGS];

	return good_shape(h, s) ? number_shape(h, s, all_vals(h, s, args, res, v)) : -EINVAL;
}

/* Are the operation's times as they should be?  A pending one has no return. */
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

/* One of those that lie behind the history's, as number @shape; where its values end. */
static inline uint32_t put_unseen(struct kl_history *h, struct kl_shape *s, struct kl_op *op,
				  uint32_t shape, uint32_t nvals)
{
	op->shape = shape;
	see_arity(h, s);
	s->vals = nvals;
	return nvals + s->nargs + s->nres;
}

/* How many of the next shapes, which lie where they would be put, are put there unseen. */
static size_t keep_rare(struct kl_history *h, size_t n)
{
	struct kl_shape *s = h->shapes + h->nshapes;
	struct kl_op *op = h->ops + h->nops;
	uint32_t nvals = h->nvals;
	size_t i;

	for (i = 0; i < n && has_word(&s[i], h->vals + nvals); i++)
		nvals = put_unseen(h, &s[i], &op[i], h->nshapes + i, nvals);
	h->nshapes += i;
	h->nvals = nvals;
	return i;
}

/* The shapes of the next @n operations while few are found. */
static void number_blindly(struct kl_history *h, size_t n, const struct kl_shape *s,
			   const struct kl_val *vals)
{
	struct kl_shapes *t = &h->index->shapes;
	const size_t kept = t->rare && s == h->shapes + h->nshapes ? keep_rare(h, n) : 0;
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
			op->shape = put_shape(h, &s[i], v);
			continue;
		}
		hash = shape_hash(&s[i], v);
		slot = &t->handful[hash % KL_HANDFUL];
		if (!is_shape(h, *slot, hash, &s[i], v))
			*slot = hash << 32 | (put_shape(h, &s[i], v) + 1);
		op->shape = (uint32_t)*slot - 1;
	}
}

/* Which of @ways slots from @set on one of this hash is in, or 0: which one, is chance. */
static inline uint32_t likely_in(const uint64_t *set, unsigned int ways, uint32_t hash)
{
	unsigned int way, found = 0;

#pragma GCC unroll 8
	for (way = 0; way < ways; way++)
		found |= (set[way] >> 32 == hash) << way;
	return found ? set[__builtin_ctz(found)] : 0;
}

/*
 * Which shapes those of these hashes may be equal to, number + 1, or 0.  What tells if they are
 * is fetched, in steps: each is one of all, so that none waits for memory.
 */
static void find_likely(const struct kl_history *h, const uint32_t *hash, size_t n,
			uint32_t *likely)
{
	const struct kl_shapes *t = &h->index->shapes;
	size_t i;

	for (i = 0; i < n; i++) {
		likely[i] = t->recent ? likely_in(set_of(t, hash[i]), WAYS, hash[i]) :
			    likely_in(&t->slot[hash[i] & t->mask], NEAR, hash[i]);
		if (likely[i])
			__builtin_prefetch(&h->shapes[likely[i] - 1]);
	}
	for (i = 0; i < n; i++)
		if (likely[i])
			__builtin_prefetch(&h->vals[h->shapes[likely[i] - 1].vals]);
}

/* The same while they are looked for; at most TOGETHER. */
static int number_looking(struct kl_history *h, size_t n, const struct kl_shape *s,
			  const struct kl_val *vals)
{
	struct kl_shapes *t = &h->index->shapes;
	uint32_t hash[TOGETHER], likely[TOGETHER] = { 0 };
	struct kl_op *op = &h->ops[h->nops];
	const struct kl_val *v = vals;
	int64_t shape;
	size_t i;

	for (i = 0; i < n; i++, v += s[i - 1].nargs + s[i - 1].nres) {
		hash[i] = shape_hash(&s[i], v);
		if (t->slot)
			__builtin_prefetch(set_of(t, hash[i]));
	}
	if (t->slot)
		find_likely(h, hash, n, likely);
	for (i = 0; i < n; i++, vals += s->nargs + s->nres, s++) {
		if (likely[i] && same_shape(h, likely[i] - 1, s, vals)) {
			op[i].shape = likely[i] - 1;
			if (t->recent)
				count_look(t, true);
			continue;
		}
		shape = number_hashed(h, s, vals, hash[i]);
		if (shape < 0)
			return shape;
		op[i].shape = shape;
	}
	return 0;
}

/* At most TOGETHER, there is room for their values. */
static int number_some(struct kl_history *h, size_t n, const struct kl_shape *s,
		       const struct kl_val *vals)
{
	if (h->index->shapes.blind < n)
		return number_looking(h, n, s, vals);
	number_blindly(h, n, s, vals);
	return 0;
}

int kl_history_room(struct kl_history *h, size_t n, size_t nvals)
{
	return kl_grow(h->ops, h->cops, h->nops + n) ?: shapes_room(h, n, nvals);
}

/* All of @n shapes are put unseen where they lie.  False: a time is not as it should be. */
static bool keep_all(struct kl_history *h, size_t n)
{
	struct kl_shape *s = h->shapes + h->nshapes;
	struct kl_op *op = h->ops + h->nops;
	uint32_t nvals = h->nvals;
	bool good = true;
	size_t i;

	for (i = 0; i < n; i++) {
		good &= good_times(&op[i]);
		nvals = put_unseen(h, &s[i], &op[i], h->nshapes + i, nvals);
	}
	return good;
}

static int append_each(struct kl_history *h, size_t n)
{
	const struct kl_shape *s = h->shapes + h->nshapes;
	const struct kl_val *vals = h->vals + h->nvals;
	size_t i, part, nvals;
	int ret = 0;

	for (i = 0; i < n; i++)
		if (!good_times(&h->ops[h->nops + i]))
			return -EINVAL;
	for (; n && !ret; n -= part, s += part, vals += nvals) {
		part = n < TOGETHER ? n : TOGETHER;
		/* Now: they may be overwritten. */
		for (i = nvals = 0; i < part; i++)
			nvals += s[i].nargs + s[i].nres;
		ret = number_some(h, part, s, vals);
		h->nops += ret ? 0 : part;
	}
	return ret;
}

int kl_history_append(struct kl_history *h, size_t n, size_t nvals, bool words)
{
	struct kl_shapes *t = &h->index->shapes;
	int ret = kl_history_untold(h, n);

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
	h->nshapes += n;
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

int kl_history_add(struct kl_history *h, struct kl_op *op, const struct kl_shape *s,
		   const struct kl_val *args, const struct kl_val *res)
{
	struct kl_val v[2 * KL_MAX_ARGS];
	int64_t shape;
	int ret;

	if (op->object >= h->nobjects || op->thread >= h->nthreads || !good_shape(h, s))
		return -EINVAL;
	if (h->nops >= KL_NO_OP)
		return -EOVERFLOW;
	ret = h->nops % LIMIT_OPS ? 0 : kl_limit_look(NULL, 0);
	if (ret)
		return ret;
	args = all_vals(h, s, args, op->flags & KL_OP_PENDING ? NULL : res, v);
	ret = kl_history_room(h, 1, s->nargs + s->nres) ?: kl_history_untold(h, 1);
	if (ret)
		return ret;
	h->ops[h->nops] = *op;
	if (!good_times(&h->ops[h->nops]))
		return -EINVAL;
	shape = number_shape(h, s, args);
	if (shape < 0)
		return shape;
	op->shape = h->ops[h->nops++].shape = shape;
	return 0;
}
