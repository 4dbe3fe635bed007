// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons: two hold what one can hold, a permit was taken where none was left, something was
 * released that nobody held, or an attempt failed while it could have succeeded.
 *
 *	t1 |-- write_lock() --|  t2 |-- read_lock() --|			two holders
 *	t1 |-- down() --|  t2 |-- try_down() -> 1 --|			no permit left
 *	t1 |-- unlock() --|						not held
 *	t1 |-- lock() --| |-- unlock() --| |-- trylock() -> 0 --|	failed while free
 *
 * ranges.h shows that the operation is impossible.  The reason only finds words for it, from how
 * the operation changes the words of the state, which may have any names:
 *
 * - A word that is 0 at first, and that a method takes away from, counts holders.  An operation
 *   that adds to such a word takes hold.  One that takes away from it and returns nothing releases.
 * - Another word that is never less than 0 counts permits.  An operation that takes away from it
 *   takes a permit; so does one that takes away from a count of holders, and returns a result.
 * - An operation that changes nothing, and would change a word if its result were true, has failed.
 *
 * A counter's increment that returned a wrong number is none of these, since it would be possible
 * with another result.
 */
#include <errno.h>

#include "story/ranges.h"

enum what { NOTHING, TAKES, TAKES_PERMIT, RELEASES, FAILS };

/* Does the word count holders?  Return: 1 if so, 0 if not, -ENOMEM. */
static int counts_holders(struct kl_ranges *r, size_t k)
{
	return r->first[k].tag == KL_WORD && !r->first[k].v ? kl_ranges_lowered(r, k) : 0;
}

/* Return: the deed of the operation on word @k, also if it is only what it attempted. */
static enum what what_it_does(const struct kl_ranges *r, size_t k, bool counts, bool held)
{
	const struct kl_effect *e = &r->effect;
	const bool none = r->r[k].known && !r->r[k].high;

	if (counts && e->low[k] > 0 && held)
		return TAKES;
	if (e->low[k] >= 0 || !none)
		return NOTHING;
	if (counts && !kl_op_sig(r->s->h, &r->s->h->ops[r->op])->nres)
		return RELEASES;
	return counts || (r->first[k].v && r->floor[k]) ? TAKES_PERMIT : NOTHING;
}

/* Return: 0 with @what set, or -ENOMEM. */
static int find_what(struct kl_ranges *r, enum what *what)
{
	const struct kl_effect *e = &r->effect;
	int counts[KL_RANGES];
	bool held = false, changes = false;
	size_t k;

	*what = NOTHING;
	for (k = 0; k < r->len; k++) {
		counts[k] = counts_holders(r, k);
		if (counts[k] < 0)
			return counts[k];
		held |= counts[k] && r->r[k].known && r->r[k].low > 0;
		if (e->vague[k] || e->low[k] != e->high[k])
			return 0;
		changes |= e->low[k] != 0;
	}
	for (k = 0; k < r->len && *what == NOTHING; k++)
		*what = what_it_does(r, k, counts[k], held);
	if (!changes && e->outcomes)
		*what = FAILS;
	return 0;
}

/* Does the operation return a bool that is false? */
static bool returned_false(const struct kl_scene *s, uint32_t op)
{
	const struct kl_history *h = s->h;
	const int m = kl_spec_find_method(s->spec, h->methods[kl_op_method(h, &h->ops[op])]);
	const struct kl_method *method = m < 0 ? NULL : kl_spec_method(s->spec, m);
	const struct kl_val *v = kl_op_res(h, &h->ops[op]);

	return method && method->nresults == 1 && method->results[0].type == KL_T_BOOL &&
	       v->tag == KL_WORD && !v->v;
}

static int look(struct kl_ranges *r, struct kl_story *story)
{
	static const struct {
		const char *reason, *role, *headline;
	} say[] = {
		[TAKES] = { "two_holders", "takes hold",
			    "%s took hold while it was held: %s while it ran" },
		[TAKES_PERMIT] = { "no_permit_left", "takes a permit",
				   "%s took a permit, though none was left: %s while it ran" },
		[RELEASES] = { "not_held", "releases",
			       "%s released what nobody held: %s while it ran" },
		[FAILS] = { "failed_while_free", "failed",
			    "%s failed, though it could have succeeded: %s while it ran" },
	};
	enum what what;
	char text[1024];
	int ret;

	ret = find_what(r, &what);
	if (ret)
		return ret;
	if (what == NOTHING || (what == FAILS && !returned_false(r->s, r->op)))
		return 0;
	ret = kl_ranges_try(r, what == FAILS ? KL_RESULT_TRUE : KL_ANY_RESULT, what == FAILS);
	if (ret <= 0)
		return ret;
	story->reason = say[what].reason;
	kl_ranges_name(r, text, sizeof(text));
	if (kl_story_cast(story, r->op, "%s", say[what].role) || kl_ranges_cast(r, story))
		return -ENOMEM;
	return kl_story_headline(story, say[what].headline, kl_name_op(r->s, r->op).s, text);
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	return s->deeds ? 0 : kl_ranges_each(s, false, look, story);
}

static int tell_exact(const struct kl_scene *s, struct kl_story *story)
{
	return s->deeds ? 0 : kl_ranges_each(s, true, look, story);
}

static const struct kl_reason holders = {
	.name = "two_holders", .rank = 5, .needs = KL_NEEDS_NOTHING, .tso = true,
	.tell = tell,
};
KL_REASON(holders);

/* The orders are many, so other reasons are tried before. */
static const struct kl_reason holders_exact = {
	.name = "two_holders",
	.rank = 590,
	.needs = KL_NEEDS_NOTHING,
	.tso = true,
	.tell = tell_exact,
};
KL_REASON(holders_exact);
