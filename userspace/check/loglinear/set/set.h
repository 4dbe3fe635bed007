/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets, decided whole (set.c), and multisets (multiset.h).  The operations' keys are looked up
 * (set_sweep.c), and each key is decided group by group (set_group.c).  A witness is an order of
 * all operations (set_order.c).  Long histories may be decided in parts: each part from every
 * possible first state of its keys.  Then the parts are joined (set_join.c).
 */
#ifndef KL_CHECK_LOGLINEAR_SET_SET_H
#define KL_CHECK_LOGLINEAR_SET_SET_H

#include <errno.h>

#include "check/loglinear/loglinear.h"
#include "check/loglinear/words.h"

/* What an operation does to its key's bit.  FREE is 0, so that a zeroed struct set_key is valid. */
enum what { FREE, SEES_OUT, SEES_IN, DOWN, UP, SEES_COUNT };

/*
 * Masks of possible states of a key's bit; 0 if none is possible.  What is possible if the bit was
 * IN at first is shifted by FROM_IN, above what is possible if it was OUT.
 */
#define OUT	1u
#define IN	2u
#define FROM_IN	2

/* maximal number of parts, and where each part's copy of the keys exceeds a CPU's cache */
#define SET_PARTS	16
#define SET_FAR_PARTS	4
#define SET_TURNS	2	/* parts for each thread where the keys take little memory */
#define SET_BLOCK	512	/* operations that are looked up together */
#define SET_SOON	48	/* operations ahead of their turn whose keys are prefetched */
#define SET_WORK	64	/* bound of looks: for each operation, */
#define SET_FIRST_WORK	1000000	/* and besides */
/* minimal number of operations of a part, unless it is alone */
#define SET_LEAST	(1u << 15)
#define SET_BACK	(1u << 15)	/* see set.back */

/* An operation after its look-up. */
struct set_op {
	uint64_t key, call, ret;
	uint32_t op;		/* enum what << 28 | item */
	uint32_t thread;
};

static inline uint32_t set_item(uint32_t op)
{
	return op & LL_VALUE;
}

static inline enum what set_what(uint32_t op)
{
	return op >> 28;
}

/* An operation of a group with several operations. */
struct set_node {
	uint64_t call, ret;
	uint32_t op, thread;
	uint32_t next;		/* next node in order of calls; the last node's is the first */
	bool done;
};

/* A key and its last group: operations that overlap, directly or by others of the group. */
struct set_key {
	uint64_t end;		/* last return of the group */
	uint32_t last;		/* set_op.op of the group's only operation, or its last node */
	union {
		struct {
			uint8_t bits;	/* bits before the group; 0 for a key that is new */
			uint8_t first;	/* bits before all operations; 0: set_part.one */
			/* the group has several operations; or SET_CARRIED */
			uint8_t several;
		};
		uint32_t multi;		/* state of a multiset's key, see multiset.h */
	};
};

/* set_key.several: the group began in an earlier part, and lasts at least up to set_key.end. */
#define SET_CARRIED	2

/* A call or a return of an operation of a group. */
struct set_event {
	uint64_t time;
	uint32_t op;		/* index in set_part.op */
	uint8_t turn;		/* order of events at equal times, see below */
};

/* Returns of threads that also have a call at this time; calls; other returns. */
enum { FIRST_RET, CALL, RET };

/* A late operation, which took effect at a return and not at its own call. */
struct set_late {
	uint32_t item;
	uint32_t group;		/* the first item of its group */
	uint32_t place;		/* the first item that is called after it took effect */
};

/* The small keys, below @n.  Loops use a copy of this struct, which no store can change. */
struct set_small {
	struct set_key *key;
	uint64_t n;
};

/* A part: the operations @from .. @to - 1, and all their keys. */
struct set_part {
	struct set *t;
	uint32_t from, to;
	uint64_t next;		/* the first call after the part, or KL_TIME_MAX */
	unsigned int one;	/* first state of each key: bits, or set_key.multi */
	struct set_small small;
	uint64_t top;		/* the largest small key that was seen + 1 */
	struct ll_words words;	/* numbers of keys that are not small */
	struct set_key *keys;	/* keys that are not small, by number */
	struct set_node *node;	/* operations of groups with several */
	uint32_t nnodes, free_node;	/* list of free nodes, or LL_NONE */
	size_t cnode;
	/* The group that is being decided: its operations, their events, and the open ones. */
	struct set_node *op;
	struct set_event *ev;
	uint32_t *open;
	uint32_t *pending[2];	/* pending operations that were called: down, up */
	struct multiset_sim *sim;	/* for multisets, in place of nodes and groups */
	size_t csim;
	uint32_t nsim, free_sim;
	size_t cop, cev, copen, nop, nev, nopen, cpending[2], npending[2];
	bool bit;		/* the bit of the group's key: in */
	uint64_t work;		/* looks at operations of groups */
	struct set_late *late;
	size_t nlate, clate;
	uint32_t place;		/* set_late.place at the current return */
	uint32_t *flight;	/* operations in flight: they do not return before @next */
	size_t nflight, cflight;
	/* number of operations of earlier parts that it found in flight at its begin */
	uint32_t nseeds;
	struct set_op *carried;	/* operations of groups that began in an earlier part */
	size_t ncarried, ccarried;
	/* The wrong key, the operation that does not fit, and the reason. */
	uint64_t bad;
	uint32_t bad_item;
	const char *bad_why;
	struct set_op looked[SET_BLOCK + SET_SOON];	/* the block that is being processed */
	uint64_t *latest;	/* latest return + 1 of each thread */
	int ret;		/* result of set.run; positive if there is an order */
} __attribute__((aligned(64)));

/* What differs between a set (set.c) and a multiset (multiset.c). */
struct set_kind {
	bool multi;		/* this is a multiset */
	uint32_t one[2];	/* first state of each key, if it is unknown; if it is known */
	/* Add @n operations.  Return: 1, 0 if one fits no order, or a negative errno. */
	int (*add)(struct set_part *s, const struct set_op *op, uint32_t n);
	/* Decide the last operations of a key.  Return: as @add. */
	int (*end_key)(struct set_part *s, struct set_key *k);
	/* Free what @add allocated; may be NULL. */
	void (*free)(struct set_part *s);
	/*
	 * Confirm a violation, whose operation @op is wrong; may be NULL.  Return: 1 if it is
	 * confirmed in @a, 0 if not, or -ENOMEM.
	 */
	int (*confirm)(const struct set *t, uint32_t op, struct kl_answer *a);
};

extern const struct set_kind set_kind;

struct set {
	const struct kl_slice *s;
	const struct set_kind *kind;
	const struct kl_limits *lim;
	uint8_t *roles;		/* enum kl_role of each method */
	struct set_part *part;	/* without parts, the first one has all operations */
	uint32_t nparts;
	void (*run)(struct set_part *s);	/* the work that threads do for each part */
	uint32_t taken;		/* number of parts that threads have taken */
	/* how many operations before its begin a part searches for those in flight */
	uint32_t back;
	uint32_t one;		/* first state of each key: bits, or set_key.multi */
	bool order;		/* an order is wanted, */
	bool choose;		/* but this pass only finds the possible first bits */
	bool lines;		/* the order of threads says more than times do */
	bool stop;		/* a part found no order */
	uint64_t most_work;	/* bound of each part's work */
};

/**
 * set_answer() - decide a whole set or multiset, or a map of bits
 * @s: its operations
 * @lim: limits of work, memory and time
 * @c: the container
 * @kind: set_kind or multiset_kind
 * @a: the answer
 *
 * Return: 0, or -ENOMEM.
 */
int set_answer(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	       const struct set_kind *kind, struct kl_answer *a);

static inline uint32_t set_index(const struct set *t, uint32_t item)
{
	return t->s->ops ? t->s->ops[item] : item;
}

/* Prefetch a key.  Without inlining, the compiler would drop the prefetches. */
__attribute__((always_inline))
static inline void set_key_soon(const struct set_part *s, const struct set_small *m, uint64_t key)
{
	if (key < m->n)
		__builtin_prefetch(&m->key[key], 1);
	else
		ll_words_soon(&s->words, key, ll_words_hash(key));
}

/* Prefetch the keys of the operations SET_SOON after @op, and SET_SOON / 2 after it. */
__attribute__((always_inline))
static inline void set_keys_soon(const struct set_part *s, const struct set_small *m,
				 const struct set_op *op)
{
	const uint64_t key = op[SET_SOON / 2].key;
	uint32_t number;

	set_key_soon(s, m, op[SET_SOON].key);
	if (key < m->n)
		return;
	number = ll_words_sooner(&s->words, key, ll_words_hash(key));
	__builtin_prefetch(&s->keys[number], 1);
}

/* Return: a key, which may be new; NULL without memory. */
static inline struct set_key *set_find_key(struct set_part *s, const struct set_small *m,
					   uint64_t key)
{
	uint32_t number;

	if (key < m->n)
		return &m->key[key];
	if (ll_words_hashed(&s->words, key, ll_words_hash(key), &number))
		return NULL;
	return &s->keys[number];
}

/* Return: the only operation of a key's group, without its key. */
static inline struct set_op set_only_op(const struct set *t, const struct set_key *k)
{
	const struct kl_op *o = &t->s->h->ops[set_index(t, set_item(k->last))];

	return (struct set_op){
		.call = o->call, .ret = o->ret, .op = k->last, .thread = o->thread,
	};
}

/*
 * Add operations to their keys by @add, which is inlined.  Return: 1, 0 with the wrong key in
 * s->bad, or a negative errno.
 */
__attribute__((always_inline))
static inline int set_add_each(struct set_part *s, const struct set_op *op, uint32_t n,
			       int (*add)(struct set_part *, struct set_key *,
					  const struct set_op *))
{
	const struct set_small small = s->small;
	struct set_key *k;
	uint32_t i;
	int ret = 1;

	for (i = 0; i < n && i < SET_SOON; i++)
		set_key_soon(s, &small, op[i].key);
	for (i = 0; i < n && ret > 0; i++) {
		set_keys_soon(s, &small, &op[i]);
		k = set_find_key(s, &small, op[i].key);
		ret = k ? add(s, k, &op[i]) : -ENOMEM;
	}
	if (ret)
		return ret;
	s->bad = op[i - 1].key;
	return 0;
}

/* Return: the possible bits after an operation, from the possible bits before it. */
static inline unsigned int set_after(unsigned int bits, enum what what)
{
	static const uint8_t after[][16] = {
		[FREE] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
		[SEES_OUT] = { 0, 1, 0, 1, 4, 5, 4, 5, 0, 1, 0, 1, 4, 5, 4, 5 },
		[SEES_IN] = { 0, 0, 2, 2, 0, 0, 2, 2, 8, 8, 10, 10, 8, 8, 10, 10 },
		[DOWN] = { 0, 0, 1, 1, 0, 0, 1, 1, 4, 4, 5, 5, 4, 4, 5, 5 },
		[UP] = { 0, 2, 0, 2, 8, 10, 8, 10, 0, 2, 0, 2, 8, 10, 8, 10 },
	};

	return after[what][bits];
}

/*
 * set_group.c: add the next @n operations of a part.  Return: 1, 0 if there is no order, -EAGAIN if
 * it is too much, -ENOMEM.
 */
int set_add(struct set_part *part, const struct set_op *op, uint32_t n);
/* End the last group of a key, which has several operations.  Return: as set_add(). */
int set_end_several(struct set_part *part, struct set_key *k);
/* Add the operations that part @from kept aside to part @to; returns as set_add(). */
int set_add_carried(struct set_part *to, const struct set_part *from);
/* Give @key, which has no group, the group of @from's key @k.  Return: 1, or -ENOMEM. */
int set_take_group(struct set_part *to, struct set_key *key, const struct set_part *from,
		   const struct set_key *k);

/* Return: the first item called at @time or later.  @from: an item called (shortly) before. */
uint32_t set_find_call(const struct set *t, uint32_t from, uint64_t time);
/*
 * Return: true if the thread of @item calls another operation, on any key, at the time @ret of the
 * return of @item, and set.lines makes that matter.
 */
bool set_called_then(struct set_part *part, uint32_t item, uint64_t call, uint64_t ret,
		     uint32_t thread);

/* End a group of one operation.  Return: 1, or 0 if it does not fit. */
static inline int set_end_single(struct set_part *s, struct set_key *k)
{
	const unsigned int bits = set_after(k->bits, set_what(k->last));
	const unsigned int out = k->bits & (OUT | IN), in = k->bits >> FROM_IN;

	if (k->end == KL_TIME_MAX)
		return 1;
	if (!bits) {
		s->bad_item = set_item(k->last);
		s->bad_why = (out ? out : in) == OUT ? "was out" : "was in";
	}
	k->bits = bits;
	return bits != 0;
}

static inline int set_end_group(struct set_part *s, struct set_key *k)
{
	return k->several ? set_end_several(s, k) : set_end_single(s, k);
}

/* End the last group of a key, if the key was seen. */
static inline int set_close(struct set_part *s, struct set_key *k)
{
	const int ret = k->bits ? set_end_group(s, k) : 1;

	k->last = 0;
	k->several = false;
	return ret;
}

/*
 * set_sweep.c: process all operations of a part; then end the last group of each key.  Return: 1;
 * 0 if keys are wrong, s->bad being the earliest; -ERESTART if the order of threads turns out to
 * matter; -EAGAIN; -ENOMEM.
 */
int set_sweep(struct set_part *s);
int set_end_keys(struct set_part *s);
/* set_parts.c.  Return: the number of parts that is likely to be fastest; 1: no parts. */
uint32_t set_count_parts(const struct set *t);
/* Make @nparts parts; all other fields of @t are filled in already.  Return: 0, or -ENOMEM. */
int set_init(struct set *t, uint32_t nparts);
void set_free(struct set *t);
/* Reset the first part to hold all operations; only the first bits of keys stay. */
void set_start_again(struct set *t);
/* Call @f for each key that was seen in the first part. */
void set_each_key(struct set *t, void (*f)(struct set_part *s, struct set_key *k));

/*
 * set_join.c: decide in parts, each of at least one operation.  Return: true if there is an order,
 * false if the parts do not show whether there is one.
 */
bool set_decide_parts(struct set *t);

/* set.c: return 1, 0 with the wrong key in the first part, -EAGAIN or -ENOMEM. */
int set_decide(struct set *t);

/* set_order.c: make a->steps.  Return: 1, 0 if they contradict a thread's order, -ENOMEM. */
int set_order(struct set *t, struct kl_answer *a);

#endif
