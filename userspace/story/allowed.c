// SPDX-License-Identifier: GPL-2.0
/*
 * The results that would have been right: those with which an operation leaves an order.
 *
 * The operation may return anything, and all orders of the partition's operations up to its return
 * are tried.  Each result that is named then has an order of all of them.  If the search came to
 * its end, there is no other result.  With store buffers there are more orders than were tried, so
 * other results may be right, too.
 *
 * If there is no order, since more than one result is wrong, the results of other operations may
 * be anything, too: of those that change nothing, and then of all.  Then the results that are named
 * are right at most, and all others are wrong.  If there are too many orders, the operations of the
 * counterexample are taken alone, and the sentence says so.  Operations that the counterexample
 * lacks may forbid the results that are named, and allow others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "story/reason.h"
#include "story/search.h"

#define SENTENCE	1024

/* Is the result one of those that the story has? */
static bool has_result(const struct kl_allowed *a, const char *result)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (!strcmp(a->results[i], result))
			return true;
	return false;
}

/* Take the results that have a complete order.  @whole: are these all?  Return: 0 or -ENOMEM. */
static int take_results(struct kl_allowed *a, const struct kl_search *found, bool *whole)
{
	bool known = true;
	size_t i;

	*whole = !found->over && !found->more;
	for (i = 0; i < found->nresults; i++) {
		const struct kl_search_result *r = &found->results[i];

		if (!r->complete || has_result(a, r->result))
			continue;
		/* The specification lets the operation choose, as the time of a clock. */
		known &= r->known;
		if (a->n == KL_STORY_ALLOWED) {
			*whole = false;
			break;
		}
		a->results[a->n] = strdup(r->result);
		a->states[a->n] = strdup(r->state);
		if (!a->results[a->n] || !a->states[a->n++])
			return -ENOMEM;
	}
	a->all = *whole && known;
	return 0;
}

/* A `?' is a result that the specification lets the operation choose. */
static bool is_chosen(const struct kl_allowed *a, size_t i)
{
	return strchr(a->results[i], '?');
}

/* Was the state told before, for another result that the operation chooses in part? */
static bool is_told(const struct kl_allowed *a, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (is_chosen(a, i) && is_chosen(a, k) && !strcmp(a->states[k], a->states[i]))
			return true;
	return false;
}

/*
 * "t2's deq() could only have returned 1, with q = [1] before it; or empty, with ..."  A state that
 * other results forbid as they are would puzzle, so the sentence says first that they are wrong.
 */
static void say_results(char *text, size_t size, const struct kl_allowed *a, const char *call)
{
	const char *how = a->exact || a->alone ? a->all ? " only" : "" : " at most";
	size_t len = snprintf(text, size, "%s%s could%s have returned ",
			      a->alone ? "By the counterexample alone, " :
			      a->others ? "Other results are wrong, too; with right "
			      "ones in their place, " : "", call, how), i;

	for (i = 0; i < a->n && len < size; i++) {
		const char *or = i ? "; or " : "", *state = a->states[i];

		if (is_told(a, i))
			continue;
		if (is_chosen(a, i))
			len += snprintf(text + len, size - len, *state ?
					"%sa value that agrees with %s before it" :
					"%sa value that some first state allows", or, state);
		else
			len += snprintf(text + len, size - len, *state ?
					"%s%s, with %s before it" : "%s%s", or, a->results[i],
					state);
	}
}

static void drop_results(struct kl_allowed *a)
{
	while (a->n) {
		free(a->results[--a->n]);
		free(a->states[a->n]);
		a->results[a->n] = a->states[a->n] = NULL;
	}
}

/*
 * Search the operations of the partition that were called before @op certainly had returned, with
 * unknown results as @free says.  Return: 1 if there are results, else 0, or -ENOMEM.
 */
static int allow_by_all(const struct kl_scene *s, struct kl_allowed *a, uint32_t op,
			enum kl_search_free free_results, bool *over)
{
	const struct kl_part_result *p = s->part;
	uint32_t *ops = malloc((p->nops + 1) * sizeof(*ops)), i;
	struct kl_search_in in = {
		.h = s->h,
		.ops = ops,
		.object = s->h->ops[op].object,
		.free = free_results,
	};
	struct kl_search found;
	bool whole = false;
	int ret;

	if (!ops)
		return -ENOMEM;
	for (i = 0; i < p->nops; i++)
		if (!kl_scene_before(s, op, kl_result_op(p, i)))
			ops[in.nops++] = kl_result_op(p, i);
	ret = kl_story_search(s, &in, op, &found);
	free(ops);
	if (ret)
		return ret;
	a->others = free_results != KL_SEARCH_FREE_NONE;
	a->exact = !p->ngaps && !a->others;
	*over = found.over;
	ret = found.over ? 0 : take_results(a, &found, &whole);
	kl_search_free(&found);
	/* Results that are right at most must all be said. */
	if (!ret && a->others && !whole)
		drop_results(a);
	return ret ?: a->n > 0;
}

/* Search the operations of the counterexample.  Return: 1, 0 if @op is not in it, or -ENOMEM. */
static int allow_by_proof(const struct kl_scene *s, struct kl_allowed *a, uint32_t op)
{
	const struct kl_counterexample *c = s->part->cex;
	struct kl_search_in in = {
		.h = c->h,
		.nops = c->h->nops,
		.object = KL_ALL_OBJECTS,
	};
	struct kl_search found;
	uint32_t want;
	bool whole;
	int ret;

	for (want = 0; want < c->h->nops && c->ops[want] != op; want++)
		;
	if (want == c->h->nops || c->h->ops[want].ret == KL_TIME_MAX)
		return 0;
	a->exact = false;
	a->alone = true;
	/* Without the write of the first state, the proof begins with a state of its own. */
	if (c->unset && !c->forgot)
		return 1;
	ret = kl_story_search(s, &in, want, &found);
	if (ret)
		return ret;
	ret = take_results(a, &found, &whole);
	kl_search_free(&found);
	/* If others may be right, too, nothing is known: even these may be wrong. */
	if (!whole || s->tso)
		drop_results(a);
	return ret ?: 1;
}

static bool has_results(const struct kl_scene *s, uint32_t op)
{
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h,
								       &s->h->ops[op])]);

	return m >= 0 && kl_spec_method(s->spec, m)->nresults;
}

static void say(char *text, size_t size, const struct kl_scene *s, const struct kl_allowed *a,
		uint32_t op)
{
	const struct kl_name call = kl_name_call(s, op);

	if (a->n)
		say_results(text, size, a, call.s);
	else if (!a->all)
		snprintf(text, size, "What would have been right is not known: %s", s->tso ?
			 "store buffers allow more orders than were tried" :
			 "the orders are too many");
	else if (has_results(s, op))
		snprintf(text, size, "Whatever %s had returned, the other operations of the "
			 "counterexample would have no order", call.s);
	else
		snprintf(text, size, "%s could not take effect at any time between its call and "
			 "its return", call.s);
}

int kl_story_allow(const struct kl_scene *s, struct kl_story *story, uint32_t op)
{
	struct kl_allowed *a = &story->allowed;
	enum kl_search_free free_results = KL_SEARCH_FREE_NONE;
	bool over = false;
	char text[SENTENCE];
	int ret;

	if (!s->part->cex || op == KL_NO_OP || s->h->ops[op].flags & KL_OP_PENDING)
		return 0;
	ret = allow_by_all(s, a, op, free_results, &over);
	/* With store buffers, orders that were not tried may have other results. */
	while (!ret && !over && !s->tso && free_results < KL_SEARCH_FREE_ALL && has_results(s, op))
		ret = allow_by_all(s, a, op, ++free_results, &over);
	ret = ret ?: allow_by_proof(s, a, op);
	if (ret <= 0)
		return ret;
	a->op = op;
	a->all &= !s->tso;
	say(text, sizeof(text), s, a, op);
	a->all &= !a->alone;
	a->sentence = strdup(text);
	if (!a->sentence)
		return -ENOMEM;
	/* Where no result helps, the longest orders show what is in the way. */
	return a->n || story->norders ? 0 : kl_story_orders(s, story);
}

void kl_story_free_allowed(struct kl_allowed *a)
{
	size_t i;

	for (i = 0; i < KL_STORY_ALLOWED; i++) {
		free(a->results[i]);
		free(a->states[i]);
	}
	free(a->sentence);
}
