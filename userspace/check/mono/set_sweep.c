// SPDX-License-Identifier: GPL-2.0
/*
 * Sets: all operations, in blocks.  Of each block every side looks up a part, and deals
 * the operations to sides by their keys; then each decides what it was dealt, in order.
 * So a key is always decided by one of them, and by nobody else: what is found does not
 * depend on how many there are.  While some decide a block others look up the next one,
 * so that all wait for one another once a block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/mono/multi.h"

#define AHEAD		64	/* operations that are fetched before their turn, */
#define SHAPES		24	/* and their shapes, */
#define VALUES		12	/* and the values of these */
#define TOUCH		(2u << 20)	/* bytes: a huge page */
#define UNKNOWN		8

/* What an operation does; UNKNOWN. */
static inline unsigned int what_of(const uint8_t does[][5], enum kl_role role, struct kl_val res,
				   bool pending)
{
	return does[role][pending ? 4 : res.tag == KL_WORD ? !!res.v : 2 + (res.tag == KL_ANY)];
}

/* By role; by whether the result is false or true, some special value or not known; pending. */
static const uint8_t set_does[][5] = {
	[KL_ROLE_ADD] = { SEES_IN, UP, UNKNOWN, UNKNOWN, UP },
	[KL_ROLE_REMOVE] = { SEES_OUT, DOWN, UNKNOWN, UNKNOWN, DOWN },
	[KL_ROLE_PEEK] = { SEES_OUT, SEES_IN, UNKNOWN, FREE, FREE },
	[KL_ROLE_COUNT] = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
};

static const uint8_t multi_does[][5] = {
	[KL_ROLE_ADD] = { UP, UP, UP, UP, UP },
	[KL_ROLE_REMOVE] = { SEES_OUT, DOWN, UNKNOWN, UNKNOWN, DOWN },
	[KL_ROLE_PEEK] = { SEES_OUT, SEES_IN, UNKNOWN, FREE, FREE },
	[KL_ROLE_COUNT] = { SEES_OUT, SEES_COUNT, UNKNOWN, FREE, FREE },
};

/* @k: the block. */
static inline struct set_op *dealt(const struct set_side *s, uint32_t k, uint32_t to)
{
	return s->dealt[k % 2] + (size_t)to * (s->t->most_dealt + SET_SOON);
}

static inline struct set_word *word(struct set_side *s, uint32_t k)
{
	return &s->word[k % 3];
}

/*
 * False: it was called before another of its thread had returned for certain, of which
 * *@latest is the latest return + 1.
 */
static inline bool follows(uint64_t *latest, const struct kl_op *op)
{
	const bool behind = op->call >= *latest;

	if (op->ret != KL_TIME_MAX && op->ret >= *latest)
		*latest = op->ret + 1;
	return behind;
}

static inline bool see_line(struct set_side *s, uint32_t k, const struct kl_op *op)
{
	struct set_line *l = &s->line[k % 2][op->thread];

	if (!l->first) {
		l->first = op->call + 1;
		s->lines[k % 2][s->nlines[k % 2]++] = op->thread;
	}
	return follows(&l->latest, op);
}

/* It never returned. */
static int note_absent(struct set_side *s, uint32_t item)
{
	if (kl_grow(s->absent, s->cabsent, s->nabsent + 1))
		return -ENOMEM;
	s->absent[s->nabsent++] = item;
	return 1;
}

/*
 * The operations from @i to before @end, dealt to sides; @alone: there is one side, which
 * sees all of a thread in order.  What does not change is told beforehand, as any store
 * could change all else.
 */
static inline __attribute__((always_inline))
int look_up(struct set_side *s, uint32_t k, uint32_t i, uint32_t end, bool alone)
{
	const struct set *t = s->t;
	const struct kl_op *const ops = t->s->h->ops;
	const struct kl_shape *const shapes = t->s->h->shapes;
	const struct kl_val *const vals = t->s->h->vals;
	const uint32_t *const list = t->s->ops;
	const uint8_t *const roles = t->roles;
	const uint8_t (*const does)[5] = t->multi ? multi_does : set_does;
	const uint64_t nsmall = t->small.n;
	uint64_t *const latest = t->latest, top = s->top;
	struct set_op *only = s->dealt[k % 2], *next[SET_SIDES];
	bool lines = false;
	uint32_t side;
	int ret = 1;

	for (side = 0; side < t->nsides; side++)
		next[side] = dealt(s, k, side);
	for (; i < end; i++) {
		const struct kl_op *op = &ops[list ? list[i] : i];
		const struct kl_shape shape = shapes[op->shape];
		const struct kl_val *v = &vals[shape.vals];
		const enum kl_role role = roles[shape.method];
		const bool pending = op->flags & KL_OP_PENDING;
		struct set_op *to;
		unsigned int what;

		__builtin_prefetch(op + AHEAD);
		if (i + SHAPES < end) {
			const struct kl_op *far = &ops[list ? list[i + SHAPES] : i + SHAPES];
			const struct kl_op *near = &ops[list ? list[i + VALUES] : i + VALUES];

			__builtin_prefetch(&shapes[far->shape]);
			__builtin_prefetch(&vals[shapes[near->shape].vals]);
		}
		ret = -EAGAIN;
		if (role == KL_ROLE_OTHER || v->tag != KL_WORD)
			break;
		/* An addition to a multiset has no result. */
		what = what_of(does, role, v[shape.nargs - !shape.nres], pending);
		if (what == UNKNOWN)
			break;
		ret = pending ? note_absent(s, i) : 1;
		if (ret < 0)
			break;
		top = v->v >= top && v->v < nsmall ? v->v + 1 : top;
		if (alone) {
			to = only++;
			lines |= !follows(&latest[op->thread], op);
		} else {
			to = next[set_side_of(t, v->v)]++;
			lines |= !see_line(s, k, op);
		}
		*to = (struct set_op){
			.key = v->v, .call = op->call, .ret = op->ret, .op = what << 28 | i,
			.thread = op->thread,
		};
	}
	s->top = top;
	if (alone)
		*next = only;
	for (side = 0; side < t->nsides; side++)
		s->ndealt[k % 2][side] = next[side] - dealt(s, k, side);
	word(s, k)->lines = lines;
	return ret;
}

/* What all parts of block @k say of threads, one after the other. */
static void join_lines(struct set *t, uint32_t k)
{
	bool lines = false;
	uint32_t c, i;

	for (c = 0; c < t->nsides; c++) {
		struct set_side *s = &t->side[c];

		lines |= word(s, k)->lines;
		for (i = 0; i < s->nlines[k % 2]; i++) {
			struct set_line *l = &s->line[k % 2][s->lines[k % 2][i]];
			uint64_t *latest = &t->latest[s->lines[k % 2][i]];

			lines |= l->first <= *latest;
			*latest = l->latest > *latest ? l->latest : *latest;
			*l = (struct set_line){ 0 };
		}
		s->nlines[k % 2] = 0;
	}
	word(&t->side[0], k)->lines = lines;
}

/* What side @p was dealt of block @k. */
static int decide_block(struct set *t, uint32_t p, uint32_t k)
{
	uint32_t c;
	int ret = 1;

	for (c = 0; c < t->nsides && ret > 0; c++)
		ret = (t->multi ? multi_add : set_add)(&t->side[p], dealt(&t->side[c], k, p),
						       t->side[c].ndealt[k % 2][p]);
	return ret;
}

struct worst {
	uint32_t item;
	uint64_t key;
	const char *why;
};

/* 1; 0 if it is the earliest wrong one so far; or a negative errno. */
static int end_key(struct set_side *s, struct set_key *k, uint64_t key, struct worst *worst)
{
	const int ret = s->t->multi ? multi_end_key(s, k) : k->bits ? set_end_group(s, k) : 1;

	if (!ret && s->bad_item <= worst->item)
		*worst = (struct worst){ s->bad_item, key, s->bad_why };
	return ret;
}

static int end_keys(struct set_side *s)
{
	const struct set *t = s->t;
	struct worst worst = { .item = MONO_NONE };
	uint64_t key, top = 0;
	uint32_t i;
	int ret = 1;

	for (i = 0; i < t->nsides; i++)
		top = t->side[i].top > top ? t->side[i].top : top;
	for (key = 0; key < top && ret >= 0; key++)
		if (t->nsides == 1 || set_side_of(t, key) == s - t->side)
			ret = end_key(s, set_small_key(&t->small, key), key, &worst);
	for (i = 0; i < s->words.n && ret >= 0; i++)
		ret = end_key(s, &s->keys[i], s->words.word[i], &worst);
	if (ret < 0)
		return ret;
	s->bad = worst.key;
	s->bad_at = s->bad_item = worst.item;
	s->bad_why = worst.why;
	return worst.item == MONO_NONE;
}

/* What all sides said of block @k. */
static int hear(struct set *t, uint32_t k, struct set_side **bad)
{
	bool again = false;
	uint64_t work = 0;
	uint32_t c;

	*bad = NULL;
	for (c = 0; c < t->nsides; c++) {
		struct set_side *s = &t->side[c];
		const struct set_word *w = word(s, k);

		if (w->looked == -ENOMEM || w->found == -ENOMEM)
			return -ENOMEM;
		again |= w->looked < 0 || w->found < 0;
		work += w->work;
		if (!w->found && (!*bad || s->bad_at < (*bad)->bad_at))
			*bad = s;
	}
	if (word(&t->side[0], k)->lines && !t->lines)
		return -ERESTART;
	return again || work >= t->most_work ? -EAGAIN : !*bad;
}

static uint32_t count_blocks(const struct set *t)
{
	return t->s->nops / (t->most_dealt * t->nsides) + 1;
}

static void look_up_part(struct set *t, uint32_t c, uint32_t k)
{
	const uint32_t n = t->s->nops;
	const uint64_t at = ((uint64_t)k * t->nsides + c) * t->most_dealt;
	const uint32_t from = at < n ? at : n;
	const uint32_t left = n - from < t->most_dealt ? n - from : t->most_dealt;
	struct set_side *s = &t->side[c];

	word(s, k)->looked = t->nsides > 1 ? look_up(s, k, from, from + left, false) :
			     look_up(s, k, from, from + left, true);
}

/* Each has a part of the keys' memory made, so that they do not wait for all of it. */
static void touch_keys(struct set *t, uint32_t id)
{
	const size_t bytes = (t->sampled << t->small.spread) * sizeof(*t->small.key);
	volatile char *page = (volatile char *)t->small.key;
	size_t at;

	for (at = (size_t)id * TOUCH; at < bytes; at += (size_t)t->team * TOUCH)
		page[at] = 0;
}

/* What each of those does that decide together. */
static int sweep_some(struct set *t, uint32_t id, struct set_side **bad)
{
	const uint32_t blocks = count_blocks(t), team = t->team;
	uint32_t k, p;
	int ret = 1;

	touch_keys(t, id);
	for (k = 0; k <= blocks && ret > 0; k++) {
		for (p = id; p < t->nsides && k < blocks; p += team)
			look_up_part(t, p, k);
		kl_barrier_wait(&t->barrier);
		if (k)
			ret = hear(t, k - 1, bad);
		if (ret <= 0 || k == blocks)
			continue;
		if (!id && !t->lines && t->nsides > 1)
			join_lines(t, k);
		for (p = id; p < t->nsides; p += team) {
			word(&t->side[p], k)->found = decide_block(t, p, k);
			word(&t->side[p], k)->work = t->side[p].work;
		}
	}
	for (p = id; p < t->nsides && ret > 0; p += team)
		*word(&t->side[p], k) = (struct set_word){
			.looked = 1, .found = end_keys(&t->side[p]), .work = t->side[p].work,
		};
	return ret;
}

static void *help(void *arg)
{
	struct set_side *s = arg, *bad;

	/* Until it is known how many there are. */
	pthread_mutex_lock(&s->t->gate);
	pthread_mutex_unlock(&s->t->gate);
	sweep_some(s->t, s - s->t->side, &bad);
	return NULL;
}

/* Not OpenMP's threads, which spin when they have nothing to do. */
int set_sweep(struct set *t, struct set_side **bad)
{
	pthread_t thread[SET_SIDES];
	uint32_t i;
	int ret;

	memset(t->latest, 0, t->s->h->nthreads * sizeof(*t->latest));
	pthread_mutex_lock(&t->gate);
	for (i = 1; i < t->nsides; i++)
		if (pthread_create(&thread[i], NULL, help, &t->side[i]))
			break;
	t->team = i;
	kl_barrier_init(&t->barrier, t->team);
	pthread_mutex_unlock(&t->gate);
	/* All of them find the same. */
	ret = sweep_some(t, 0, bad);
	for (i = 1; i < t->team; i++)
		pthread_join(thread[i], NULL);
	kl_barrier_free(&t->barrier);
	return ret > 0 ? hear(t, count_blocks(t) + 1, bad) : ret;
}
