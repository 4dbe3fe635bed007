// SPDX-License-Identifier: GPL-2.0
/* Operations: their calls, linearization points and returns. */
#include "verify/model.h"

bool kl_vf_tracked(const struct kl_verifier *x, const struct kl_vf_thread *th)
{
	return !x->m.keyed || th->key == VF_KEY + KEY_SAME || th->key == VF_RANK + RANK_SAME;
}

void kl_vf_forget_seen(struct kl_vf_state *s, unsigned int t, bool now)
{
	unsigned int i;

	for (i = 1; i < s->nn; i++) {
		s->kind[i] &= ~((uint64_t)KF_SEEN << t);
		if (now && s->kind[i] & KF_IN)
			s->kind[i] |= (uint64_t)KF_SEEN << t;
	}
}

void kl_vf_begin(struct kl_verifier *x, struct kl_vf_run *r, unsigned int method, uint8_t key,
		  uint8_t bits)
{
	struct kl_vf_thread *th = &r->s.th[r->t];
	const struct kl_vf_method *m = &x->m.m[method];
	unsigned int i;

	th->pc = 0;
	th->method = method;
	th->lin = LIN_NONE;
	th->corr = 0;
	th->key = key;
	th->bits = bits;
	th->ops += x->concrete;
	memset(th->ret, 0, sizeof(th->ret));
	memset(th->reg, 0, x->m.nregs);
	for (i = 0; i < m->nparams; i++)
		th->reg[i] = m->key == (int)i ? key :
			     m->bools >> i & 1 ? kl_vf_const(&x->m, kl_word(bits >> i & 1)) :
			     VF_ARG + i;
	th->seen = m->other && x->m.keyed && kl_vf_tracked(x, th) ?
		   1u << (r->s.g[x->m.cont[0]] != VF_NULL) : 0;
}

static void end(struct kl_vf_run *r)
{
	struct kl_vf_thread *th = &r->s.th[r->t];
	const uint8_t ops = th->ops;

	memset(th, 0, sizeof(*th));
	th->method = -1;
	th->ops = ops;
	kl_vf_forget_seen(&r->s, r->t, false);
}

enum kl_vf_end kl_vf_returns(struct kl_verifier *x, struct kl_vf_run *r, unsigned int n,
			      unsigned int first)
{
	struct kl_vf_thread *th = &r->s.th[r->t];
	const unsigned int lin = th->lin & LIN_MASK;
	uint8_t result[KL_VF_RESULTS];
	unsigned int i;

	for (i = 1; i < r->s.nn && kf_lock(r->s.kind[i]) != VF_OWN + r->t; i++)
		;
	if (i < r->s.nn || kl_vf_held(x, r, 0))
		return kl_vf_alarm(x, r, "the method returns with a lock held");
	memcpy(result, th->reg + first, n);
	if (!kl_vf_tracked(x, th))
		goto out;
	for (i = 0; i < n; i++)
		if (lin == LIN_NONE || result[i] != th->ret[i] || result[i] == VF_TOP)
			break;
	if ((i < n || lin == LIN_NONE) &&
	    !(lin != LIN_EFFECT && th->lin & LIN_OTHER && kl_vf_hindsight(x, r, result))) {
		if (lin == LIN_NONE && !(th->lin & LIN_OTHER))
			return kl_vf_alarm(x, r, "the method returns before it has reached a "
					   "linearization point%s", x->m.m[th->method].lin ? "" :
					   "; write '@lin' after the step where it takes effect");
		if (i < n && (result[i] == VF_TOP || th->ret[i] == VF_TOP))
			return kl_vf_alarm(x, r, "the result may differ from the specification's: "
					   "it is data that came through a shared variable, or a "
					   "number without a bound");
		return kl_vf_alarm(x, r, "the result may differ from the specification's");
	}
out:
	end(r);
	return VF_STEPPED;
}

enum kl_vf_end kl_vf_linearize(struct kl_verifier *x, struct kl_vf_run *r, unsigned int kind)
{
	struct kl_vf_thread *th = &r->s.th[r->t];

	if (!kl_vf_tracked(x, th))
		return VF_STEPPED;
	if (kind & KL_LIN_OTHER) {
		th->lin |= LIN_OTHER;
		return VF_STEPPED;
	}
	if ((th->lin & LIN_MASK) == LIN_EFFECT)
		return kl_vf_alarm(x, r, "a second linearization point: the first one has taken "
				   "effect already");
	kl_vf_ref_start(x, r);
	return VF_STEPPED;
}
