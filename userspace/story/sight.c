// SPDX-License-Identifier: GPL-2.0
/* The words that an operation can have seen, see sight.h. */
#include <errno.h>

#include "story/sight.h"

/*
 * Did X certainly see the word in memory?  Its thread's stores of the word must have left, and any
 * other store of its thread is of another word, which X would have seen in its place.
 */
static bool saw_memory(const struct kl_stores *t, const struct kl_touch *x)
{
	const struct kl_touch *w = t->touches, *end = w + t->ntouches;

	if (t->ops[x->at].barrier)
		return true;
	if (kl_scene_over(t->s, t->ntouches))
		return false;
	for (; w < end; w++) {
		if (w->slot != x->slot || !w->stores || w->at == x->at ||
		    !kl_stores_same_thread(t, w->at, x->at) ||
		    kl_stores_before(t, x->at, w->at) || (w->known && w->left != x->seen))
			continue;
		if (!kl_stores_left(t, w->at, x->at).by)
			return false;
	}
	return true;
}

/* How does E see what X stored or saw?  @s->left gets the event, @v the word. */
static enum kl_sight_by find_by(struct kl_sight *s, const struct kl_touch *x, uint64_t *v)
{
	const bool stores = x->surely && x->known;

	if (!kl_stores_before(s->t, x->at, s->e) || (x->stores && !stores))
		return KL_SIGHT_NOT;
	*v = stores ? x->left : x->seen;
	if (kl_stores_same_thread(s->t, x->at, s->e))
		return stores ? KL_SIGHT_OWN : x->sees ? KL_SIGHT_OWN_SAW : KL_SIGHT_NOT;
	if (!stores)
		return x->sees && saw_memory(s->t, x) ? KL_SIGHT_MEMORY : KL_SIGHT_NOT;
	s->left = kl_stores_left(s->t, x->at, s->e);
	return s->left.by ? KL_SIGHT_LEFT : KL_SIGHT_NOT;
}

/* Is W's store certainly below that of Z, which comes to memory later, or is in the same buffer? */
static bool is_below(const struct kl_stores *t, uint32_t w, uint32_t z)
{
	return (kl_stores_same_thread(t, w, z) && kl_stores_before(t, w, z)) ||
	       kl_stores_left(t, w, z).by;
}

/* May the operation of the touch have stored what X saw? */
static bool may_be_source(const struct kl_sight *s, const struct kl_touch *z)
{
	return z->slot == s->slot && z->stores && z->at != s->x &&
	       (!z->known || z->left == s->words[0]) && !kl_stores_before(s->t, s->x, z->at);
}

/* Is W's store below that which X saw, whichever this is? */
static bool is_below_sources(const struct kl_sight *s, uint32_t w)
{
	const struct kl_stores *t = s->t;
	const struct kl_touch *z = t->touches, *end = z + t->ntouches;
	const struct kl_val first = t->first[s->slot];

	if ((s->by != KL_SIGHT_OWN_SAW && s->by != KL_SIGHT_MEMORY) || first.tag == KL_ANY ||
	    kl_val_eq(first, kl_word(s->words[0])) || kl_scene_over(t->s, t->ntouches))
		return false;
	for (; z < end; z++)
		if (may_be_source(s, z) && (z->at == w || !is_below(t, w, z->at)))
			return false;
	return true;
}

/* Can E certainly not see the store of W in place of the word of X? */
static bool is_gone(const struct kl_sight *s, uint32_t w)
{
	return kl_stores_before(s->t, s->e, w) ||
	       (s->x != KL_NO_OP && (is_below(s->t, w, s->x) || is_below_sources(s, w)));
}

/* Add a word that E may see.  Return: false if there are too many. */
static bool add_word(struct kl_sight *s, uint64_t v, uint32_t from)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->words[i] == v)
			return true;
	if (s->n == KL_SIGHT_WORDS)
		return false;
	s->from[s->n] = from;
	s->words[s->n++] = v;
	return true;
}

/* Find the words besides @v.  Return: false if one is not known, or there are too many. */
static bool find_words(struct kl_sight *s, uint64_t v)
{
	const struct kl_stores *t = s->t;
	const struct kl_touch *w = t->touches, *end = w + t->ntouches;

	s->n = 0;
	add_word(s, v, s->x);
	if (kl_scene_over(t->s, t->ntouches))
		return false;
	for (; w < end; w++) {
		if (w->slot != s->slot || !w->stores || w->at == s->e || w->at == s->x ||
		    is_gone(s, w->at))
			continue;
		if (!w->known || !add_word(s, w->left, w->at))
			return false;
	}
	return true;
}

bool kl_sight_find(struct kl_sight *s, const struct kl_touch *x)
{
	const struct kl_val first = s->t->first[s->slot];
	uint64_t v = first.v;

	s->x = x ? x->at : KL_NO_OP;
	if (x)
		s->by = find_by(s, x, &v);
	else
		s->by = first.tag == KL_WORD ? KL_SIGHT_FIRST : KL_SIGHT_NOT;
	return s->by != KL_SIGHT_NOT && find_words(s, v);
}

bool kl_sight_reaches(struct kl_stores *t, uint32_t e, uint32_t x)
{
	const struct kl_touch *w = t->touches + t->ops[x].touch;
	const struct kl_touch *end = t->touches + t->ops[x + 1].touch;
	struct kl_sight s = { .t = t, .e = e, .x = x };
	uint64_t v;

	for (; w < end; w++) {
		s.slot = w->slot;
		if (find_by(&s, w, &v) == KL_SIGHT_NOT)
			return false;
	}
	return w > t->touches + t->ops[x].touch;
}

bool kl_sight_best(struct kl_sight *s)
{
	const struct kl_stores *t = s->t;
	const struct kl_touch *x = t->touches + t->ntouches;
	struct kl_sight best = { .n = SIZE_MAX };
	size_t n = 0;

	while (x-- > t->touches && n < KL_SIGHT_TRIES && best.n > 1 && !kl_scene_over(t->s, 1)) {
		if (x->slot != s->slot || x->at == s->e)
			continue;
		if (kl_sight_find(s, x) && s->n < best.n)
			best = *s;
		n += s->by != KL_SIGHT_NOT;
	}
	if (best.n > 1 && kl_sight_find(s, NULL) && s->n <= best.n)
		best = *s;
	if (best.n != SIZE_MAX)
		*s = best;
	return best.n != SIZE_MAX;
}

/* ---- sentences ---- */

static unsigned long long ret_of(const struct kl_sight *s, uint32_t at)
{
	return kl_stores_op(s->t, at)->ret;
}

static int cast_op(const struct kl_sight *s, struct kl_story *story, uint32_t at, const char *did,
		   uint64_t v)
{
	return kl_story_cast(story, s->t->ops[at].op, "%s %s", did, kl_sight_word(s, v).s);
}

/* Cast the event by which the stores of @at had left, and add the fact.  Return: 0 or -ENOMEM. */
static int tell_left(const struct kl_sight *s, struct kl_story *story, uint32_t at,
		     struct kl_left left)
{
	const struct kl_name name = kl_sight_name(s, at), event = kl_sight_name(s, left.at);
	const unsigned long long time = left.time;

	if (left.by == KL_LEFT_THROUGH)
		return kl_story_fact(story, "%s leaves nothing in the store buffer, and returned "
				     "at %llu", name.s, time);
	if (left.by == KL_LEFT_DRAIN && left.at == at)
		return kl_story_fact(story, "The drain after %s was at %llu", name.s, time);
	if (kl_story_cast(story, s->t->ops[left.at].op, left.by == KL_LEFT_FENCE ?
			  "began with an empty store buffer" : "was followed by a drain"))
		return -ENOMEM;
	if (left.by == KL_LEFT_DRAIN)
		return kl_story_fact(story, "The drain after %s was at %llu; %s of the same thread "
				     "had returned at %llu, before it was called", event.s, time,
				     name.s, ret_of(s, at));
	return kl_story_fact(story, "%s began with an empty store buffer, and returned at %llu; %s "
			     "of the same thread had returned at %llu, before it was called",
			     event.s, time, name.s, ret_of(s, at));
}

/* Say why the stores of W are below those of Z.  Return: 0 or -ENOMEM. */
static int tell_below(const struct kl_sight *s, struct kl_story *story, uint32_t w, uint32_t z)
{
	if (!kl_stores_same_thread(s->t, w, z))
		return tell_left(s, story, w, kl_stores_left(s->t, w, z));
	return kl_story_fact(story, "%s and then %s are of one thread, whose stores leave in order",
			     kl_sight_name(s, w).s, kl_sight_name(s, z).s);
}

/* Say why the stores of W are below each that X may have seen.  Return: 0 or -ENOMEM. */
static int tell_sources(const struct kl_sight *s, struct kl_story *story, uint32_t w)
{
	const struct kl_touch *z = s->t->touches, *end = z + s->t->ntouches;

	for (; z < end; z++)
		if (may_be_source(s, z) &&
		    (cast_op(s, story, z->at, "may have stored", s->words[0]) ||
		     tell_below(s, story, w, z->at)))
			return -ENOMEM;
	return 0;
}

/* Say why E cannot have seen the word that W stored.  Return: 0 or -ENOMEM. */
static int tell_gone(const struct kl_sight *s, struct kl_story *story, const struct kl_touch *w)
{
	if (cast_op(s, story, w->at, "stored", w->left))
		return -ENOMEM;
	if (!is_below(s->t, w->at, s->x))
		return tell_sources(s, story, w->at);
	return tell_below(s, story, w->at, s->x);
}

int kl_sight_cast_gone(const struct kl_sight *s, struct kl_story *story, uint64_t v)
{
	const struct kl_stores *t = s->t;
	const struct kl_touch *w = t->touches + t->ntouches, *last = NULL;

	while (s->x != KL_NO_OP && w-- > t->touches) {
		if (w->slot != s->slot || !w->surely || !w->known || w->left != v ||
		    w->at == s->e || kl_stores_before(t, s->e, w->at))
			continue;
		/* Those that returned before the last one was called are of less interest. */
		if (last && kl_stores_before(t, w->at, last->at))
			continue;
		if (tell_gone(s, story, w))
			return -ENOMEM;
		last = last ?: w;
	}
	return 0;
}

int kl_sight_tell_reach(struct kl_stores *t, uint32_t e, uint32_t x, struct kl_story *story,
			uint64_t *by)
{
	const struct kl_touch *w = t->touches + t->ops[x].touch;
	struct kl_sight s = { .t = t, .e = e, .x = x, .slot = w->slot };
	uint64_t v;

	*by = kl_stores_op(t, x)->ret;
	if (find_by(&s, w, &v) != KL_SIGHT_LEFT)
		return 0;
	*by = s.left.time;
	return tell_left(&s, story, x, s.left);
}

int kl_sight_cast(const struct kl_sight *s, struct kl_story *story)
{
	const bool stored = s->by == KL_SIGHT_LEFT || s->by == KL_SIGHT_OWN;
	size_t i;

	if (s->x != KL_NO_OP && cast_op(s, story, s->x, stored ? "stored" : "saw", s->words[0]))
		return -ENOMEM;
	for (i = 1; i < s->n; i++)
		if (cast_op(s, story, s->from[i], "may have stored", s->words[i]))
			return -ENOMEM;
	if (s->by == KL_SIGHT_LEFT)
		return tell_left(s, story, s->x, s->left);
	if (s->by == KL_SIGHT_OWN)
		return kl_story_fact(story, "A thread sees its own stores at once");
	return 0;
}
