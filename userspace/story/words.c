// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons: an operation saw all words of a small state, which no operation left together, or which
 * were certainly overwritten, or which more operations changed than can have found them.
 *
 *	write(1, 1)  write(2, 2)  read() -> (1, 2)	torn
 *	write(1, 1)  write(2, 2)  read() -> (1, 1)	overwritten
 *	lock()  lock()					found free twice
 *
 * The effect of an operation is found by the interpreter, from a state of unknown words: a write
 * leaves known words whatever was before, a read shows the words that were before.  Let E see the
 * words T, which no operation leaves.  Then the state of E is the first state, which excludes T if
 * it is known to have other words.  Where it is not known, an operation X excludes it that
 * certainly returned before E was called, and left or saw other words than T.
 *
 * With store buffers a thread sees memory, or what an operation of its own left.  So the first half
 * of this holds there, too, if E certainly sees no words older than those of X, see sight.h.  An
 * operation must store all words, or find and change memory: else the stores of two threads may
 * come together in memory, although no operation saw that.
 *
 * If operations leave T, but each of them returned before X was called, or was called after E
 * returned, then no order has T when E takes effect, see word.c.
 *
 * Each completed operation that changes T to other words finds T.  The words are T at first, or
 * become T by an operation that leaves T; each time serves one such change, see twice.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "story/sight.h"

#define MAX_SEEN	32	/* largest number of operations E that are looked at */

/* The words that an operation shows. */
struct effect {
	enum { VAGUE, NOTHING, SEES, LEAVES } kind;
	bool finds;	/* @before is known, and the operation has returned */
	struct kl_val before[KL_MAX_ARGS], words[KL_MAX_ARGS];	/* @words: after it */
};

/* An operation that saw all words. */
struct seen {
	uint32_t op, at;	/* E of the head of this file, and its index in the partition */
	uint32_t other;	/* its X, or KL_NO_OP */
	uint32_t from[KL_MAX_ARGS];	/* the last operation that left each word, or KL_NO_OP */
	bool several[KL_MAX_ARGS];	/* more than one operation left the word */
	struct kl_val words[KL_MAX_ARGS];
	uint32_t writer;	/* the last operation that left these words before X, or KL_NO_OP */
	bool left;	/* an operation leaves these words */
	/* numbers of operations that change these words, and that may make them of others */
	size_t nchanges, nmade;
	uint32_t change[KL_STORY_CAST], made[KL_STORY_CAST];	/* the first of these */
	bool maybe;	/* one of them may be between X and @op */
};

struct scan {
	const struct kl_scene *s;
	struct kl_run *run;
	struct kl_val unknown[KL_MAX_ARGS], first[KL_MAX_ARGS];
	size_t len;
	struct seen seen[MAX_SEEN];
	size_t nseen;
	struct kl_stores *stores;	/* NULL without store buffers */
};

/* Collects the outcomes of an operation. */
struct outcomes {
	const struct scan *t;
	struct effect *e;
	bool pending, changed;
	unsigned int n;
};

/* Does memory, or what a thread sees, have all words of the outcome at once? */
static bool leaves_all(const struct scan *t, const struct kl_outcome *o)
{
	return !t->s->tso || o->nwrote == t->len || (o->barrier && o->through);
}

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct outcomes *c = ctx;
	size_t i;

	/* If a pending operation changes nothing, it has no part in the story. */
	if (c->pending && !o->changed)
		return 0;
	c->changed |= o->changed;
	c->e->kind = !o->changed ? SEES : leaves_all(c->t, o) ? LEAVES : VAGUE;
	c->e->finds = !c->pending;
	for (i = 0; i < c->t->len; i++) {
		if (o->state[i].tag != KL_WORD)
			c->e->kind = o->changed ? VAGUE : NOTHING;
		c->e->words[i] = o->state[i];
		/* Unknown i of the state before is the word i. */
		c->e->before[i] = i < o->nbound ? o->bound[i] : kl_special(KL_ANY);
		c->e->finds &= c->e->before[i].tag == KL_WORD;
	}
	if (++c->n > 1) {
		c->e->kind = c->changed ? VAGUE : NOTHING;
		c->e->finds = false;
	}
	return 0;
}

/* Find the effect of an operation.  Return: 0 or -ENOMEM. */
static int find_effect(const struct scan *t, uint32_t op, struct effect *e)
{
	const struct kl_history *h = t->s->h;
	const struct kl_op *o = &h->ops[op];
	const int m = kl_spec_find_method(t->s->spec, h->methods[kl_op_method(h, o)]);
	struct outcomes c = { .t = t, .e = e, .pending = o->flags & KL_OP_PENDING };
	int ret;

	e->kind = NOTHING;
	e->finds = false;
	if (m < 0)
		return 0;
	ret = kl_scene_apply(t->s, t->run, t->unknown, t->len, op, on_outcome, &c);
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		e->kind = VAGUE;
		e->finds = false;
	}
	/* Without an effect of each operation there is no story. */
	if (ret == -EDQUOT)
		return 0;
	if (e->kind == VAGUE && kl_spec_method(t->s->spec, m)->pure)
		e->kind = NOTHING;
	return 0;
}

static bool same(const struct scan *t, const struct kl_val *a, const struct kl_val *b)
{
	size_t i;

	for (i = 0; i < t->len && kl_val_eq(a[i], b[i]); i++)
		;
	return i == t->len;
}

/* Is word @i of the first state known? */
static bool is_known(const struct scan *t, size_t i)
{
	return t->s->h->fresh && t->first[i].tag == KL_WORD;
}

/* Is the first state known to have other words than @seen? */
static bool differs_from_first(const struct scan *t, const struct seen *seen)
{
	size_t i;

	for (i = 0; i < t->len; i++)
		if (is_known(t, i) && !kl_val_eq(t->first[i], seen->words[i]))
			return true;
	return false;
}

/* Does operation @e certainly come after @x, and see no older words? */
static bool is_reached(const struct scan *t, uint32_t e, uint32_t x)
{
	return kl_scene_before(t->s, kl_result_op(t->s->part, x), kl_result_op(t->s->part, e)) &&
	       (!t->s->tso || kl_sight_reaches(t->stores, e, x));
}

/* Note what operation @at of the partition means for each that saw all words. */
static void note(struct scan *t, uint32_t at, const struct effect *e)
{
	const uint32_t op = kl_result_op(t->s->part, at);
	size_t i, k;

	for (k = 0; k < t->nseen; k++) {
		struct seen *seen = &t->seen[k];

		if (e->kind == LEAVES && e->finds && same(t, e->before, seen->words) &&
		    !same(t, e->words, seen->words)) {
			if (seen->nchanges < KL_STORY_CAST)
				seen->change[seen->nchanges] = op;
			seen->nchanges++;
		}
		if (e->kind == LEAVES && same(t, e->words, seen->words) &&
		    !(e->finds && same(t, e->before, seen->words))) {
			if (seen->nmade < KL_STORY_CAST)
				seen->made[seen->nmade] = op;
			seen->nmade++;
		}
		if (op == seen->op)
			continue;
		if (same(t, e->words, seen->words))
			seen->left |= e->kind == LEAVES;
		else if (!(t->s->tso && differs_from_first(t, seen)) && is_reached(t, seen->at, at))
			seen->other = op;
		for (i = 0; e->kind == LEAVES && i < t->len; i++)
			if (kl_val_eq(e->words[i], seen->words[i]) &&
			    !kl_scene_before(t->s, seen->op, op)) {
				seen->several[i] = seen->from[i] != KL_NO_OP;
				seen->from[i] = op;
			}
	}
}

/* Note whether operation @op, which left the words of @seen, may be between X and @seen. */
static void note_writer(struct scan *t, struct seen *seen, uint32_t op)
{
	if (seen->other != KL_NO_OP && kl_scene_before(t->s, op, seen->other))
		seen->writer = op;
	else if (!kl_scene_before(t->s, seen->op, op))
		seen->maybe = true;
}

/* Return: the index in the partition of an operation. */
static uint32_t find_at(const struct scan *t, uint32_t op)
{
	uint32_t i = 0;

	while (kl_result_op(t->s->part, i) != op)
		i++;
	return i;
}

static bool has_no_writer(const struct scan *t, const struct seen *seen)
{
	size_t i;

	for (i = 0; i < t->len && seen->from[i] == KL_NO_OP; i++)
		;
	return i == t->len;
}

/* Were all words last left by one operation, or by none? */
static bool has_one_origin(const struct scan *t, const struct seen *seen)
{
	size_t i;

	for (i = 1; i < t->len && seen->from[i] == seen->from[0]; i++)
		;
	return i >= t->len;
}

static bool is_wrong(const struct scan *t, const struct seen *seen)
{
	return !seen->left && (differs_from_first(t, seen) || seen->other != KL_NO_OP);
}

/* Add the origin of each word to @text, "low = 1 is t1's write(1, 1), ...". */
static int tell_origins(const struct scan *t, const struct seen *seen, struct kl_story *story,
			char *text, size_t size)
{
	size_t len = 0, i;
	bool sure;

	*text = 0;
	for (i = 0; i < t->len && len < size; i++) {
		const struct kl_name word = kl_name_slot(t->s, seen->words, i);
		const uint32_t from = seen->from[i];

		if (from != KL_NO_OP &&
		    kl_story_cast(story, from, "left %s", word.s))
			return -ENOMEM;
		/* A word of several operations, or of one and the first state, may be of any. */
		sure = !seen->several[i] && (from == KL_NO_OP || !t->s->h->fresh ||
					     (is_known(t, i) &&
					      !kl_val_eq(t->first[i], seen->words[i])));
		len += snprintf(text + len, size - len, "%s%s %s %s", i ? ", " : "", word.s,
				sure ? "comes from" : "may come from",
				from != KL_NO_OP ? kl_name_op(t->s, from).s :
				is_known(t, i) ? "the first state" : "no known operation");
	}
	return 0;
}

/* Find a word that no operation wrote, and that is not in the first state; or t->len. */
static size_t unwritten(const struct scan *t, const struct seen *seen)
{
	size_t i;

	for (i = 0; i < t->len; i++)
		if (seen->from[i] == KL_NO_OP && is_known(t, i) &&
		    !kl_val_eq(t->first[i], seen->words[i]))
			break;
	return i;
}

/* More operations change the words of @seen than can have found them. */
static int tell_changes(const struct scan *t, const struct seen *seen, struct kl_story *story)
{
	const struct kl_name a = kl_name_op(t->s, seen->change[0]);
	const struct kl_name b = kl_name_op(t->s, seen->change[1]);
	const size_t most = seen->nmade + !differs_from_first(t, seen);
	char text[200];
	size_t i;

	story->reason = "changed_twice";
	kl_state_print(text, sizeof(text), t->s->spec, t->s->h, seen->words, t->len);
	/* One change more than can have found these words is enough. */
	for (i = 0; i <= most && i < KL_STORY_CAST; i++)
		if (kl_story_cast(story, seen->change[i], "changed %s", text))
			return -ENOMEM;
	for (i = 0; i < seen->nmade && i < KL_STORY_CAST; i++)
		if (kl_story_cast(story, seen->made[i], "made it %s", text))
			return -ENOMEM;
	if (seen->nmade || seen->nchanges > 2)
		return kl_story_headline(story, "%zu operations changed %s, which can have been so "
					 "%zu times", seen->nchanges, text, most);
	if (kl_story_fact(story, "No operation makes it %s again", text))
		return -ENOMEM;
	return kl_story_headline(story, "%s and %s both changed %s", a.s, b.s, text);
}

static int tell_stale(const struct scan *t, const struct seen *seen, struct kl_story *story)
{
	const struct kl_op *ops = t->s->h->ops;
	const struct kl_name name = kl_name_op(t->s, seen->op);
	const struct kl_name other = kl_name_op(t->s, seen->other);
	const struct kl_name writer = kl_name_op(t->s, seen->writer);

	story->reason = "overwritten";
	if (kl_story_cast(story, seen->op, "saw values that were gone") ||
	    kl_story_cast(story, seen->other, "left or saw other values") ||
	    kl_story_cast(story, seen->writer, "left the values that were seen") ||
	    kl_story_fact(story, "%s returned at %llu, before %s was called at %llu", other.s,
			  (unsigned long long)ops[seen->other].ret, name.s,
			  (unsigned long long)ops[seen->op].call) ||
	    kl_story_fact(story, "%s had returned at %llu, before %s was called at %llu",
			  writer.s, (unsigned long long)ops[seen->writer].ret, other.s,
			  (unsigned long long)ops[seen->other].call))
		return -ENOMEM;
	return kl_story_headline(story, "%s saw what %s had left, although %s showed other values "
				 "by %llu", name.s, writer.s, other.s,
				 (unsigned long long)ops[seen->other].ret);
}

/* Cast X, and say by when the first state had gone.  Return: 0 or -ENOMEM. */
static int tell_gone(const struct scan *t, const struct seen *seen, struct kl_story *story,
		     unsigned long long *by)
{
	uint64_t time = t->s->h->ops[seen->other].ret;

	if (kl_story_cast(story, seen->other, "left or saw other values") ||
	    (t->s->tso && kl_sight_tell_reach(t->stores, seen->at, find_at(t, seen->other), story,
					      &time)))
		return -ENOMEM;
	*by = time;
	return 0;
}

/*
 * The words were those of the first state, which had gone.  No operation wrote one of them, or
 * @seen shows less than two words.
 */
static int tell_first(const struct scan *t, const struct seen *seen, struct kl_story *story)
{
	unsigned long long by;
	char text[200];

	kl_state_print(text, sizeof(text), t->s->spec, t->s->h, seen->words, t->len);
	story->reason = "overwritten";
	if (kl_story_cast(story, seen->op, "saw %s", text) || tell_gone(t, seen, story, &by))
		return -ENOMEM;
	/* Words of a first state that is not known are told as what they are. */
	if (has_no_writer(t, seen) && !t->s->h->fresh) {
		story->reason = "never_written";
		return kl_story_headline(story,
					 "%s saw %s, which no operation wrote before; the "
					 "first state had gone by %llu, with %s",
					 kl_name_op(t->s, seen->op).s, text, by,
					 kl_name_op(t->s, seen->other).s);
	}
	return kl_story_headline(story, "%s saw %s of the first state, which had gone by %llu, "
				 "with %s", kl_name_op(t->s, seen->op).s, text, by,
				 kl_name_op(t->s, seen->other).s);
}

static int tell_seen(const struct scan *t, const struct seen *seen, struct kl_story *story)
{
	const struct kl_history *h = t->s->h;
	const struct kl_name name = kl_name_op(t->s, seen->op);
	const size_t bad = unwritten(t, seen);
	unsigned long long by;
	char text[1024];

	if (bad < t->len) {
		const struct kl_name word = kl_name_slot(t->s, seen->words, bad);

		story->reason = "never_written";
		if (kl_story_cast(story, seen->op, "saw %s", word.s))
			return -ENOMEM;
		return kl_story_headline(story, "%s saw %s, which no operation wrote before",
					 name.s, word.s);
	}
	if (!differs_from_first(t, seen) &&
	    (kl_op_sig(h, &h->ops[seen->op])->nres < 2 || has_no_writer(t, seen)))
		return tell_first(t, seen, story);
	if (kl_story_cast(story, seen->op, "saw values of different writes") ||
	    tell_origins(t, seen, story, text, sizeof(text)) ||
	    kl_story_fact(story, "No operation left these values together"))
		return -ENOMEM;
	if (!differs_from_first(t, seen) &&
	    (tell_gone(t, seen, story, &by) ||
	     kl_story_fact(story, "The first state had gone by %llu, with %s", by,
			   kl_name_op(t->s, seen->other).s)))
		return -ENOMEM;
	return kl_story_headline(story, "%s is torn: %s", name.s, text);
}

/* Now that X is known for each E, look where the operations are that left the same words. */
static int look_at_writers(struct scan *t, struct kl_story *story)
{
	const struct kl_part_result *p = t->s->part;
	struct effect e;
	uint32_t i, op;
	size_t k;
	int ret;

	for (i = 0; t->nseen && i < p->nops; i++) {
		op = kl_result_op(p, i);
		ret = find_effect(t, op, &e);
		if (ret || e.kind == VAGUE)
			return ret;
		for (k = 0; e.kind == LEAVES && k < t->nseen; k++)
			if (op != t->seen[k].op && same(t, e.words, t->seen[k].words))
				note_writer(t, &t->seen[k], op);
	}
	for (k = 0; k < t->nseen; k++)
		if (t->seen[k].other != KL_NO_OP && t->seen[k].writer != KL_NO_OP &&
		    !t->seen[k].maybe)
			return tell_stale(t, &t->seen[k], story);
	return 0;
}

static int look_at_all(struct scan *t, struct kl_story *story)
{
	const struct kl_part_result *p = t->s->part;
	struct effect e;
	uint32_t i, op;
	size_t k;
	int ret;

	for (i = 0; i < t->s->nproof && t->nseen < MAX_SEEN; i++) {
		op = t->s->proof[i];
		ret = find_effect(t, op, &e);
		if (ret)
			return ret;
		if (e.finds && e.kind != VAGUE) {
			struct seen *seen = &t->seen[t->nseen++];

			*seen = (struct seen){
				.op = op, .at = find_at(t, op), .other = KL_NO_OP,
			};
			seen->writer = KL_NO_OP;
			memset(seen->from, 0xff, sizeof(seen->from));
			memcpy(seen->words, e.before, sizeof(e.before));
		}
	}
	for (i = 0; t->nseen && i < p->nops; i++) {
		op = kl_result_op(p, i);
		ret = find_effect(t, op, &e);
		if (ret)
			return ret;
		if (e.kind == VAGUE)
			return 0;
		if (e.kind != NOTHING)
			note(t, i, &e);
	}
	for (k = 0; k < t->nseen; k++) {
		struct seen *seen = &t->seen[k];

		/* With store buffers, words of one origin are a matter of its stores. */
		if (is_wrong(t, seen) && !(t->s->tso && has_one_origin(t, seen) &&
					   unwritten(t, seen) == t->len))
			return tell_seen(t, seen, story);
		/* A reader cannot follow many changes. */
		if (!t->s->tso && seen->nchanges + seen->nmade <= KL_STORY_CAST &&
		    seen->nchanges > seen->nmade + !differs_from_first(t, seen))
			return tell_changes(t, seen, story);
	}
	return t->s->tso ? 0 : look_at_writers(t, story);
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	struct scan *t;
	const struct kl_val *v;
	int ret = -ENOMEM;

	/* word.c and twice.c look at a state of one word, and are faster. */
	if (s->steps || !kl_spec_fixed_size(s->spec))
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return ret;
	t->s = s;
	t->run = kl_run_new(s->spec);
	v = t->run ? kl_run_init(t->run, false, &t->len) : NULL;
	if (!v)
		goto out;
	ret = 0;
	if (!t->len || t->len > KL_MAX_ARGS)
		goto out;
	kl_run_set_raw(t->run, true);
	memcpy(t->unknown, v, t->len * sizeof(*v));
	v = kl_run_init(t->run, true, &t->len);
	ret = v ? 0 : -ENOMEM;
	if (ret)
		goto out;
	memcpy(t->first, v, t->len * sizeof(*v));
	ret = s->tso ? kl_stores_of(s, &t->stores) : 1;
	if (ret > 0)
		ret = look_at_all(t, story);
out:
	kl_run_free(t->run);
	free(t);
	return ret;
}

/* Does an operation of the proof show several words? */
static bool shows_several(const struct kl_scene *s)
{
	size_t i;

	for (i = 0; i < s->nproof; i++) {
		const struct kl_op *o = &s->h->ops[s->proof[i]];

		if (!(o->flags & KL_OP_PENDING) && kl_op_sig(s->h, o)->nres > 1)
			return true;
	}
	return false;
}

static int tell_tso(const struct kl_scene *s, struct kl_story *story)
{
	return s->tso && shows_several(s) ? tell(s, story) : 0;
}

static int tell_other(const struct kl_scene *s, struct kl_story *story)
{
	return s->tso && shows_several(s) ? 0 : tell(s, story);
}

static const struct kl_reason words = {
	.name = "torn",
	.rank = 25,
	.needs = KL_NEEDS_NOTHING,
	.tso = true,
	.tell = tell_other,
};
KL_REASON(words);

/*
 * With store buffers, words that nobody left together say more than a store that should have left.
 * The reasons about stores use up the looks of a long history.
 */
static const struct kl_reason words_tso = {
	.name = "torn", .rank = 4, .needs = KL_NEEDS_NOTHING, .tso = true, .tell = tell_tso,
};
KL_REASON(words_tso);
