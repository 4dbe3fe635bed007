// SPDX-License-Identifier: GPL-2.0
/* Sorts the operations of a partition by what they did, see scene.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/part.h"
#include "spec/classify/ends.h"
#include "story/scene.h"

/* What a method of the history does. */
struct kind {
	int method;	/* its index in the specification */
	enum kl_role role;
	bool end;	/* @e has its kind */
	struct kl_end_method e;
	const struct kl_word_method *word;
};

static bool has_deeds(enum kl_container_kind k)
{
	return k == KL_CONTAINER_QUEUE || k == KL_CONTAINER_STACK || k == KL_CONTAINER_DEQUE ||
	       k == KL_CONTAINER_PQUEUE || k == KL_CONTAINER_MULTISET;
}

/* Find the kinds of all methods.  Return: an array to free(), or NULL when out of memory. */
static struct kind *find_kinds(const struct kl_scene *s)
{
	struct kind *kinds = calloc(s->h->nmethods + 1, sizeof(*kinds));
	size_t i;

	for (i = 0; kinds && i < s->h->nmethods; i++) {
		struct kind *k = &kinds[i];

		k->method = kl_spec_find_method(s->spec, s->h->methods[i]);
		if (k->method < 0)
			continue;
		k->role = kl_spec_role(s->spec, k->method);
		if (s->type.kind == KL_CONTAINER_REGISTER)
			k->word = kl_word_method(s->spec, k->method);
		else if (s->type.kind != KL_CONTAINER_PQUEUE &&
			 !kl_container_keyed(&s->type))
			k->end = kl_spec_end_method(s->spec, k->method, &k->e);
	}
	return kinds;
}

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
	if (!pending && e->bounded && has_results(res, e->other, e->nresults, -1)) {
		d->act = d->room == UINT64_MAX ? KL_ACT_NONE : KL_ACT_FULL;
		return;
	}
	/* A push with an unknown result may have found no room. */
	for (i = 0; !pending && e->bounded && i < e->nresults; i++)
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

/* What an operation on a set did to the presence of its key. */
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
static int key_step(const struct kl_scene *s, struct kl_key_steps *steps, const struct kind *k,
		    const struct kl_op *o, struct kl_word_deed *d)
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

/* Find the step of an operation.  Return: 1, 0 if there is no scene with it, or -ENOMEM. */
static int add_step(struct kl_scene *s, struct kl_key_steps *steps, const struct kind *k,
		    uint32_t op)
{
	const struct kl_op *o = &s->h->ops[op];
	const struct kl_opsig *sig = kl_op_sig(s->h, o);
	const struct kl_val *args = kl_op_args(s->h, o), *res = kl_op_res(s->h, o);
	const bool pending = o->flags & KL_OP_PENDING;
	struct kl_word_deed d = { .op = op };
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
			if (args[i].tag != KL_WORD)
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

/* Find what operation @op did.  Return: false if there is no scene with it. */
static bool add_deed(struct kl_scene *s, const struct kind *k, uint32_t op)
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

/* Sort by act, value and call.  Operations of a history are sorted by call. */
static int compare(const void *a, const void *b)
{
	const struct kl_deed *x = a, *y = b;

	if (x->act != y->act)
		return x->act < y->act ? -1 : 1;
	if (x->v != y->v)
		return x->v < y->v ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static int compare_ops(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int copy_proof(struct kl_scene *s)
{
	const struct kl_counterexample *c = s->part->cex;

	if (!c)
		return 0;
	s->proof = malloc((c->h->nops + 1) * sizeof(*s->proof));
	if (!s->proof)
		return -ENOMEM;
	s->nproof = c->h->nops;
	memcpy(s->proof, c->ops, s->nproof * sizeof(*s->proof));
	qsort(s->proof, s->nproof, sizeof(*s->proof), compare_ops);
	return 0;
}

/* The key of an operation.  Return: false if it has none. */
static bool key_of(const struct kl_scene *s, const struct kl_op *op, uint64_t *key)
{
	const struct kl_opsig *sig = kl_op_sig(s->h, op);
	const struct kl_val *args = kl_op_args(s->h, op);
	const int m = kl_spec_find_method(s->spec, s->h->methods[sig->method]);

	if (s->keyed)
		return m >= 0 && kl_method_key(kl_spec_method(s->spec, m), args, key);
	*key = sig->nargs ? args[0].v : 0;
	return sig->nargs;
}

/* The key of the counterexample's operation that nothing explains. */
static uint64_t failing_key(const struct kl_scene *s)
{
	uint64_t key = 0, k;
	size_t i;

	for (i = 0; i < s->nproof; i++) {
		const struct kl_op *op = &s->h->ops[s->proof[i]];

		if (key_of(s, op, &k) && (!i || op->ret == s->part->cex->end))
			key = k;
	}
	return key;
}

static void free_deeds(struct kl_scene *s)
{
	free(s->deeds);
	free(s->steps);
	s->deeds = NULL;
	s->steps = NULL;
}

/* The first word of the steps; @k finds those of a key. */
static struct kl_val first_word(const struct kl_scene *s, const struct kl_key_steps *k)
{
	struct kl_val v = s->type.first;

	if (!s->h->fresh)
		return kl_special(KL_ANY);
	if (k) {
		v = kl_key_first(k);
		return v.tag == KL_ABSENT ? kl_word(KL_STEP_ABSENT) : v;
	}
	if (!s->fresh)
		return kl_special(KL_ANY);
	return s->type.kind == KL_CONTAINER_SET ? kl_word(0) :
	       v.tag == KL_WORD ? v : kl_special(KL_ANY);
}

/* Find the steps or deeds of all operations.  Return: 0 or -ENOMEM. */
static int add_ops(struct kl_scene *s, struct kl_key_steps *steps)
{
	struct kind *kinds = find_kinds(s);
	int ret = kinds ? 1 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < s->part->nops && ret > 0; i++) {
		const uint32_t op = kl_result_op(s->part, i);
		const struct kind *k = &kinds[kl_op_method(s->h, &s->h->ops[op])];

		ret = k->method < 0 ? 0 : s->steps ? add_step(s, steps, k, op) :
		      add_deed(s, k, op);
	}
	free(kinds);
	if (!ret)
		free_deeds(s);
	return ret < 0 ? ret : 0;
}

int kl_scene_set(struct kl_scene *s, const struct kl_spec *spec, const struct kl_history *h,
		 const struct kl_part_result *p)
{
	const size_t n = (size_t)p->nops + 1;
	struct kl_key_steps *steps = NULL;
	int ret = -ENOMEM;
	bool word;

	*s = (struct kl_scene){ .looks = s->looks, .spec = spec, .h = h, .part = p };
	kl_spec_container(spec, &s->type);
	s->fresh = h->fresh && s->type.init;
	s->keyed = kl_spec_keyed(spec);
	word = s->keyed || s->type.kind == KL_CONTAINER_REGISTER ||
	       s->type.kind == KL_CONTAINER_SET;
	s->tso = p->cex && p->cex->tso;
	if (copy_proof(s))
		return -ENOMEM;
	if (!word && !has_deeds(s->type.kind))
		return 0;
	if (s->keyed || s->type.kind == KL_CONTAINER_SET)
		s->key = s->keyed && p->has_key ? p->key : failing_key(s);
	if (word)
		s->steps = malloc(n * sizeof(*s->steps));
	else
		s->deeds = malloc(2 * n * sizeof(*s->deeds));
	s->csteps = s->steps ? n : 0;
	if (s->keyed)
		steps = kl_key_steps_new(spec, s->key);
	if ((s->steps || s->deeds) && (steps || !s->keyed)) {
		s->first = first_word(s, steps);
		ret = add_ops(s, steps);
	}
	kl_key_steps_free(steps);
	if (ret)
		kl_scene_free(s);
	else if (s->deeds)
		qsort(s->deeds, s->ndeeds, sizeof(*s->deeds), compare);
	return ret;
}

void kl_scene_free(struct kl_scene *s)
{
	free_deeds(s);
	free(s->proof);
	s->proof = NULL;
}

/* Index of the first deed that is not less than (@act, @v). */
static size_t first_deed(const struct kl_scene *s, enum kl_act act, uint64_t v)
{
	size_t low = 0, high = s->ndeeds;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct kl_deed *d = &s->deeds[mid];

		if (d->act < act || (d->act == act && d->v < v))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct kl_deed *kl_scene_deeds(const struct kl_scene *s, enum kl_act act, uint64_t v,
				     size_t *n)
{
	const size_t from = first_deed(s, act, v);
	size_t to = from;

	while (to < s->ndeeds && s->deeds[to].act == act && s->deeds[to].v == v)
		to++;
	*n = to - from;
	return s->deeds + from;
}

const struct kl_deed *kl_scene_all(const struct kl_scene *s, enum kl_act act, size_t *n)
{
	const size_t from = first_deed(s, act, 0);

	*n = first_deed(s, act + 1, 0) - from;
	return s->deeds + from;
}

bool kl_scene_proves(const struct kl_scene *s, uint32_t op)
{
	return bsearch(&op, s->proof, s->nproof, sizeof(op), compare_ops);
}

/* The number of deeds that may be before @op: all but those certainly called after its return. */
static size_t count_possible(const struct kl_scene *s, const struct kl_deed *d, size_t n,
			     uint32_t op)
{
	size_t possible = 0, i;

	for (i = 0; i < n; i++)
		possible += d[i].op != op && !kl_scene_before(s, op, d[i].op);
	return possible;
}

bool kl_scene_inside(const struct kl_scene *s, uint64_t v, uint32_t op, uint32_t *last)
{
	const struct kl_op *ops = s->h->ops;
	const struct kl_deed *d;
	size_t before = 0, taken, n, i;

	d = kl_scene_deeds(s, KL_ACT_ADD, v, &n);
	if (kl_scene_over(s, n + 1))
		return false;
	for (i = 0; i < n; i++) {
		if (!kl_scene_before(s, d[i].op, op))
			continue;
		if (!before++ || ops[d[i].op].ret > ops[*last].ret)
			*last = d[i].op;
	}
	if (!before)
		return false;
	d = kl_scene_deeds(s, KL_ACT_REMOVE, v, &n);
	if (kl_scene_over(s, n))
		return false;
	taken = count_possible(s, d, n, op);
	if (before <= taken)
		return false;
	d = kl_scene_all(s, KL_ACT_VAGUE_REMOVE, &n);
	return !kl_scene_over(s, n) && before > taken + count_possible(s, d, n, op);
}

bool kl_scene_before(const struct kl_scene *s, uint32_t a, uint32_t b)
{
	return kl_op_before(s->h, &s->h->ops[a], &s->h->ops[b]);
}
