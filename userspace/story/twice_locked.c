// SPDX-License-Identifier: GPL-2.0
/*
 * Reason with store buffers: locked instructions changed a word from v more often than it can have
 * become v, such as two lock() of a spinlock without an unlock().
 *
 * A locked instruction finds the word in memory, since its buffer is empty, and changes it there at
 * once.  So memory has v at first, or by a store of v, and each of these serves one change.
 *
 * Of two changes the later one needs a store of v that comes to memory between them.  This is none
 * that was called after both had returned, and none that had left before both were called.
 */
#include <errno.h>

#include "story/stores.h"

/* Is this a change from @v to another word, in memory? */
static bool changes(const struct kl_stores *t, const struct kl_touch *w, uint64_t v)
{
	return w->sees && w->seen == v && w->surely && w->known && w->left != v &&
	       t->ops[w->at].barrier && t->ops[w->at].through;
}

/* May this store @v, when the word was another one? */
static bool becomes(const struct kl_touch *w, uint64_t v)
{
	return w->stores && (!w->known || w->left == v) && !(w->sees && w->seen == v);
}

static int cast_changes(struct kl_stores *t, const struct kl_touch *from, uint64_t v, size_t n,
			struct kl_story *story)
{
	const struct kl_touch *w = t->touches, *end = w + t->ntouches;

	for (; w < end && n; w++)
		if (w->slot == from->slot && changes(t, w, v) && n-- &&
		    kl_story_cast(story, t->ops[w->at].op, "changed %s",
				  kl_stores_name(t, w->slot, v).s))
			return -ENOMEM;
	for (w = t->touches; w < end; w++)
		if (w->slot == from->slot && becomes(w, v) &&
		    kl_story_cast(story, t->ops[w->at].op, w->surely && w->known ? "stored %s" :
				  "may have stored %s", kl_stores_name(t, w->slot, v).s))
			return -ENOMEM;
	return 0;
}

/* May a store come to memory between two operations? */
static bool may_be_between(const struct kl_stores *t, uint32_t w, uint32_t a, uint32_t b)
{
	return !(kl_stores_before(t, a, w) && kl_stores_before(t, b, w)) &&
	       !(kl_stores_left(t, w, a).by && kl_stores_left(t, w, b).by);
}

/* Is there no store of @v that may come to memory between two changes? */
static bool are_alone(const struct kl_stores *t, const struct kl_touch *a, const struct kl_touch *b,
		      uint64_t v)
{
	const struct kl_touch *w = t->touches, *end = w + t->ntouches;

	if (kl_scene_over(t->s, t->ntouches))
		return false;
	for (; w < end; w++)
		if (w->slot == a->slot && becomes(w, v) && may_be_between(t, w->at, a->at, b->at))
			return false;
	return true;
}

/* Look for another change from what @a saw.  Return: 1 after the story was told, 0, or -ENOMEM. */
static int look_for_pair(struct kl_stores *t, const struct kl_touch *a, struct kl_story *story)
{
	const struct kl_touch *b = a, *end = t->touches + t->ntouches;
	const struct kl_name text = kl_stores_name(t, a->slot, a->seen);

	while (++b < end) {
		if (b->slot != a->slot || !changes(t, b, a->seen) ||
		    !kl_scene_proves(t->s, t->ops[b->at].op) || !are_alone(t, a, b, a->seen))
			continue;
		if (kl_story_cast(story, t->ops[b->at].op, "changed %s", text.s) ||
		    kl_story_cast(story, t->ops[a->at].op, "changed %s", text.s) ||
		    kl_story_fact(story, "A locked instruction finds and changes memory") ||
		    kl_story_fact(story, "No operation makes it %s between them", text.s))
			return -ENOMEM;
		return kl_story_headline(story, "%s and %s both changed %s",
					 kl_name_op(t->s, t->ops[a->at].op).s,
					 kl_name_op(t->s, t->ops[b->at].op).s, text.s);
	}
	return 0;
}

/* Count changes of the word from what @from saw.  Return: 1 after the story, 0, or -ENOMEM. */
static int look_at(struct kl_stores *t, const struct kl_touch *from, struct kl_story *story)
{
	const struct kl_touch *w = t->touches, *end = w + t->ntouches;
	const uint64_t v = from->seen;
	const struct kl_val first = t->first[from->slot];
	size_t n = 0, most = first.tag == KL_ANY || kl_val_eq(first, kl_word(v));

	for (; w < end; w++) {
		n += w->slot == from->slot && changes(t, w, v);
		most += w->slot == from->slot && becomes(w, v);
	}
	/* A reader cannot follow many changes. */
	if (n <= most || n < 2 || n + most > KL_STORY_CAST)
		return 0;
	if (cast_changes(t, from, v, most + 1, story) ||
	    kl_story_fact(story, "A locked instruction finds and changes memory"))
		return -ENOMEM;
	return kl_story_headline(story, "%zu operations changed %s, which can have been so %zu "
				 "times", n, kl_stores_name(t, from->slot, v).s, most);
}

/* Is this a change in the proof? */
static bool is_proof(const struct kl_stores *t, const struct kl_touch *w)
{
	return w->sees && changes(t, w, w->seen) && kl_scene_proves(t->s, t->ops[w->at].op);
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	struct kl_stores *t;
	const struct kl_touch *w;
	int ret;

	if (!s->tso)
		return 0;
	ret = kl_stores_of(s, &t);
	if (ret <= 0)
		return ret;
	ret = 0;
	for (w = t->touches; w < t->touches + t->ntouches && !ret; w++)
		if (is_proof(t, w) && !kl_scene_over(s, t->ntouches))
			ret = look_for_pair(t, w, story);
	for (w = t->touches; w < t->touches + t->ntouches && !ret; w++)
		if (is_proof(t, w) && !kl_scene_over(s, t->ntouches))
			ret = look_at(t, w, story);
	return ret;
}

static const struct kl_reason twice_locked = {
	.name = "changed_twice", .rank = 20, .needs = KL_NEEDS_NOTHING, .tso = true, .tell = tell,
};
KL_REASON(twice_locked);
