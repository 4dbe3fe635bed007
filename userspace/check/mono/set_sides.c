// SPDX-License-Identifier: GPL-2.0
/*
 * Sets: the sides, and which of them has which keys.
 *
 * Keys go to sides in boxes, neighbours together, so that no two sides write to one line
 * of memory.  Boxes are dealt out by how many of some operations they have, looked at
 * before: keys are often few, or some are more busy than others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/mono/multi.h"

#define ALONE		512	/* operations of a part of a block if there is one side, */
#define DEALT		4096	/* or if there are several */
#define SAMPLES		1024
#define LINE		2	/* shift: keys in a line of memory */
#define FEW		(1u << 14)	/* keys that may have a line each */

void set_each_key(struct set *t, void (*f)(const struct set *t, struct set_key *k))
{
	uint32_t c, i;
	uint64_t key, top = 0;

	for (c = 0; c < t->nsides; c++) {
		const struct set_side *s = &t->side[c];

		top = s->top > top ? s->top : top;
		for (i = 0; i < s->words.n; i++)
			f(t, &s->keys[i]);
	}
	for (key = 0; key < top; key++)
		f(t, set_small_key(&t->small, key));
}

static void start_key(const struct set *t, struct set_key *k)
{
	*k = (struct set_key){ .first = t->multi ? 0 : k->first };
}

void set_start_again(struct set *t)
{
	uint32_t c;

	set_each_key(t, start_key);
	for (c = 0; c < t->nsides; c++) {
		struct set_side *s = &t->side[c];

		s->nnodes = s->nlate = s->nabsent = 0;
		s->free_node = MONO_NONE;
		s->work = 0;
		multi_free(s);
	}
}

static size_t room_for_keys(const struct set *t)
{
	return ((size_t)t->s->nops + 1) * sizeof(struct set_key);
}

static int init_side(struct set *t, struct set_side *s)
{
	const size_t n = (size_t)t->s->nops + 1, nthreads = t->s->h->nthreads + 1;
	const size_t room = (size_t)t->nsides * (t->most_dealt + SET_SOON);
	unsigned int i;

	s->t = t;
	s->free_node = s->free_sim = MONO_NONE;
	s->keys = kl_zero_map(room_for_keys(t));
	if (!s->keys)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		s->dealt[i] = calloc(room, sizeof(*s->dealt[i]));
		s->ndealt[i] = calloc(t->nsides, sizeof(*s->ndealt[i]));
		s->line[i] = calloc(nthreads, sizeof(*s->line[i]));
		s->lines[i] = malloc(nthreads * sizeof(*s->lines[i]));
		if (!s->dealt[i] || !s->ndealt[i] || !s->line[i] || !s->lines[i])
			return -ENOMEM;
	}
	return mono_words_init(&s->words, n - 1, 0);
}

/* How many of the samples go to each box; the small keys among them are below @top. */
static void sample(const struct set *t, uint32_t *count, uint64_t *top)
{
	const struct kl_history *h = t->s->h;
	const uint64_t n = t->s->nops;
	uint32_t i;

	*top = 0;
	for (i = 0; i < SAMPLES; i++) {
		const struct kl_op *op = &h->ops[set_index(t, i * n / SAMPLES)];
		const struct kl_val *v = kl_op_args(h, op);

		if (!kl_op_shape(h, op)->nargs || v->tag != KL_WORD)
			continue;
		count[set_box(t, v->v)]++;
		if (v->v < t->small.n && v->v >= *top)
			*top = v->v + 1;
	}
}

/* The largest first, to the side that has the least. */
static void deal_boxes(struct set *t, const uint32_t *count)
{
	struct kl_key k[2 * SET_BOXES];
	uint32_t load[SET_SIDES] = { 0 }, i, c, least;

	for (i = 0; i < SET_BOXES; i++)
		k[i] = (struct kl_key){ .key = SAMPLES - count[i], .val = i };
	kl_sort_keys(k, SET_BOXES, k + SET_BOXES);
	for (i = 0; i < SET_BOXES; i++) {
		for (c = least = 0; c < t->nsides; c++)
			least = load[c] < load[least] ? c : least;
		t->owner[k[i].val] = least;
		/* One that had no sample may have operations all the same. */
		load[least] += 4 * count[k[i].val] + 1;
	}
}

static void share(struct set *t)
{
	uint32_t count[SET_BOXES] = { 0 };

	sample(t, count, &t->sampled);
	if (t->sampled <= FEW && t->small.n >= FEW << LINE) {
		/* Few: each has a line. */
		t->small.spread = LINE;
		t->small.n >>= LINE;
		memset(count, 0, sizeof(count));
		sample(t, count, &t->sampled);
	}
	deal_boxes(t, count);
}

int set_init(struct set *t)
{
	const uint32_t n = t->s->nops, most = n / DEALT;
	uint32_t i;
	int ret = 0;

	t->nsides = t->lim->threads < SET_SIDES ? t->lim->threads : SET_SIDES;
	t->nsides = t->nsides < most ? t->nsides : most;
	t->nsides = t->nsides ? t->nsides : 1;
	t->most_dealt = t->nsides > 1 ? DEALT : n < ALONE ? n + 1 : ALONE;
	pthread_mutex_init(&t->gate, NULL);
	t->latest = calloc(t->s->h->nthreads + 1, sizeof(*t->latest));
	t->side = calloc(t->nsides, sizeof(*t->side));
	t->small.n = n;
	t->small.key = kl_zero_map(room_for_keys(t));
	if (!t->latest || !t->side || !t->small.key)
		return -ENOMEM;
	if (t->nsides > 1)
		share(t);
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
		kl_zero_unmap(s->keys, room_for_keys(t));
		free(s->node);
		free(s->op);
		free(s->ev);
		free(s->open);
		multi_free(s);
		free(s->late);
		free(s->absent);
		for (i = 0; i < 2; i++) {
			free(s->pending[i]);
			free(s->dealt[i]);
			free(s->ndealt[i]);
			free(s->line[i]);
			free(s->lines[i]);
		}
	}
	free(t->side);
	kl_zero_unmap(t->small.key, room_for_keys(t));
	free(t->latest);
	pthread_mutex_destroy(&t->gate);
}
