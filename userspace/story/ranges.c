// SPDX-License-Identifier: GPL-2.0
/* The words that the state can have had while an operation ran. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "story/ranges.h"

#define MOST_WORDS	8	/* largest number of words of a range */
#define MOST_CHOICES	64
#define FAR		(1ll << 40)

/* Note that one outcome changes word @i by @low to @high. */
static void note_change(struct kl_effect *e, size_t i, int64_t low, int64_t high)
{
	e->vague[i] |= high > FAR || low < -FAR;
	if (!e->outcomes || low < e->low[i])
		e->low[i] = low;
	if (!e->outcomes || high > e->high[i])
		e->high[i] = high;
}

/* Note that one outcome leaves word @i as @v, or any word. */
static void note_left(struct kl_effect *e, size_t i, struct kl_val v)
{
	const bool known = v.tag == KL_WORD && v.v < FAR;

	e->leaves[i] = known && (!e->outcomes || (e->leaves[i] && e->left[i] == (int64_t)v.v));
	e->left[i] = known ? v.v : 0;
}

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct kl_ranges *c = ctx;
	struct kl_effect *e = &c->now;
	uint64_t by;
	size_t i;

	for (i = 0; i < c->len; i++) {
		struct kl_val before = c->before[i], after = o->state[i];

		if (before.tag == KL_ANY && i < o->nbound)
			before = o->bound[i];
		if (after.tag == KL_ANY && after.v == i)
			after = before;
		note_left(e, i, after);
		if (after.tag == KL_WORD && before.tag == KL_WORD) {
			note_change(e, i, after.v - before.v, after.v - before.v);
		} else if (after.tag == KL_ANY && after.v == i) {
			note_change(e, i, 0, 0);
		} else if (kl_outcome_added(o, i, i, &by)) {
			note_change(e, i, by, by);
		} else if (after.tag == KL_WORD && c->is_bool[i]) {
			note_change(e, i, (int64_t)after.v - 1, after.v);
		} else {
			e->vague[i] = true;
			note_change(e, i, 0, 0);
		}
	}
	e->outcomes++;
	return 0;
}

/*
 * Run a method where words are as @state says, unknown ones by their number, and set c->now.
 * Return: 1, 0 if there is no answer, or -ENOMEM.
 */
static int run_method(struct kl_ranges *c, int m, const struct kl_val *args,
		      const struct kl_val *res, const struct kl_val *state)
{
	struct kl_val v[KL_RANGES + KL_RANGES * KL_RAW_ALIVE];
	size_t len = c->len, i;
	int ret;

	memcpy(v, state, len * sizeof(*v));
	for (i = 0; i < c->len; i++) {
		if (v[i].tag != KL_ANY)
			continue;
		kl_raw_alive(i, v + len);
		len += KL_RAW_ALIVE;
	}
	memset(&c->now, 0, sizeof(c->now));
	c->before = state;
	ret = kl_scene_run(c->s, c->run, v, len, m, args, res, on_outcome, c);
	return ret == -ENOMEM ? ret : !ret;
}

/* Run an operation with such a result.  Return: as run_method(). */
static int run_with(struct kl_ranges *c, uint32_t op, const struct kl_val *state,
		    enum kl_result result)
{
	static const struct kl_val yes = { .v = 1, .tag = KL_WORD };
	const struct kl_history *h = c->s->h;
	const struct kl_op *o = &h->ops[op];
	const int m = kl_spec_find_method(c->s->spec, h->methods[kl_op_method(h, o)]);
	const struct kl_val *res = kl_op_res(h, o);

	if (o->flags & KL_OP_PENDING || result == KL_ANY_RESULT)
		res = NULL;
	else if (result == KL_RESULT_TRUE)
		res = &yes;
	return run_method(c, m, kl_op_args(h, o), res, state);
}

static int run(struct kl_ranges *c, uint32_t op, const struct kl_val *state)
{
	return run_with(c, op, state, KL_ITS_RESULT);
}

static struct kl_val unknown(size_t i)
{
	return (struct kl_val){ .v = i, .tag = KL_ANY };
}

/* Run an operation where word @i is @v, and the others are unknown.  Return: as run(). */
static int run_at(struct kl_ranges *c, uint32_t op, size_t i, uint64_t v)
{
	struct kl_val state[KL_RANGES];
	size_t k;

	for (k = 0; k < c->len; k++)
		state[k] = k == i ? kl_word(v) : unknown(k);
	return run(c, op, state);
}

/* Note whether the operation may make word @k less than 0, or more than 1.  Return: as run(). */
static int look_at_bounds(struct kl_ranges *c, uint32_t op, const struct kl_effect *e, size_t k)
{
	int ret = 1;

	if (c->floor[k] && e->low[k] < 0) {
		ret = run_at(c, op, k, 0);
		c->floor[k] = e->low[k] == -1 && c->now.low[k] >= 0 && !c->now.vague[k];
	}
	if (ret > 0 && c->ceiling[k] && e->high[k] > 0) {
		ret = run_at(c, op, k, 1);
		c->ceiling[k] = e->high[k] == 1 && c->now.high[k] <= 0 && !c->now.vague[k];
	}
	return ret;
}

/* Find the effect of each operation.  Return: 1, 0 if one is not known, or -ENOMEM. */
static int find_effects(struct kl_ranges *c)
{
	const struct kl_part_result *p = c->s->part;
	struct kl_val state[KL_RANGES];
	size_t i, k, left;
	int ret;

	for (k = 0; k < c->len; k++) {
		state[k] = unknown(k);
		c->vague[k] = c->first[k].tag != KL_WORD;
		c->floor[k] = true;
		c->ceiling[k] = c->first[k].v <= 1;
	}
	for (i = 0; i < p->nops; i++) {
		const uint32_t op = kl_result_op(p, i);
		struct kl_effect *e = &c->effects[i];

		ret = run(c, op, state);
		if (ret <= 0)
			return ret;
		*e = c->now;
		for (k = left = 0; k < c->len; k++) {
			c->vague[k] |= e->vague[k];
			left += !c->vague[k];
		}
		/* Most structures have no word that can be counted. */
		if (!left)
			return 0;
		for (k = 0; k < c->len; k++) {
			ret = look_at_bounds(c, op, e, k);
			if (ret <= 0)
				return ret;
		}
	}
	return 1;
}

/*
 * Find the range of word @k where c->op takes effect, in an order that has @from before, which
 * leaves @word: an operation, or KL_NO_OP for the first state.
 */
static struct kl_range range_from(const struct kl_ranges *c, size_t k, uint32_t from, int64_t word)
{
	const struct kl_part_result *p = c->s->part;
	struct kl_range r = { word, word, true };
	size_t i;

	for (i = 0; i < p->nops; i++) {
		const uint32_t op = kl_result_op(p, i);
		const struct kl_effect *f = &c->effects[i];
		const bool sure = kl_scene_before(c->s, op, c->op) &&
				  (from == KL_NO_OP || kl_scene_before(c->s, from, op));

		if (op == c->op || op == from || kl_scene_before(c->s, c->op, op) ||
		    (from != KL_NO_OP && kl_scene_before(c->s, op, from)))
			continue;
		r.known &= !f->vague[k] && f->outcomes;
		r.low += sure || f->low[k] < 0 ? f->low[k] : 0;
		r.high += sure || f->high[k] > 0 ? f->high[k] : 0;
	}
	if (c->floor[k] && r.low < 0)
		r.low = 0;
	if (c->ceiling[k] && r.high > 1)
		r.high = 1;
	return r;
}

/* The range of word @k, whose stores may wait in the buffer. */
static struct kl_range range_of_sight(struct kl_ranges *c, size_t k, uint32_t at)
{
	struct kl_sight *s = &c->sight[k];
	struct kl_range r = { INT64_MAX, INT64_MIN, true };
	size_t i;

	*s = (struct kl_sight){ .t = c->stores, .e = at, .slot = k };
	if (!kl_sight_best(s))
		return (struct kl_range){ 0 };
	c->from[k] = s->x == KL_NO_OP ? KL_NO_OP : c->stores->ops[s->x].op;
	for (i = 0; i < s->n; i++) {
		const int64_t v = s->words[i];

		r.known &= v >= 0 && v < FAR;
		r.low = v < r.low ? v : r.low;
		r.high = v > r.high ? v : r.high;
	}
	return r;
}

/* Find the ranges of the words where operation @e takes effect. */
static void find_ranges(struct kl_ranges *c, uint32_t e)
{
	const struct kl_part_result *p = c->s->part;
	size_t i, k, last[KL_RANGES];

	c->op = e;
	for (k = 0; k < c->len; k++)
		last[k] = SIZE_MAX;
	/* The operation before that was called last leaves the smallest range. */
	for (i = 0; i < p->nops; i++) {
		const uint32_t op = kl_result_op(p, i);

		if (op == e) {
			c->effect = c->effects[i];
			c->at = i;
		}
		if (!kl_scene_before(c->s, op, e))
			continue;
		for (k = 0; k < c->len; k++)
			if (c->effects[i].leaves[k] && (last[k] == SIZE_MAX ||
			    c->s->h->ops[kl_result_op(p, last[k])].call < c->s->h->ops[op].call))
				last[k] = i;
	}
	for (k = 0; k < c->len; k++) {
		struct kl_range *r = &c->r[k], other;

		c->from[k] = KL_NO_OP;
		if (c->waits[k]) {
			*r = range_of_sight(c, k, c->at);
			r->known &= r->high - r->low < MOST_WORDS;
			continue;
		}
		*r = range_from(c, k, KL_NO_OP, c->first[k].v);
		r->known &= c->first[k].tag == KL_WORD && c->first[k].v < FAR;
		if (last[k] != SIZE_MAX) {
			const uint32_t op = kl_result_op(p, last[k]);

			other = range_from(c, k, op, c->effects[last[k]].left[k]);
			if (other.known && (!r->known ||
					    other.high - other.low < r->high - r->low)) {
				*r = other;
				c->from[k] = op;
			}
		}
		/* Where the range is empty, an operation before is wrong. */
		r->known &= r->low <= r->high && r->high - r->low < MOST_WORDS;
	}
}

/* Find the ranges of the states in all orders.  Return: 1, 0 if they do not help, or -ENOMEM. */
static int find_exact(struct kl_ranges *c)
{
	struct kl_stores *t;
	struct kl_views v;
	size_t i, k;
	int ret = kl_stores_of(c->s, &t);

	if (ret <= 0)
		return ret;
	ret = kl_views_exclude(t, c->at, KL_NO_OP, &v);
	for (k = 0; k < c->len && ret > 0; k++) {
		struct kl_range *r = &c->r[k];

		*r = (struct kl_range){ INT64_MAX, INT64_MIN, v.all };
		for (i = 0; i < v.n; i++) {
			const struct kl_val w = kl_views_state(&v, i)[k];

			r->known &= w.tag == KL_WORD && w.v < FAR;
			r->low = (int64_t)w.v < r->low ? (int64_t)w.v : r->low;
			r->high = (int64_t)w.v > r->high ? (int64_t)w.v : r->high;
		}
		r->known &= r->high - r->low < MOST_WORDS;
	}
	kl_views_free(&v);
	return ret;
}

/* Number of choices of words from the ranges. */
static uint64_t count_choices(const struct kl_ranges *c)
{
	uint64_t choices = 1;
	size_t k;

	for (k = 0; k < c->len; k++)
		choices *= c->r[k].known ? c->r[k].high - c->r[k].low + 1 : 1;
	return choices;
}

/* Run the operation for choice number @n of words.  Return: as run(). */
static int run_choice(struct kl_ranges *c, uint64_t n, enum kl_result result)
{
	struct kl_val state[KL_RANGES];
	size_t k;

	for (k = 0; k < c->len; k++) {
		const struct kl_range *r = &c->r[k];
		const uint64_t size = r->high - r->low + 1;

		state[k] = unknown(k);
		if (!r->known)
			continue;
		state[k] = kl_word(r->low + n % size);
		n /= size;
	}
	return run_with(c, c->op, state, result);
}

/* Is the operation impossible for each choice of words?  Return: 1 if so, 0 if not, -ENOMEM. */
static int excluded(struct kl_ranges *c)
{
	const uint64_t choices = count_choices(c);
	uint64_t n;
	int ret;

	if (choices > MOST_CHOICES)
		return 0;
	for (n = 0; n < choices; n++) {
		ret = run_choice(c, n, KL_ITS_RESULT);
		if (ret <= 0 || c->now.outcomes)
			return ret < 0 ? ret : 0;
	}
	return 1;
}

/* Does each outcome of the last call change a word? */
static bool changes(const struct kl_ranges *c)
{
	const struct kl_effect *e = &c->now;
	size_t k;

	for (k = 0; k < c->len && e->outcomes; k++)
		if (!e->vague[k] && (e->low[k] > 0 || e->high[k] < 0))
			return true;
	return false;
}

/* Does no outcome of the last call change a word? */
static bool changes_nothing(const struct kl_ranges *c)
{
	const struct kl_effect *e = &c->now;
	size_t k;

	for (k = 0; k < c->len && e->outcomes; k++)
		if (e->vague[k] || e->low[k] || e->high[k])
			return false;
	return true;
}

int kl_ranges_try(struct kl_ranges *r, enum kl_result result, bool change)
{
	const uint64_t choices = count_choices(r);
	uint64_t n;
	int ret;

	for (n = 0; n < choices; n++) {
		ret = run_choice(r, n, result);
		if (ret <= 0)
			return ret;
		if (!(change ? changes(r) : changes_nothing(r)))
			return 0;
	}
	return 1;
}

int kl_ranges_lowered(struct kl_ranges *r, size_t k)
{
	struct kl_val state[KL_RANGES];
	const struct kl_method *m;
	size_t i;
	int ret;

	for (i = 0; i < r->len; i++)
		state[i] = unknown(i);
	for (i = 0; i < kl_spec_nmethods(r->s->spec); i++) {
		m = kl_spec_method(r->s->spec, i);
		if (m->nparams)
			continue;
		ret = run_method(r, i, NULL, NULL, state);
		if (ret < 0 || (ret && r->now.outcomes && r->now.low[k] < 0))
			return ret;
	}
	return 0;
}

/* A word of a state, which may be less than 0, as "readers = 1". */
static struct kl_name name_word(const struct kl_ranges *c, const struct kl_val *state, size_t k)
{
	struct kl_name name = kl_name_slot(c->s, state, k);
	char *value = strstr(name.s, " = ");

	if (value && (int64_t)state[k].v < 0)
		snprintf(value, name.s + sizeof(name.s) - value, " = %lld", (long long)state[k].v);
	return name;
}

void kl_ranges_name(const struct kl_ranges *c, char *text, size_t size)
{
	const struct kl_range *r = c->r;
	struct kl_val state[KL_RANGES];
	size_t len = 0, k;

	*text = 0;
	for (k = 0; k < c->len; k++)
		state[k] = r[k].known ? kl_word(r[k].low) : unknown(k);
	for (k = 0; k < c->len && len < size; k++) {
		if (!r[k].known)
			continue;
		len += snprintf(text + len, size - len, "%s%s", len ? " and " : "",
				name_word(c, state, k).s);
		if (r[k].low < r[k].high && len < size)
			len += snprintf(text + len, size - len, " to %lld",
					(long long)r[k].high);
	}
}

/* Cast the operation that the range of word @k begins with.  Return: 0 or -ENOMEM. */
static int cast_from(const struct kl_ranges *c, size_t k, struct kl_story *story)
{
	const struct kl_part_result *p = c->s->part;
	struct kl_val state[KL_RANGES];
	size_t i;

	for (i = 0; i < c->len; i++)
		state[i] = unknown(i);
	for (i = 0; i < p->nops; i++) {
		if (kl_result_op(p, i) != c->from[k])
			continue;
		state[k] = kl_word(c->effects[i].left[k]);
		return kl_story_cast(story, c->from[k], "left or saw %s", name_word(c, state, k).s);
	}
	return 0;
}

/* Does operation number @i of the partition change one of the words in the ranges? */
static bool counts(const struct kl_ranges *c, size_t i)
{
	const uint32_t op = kl_result_op(c->s->part, i);
	const struct kl_effect *f = &c->effects[i];
	bool change = false;
	size_t k;

	if (op == c->op || kl_scene_before(c->s, c->op, op))
		return false;
	for (k = 0; k < c->len; k++)
		change |= c->r[k].known && !c->waits[k] && (f->low[k] || f->high[k]) &&
			  (c->from[k] == KL_NO_OP || !kl_scene_before(c->s, op, c->from[k]));
	return change;
}

static bool is_cast(const struct kl_story *story, uint32_t op)
{
	size_t i;

	for (i = 0; i < story->ncast && story->cast[i].op != op; i++)
		;
	return i < story->ncast;
}

/* Cast the counterexample, which has no order.  Return: 0 or -ENOMEM. */
static int cast_proof(const struct kl_ranges *c, struct kl_story *story)
{
	size_t i;

	for (i = c->s->nproof; i--;) {
		const uint32_t op = c->s->proof[i];

		if (kl_story_cast(story, op, "%s",
				  kl_scene_before(c->s, op, c->op) ? "counts" :
				  kl_scene_before(c->s, c->op, op) ? "was called later" :
								     "may count"))
			return -ENOMEM;
	}
	return kl_story_cast_all(c->s, story, c->op);
}

int kl_ranges_cast(const struct kl_ranges *c, struct kl_story *story)
{
	const struct kl_part_result *p = c->s->part;
	size_t i, k, more = 0;

	if (c->exact)
		return cast_proof(c, story);
	for (k = 0; k < c->len; k++) {
		if (!c->r[k].known)
			continue;
		if (c->waits[k] ? kl_sight_cast(&c->sight[k], story) :
		    c->from[k] != KL_NO_OP && cast_from(c, k, story))
			return -ENOMEM;
	}
	/* If there are too many, the cast has the last ones, which are near the excluded one. */
	for (i = p->nops; i--;) {
		const uint32_t op = kl_result_op(p, i);

		if (!counts(c, i))
			continue;
		if (kl_story_cast(story, op, kl_scene_before(c->s, op, c->op) ? "counts" :
				  "may count"))
			return -ENOMEM;
		more += !is_cast(story, op);
	}
	return more ? kl_story_fact(story, more == 1 ? "%zu earlier operation counts, too" :
				    "%zu earlier operations count, too", more) : 0;
}

/* Keep the words that matter.  Return: 1, 0 if none does, or -ENOMEM. */
static int narrow(struct kl_ranges *c)
{
	bool any = false;
	size_t k;
	int ret;

	for (k = 0; k < c->len; k++) {
		if (!c->r[k].known)
			continue;
		c->r[k].known = false;
		ret = excluded(c);
		if (ret < 0)
			return ret;
		c->r[k].known = !ret;
		any |= !ret;
	}
	/* An operation that no state allows is another reason. */
	return any;
}

/* The text of the first word shows the type of a word. */
static bool is_bool(const struct kl_ranges *c, size_t k)
{
	const struct kl_name name = kl_name_slot(c->s, c->first, k);

	return c->first[k].tag == KL_WORD && c->first[k].v <= 1 &&
	       (strstr(name.s, " = false") || strstr(name.s, " = true"));
}

/* Find the words to which stores may wait in the buffer.  Return: as kl_stores_of(). */
static int find_waits(struct kl_ranges *c)
{
	const struct kl_touch *w;
	int ret = kl_stores_of(c->s, &c->stores);

	if (ret <= 0)
		return ret;
	for (w = c->stores->touches; w < c->stores->touches + c->stores->ntouches; w++)
		c->waits[w->slot] |= w->stores && !c->stores->ops[w->at].through;
	return 1;
}

/* Set the first state.  Return: 1, 0 if its words cannot be counted, or -ENOMEM. */
static int begin(struct kl_ranges *c)
{
	const struct kl_val *v;
	size_t k;
	int ret;

	c->run = kl_run_new(c->s->spec);
	v = c->run ? kl_run_init(c->run, true, &c->len) : NULL;
	if (!v)
		return -ENOMEM;
	if (!c->len || c->len > KL_RANGES)
		return 0;
	memcpy(c->first, v, c->len * sizeof(*v));
	for (k = 0; k < c->len; k++)
		c->is_bool[k] = is_bool(c, k);
	kl_run_set_raw(c->run, true);
	c->effects = calloc(c->s->part->nops + 1, sizeof(*c->effects));
	if (!c->effects)
		return -ENOMEM;
	ret = c->s->tso ? find_waits(c) : 1;
	return ret > 0 ? find_effects(c) : ret;
}

static int look_at(struct kl_ranges *c, uint32_t e,
		   int (*look)(struct kl_ranges *r, struct kl_story *story), struct kl_story *story)
{
	int ret;

	if (kl_scene_over(c->s, c->s->part->nops))
		return 0;
	find_ranges(c, e);
	ret = c->exact ? find_exact(c) : 1;
	if (ret > 0)
		ret = excluded(c);
	if (ret > 0)
		ret = narrow(c);
	return ret > 0 ? look(c, story) : ret;
}

/* Return: the ranges of the scene's violation, or NULL when out of memory. */
static struct kl_ranges *ranges_of(const struct kl_scene *s)
{
	struct kl_ranges *c = s->memo->ranges;

	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->s = s;
	c->found = begin(c);
	s->memo->ranges = c;
	return c;
}

/* Set *@c to the ranges of the scene.  Return: 1, 0 if there are none, or -ENOMEM. */
static int known_ranges(const struct kl_scene *s, struct kl_ranges **c)
{
	if (!s->h->fresh || !kl_spec_fixed_size(s->spec))
		return 0;
	*c = ranges_of(s);
	return *c ? (*c)->found : -ENOMEM;
}

int kl_ranges_exclude(const struct kl_scene *s, uint32_t first, uint32_t x,
		      struct kl_story *story)
{
	struct kl_ranges *c;
	int ret = known_ranges(s, &c);

	if (ret <= 0)
		return ret;
	if (kl_scene_over(s, s->part->nops))
		return 0;
	s->memo->earlier = first;
	s->memo->later = x;
	c->exact = false;
	find_ranges(c, x);
	ret = excluded(c);
	if (ret > 0 && story)
		ret = narrow(c);
	if (ret > 0 && story && kl_ranges_cast(c, story))
		ret = -ENOMEM;
	s->memo->earlier = s->memo->later = KL_NO_OP;
	return ret;
}

int kl_ranges_each(const struct kl_scene *s, bool exact,
		   int (*look)(struct kl_ranges *r, struct kl_story *story), struct kl_story *story)
{
	const uint32_t fails = kl_story_failing(s->part->cex);
	struct kl_ranges *c;
	size_t i;
	int ret = known_ranges(s, &c);

	if (ret <= 0)
		return ret;
	c->exact = exact;
	ret = fails != KL_NO_OP ? look_at(c, fails, look, story) : 0;
	for (i = s->nproof; i-- && !ret && !kl_scene_over(s, 1);)
		if (!(s->h->ops[s->proof[i]].flags & KL_OP_PENDING))
			ret = look_at(c, s->proof[i], look, story);
	return ret;
}

void kl_ranges_free(struct kl_ranges *r)
{
	if (!r)
		return;
	free(r->effects);
	kl_run_free(r->run);
	free(r);
}
