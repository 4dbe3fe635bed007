// SPDX-License-Identifier: GPL-2.0
/* The structures that kl_gen() runs, see gen_model.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "history/gen_model.h"

#define MAX_SLOTS	(1ULL << 28)

/* A value or key of the history to make. */
static uint64_t pick(struct kl_model *md)
{
	return md->keys ? kl_rand_below(&md->seed, md->keys) : ++md->next;
}

static bool coin(struct kl_model *md)
{
	return kl_rand(&md->seed) >> 63;
}

static uint64_t *slots_of(struct kl_model *md, uint32_t o)
{
	return md->slot + o * md->nslots;
}

static size_t one_slot(uint32_t keys)
{
	return 1;
}

static size_t two_slots(uint32_t keys)
{
	return 2;
}

static size_t no_slot(uint32_t keys)
{
	return 0;
}

static size_t slot_a_key(uint32_t keys)
{
	return keys ? keys : 16;
}

/* Of methods without arguments. */
static void no_args(struct kl_model *md, uint32_t o, unsigned int m, struct kl_val *args)
{
}

/* Registers. */

static void register_args(struct kl_model *md, uint32_t o, unsigned int m, struct kl_val *args)
{
	switch (m) {
	case 1:
		args[0] = kl_word(pick(md));
		break;
	case 2:
		args[0] = kl_word(coin(md) ? *slots_of(md, o) : pick(md));
		args[1] = kl_word(pick(md));
		break;
	case 3:
		args[0] = kl_word(1 + kl_rand_below(&md->seed, 4));
		break;
	}
}

static int register_step(struct kl_model *md, uint32_t o, unsigned int m,
			 const struct kl_val *args, struct kl_val *res)
{
	uint64_t *w = slots_of(md, o), old = *w;

	switch (m) {
	case 0:
		res[0] = kl_word(old);
		break;
	case 1:
		*w = args[0].v;
		break;
	case 2:
		res[0] = kl_word(args[0].v == old);
		if (args[0].v == old)
			*w = args[1].v;
		break;
	case 3:
		*w += args[0].v;
		res[0] = kl_word(old);
		break;
	}
	return 0;
}

static void pair_args(struct kl_model *md, uint32_t o, unsigned int m, struct kl_val *args)
{
	if (!m)
		return;
	args[0] = kl_word(pick(md));
	args[1] = kl_word(pick(md));
}

static int pair_step(struct kl_model *md, uint32_t o, unsigned int m, const struct kl_val *args,
		     struct kl_val *res)
{
	uint64_t *w = slots_of(md, o);

	if (m) {
		w[0] = args[0].v;
		w[1] = args[1].v;
	} else {
		res[0] = kl_word(w[0]);
		res[1] = kl_word(w[1]);
	}
	return 0;
}

enum { COUNTER_INC, COUNTER_DEC, COUNTER_GET };

static int counter_step(struct kl_model *md, uint32_t o, unsigned int m,
			const struct kl_val *args, struct kl_val *res)
{
	uint64_t *w = slots_of(md, o);

	res[0] = kl_word(*w);
	if (m != COUNTER_GET)
		*w += m == COUNTER_INC ? 1 : -1;
	return 0;
}

static int slots_scramble(struct kl_model *md, uint32_t o)
{
	size_t i;

	for (i = 0; i < md->nslots; i++)
		slots_of(md, o)[i] = pick(md);
	return 0;
}

/* Sets and maps: a slot for each key, 0 if it is absent, else its value + 1. */

static void set_args(struct kl_model *md, uint32_t o, unsigned int m, struct kl_val *args)
{
	args[0] = kl_word(kl_rand_below(&md->seed, md->nslots));
}

enum { SET_ADD, SET_REMOVE, SET_HAS };

static int set_step(struct kl_model *md, uint32_t o, unsigned int m, const struct kl_val *args,
		    struct kl_val *res)
{
	uint64_t *w = slots_of(md, o) + args[0].v;

	res[0] = kl_word(m == SET_ADD ? !*w : *w);
	if (m != SET_HAS)
		*w = m == SET_ADD;
	return 0;
}

enum { MAP_PUT, MAP_GET, MAP_REMOVE, MAP_HAS };

static void map_args(struct kl_model *md, uint32_t o, unsigned int m, struct kl_val *args)
{
	set_args(md, o, m, args);
	if (m == MAP_PUT)
		args[1] = kl_word(pick(md));
}

static int map_step(struct kl_model *md, uint32_t o, unsigned int m, const struct kl_val *args,
		    struct kl_val *res)
{
	uint64_t *w = slots_of(md, o) + args[0].v, old = *w;

	switch (m) {
	case MAP_PUT:
		*w = args[1].v + 1;
		break;
	case MAP_REMOVE:
		*w = 0;
		/* fall through */
	case MAP_GET:
		res[0] = old ? kl_word(old - 1) : kl_special(KL_ABSENT);
		break;
	case MAP_HAS:
		res[0] = kl_word(!!old);
		break;
	}
	return 0;
}

static int map_scramble(struct kl_model *md, uint32_t o)
{
	size_t i;

	for (i = 0; i < md->nslots; i++)
		slots_of(md, o)[i] = coin(md) ? pick(md) + 1 : 0;
	return 0;
}

static int set_scramble(struct kl_model *md, uint32_t o)
{
	size_t i;

	for (i = 0; i < md->nslots; i++)
		slots_of(md, o)[i] = coin(md);
	return 0;
}

/* Queues, stacks and heaps. */

static int list_push(struct kl_model_list *l, uint64_t v)
{
	int ret = 0;

	if (l->head + l->n == l->cap && l->head > l->n) {
		memmove(l->v, l->v + l->head, l->n * sizeof(*l->v));
		l->head = 0;
	}
	ret = kl_grow(l->v, l->cap, l->head + l->n + 1);
	if (!ret)
		l->v[l->head + l->n++] = v;
	return ret;
}

/* Methods of queues, stacks and heaps. */
enum { LIST_ADD, LIST_TAKE, LIST_PEEK };

static void list_args(struct kl_model *md, uint32_t o, unsigned int m, struct kl_val *args)
{
	if (m == LIST_ADD)
		args[0] = kl_word(pick(md));
}

static int queue_step(struct kl_model *md, uint32_t o, unsigned int m, const struct kl_val *args,
		      struct kl_val *res)
{
	struct kl_model_list *l = &md->list[o];

	if (m == LIST_ADD)
		return list_push(l, args[0].v);
	res[0] = l->n ? kl_word(l->v[l->head]) : kl_special(KL_EMPTY);
	if (m == LIST_TAKE && l->n) {
		l->head++;
		l->n--;
	}
	return 0;
}

static int stack_step(struct kl_model *md, uint32_t o, unsigned int m, const struct kl_val *args,
		      struct kl_val *res)
{
	struct kl_model_list *l = &md->list[o];

	if (m == LIST_ADD)
		return list_push(l, args[0].v);
	res[0] = l->n ? kl_word(l->v[l->n - 1]) : kl_special(KL_EMPTY);
	if (m == LIST_TAKE && l->n)
		l->n--;
	return 0;
}

static void heap_up(uint64_t *v, size_t i)
{
	uint64_t x = v[i];

	for (; i && v[(i - 1) / 2] > x; i = (i - 1) / 2)
		v[i] = v[(i - 1) / 2];
	v[i] = x;
}

static void heap_down(uint64_t *v, size_t n)
{
	uint64_t x = v[0];
	size_t i = 0, c;

	for (; (c = 2 * i + 1) < n; i = c) {
		if (c + 1 < n && v[c + 1] < v[c])
			c++;
		if (v[c] >= x)
			break;
		v[i] = v[c];
	}
	v[i] = x;
}

static void pqueue_args(struct kl_model *md, uint32_t o, unsigned int m, struct kl_val *args)
{
	if (m != LIST_ADD)
		return;
	/* New values in no order, and still each once: an odd factor permutes the words. */
	args[0] = kl_word(md->keys ? pick(md) : (pick(md) * 0x9e3779b1u) & UINT32_MAX);
}

static int pqueue_step(struct kl_model *md, uint32_t o, unsigned int m,
		       const struct kl_val *args, struct kl_val *res)
{
	struct kl_model_list *l = &md->list[o];
	int ret;

	if (m == LIST_ADD) {
		ret = list_push(l, args[0].v);
		if (!ret)
			heap_up(l->v, l->n - 1);
		return ret;
	}
	res[0] = l->n ? kl_word(l->v[0]) : kl_special(KL_EMPTY);
	if (m == LIST_TAKE && l->n) {
		l->v[0] = l->v[--l->n];
		if (l->n)
			heap_down(l->v, l->n);
	}
	return 0;
}

/* A few elements. */
static int list_scramble(struct kl_model *md, uint32_t o)
{
	struct kl_val v;
	int ret = 0;
	size_t n;

	for (n = kl_rand_below(&md->seed, 4); n && !ret; n--) {
		md->type->args(md, o, LIST_ADD, &v);
		ret = md->type->step(md, o, LIST_ADD, &v, NULL);
	}
	return ret;
}

/* Locks. */

static int lock_step(struct kl_model *md, uint32_t o, unsigned int m, const struct kl_val *args,
		     struct kl_val *res)
{
	uint64_t *held = slots_of(md, o);

	switch (m) {
	case KL_MODEL_LOCK:
		if (*held)
			return 1;
		*held = 1;
		break;
	case KL_MODEL_TRYLOCK:
		res[0] = kl_word(!*held);
		*held = 1;
		break;
	case KL_MODEL_UNLOCK:
		*held = 0;
		break;
	}
	return 0;
}

#define METHODS(...)							\
	.methods = (const struct kl_model_method[]){ __VA_ARGS__ },	\
	.nmethods = sizeof((const struct kl_model_method[]){ __VA_ARGS__ }) /	\
		    sizeof(struct kl_model_method)

const struct kl_model_type kl_model_types[KL_GEN_TYPES] = {
	[KL_GEN_REGISTER] = {
		.name = "register", .spec = "specs/register.lin", .slots = one_slot,
		.args = register_args, .step = register_step, .scramble = slots_scramble,
		METHODS({ "read", 0, 1, 50, false },
			{ "write", 1, 0, 30, false },
			{ "cas", 2, 1, 20, true },
			{ "fetch_add", 1, 1, 0, false }),
	},
	[KL_GEN_PAIR] = {
		.name = "pair", .spec = "specs/seqlock.lin", .slots = two_slots,
		.args = pair_args, .step = pair_step, .scramble = slots_scramble,
		METHODS({ "read", 0, 2, 70, false },
			{ "write", 2, 0, 30, false }),
	},
	[KL_GEN_SET] = {
		.name = "set", .spec = "specs/set.lin", .slots = slot_a_key,
		.args = set_args, .step = set_step, .scramble = set_scramble,
		METHODS({ "add", 1, 1, 30, true },
			{ "remove", 1, 1, 30, true },
			{ "has", 1, 1, 40, true }),
	},
	[KL_GEN_MAP] = {
		.name = "map", .spec = "specs/map.lin", .slots = slot_a_key,
		.args = map_args, .step = map_step, .scramble = map_scramble,
		METHODS({ "put", 2, 0, 30, false },
			{ "get", 1, 1, 30, false },
			{ "remove", 1, 1, 25, false },
			{ "has", 1, 1, 15, true }),
	},
	[KL_GEN_QUEUE] = {
		.name = "queue", .spec = "specs/queue.lin", .slots = no_slot,
		.args = list_args, .step = queue_step, .scramble = list_scramble,
		METHODS({ "enq", 1, 0, 50, false },
			{ "deq", 0, 1, 50, false },
			{ "peek", 0, 1, 0, false }),
	},
	[KL_GEN_STACK] = {
		.name = "stack", .spec = "specs/stack.lin", .slots = no_slot,
		.args = list_args, .step = stack_step, .scramble = list_scramble,
		METHODS({ "push", 1, 0, 50, false },
			{ "pop", 0, 1, 50, false },
			{ "peek", 0, 1, 0, false }),
	},
	[KL_GEN_PQUEUE] = {
		.name = "pqueue", .spec = "specs/pqueue.lin", .slots = no_slot,
		.args = pqueue_args, .step = pqueue_step, .scramble = list_scramble,
		METHODS({ "push", 1, 0, 50, false },
			{ "pop", 0, 1, 50, false },
			{ "peek", 0, 1, 0, false }),
	},
	[KL_GEN_COUNTER] = {
		.name = "counter", .spec = "specs/counter.lin", .slots = one_slot,
		.args = no_args, .step = counter_step, .scramble = slots_scramble,
		METHODS({ "inc", 0, 1, 40, false },
			{ "dec", 0, 1, 20, false },
			{ "get", 0, 1, 40, false }),
	},
	[KL_GEN_LOCK] = {
		.name = "lock", .spec = "specs/spinlock.lin", .slots = one_slot,
		.args = no_args, .step = lock_step,
		METHODS({ "lock", 0, 0, 60, false },
			{ "trylock", 0, 1, 40, true },
			{ "unlock", 0, 0, 0, false }),
	},
};

void kl_model_free(struct kl_model *md)
{
	uint32_t o;

	for (o = 0; md->list && o < md->objects; o++)
		free(md->list[o].v);
	free(md->list);
	free(md->slot);
	memset(md, 0, sizeof(*md));
}

int kl_model_init(struct kl_model *md, const struct kl_gen_config *c)
{
	const struct kl_model_type *t = &kl_model_types[c->type];
	uint32_t o;
	int ret = 0;

	*md = (struct kl_model){
		.type = t, .nslots = t->slots(c->keys), .objects = c->objects, .keys = c->keys,
		.seed = c->seed ^ 0x6d6f64656cULL,
	};
	if ((uint64_t)md->nslots * c->objects > MAX_SLOTS)
		return -EINVAL;
	md->slot = calloc((size_t)c->objects * md->nslots + 1, sizeof(*md->slot));
	md->list = calloc(c->objects, sizeof(*md->list));
	if (!md->slot || !md->list)
		ret = -ENOMEM;
	for (o = 0; c->any && t->scramble && o < c->objects && !ret; o++)
		ret = t->scramble(md, o);
	if (ret)
		kl_model_free(md);
	return ret;
}
