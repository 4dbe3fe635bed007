// SPDX-License-Identifier: GPL-2.0
/* The first state: `init' has run, and the reference begins in the corresponding state. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "verify/model.h"

static enum kl_vf_end run_init(struct kl_verifier *x, struct kl_vf_run *r)
{
	const uint32_t *code = x->m.code + x->m.im->init_code;
	enum kl_vf_end e;

	while ((code[r->s.th[0].pc] & 0xff) != KL_I_STOP) {
		if (++r->steps > KL_VF_STEPS)
			return kl_vf_alarm(x, r, "'init' does not end");
		e = kl_vf_insn(x, r, code);
		if (e == VF_NONE || x->nstack)
			return kl_vf_alarm(x, r, "'init' is not deterministic");
		if (e != VF_STEPPED)
			return e;
	}
	return VF_STEPPED;
}

/* If the implementation begins with a dummy node, pair it with the reference's dummy node. */
static void pair_dummies(struct kl_verifier *x, struct kl_vf_state *s)
{
	unsigned int i, k, node = 0;

	for (i = 0; i < x->m.spec->nconts && !x->m.keyed; i++) {
		if (!x->m.is_queue[i])
			continue;
		for (k = node + 1; k < s->nn && s->succ[k] != kl_vf_bit(VF_NULL); k++)
			;
		if (k < s->nn && s->kind[k] & KF_CAND) {
			node = k;
			s->kind[k] |= KF_REF | KF_UNIF;
		} else {
			k = kl_vf_new(s, KF_REF | KF_ESC);
		}
		s->g[x->m.cont[i]] = s->g[x->m.cont[i] + 1] = k;
	}
}

int kl_vf_first(struct kl_verifier *x, struct kl_vf_state *s)
{
	const struct kl_impl *im = x->m.im;
	struct kl_vf_run *r;
	const char *why = NULL;
	unsigned int i, k;
	enum kl_vf_end e;

	memset(s, 0, sizeof(*s));
	s->nn = 1;
	s->nt = x->nt;
	for (i = 0; i < im->nvars; i++)
		for (k = 0; k < im->vars[i].len; k++)
			s->g[im->vars[i].slot + k] = kl_vf_const(&x->m, im->vars[i].init);
	for (i = 0; i < x->m.spec->nvars; i++) {
		const struct kl_var *v = &x->m.spec->vars[i];

		for (k = 0; k < v->len && !v->cont; k++)
			s->g[x->m.scalar + v->slot + k] = kl_vf_const(&x->m, v->init);
	}
	x->nstack = 0;
	r = calloc(1, sizeof(*r));
	if (!r || kl_grow(x->stack, x->cstack, KL_VF_FORKS)) {
		free(r);
		return -ENOMEM;
	}
	kl_vf_copy(&r->s, s);
	r->method = -1;
	x->init = true;
	r->s.th[0].method = -1;
	e = im->init_code ? run_init(x, r) : VF_STEPPED;
	kl_vf_copy(s, &r->s);
	memset(s->th, 0, sizeof(s->th));
	for (i = 0; i < s->nt; i++)
		s->th[i].method = -1;
	if (e == VF_STEPPED && x->m.keyed)
		why = kl_vf_chain_init(x, s);
	if (e == VF_STEPPED && why)
		e = kl_vf_alarm(x, r, "%s", why);
	x->init = false;
	free(r);
	if (e != VF_STEPPED) {
		x->alarm = true;
		kl_vf_copy(&x->bad, s);
		return 0;
	}
	pair_dummies(x, s);
	for (i = 0; i < KL_VF_GLOBALS; i++)
		if (kl_vf_is_ptr(s->g[i]))
			kl_vf_escape(s, s->g[i]);
	return 0;
}
