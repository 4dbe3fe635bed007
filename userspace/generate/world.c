// SPDX-License-Identifier: GPL-2.0
/* The objects that kl_gen() runs, see world.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "generate/world.h"
#include "spec/classify/container.h"
#include "spec/classify/ends.h"

#define MAX_STATES	(1ULL << 26)
#define FEW_KEYS	16
#define LARGE		128 /* words of a state that should not grow any more */
#define WISHES		64	/* tries to replace unknown results by words */
#define FIRST_OPS	32 /* operations on each object that make another first state */

static uint64_t below(struct kl_gen_world *w, uint64_t n)
{
	return kl_rand_below(&w->seed, n);
}

static bool coin(struct kl_gen_world *w)
{
	return kl_rand(&w->seed) >> 63;
}

/* Return: the bound of the keys or indices that the parameter may get. */
static uint64_t key_range(const struct kl_gen_config *c, const struct kl_param *p)
{
	uint64_t n = p->type == KL_T_BOOL ? 2 : c->keys ? c->keys : FEW_KEYS;

	return p->bound && p->bound < n ? p->bound : n;
}

/*
 * Return: the number of states of an object: one for each key if each method has its key as a
 * parameter, so that the key is known before an operation takes effect; else 1.
 */
static uint64_t states_of_object(const struct kl_gen_config *c)
{
	uint64_t n = 0, range;
	unsigned int i;
	char doubt[8];

	if (kl_spec_partition(c->spec) != KL_PART_PARAM ||
	    kl_spec_partition_doubt(c->spec, doubt, sizeof(doubt)))
		return 1;
	for (i = 0; i < kl_spec_nmethods(c->spec); i++) {
		const struct kl_method *m = kl_spec_method(c->spec, i);

		if (m->part_param >= (int)m->nparams)
			return 1;
		range = key_range(c, &m->params[m->part_param]);
		n = range > n ? range : n;
	}
	return n;
}

static struct kl_gen_state *state_of(struct kl_gen_world *w, const struct kl_gen_op *op)
{
	const struct kl_method *m = kl_spec_method(w->c->spec, op->method);
	uint64_t key = w->keys > 1 ? op->args[m->part_param].v : 0;

	return &w->states[op->object * w->keys + key];
}

static int set_state(struct kl_gen_state *s, const struct kl_val *v, size_t len)
{
	struct kl_val *grown;

	if (len > s->cap) {
		grown = realloc(s->v, 2 * len * sizeof(*v));
		if (!grown)
			return -ENOMEM;
		s->v = grown;
		s->cap = 2 * len;
	}
	memcpy(s->v, v, len * sizeof(*v));
	s->len = len;
	return 0;
}

/* Return: a random word of the state, or any word if a few tries find none. */
static uint64_t word_of(struct kl_gen_world *w, const struct kl_gen_state *s)
{
	unsigned int tries;

	for (tries = 0; tries < 4 && s->len; tries++) {
		struct kl_val v = s->v[below(w, s->len)];

		if (v.tag == KL_WORD)
			return v.v;
	}
	return below(w, w->c->keys ? w->c->keys : FEW_KEYS);
}

static struct kl_val choose_arg(struct kl_gen_world *w, const struct kl_gen_op *op,
				const struct kl_param *p, bool partition)
{
	const struct kl_gen_state *s = w->keys > 1 && partition ? &w->first : state_of(w, op);

	if (p->type == KL_T_BOOL)
		return kl_word(coin(w));
	if (partition || p->use & (KL_USE_KEY | KL_USE_INDEX))
		return kl_word(below(w, key_range(w->c, p)));
	if (p->use & KL_USE_COMPARED && coin(w))
		return kl_word(word_of(w, s->v ? s : &w->first));
	if (p->use & KL_USE_COMPUTED && !(p->use & KL_USE_COMPARED))
		return kl_word(1 + below(w, 4));
	if (w->c->keys)
		return kl_word(below(w, w->c->keys));
	/* An odd factor permutes the words, so new values are not in order, and all differ. */
	w->next++;
	return kl_word(p->use & KL_USE_ORDERED ? (w->next * 0x9e3779b1u) & UINT32_MAX : w->next);
}

/* Return: true if a method can add to a container. */
static bool adds_to(const struct kl_spec *spec, unsigned int method)
{
	struct kl_end_method e;

	return kl_spec_role(spec, method) == KL_ROLE_ADD ||
	       (kl_spec_end_method(spec, method, &e) && e.act == KL_END_PUSH);
}

/* Return: the weight of a method for threads of a side; 0 if they do not call it. */
static uint64_t weight_of(const struct kl_gen_config *c, unsigned int method, enum kl_gen_side side)
{
	const bool adds = side && adds_to(c->spec, method);

	if (side && adds != (side == KL_GEN_ADDS))
		return 0;
	return c->weight ? c->weight[method] : 1;
}

void kl_gen_choose_op(struct kl_gen_world *w, struct kl_gen_op *op)
{
	uint64_t x = below(w, w->total_weight[op->side]), weight;
	const struct kl_method *m;
	unsigned int i;

	for (op->method = 0; ; op->method++, x -= weight) {
		weight = weight_of(w->c, op->method, op->side);
		if (x < weight)
			break;
	}
	m = kl_spec_method(w->c->spec, op->method);
	/* The key is chosen first, because other arguments depend on the key's state. */
	if (w->keys > 1)
		op->args[m->part_param] = choose_arg(w, op, &m->params[m->part_param], true);
	for (i = 0; i < m->nparams; i++)
		if (w->keys == 1 || (int)i != m->part_param)
			op->args[i] = choose_arg(w, op, &m->params[i], false);
}

/* Pick one of the outcomes with equal probability. */
static int pick(void *ctx, const struct kl_outcome *o)
{
	struct kl_gen_world *w = ctx;

	if (w->noutcomes++ && below(w, w->noutcomes))
		return 0;
	memcpy(w->res, o->results, w->nres * sizeof(*w->res));
	return set_state(&w->scratch, o->state, o->len);
}

static int outcomes(struct kl_gen_world *w, const struct kl_gen_state *s, struct kl_gen_op *op,
		    const struct kl_val *res)
{
	int ret;

	w->noutcomes = 0;
	ret = kl_run_apply(w->run, s->v, s->len, op->method, op->args, res, pick, w);
	if (ret == -E2BIG)
		kl_err("%s: %s", kl_spec_path(w->c->spec), kl_run_error(w->run));
	return ret ? ret : !!w->noutcomes;
}

static bool open_results(struct kl_gen_world *w, const struct kl_gen_state *s, struct kl_val *wish)
{
	bool open = false;
	unsigned int i;

	for (i = 0; i < w->nres; i++) {
		wish[i] = w->res[i];
		if (wish[i].tag != KL_ANY)
			continue;
		wish[i] = kl_word(coin(w) ? word_of(w, s) + below(w, 3) : below(w, FEW_KEYS));
		open = true;
	}
	return open;
}

int kl_gen_apply(struct kl_gen_world *w, struct kl_gen_op *op, bool small)
{
	struct kl_gen_state *s = state_of(w, op), old;
	struct kl_val wish[KL_MAX_ARGS];
	unsigned int tries;
	int ret = 0;

	if (!s->v)
		ret = set_state(s, w->first.v, w->first.len);
	if (ret)
		return ret;
	w->nres = kl_spec_method(w->c->spec, op->method)->nresults;
	w->res = op->res;
	ret = outcomes(w, s, op, NULL);
	/* Replace results that the spec leaves open by random words that it allows. */
	for (tries = 0; ret > 0 && tries < WISHES && open_results(w, s, wish); tries++) {
		ret = outcomes(w, s, op, wish);
		ret = ret ? ret : 1;
	}
	if (ret <= 0)
		return ret;
	if (open_results(w, s, wish))
		return 0;
	if (small && w->scratch.len > LARGE && w->scratch.len > s->len)
		return KL_GEN_LARGER;
	old = *s;
	*s = w->scratch;
	w->scratch = old;
	return 1;
}

/* Make the first state of all objects; variables without an initial value become 0 or 1. */
static int first_state(struct kl_gen_world *w)
{
	const struct kl_val *v;
	size_t len, i;
	int ret;

	v = kl_run_init(w->run, true, &len);
	ret = v ? set_state(&w->first, v, len) : -ENOMEM;
	for (i = 0; !ret && i < len && kl_spec_fixed_size(w->c->spec); i++)
		if (w->first.v[i].tag == KL_ANY)
			w->first.v[i] = kl_word(below(w, 2));
	return ret;
}

static int scramble(struct kl_gen_world *w)
{
	struct kl_gen_op op = { 0 };
	unsigned int i;
	int ret = 0;

	for (op.object = 0; op.object < w->c->objects; op.object++) {
		for (i = 0; i < FIRST_OPS && ret >= 0; i++) {
			kl_gen_choose_op(w, &op);
			ret = kl_gen_apply(w, &op, true);
		}
	}
	return ret < 0 ? ret : 0;
}

int kl_gen_world_init(struct kl_gen_world *w, const struct kl_gen_config *c)
{
	unsigned int i, n = kl_spec_nmethods(c->spec);
	int ret = -ENOMEM;

	*w = (struct kl_gen_world){ .c = c, .seed = c->seed ^ 0x6d6f64656cULL };
	for (i = 0; i < 3 * n; i++)
		w->total_weight[i / n] += i / n && !c->producers ? 1 : weight_of(c, i % n, i / n);
	w->keys = states_of_object(c);
	if (!w->total_weight[KL_GEN_BOTH] || !w->total_weight[KL_GEN_ADDS] ||
	    !w->total_weight[KL_GEN_OTHERS] || w->keys * c->objects > MAX_STATES)
		return -EINVAL;
	w->run = kl_run_new(c->spec);
	w->states = calloc(w->keys * c->objects, sizeof(*w->states));
	if (w->run && w->states)
		ret = first_state(w);
	if (!ret && c->any)
		ret = scramble(w);
	if (ret)
		kl_gen_world_free(w);
	return ret;
}

void kl_gen_world_free(struct kl_gen_world *w)
{
	uint64_t i;

	for (i = 0; w->states && i < w->keys * w->c->objects; i++)
		free(w->states[i].v);
	free(w->states);
	free(w->scratch.v);
	free(w->first.v);
	kl_run_free(w->run);
	memset(w, 0, sizeof(*w));
}
