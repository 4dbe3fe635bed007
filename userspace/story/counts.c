// SPDX-License-Identifier: GPL-2.0
/*
 * Reason: an operation needs another count than there can have been: of readers, permits,
 * references, or of holders, which a bool counts, too.
 *
 *	read_lock()  write_lock()		readers = 1
 *	down()  try_down() -> 1			n = 0
 *	up()  try_down() -> 0			n = 1 while it ran
 *	unlock()				held = false
 *
 * The state has a few words, and the first state is known.  The interpreter finds, from a state of
 * unknown words, by how much each operation changes each word.  When E takes effect, the word is
 * the first one, and the changes of all operations that took effect before.  Those that certainly
 * returned before E was called did, those that were certainly called after E returned did not, and
 * any of the others may have.  So the word is in a range.  If E is impossible for each choice of
 * words from their ranges, there is no order.
 *
 * The range has no word below 0 if each operation that may take 1 away does not do so at 0, and
 * none above 1 if each operation that may add 1 does not do so at 1.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "story/reason.h"

#define LOOKS		30	/* looks for a call of the interpreter */
#define MOST_WORDS	8	/* largest number of words of a range */
#define MOST_CHOICES	64
#define FAR		(1ll << 40)
#define SLOTS		4

/* By how much an operation changes each word. */
struct effect {
	int64_t low[SLOTS], high[SLOTS];
	bool vague[SLOTS];
	size_t outcomes;
};

struct range {
	int64_t low, high;
	bool known;
};

struct counts {
	const struct kl_scene *s;
	struct kl_run *run;
	struct kl_val first[SLOTS];
	size_t len;
	struct effect *effects;	/* of the partition's operations */
	/* for each word: no operation makes it less than 0, or more than 1 */
	bool floor[SLOTS], ceiling[SLOTS];
	bool vague[SLOTS];	/* some change of the word is not known */
	/* of the call of the interpreter: */
	const struct kl_val *before;
	struct effect now;
};

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct counts *c = ctx;
	struct effect *e = &c->now;
	uint64_t by;
	size_t i;

	for (i = 0; i < c->len; i++) {
		const struct kl_val after = o->state[i];
		int64_t d = 0;
		struct kl_val before = c->before[i];

		if (before.tag == KL_ANY && i < o->nbound)
			before = o->bound[i];
		if (after.tag == KL_WORD && before.tag == KL_WORD)
			d = after.v - before.v;
		else if (after.tag == KL_ANY && after.v == i)
			d = 0;
		else if (kl_outcome_added(o, i, i, &by))
			d = by;
		else
			e->vague[i] = true;
		e->vague[i] |= d > FAR || d < -FAR;
		if (!e->outcomes || d < e->low[i])
			e->low[i] = d;
		if (!e->outcomes || d > e->high[i])
			e->high[i] = d;
	}
	e->outcomes++;
	return 0;
}

/*
 * Run an operation where words are as @state says, unknown ones by their number, and set c->now.
 * Return: 1, 0 if there is no answer, or -ENOMEM.
 */
static int run(struct counts *c, uint32_t op, const struct kl_val *state)
{
	const struct kl_history *h = c->s->h;
	const struct kl_op *o = &h->ops[op];
	const int m = kl_spec_find_method(c->s->spec, h->methods[kl_op_method(h, o)]);
	struct kl_val v[SLOTS + SLOTS * KL_RAW_ALIVE];
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
	if (m < 0 || kl_scene_over(c->s, LOOKS))
		return 0;
	ret = kl_run_apply(c->run, v, len, m, kl_op_args(h, o),
			   o->flags & KL_OP_PENDING ? NULL : kl_op_res(h, o), on_outcome, c);
	return ret == -ENOMEM ? ret : !ret;
}

static struct kl_val unknown(size_t i)
{
	return (struct kl_val){ .v = i, .tag = KL_ANY };
}

/* Run an operation where word @i is @v, and the others are unknown.  Return: as run(). */
static int run_at(struct counts *c, uint32_t op, size_t i, uint64_t v)
{
	struct kl_val state[SLOTS];
	size_t k;

	for (k = 0; k < c->len; k++)
		state[k] = k == i ? kl_word(v) : unknown(k);
	return run(c, op, state);
}

/* Note whether the operation may make word @k less than 0, or more than 1.  Return: as run(). */
static int look_at_bounds(struct counts *c, uint32_t op, const struct effect *e, size_t k)
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
static int find_effects(struct counts *c)
{
	const struct kl_part_result *p = c->s->part;
	struct kl_val state[SLOTS];
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
		struct effect *e = &c->effects[i];

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

/* Find the ranges of the words where operation @e takes effect. */
static void find_ranges(const struct counts *c, uint32_t e, struct range *r)
{
	const struct kl_part_result *p = c->s->part;
	size_t i, k;

	for (k = 0; k < c->len; k++)
		r[k] = (struct range){ c->first[k].v, c->first[k].v,
				       c->first[k].tag == KL_WORD && c->first[k].v < FAR };
	for (i = 0; i < p->nops; i++) {
		const uint32_t op = kl_result_op(p, i);
		const struct effect *f = &c->effects[i];
		const bool sure = kl_scene_before(c->s, op, e);

		if (op == e || kl_scene_before(c->s, e, op))
			continue;
		for (k = 0; k < c->len; k++) {
			r[k].known &= !f->vague[k] && f->outcomes;
			r[k].low += sure || f->low[k] < 0 ? f->low[k] : 0;
			r[k].high += sure || f->high[k] > 0 ? f->high[k] : 0;
		}
	}
	for (k = 0; k < c->len; k++) {
		if (c->floor[k] && r[k].low < 0)
			r[k].low = 0;
		if (c->ceiling[k] && r[k].high > 1)
			r[k].high = 1;
		/* Where the range is empty, an operation before is wrong. */
		r[k].known &= r[k].low <= r[k].high && r[k].high - r[k].low < MOST_WORDS;
	}
}

/* Is @e impossible for each choice of words?  Return: 1, 0 or -ENOMEM. */
static int excluded(struct counts *c, uint32_t e, const struct range *r)
{
	uint64_t choices = 1, n, rest;
	struct kl_val state[SLOTS];
	size_t k;
	int ret;

	for (k = 0; k < c->len; k++)
		choices *= r[k].known ? r[k].high - r[k].low + 1 : 1;
	if (choices > MOST_CHOICES)
		return 0;
	for (n = 0; n < choices; n++) {
		for (rest = n, k = 0; k < c->len; k++) {
			const uint64_t size = r[k].high - r[k].low + 1;

			state[k] = unknown(k);
			if (!r[k].known)
				continue;
			state[k] = kl_word(r[k].low + rest % size);
			rest /= size;
		}
		ret = run(c, e, state);
		if (ret <= 0 || c->now.outcomes)
			return ret < 0 ? ret : 0;
	}
	return 1;
}

/* A word of a state, which may be less than 0, as "readers = 1". */
static struct kl_name name_word(const struct counts *c, const struct kl_val *state, size_t k)
{
	struct kl_name name = kl_name_slot(c->s, state, c->len, k);
	char *value = strstr(name.s, " = ");

	if (value && (int64_t)state[k].v < 0)
		snprintf(value, name.s + sizeof(name.s) - value, " = %lld", (long long)state[k].v);
	return name;
}

/* "readers = 1 to 3 and writer = false" */
static void name_ranges(const struct counts *c, const struct range *r, char *text, size_t size)
{
	struct kl_val state[SLOTS];
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

/* Cast the operations that changed one of the words, or may have. */
static int cast_counted(const struct counts *c, uint32_t e, const struct range *r,
			struct kl_story *story)
{
	const struct kl_part_result *p = c->s->part;
	size_t i, k;

	for (i = 0; i < p->nops; i++) {
		const uint32_t op = kl_result_op(p, i);
		const struct effect *f = &c->effects[i];
		bool changes = false;

		for (k = 0; k < c->len; k++)
			changes |= r[k].known && (f->low[k] || f->high[k]);
		if (op != e && changes && !kl_scene_before(c->s, e, op) &&
		    kl_story_cast(story, op, kl_scene_before(c->s, op, e) ? "counts" :
				  "may count"))
			return -ENOMEM;
	}
	return 0;
}

static int look_at(struct counts *c, uint32_t e, struct kl_story *story)
{
	struct range r[SLOTS];
	char text[1024];
	bool any = false;
	size_t k;
	int ret;

	if (kl_scene_over(c->s, c->s->part->nops))
		return 0;
	find_ranges(c, e, r);
	ret = excluded(c, e, r);
	if (ret <= 0)
		return ret;
	/* Words that do not matter have no part in the story. */
	for (k = 0; k < c->len; k++) {
		if (!r[k].known)
			continue;
		r[k].known = false;
		ret = excluded(c, e, r);
		if (ret < 0)
			return ret;
		r[k].known = !ret;
		any |= !ret;
	}
	/* An operation that no state allows is another reason. */
	if (!any)
		return 0;
	name_ranges(c, r, text, sizeof(text));
	if (kl_story_cast(story, e, "needs another state") || cast_counted(c, e, r, story))
		return -ENOMEM;
	return kl_story_headline(story, "%s is wrong, since %s while it ran",
				 kl_name_op(c->s, e).s, text);
}

/* Set the first state.  Return: 1, 0 if its words cannot be counted, or -ENOMEM. */
static int begin(struct counts *c)
{
	const struct kl_val *v;

	c->run = kl_run_new(c->s->spec);
	v = c->run ? kl_run_init(c->run, true, &c->len) : NULL;
	if (!v)
		return -ENOMEM;
	if (!c->len || c->len > SLOTS)
		return 0;
	memcpy(c->first, v, c->len * sizeof(*v));
	kl_run_set_raw(c->run, true);
	c->effects = calloc(c->s->part->nops + 1, sizeof(*c->effects));
	return c->effects ? find_effects(c) : -ENOMEM;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	struct counts c = { .s = s };
	uint32_t fails;
	size_t i;
	int ret;

	if (!s->h->fresh || s->steps || s->deeds || !kl_spec_fixed_size(s->spec))
		return 0;
	fails = kl_story_failing(s->part->cex);
	ret = begin(&c);
	if (ret > 0) {
		ret = fails != KL_NO_OP ? look_at(&c, fails, story) : 0;
		for (i = s->nproof; i-- && !ret;)
			if (!(s->h->ops[s->proof[i]].flags & KL_OP_PENDING))
				ret = look_at(&c, s->proof[i], story);
	}
	free(c.effects);
	kl_run_free(c.run);
	return ret;
}

static const struct kl_reason counts = {
	.name = "wrong_count", .rank = 400, .needs = KL_NEEDS_NOTHING, .tell = tell,
};
KL_REASON(counts);
