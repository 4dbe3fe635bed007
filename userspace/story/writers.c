// SPDX-License-Identifier: GPL-2.0
/*
 * A person asks first who wrote the value that was seen.  So the operations that were called with a
 * value that the failing operation returned join the cast, whether they explain it or not.
 */
#include <errno.h>

#include "story/reason.h"

#define MAX_WRITERS	3	/* of a value that the failing operation saw */

static const struct kl_method *method_of(const struct kl_scene *s, const struct kl_op *o)
{
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h, o)]);

	return m < 0 ? NULL : kl_spec_method(s->spec, m);
}

/* May an operation have written @v: has it this argument, besides its key, and succeeded? */
static bool names_value(const struct kl_scene *s, const struct kl_op *o, struct kl_val v)
{
	const struct kl_method *m = method_of(s, o);
	int k;

	if (!m || m->pure)
		return false;
	if (m->nresults && m->results[0].type == KL_T_BOOL && !(o->flags & KL_OP_PENDING) &&
	    kl_val_eq(*kl_op_res(s->h, o), kl_word(0)))
		return false;
	for (k = 0; k < kl_op_sig(s->h, o)->nargs; k++)
		if (k != m->part_param &&
		    kl_val_eq(kl_op_args(s->h, o)[k], v))
			return true;
	return false;
}

int kl_story_cast_writers(const struct kl_scene *s, struct kl_story *story)
{
	const uint32_t op = story->cast[0].op;
	const struct kl_op *o = &s->h->ops[op];
	const struct kl_method *m = method_of(s, o);
	size_t i, k, n, before;

	for (k = 0; m && k < m->nresults && !(o->flags & KL_OP_PENDING); k++) {
		const struct kl_val v = kl_op_res(s->h, o)[k];

		if (v.tag != KL_WORD || m->results[k].type == KL_T_BOOL)
			continue;
		for (i = n = 0; i < s->part->nops && n < MAX_WRITERS && !kl_scene_over(s, 1); i++) {
			const uint32_t other = kl_result_op(s->part, i);

			if (other == op || !names_value(s, &s->h->ops[other], v))
				continue;
			before = story->ncast;
			if (kl_story_cast(story, other, "was called with %s", kl_name_val(s, v).s))
				return -ENOMEM;
			n += story->ncast > before;
		}
	}
	return 0;
}
