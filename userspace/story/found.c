// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons: an operation is impossible in each state that it can have found, or each of two
 * operations that overlap is impossible in each state that it can have found after the other.
 *
 *	t1 |-- write(1) --| drain  t2 |---- write(2) ----|
 *				    t3 |-- read() -> 0 --|	x = 0 was gone: x = 1 or x = 2
 *
 * views.h finds all these states by trying all orders.  Other reasons are faster, and say more of
 * one store; they are tried before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "story/sight.h"
#include "story/views.h"

#define MOST_WORDS 64 /* largest number of words of a state */
#define MOST_TOLD 4 /* largest number of states in a headline */
#define MOST_FACTS 2 /* stores of which the story says when they had left */

struct found {
	struct kl_views v;
	bool matters[MOST_WORDS]; /* words that forbid the operation */
	size_t told[MOST_TOLD], ntold; /* states that differ in these words */
};

/* Is the operation impossible in each state, if only the words that matter are known? */
static int words_exclude(const struct found *f)
{
	const size_t len = f->v.t->len;
	struct kl_val state[MOST_WORDS];
	size_t i, k;
	int ret = 1;

	for (i = 0; i < f->v.n && ret > 0; i++) {
		for (k = 0; k < len; k++)
			state[k] = f->matters[k] ? kl_views_state(&f->v, i)[k] : kl_special(KL_ANY);
		ret = kl_stores_exclude_state(f->v.t, f->v.e, state);
	}
	return ret;
}

/* Find the words that matter.  Return: 1, 0 if the known words do not forbid @e, or -ENOMEM. */
static int narrow(struct found *f)
{
	const size_t len = f->v.t->len;
	size_t i, k;
	int ret;

	if (!f->v.all || len > MOST_WORDS)
		return 0;
	for (k = 0; k < len; k++) {
		f->matters[k] = true;
		for (i = 0; i < f->v.n; i++)
			f->matters[k] &= kl_views_state(&f->v, i)[k].tag == KL_WORD;
	}
	ret = words_exclude(f);
	for (k = 0; k < len && ret > 0; k++) {
		if (!f->matters[k])
			continue;
		f->matters[k] = false;
		ret = words_exclude(f);
		f->matters[k] = !ret;
		ret = ret < 0 ? ret : 1;
	}
	return ret;
}

static bool same_words(const struct found *f, size_t a, size_t b)
{
	size_t k;

	for (k = 0; k < f->v.t->len; k++)
		if (f->matters[k] &&
		    !kl_val_eq(kl_views_state(&f->v, a)[k], kl_views_state(&f->v, b)[k]))
			return false;
	return true;
}

/* Find the states that differ in the words that matter.  Return: false if too many. */
static bool choose_told(struct found *f)
{
	size_t i, k;

	f->ntold = 0;
	for (i = 0; i < f->v.n; i++) {
		for (k = 0; k < f->ntold && !same_words(f, f->told[k], i); k++)
			;
		if (k < f->ntold)
			continue;
		if (f->ntold == MOST_TOLD)
			return false;
		f->told[f->ntold++] = i;
	}
	return true;
}

/* Add the words that matter: "low = 1, high = 2". */
static size_t name_words(const struct found *f, const struct kl_val *words, char *text, size_t size)
{
	size_t len = 0, k;

	*text = 0;
	for (k = 0; k < f->v.t->len && len < size; k++)
		if (f->matters[k])
			len += snprintf(text + len, size - len, "%s%s", len ? ", " : "",
					kl_stores_name(f->v.t, k, words[k].v).s);
	return len;
}

/* "x = 1 or x = 2" */
static void name_states(const struct found *f, char *text, size_t size)
{
	size_t len = 0, i;

	for (i = 0; i < f->ntold && len < size; i++) {
		if (i)
			len += snprintf(text + len, size - len, " or ");
		if (len < size)
			len += name_words(f, kl_views_state(&f->v, f->told[i]), text + len,
					  size - len);
	}
}

/* Did the operation see each word that matters?  @seen gets them. */
static bool saw_words(const struct found *f, struct kl_val *seen)
{
	const struct kl_touch *w;
	size_t k;

	for (k = 0; k < f->v.t->len; k++) {
		w = kl_stores_touch(f->v.t, f->v.e, k);
		if (f->matters[k] && !(w && w->sees))
			return false;
		seen[k] = f->matters[k] ? kl_word(w->seen) : kl_special(KL_ANY);
	}
	return true;
}

/* Did an operation certainly store @v to the word before, or has the first state it? */
static bool was_there(const struct found *f, size_t slot, struct kl_val v)
{
	const struct kl_stores *t = f->v.t;
	const struct kl_touch *w = t->touches, *end = w + t->ntouches;

	if (kl_val_eq(t->first[slot], v))
		return true;
	for (; w < end; w++)
		if (w->slot == slot && w->surely && w->known && w->left == v.v &&
		    kl_stores_before(t, w->at, f->v.e))
			return true;
	return false;
}

/* Return: the place in t->ops of an operation of the history. */
static uint32_t place_of(const struct kl_stores *t, uint32_t op)
{
	uint32_t low = 0, high = t->nops;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (t->ops[mid].op < op)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Cast an operation for what it did to a word that matters.  Return: 0 or -ENOMEM. */
static int cast_touch(const struct found *f, uint32_t at, struct kl_story *story)
{
	struct kl_stores *t = f->v.t;
	const struct kl_touch *w = t->touches + t->ops[at].touch;
	const struct kl_touch *end = t->touches + t->ops[at + 1].touch;
	const uint32_t op = t->ops[at].op, e = t->ops[f->v.e].op;

	for (; w < end; w++) {
		if (!f->matters[w->slot] || !(w->stores ? w->known : w->sees))
			continue;
		return kl_story_cast(story, op, "%s %s",
				     !w->stores ? "saw" :
				     w->surely	? "stored" :
						  "may have stored",
				     kl_stores_name(t, w->slot, w->stores ? w->left : w->seen).s);
	}
	return kl_story_cast(story, op, "%s",
			     kl_scene_before(t->s, op, e) ? "returned before" :
			     kl_scene_before(t->s, e, op) ? "was called later" :
							    "overlaps");
}

/* Cast the counterexample, which has no order, and say when stores had left. */
static int cast_proof(const struct found *f, struct kl_story *story)
{
	struct kl_stores *t = f->v.t;
	const struct kl_scene *s = t->s;
	size_t i, facts = 0;
	uint64_t by;

	for (i = s->nproof; i--;) {
		const uint32_t at = place_of(t, s->proof[i]);
		const struct kl_touch *w = t->touches + t->ops[at].touch;

		if (cast_touch(f, at, story))
			return -ENOMEM;
		if (at == f->v.e || !s->tso || facts == MOST_FACTS ||
		    w == t->touches + t->ops[at + 1].touch || !w->surely ||
		    !kl_sight_reaches(t, f->v.e, at))
			continue;
		if (kl_sight_tell_reach(t, f->v.e, at, story, &by))
			return -ENOMEM;
		facts++;
	}
	return kl_story_cast_all(s, story, t->ops[f->v.e].op);
}

/* The operation saw the words @seen, which are in no state that it can have found. */
static int tell_seen(const struct found *f, const struct kl_val *seen, const char *states,
		     struct kl_story *story)
{
	const struct kl_name name = kl_name_op(f->v.t->s, f->v.t->ops[f->v.e].op);
	char text[256];
	size_t k, n = 0, slot = 0;

	for (k = 0; k < f->v.t->len; k++) {
		n += f->matters[k];
		slot = f->matters[k] ? k : slot;
	}
	name_words(f, seen, text, sizeof(text));
	story->reason = n > 1			       ? "torn" :
			was_there(f, slot, seen[slot]) ? "overwritten" :
							 "not_there";
	if (kl_story_cast(story, f->v.t->ops[f->v.e].op, "saw %s", text) || cast_proof(f, story))
		return -ENOMEM;
	return kl_story_headline(story, "%s saw %s, which %s: %s while it ran", name.s, text,
				 n > 1				? "were never there together" :
				 was_there(f, slot, seen[slot]) ? "was gone" :
								  "was not there",
				 states);
}

static const struct kl_method *method_of(const struct found *f)
{
	const struct kl_scene *s = f->v.t->s;
	const struct kl_op *o = kl_stores_op(f->v.t, f->v.e);
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h, o)]);

	return m < 0 ? NULL : kl_spec_method(s->spec, m);
}

/* Did the operation return false, though it would have changed each state if it had not? */
static int could_succeed(const struct found *f)
{
	const struct kl_method *m = method_of(f);
	const struct kl_val *v = kl_op_res(f->v.t->s->h, kl_stores_op(f->v.t, f->v.e));
	int ret = m && m->nresults == 1 && m->results[0].type == KL_T_BOOL && !m->pure &&
		  v->tag == KL_WORD && !v->v;
	size_t i;

	for (i = 0; i < f->v.n && ret > 0; i++)
		ret = kl_stores_would_change(f->v.t, f->v.e, kl_views_state(&f->v, i));
	return ret;
}

static int tell_failed(const struct found *f, const char *states, struct kl_story *story)
{
	const uint32_t op = f->v.t->ops[f->v.e].op;

	story->reason = "failed_while_free";
	if (kl_story_cast(story, op, "failed") || cast_proof(f, story))
		return -ENOMEM;
	return kl_story_headline(story,
				 "%s failed, though it could have succeeded: %s while it "
				 "ran",
				 kl_name_op(f->v.t->s, op).s, states);
}

/* The words of the states forbid the operation. */
static int tell_words(const struct found *f, struct kl_story *story)
{
	const uint32_t op = f->v.t->ops[f->v.e].op;
	struct kl_val seen[MOST_WORDS];
	char text[1024];
	int ret = could_succeed(f);

	name_states(f, text, sizeof(text));
	if (ret)
		return ret < 0 ? ret : tell_failed(f, text, story);
	if (saw_words(f, seen))
		return tell_seen(f, seen, text, story);
	story->reason = "wrong_state";
	if (kl_story_cast(story, op, "needs another state") || cast_proof(f, story))
		return -ENOMEM;
	return kl_story_headline(story, "%s is wrong, since %s while it ran",
				 kl_name_op(f->v.t->s, op).s, text);
}

struct results {
	uint64_t v[MOST_TOLD];
	size_t n;
	bool known; /* these are all */
};

static int on_result(void *ctx, const struct kl_outcome *o)
{
	struct results *r = ctx;
	size_t i;

	for (i = 0; i < r->n && r->v[i] != o->results[0].v; i++)
		;
	r->known &= o->results[0].tag == KL_WORD && (i < r->n || r->n < MOST_TOLD);
	if (i == r->n && r->known)
		r->v[r->n++] = o->results[0].v;
	return !r->known;
}

/* Find what a look-up could return.  Return: 1, 0 if it is none, or not known, or -ENOMEM. */
static int find_results(const struct found *f, struct results *r)
{
	const struct kl_method *m = method_of(f);
	const struct kl_val *v = kl_op_res(f->v.t->s->h, kl_stores_op(f->v.t, f->v.e));
	size_t i;
	int ret = 0;

	*r = (struct results){ .known = f->v.all && m && m->pure && m->nresults == 1 &&
					m->results[0].type == KL_T_WORD && v->tag == KL_WORD };
	for (i = 0; i < f->v.n && r->known && ret >= 0; i++)
		ret = kl_stores_results(f->v.t, f->v.e, kl_views_state(&f->v, i), on_result, r);
	return ret == -ENOMEM ? ret : !ret && r->known && r->n;
}

/* May an operation that need not be after @e store @v to any word, or has the first state it? */
static bool may_be_stored(const struct found *f, uint64_t v)
{
	const struct kl_stores *t = f->v.t;
	const struct kl_touch *w = t->touches, *end = w + t->ntouches;
	size_t k;

	for (k = 0; k < t->len; k++)
		if (t->first[k].tag != KL_WORD || t->first[k].v == v)
			return true;
	for (; w < end; w++)
		if (w->stores && (!w->known || w->left == v) && !kl_stores_before(t, f->v.e, w->at))
			return true;
	return false;
}

static bool was_anywhere(const struct found *f, uint64_t v)
{
	size_t k;

	for (k = 0; k < f->v.t->len; k++)
		if (was_there(f, k, kl_word(v)))
			return true;
	return false;
}

/* May a word be @v in some state? */
static bool is_anywhere(const struct found *f, uint64_t v)
{
	size_t i;

	for (i = 0; i < f->v.n * f->v.t->len; i++)
		if (f->v.words[i].tag != KL_WORD || f->v.words[i].v == v)
			return true;
	return false;
}

/* A look-up returned a value that it could see in no state. */
static int tell_returned(struct found *f, const struct results *r, struct kl_story *story)
{
	const struct kl_scene *s = f->v.t->s;
	const uint32_t op = f->v.t->ops[f->v.e].op;
	const uint64_t v = kl_op_res(s->h, &s->h->ops[op])->v;
	const char *why = !may_be_stored(f, v) ? ", which no operation wrote before:" :
			  is_anywhere(f, v)    ? ", though" :
			  was_anywhere(f, v)   ? ", which was gone:" :
						 ", which was not there:";
	char text[512] = "";
	size_t len = 0, i;

	/* Any word may show why the value was not there. */
	for (i = 0; i < f->v.t->len && i < MOST_WORDS; i++)
		f->matters[i] = true;
	for (i = 0; i < r->n && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s", i ? " or " : "",
				kl_name_val(s, kl_word(r->v[i])).s);
	story->reason = !may_be_stored(f, v) ? "never_written" :
			is_anywhere(f, v)    ? "wrong_state" :
			was_anywhere(f, v)   ? "overwritten" :
					       "not_there";
	if (kl_story_cast(story, op, "returned %s", kl_name_val(s, kl_word(v)).s) ||
	    cast_proof(f, story))
		return -ENOMEM;
	return kl_story_headline(story, "%s saw %s%s it could only see %s", kl_name_op(s, op).s,
				 kl_name_val(s, kl_word(v)).s, why, text);
}

/* If the counterexample has one other operation, which certainly returned before @e: this one. */
static uint32_t only_before(const struct kl_scene *s, uint32_t e)
{
	const uint32_t other = s->proof[s->proof[0] == e];

	return s->nproof == 2 && kl_scene_before(s, other, e) ? other : KL_NO_OP;
}

/* May an operation take effect between the two? */
static bool has_between(const struct kl_scene *s, uint32_t x, uint32_t e)
{
	uint32_t i;

	for (i = 0; i < s->part->nops; i++) {
		const uint32_t op = kl_result_op(s->part, i);

		if (op != x && op != e && !kl_scene_before(s, op, x) && !kl_scene_before(s, e, op))
			return true;
	}
	return false;
}

/* The states forbid the operation, but not by a few words. */
static int tell_states(struct found *f, struct kl_story *story)
{
	const struct kl_scene *s = f->v.t->s;
	const uint32_t e = f->v.t->ops[f->v.e].op, x = only_before(s, e);
	const struct kl_name name = kl_name_op(s, e);

	memset(f->matters, 0, sizeof(f->matters));
	if (kl_story_cast(story, e, "is not possible"))
		return -ENOMEM;
	if (x == KL_NO_OP) {
		story->reason = "never_possible";
		if (cast_proof(f, story))
			return -ENOMEM;
		return kl_story_never(s, e, "", story);
	}
	story->reason = "cannot_follow";
	if (kl_story_cast(story, x, "came before") || cast_proof(f, story))
		return -ENOMEM;
	return kl_story_headline(story,
				 "%s is not possible after %s, which had returned at %llu, "
				 "%s",
				 name.s, kl_name_op(s, x).s, (unsigned long long)s->h->ops[x].ret,
				 has_between(s, x, e) ? "whatever came between" :
							"with nothing between");
}

/* Look at one operation.  Return: 1 after the story was told, 0, or -ENOMEM. */
static int look_at(struct kl_stores *t, uint32_t at, struct kl_story *story)
{
	struct found f = { 0 };
	struct results r;
	struct kl_val seen[MOST_WORDS];
	int ret = kl_views_exclude(t, at, KL_NO_OP, &f.v), returned;

	if (ret > 0) {
		ret = narrow(&f);
		returned = ret < 0 || (ret && saw_words(&f, seen)) ? 0 : find_results(&f, &r);
		if (ret < 0 || returned < 0)
			ret = -ENOMEM;
		else if (returned)
			ret = tell_returned(&f, &r, story);
		else
			ret = ret && choose_told(&f) ? tell_words(&f, story) :
						       tell_states(&f, story);
	}
	kl_views_free(&f.v);
	return ret;
}

static int excludes(struct kl_stores *t, uint32_t x, uint32_t e)
{
	struct kl_views v;
	const int ret = kl_views_exclude(t, e, x, &v);

	kl_views_free(&v);
	return ret;
}

/* Look at two operations that overlap.  Return: 1 after the story was told, 0, or -ENOMEM. */
static int look_at_pair(struct kl_stores *t, uint32_t a, uint32_t b, struct kl_story *story)
{
	const struct kl_scene *s = t->s;
	struct found f = { .v = { .t = t, .e = b } };
	int ret;

	if (kl_stores_before(t, a, b) || kl_stores_before(t, b, a))
		return 0;
	ret = excludes(t, a, b);
	if (ret > 0)
		ret = excludes(t, b, a);
	if (ret <= 0)
		return ret;
	story->reason = "exclude_each_other";
	if (kl_story_cast(story, t->ops[b].op, "is not possible after the other") ||
	    kl_story_cast(story, t->ops[a].op, "is not possible after the other") ||
	    cast_proof(&f, story) || kl_story_cast_all(s, story, t->ops[a].op))
		return -ENOMEM;
	return kl_story_neither(s, t->ops[a].op, t->ops[b].op, story);
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	const uint32_t fails = kl_story_failing(s->part->cex);
	struct kl_stores *t;
	size_t i, k;
	int ret = kl_stores_of(s, &t);

	if (ret <= 0)
		return ret;
	ret = fails != KL_NO_OP ? look_at(t, place_of(t, fails), story) : 0;
	for (i = s->nproof; i-- && !ret && !kl_scene_over(s, 1);)
		if (s->proof[i] != fails && !t->ops[place_of(t, s->proof[i])].pending)
			ret = look_at(t, place_of(t, s->proof[i]), story);
	for (i = s->nproof; i-- && !ret;)
		for (k = i; k-- && !ret && !kl_scene_over(s, 1);) {
			const uint32_t a = place_of(t, s->proof[k]), b = place_of(t, s->proof[i]);

			if (!t->ops[a].pending && !t->ops[b].pending)
				ret = look_at_pair(t, a, b, story);
		}
	return ret;
}

static const struct kl_reason found = {
	.name = "wrong_state",
	.rank = 600,
	.needs = KL_NEEDS_NOTHING,
	.tso = true,
	.tell = tell,
};
KL_REASON(found);
