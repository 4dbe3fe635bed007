// SPDX-License-Identifier: GPL-2.0
/* The heap of implementation and reference: focus, exact updates, escape. */
#include "base/mem.h"
#include "verify/model.h"

struct kl_vf_run *kl_vf_fork(struct kl_verifier *x, const struct kl_vf_run *r)
{
	struct kl_vf_run *f;

	/* Before each instruction, the stack has room for KL_VF_FORKS runs. */
	f = &x->stack[x->nstack++];
	memcpy(f, r, sizeof(*f));
	return f;
}

unsigned int kl_vf_new(struct kl_vf_state *s, uint64_t kind)
{
	const unsigned int i = s->nn;

	if (i == KL_VF_NODES)
		return 0;
	s->nn++;
	s->kind[i] = kind;
	s->succ[i] = kind & KF_CAND ? kl_vf_bit(VF_NULL) : 0;
	s->rsucc[i] = kf_has_rsucc(kind) ? kl_vf_bit(VF_NULL) : 0;
	return i;
}

/* Return: the edge set of @i in the implementation's heap, or with @ref in the reference's. */
static uint32_t *edges(struct kl_vf_state *s, unsigned int i, bool ref)
{
	return ref && kf_has_rsucc(s->kind[i]) ? &s->rsucc[i] : &s->succ[i];
}

/*
 * Make @v the only successor of @i.  If @v is a summary, one of its nodes gets a name and is the
 * successor.  Return: false if there is no room for another name.
 */
static bool choose(struct kl_vf_state *s, unsigned int i, bool ref, unsigned int v)
{
	unsigned int m, k;

	if (v && s->kind[v] & KF_SUM) {
		m = kl_vf_new(s, s->kind[v] & ~(uint64_t)KF_SUM);
		if (!m)
			return false;
		s->succ[m] = s->succ[v];
		s->rsucc[m] = s->rsucc[v];
		for (k = 1; k < s->nn; k++) {
			if (s->succ[k] & kl_vf_bit(v))
				s->succ[k] |= kl_vf_bit(m);
			if (s->rsucc[k] & kl_vf_bit(v))
				s->rsucc[k] |= kl_vf_bit(m);
		}
		v = m;
	}
	*edges(s, i, ref) = kl_vf_bit(v);
	return true;
}

int kl_vf_focus(struct kl_verifier *x, struct kl_vf_run *r, unsigned int i, bool ref)
{
	uint32_t set = *edges(&r->s, i, ref), rest;

	if (x->m.keyed)
		set = kl_vf_chain_coerce(x, &r->s, i, set);
	if (!set)
		return FOCUS_NONE;
	for (rest = set & (set - 1); rest; rest &= rest - 1)
		if (!choose(&kl_vf_fork(x, r)->s, i, ref, __builtin_ctz(rest)))
			return FOCUS_FULL;
	return choose(&r->s, i, ref, __builtin_ctz(set)) ? FOCUS_DONE : FOCUS_FULL;
}

unsigned int kl_vf_next(const struct kl_vf_state *s, unsigned int i, bool ref)
{
	return __builtin_ctz(ref && kf_has_rsucc(s->kind[i]) ? s->rsucc[i] : s->succ[i]);
}

void kl_vf_set_next(struct kl_vf_state *s, unsigned int i, unsigned int to, bool ref)
{
	const uint32_t set = kl_vf_bit(to);
	uint64_t *k = &s->kind[i];

	if (*k & KF_UNIF) {
		if (s->succ[i] == set)
			return;
		s->rsucc[i] = s->succ[i];
		*k &= ~(uint64_t)KF_UNIF;
	}
	if (ref)
		s->rsucc[i] = set;
	else
		s->succ[i] = set;
	if ((*k & KF_CAND) && (*k & KF_REF) && s->succ[i] == s->rsucc[i] &&
	    kl_vf_single(set) && (!to || !(s->kind[to] & KF_SUM))) {
		*k |= KF_UNIF;
		s->rsucc[i] = 0;
	}
}

void kl_vf_escape(struct kl_vf_state *s, unsigned int i)
{
	uint32_t todo = kl_vf_bit(i) & ~1u;
	unsigned int k;

	while (todo) {
		k = __builtin_ctz(todo);
		todo &= todo - 1;
		if (s->kind[k] & KF_ESC)
			continue;
		s->kind[k] |= KF_ESC;
		todo |= s->succ[k] & ~1u;
	}
}
