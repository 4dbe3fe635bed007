// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons with store buffers: an operation saw a word, although the store of another one was
 * certainly in memory, or in the buffer of its own thread.
 *
 *	t1 |-- write(2) --| drain	t2 |-- read() -> 0 --|		store_left
 *	t1 |-- write(2) --|		t1 |-- read() -> 0 --|		own_store
 *	t1 |-- write(2) -----|
 *	 t2 |-- read() -> 2 --|		t2 |-- read() -> 0 --|		went_back
 *
 * sight.h finds the words that E can have seen.  The reason is that E saw another one, or is not
 * possible with any of them.  If no operation stored what E saw, that is the reason.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "story/sight.h"

/* Is E, which saw @saw, impossible with each of the words?  Return: 1 if so, 0 if not, -ENOMEM. */
static int is_wrong(const struct kl_sight *s, const struct kl_touch *saw)
{
	size_t i;
	int ret = 1;

	for (i = 0; i < s->n && saw; i++)
		if (s->words[i] == saw->seen)
			return 0;
	for (i = 0; i < s->n && !saw && ret > 0; i++)
		ret = kl_stores_exclude(s->t, s->e, s->slot, s->words[i]);
	return ret;
}

/* "x = 1 or x = 2" */
static void name_words(const struct kl_sight *s, char *text, size_t size)
{
	size_t len = 0, i;

	*text = 0;
	for (i = 0; i < s->n && len < size; i++)
		len += snprintf(text + len, size - len, "%s%s", i ? " or " : "",
				kl_sight_word(s, s->words[i]).s);
}

/* When X's store had left, or X had returned. */
static unsigned long long time_of(const struct kl_sight *s)
{
	return s->by == KL_SIGHT_FIRST ? 0 : s->by == KL_SIGHT_LEFT ? s->left.time :
	       kl_stores_op(s->t, s->x)->ret;
}

/* The headline for an E that saw the word @v. */
static int tell_seen(const struct kl_sight *s, uint64_t v, struct kl_story *story)
{
	const struct kl_name e = kl_sight_name(s, s->e), x = kl_sight_name(s, s->x);
	const struct kl_name saw = kl_sight_word(s, v), other = kl_sight_word(s, s->words[0]);
	const unsigned long long time = time_of(s);

	switch (s->by) {
	case KL_SIGHT_FIRST:
		return kl_story_headline(story, "%s saw %s, which no operation wrote before", e.s,
					 saw.s);
	case KL_SIGHT_LEFT:
		return kl_story_headline(story, "%s saw %s, which %s had overwritten: its store had "
					 "left the store buffer by %llu", e.s, saw.s, x.s, time);
	case KL_SIGHT_OWN:
		return kl_story_headline(story, "%s saw %s, which %s of the same thread had "
					 "overwritten by %llu", e.s, saw.s, x.s, time);
	case KL_SIGHT_OWN_SAW:
		return kl_story_headline(story, "%s saw %s, although %s of the same thread had seen "
					 "%s by %llu", e.s, saw.s, x.s, other.s, time);
	default:
		return kl_story_headline(story, "%s saw %s, although %s had seen %s in memory by "
					 "%llu", e.s, saw.s, x.s, other.s, time);
	}
}

/* The headline for an E that is impossible with each of the words. */
static int tell_denied(const struct kl_sight *s, struct kl_story *story)
{
	const struct kl_name e = kl_sight_name(s, s->e), x = kl_sight_name(s, s->x);
	const struct kl_name other = kl_sight_word(s, s->words[0]);
	const unsigned long long time = time_of(s);
	char text[512];

	name_words(s, text, sizeof(text));
	switch (s->by) {
	case KL_SIGHT_FIRST:
		return kl_story_headline(story, "%s is wrong, since it found %s: no other value was "
					 "stored before", e.s, text);
	case KL_SIGHT_LEFT:
		return kl_story_headline(story, "%s is wrong, since it found %s: the store of %s had "
					 "left the store buffer by %llu", e.s, text, x.s, time);
	case KL_SIGHT_OWN:
		return kl_story_headline(story, "%s is wrong, since it found %s: %s of the same "
					 "thread had stored by %llu", e.s, text, x.s, time);
	case KL_SIGHT_OWN_SAW:
		return kl_story_headline(story, "%s is wrong, since it found %s: %s of the same "
					 "thread had seen %s by %llu", e.s, text, x.s, other.s,
					 time);
	default:
		return kl_story_headline(story, "%s is wrong, since it found %s: %s had seen %s in "
					 "memory by %llu", e.s, text, x.s, other.s, time);
	}
}

static int tell_sight(const struct kl_sight *s, const struct kl_touch *saw,
		      struct kl_story *story)
{
	static const char *const reasons[] = {
		[KL_SIGHT_FIRST] = "never_written", [KL_SIGHT_LEFT] = "store_left",
		[KL_SIGHT_OWN] = "own_store", [KL_SIGHT_OWN_SAW] = "went_back",
		[KL_SIGHT_MEMORY] = "went_back",
	};
	const uint32_t e = s->t->ops[s->e].op;

	story->reason = saw || s->by != KL_SIGHT_FIRST ? reasons[s->by] : "never_possible";
	if (saw ? kl_story_cast(story, e, "saw %s", kl_sight_word(s, saw->seen).s) :
		  kl_story_cast(story, e, "needs another state"))
		return -ENOMEM;
	if (kl_sight_cast(s, story) || (saw && kl_sight_cast_gone(s, story, saw->seen)))
		return -ENOMEM;
	return saw ? tell_seen(s, saw->seen, story) : tell_denied(s, story);
}

/* Did no other operation store the word, in whatever order?  Then no X says more. */
static bool is_unwritten(const struct kl_sight *s, uint64_t v)
{
	const struct kl_stores *t = s->t;
	const struct kl_touch *w = t->touches, *end = w + t->ntouches;
	const struct kl_val first = t->first[s->slot];

	if (first.tag == KL_ANY || kl_val_eq(first, kl_word(v)) || kl_scene_over(t->s, t->ntouches))
		return false;
	for (; w < end; w++)
		if (w->slot == s->slot && w->stores && w->at != s->e && (!w->known || w->left == v))
			return false;
	return true;
}

/* Look for X of E and a word.  Return: 1 after the story was told, 0, or -ENOMEM. */
static int look_at_slot(struct kl_sight *s, struct kl_story *story)
{
	const struct kl_stores *t = s->t;
	const struct kl_touch *x = t->touches + t->ntouches, *saw;
	size_t n = 0;
	int ret;

	saw = kl_stores_touch(t, s->e, s->slot);
	saw = saw && saw->sees ? saw : NULL;
	if (saw && is_unwritten(s, saw->seen)) {
		s->x = KL_NO_OP;
		s->by = KL_SIGHT_FIRST;
		s->n = 0;
		return tell_sight(s, saw, story);
	}
	while (x-- > t->touches && n < KL_SIGHT_TRIES && !kl_scene_over(t->s, 1)) {
		if (x->slot != s->slot || x->at == s->e)
			continue;
		ret = kl_sight_find(s, x) ? is_wrong(s, saw) : 0;
		if (ret)
			return ret > 0 ? tell_sight(s, saw, story) : ret;
		n += s->by != KL_SIGHT_NOT;
	}
	ret = kl_sight_find(s, NULL) ? is_wrong(s, saw) : 0;
	return ret > 0 ? tell_sight(s, saw, story) : ret;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	struct kl_sight sight = { 0 };
	struct kl_stores *t;
	int ret = 0;

	if (!s->tso)
		return 0;
	ret = kl_stores_of(s, &t);
	if (ret <= 0)
		return ret;
	sight.t = t;
	ret = 0;
	for (sight.e = t->nops; sight.e-- && !ret; ) {
		if (t->ops[sight.e].pending || !kl_scene_proves(s, t->ops[sight.e].op))
			continue;
		for (sight.slot = 0; sight.slot < t->len && !ret; sight.slot++)
			ret = look_at_slot(&sight, story);
	}
	return ret;
}

static const struct kl_reason buffers = {
	.name = "store_left", .rank = 12, .needs = KL_NEEDS_NOTHING, .tso = true, .tell = tell,
};
KL_REASON(buffers);
