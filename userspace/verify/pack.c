// SPDX-License-Identifier: GPL-2.0
/* States as bytes. */
#include "verify/model.h"

unsigned int kl_vf_pack(const struct kl_verifier *x, const struct kl_vf_state *s, uint8_t *key,
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
		for (live = kl_vf_live(x, th); live; live &= live - 1)
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
	/* Concrete states are never joined, so their edges are part of the key. */
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
		for (live = kl_vf_live(x, th); live; live &= live - 1)
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
