/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets, whole, see set.c, and multisets, see multi.h.  Operations are looked up and dealt
 * to sides by their keys (set_sweep.c), each side decides its keys group by group
 * (set_group.c), and for a witness all are put in one order (set_order.c).
 */
#ifndef KL_CHECK_MONO_SET_H
#define KL_CHECK_MONO_SET_H

#include <errno.h>
#include <pthread.h>

#include "base/barrier.h"
#include "check/mono/mono.h"
#include "check/mono/words.h"

/* FREE is 0: a key that is all zero has had one operation, which changed nothing. */
enum what { FREE, SEES_OUT, SEES_IN, DOWN, UP, SEES_COUNT };

#define OUT	1u		/* sets of bits; 0: there is no way */
#define IN	2u
#define FROM_IN	2		/* shift: the bit if it was in at first, beside that if out */

#define SET_SIDES	16	/* at most */
#define SET_WORK	64	/* looks for each operation, */
#define SET_FIRST_WORK	1000000	/* and some in any case */
#define SET_BOXES	256	/* that keys are dealt out in */

/* An operation as it was looked up. */
struct set_op {
	uint64_t key, call, ret;
	uint32_t op;		/* what it does << 28, its item */
	uint32_t thread;
};

static inline uint32_t set_item(uint32_t op)
{
	return op & MONO_VALUE;
}

static inline enum what set_what(uint32_t op)
{
	return op >> 28;
}

/* One of a group of several. */
struct set_node {
	uint64_t call, ret;
	uint32_t op, thread;
	uint32_t next;		/* in order of calls, the first one after the last */
	bool done;
};

struct set_key {
	uint64_t end;		/* last return of the group */
	uint32_t last;		/* its only operation, or if it has several the node of the last */
	union {
		struct {
			uint8_t bits;	/* before the group; 0: not seen yet */
			uint8_t first;	/* before all; 0: t->one */
			bool several;
		};
		uint32_t multi;		/* of a multiset, see multi.h */
	};
};

/* An end of an operation of a group. */
struct set_event {
	uint64_t time;
	uint32_t op;
	uint8_t turn;		/* at equal times */
};

/* The first of a thread that is called then, too; calls; the other returns. */
enum { FIRST_RET, CALL, RET };

/* One that took effect at a return, not at its own call. */
struct set_late {
	uint32_t item, group;	/* group: the item that began it */
	uint32_t place;		/* the first item that is called after that */
};

/* Of each thread in a part of a block: its first call, and its latest return + 1. */
struct set_line {
	uint64_t first, latest;
};

/* What a side says of a block, to be heard by all while they are at the next two. */
struct set_word {
	int looked, found;	/* 1, -EAGAIN, -ENOMEM; found: 0 if a key is wrong, too */
	bool lines;		/* the order of threads says more than times do */
	uint64_t work;		/* so far */
};

/* Of the keys of a side, and of the part of each block that it looks up. */
struct set_side {
	struct set *t;
	struct mono_words words;	/* those that are not small */
	struct set_key *keys;		/* theirs */
	uint64_t top;			/* of the small ones that it looked up, the last + 1 */
	struct set_node *node;
	uint32_t nnodes, free_node;	/* MONO_NONE: none is free */
	size_t cnode;
	/* The group at hand. */
	struct set_node *op;
	struct set_event *ev;
	uint32_t *open;
	uint32_t *pending[2];	/* that go down, that go up and were called */
	struct multi_sim *sim;	/* of a multiset, in place of nodes and groups */
	size_t csim;
	uint32_t nsim, free_sim;
	size_t cop, cev, copen, nop, nev, nopen, cpending[2], npending[2];
	bool bit;
	uint64_t work;		/* looks at operations of groups */
	struct set_late *late;
	size_t nlate, clate;
	uint32_t place;		/* of the return at hand, see struct set_late */
	uint32_t *absent;	/* that never returned, of those that it looked up */
	size_t nabsent, cabsent;
	/* The key that is wrong, where that was found, the operation that does not fit, and why. */
	uint64_t bad;
	uint32_t bad_at, bad_item;
	const char *bad_why;
	/* Of a block and the next one. */
	struct set_op *dealt[2];	/* for each side, room for t->most_dealt; SET_SOON more */
	uint32_t *ndealt[2];
	struct set_line *line[2];
	uint32_t *lines[2];		/* threads that are in line[] */
	uint32_t nlines[2];
	struct set_word word[3];
};

/* Keys below @n; loops have a copy of it, which no store of theirs can change. */
struct set_small {
	struct set_key *key;	/* see set_small_key() */
	uint64_t n;
	unsigned int spread;	/* shift: how far they are apart */
};

struct set {
	const struct kl_slice *s;
	const struct kl_limits *lim;
	uint8_t *roles;
	struct set_side *side;
	uint32_t nsides, most_dealt;
	struct set_small small;
	uint64_t sampled;	/* small keys that were seen beforehand are below it */
	uint8_t owner[SET_BOXES];	/* the side of each box of keys, see set_sides.c */
	uint64_t *latest;	/* of each thread, return + 1 */
	bool multi;		/* it is a multiset */
	uint32_t one;		/* the first bits of each key; set_key.multi */
	bool order;		/* one is wanted, */
	bool choose;		/* but now only what first bits are possible */
	bool lines;		/* the order of threads says more than times do */
	uint64_t most_work;
	uint32_t team;		/* threads that sweep, */
	pthread_mutex_t gate;	/* and when they may */
	struct kl_barrier barrier;
};

static inline uint32_t set_index(const struct set *t, uint32_t item)
{
	return t->s->ops ? t->s->ops[item] : item;
}

/* One of the keys that are small. */
static inline struct set_key *set_small_key(const struct set_small *m, uint64_t key)
{
	return &m->key[key << m->spread];
}

/* Those that share a line are in one box. */
static inline unsigned int set_box(const struct set *t, uint64_t key)
{
	return (key << t->small.spread >> 2) * 0x9e3779b97f4a7c15ull >> 56;
}

static inline uint32_t set_side_of(const struct set *t, uint64_t key)
{
	return t->owner[set_box(t, key)];
}

#define SET_SOON	48	/* operations whose keys are fetched before their turn */

/*
 * The key of an operation will be wanted soon.  Not inlined, it would be taken for a
 * function that does nothing.
 */
__attribute__((always_inline))
static inline void set_key_soon(const struct set_side *s, const struct set_small *m, uint64_t key)
{
	if (key < m->n)
		__builtin_prefetch(set_small_key(m, key), 1);
	else
		mono_words_soon(&s->words, key);
}

/* In SET_SOON operations, and in half as many. */
__attribute__((always_inline))
static inline void set_keys_soon(const struct set_side *s, const struct set_small *m,
				 const struct set_op *op)
{
	const uint64_t key = op[SET_SOON / 2].key;

	set_key_soon(s, m, op[SET_SOON].key);
	if (key >= m->n)
		__builtin_prefetch(&s->keys[mono_words_sooner(&s->words, key)], 1);
}

static inline struct set_key *set_find_key(struct set_side *s, const struct set_small *m,
					   uint64_t key)
{
	uint32_t number;

	if (key < m->n)
		return set_small_key(m, key);
	return mono_words_hashed(&s->words, key, &number) ? NULL : &s->keys[number];
}

/* The only operation of a key's group, as it was looked up, without the key. */
static inline struct set_op set_only_op(const struct set *t, const struct set_key *k)
{
	const struct kl_op *o = &t->s->h->ops[set_index(t, set_item(k->last))];

	return (struct set_op){
		.call = o->call, .ret = o->ret, .op = k->last, .thread = o->thread,
	};
}

/* Operations to their keys: @add is inlined; 1, 0 with the key that is wrong, or its error. */
__attribute__((always_inline))
static inline int set_add_each(struct set_side *s, const struct set_op *op, uint32_t n,
			       int (*add)(struct set_side *, struct set_key *,
					  const struct set_op *))
{
	const struct set_small small = s->t->small;
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
	s->bad_at = set_item(op[i - 1].op);
	return 0;
}

/* The bit after one operation, which goes on from some of both beside each other. */
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
 * set_group.c: the next @n operations of a side, and the end of the last group of a key,
 * which is one of several.  1, 0 if there is no way, -EAGAIN if that is too much, -ENOMEM.
 */
int set_add(struct set_side *side, const struct set_op *op, uint32_t n);
int set_end_several(struct set_side *side, struct set_key *k);

/* The first item that is called at @time or later; @from was called before, and likely not long. */
uint32_t set_find_call(const struct set *t, uint32_t from, uint64_t time);
/* Is another of its thread, of whichever key, called when it returns?  Not asked if times tell. */
bool set_called_then(struct set_side *side, uint32_t item, uint64_t call, uint64_t ret,
		     uint32_t thread);

/* A group of one. */
static inline int set_end_single(struct set_side *s, struct set_key *k)
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

static inline int set_end_group(struct set_side *s, struct set_key *k)
{
	return k->several ? set_end_several(s, k) : set_end_single(s, k);
}

/*
 * set_sweep.c: decide all keys.  1; 0: of the sides that found a key wrong, *@bad is the one
 * that did first; -ERESTART: t->lines is not so; -EAGAIN; -ENOMEM.
 */
int set_sweep(struct set *t, struct set_side **bad);
/* set_sides.c: make the sides, for @t of which the rest is filled in.  0 or -ENOMEM. */
int set_init(struct set *t);
void set_free(struct set *t);
/* As it was at first, but for the first bits of keys. */
void set_start_again(struct set *t);
/* Call @f of each key that was seen. */
void set_each_key(struct set *t, void (*f)(const struct set *t, struct set_key *k));

/* set.c: 1, 0 with the side that found the key that is wrong, -EAGAIN or -ENOMEM. */
int set_decide(struct set *t, struct set_side **bad);

/*
 * set_order.c: the order, as a->steps.  1, 0 if it is not that of each thread, -ENOMEM.
 */
int set_order(struct set *t, struct kl_answer *a);

#endif
