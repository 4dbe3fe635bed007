// SPDX-License-Identifier: GPL-2.0
/*
 * Gives new names to the nodes of a state.  A node has a name if a variable points to it, or a
 * thread holds its lock.  These nodes are numbered in the order of the variables.  All other
 * reachable nodes become one summary for each kind, in the order of kinds.
 */
#include "verify/model.h"

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

uint32_t kl_vf_map_set(uint32_t set, const uint8_t *map)
{
	uint32_t out = set & 1;

	for (set &= ~1u; set; set &= set - 1)
		out |= kl_vf_bit(map[__builtin_ctz(set)]);
	return out;
}

struct names {
	uint8_t map[KL_VF_NODES];	/* new number of each individual, or 0 */
	unsigned int n;
};

static void name(struct names *m, uint8_t v)
{
	const unsigned int i = kl_vf_names(v);

	if (i && !m->map[i])
		m->map[i] = m->n++;
}

/* Name the nodes whose locks a thread holds; summaries have no such nodes. */
static void name_locked(const struct kl_vf_state *s, unsigned int t, struct names *m)
{
	unsigned int i;

	for (i = 1; i < s->nn; i++)
		if (kf_lock(s->kind[i]) == VF_OWN + t)
			name(m, i);
}

/* Name the nodes that are on the list at most once: its sentinels, and the observed key. */
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

	for (i = 1; i < s->nn; i++)
		if (m->map[i])
			todo |= kl_vf_bit(i);
	while (todo) {
		i = __builtin_ctz(todo);
		all |= kl_vf_bit(i);
		todo |= s->succ[i] | s->rsucc[i];
		todo &= ~all & ~1u;
	}
	return all;
}

/* In concrete mode, name the other nodes in the order in which pointers lead to them. */
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
	uint32_t succ, rsucc, of;	/* @of: its individuals */
};

/* Summarise nodes without names.  Return: the number of summaries. */
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

void kl_vf_form(const struct kl_verifier *x, const struct kl_vf_state *s, const uint8_t *order,
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
		name_locked(s, order[t], &m);
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
		out->succ[k] = kl_vf_map_set(s->succ[i], m.map);
		out->rsucc[k] = kl_vf_map_set(s->rsucc[i], m.map);
	}
	for (k = 0; k < nsum; k++) {
		out->kind[m.n + k] = sum[k].kind;
		out->succ[m.n + k] = kl_vf_map_set(sum[k].succ, m.map);
		out->rsucc[m.n + k] = kl_vf_map_set(sum[k].rsucc, m.map);
	}
}
