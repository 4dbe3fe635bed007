// SPDX-License-Identifier: GPL-2.0
/*
 * Finds a store that waited, see waited.h.  The engine's order has the steps at which operations
 * took effect, and those at which their stores left the buffers.  A store S waited if an operation
 * of another thread saw another word in its place, at a step between these two.  If S certainly
 * returned before that operation was called, a person sees at once what is strange.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "story/stores.h"
#include "story/waited.h"

struct scan {
	struct kl_stores *t;
	const struct kl_part_result *p;
	size_t *took, *left;	/* for each operation: its step, and that of its store */
};

/* Find the steps of all operations.  Return: 0 or -ENOMEM. */
static int find_steps(struct scan *s)
{
	const struct kl_answer *a = &s->p->answer;
	const uint32_t n = s->p->nops;
	size_t i;

	s->took = calloc(2 * ((size_t)n + 1), sizeof(*s->took));
	if (!s->took)
		return -ENOMEM;
	s->left = s->took + n + 1;
	for (i = 0; i < 2 * ((size_t)n + 1); i++)
		s->took[i] = SIZE_MAX;
	for (i = 0; i < a->nsteps; i++) {
		const struct kl_step *step = &a->steps[i];

		/* Items behind the operations are ends of gaps. */
		if (step->item >= n)
			continue;
		if (step->flags & KL_STEP_FLUSH) {
			s->left[step->item] = i;
			continue;
		}
		s->took[step->item] = i;
		if (!(step->flags & KL_STEP_BUFFERED))
			s->left[step->item] = i;
	}
	return 0;
}

/* Did the operation of @e see another word while the store of @w was in the buffer? */
static bool waited(const struct scan *s, const struct kl_touch *w, const struct kl_touch *e)
{
	return w->slot == e->slot && e->sees && w->stores && w->known && w->left != e->seen &&
	       !kl_stores_same_thread(s->t, w->at, e->at) && s->took[e->at] != SIZE_MAX &&
	       s->took[w->at] < s->took[e->at] && s->took[e->at] < s->left[w->at];
}

/* Find such a store; best one that had returned before.  Return: what saw, or NULL. */
static const struct kl_touch *find_pair(const struct scan *s, const struct kl_touch **store)
{
	const struct kl_touch *touches = s->t->touches, *end = touches + s->t->ntouches;
	const struct kl_touch *w, *e, *best = NULL;

	for (w = touches; w < end && !kl_scene_over(s->t->s, s->t->ntouches); w++) {
		for (e = touches; w->stores && e < end; e++) {
			const bool before = kl_stores_before(s->t, w->at, e->at);

			if (!waited(s, w, e) || (best && !before))
				continue;
			best = e;
			*store = w;
			if (before)
				return best;
		}
	}
	return best;
}

static int say(struct scan *s, struct kl_waited *out)
{
	const struct kl_touch *w = NULL, *e = find_pair(s, &w);
	struct kl_stores *t = s->t;

	if (!e)
		return 0;
	out->store = t->ops[w->at].op;
	out->seen_by = t->ops[e->at].op;
	if (asprintf(&out->sentence, "Only the store buffer explains it: in the order that was "
		     "found, %s saw %s while the store of %s was still in the buffer",
		     kl_name_op(t->s, out->seen_by).s, kl_stores_name(t, e->slot, e->seen).s,
		     kl_name_op(t->s, out->store).s) < 0) {
		out->sentence = NULL;
		return -ENOMEM;
	}
	return 0;
}

int kl_waited_find(const struct kl_spec *spec, const struct kl_history *h,
		   const struct kl_part_result *p, struct kl_waited *out)
{
	struct kl_scene_looks looks = { .most = 128ull * p->nops + (1u << 20) };
	struct kl_scene_memo memo = { .earlier = KL_NO_OP, .later = KL_NO_OP };
	struct kl_scene scene = { .looks = &looks, .memo = &memo };
	struct scan s = { .p = p };
	int ret;

	*out = (struct kl_waited){ .store = KL_NO_OP, .seen_by = KL_NO_OP };
	if (!p->sc_violation || p->answer.verdict != KL_LINEARIZABLE || !p->answer.nsteps)
		return 0;
	ret = kl_scene_set(&scene, spec, h, p);
	if (ret)
		return ret;
	ret = kl_stores_of(&scene, &s.t);
	if (ret > 0)
		ret = find_steps(&s) ?: say(&s, out);
	free(s.took);
	kl_stores_free(memo.stores);
	kl_scene_free(&scene);
	return ret;
}
