// SPDX-License-Identifier: GPL-2.0
/* Finds what operations on containers did: additions, removals, values that were seen. */
#include "story/scene_kind.h"

/* Are the results those of @want?  The result at @except may differ. */
static bool has_results(const struct kl_val *res, const struct kl_val *want, unsigned int n,
			int except)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if ((int)i != except && !kl_val_eq(res[i], want[i]))
			return false;
	return true;
}

/* May a push have removed a value to make room, which it does not name? */
static bool may_replace(const struct kl_end_method *e, const struct kl_val *args)
{
	return e->act == KL_END_PUSH && e->replaces >= 0 &&
	       !kl_val_eq(args[e->replaces], kl_word(0));
}

/* How many values fit, at most, when a push succeeds or finds no room? */
static uint64_t room(const struct kl_end_method *e, const struct kl_val *args)
{
	if (!e->bounded || may_replace(e, args))
		return UINT64_MAX;
	return e->most < 0 ? e->capacity : args[e->most].tag == KL_WORD ? args[e->most].v :
									  UINT64_MAX;
}

static void push_deed(const struct kl_end_method *e, const struct kl_val *args,
		      const struct kl_val *res, bool pending, struct kl_deed *d)
{
	bool unknown = args[e->value].tag != KL_WORD;
	unsigned int i;

	d->room = room(e, args);
	if (!pending && e->fails && has_results(res, e->other, e->nresults, -1))
		return;
	if (!pending && e->bounded && has_results(res, e->other, e->nresults, -1)) {
		d->act = d->room == UINT64_MAX ? KL_ACT_NONE : KL_ACT_FULL;
		return;
	}
	/* A push with an unknown result may have found no room, or failed. */
	for (i = 0; !pending && (e->bounded || e->fails) && i < e->nresults; i++)
		unknown |= res[i].tag == KL_ANY;
	d->act = unknown ? KL_ACT_VAGUE_ADD : KL_ACT_ADD;
	d->v = unknown ? 0 : args[e->value].v;
}

/* Find what an operation of a method at an end did.  Return: false if that is not known. */
static bool end_deed(const struct kl_end_method *e, const struct kl_val *args,
		     const struct kl_val *res, bool pending, struct kl_deed *d)
{
	unsigned int i;

	if (e->act == KL_END_PUSH) {
		push_deed(e, args, res, pending, d);
		return true;
	}
	for (i = 0; !pending && i < e->nresults; i++)
		pending = res[i].tag == KL_ANY;
	if (pending)
		d->act = e->act == KL_END_POP ? KL_ACT_VAGUE_REMOVE : KL_ACT_NONE;
	else if (has_results(res, e->other, e->nresults, -1))
		d->act = KL_ACT_EMPTY;
	else if (has_results(res, e->done, e->nresults, e->value) && res[e->value].tag == KL_WORD)
		*d = (struct kl_deed){ .op = d->op, .v = res[e->value].v,
				       .act = e->act == KL_END_POP ? KL_ACT_REMOVE : KL_ACT_LOOK };
	else
		return false;
	return true;
}

/* The same for a multiset, whose methods name the value, and may have missed it. */
static bool multiset_deed(enum kl_role role, const struct kl_opsig *sig, const struct kl_val *args,
			  const struct kl_val *res, bool pending, struct kl_deed *d)
{
	const bool known = !pending && sig->nres == 1 && res[0].tag == KL_WORD;
	const bool removes = role == KL_ROLE_REMOVE;

	if (sig->nargs != 1 || args[0].tag != KL_WORD || role == KL_ROLE_OTHER)
		return false;
	d->v = args[0].v;
	if (role == KL_ROLE_ADD)
		d->act = KL_ACT_ADD;
	else if (known)
		d->act = !res[0].v ? KL_ACT_MISS : removes ? KL_ACT_REMOVE : KL_ACT_LOOK;
	else
		d->act = removes ? KL_ACT_VAGUE_REMOVE : KL_ACT_NONE;
	if (d->act == KL_ACT_VAGUE_REMOVE)
		d->v = 0;
	return true;
}

/* The same for a priority queue, whose methods have one value. */
static bool role_deed(enum kl_role role, const struct kl_opsig *sig, const struct kl_val *args,
		      const struct kl_val *res, bool pending, struct kl_deed *d)
{
	if (role == KL_ROLE_ADD) {
		if (sig->nargs != 1)
			return false;
		d->act = args[0].tag == KL_WORD ? KL_ACT_ADD : KL_ACT_VAGUE_ADD;
		d->v = d->act == KL_ACT_ADD ? args[0].v : 0;
		return true;
	}
	if (role != KL_ROLE_REMOVE && role != KL_ROLE_PEEK)
		return false;
	if (!pending && sig->nres != 1)
		return false;
	if (pending || res[0].tag == KL_ANY)
		d->act = role == KL_ROLE_REMOVE ? KL_ACT_VAGUE_REMOVE : KL_ACT_NONE;
	else if (res[0].tag == KL_EMPTY)
		d->act = KL_ACT_EMPTY;
	else if (res[0].tag == KL_WORD)
		*d = (struct kl_deed){ .op = d->op, .v = res[0].v, .room = UINT64_MAX,
				       .act = role == KL_ROLE_REMOVE ? KL_ACT_REMOVE :
								       KL_ACT_LOOK };
	else
		return false;
	return true;
}

bool kl_scene_add_deed(struct kl_scene *s, const struct kl_scene_kind *k, uint32_t op)
{
	const struct kl_op *o = &s->h->ops[op];
	const struct kl_opsig *sig = kl_op_sig(s->h, o);
	const struct kl_val *args = kl_op_args(s->h, o), *res = kl_op_res(s->h, o);
	const bool pending = o->flags & KL_OP_PENDING;
	struct kl_deed d = { .op = op, .room = UINT64_MAX };

	if (!(k->end ? end_deed(&k->e, args, res, pending, &d) :
	      s->type.kind == KL_CONTAINER_MULTISET ?
		       multiset_deed(k->role, sig, args, res, pending, &d) :
		       role_deed(k->role, sig, args, res, pending, &d)) &&
	    !kl_spec_method(s->spec, k->method)->pure)
		return false;
	if (d.act != KL_ACT_NONE)
		s->deeds[s->ndeeds++] = d;
	if (k->end && (d.act == KL_ACT_ADD || d.act == KL_ACT_VAGUE_ADD) &&
	    may_replace(&k->e, args))
		s->deeds[s->ndeeds++] = (struct kl_deed){ .op = op, .act = KL_ACT_VAGUE_REMOVE };
	return true;
}
