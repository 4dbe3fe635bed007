// SPDX-License-Identifier: GPL-2.0
/* Finds what operations stored, and by when the stores had left, see stores.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "story/stores.h"

#define MOST_SLOTS	256	/* largest number of words of a state */

static bool has_slot(const struct kl_outcome *o, size_t slot)
{
	size_t i;

	for (i = 0; i < o->nwrote && o->wrote[i] != slot; i++)
		;
	return i < o->nwrote;
}

/* Join one more outcome to what is known of a word. */
static void note_word(struct kl_touch *w, const struct kl_outcome *o, size_t slot, bool first)
{
	const struct kl_val after = o->state[slot];
	const bool wrote = has_slot(o, slot);
	struct kl_val before = kl_special(KL_ANY);

	/* Unknown i of the state before is the word i. */
	if (slot < o->nbound)
		before = o->bound[slot];
	w->sees = before.tag == KL_WORD && (first || (w->sees && w->seen == before.v));
	w->seen = before.v;
	w->surely = wrote && (first || w->surely);
	if (!wrote)
		return;
	w->known = after.tag == KL_WORD && (!w->stores || (w->known && w->left == after.v));
	w->left = after.v;
	w->stores = true;
}

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct kl_stores *t = ctx;
	size_t i;

	for (i = 0; i < t->len; i++)
		note_word(&t->now[i], o, i, !t->outcomes);
	t->barrier &= o->barrier;
	t->through &= o->through || !o->nwrote;
	t->outcomes++;
	return 0;
}

/*
 * Run an operation where the words are unknown, except those that are set in t->state, and set
 * t->now.  Return: 1, 0 if there is no answer, or -ENOMEM.
 */
static int run(struct kl_stores *t, uint32_t op)
{
	int ret;

	memset(t->now, 0, t->len * sizeof(*t->now));
	t->barrier = t->through = true;
	t->outcomes = 0;
	ret = kl_scene_apply(t->s, t->run, t->state, t->len, op, on_outcome, t);
	return ret == -ENOMEM ? ret : !ret;
}

static void forget_state(struct kl_stores *t)
{
	size_t i;

	for (i = 0; i < t->len; i++)
		t->state[i] = (struct kl_val){ .v = i, .tag = KL_ANY };
}

/* Add operation @op.  Return: as run(). */
static int add_op(struct kl_stores *t, uint32_t op)
{
	const bool pending = t->s->h->ops[op].flags & KL_OP_PENDING;
	struct kl_store_op *o = &t->ops[t->nops];
	int ret = run(t, op);
	size_t i;

	if (ret <= 0)
		return ret;
	*o = (struct kl_store_op){
		.op = op, .next = KL_NO_OP, .touch = t->ntouches, .pending = pending,
		.barrier = t->barrier && t->outcomes && !pending, .through = t->through,
	};
	if (kl_grow(t->touches, t->ctouches, t->ntouches + t->len))
		return -ENOMEM;
	for (i = 0; i < t->len; i++) {
		struct kl_touch w = t->now[i];

		w.at = t->nops;
		w.slot = i;
		w.sees &= !pending;
		w.surely &= !pending;
		if (w.sees || w.stores)
			t->touches[t->ntouches++] = w;
	}
	t->nops++;
	/* Stories of other reasons tell of operations that no state allows. */
	return pending || t->outcomes;
}

/* Link the operations of each thread.  Return: 0 or -ENOMEM. */
static int link_threads(struct kl_stores *t)
{
	uint32_t *last = malloc((t->s->h->nthreads + 1) * sizeof(*last));
	size_t i;

	if (!last)
		return -ENOMEM;
	memset(last, 0xff, (t->s->h->nthreads + 1) * sizeof(*last));
	for (i = t->nops; i--; ) {
		uint32_t *next = &last[kl_stores_op(t, i)->thread];

		t->ops[i].next = *next;
		*next = i;
	}
	free(last);
	return 0;
}

/* Return: as kl_stores_of(). */
static int find_stores(struct kl_stores *t, const struct kl_scene *s)
{
	const struct kl_val *v;
	size_t i;
	int ret = 1;

	t->s = s;
	if (!kl_spec_fixed_size(s->spec))
		return 0;
	t->run = kl_run_new(s->spec);
	v = t->run ? kl_run_init(t->run, false, &t->len) : NULL;
	if (!v)
		return -ENOMEM;
	if (!t->len || t->len > MOST_SLOTS)
		return 0;
	kl_run_set_raw(t->run, true);
	t->state = malloc(t->len * sizeof(*t->state));
	t->now = malloc(t->len * sizeof(*t->now));
	t->first = malloc(t->len * sizeof(*t->first));
	t->ops = calloc(s->part->nops + (size_t)1, sizeof(*t->ops));
	if (!t->state || !t->now || !t->first || !t->ops)
		return -ENOMEM;
	v = kl_run_init(t->run, s->h->fresh, &t->len);
	if (!v)
		return -ENOMEM;
	memcpy(t->first, v, t->len * sizeof(*v));
	forget_state(t);
	for (i = 0; i < s->part->nops && ret > 0; i++)
		ret = add_op(t, kl_result_op(s->part, i));
	t->ops[t->nops].touch = t->ntouches;
	return ret > 0 && link_threads(t) ? -ENOMEM : ret;
}

int kl_stores_of(const struct kl_scene *s, struct kl_stores **t)
{
	struct kl_stores **memo = &s->memo->stores;

	if (!*memo) {
		*memo = calloc(1, sizeof(**memo));
		if (!*memo)
			return -ENOMEM;
		(*memo)->found = find_stores(*memo, s);
	}
	*t = *memo;
	return (*memo)->found;
}

void kl_stores_free(struct kl_stores *t)
{
	if (!t)
		return;
	kl_run_free(t->run);
	free(t->ops);
	free(t->touches);
	free(t->now);
	free(t->first);
	free(t->state);
	free(t);
}

const struct kl_touch *kl_stores_touch(const struct kl_stores *t, uint32_t at, uint32_t slot)
{
	const struct kl_touch *w = t->touches + t->ops[at].touch;
	const struct kl_touch *end = t->touches + t->ops[at + 1].touch;

	while (w < end && w->slot != slot)
		w++;
	return w < end ? w : NULL;
}

struct kl_left kl_stores_left(const struct kl_stores *t, uint32_t at, uint32_t other)
{
	const struct kl_history *h = t->s->h;
	const uint64_t call = kl_stores_op(t, other)->call;
	uint32_t i;

	if (!kl_stores_before(t, at, other))
		return (struct kl_left){ KL_LEFT_NOT, at, 0 };
	if (t->ops[at].through)
		return (struct kl_left){ KL_LEFT_THROUGH, at, kl_stores_op(t, at)->ret };
	for (i = at; i != KL_NO_OP && kl_stores_op(t, i)->call <= call; i = t->ops[i].next) {
		const uint64_t empty = kl_op_empty(h, kl_stores_op(t, i));

		if (kl_scene_over(t->s, 1))
			break;
		if (i != at && !kl_stores_before(t, at, i))
			continue;
		if (kl_time_add(empty, h->error) < call)
			return (struct kl_left){ KL_LEFT_DRAIN, i, empty };
		if (i != at && t->ops[i].barrier && (i == other || kl_stores_before(t, i, other)))
			return (struct kl_left){ KL_LEFT_FENCE, i, kl_stores_op(t, i)->ret };
	}
	return (struct kl_left){ KL_LEFT_NOT, at, 0 };
}

/* Return: as kl_stores_exclude(), with the words that are known in t->state. */
static int exclude(struct kl_stores *t, uint32_t at)
{
	const int ret = run(t, t->ops[at].op);

	forget_state(t);
	return ret > 0 ? !t->outcomes : ret;
}

int kl_stores_exclude(struct kl_stores *t, uint32_t at, uint32_t slot, uint64_t v)
{
	t->state[slot] = kl_word(v);
	return exclude(t, at);
}

/* Set the words that are known. */
static void set_state(struct kl_stores *t, const struct kl_val *words)
{
	size_t i;

	for (i = 0; i < t->len; i++)
		if (words[i].tag == KL_WORD)
			t->state[i] = words[i];
}

int kl_stores_exclude_state(struct kl_stores *t, uint32_t at, const struct kl_val *words)
{
	set_state(t, words);
	return exclude(t, at);
}

/* Run an operation in a state of these words, with other results.  Return: as kl_run_apply(). */
static int run_with(struct kl_stores *t, uint32_t at, const struct kl_val *words,
		    const struct kl_val *res, kl_outcome_fn fn, void *ctx)
{
	const struct kl_history *h = t->s->h;
	const struct kl_op *o = kl_stores_op(t, at);
	const int m = kl_spec_find_method(t->s->spec, h->methods[kl_op_method(h, o)]);
	int ret;

	set_state(t, words);
	ret = kl_scene_run(t->s, t->run, t->state, t->len, m, kl_op_args(h, o), res, fn, ctx);
	forget_state(t);
	return ret;
}

int kl_stores_results(struct kl_stores *t, uint32_t at, const struct kl_val *words,
		      kl_outcome_fn fn, void *ctx)
{
	return run_with(t, at, words, NULL, fn, ctx);
}

struct change {
	const struct kl_val *words;
	size_t len, outcomes, changed;
};

static int on_change(void *ctx, const struct kl_outcome *o)
{
	struct change *c = ctx;
	size_t i;

	for (i = 0; i < c->len; i++)
		if (c->words[i].tag == KL_WORD && o->state[i].tag == KL_WORD &&
		    c->words[i].v != o->state[i].v)
			break;
	c->outcomes++;
	c->changed += i < c->len;
	return 0;
}

int kl_stores_would_change(struct kl_stores *t, uint32_t at, const struct kl_val *words)
{
	const struct kl_val yes = kl_word(1);
	struct change c = { .words = words, .len = t->len };
	const int ret = run_with(t, at, words, &yes, on_change, &c);

	return ret == -ENOMEM ? ret : !ret && c.outcomes && c.changed == c.outcomes;
}

struct kl_name kl_stores_name(struct kl_stores *t, uint32_t slot, uint64_t v)
{
	struct kl_name name;

	t->state[slot] = kl_word(v);
	name = kl_name_slot(t->s, t->state, slot);
	forget_state(t);
	return name;
}
