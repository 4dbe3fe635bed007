/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets, whole, see set.c, and multisets, see multiset.h.  Operations are looked up (set_sweep.c),
 * and each key is decided group by group (set_group.c); for a witness all are put in one
 * order (set_order.c).  Long histories may be decided in parts, each from any state of its
 * keys, which are joined (set_join.c).
 */
#ifndef KL_CHECK_LOGLINEAR_SET_SET_H
#define KL_CHECK_LOGLINEAR_SET_SET_H

#include <errno.h>

#include "check/loglinear/loglinear.h"
#include "check/loglinear/words.h"

/* FREE is 0: a key that is all zero has had one operation, which changed nothing. */
enum what { FREE, SEES_OUT, SEES_IN, DOWN, UP, SEES_COUNT };

#define OUT	1u		/* sets of bits; 0: there is no way */
#define IN	2u
#define FROM_IN	2		/* shift: the bit if it was in at first, beside that if out */

#define SET_PARTS	16	/* at most, */
#define SET_FAR_PARTS	4	/* if their keys, of which each has its own, take much memory */
#define SET_TURNS	2	/* parts for each thread, if they do not */
#define SET_BLOCK	512	/* operations that are looked up together */
#define SET_SOON	48	/* whose keys are fetched before their turn */
#define SET_WORK	64	/* looks for each operation, */
#define SET_FIRST_WORK	1000000	/* and some in any case */
#define SET_LEAST	(1u << 15)	/* operations of a part, unless it is alone, */
#define SET_BACK	(1u << 15)	/* and before it, see struct set */

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
			uint8_t first;	/* before all; 0: s->one */
			uint8_t several;	/* or SET_CARRIED */
		};
		uint32_t multi;		/* of a multiset, see multiset.h */
	};
};

/* The group began in the part before this one, and goes on up to `end' at least. */
#define SET_CARRIED	2

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

/* Keys below @n; loops have a copy of it, which no store of theirs can change. */
struct set_small {
	struct set_key *key;
	uint64_t n;
};

/* The operations from @from to before @to, and all their keys. */
struct set_part {
	struct set *t;
	uint32_t from, to;
	uint64_t next;		/* the first call behind them, or KL_TIME_MAX */
	unsigned int one;	/* the first bits of each key; set_key.multi */
	struct set_small small;
	uint64_t top;		/* of the small keys that were seen, the last + 1 */
	struct mono_words words;	/* those that are not small */
	struct set_key *keys;		/* theirs */
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
	uint32_t *flight;	/* that did not return before `next' */
	size_t nflight, cflight;
	uint32_t nseeds;	/* so many of the parts before return in this one, or behind it */
	struct set_op *carried;	/* of groups that began before */
	size_t ncarried, ccarried;
	/* The key that is wrong, the operation that does not fit, and why. */
	uint64_t bad;
	uint32_t bad_item;
	const char *bad_why;
	struct set_op looked[SET_BLOCK + SET_SOON];
	uint64_t *latest;	/* of each thread, return + 1 */
	int ret;		/* what it came to: above 0 if it goes so */
} __attribute__((aligned(64)));

struct set {
	const struct kl_slice *s;
	const struct kl_limits *lim;
	uint8_t *roles;
	struct set_part *part;	/* if it is decided whole the first one is all */
	uint32_t nparts;
	void (*run)(struct set_part *s);	/* what is to be done with each part, */
	uint32_t taken;		/* and how many of them some thread has taken */
	uint32_t back;		/* so many operations before a part are looked at for those in flight */
	bool multi;		/* it is a multiset */
	uint32_t one;		/* the first bits of each key; set_key.multi */
	bool order;		/* one is wanted, */
	bool choose;		/* but now only what first bits are possible */
	bool lines;		/* the order of threads says more than times do */
	bool stop;		/* a part found that it does not go so */
	uint64_t most_work;	/* of each part */
};

static inline uint32_t set_index(const struct set *t, uint32_t item)
{
	return t->s->ops ? t->s->ops[item] : item;
}

/*
 * The key of an operation will be wanted soon.  Not inlined, it would be taken for a
 * function that does nothing.
 */
__attribute__((always_inline))
static inline void set_key_soon(const struct set_part *s, const struct set_small *m, uint64_t key)
{
	if (key < m->n)
		__builtin_prefetch(&m->key[key], 1);
	else
		mono_words_soon(&s->words, key, mono_words_hash(key));
}

/* In SET_SOON operations, and in half as many. */
__attribute__((always_inline))
static inline void set_keys_soon(const struct set_part *s, const struct set_small *m,
				 const struct set_op *op)
{
	const uint64_t key = op[SET_SOON / 2].key;
	uint32_t number;

	set_key_soon(s, m, op[SET_SOON].key);
	if (key < m->n)
		return;
	number = mono_words_sooner(&s->words, key, mono_words_hash(key));
	__builtin_prefetch(&s->keys[number], 1);
}

static inline struct set_key *set_find_key(struct set_part *s, const struct set_small *m,
					   uint64_t key)
{
	uint32_t number;

	if (key < m->n)
		return &m->key[key];
	if (mono_words_hashed(&s->words, key, mono_words_hash(key), &number))
		return NULL;
	return &s->keys[number];
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
 * set_group.c: the next @n operations of a part, and the end of the last group of a key,
 * which is one of several.  1, 0 if there is no way, -EAGAIN if that is too much, -ENOMEM.
 */
int set_add(struct set_part *part, const struct set_op *op, uint32_t n);
int set_end_several(struct set_part *part, struct set_key *k);
/* What part @from kept aside, to where it began: as set_add(). */
int set_add_carried(struct set_part *to, const struct set_part *from);
/* @key, which has no group, goes on with that of @from's @k.  1 or -ENOMEM. */
int set_take_group(struct set_part *to, struct set_key *key, const struct set_part *from,
		   const struct set_key *k);

/* The first item that is called at @time or later; @from was called before, and likely not long. */
uint32_t set_find_call(const struct set *t, uint32_t from, uint64_t time);
/* Is another of its thread, of whichever key, called when it returns?  Not asked if times tell. */
bool set_called_then(struct set_part *part, uint32_t item, uint64_t call, uint64_t ret,
		     uint32_t thread);

/* A group of one. */
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

/* Its group, if it was seen, is over for good. */
static inline int set_close(struct set_part *s, struct set_key *k)
{
	const int ret = k->bits ? set_end_group(s, k) : 1;

	k->last = 0;
	k->several = false;
	return ret;
}

/*
 * set_sweep.c: all operations of a part, and then the end of the last group of each key.  1;
 * 0: of the keys that are wrong s->bad is the one that was so first; -ERESTART: t->lines is
 * not so; -EAGAIN; -ENOMEM.
 */
int set_sweep(struct set_part *s);
int set_end_keys(struct set_part *s);
/* set_parts.c: in how many parts is it worth while? */
uint32_t set_count_parts(const struct set *t);
/* Make @nparts parts, for @t of which the rest is filled in.  0 or -ENOMEM. */
int set_init(struct set *t, uint32_t nparts);
void set_free(struct set *t);
/* The first part is all, as it was at first, but for the first bits of keys. */
void set_start_again(struct set *t);
/* Call @f of each key that was seen in the first part. */
void set_each_key(struct set *t, void (*f)(struct set_part *s, struct set_key *k));

/*
 * set_join.c: in parts beside each other, of an operation at least each.  True: there is an
 * order; false: it does not go so, which says nothing.
 */
bool set_decide_parts(struct set *t);

/* set.c: 1, 0 with the key that is wrong in the first part, -EAGAIN or -ENOMEM. */
int set_decide(struct set *t);

/*
 * set_order.c: the order, as a->steps.  1, 0 if it is not that of each thread, -ENOMEM.
 */
int set_order(struct set *t, struct kl_answer *a);

#endif
