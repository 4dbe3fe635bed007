// SPDX-License-Identifier: GPL-2.0
/* Searches the states that an operation can have found, see views.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/table.h"
#include "story/views.h"
#include "tso/machine/machine.h"

#define MOST_NODES 3000
#define NODE_LOOKS 100 /* looks for a node, besides its memory */

/* A machine, and the operations that took effect: a bit each. */
struct node {
	struct kl_machine m;
	uint32_t done;
	uint64_t hash;
};

struct search {
	struct kl_stores *t;
	struct kl_views *v;
	uint32_t ops[KL_VIEWS_OPS]; /* those that may be before, as indices in t->ops */
	/* bits of those that must take effect, and whose stores must leave, before each, and @e */
	uint32_t first[KL_VIEWS_OPS + 1], gone[KL_VIEWS_OPS + 1];
	size_t nops;
	struct node *nodes;
	size_t nnodes, cnodes;
	struct kl_table table; /* of nodes */
	struct kl_machine m, next; /* of the present node, and of the one after it */
	struct kl_val *view;
	size_t cview;
	uint32_t done, thread, item; /* of the operation that takes effect */
	bool over, possible;
};

/* ---- nodes ---- */

static uint64_t hash_of(const struct kl_machine *m, uint32_t done)
{
	uint64_t hash = kl_mix(kl_hash_bytes(m->mem, m->nmem * sizeof(*m->mem)), done);
	size_t i;

	hash = kl_mix(hash, kl_hash_bytes(m->notes, m->nnotes * sizeof(*m->notes)));
	hash = kl_mix(hash, kl_hash_bytes(m->writes, m->nwrites * sizeof(*m->writes)));
	for (i = 0; i < m->nentries; i++)
		hash = kl_mix(hash, m->entries[i].item);
	return hash;
}

static bool same(const struct kl_machine *a, const struct kl_machine *b)
{
	size_t i;

	if (a->nentries != b->nentries || a->nwrites != b->nwrites || a->nnotes != b->nnotes ||
	    memcmp(a->mem, b->mem, a->nmem * sizeof(*a->mem)) ||
	    (a->nnotes && memcmp(a->notes, b->notes, a->nnotes * sizeof(*a->notes))) ||
	    (a->nwrites && memcmp(a->writes, b->writes, a->nwrites * sizeof(*a->writes))))
		return false;
	for (i = 0; i < a->nentries && a->entries[i].item == b->entries[i].item; i++)
		;
	return i == a->nentries;
}

/* Add s->next unless it is there.  Return: 0 or -ENOMEM. */
static int add_node(struct search *s, uint32_t done)
{
	struct node *n;
	uint64_t hash;
	uint32_t i;
	size_t at;

	kl_machine_canon(&s->next);
	hash = hash_of(&s->next, done);
	kl_table_for_each(&s->table, (uint32_t)hash, at, i)
	{
		n = &s->nodes[i];
		if (n->hash == hash && n->done == done && same(&n->m, &s->next))
			return 0;
	}
	if (s->nnodes == MOST_NODES || kl_scene_over(s->t->s, NODE_LOOKS + s->next.nmem)) {
		s->over = true;
		return 0;
	}
	if (kl_grow(s->nodes, s->cnodes, s->nnodes + 1))
		return -ENOMEM;
	n = &s->nodes[s->nnodes];
	if (kl_table_add(&s->table, hash, s->nnodes) || kl_machine_init(&n->m, s->next.nmem))
		return -ENOMEM;
	s->nnodes++;
	n->done = done;
	n->hash = hash;
	return kl_machine_copy(&n->m, &s->next);
}

/* The operations whose stores are in a buffer, as bits. */
static uint32_t waiting(const struct kl_machine *m)
{
	uint32_t bits = 0;
	size_t i;

	for (i = 0; i < m->nentries; i++)
		bits |= 1u << m->entries[i].item;
	return bits;
}

/* ---- steps ---- */

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct search *s = ctx;
	const bool tso = s->t->s->tso;
	int ret;

	if (tso && o->barrier && kl_machine_oldest(&s->m, s->thread) >= 0)
		return 0;
	if (s->item == s->nops) {
		s->possible = true;
		return 1;
	}
	ret = kl_machine_copy(&s->next, &s->m);
	if (!ret)
		ret = kl_machine_exec(&s->next, o, s->thread, s->item);
	if (ret < 0)
		return ret;
	if (ret && !tso)
		kl_machine_flush(&s->next, s->thread);
	return add_node(s, s->done | 1u << s->item);
}

/* Let an operation take effect: number @item of s->ops, or @e.  Return: 0 or -ENOMEM. */
static int apply(struct search *s, uint32_t item)
{
	const uint32_t at = item == s->nops ? s->v->e : s->ops[item];
	const struct kl_scene *scene = s->t->s;
	const struct kl_op *o = kl_stores_op(s->t, at);
	size_t len;
	int ret;

	s->thread = o->thread;
	s->item = item;
	if (kl_machine_view(&s->m, s->thread, &s->view, &s->cview, &len))
		return -ENOMEM;
	kl_run_set_fresh(s->t->run, kl_machine_next_unknown(&s->m));
	ret = kl_scene_apply(scene, s->t->run, s->view, len, s->t->ops[at].op, on_outcome, s);
	/* An operation that the interpreter cannot run is not excluded. */
	if (ret < 0 && ret != -ENOMEM)
		s->over = true;
	return ret == -ENOMEM ? ret : 0;
}

/* Keep the state that @e finds at the present node.  Return: 0 or -ENOMEM. */
static int keep_view(struct search *s)
{
	struct kl_views *v = s->v;
	const size_t len = s->t->len;
	size_t i, unused;

	if (kl_machine_view(&s->m, kl_stores_op(s->t, v->e)->thread, &s->view, &s->cview, &unused))
		return -ENOMEM;
	for (i = 0; i < len; i++)
		if (s->view[i].tag != KL_WORD)
			s->view[i] = kl_special(KL_ANY);
	for (i = 0; i < v->n; i++)
		if (!memcmp(kl_views_state(v, i), s->view, len * sizeof(*s->view)))
			return 0;
	if (v->n == KL_VIEWS) {
		v->all = false;
		return 0;
	}
	memcpy(v->words + v->n++ * len, s->view, len * sizeof(*s->view));
	return 0;
}

/* Go on from node @i.  Return: 0 or -ENOMEM. */
static int expand(struct search *s, size_t i, uint32_t must)
{
	uint32_t in_buffers, k;
	int ret = kl_machine_copy(&s->m, &s->nodes[i].m);

	s->done = s->nodes[i].done;
	in_buffers = waiting(&s->m);
	if (!ret && !(must & ~s->done) && !(s->gone[s->nops] & in_buffers))
		ret = apply(s, s->nops) ?: keep_view(s);
	for (k = 0; k < s->nops && !ret && !s->over && !s->possible; k++)
		if (!(s->done >> k & 1) && !(s->first[k] & ~s->done) && !(s->gone[k] & in_buffers))
			ret = apply(s, k);
	for (k = 0; k < s->m.nentries && !ret && !s->over && !s->possible; k++) {
		const uint32_t thread = s->m.entries[k].thread;

		if (kl_machine_oldest(&s->m, thread) != (int64_t)k)
			continue;
		ret = kl_machine_copy(&s->next, &s->m);
		if (ret)
			break;
		kl_machine_flush(&s->next, thread);
		ret = add_node(s, s->done);
	}
	return ret;
}

/* ---- what comes first ---- */

/* Must the stores of @w be in memory before operation @b takes effect, as a drain says? */
static bool must_have_left(const struct kl_stores *t, uint32_t w, uint32_t b)
{
	const struct kl_history *h = t->s->h;
	uint32_t y;

	for (y = w; y != KL_NO_OP; y = t->ops[y].next)
		if ((y == w || kl_stores_before(t, w, y)) &&
		    kl_time_add(kl_op_empty(h, kl_stores_op(t, y)), h->error) <
			    kl_stores_op(t, b)->call)
			return true;
	return false;
}

/* Find the operations that may be before @e, and their order.  Return: false if too many. */
static bool find_ops(struct search *s, uint32_t e)
{
	struct kl_stores *t = s->t;
	uint32_t i, k;

	for (i = 0; i < t->nops; i++) {
		if (i == e || kl_stores_before(t, e, i))
			continue;
		if (s->nops == KL_VIEWS_OPS || kl_scene_over(t->s, 1))
			return false;
		s->ops[s->nops++] = i;
	}
	for (i = 0; i <= s->nops; i++) {
		const uint32_t b = i == s->nops ? e : s->ops[i];

		for (k = 0; k < s->nops; k++) {
			s->first[i] |= (uint32_t)kl_stores_before(t, s->ops[k], b) << k;
			if (t->s->tso)
				s->gone[i] |= (uint32_t)must_have_left(t, s->ops[k], b) << k;
		}
	}
	return true;
}

/* Set s->next to the first state.  Return: 0 or -ENOMEM. */
static int begin(struct search *s)
{
	const struct kl_stores *t = s->t;
	uint64_t unknown = 0;
	size_t i;

	if (kl_machine_init(&s->m, t->len) || kl_machine_init(&s->next, t->len))
		return -ENOMEM;
	for (i = 0; i < t->len; i++) {
		s->next.mem[i] = t->first[i];
		if (t->first[i].tag == KL_ANY)
			s->next.mem[i].v = unknown++;
	}
	return add_node(s, 0);
}

int kl_views_exclude(struct kl_stores *t, uint32_t e, uint32_t after, struct kl_views *v)
{
	struct search s = { .t = t, .v = v };
	uint32_t must, k;
	size_t i;
	int ret;

	*v = (struct kl_views){ .t = t, .e = e, .all = true };
	if (!find_ops(&s, e))
		return 0;
	v->words = malloc(KL_VIEWS * t->len * sizeof(*v->words));
	ret = v->words ? begin(&s) : -ENOMEM;
	must = s.first[s.nops];
	for (k = 0; k < s.nops; k++)
		must |= (uint32_t)(s.ops[k] == after) << k;
	for (i = 0; i < s.nnodes && !ret && !s.over && !s.possible; i++)
		ret = expand(&s, i, must);
	for (i = 0; i < s.nnodes; i++)
		kl_machine_free(&s.nodes[i].m);
	free(s.nodes);
	kl_table_free(&s.table);
	kl_machine_free(&s.m);
	kl_machine_free(&s.next);
	free(s.view);
	return ret ?: v->n && !s.over && !s.possible;
}

void kl_views_free(struct kl_views *v)
{
	free(v->words);
	v->words = NULL;
}
