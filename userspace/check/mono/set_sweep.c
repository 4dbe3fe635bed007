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
#include "check/mono/set.h"

#define ALONE		512	/* operations of a part of a block if there is one side, */
#define DEALT		4096	/* or if there are several */
#define BATCH		128	/* operations whose keys are looked up together */
#define AHEAD		64	/* operations that are fetched before their turn */
#define SIDES		16	/* at most */
#define UNKNOWN		8

/* The side of a key: neighbours, and neighbours of a power of two, are apart. */
static inline uint32_t side_of(const struct set *t, uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull >> 32) * t->nsides >> 32;
}

/* What an operation does; UNKNOWN. */
static inline unsigned int what_of(enum kl_role role, struct kl_val res, bool pending)
{
	static const uint8_t does[][5] = {
		[KL_ROLE_ADD] = { SEES_IN, UP, UNKNOWN, UNKNOWN, UP },
		[KL_ROLE_REMOVE] = { SEES_OUT, DOWN, UNKNOWN, UNKNOWN, DOWN },
		[KL_ROLE_PEEK] = { SEES_OUT, SEES_IN, UNKNOWN, FREE, FREE },
	};

	return does[role][pending ? 4 : res.tag == KL_WORD ? !!res.v : 2 + (res.tag == KL_ANY)];
}

/* @k: the block. */
static inline struct set_op *dealt(const struct set_side *s, uint32_t k, uint32_t to)
{
	return s->dealt[k % 2] + (size_t)to * s->t->most_dealt;
}

static inline struct set_word *word(struct set_side *s, uint32_t k)
{
	return &s->word[k % 3];
}

/* False: it was called before another of its thread had returned for certain. */
static inline bool see_line(struct set_side *s, uint32_t k, const struct kl_op *op)
{
	struct set_line *l = &s->line[k % 2][op->thread];
	const bool behind = op->call >= l->latest;

	if (!l->first) {
		l->first = op->call + 1;
		s->lines[k % 2][s->nlines[k % 2]++] = op->thread;
	}
	if (op->ret != KL_TIME_MAX && op->ret >= l->latest)
		l->latest = op->ret + 1;
	return behind;
}

static int look_up(struct set_side *s, uint32_t k, uint32_t i, uint32_t end)
{
	const struct set *t = s->t;
	const struct kl_history *h = t->s->h;
	uint32_t *n = s->ndealt[k % 2];
	bool lines = false;

	memset(n, 0, t->nsides * sizeof(*n));
	for (; i < end; i++) {
		const struct kl_op *op = &h->ops[set_index(t, i)];
		const struct kl_shape *shape = &h->shapes[op->shape];
		const struct kl_val *v = &h->vals[shape->vals];
		const enum kl_role role = t->roles[shape->method];
		const bool pending = op->flags & KL_OP_PENDING;
		unsigned int what;
		uint32_t to;

		__builtin_prefetch(op + AHEAD);
		if (role == KL_ROLE_OTHER || v->tag != KL_WORD)
			return -EAGAIN;
		what = what_of(role, v[shape->nargs], pending);
		if (what == UNKNOWN)
			return -EAGAIN;
		if (pending) {
			if (kl_grow(s->absent, s->cabsent, s->nabsent + 1))
				return -ENOMEM;
			s->absent[s->nabsent++] = i;
		}
		to = side_of(t, v->v);
		dealt(s, k, to)[n[to]++] = (struct set_op){
			.key = v->v, .call = op->call, .ret = op->ret, .op = what << 28 | i,
			.thread = op->thread,
		};
		lines |= !see_line(s, k, op);
	}
	word(s, k)->lines = lines;
	return 1;
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

static int add_batch(struct set_side *s, const struct set_op *op, uint32_t n)
{
	uint32_t number[BATCH], i;
	int ret = 1;

	for (i = 0; i < n; i++)
		mono_words_soon(&s->words, op[i].key);
	for (i = 0; i < n; i++) {
		/* In case it is new. */
		s->keys[s->words.n].bits = s->first ? s->first[s->words.n] : s->t->one;
		s->keys[s->words.n].used = false;
		if (mono_words_number(&s->words, op[i].key, &number[i]))
			return -ENOMEM;
		__builtin_prefetch(&s->keys[number[i]]);
	}
	for (i = 0; i < n && ret > 0; i++)
		ret = set_add(s, &op[i], number[i]);
	if (ret)
		return ret;
	s->bad = op[i - 1].key;
	s->bad_at = set_item(op[i - 1].op);
	return 0;
}

/* What side @p was dealt of block @k. */
static int decide_block(struct set *t, uint32_t p, uint32_t k)
{
	struct set_side *s = &t->side[p];
	uint32_t c, i, n;
	int ret = 1;

	for (c = 0; c < t->nsides; c++) {
		const struct set_op *op = dealt(&t->side[c], k, p);
		const uint32_t all = t->side[c].ndealt[k % 2][p];

		for (i = 0; i < all && ret > 0; i += n) {
			n = all - i < BATCH ? all - i : BATCH;
			ret = add_batch(s, op + i, n);
		}
	}
	return ret;
}

static int end_keys(struct set_side *s)
{
	uint32_t i, item = MONO_NONE;
	const char *why = NULL;
	int ret;

	for (i = 0; i < s->words.n; i++) {
		ret = set_end_group(s, &s->keys[i]);
		if (ret < 0)
			return ret;
		if (ret || s->bad_item > item)
			continue;
		s->bad = s->words.word[i];
		s->bad_at = item = s->bad_item;
		why = s->bad_why;
	}
	s->bad_item = item;
	s->bad_why = why;
	return item == MONO_NONE;
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

	word(s, k)->looked = look_up(s, k, from, from + left);
}

/* What each of those does that decide together. */
static int sweep_some(struct set *t, uint32_t id, struct set_side **bad)
{
	const uint32_t blocks = count_blocks(t), team = t->team;
	uint32_t k, p;
	int ret = 1;

	for (k = 0; k <= blocks && ret > 0; k++) {
		for (p = id; p < t->nsides && k < blocks; p += team)
			look_up_part(t, p, k);
		if (team > 1)
			pthread_barrier_wait(&t->barrier);
		if (k)
			ret = hear(t, k - 1, bad);
		if (ret <= 0 || k == blocks)
			continue;
		if (!id && !t->lines)
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
	pthread_t thread[SIDES];
	uint32_t i;
	int ret;

	memset(t->latest, 0, t->s->h->nthreads * sizeof(*t->latest));
	pthread_mutex_lock(&t->gate);
	for (i = 1; i < t->nsides; i++)
		if (pthread_create(&thread[i], NULL, help, &t->side[i]))
			break;
	t->team = i;
	pthread_barrier_init(&t->barrier, NULL, t->team);
	pthread_mutex_unlock(&t->gate);
	/* All of them find the same. */
	ret = sweep_some(t, 0, bad);
	for (i = 1; i < t->team; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&t->barrier);
	return ret > 0 ? hear(t, count_blocks(t) + 1, bad) : ret;
}

int set_side_start(struct set_side *s)
{
	mono_words_free(&s->words);
	free(s->first);
	s->first = NULL;
	s->nnodes = s->nlate = s->nabsent = 0;
	s->free_node = MONO_NONE;
	s->work = 0;
	return mono_words_init(&s->words, s->t->s->nops);
}

static int init_side(struct set *t, struct set_side *s)
{
	const size_t n = (size_t)t->s->nops + 1, nthreads = t->s->h->nthreads + 1;
	unsigned int i;

	s->t = t;
	s->keys = kl_big_alloc(n * sizeof(*s->keys));
	if (!s->keys)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		s->dealt[i] = malloc((size_t)t->nsides * t->most_dealt * sizeof(*s->dealt[i]));
		s->ndealt[i] = calloc(t->nsides, sizeof(*s->ndealt[i]));
		s->line[i] = calloc(nthreads, sizeof(*s->line[i]));
		s->lines[i] = malloc(nthreads * sizeof(*s->lines[i]));
		if (!s->dealt[i] || !s->ndealt[i] || !s->line[i] || !s->lines[i])
			return -ENOMEM;
	}
	return set_side_start(s);
}

int set_init(struct set *t)
{
	const uint32_t n = t->s->nops, most = n / DEALT;
	uint32_t i;
	int ret = 0;

	t->nsides = t->lim->threads < SIDES ? t->lim->threads : SIDES;
	t->nsides = t->nsides < most ? t->nsides : most;
	t->nsides = t->nsides ? t->nsides : 1;
	t->most_dealt = t->nsides > 1 ? DEALT : n < ALONE ? n + 1 : ALONE;
	pthread_mutex_init(&t->gate, NULL);
	t->latest = calloc(t->s->h->nthreads + 1, sizeof(*t->latest));
	t->side = calloc(t->nsides, sizeof(*t->side));
	if (!t->latest || !t->side)
		return -ENOMEM;
	for (i = 0; i < t->nsides && !ret; i++)
		ret = init_side(t, &t->side[i]);
	return ret;
}

void set_free(struct set *t)
{
	uint32_t c;
	unsigned int i;

	for (c = 0; t->side && c < t->nsides; c++) {
		struct set_side *s = &t->side[c];

		mono_words_free(&s->words);
		free(s->keys);
		free(s->node);
		free(s->op);
		free(s->ev);
		free(s->open);
		free(s->late);
		free(s->absent);
		free(s->first);
		for (i = 0; i < 2; i++) {
			free(s->pending[i]);
			free(s->dealt[i]);
			free(s->ndealt[i]);
			free(s->line[i]);
			free(s->lines[i]);
		}
	}
	free(t->side);
	free(t->latest);
	pthread_mutex_destroy(&t->gate);
}
