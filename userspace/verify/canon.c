// SPDX-License-Identifier: GPL-2.0
/*
 * The canonical form.  What a variable holds has a name: the individuals are
 * numbered in the order in which the variables name them; all others that can be
 * reached are united into one summary for each kind, in the order of the kinds.
 * States that differ in names only are then equal byte for byte.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "verify/model.h"

#define PERMS_MAX	720

/* Forget what is never looked at again. */
static void kill_dead(const struct kl_verifier *x, struct kl_vf_state *s)
{
	unsigned int t, i;

	for (t = 0; t < s->nt; t++) {
		struct kl_vf_thread *th = &s->th[t];
		uint64_t live;

		if (th->method < 0)
			continue;
		live = x->m.m[th->method].live[th->pc];
		for (i = 0; i < x->m.nregs; i++)
			if (!(live >> i & 1))
				th->reg[i] = VF_NULL;
		if ((th->lin & LIN_MASK) == LIN_EFFECT)
			th->corr = 0;
		if ((th->lin & LIN_MASK) == LIN_NONE)
			memset(th->ret, 0, sizeof(th->ret));
	}
}

static uint8_t map_value(uint8_t v, const uint8_t *map, const uint8_t *thread)
{
	if (v < 2 * KL_VF_NODES)
		return (v & ~(KL_VF_NODES - 1)) | map[v & (KL_VF_NODES - 1)];
	if (v >= VF_OWN && v < VF_OWN + KL_VF_THREADS)
		return VF_OWN + thread[v - VF_OWN];
	return v;
}

static uint64_t map_kind(uint64_t k, unsigned int nt, const uint8_t *thread)
{
	const uint8_t l = kf_lock(k);
	uint64_t seen = k & KF_SEEN_ALL;
	unsigned int t;

	if (l >= VF_OWN && l < VF_OWN + KL_VF_THREADS)
		k = kf_set_lock(k, VF_OWN + thread[l - VF_OWN]);
	if (!seen)
		return k;
	k &= ~KF_SEEN_ALL;
	for (t = 0; t < nt; t++)
		if (seen >> t & KF_SEEN)
			k |= (uint64_t)KF_SEEN << thread[t];
	return k;
}

static uint32_t map_set(uint32_t set, const uint8_t *map)
{
	uint32_t out = set & 1;

	for (set &= ~1u; set; set &= set - 1)
		out |= kl_vf_bit(map[__builtin_ctz(set)]);
	return out;
}

struct names {
	uint8_t map[KL_VF_NODES];	/* new number of each individual, 0: none yet */
	unsigned int n;
};

static void name(struct names *m, uint8_t v)
{
	const unsigned int i = kl_vf_names(v);

	if (i && !m->map[i])
		m->map[i] = m->n++;
}

/* What is on the list once only has a name without a variable: its end, the observed key. */
static void name_unique(const struct kl_verifier *x, const struct kl_vf_state *s, struct names *m)
{
	static const unsigned int classes[] = { KEY_MAX, KEY_SAME };
	unsigned int i, k;

	for (k = 0; k < 2 && x->m.keyed; k++)
		for (i = 1; i < s->nn; i++)
			if ((s->kind[i] & KF_IN) && kl_vf_node_key(x, s->kind[i]) == classes[k])
				name(m, i);
}

static uint32_t reachable(const struct kl_vf_state *s, const struct names *m)
{
	uint32_t all = 0, todo = 0;
	unsigned int i;

	/* Also what a thread holds the lock of: views tell from it who may hold a lock. */
	for (i = 1; i < s->nn; i++)
		if (m->map[i] || (kf_lock(s->kind[i]) >= VF_OWN && kf_lock(s->kind[i]) < VF_OTHER))
			todo |= kl_vf_bit(i);
	while (todo) {
		i = __builtin_ctz(todo);
		all |= kl_vf_bit(i);
		todo |= s->succ[i] | s->rsucc[i];
		todo &= ~all & ~1u;
	}
	return all;
}

/* The rest gets numbers in the order in which the pointers lead there: nothing is summarised. */
static void name_rest(const struct kl_vf_state *s, struct names *m)
{
	uint8_t order[KL_VF_NODES];
	unsigned int i, k;

	for (i = 1; i < s->nn; i++)
		if (m->map[i])
			order[m->map[i]] = i;
	for (k = 1; k < m->n; k++) {
		uint32_t next = (s->succ[order[k]] | s->rsucc[order[k]]) & ~1u;
		const uint32_t first = s->succ[order[k]] & ~1u;
		const uint32_t sets[2] = { first, next & ~first };
		unsigned int j;

		for (j = 0; j < 2; j++)
			for (next = sets[j]; next; next &= next - 1) {
				i = __builtin_ctz(next);
				if (m->map[i])
					continue;
				m->map[i] = m->n;
				order[m->n++] = i;
			}
	}
}

struct summary {
	uint64_t kind;
	uint32_t succ, rsucc, of;	/* of: the individuals in it */
};

/* Summarise what has no name; the summaries' number. */
static unsigned int summarise(const struct kl_vf_state *s, struct names *m, uint32_t all,
			      const uint8_t *thread, struct summary *sum)
{
	struct summary one;
	unsigned int i, k, n = 0;
	uint32_t set;

	for (set = all; set; set &= set - 1) {
		i = __builtin_ctz(set);
		if (m->map[i])
			continue;
		one.kind = map_kind(s->kind[i] | KF_SUM, s->nt, thread);
		for (k = 0; k < n && sum[k].kind != one.kind; k++)
			;
		if (k == n)
			sum[n++] = (struct summary){ .kind = one.kind };
		sum[k].of |= kl_vf_bit(i);
		sum[k].succ |= s->succ[i];
		sum[k].rsucc |= s->rsucc[i];
	}
	for (i = 1; i < n; i++) {
		one = sum[i];
		for (k = i; k && sum[k - 1].kind > one.kind; k--)
			sum[k] = sum[k - 1];
		sum[k] = one;
	}
	for (k = 0; k < n; k++)
		for (set = sum[k].of; set; set &= set - 1)
			m->map[__builtin_ctz(set)] = m->n + k;
	return n;
}

/* One form: thread order[t] becomes thread t. */
static void form(const struct kl_verifier *x, const struct kl_vf_state *s, const uint8_t *order,
		 struct kl_vf_state *out)
{
	struct summary sum[KL_VF_NODES];
	uint8_t thread[KL_VF_THREADS] = { 0 };
	struct names m = { .n = 1 };
	unsigned int i, k, t, nsum = 0;
	uint32_t all;

	for (t = 0; t < s->nt; t++)
		thread[order[t]] = t;
	for (i = 0; i < x->m.ng; i++)
		name(&m, s->g[i]);
	for (t = 0; t < s->nt; t++) {
		const struct kl_vf_thread *th = &s->th[order[t]];

		if (th->method < 0)
			continue;
		name(&m, th->corr);
		for (i = 0; i < KL_VF_RESULTS; i++)
			name(&m, th->ret[i]);
		for (i = 0; i < x->m.nregs; i++)
			name(&m, th->reg[i]);
	}
	name_unique(x, s, &m);
	if (x->concrete) {
		name_rest(s, &m);
	} else {
		all = reachable(s, &m);
		nsum = summarise(s, &m, all, thread, sum);
	}
	out->nn = m.n + nsum;
	out->nt = s->nt;
	for (i = 0; i < x->m.ng; i++)
		out->g[i] = map_value(s->g[i], m.map, thread);
	for (t = 0; t < s->nt; t++) {
		const struct kl_vf_thread *th = &s->th[order[t]];
		struct kl_vf_thread *to = &out->th[t];

		memcpy(to, th, offsetof(struct kl_vf_thread, reg));
		if (th->method < 0)
			continue;
		to->corr = m.map[th->corr];
		for (i = 0; i < KL_VF_RESULTS; i++)
			to->ret[i] = map_value(th->ret[i], m.map, thread);
		for (i = 0; i < x->m.nregs; i++)
			to->reg[i] = map_value(th->reg[i], m.map, thread);
	}
	for (i = 1; i < s->nn; i++) {
		k = m.map[i];
		if (!k || k >= m.n)
			continue;
		out->kind[k] = map_kind(s->kind[i], s->nt, thread);
		out->succ[k] = map_set(s->succ[i], m.map);
		out->rsucc[k] = map_set(s->rsucc[i], m.map);
	}
	for (k = 0; k < nsum; k++) {
		out->kind[m.n + k] = sum[k].kind;
		out->succ[m.n + k] = map_set(sum[k].succ, m.map);
		out->rsucc[m.n + k] = map_set(sum[k].rsucc, m.map);
	}
}

/* All of a state; the length of what tells it from others comes back. */
static unsigned int pack(struct kl_verifier *x, const struct kl_vf_state *s, uint8_t *key,
			 unsigned int *len, uint32_t *edges, unsigned int *nedges)
{
	uint8_t *p = key, *core = NULL;
	unsigned int i, t, n = 0;
	uint64_t live;

	*p++ = s->nn;
	memcpy(p, s->g, x->m.ng);
	p += x->m.ng;
	for (t = 0; t < s->nt; t++) {
		const struct kl_vf_thread *th = &s->th[t];

		*p++ = th->method;
		if (x->concrete)
			*p++ = th->ops;
		if (th->method < 0)
			continue;
		*p++ = th->pc;
		*p++ = th->pc >> 8;
		*p++ = th->lin;
		*p++ = th->corr;
		*p++ = th->key;
		*p++ = th->seen;
		*p++ = th->bits;
		for (i = 0; i < x->m.m[th->method].nresults; i++)
			*p++ = th->ret[i];
		for (live = x->m.m[th->method].live[th->pc]; live; live &= live - 1)
			*p++ = th->reg[__builtin_ctzll(live)];
	}
	for (i = 1; i < s->nn; i++) {
		if (x->coarse && s->kind[i] & KF_SUM && !core)
			core = p;
		memcpy(p, &s->kind[i], 8);
		p += 8;
		if (s->kind[i] & KF_CAND)
			edges[n++] = s->succ[i];
		if (kf_has_rsucc(s->kind[i]))
			edges[n++] = s->rsucc[i];
	}
	/* Concrete states are never joined. */
	if (x->concrete) {
		memcpy(p, edges, 4 * n);
		p += 4 * n;
		n = 0;
	}
	*len = p - key;
	*nedges = n;
	return core ? core - key : *len;
}

void kl_vf_unpack(const struct kl_verifier *x, uint32_t at, struct kl_vf_state *s)
{
	const struct kl_vf_entry *e = &x->store.e[at];
	const uint8_t *p = x->store.bytes + e->at, *edges = p + e->len;
	unsigned int i, t;
	uint64_t live;

	s->nn = *p++;
	s->nt = x->nt;
	memcpy(s->g, p, x->m.ng);
	memset(s->g + x->m.ng, 0, sizeof(s->g) - x->m.ng);
	p += x->m.ng;
	memset(s->th, 0, s->nt * sizeof(*s->th));
	for (t = 0; t < s->nt; t++) {
		struct kl_vf_thread *th = &s->th[t];

		th->method = *p++;
		if (x->concrete)
			th->ops = *p++;
		if (th->method < 0)
			continue;
		th->pc = p[0] | p[1] << 8;
		th->lin = p[2];
		th->corr = p[3];
		th->key = p[4];
		th->seen = p[5];
		th->bits = p[6];
		p += 7;
		for (i = 0; i < x->m.m[th->method].nresults; i++)
			th->ret[i] = *p++;
		for (live = x->m.m[th->method].live[th->pc]; live; live &= live - 1)
			th->reg[__builtin_ctzll(live)] = *p++;
	}
	if (x->concrete)
		edges = p + 8 * (s->nn - 1);
	for (i = 1; i < s->nn; i++) {
		memcpy(&s->kind[i], p, 8);
		p += 8;
		s->succ[i] = s->rsucc[i] = 0;
		if (s->kind[i] & KF_CAND) {
			memcpy(&s->succ[i], edges, 4);
			edges += 4;
		}
		if (kf_has_rsucc(s->kind[i])) {
			memcpy(&s->rsucc[i], edges, 4);
			edges += 4;
		}
	}
	s->succ[0] = s->rsucc[0] = 0;
	s->kind[0] = 0;
}

/* What a thread is, whatever the names are. */
static uint64_t signature(const struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t)
{
	const struct kl_vf_thread *th = &s->th[t];
	const unsigned int n = x->m.nregs + KL_VF_RESULTS + 1;
	uint8_t v[KL_VF_REGS + KL_VF_RESULTS + 1];
	unsigned int i, j, k;
	uint64_t h;

	if (th->method < 0)
		return UINT64_MAX - th->ops;
	v[0] = th->corr;
	memcpy(v + 1, th->ret, KL_VF_RESULTS);
	memcpy(v + 1 + KL_VF_RESULTS, th->reg, x->m.nregs);
	h = kl_mix(th->pc, (uint64_t)th->method << 40 | (uint64_t)th->lin << 32 |
		   (uint64_t)th->key << 24 | (uint64_t)th->seen << 16 | (uint64_t)th->bits << 8 |
		   th->ops);
	for (i = 0; i < n; i++) {
		uint64_t w = v[i];

		k = kl_vf_names(v[i]);
		if (k) {
			for (j = 0; j < i && kl_vf_names(v[j]) != k; j++)
				;
			w = (v[i] & ~(KL_VF_NODES - 1)) + 256 * (j + 1);
			if (j == i) {
				for (j = 0; j < x->m.ng && kl_vf_names(s->g[j]) != k; j++)
					;
				w += (j + 1) << 16;
				h = kl_mix(h, kf_set_lock(s->kind[k], kf_lock(s->kind[k]) ==
							  VF_OWN + t) & ~KF_SEEN_ALL);
			}
		}
		h = kl_mix(h, w);
	}
	for (j = 0; j < x->m.nslots; j++)
		if (s->g[j] == VF_OWN + t)
			h = kl_mix(h, j + 1);
	return h >> 1;
}

struct best {
	struct kl_verifier *x;
	const struct kl_vf_state *s;
	struct kl_vf_state *out;
	uint64_t sig[KL_VF_THREADS];
	uint8_t order[KL_VF_THREADS];
	unsigned int tried;
};

static void try_form(struct best *b)
{
	struct kl_vf_store *st = &b->x->store;
	struct kl_vf_state f;
	uint8_t key[KL_VF_KEY_MAX];
	uint32_t edges[KL_VF_EDGES_MAX];
	unsigned int len, core, nedges;
	int d;

	if (!b->tried++) {
		form(b->x, b->s, b->order, b->out);
		st->core = pack(b->x, b->out, st->key, &st->len, st->edges, &st->nedges);
		return;
	}
	form(b->x, b->s, b->order, &f);
	core = pack(b->x, &f, key, &len, edges, &nedges);
	d = len == st->len ? memcmp(key, st->key, len) : (int)len - (int)st->len;
	if (d > 0)
		return;
	/* Of equal keys the edges decide, so that the form does not depend on the order. */
	if (!d && memcmp(edges, st->edges, 4 * nedges) >= 0)
		return;
	kl_vf_copy(b->out, &f);
	memcpy(st->key, key, len);
	memcpy(st->edges, edges, 4 * nedges);
	st->len = len;
	st->core = core;
	st->nedges = nedges;
}

/* All orders of the threads from @from on that look the same. */
static void permute(struct best *b, unsigned int from)
{
	unsigned int i, nt = b->s->nt;
	uint8_t t;

	if (from == nt) {
		if (b->tried < PERMS_MAX)
			try_form(b);
		return;
	}
	for (i = from; i < nt; i++) {
		const uint8_t p = b->order[from], q = b->order[i];

		if (b->sig[p] != b->sig[q] || b->x->role[p] != b->x->role[q] ||
		    (i > from && b->s->th[p].method < 0))
			break;
		t = b->order[from];
		b->order[from] = b->order[i];
		b->order[i] = t;
		permute(b, from + 1);
		t = b->order[from];
		b->order[from] = b->order[i];
		b->order[i] = t;
	}
}

void kl_vf_canon(struct kl_verifier *x, struct kl_vf_state *s, struct kl_vf_state *out)
{
	struct best b = { .x = x, .s = s, .out = out };
	unsigned int i, k, t;

	kill_dead(x, s);
	if (x->m.keyed && x->m.root >= 0)
		kl_vf_chain_filter(x, s);
	for (t = 0; t < s->nt; t++)
		b.order[t] = t;
	if (x->o.no_symmetry || s->nt == 1) {
		try_form(&b);
		return;
	}
	for (t = 0; t < s->nt; t++)
		b.sig[t] = signature(x, s, t);
	/* Threads of one role are next to each other: sorted among themselves. */
	for (i = 1; i < s->nt; i++)
		for (k = i; k && x->role[k - 1] == x->role[k] &&
		     b.sig[b.order[k - 1]] > b.sig[b.order[k]]; k--) {
			t = b.order[k];
			b.order[k] = b.order[k - 1];
			b.order[k - 1] = t;
		}
	permute(&b, 0);
}

void kl_vf_ordered(struct kl_verifier *x, const struct kl_vf_state *s, const uint8_t *order,
		   struct kl_vf_state *out)
{
	struct kl_vf_store *st = &x->store;

	form(x, s, order, out);
	st->core = pack(x, out, st->key, &st->len, st->edges, &st->nedges);
}

/* Sort the summaries, which are the individuals from @n on, by their kinds. */
static void sort_summaries(struct kl_vf_state *s, unsigned int n)
{
	uint8_t map[KL_VF_NODES], order[KL_VF_NODES];
	struct kl_vf_state old;
	unsigned int i, k;

	kl_vf_copy(&old, s);
	for (i = 0; i < s->nn; i++)
		order[i] = i;
	for (i = n + 1; i < s->nn; i++)
		for (k = i; k > n && old.kind[order[k - 1]] > old.kind[order[k]]; k--) {
			const uint8_t t = order[k];

			order[k] = order[k - 1];
			order[k - 1] = t;
		}
	for (i = 0; i < s->nn; i++)
		map[order[i]] = i;
	for (i = 1; i < s->nn; i++) {
		s->kind[i] = old.kind[order[i]];
		s->succ[i] = map_set(old.succ[order[i]], map);
		s->rsucc[i] = map_set(old.rsucc[order[i]], map);
	}
}

/* Unite @s with entry @at, which differs from it in the summaries and in edges only. */
static int unite(struct kl_verifier *x, const struct kl_vf_state *s, uint32_t at)
{
	uint8_t map[KL_VF_NODES] = { 0 };
	struct kl_vf_store *st = &x->store;
	struct kl_vf_state u;
	unsigned int i, k, n = 1;
	bool grown = false;

	kl_vf_unpack(x, at, &u);
	while (n < s->nn && !(s->kind[n] & KF_SUM))
		n++;
	for (i = 1; i < s->nn; i++) {
		for (k = i < n ? i : n; k < u.nn && i >= n && u.kind[k] != s->kind[i]; k++)
			;
		if (k == KL_VF_NODES)
			return -E2BIG;
		if (k == u.nn) {
			u.kind[k] = s->kind[i];
			u.succ[k] = u.rsucc[k] = 0;
			u.nn++;
			grown = true;
		}
		map[i] = k;
	}
	for (i = 1; i < s->nn; i++) {
		const uint32_t succ = map_set(s->succ[i], map), rsucc = map_set(s->rsucc[i], map);

		grown |= (succ & ~u.succ[map[i]]) || (rsucc & ~u.rsucc[map[i]]);
		u.succ[map[i]] |= succ;
		u.rsucc[map[i]] |= rsucc;
	}
	if (!grown)
		return 0;
	sort_summaries(&u, n);
	st->core = pack(x, &u, st->key, &st->len, st->edges, &st->nedges);
	return kl_vf_store_replace(st, at);
}

int64_t kl_vf_add(struct kl_verifier *x, const struct kl_vf_state *s)
{
	int64_t at = x->coarse ? kl_vf_store_find(&x->store) : -1;
	int ret;

	if (at < 0)
		return kl_vf_store_add(&x->store, x->parent, x->actor);
	ret = unite(x, s, at);
	if (ret != -E2BIG)
		return ret ? ret : at;
	/* A finer search may do without. */
	snprintf(x->message, sizeof(x->message), "there are more kinds of nodes than there is room "
		 "for");
	x->alarm = true;
	x->last = x->parent;
	kl_vf_copy(&x->bad, s);
	return at;
}

void kl_vf_abstract_keys(const struct kl_verifier *x, struct kl_vf_state *s)
{
	unsigned int i, f, t;

	for (i = 0; i < KL_FIELDS_MAX; i++) {
		f = x->m.field[i];
		if (!x->m.key_field[i])
			continue;
		for (t = 1; t < s->nn; t++)
			if (kf_field(s->kind[t], f) > VF_RANK && kf_field(s->kind[t], f) < VF_OWN)
				s->kind[t] = kf_set_field(s->kind[t], f, VF_KEY +
					kl_vf_class(x, kf_field(s->kind[t], f)));
	}
	for (t = 0; t < s->nt; t++) {
		struct kl_vf_thread *th = &s->th[t];

		if (th->key > VF_RANK && th->key < VF_OWN)
			th->key = VF_KEY + kl_vf_class(x, th->key);
		for (i = 0; i < x->m.nregs; i++)
			if (th->reg[i] > VF_RANK && th->reg[i] < VF_OWN)
				th->reg[i] = VF_KEY + kl_vf_class(x, th->reg[i]);
	}
}
