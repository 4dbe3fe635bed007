// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons, of containers: an operation is impossible wherever it can come in an order, or each of
 * two operations that overlap is impossible after the other.
 *
 *	t1 |-- enq(1) --|  t1 |-- enq(1) --|  t1 |-- enq(2) --|
 *		t2 |-- deq() -> 1 --|	  t2 |-- deq() -> 2 --|		2 was not next
 *
 * reach.h tries all orders of the operations that may be before.  Other reasons are faster, and say
 * more of one value; they are tried before.  found.c looks at states of a few words.
 */
#include <errno.h>
#include <stdio.h>

#include "story/reach.h"
#include "story/reason.h"

/* "1 or 2" of the results that were right; empty if others were, too. */
static void name_right(const struct kl_story *story, char *text, size_t size)
{
	const struct kl_allowed *a = &story->allowed;
	size_t len = 0, i;

	*text = 0;
	for (i = 0; i < a->n && a->all && a->exact && len < size; i++)
		len += snprintf(text + len, size - len, "%s%s", i ? " or " : "", a->results[i]);
}

/* Return: the act of the operation if it took, saw or found no value; else KL_ACT_NONE. */
static enum kl_act act_of(const struct kl_scene *s, uint32_t op, uint64_t *v)
{
	static const enum kl_act acts[] = { KL_ACT_REMOVE, KL_ACT_LOOK, KL_ACT_EMPTY };
	const struct kl_deed *d;
	size_t i, k, n;

	for (i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		d = kl_scene_all(s, acts[i], &n);
		for (k = 0; k < n; k++) {
			if (d[k].op != op)
				continue;
			*v = d[k].v;
			return acts[i];
		}
	}
	return KL_ACT_NONE;
}

/* Cast the counterexample, which has no order.  Return: 0 or -ENOMEM. */
static int cast_proof(const struct kl_scene *s, struct kl_story *story, uint32_t e)
{
	size_t i;

	for (i = s->nproof; i--;) {
		const uint32_t op = s->proof[i];

		if (kl_story_cast(story, op, "%s",
				  kl_scene_before(s, op, e) ? "returned before" :
				  kl_scene_before(s, e, op) ? "was called later" :
							      "overlaps"))
			return -ENOMEM;
	}
	return kl_story_cast_all(s, story, e);
}

static int tell_never(const struct kl_scene *s, uint32_t e, struct kl_story *story)
{
	const struct kl_name name = kl_name_op(s, e);
	uint64_t v = 0;
	const enum kl_act act = act_of(s, e, &v);
	const struct kl_name value = kl_name_val(s, kl_word(v));
	char right[512];

	if (kl_story_allow(s, story, e))
		return -ENOMEM;
	name_right(story, right, sizeof(right));
	story->reason = !*right || act == KL_ACT_NONE ? "never_possible" :
			act == KL_ACT_EMPTY	      ? "empty_while_inside" :
							"order_inverted";
	if (kl_story_cast(story, e,
			  !*right || act == KL_ACT_NONE ? "is not possible" :
			  act == KL_ACT_EMPTY		? "found nothing" :
			  act == KL_ACT_LOOK		? "saw %s" :
							  "took %s",
			  value.s) ||
	    cast_proof(s, story, e))
		return -ENOMEM;
	if (!*right || act == KL_ACT_NONE)
		return kl_story_never(s, e, right, story);
	if (act == KL_ACT_EMPTY)
		return kl_story_headline(story,
					 "%s found nothing, while a value was inside: only "
					 "%s was right",
					 name.s, right);
	return kl_story_headline(story, "%s %s %s, which was not next: only %s was right", name.s,
				 act == KL_ACT_LOOK ? "saw" : "took", value.s, right);
}

/* Look at two operations that overlap.  Return: 1 after the story was told, 0, or -ENOMEM. */
static int look_at_pair(struct kl_reach *r, uint32_t a, uint32_t b, struct kl_story *story)
{
	const struct kl_scene *s = r->s;
	int ret;

	if (kl_scene_before(s, a, b) || kl_scene_before(s, b, a) ||
	    (s->h->ops[a].flags | s->h->ops[b].flags) & KL_OP_PENDING)
		return 0;
	ret = kl_reach_never(r, a, b);
	if (ret > 0)
		ret = kl_reach_never(r, b, a);
	if (ret <= 0)
		return ret;
	story->reason = "exclude_each_other";
	if (kl_story_cast(story, b, "is not possible after the other") ||
	    kl_story_cast(story, a, "is not possible after the other") || cast_proof(s, story, b) ||
	    kl_story_cast_all(s, story, a))
		return -ENOMEM;
	return kl_story_neither(s, a, b, story);
}

static int look_at(struct kl_reach *r, uint32_t e, struct kl_story *story)
{
	const int ret = r->s->h->ops[e].flags & KL_OP_PENDING ? 0 : kl_reach_never(r, KL_NO_OP, e);

	return ret > 0 ? tell_never(r->s, e, story) : ret;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	const uint32_t fails = kl_story_failing(s->part->cex);
	struct kl_reach r = { .s = s };
	size_t i, k;
	int ret;

	if (kl_spec_fixed_size(s->spec))
		return 0;
	r.run = kl_run_new(s->spec);
	ret = r.run ? 0 : -ENOMEM;
	if (!ret && fails != KL_NO_OP)
		ret = look_at(&r, fails, story);
	for (i = s->nproof; i-- && !ret && !kl_scene_over(s, 1);)
		if (s->proof[i] != fails)
			ret = look_at(&r, s->proof[i], story);
	for (i = s->nproof; i-- && !ret;)
		for (k = i; k-- && !ret && !kl_scene_over(s, 1);)
			ret = look_at_pair(&r, s->proof[k], s->proof[i], story);
	kl_reach_free(&r);
	return ret;
}

static const struct kl_reason not_next = {
	.name = "never_possible",
	.rank = 610,
	.needs = KL_NEEDS_NOTHING,
	.tell = tell,
};
KL_REASON(not_next);
