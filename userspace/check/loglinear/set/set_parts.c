// SPDX-License-Identifier: GPL-2.0
/* Sets: the parts, and their memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/set/set.h"

#define SAMPLES		1024	/* operations that has_many_large() looks at */
#define MANY		256	/* number of large keys above which parts take more time */
#define NEAR		1024	/* small keys that stay in a CPU's cache */

/*
 * Return: 1 if a sample has many keys that are not small, which parts would join one by one; 0 if
 * not; -ENOMEM.  *top becomes the largest small key of the sample + 1.
 */
static int has_many_large(const struct set *t, uint64_t *top)
{
	const struct kl_history *h = t->s->h;
	const uint64_t n = t->s->nops;
	struct ll_words words;
	uint32_t i, number;
	int ret = ll_words_init(&words, NULL, SAMPLES);

	*top = 0;
	for (i = 0; i < SAMPLES && !ret; i++) {
		const struct kl_op *op = &h->ops[set_index(t, i * n / SAMPLES)];
		const struct kl_val *v = kl_op_args(h, op);

		if (!kl_op_sig(h, op)->nargs || v->tag != KL_WORD)
			continue;
		if (v->v >= n)
			ret = ll_words_hashed(&words, v->v, ll_words_hash(v->v), &number);
		else if (v->v >= *top)
			*top = v->v + 1;
	}
	if (!ret)
		ret = words.n > MANY;
	ll_words_free(&words);
	return ret;
}

uint32_t set_count_parts(const struct set *t)
{
	const uint32_t most = t->s->nops / SET_LEAST;
	uint32_t n = t->lim->threads < SET_PARTS ? t->lim->threads : SET_PARTS;
	uint64_t top;

	/* Parts make no order, and cannot count the keys of a multiset. */
	if (n < 2 || most < 2 || t->kind->multi || t->order || has_many_large(t, &top))
		return 1;
	if (top <= NEAR)
		n = n * SET_TURNS < SET_PARTS ? n * SET_TURNS : SET_PARTS;
	else if (n > SET_FAR_PARTS)
		n = SET_FAR_PARTS;
	return n < most ? n : most;
}

void set_each_key(struct set *t, void (*f)(struct set_part *s, struct set_key *k))
{
	struct set_part *s = &t->part[0];
	uint64_t key;
	uint32_t i;

	for (key = 0; key < s->top; key++)
		f(s, &s->small.key[key]);
	for (i = 0; i < s->words.n; i++)
		f(s, &s->keys[i]);
}

static void start_key(struct set_part *s, struct set_key *k)
{
	*k = (struct set_key){ .first = s->t->kind->multi ? 0 : k->first };
}

static void whole(struct set_part *s)
{
	s->from = 0;
	s->to = s->t->s->nops;
	s->next = KL_TIME_MAX;
}

void set_start_again(struct set *t)
{
	struct set_part *s = &t->part[0];

	set_each_key(t, start_key);
	whole(s);
	s->nnodes = s->nlate = s->nflight = 0;
	s->free_node = LL_NONE;
	s->work = 0;
	if (t->kind->free)
		t->kind->free(s);
}

static size_t room_for_keys(const struct set *t)
{
	return ((size_t)t->s->nops + 1) * sizeof(struct set_key);
}

/* Memory that is never written takes no pages. */
static int init_part(struct set *t, struct set_part *s)
{
	/* An operation's key belongs to its signature, so there are at most as many keys. */
	const size_t most = t->s->h->nopsigs * sizeof(struct set_key);

	s->t = t;
	s->one = t->one;
	s->free_node = s->free_sim = LL_NONE;
	whole(s);
	s->small.n = t->s->nops;
	s->small.key = kl_zero_map(room_for_keys(t), most);
	s->keys = kl_zero_map(room_for_keys(t), most);
	s->latest = malloc((t->s->h->nthreads + 1) * sizeof(*s->latest));
	if (!s->small.key || !s->keys || !s->latest)
		return -ENOMEM;
	return ll_words_init(&s->words, NULL, t->s->nops);
}

int set_init(struct set *t, uint32_t nparts)
{
	uint32_t i;
	int ret = 0;

	t->part = aligned_alloc(_Alignof(struct set_part), nparts * sizeof(*t->part));
	if (!t->part)
		return -ENOMEM;
	memset(t->part, 0, nparts * sizeof(*t->part));
	t->nparts = nparts;
	for (i = 0; i < nparts && !ret; i++)
		ret = init_part(t, &t->part[i]);
	return ret;
}

void set_free(struct set *t)
{
	uint32_t i;

	for (i = 0; t->part && i < t->nparts; i++) {
		struct set_part *s = &t->part[i];

		ll_words_free(&s->words);
		kl_zero_unmap(s->small.key, room_for_keys(t));
		kl_zero_unmap(s->keys, room_for_keys(t));
		free(s->node);
		free(s->op);
		free(s->ev);
		free(s->open);
		free(s->pending[0]);
		free(s->pending[1]);
		if (t->kind->free)
			t->kind->free(s);
		free(s->late);
		free(s->flight);
		free(s->carried);
		free(s->latest);
	}
	free(t->part);
}
