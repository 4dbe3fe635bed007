// SPDX-License-Identifier: GPL-2.0
/*
 * Reason: no state allows the results of an operation, such as 7 of a method that returns a bool.
 *
 * The interpreter finds no outcome in the state whose variables are all unknown, which stands for
 * each state.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "story/reason.h"

static int note_outcome(void *ctx, const struct kl_outcome *o)
{
	*(bool *)ctx = true;
	return 1;
}

/* Return: 1 if no state allows @op, 0 if one may, or -ENOMEM.  @any is the unknown state. */
static int is_impossible(const struct kl_scene *s, struct kl_run *run, const struct kl_val *any,
			 size_t len, uint32_t op)
{
	const struct kl_op *o = &s->h->ops[op];
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h, o)]);
	bool possible = false;
	int ret;

	if (m < 0 || o->flags & KL_OP_PENDING)
		return 0;
	ret = kl_run_apply(run, any, len, m, kl_op_args(s->h, o), kl_op_res(s->h, o),
			   note_outcome, &possible);
	return ret == -ENOMEM ? ret : !ret && !possible;
}

static int tell(const struct kl_scene *s, struct kl_story *story)
{
	struct kl_run *run = kl_run_new(s->spec);
	const struct kl_val *init;
	struct kl_val *any = NULL;
	size_t len = 0, i = 0;
	int ret = -ENOMEM;

	init = run ? kl_run_init(run, false, &len) : NULL;
	if (init)
		any = malloc((len + 1) * sizeof(*any));
	if (any) {
		memcpy(any, init, len * sizeof(*any));
		for (ret = 0; i < s->nproof && !ret; i++)
			ret = is_impossible(s, run, any, len, s->proof[i]);
	}
	free(any);
	kl_run_free(run);
	if (ret <= 0)
		return ret;
	if (kl_story_cast(story, s->proof[i - 1], "returned what no state allows"))
		return -ENOMEM;
	return kl_story_headline(story, "%s returned what no state allows",
				 kl_name_op(s, s->proof[i - 1]).s);
}

static const struct kl_reason impossible = {
	.name = "impossible_result", .rank = 50, .needs = KL_NEEDS_NOTHING, .tso = true,
	.tell = tell,
};
KL_REASON(impossible);
