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
 * A thread sees the newest store in its own buffer, else memory.  Stores of a thread leave its
 * buffer in order.  Let X, which certainly returned before E was called, be one of these:
 *	- X stored w, and this store had left the buffer before E was called;
 *	- X stored or saw w, and is of E's thread;
 *	- X saw w in memory: no store of its own thread that it may have seen was in the buffer.
 *
 * Then E sees w, or the word of an operation W that may store after that.  W does not if E
 * certainly returned before W was called; if W's stores had left before X was called; or if W and X
 * are of one thread, and W returned before X was called.  In the last two cases the store of W is
 * overwritten when X's store leaves or is seen; and what X saw in memory, or its thread saw, only
 * changes by later stores.  W is also overwritten if X saw w, which is not the first word, and for
 * each operation Z that may have stored this w, W's stores left before Z's: W's had left before Z
 * was called, or W and Z are of one thread, and W returned before Z was called.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "story/stores.h"

#define MOST_X		64	/* largest number of operations X that are tried for one E */
#define MOST_WORDS	4	/* largest number of words that E may see */

enum sight {
	NOT_SEEN,
	STORE_LEFT,	/* the store of X had left before E */
	OWN_STORE,	/* X stored, and is of E's thread */
	OWN_SIGHT,	/* X saw the word, and is of E's thread */
	MEMORY,		/* X saw the word in memory */
};

/* What is known of the word that E sees. */
struct claim {
	struct kl_stores *t;
	uint32_t e, x, slot;	/* operations are indices in t->ops */
	enum sight sight;
	struct kl_left left;	/* of X's store */
	uint64_t words[MOST_WORDS];	/* that of X, and those that may come after it */
	uint32_t from[MOST_WORDS];
	size_t n;
	const struct kl_touch *seen;	/* what E saw, or NULL if the words forbid its result */
};

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

/* How E sees what X stored or saw; @c->left gets the event, @v the word. */
static enum sight find_sight(struct claim *c, const struct kl_touch *x, uint64_t *v)
{
	const bool stores = x->surely && x->known;

	if (!kl_stores_before(c->t, x->at, c->e) || (x->stores && !stores))
		return NOT_SEEN;
	*v = stores ? x->left : x->seen;
	if (kl_stores_same_thread(c->t, x->at, c->e))
		return stores ? OWN_STORE : x->sees ? OWN_SIGHT : NOT_SEEN;
	if (!stores)
		return x->sees && saw_memory(c->t, x) ? MEMORY : NOT_SEEN;
	c->left = kl_stores_left(c->t, x->at, c->e);
	return c->left.by ? STORE_LEFT : NOT_SEEN;
}

/* Is W's store certainly below that of Z, which comes to memory later, or is in the same buffer? */
static bool is_below(const struct kl_stores *t, uint32_t w, uint32_t z)
{
	return (kl_stores_same_thread(t, w, z) && kl_stores_before(t, w, z)) ||
	       kl_stores_left(t, w, z).by;
}

/* May the operation of the touch have stored what X saw? */
static bool may_be_source(const struct claim *c, const struct kl_touch *z)
{
	return z->slot == c->slot && z->stores && z->at != c->x &&
	       (!z->known || z->left == c->words[0]) && !kl_stores_before(c->t, c->x, z->at);
}

/* Is W's store below that which X saw, whichever this is? */
static bool is_below_sources(const struct claim *c, uint32_t w)
{
	const struct kl_stores *t = c->t;
	const struct kl_touch *z = t->touches, *end = z + t->ntouches;
	const struct kl_val first = t->first[c->slot];

	if ((c->sight != OWN_SIGHT && c->sight != MEMORY) || first.tag == KL_ANY ||
	    kl_val_eq(first, kl_word(c->words[0])) || kl_scene_over(t->s, t->ntouches))
		return false;
	for (; z < end; z++)
		if (may_be_source(c, z) && (z->at == w || !is_below(t, w, z->at)))
			return false;
	return true;
}

/* Can E certainly not see the store of W in place of the word of X? */
static bool is_gone(const struct claim *c, uint32_t w)
{
	return kl_stores_before(c->t, c->e, w) || is_below(c->t, w, c->x) ||
	       is_below_sources(c, w);
}

/* Add a word that E may see.  Return: false if there are too many. */
static bool add_word(struct claim *c, uint64_t v, uint32_t from)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->words[i] == v)
			return true;
	if (c->n == MOST_WORDS)
		return false;
	c->from[c->n] = from;
	c->words[c->n++] = v;
	return true;
}

/* Find the words that E may see.  Return: false if one is not known, or there are too many. */
static bool find_words(struct claim *c, uint64_t v)
{
	const struct kl_stores *t = c->t;
	const struct kl_touch *w = t->touches, *end = w + t->ntouches;

	c->n = 0;
	add_word(c, v, c->x);
	if (kl_scene_over(t->s, t->ntouches))
		return false;
	for (; w < end; w++) {
		if (w->slot != c->slot || !w->stores || w->at == c->e || w->at == c->x ||
		    is_gone(c, w->at))
			continue;
		if (!w->known || !add_word(c, w->left, w->at))
			return false;
		if (c->seen && w->left == c->seen->seen)
			return false;
	}
	return true;
}

/* Is E impossible with each of the words?  Return: 1, 0 or -ENOMEM. */
static int is_wrong(struct claim *c)
{
	size_t i;
	int ret = 1;

	for (i = 0; i < c->n && c->seen; i++)
		if (c->words[i] == c->seen->seen)
			return 0;
	for (i = 0; i < c->n && !c->seen && ret > 0; i++)
		ret = kl_stores_exclude(c->t, c->e, c->slot, c->words[i]);
	return ret;
}

/* ---- sentences ---- */

static struct kl_name name_at(const struct claim *c, uint32_t at)
{
	return kl_name_op(c->t->s, c->t->ops[at].op);
}

static struct kl_name name_word(const struct claim *c, uint64_t v)
{
	return kl_stores_name(c->t, c->slot, v);
}

static unsigned long long ret_of(const struct claim *c, uint32_t at)
{
	return kl_stores_op(c->t, at)->ret;
}

static int cast_op(const struct claim *c, struct kl_story *story, uint32_t at, const char *did,
		   uint64_t v)
{
	return kl_story_cast(story, c->t->ops[at].op, "%s %s", did, name_word(c, v).s);
}

/* Cast the event by which the stores of @at had left, and add the fact.  Return: 0 or -ENOMEM. */
static int tell_left(const struct claim *c, struct kl_story *story, uint32_t at,
		     struct kl_left left)
{
	const struct kl_name name = name_at(c, at), event = name_at(c, left.at);
	const unsigned long long time = left.time;

	if (left.by == KL_LEFT_THROUGH)
		return kl_story_fact(story, "%s leaves nothing in the store buffer, and returned "
				     "at %llu", name.s, time);
	if (left.by == KL_LEFT_DRAIN && left.at == at)
		return kl_story_fact(story, "The drain after %s was at %llu", name.s, time);
	if (kl_story_cast(story, c->t->ops[left.at].op, left.by == KL_LEFT_FENCE ?
			  "began with an empty store buffer" : "was followed by a drain"))
		return -ENOMEM;
	if (left.by == KL_LEFT_DRAIN)
		return kl_story_fact(story, "The drain after %s was at %llu; %s of the same thread "
				     "had returned at %llu, before it was called", event.s, time,
				     name.s, ret_of(c, at));
	return kl_story_fact(story, "%s began with an empty store buffer, and returned at %llu; %s "
			     "of the same thread had returned at %llu, before it was called",
			     event.s, time, name.s, ret_of(c, at));
}

/* Say why the stores of W are below those of Z.  Return: 0 or -ENOMEM. */
static int tell_below(const struct claim *c, struct kl_story *story, uint32_t w, uint32_t z)
{
	if (!kl_stores_same_thread(c->t, w, z))
		return tell_left(c, story, w, kl_stores_left(c->t, w, z));
	return kl_story_fact(story, "%s and then %s are of one thread, whose stores leave in order",
			     name_at(c, w).s, name_at(c, z).s);
}

/* Say why the stores of W are below each that X may have seen.  Return: 0 or -ENOMEM. */
static int tell_sources(const struct claim *c, struct kl_story *story, uint32_t w)
{
	const struct kl_touch *z = c->t->touches, *end = z + c->t->ntouches;

	for (; z < end; z++)
		if (may_be_source(c, z) &&
		    (cast_op(c, story, z->at, "may have stored", c->words[0]) ||
		     tell_below(c, story, w, z->at)))
			return -ENOMEM;
	return 0;
}

/*
 * Cast the last operation that stored what E saw, and say why its store is overwritten.  Return: 0
 * or -ENOMEM.
 */
static int tell_writers(const struct claim *c, struct kl_story *story)
{
	const struct kl_stores *t = c->t;
	const struct kl_touch *w = t->touches + t->ntouches;

	while (c->seen && w-- > t->touches) {
		if (w->slot != c->slot || !w->surely || !w->known || w->left != c->seen->seen ||
		    w->at == c->e || kl_stores_before(t, c->e, w->at))
			continue;
		if (cast_op(c, story, w->at, "stored", w->left))
			return -ENOMEM;
		if (!is_below(t, w->at, c->x))
			return tell_sources(c, story, w->at);
		return tell_below(c, story, w->at, c->x);
	}
	return 0;
}

/* "x = 1 or x = 2" */
static void name_words(const struct claim *c, char *text, size_t size)
{
	size_t len = 0, i;

	*text = 0;
	for (i = 0; i < c->n && len < size; i++)
		len += snprintf(text + len, size - len, "%s%s", i ? " or " : "",
				name_word(c, c->words[i]).s);
}

/* The headline for an E that saw a word. */
static int tell_seen(const struct claim *c, struct kl_story *story)
{
	const struct kl_name e = name_at(c, c->e), x = name_at(c, c->x);
	const struct kl_name saw = name_word(c, c->seen->seen), other = name_word(c, c->words[0]);

	switch (c->sight) {
	case STORE_LEFT:
		return kl_story_headline(story, "%s saw %s, which %s had overwritten: its store had "
					 "left the store buffer by %llu", e.s, saw.s, x.s,
					 (unsigned long long)c->left.time);
	case OWN_STORE:
		return kl_story_headline(story, "%s saw %s, which %s of the same thread had "
					 "overwritten by %llu", e.s, saw.s, x.s, ret_of(c, c->x));
	case OWN_SIGHT:
		return kl_story_headline(story, "%s saw %s, although %s of the same thread had seen "
					 "%s by %llu", e.s, saw.s, x.s, other.s, ret_of(c, c->x));
	default:
		return kl_story_headline(story, "%s saw %s, although %s had seen %s in memory by "
					 "%llu", e.s, saw.s, x.s, other.s, ret_of(c, c->x));
	}
}

/* The headline for an E that is impossible with each of the words. */
static int tell_denied(const struct claim *c, struct kl_story *story)
{
	const struct kl_name e = name_at(c, c->e), x = name_at(c, c->x);
	char text[512];

	name_words(c, text, sizeof(text));
	switch (c->sight) {
	case STORE_LEFT:
		return kl_story_headline(story, "%s is wrong, since it found %s: the store of %s had "
					 "left the store buffer by %llu", e.s, text, x.s,
					 (unsigned long long)c->left.time);
	case OWN_STORE:
		return kl_story_headline(story, "%s is wrong, since it found %s: %s of the same "
					 "thread had stored by %llu", e.s, text, x.s,
					 ret_of(c, c->x));
	case OWN_SIGHT:
		return kl_story_headline(story, "%s is wrong, since it found %s: %s of the same "
					 "thread had seen %s by %llu", e.s, text, x.s,
					 name_word(c, c->words[0]).s, ret_of(c, c->x));
	default:
		return kl_story_headline(story, "%s is wrong, since it found %s: %s had seen %s in "
					 "memory by %llu", e.s, text, x.s,
					 name_word(c, c->words[0]).s, ret_of(c, c->x));
	}
}

static int tell_claim(const struct claim *c, struct kl_story *story)
{
	static const char *const reasons[] = {
		[STORE_LEFT] = "store_left", [OWN_STORE] = "own_store",
		[OWN_SIGHT] = "went_back", [MEMORY] = "went_back",
	};
	const bool stored = c->sight == STORE_LEFT || c->sight == OWN_STORE;
	const char *did = stored ? "stored" : "saw";
	size_t i;

	story->reason = reasons[c->sight];
	if (c->seen ? cast_op(c, story, c->e, "saw", c->seen->seen) :
	    kl_story_cast(story, c->t->ops[c->e].op, "needs another state"))
		return -ENOMEM;
	if (cast_op(c, story, c->x, did, c->words[0]))
		return -ENOMEM;
	for (i = 1; i < c->n; i++)
		if (cast_op(c, story, c->from[i], "may have stored", c->words[i]))
			return -ENOMEM;
	if (c->sight == STORE_LEFT && tell_left(c, story, c->x, c->left))
		return -ENOMEM;
	if (c->sight == OWN_STORE &&
	    kl_story_fact(story, "A thread sees its own stores at once"))
		return -ENOMEM;
	if (tell_writers(c, story))
		return -ENOMEM;
	return c->seen ? tell_seen(c, story) : tell_denied(c, story);
}

/* ---- search ---- */

/* Look for X of E and a word.  Return: 1 after the story was told, 0, or -ENOMEM. */
static int look_at_slot(struct claim *c, struct kl_story *story)
{
	const struct kl_stores *t = c->t;
	const struct kl_touch *x = t->touches + t->ntouches;
	uint64_t v;
	size_t n = 0;
	int ret;

	while (x-- > t->touches && n < MOST_X && !kl_scene_over(t->s, 1)) {
		if (x->slot != c->slot || x->at == c->e)
			continue;
		c->x = x->at;
		c->sight = find_sight(c, x, &v);
		if (c->sight == NOT_SEEN)
			continue;
		n++;
		ret = find_words(c, v) ? is_wrong(c) : 0;
		if (ret)
			return ret > 0 ? tell_claim(c, story) : ret;
	}
	return 0;
}

static int look_at(struct claim *c, struct kl_story *story)
{
	int ret = 0;

	for (c->slot = 0; c->slot < c->t->len && !ret; c->slot++) {
		const struct kl_touch *e = kl_stores_touch(c->t, c->e, c->slot);

		c->seen = e && e->sees ? e : NULL;
		ret = look_at_slot(c, story);
	}
	return ret;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	struct kl_stores t;
	struct claim c = { .t = &t };
	int ret = 0;

	if (!s->tso)
		return 0;
	ret = kl_stores_set(&t, s);
	if (ret > 0) {
		ret = 0;
		for (c.e = t.nops; c.e-- && !ret; )
			if (!t.ops[c.e].pending && kl_scene_proves(s, t.ops[c.e].op))
				ret = look_at(&c, story);
	}
	kl_stores_free(&t);
	return ret;
}

static const struct kl_reason buffers = {
	.name = "store_left", .rank = 12, .needs = KL_NEEDS_NOTHING, .tso = true, .tell = tell,
};
KL_REASON(buffers);
