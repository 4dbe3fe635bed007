// SPDX-License-Identifier: GPL-2.0
/* Sorts the operations of a partition by what they did, see scene.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/part.h"
#include "story/scene_kind.h"

#define RUN_LOOKS 20 /* looks for a call of the interpreter, besides its work */

static bool has_deeds(enum kl_container_kind k)
{
	return k == KL_CONTAINER_QUEUE || k == KL_CONTAINER_STACK || k == KL_CONTAINER_DEQUE ||
	       k == KL_CONTAINER_PQUEUE || k == KL_CONTAINER_MULTISET;
}

/* Find the kinds of all methods.  Return: an array to free(), or NULL when out of memory. */
static struct kl_scene_kind *find_kinds(const struct kl_scene *s)
{
	struct kl_scene_kind *kinds = calloc(s->h->nmethods + 1, sizeof(*kinds));
	size_t i;

	for (i = 0; kinds && i < s->h->nmethods; i++) {
		struct kl_scene_kind *k = &kinds[i];

		k->method = kl_spec_find_method(s->spec, s->h->methods[i]);
		if (k->method < 0)
			continue;
		k->role = kl_spec_role(s->spec, k->method);
		if (s->type.kind == KL_CONTAINER_REGISTER)
			k->word = kl_word_method(s->spec, k->method);
		else if (s->type.kind != KL_CONTAINER_PQUEUE &&
			 !kl_container_keyed(&s->type))
			k->end = kl_spec_end_method(s->spec, k->method, &k->e) ||
				 kl_spec_failing_push(s->spec, k->method, &k->e);
	}
	return kinds;
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
	s->ndeeds = 0;
	s->nsteps = 0;
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
	struct kl_scene_kind *kinds = find_kinds(s);
	int ret = kinds ? 1 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < s->part->nops && ret > 0; i++) {
		const uint32_t op = kl_result_op(s->part, i);
		const struct kl_scene_kind *k = &kinds[kl_op_method(s->h, &s->h->ops[op])];

		ret = k->method < 0 ? 0 : s->steps ? kl_scene_add_step(s, steps, k, op) :
		      kl_scene_add_deed(s, k, op);
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

	*s = (struct kl_scene){
		.looks = s->looks, .memo = s->memo, .spec = spec, .h = h, .part = p,
	};
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

static const struct kl_deed *deed_at(const struct kl_scene *s, size_t index)
{
	return s->deeds ? s->deeds + index : NULL;
}

const struct kl_deed *kl_scene_deeds(const struct kl_scene *s, enum kl_act act, uint64_t v,
				     size_t *n)
{
	const size_t from = first_deed(s, act, v);

	*n = (v < UINT64_MAX ? first_deed(s, act, v + 1) : first_deed(s, act + 1, 0)) - from;
	return deed_at(s, from);
}

const struct kl_deed *kl_scene_all(const struct kl_scene *s, enum kl_act act, size_t *n)
{
	const size_t from = first_deed(s, act, 0);

	*n = first_deed(s, act + 1, 0) - from;
	return deed_at(s, from);
}

bool kl_scene_proves(const struct kl_scene *s, uint32_t op)
{
	return bsearch(&op, s->proof, s->nproof, sizeof(op), compare_ops);
}

size_t kl_scene_count_possible(const struct kl_scene *s, const struct kl_deed *d, size_t n,
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
	taken = kl_scene_count_possible(s, d, n, op);
	if (before <= taken)
		return false;
	d = kl_scene_all(s, KL_ACT_VAGUE_REMOVE, &n);
	return !kl_scene_over(s, n) && before > taken + kl_scene_count_possible(s, d, n, op);
}

int kl_scene_run(const struct kl_scene *s, struct kl_run *run, const struct kl_val *state,
		 size_t len, int method, const struct kl_val *args, const struct kl_val *res,
		 kl_outcome_fn fn, void *ctx)
{
	int ret;

	if (method < 0)
		return -EINVAL;
	if (kl_scene_over(s, RUN_LOOKS + len))
		return -EDQUOT;
	kl_run_set_bound(run, kl_scene_left(s), NULL, NULL);
	ret = kl_run_apply(run, state, len, method, args, res, fn, ctx);
	s->looks->made += kl_run_work(run);
	return ret;
}

int kl_scene_apply(const struct kl_scene *s, struct kl_run *run, const struct kl_val *state,
		   size_t len, uint32_t op, kl_outcome_fn fn, void *ctx)
{
	const struct kl_op *o = &s->h->ops[op];
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h, o)]);

	return kl_scene_run(s, run, state, len, m, kl_op_args(s->h, o),
			    o->flags & KL_OP_PENDING ? NULL : kl_op_res(s->h, o), fn, ctx);
}

bool kl_scene_before(const struct kl_scene *s, uint32_t a, uint32_t b)
{
	s->looks->made++;
	return (a == s->memo->earlier && b == s->memo->later) ||
	       kl_op_before(s->h, &s->h->ops[a], &s->h->ops[b]);
}
