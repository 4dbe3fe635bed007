// SPDX-License-Identifier: GPL-2.0
/* Joins two views, in every way in which both can be views of one state. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "verify/model.h"

#define SAME_FLAGS	(KF_CAND | KF_REF | KF_UNIF | KF_ESC | KF_IN | \
			 KF_ORD | KF_WAS)

/* Return: the part of a node's kind on which all views agree. */
static uint64_t common(const struct kl_verifier *x, uint64_t k)
{
	return kf_set_lock((k & ~0xffffULL) | (k & SAME_FLAGS),
			   x->others && kf_lock(k) != VF_NULL);
}

static bool fits(const struct kl_verifier *x, uint64_t v, uint64_t w)
{
	/* Two threads cannot hold the same lock. */
	return common(x, v) == common(x, w) && !(kf_lock(v) == VF_OWN && kf_lock(w) == VF_OWN);
}

static bool is_held(uint8_t v)
{
	return v >= VF_OWN && v <= VF_OTHER;
}

static bool unique(const struct kl_verifier *x, uint64_t k)
{
	const unsigned int c = kl_vf_node_key(x, k);

	return (k & KF_IN) && !(k & KF_SUM) && (c == KEY_SAME || c == KEY_MAX);
}

uint64_t kl_vf_look(const struct kl_verifier *x, const struct kl_vf_state *s)
{
	uint64_t h = 0, u = 0;
	unsigned int i, n = 0;

	for (i = 0; i < x->m.ng; i++) {
		const uint8_t v = s->g[i];

		h = kl_mix(h, !is_held(v) ? v : x->others ? VF_OTHER : VF_NULL);
		if (kl_vf_is_ptr(v) && v > n)
			h = kl_mix(h, common(x, s->kind[n = v]));
	}
	for (i = n + 1; i < s->nn && x->m.keyed; i++)
		if (unique(x, s->kind[i]))
			u += kl_mix(common(x, s->kind[i]), 1);
	return kl_mix(h, u);
}

struct glue {
	struct kl_verifier *x;
	const struct kl_vf_state *v, *w;
	uint8_t of[KL_VF_NODES];	/* individual of w -> the same individual of v, or 0 */
	uint8_t back[KL_VF_NODES];	/* individual of v -> the same individual of w, or 0 */
	uint8_t rest[KL_VF_NODES];	/* individuals of w that may be the same as one of v */
	unsigned int nrest;
	uint32_t seen;		/* individuals of w, off the list, that v's thread has seen on it */
	/* The joined state: */
	struct kl_vf_state c;
	uint32_t vids[KL_VF_NODES], wids[KL_VF_NODES];	/* individuals of @c for those of v, w */
	int err;
};

/* Return: the lock in the joined state, if it is @v in view v and @w in view w. */
static uint8_t both_lock(uint8_t v, uint8_t w)
{
	return v == VF_OWN ? v : w == VF_OWN ? VF_OWN + 1 : v;
}

/* Find or make the summary of this kind in the joined state.  Return: 0 if there is no room. */
static unsigned int summary(struct glue *g, uint64_t kind)
{
	unsigned int i;

	for (i = 1; i < g->c.nn; i++)
		if (g->c.kind[i] == kind)
			return i;
	i = kl_vf_new(&g->c, kind);
	if (!i)
		g->err = -E2BIG;
	else
		g->c.succ[i] = g->c.rsucc[i] = 0;
	return i;
}

/*
 * Return: true if @s has a summary like @k of nodes that its thread has seen on the list since
 * it read the head.
 */
static bool has_seen(const struct kl_verifier *x, const struct kl_vf_state *s, uint64_t k)
{
	unsigned int i;

	for (i = 1; i < s->nn; i++)
		if (s->kind[i] & KF_SUM && s->kind[i] & KF_SEEN &&
		    common(x, s->kind[i]) == common(x, k))
			return true;
	return false;
}

/*
 * Return: the summaries of the joined state for a summary of kind @k in view v, or with @of_w in
 * view w.  Their locks are free.
 */
static uint32_t summaries(struct glue *g, uint64_t k, bool of_w)
{
	const unsigned int head = g->x->m.keyed ? kl_vf_names(g->v->g[g->x->m.root]) : 0;
	const bool keeps = head && g->v->kind[head] & KF_SEEN;
	uint32_t out;

	if (!of_w)
		return kl_vf_bit(summary(g, k)) & ~1u;
	k &= ~KF_SEEN_ALL;
	/* Nodes that are on the list count as seen since the head was read. */
	out = kl_vf_bit(summary(g, keeps && k & KF_IN ? k | KF_SEEN : k));
	/* Nodes off the list may have been seen by v's thread, if v has a summary of such nodes. */
	if (keeps && !(k & KF_IN) && has_seen(g->x, g->v, k))
		out |= kl_vf_bit(summary(g, k | KF_SEEN));
	return out & ~1u;
}

/* Number all individuals in the joined state, and find the summaries of each summary. */
static void number(struct glue *g)
{
	const struct kl_vf_state *v = g->v, *w = g->w;
	const unsigned int head = g->x->m.keyed ? kl_vf_names(v->g[g->x->m.root]) : 0;
	unsigned int i, j;
	uint64_t k;

	g->c.nn = 1;
	memset(g->vids, 0, sizeof(g->vids));
	memset(g->wids, 0, sizeof(g->wids));
	for (i = 1; i < v->nn; i++) {
		if (v->kind[i] & KF_SUM)
			continue;
		k = v->kind[i];
		if (g->back[i])
			k = kf_set_lock(k, both_lock(kf_lock(k), kf_lock(w->kind[g->back[i]])));
		j = kl_vf_new(&g->c, k);
		g->vids[i] = kl_vf_bit(j);
		if (g->back[i])
			g->wids[g->back[i]] = kl_vf_bit(j);
	}
	for (i = 1; i < w->nn; i++) {
		if (w->kind[i] & KF_SUM || g->of[i])
			continue;
		k = w->kind[i] & ~KF_SEEN_ALL;
		if (k & KF_IN && head)
			k |= v->kind[head] & KF_SEEN;
		else if (g->seen & kl_vf_bit(i))
			k |= KF_SEEN;
		if (kf_lock(k) == VF_OWN)
			k = kf_set_lock(k, VF_OWN + 1);
		j = kl_vf_new(&g->c, k);
		if (!j)
			g->err = -E2BIG;
		g->wids[i] = kl_vf_bit(j);
	}
	for (i = 1; i < v->nn; i++)
		if (v->kind[i] & KF_SUM)
			g->vids[i] = summaries(g, v->kind[i], false);
	for (i = 1; i < w->nn; i++)
		if (w->kind[i] & KF_SUM)
			g->wids[i] = summaries(g, w->kind[i], true);
	/* A named node of one view may belong to a summary of the other. */
	for (i = 1; i < v->nn; i++)
		for (j = 1; j < w->nn; j++) {
			if (!(v->kind[i] & KF_ESC) || !fits(g->x, v->kind[i], w->kind[j]))
				continue;
			if (v->kind[i] & KF_SUM && !(w->kind[j] & KF_SUM) && !g->of[j] &&
			    !((v->kind[i] ^ g->c.kind[__builtin_ctz(g->wids[j])]) & KF_SEEN))
				g->vids[i] |= g->wids[j];
			if (w->kind[j] & KF_SUM && !(v->kind[i] & KF_SUM) && !g->back[i])
				g->wids[j] |= g->vids[i];
		}
}

static uint32_t expand(const uint32_t *ids, uint32_t set)
{
	uint32_t out = set & 1;

	for (set &= ~1u; set; set &= set - 1)
		out |= ids[__builtin_ctz(set)];
	return out;
}

/* The edges of one view's individuals, by numbers of the joined state. */
struct edges {
	uint32_t succ[KL_VF_NODES], rsucc[KL_VF_NODES];
	bool has[KL_VF_NODES];
};

static void gather(const struct glue *g, const struct kl_vf_state *s, const uint32_t *ids,
		   struct edges *e)
{
	const uint64_t must = s == g->v ? KF_IN | KF_SEEN : KF_IN;
	unsigned int i, k;
	uint32_t own, a, b;

	memset(e, 0, sizeof(*e));
	for (i = 1; i < s->nn; i++) {
		a = expand(ids, s->succ[i]);
		b = expand(ids, s->rsucc[i]);
		for (own = ids[i]; own; own &= own - 1) {
			k = __builtin_ctz(own);
			/*
			 * If node @k has a name only in the other view, this view has edges for it
			 * only if it must know the node, which is, or was, on the list.
			 */
			if ((s->kind[i] ^ g->c.kind[k]) & KF_SUM && !(g->c.kind[k] & must))
				continue;
			e->succ[k] |= a;
			e->rsucc[k] |= b;
			e->has[k] = true;
		}
	}
}

/* Compute all edges.  Return: false if the views contradict each other. */
static bool join_edges(struct glue *g)
{
	struct kl_vf_state *c = &g->c;
	struct edges v, w;
	unsigned int i;

	gather(g, g->v, g->vids, &v);
	gather(g, g->w, g->wids, &w);
	for (i = 1; i < c->nn; i++) {
		const uint64_t k = c->kind[i];
		/* Both views know nodes on the list, and nodes that are named in both. */
		const bool both = v.has[i] && w.has[i] && (!(k & KF_SUM) || k & KF_IN);
		/* v's thread knows nodes that it has seen on the list, if it can reach them. */
		const bool only = v.has[i] && k & KF_SUM && k & KF_SEEN && !(k & KF_IN);

		c->succ[i] = both ? v.succ[i] & w.succ[i] :
			     only ? v.succ[i] : v.succ[i] | w.succ[i];
		c->rsucc[i] = both ? v.rsucc[i] & w.rsucc[i] :
			      only ? v.rsucc[i] : v.rsucc[i] | w.rsucc[i];
		if (k & KF_SUM)
			continue;
		if ((k & KF_CAND && !c->succ[i]) || (kf_has_rsucc(k) && !c->rsucc[i]))
			return false;
	}
	return !g->x->m.keyed || kl_vf_chain_possible(g->x, c);
}

static uint8_t renamed(uint8_t v, const uint32_t *ids)
{
	const unsigned int i = kl_vf_names(v);

	return i ? (v & ~(KL_VF_NODES - 1)) | __builtin_ctz(ids[i]) : v;
}

static void set_thread(const struct glue *g, const struct kl_vf_thread *from, const uint32_t *ids,
		       struct kl_vf_thread *to)
{
	unsigned int i;

	*to = *from;
	if (from->method < 0)
		return;
	to->corr = renamed(from->corr, ids);
	for (i = 0; i < KL_VF_RESULTS; i++)
		to->ret[i] = renamed(from->ret[i], ids);
	for (i = 0; i < g->x->m.nregs; i++)
		to->reg[i] = renamed(from->reg[i], ids);
}

/* Join the views as they are matched in @g, and run the second thread's step. */
static int act_as(struct glue *g)
{
	struct kl_vf_state *c = &g->c;
	unsigned int i;

	number(g);
	if (g->err || !join_edges(g))
		return 0;
	c->nt = 2;
	memset(c->g, 0, sizeof(c->g));
	for (i = 0; i < g->x->m.ng; i++)
		c->g[i] = is_held(g->v->g[i]) || is_held(g->w->g[i]) ?
			  both_lock(g->v->g[i], g->w->g[i]) : renamed(g->v->g[i], g->vids);
	set_thread(g, &g->v->th[0], g->vids, &c->th[0]);
	set_thread(g, &g->w->th[0], g->wids, &c->th[1]);
	return kl_vf_step(g->x, c, 1);
}

/* Try all sets of nodes, known to view w only, that v's thread may have seen on the list. */
static int act(struct glue *g)
{
	const unsigned int head = g->x->m.keyed ? kl_vf_names(g->v->g[g->x->m.root]) : 0;
	uint32_t open = 0;
	unsigned int j;
	int ret;

	g->seen = 0;
	for (j = 1; j < g->w->nn && head && g->v->kind[head] & KF_SEEN; j++)
		if (!g->of[j] && (g->w->kind[j] & (KF_WAS | KF_IN | KF_SUM)) == KF_WAS &&
		    has_seen(g->x, g->v, g->w->kind[j]))
			open |= kl_vf_bit(j);
	do {
		ret = act_as(g);
		g->seen = (g->seen - open) & open;
	} while (!ret && g->seen);
	return ret;
}

/* Try all ways to match the individuals of w in g->rest, from @at on, with individuals of v. */
static int match(struct glue *g, unsigned int at)
{
	unsigned int i, j;
	int ret;

	if (at == g->nrest)
		return act(g);
	ret = match(g, at + 1);
	j = g->rest[at];
	for (i = 1; i < g->v->nn && !ret; i++) {
		if (g->back[i] || g->v->kind[i] & KF_SUM || !(g->v->kind[i] & KF_ESC) ||
		    !fits(g->x, g->v->kind[i], g->w->kind[j]) || unique(g->x, g->v->kind[i]))
			continue;
		g->back[i] = j;
		g->of[j] = i;
		ret = match(g, at + 1);
		g->back[i] = g->of[j] = 0;
	}
	return ret;
}

/* Match the shared variables.  Return: false if they differ. */
static bool agree(struct glue *g)
{
	const struct kl_vf_state *v = g->v, *w = g->w;
	unsigned int i, j;

	for (i = 0; i < g->x->m.ng; i++) {
		const uint8_t a = v->g[i], b = w->g[i];

		if (is_held(a) || is_held(b)) {
			if ((a == VF_OWN && b == VF_OWN) ||
			    (g->x->others && !(is_held(a) && is_held(b))))
				return false;
			continue;
		}
		if (a != b)
			return false;
		if (!kl_vf_names(a))
			continue;
		if (!fits(g->x, v->kind[a & 31], w->kind[a & 31]))
			return false;
		g->of[a & 31] = g->back[a & 31] = a & 31;
	}
	for (i = 1; i < v->nn && g->x->m.keyed; i++) {
		if (g->back[i] || !unique(g->x, v->kind[i]))
			continue;
		for (j = 1; j < w->nn; j++)
			if (unique(g->x, w->kind[j]) && !g->of[j] &&
			    fits(g->x, v->kind[i], w->kind[j]))
				break;
		if (j == w->nn)
			return false;
		g->back[i] = j;
		g->of[j] = i;
	}
	for (j = 1; j < w->nn; j++) {
		if (g->of[j] || w->kind[j] & KF_SUM)
			continue;
		if (g->x->m.keyed && unique(g->x, w->kind[j]))
			return false;
		if (w->kind[j] & KF_ESC)
			g->rest[g->nrest++] = j;
	}
	return true;
}

/* Forget the second thread, which has made its step. */
static int forget(struct kl_verifier *x, struct kl_vf_run *r)
{
	if (!r->wrote)
		return 0;
	kl_vf_only(x, &r->s, 0);
	return x->keep(x, r);
}

int kl_vf_glue(struct kl_verifier *x, uint32_t v, uint32_t w)
{
	struct glue *g = calloc(1, sizeof(*g));
	struct kl_vf_state sv, sw;
	int ret = -ENOMEM;

	if (!g)
		return ret;
	kl_vf_unpack(x, v, &sv);
	kl_vf_unpack(x, w, &sw);
	g->x = x;
	g->v = &sv;
	g->w = &sw;
	x->parent = v;
	x->actor = w;
	x->emit = forget;
	x->deaf = true;
	x->full = false;
	ret = agree(g) ? match(g, 0) : 0;
	x->deaf = false;
	x->emit = x->keep;
	if (!ret && (g->err || x->full)) {
		snprintf(x->message, sizeof(x->message),
			 "two threads' views have too many nodes that must be distinguished");
		x->alarm = true;
		x->last = v;
		x->bad = sv;
	}
	free(g);
	return ret;
}
