// SPDX-License-Identifier: GPL-2.0
/* Finds what operations did to a word: of a register, under a key, or the presence of a key. */
#include <errno.h>

#include "base/mem.h"
#include "story/scene_kind.h"

/* The change that an operation on a set made to the presence of its key. */
static struct kl_word_step set_step(enum kl_role role, const struct kl_opsig *sig,
				    const struct kl_val *res, bool pending)
{
	struct kl_word_step step = { .kind = KL_WORD_OTHER };
	const bool known = !pending && sig->nres == 1 && res[0].tag == KL_WORD;
	const uint64_t is = known && res[0].v;

	if (role == KL_ROLE_PEEK) {
		step.kind = known ? KL_WORD_SEES : KL_WORD_NOTHING;
		step.before = step.after = is;
	} else if (role == KL_ROLE_ADD || role == KL_ROLE_REMOVE) {
		/* add() -> true found the key absent, remove() -> true found it present. */
		step.after = role == KL_ROLE_ADD;
		step.before = is ? !step.after : step.after;
		step.kind = !known ? KL_WORD_WRITES : is ? KL_WORD_MOVES : KL_WORD_SEES;
	}
	return step;
}

#define STEP_LOOKS	20	/* looks for a step that the interpreter finds */

/* Find the step of an operation on the scene's key.  Return: 1, 0 if there is none, or -ENOMEM. */
static int key_step(const struct kl_scene *s, struct kl_key_steps *steps,
		    const struct kl_scene_kind *k, const struct kl_op *o, struct kl_word_deed *d)
{
	const struct kl_val *args = kl_op_args(s->h, o);
	const struct kl_opsig *sig = kl_op_sig(s->h, o);
	const bool pending = o->flags & KL_OP_PENDING;
	struct kl_val is_not;
	unsigned int i;
	int ret;

	for (i = 0; i < sig->nargs + (pending ? 0u : sig->nres); i++)
		if (kl_val_eq(args[i], kl_word(KL_STEP_ABSENT)))
			return 0;
	ret = kl_key_step(steps, k->method, args, pending ? NULL : kl_op_res(s->h, o), &d->step,
			  &is_not);
	d->denies = is_not.tag != KL_ANY;
	d->is_not = is_not.tag == KL_ABSENT ? KL_STEP_ABSENT : is_not.v;
	return ret ?: !kl_scene_over(s, STEP_LOOKS);
}

/* Return: 1 or -ENOMEM. */
static int put_step(struct kl_scene *s, const struct kl_word_deed *d)
{
	if (kl_grow(s->steps, s->csteps, s->nsteps + 1))
		return -ENOMEM;
	s->steps[s->nsteps++] = *d;
	return 1;
}

/* Add a deed for each value that an operation may have left.  Return: as add_step(). */
static int add_leaves(struct kl_scene *s, const struct kl_key_steps *steps, uint32_t op)
{
	struct kl_word_deed d = { .op = op, .step.kind = KL_WORD_WRITES, .maybe = true };
	uint64_t to[KL_STEP_LEAVES];
	int n = kl_key_step_leaves(steps, to), ret = n >= 0;

	while (n-- > 0 && ret > 0) {
		d.step.after = to[n];
		ret = put_step(s, &d);
	}
	return ret;
}

int kl_scene_add_step(struct kl_scene *s, struct kl_key_steps *steps,
		      const struct kl_scene_kind *k, uint32_t op)
{
	const struct kl_op *o = &s->h->ops[op];
	const struct kl_opsig *sig = kl_op_sig(s->h, o);
	const struct kl_val *args = kl_op_args(s->h, o), *res = kl_op_res(s->h, o);
	const bool pending = o->flags & KL_OP_PENDING;
	struct kl_word_deed d = { .op = op };
	bool unknown = false;
	unsigned int i;
	uint64_t key;
	int ret;

	if (s->type.kind == KL_CONTAINER_SET) {
		if (!sig->nargs || args[0].tag != KL_WORD)
			return 0;
		if (args[0].v != s->key)
			return 1;
		d.step = set_step(k->role, sig, res, pending);
	} else if (steps) {
		if (!kl_method_key(kl_spec_method(s->spec, k->method), args, &key))
			return 0;
		if (key != s->key)
			return 1;
		ret = key_step(s, steps, k, o, &d);
		if (ret <= 0)
			return ret;
	} else {
		if (!k->word)
			return 0;
		for (i = 0; i < sig->nargs + (pending ? 0u : sig->nres); i++)
			unknown |= args[i].tag != KL_WORD;
		/* A read of an unknown word shows nothing, and changes nothing. */
		if (unknown && kl_spec_method(s->spec, k->method)->pure)
			return 1;
		if (unknown)
			return 0;
		d.step = kl_word_step(k->word, args, pending);
		d.denies = d.step.kind == KL_WORD_SEES_NOT;
		d.is_not = d.step.before;
	}
	if (d.step.kind == KL_WORD_OTHER && steps)
		return add_leaves(s, steps, op);
	if (d.step.kind == KL_WORD_OTHER || d.step.kind == KL_WORD_ADDS)
		return 0;
	return put_step(s, &d);
}
