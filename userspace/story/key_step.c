// SPDX-License-Identifier: GPL-2.0
/*
 * Finds what an operation did to the value of its key, see key_step.h.
 *
 * The interpreter runs the operation in a state where an unknown value is under the key, and the
 * same unknown under another key, the witness, which the operation does not touch.  If the
 * operation shows the value that was there, then the outcome has that value under the witness.  A
 * map is also run without a value.  Each outcome is a change: the value before, and the one after.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "story/key_step.h"

#define MAX_CHANGES	KL_STEP_LEAVES

/* A change.  @before is KL_ANY if any value may have been there; @same: the value stays. */
struct change {
	struct kl_val before, after;
	bool same;
};

struct kl_key_steps {
	struct kl_run *run;
	const struct kl_spec *spec;
	enum kl_keyed kind;
	uint64_t key, witness;
	struct kl_val *state;
	size_t len;	/* of an array's state */
	struct kl_val first;
	/* the present operation: */
	struct change changes[MAX_CHANGES];
	size_t n;
	bool vague;	/* a change is not known */
	bool absent;	/* the state that runs has no value under the key */
};

struct kl_key_steps *kl_key_steps_new(const struct kl_spec *s, uint64_t key)
{
	struct kl_key_steps *k = calloc(1, sizeof(*k));
	const struct kl_val *v = NULL;

	if (!k)
		return NULL;
	k->spec = s;
	k->kind = kl_spec_keyed(s);
	k->key = key;
	k->witness = key ? key - 1 : 1;
	k->run = kl_run_new(s);
	if (k->run)
		v = kl_run_init(k->run, true, &k->len);
	if (v)
		k->state = calloc(k->len + 5, sizeof(*k->state));
	if (!k->state) {
		kl_key_steps_free(k);
		return NULL;
	}
	if (k->kind == KL_KEYED_MAP)
		k->first = kl_special(v[0].tag == KL_WORD ? KL_ABSENT : KL_ANY);
	else
		k->first = key < k->len && v[key].tag != KL_ANY ? v[key] : kl_special(KL_ANY);
	return k;
}

void kl_key_steps_free(struct kl_key_steps *k)
{
	if (!k)
		return;
	kl_run_free(k->run);
	free(k->state);
	free(k);
}

struct kl_val kl_key_first(const struct kl_key_steps *k)
{
	return k->first;
}

/* Return: the value under @key in the state of an outcome. */
static struct kl_val value_under(const struct kl_key_steps *k, const struct kl_outcome *o,
				 uint64_t key)
{
	size_t i;

	if (k->kind == KL_KEYED_ARRAY)
		return o->state[key];
	for (i = 0; i < o->state[0].v; i++)
		if (kl_val_eq(o->state[1 + 2 * i], kl_word(key)))
			return o->state[2 + 2 * i];
	return kl_special(KL_ABSENT);
}

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct kl_key_steps *k = ctx;
	struct change c = { .after = value_under(k, o, k->key) };
	size_t i;

	c.before = k->absent ? kl_special(KL_ABSENT) : value_under(k, o, k->witness);
	c.same = kl_val_eq(c.before, c.after);
	if (c.after.tag == KL_ANY && !c.same)
		k->vague = true;
	/* All unknown values are alike here. */
	if (c.before.tag == KL_ANY)
		c.before.v = 0;
	if (c.same)
		c.after = c.before;
	for (i = 0; i < k->n; i++)
		if (kl_val_eq(k->changes[i].before, c.before) &&
		    kl_val_eq(k->changes[i].after, c.after))
			return 0;
	if (k->n == MAX_CHANGES) {
		k->vague = true;
		return 1;
	}
	k->changes[k->n++] = c;
	return 0;
}

/* Run the operation where @v is under the key.  Return: 0 or -ENOMEM. */
static int run(struct kl_key_steps *k, unsigned int method, const struct kl_val *args,
	       const struct kl_val *res, struct kl_val v)
{
	struct kl_val *s = k->state;
	size_t len = k->len;
	int ret;

	k->absent = v.tag == KL_ABSENT;
	if (k->kind == KL_KEYED_ARRAY) {
		s[k->key] = s[k->witness] = v;
	} else if (k->absent) {
		s[0] = kl_word(0);
	} else {
		const bool first = k->key < k->witness;

		s[0] = kl_word(2);
		s[1] = kl_word(first ? k->key : k->witness);
		s[3] = kl_word(first ? k->witness : k->key);
		s[2] = s[4] = v;
		len = 5;
	}
	ret = kl_run_apply(k->run, s, len, method, args, res, on_outcome, k);
	if (ret < 0)
		k->vague = true;
	return ret == -ENOMEM ? ret : 0;
}

/* A value as the word of a step.  Return: false if it has none. */
static bool as_word(struct kl_val v, uint64_t *w)
{
	*w = v.tag == KL_ABSENT ? KL_STEP_ABSENT : v.v;
	return v.tag == KL_ABSENT || (v.tag == KL_WORD && v.v != KL_STEP_ABSENT);
}

/* Make one step of all changes. */
static struct kl_word_step join(const struct kl_key_steps *k, bool pending)
{
	struct kl_word_step step = { .kind = KL_WORD_NOTHING };
	const struct kl_word_step other = { .kind = KL_WORD_OTHER };
	const struct change *first = NULL;
	bool changes = false, one = true;
	size_t i;

	if (k->vague)
		return other;
	if (!k->n && !pending)
		return (struct kl_word_step){ .kind = KL_WORD_NEVER };
	for (i = 0; i < k->n; i++)
		changes |= !k->changes[i].same;
	if (!changes && (k->n != 1 || k->changes[0].before.tag == KL_ANY))
		return step;
	for (i = 0; i < k->n; i++) {
		const struct change *c = &k->changes[i];

		/* A pending operation that changes nothing has no part in the story. */
		if (pending && c->same)
			continue;
		if (!first)
			first = c;
		one &= kl_val_eq(c->before, first->before);
		if (!kl_val_eq(c->after, first->after))
			return other;
	}
	if (!first)
		return step;
	if (!as_word(first->after, &step.after))
		return other;
	step.kind = KL_WORD_WRITES;
	if (one && as_word(first->before, &step.before))
		step.kind = first->same ? KL_WORD_SEES : KL_WORD_MOVES;
	return step;
}

int kl_key_step_leaves(const struct kl_key_steps *k, uint64_t to[KL_STEP_LEAVES])
{
	int n = 0;
	size_t i;

	for (i = 0; i < k->n && !k->vague; i++)
		if (!k->changes[i].same && !as_word(k->changes[i].after, &to[n++]))
			return -1;
	return k->vague ? -1 : n;
}

/* Is the operation impossible where @v is under the key?  Return: 1 if so, 0 if not, -ENOMEM. */
static int excludes(struct kl_key_steps *k, unsigned int method, const struct kl_val *args,
		    const struct kl_val *res, struct kl_val v)
{
	int ret;

	k->n = 0;
	k->vague = false;
	ret = run(k, method, args, res, v);
	return ret ?: !k->n && !k->vague;
}

/* Find a value that cannot have been there: nothing, 0, or an argument of the operation. */
static int find_excluded(struct kl_key_steps *k, unsigned int method, const struct kl_val *args,
			 const struct kl_val *res, struct kl_val *is_not)
{
	const struct kl_method *m = kl_spec_method(k->spec, method);
	unsigned int i;
	int ret;

	*is_not = kl_special(KL_ABSENT);
	ret = k->kind == KL_KEYED_MAP ? excludes(k, method, args, res, *is_not) : 0;
	for (i = 0; !ret && i < m->nparams; i++) {
		/* The key's place in the list stands for 0. */
		const bool zero = (int)i == m->part_param;

		if (!zero && args[i].tag != KL_WORD)
			continue;
		*is_not = zero ? kl_word(0) : args[i];
		ret = excludes(k, method, args, res, *is_not);
	}
	if (ret <= 0)
		*is_not = kl_special(KL_ANY);
	return ret < 0 ? ret : 0;
}

int kl_key_step(struct kl_key_steps *k, unsigned int method, const struct kl_val *args,
		const struct kl_val *res, struct kl_word_step *step, struct kl_val *is_not)
{
	int ret;

	*is_not = kl_special(KL_ANY);
	step->kind = KL_WORD_OTHER;
	k->n = 0;
	k->vague = k->kind == KL_KEYED_ARRAY && (k->key >= k->len || k->witness >= k->len);
	if (k->vague)
		return 0;
	ret = run(k, method, args, res, kl_special(KL_ANY));
	if (!ret && k->kind == KL_KEYED_MAP)
		ret = run(k, method, args, res, kl_special(KL_ABSENT));
	if (ret)
		return ret;
	*step = join(k, !res);
	if (!res || (step->kind != KL_WORD_NOTHING && step->kind != KL_WORD_WRITES))
		return 0;
	ret = find_excluded(k, method, args, res, is_not);
	if (!ret && step->kind == KL_WORD_NOTHING && as_word(*is_not, &step->before) &&
	    is_not->tag != KL_ANY)
		step->kind = KL_WORD_SEES_NOT;
	return ret;
}
