// SPDX-License-Identifier: GPL-2.0
/*
 * The reference: the specification's method, run in one step on lists of its own.  A stack is a
 * list from its top, a queue a list with a dummy node in front, and a set a bit: whether it has
 * the observed key.
 */
#include <stdlib.h>

#include "verify/model.h"

#define REF_STEPS	10000	/* maximal number of instructions of a step with the reference */

void kl_vf_ref_start(struct kl_verifier *x, struct kl_vf_run *r)
{
	const struct kl_vf_thread *th = &r->s.th[r->t];
	const struct kl_vf_method *m = &x->m.m[th->method];
	unsigned int i;

	r->ref = true;
	r->rmethod = th->method;
	r->rpc = r->rwrote = 0;
	r->nalts = 0;
	memset(r->rreg, 0, sizeof(r->rreg));
	for (i = 0; i < m->nparams; i++)
		r->rreg[i] = m->key == (int)i ? th->key :
			     m->bools >> i & 1 ? kl_vf_const(&x->m, kl_word(th->bits >> i & 1)) :
			     VF_ARG + i;
}

/*
 * The current alternative is impossible: go back to the last choice, for its next alternative.
 * Return: false if there is no choice, or the reference has changed its state since.
 */
static bool fall_back(struct kl_vf_run *r)
{
	while (r->nalts) {
		struct kl_vf_alt *a = &r->alt[r->nalts - 1];

		if (a->wrote != r->rwrote)
			return false;
		memcpy(r->rreg, a->reg, sizeof(r->rreg));
		r->rpc = a->pc;
		return true;
	}
	return false;
}

static unsigned int container(const struct kl_verifier *x, unsigned int index)
{
	return x->m.cont[index];
}

/* Make a node of the reference. */
static unsigned int new_node(struct kl_verifier *x, struct kl_vf_run *r, uint8_t data)
{
	struct kl_vf_state *s = &r->s;
	struct kl_vf_thread *th = &s->th[r->t];
	unsigned int i = th->corr;
	uint64_t *k;

	if (i && !(s->kind[i] & KF_REF)) {
		/* The new node is node i of the implementation, which this operation made. */
		kl_vf_escape(s, i);
		k = &s->kind[i];
		*k |= KF_REF;
		s->rsucc[i] = kl_vf_bit(VF_NULL);
		if (s->succ[i] == kl_vf_bit(VF_NULL)) {
			*k |= KF_UNIF;
			s->rsucc[i] = 0;
		}
	} else {
		i = kl_vf_new(s, KF_REF | KF_ESC);
		if (!i)
			return 0;
		k = &s->kind[i];
	}
	if (data >= VF_TOK && data < VF_CONST)
		data = VF_TOP;
	*k = kf_set(*k, 16, data);
	return i;
}

/* Return: the data of the reference's node @i. */
static uint8_t data_of(const struct kl_vf_state *s, unsigned int i)
{
	const uint8_t v = kf_rdata(s->kind[i]);

	return v == VF_ARG ? VF_TOK + i : v >= VF_ARG && v < VF_ARG + 8 ? VF_TOP : v;
}

/*
 * Make the next pointer of the node that this operation made in the implementation definite, if it
 * may be null or in @set.  The reference's node is going to point there, and it must be known
 * whether the two pointers agree.
 */
static enum kl_vf_end settle(struct kl_verifier *x, struct kl_vf_run *r, uint32_t set)
{
	const unsigned int i = r->s.th[r->t].corr;

	if (i && !(r->s.kind[i] & KF_REF) && r->s.succ[i] & (set | 1))
		return kl_vf_focus_or_end(x, r, i, false);
	return VF_STEPPED;
}

/* settle() for the queue's last node, which is going to point to the new node. */
static enum kl_vf_end settle_tail(struct kl_verifier *x, struct kl_vf_run *r, unsigned int tail)
{
	const unsigned int i = r->s.th[r->t].corr;
	const uint64_t k = r->s.kind[tail];

	if (i && !(r->s.kind[i] & KF_REF) && k & KF_CAND && r->s.succ[tail] & kl_vf_bit(i))
		return kl_vf_focus_or_end(x, r, tail, false);
	return VF_STEPPED;
}

static enum kl_vf_end stack_op(struct kl_verifier *x, struct kl_vf_run *r, unsigned int g,
			       enum kl_cont_op op, uint8_t *v)
{
	const uint8_t empty = kl_vf_const(&x->m, kl_special(KL_EMPTY));
	struct kl_vf_state *s = &r->s;
	unsigned int top = s->g[g], n;
	enum kl_vf_end end;

	switch (op) {
	case KL_CO_PUSH:
		end = settle(x, r, kl_vf_bit(top));
		if (end != VF_STEPPED)
			return end;
		n = new_node(x, r, *v);
		if (!n)
			return kl_vf_no_room(x, r);
		kl_vf_set_next(s, n, top, true);
		s->g[g] = n;
		r->rwrote++;
		return VF_STEPPED;
	case KL_CO_TOP:
		*v = top ? data_of(s, top) : empty;
		return VF_STEPPED;
	case KL_CO_POP:
		if (!top) {
			*v = empty;
			return VF_STEPPED;
		}
		end = kl_vf_focus_or_end(x, r, top, true);
		if (end != VF_STEPPED)
			return end;
		*v = data_of(s, top);
		s->g[g] = kl_vf_next(s, top, true);
		r->rwrote++;
		return VF_STEPPED;
	case KL_CO_CLEAR:
		if (top)
			r->rwrote++;
		s->g[g] = VF_NULL;
		return VF_STEPPED;
	default:
		return kl_vf_alarm(x, r, "the specification uses a method of a stack that klin "
					 "verify does not support");
	}
}

static enum kl_vf_end queue_op(struct kl_verifier *x, struct kl_vf_run *r, unsigned int g,
			       enum kl_cont_op op, uint8_t *v)
{
	struct kl_vf_state *s = &r->s;
	const unsigned int head = s->g[g], tail = s->g[g + 1];
	unsigned int n;
	enum kl_vf_end end;

	switch (op) {
	case KL_CO_PUSH:
		end = kl_vf_focus_or_end(x, r, tail, true);
		if (end == VF_STEPPED)
			end = settle(x, r, 0);
		if (end == VF_STEPPED)
			end = settle_tail(x, r, tail);
		if (end != VF_STEPPED)
			return end;
		n = new_node(x, r, *v);
		if (!n)
			return kl_vf_no_room(x, r);
		kl_vf_set_next(s, tail, n, true);
		s->g[g + 1] = n;
		r->rwrote++;
		return VF_STEPPED;
	case KL_CO_POP:
	case KL_CO_FRONT:
		end = kl_vf_focus_or_end(x, r, head, true);
		if (end != VF_STEPPED)
			return end;
		n = kl_vf_next(s, head, true);
		*v = n ? data_of(s, n) : kl_vf_const(&x->m, kl_special(KL_EMPTY));
		if (n && op == KL_CO_POP) {
			s->g[g] = n;
			r->rwrote++;
		}
		return VF_STEPPED;
	case KL_CO_CLEAR:
		if (head != tail)
			r->rwrote++;
		s->g[g] = tail;
		return VF_STEPPED;
	default:
		return kl_vf_alarm(x, r, "the specification uses a method of a queue that klin "
					 "verify does not support");
	}
}

static void set_bit(struct kl_verifier *x, struct kl_vf_run *r, unsigned int g, bool has)
{
	unsigned int t;

	r->s.g[g] = kl_vf_const(&x->m, kl_word(has));
	r->rwrote++;
	for (t = 0; t < r->s.nt; t++)
		if (r->s.th[t].seen)
			r->s.th[t].seen |= 1u << has;
}

static enum kl_vf_end set_op(struct kl_verifier *x, struct kl_vf_run *r, unsigned int g,
			     enum kl_cont_op op, uint8_t *v)
{
	const bool has = r->s.g[g] != VF_NULL;
	bool result = has;

	if (kl_vf_class(x, *v) != KEY_SAME)
		return kl_vf_alarm(x, r, "the specification uses a key other than its method's");
	if (op == KL_CO_ADD) {
		result = !has;
		if (!has)
			set_bit(x, r, g, true);
	} else if (op == KL_CO_REMOVE && has) {
		set_bit(x, r, g, false);
	}
	*v = kl_vf_const(&x->m, kl_word(result));
	return VF_STEPPED;
}

static enum kl_vf_end returns(struct kl_verifier *x, struct kl_vf_run *r, unsigned int n,
			      unsigned int first)
{
	struct kl_vf_thread *th = &r->s.th[r->t];

	memset(th->ret, 0, sizeof(th->ret));
	memcpy(th->ret, r->rreg + first, n);
	th->lin = (th->lin & LIN_OTHER) | (r->rwrote ? LIN_EFFECT : LIN_PURE);
	if (r->rwrote)
		r->wrote = true;
	r->ref = false;
	return VF_STEPPED;
}

/* Take an unknown condition both ways. */
static void set_unknown(struct kl_verifier *x, struct kl_vf_run *r, unsigned int a, uint16_t next)
{
	struct kl_vf_run *f = kl_vf_fork(x, r);

	f->rreg[a] = VF_NULL;
	f->rpc = next;
	r->rreg[a] = kl_vf_const(&x->m, kl_word(1));
}

enum kl_vf_end kl_vf_ref_step(struct kl_verifier *x, struct kl_vf_run *r)
{
	const struct kl_vf_method *m = &x->m.m[r->rmethod];
	const uint32_t insn = m->ref[r->rpc];
	const enum kl_opcode op = insn & 0xff;
	const unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff, c = insn >> 24;
	const unsigned int imm = insn >> 16;
	uint16_t next = r->rpc + 1;
	uint8_t *reg = r->rreg;
	enum kl_vf_end end = VF_STEPPED;
	struct kl_vf_alt *alt;
	struct kl_val p;
	int is;

	if (++r->steps > REF_STEPS)
		return kl_vf_alarm(x, r, "the specification's method may not end");
	switch (op) {
	case KL_I_MOV:
		reg[a] = reg[b];
		break;
	case KL_I_CONST:
		reg[a] = kl_vf_const(&x->m, x->m.spec->pool[imm]);
		break;
	case KL_I_LOAD:
		reg[a] = r->s.g[x->m.scalar + imm];
		break;
	case KL_I_STORE:
		r->s.g[x->m.scalar + imm] = kl_vf_names(reg[a]) || kl_vf_is_data(reg[a]) ? VF_TOP :
					    reg[a];
		r->rwrote++;
		break;
	case KL_I_LOADX:
	case KL_I_STOREX:
		next++;
		if (!kl_vf_const_of(&x->m, reg[b], &p) || p.v >= m->ref[r->rpc + 1] >> 16)
			return kl_vf_alarm(x, r, "an index in the specification is unknown");
		is = x->m.scalar + (m->ref[r->rpc + 1] & 0xffff) + p.v;
		if (op == KL_I_LOADX) {
			reg[a] = r->s.g[is];
			break;
		}
		r->s.g[is] = kl_vf_is_data(reg[a]) ? VF_TOP : reg[a];
		r->rwrote++;
		break;
	case KL_I_ADD ... KL_I_SHR:
	case KL_I_NEG:
	case KL_I_INV:
	case KL_I_LT ... KL_I_NEB:
	case KL_I_NOT:
		if (!kl_vf_compute(x, op, reg[b], reg[c], &reg[a]))
			set_unknown(x, r, a, next);
		break;
	case KL_I_JMP:
		next = imm;
		break;
	case KL_I_FORCE:
	case KL_I_JZ:
	case KL_I_JNZ:
	case KL_I_ASSUME:
	case KL_I_ASSERT:
		is = kl_vf_truth(x, reg[a]);
		if (is == 2) {
			set_unknown(x, r, a, r->rpc);
			return VF_STEPPED;
		}
		if (op == KL_I_JZ || op == KL_I_JNZ) {
			next = is == (op == KL_I_JNZ) ? imm : next;
		} else if (op == KL_I_ASSERT) {
			next++;
			if (!is)
				return kl_vf_alarm(x, r,
						"an assertion of the specification may fail");
		} else if (op == KL_I_ASSUME && !is) {
			if (!fall_back(r))
				return kl_vf_alarm(x, r,
						"the specification's '%s' cannot take place at the "
						"linearization point", m->name);
			return VF_STEPPED;
		}
		break;
	case KL_I_EITHER:
		alt = r->nalts ? &r->alt[r->nalts - 1] : NULL;
		if (!alt || alt->pc != r->rpc) {
			if (r->nalts == KL_VF_ALTS)
				return kl_vf_alarm(x, r, "choices of the specification are nested "
						   "too deeply");
			alt = &r->alt[r->nalts++];
			alt->pc = r->rpc;
			alt->next = 0;
			alt->wrote = r->rwrote;
			memcpy(alt->reg, reg, sizeof(alt->reg));
		}
		next = m->ref[r->rpc + 1 + alt->next++];
		/* This is the last alternative: if it fails, the choice before goes on. */
		if (alt->next == a)
			r->nalts--;
		break;
	case KL_I_BLOCK:
	case KL_I_FENCE:
		break;
	case KL_I_CONT:
		if (x->m.keyed)
			end = set_op(x, r, container(x, b), c, &reg[a]);
		else if (x->m.is_queue[b])
			end = queue_op(x, r, container(x, b), c, &reg[a]);
		else
			end = stack_op(x, r, container(x, b), c, &reg[a]);
		if (end != VF_STEPPED)
			return end;
		break;
	case KL_I_RETURN:
		return returns(x, r, a, b);
	default:
		return kl_vf_alarm(x, r, "the specification's '%s' chooses among all words, which "
					 "klin verify does not support", m->name);
	}
	r->rpc = next;
	return end;
}

bool kl_vf_hindsight(struct kl_verifier *x, const struct kl_vf_run *r, const uint8_t *results)
{
	const struct kl_vf_thread *th = &r->s.th[r->t];
	const size_t nstack = x->nstack;
	struct kl_vf_run *past = malloc(sizeof(*past));
	/* Unknown results cannot be compared. */
	const bool known = !memchr(results, VF_TOP, x->m.m[th->method].nresults);
	bool found = false;
	unsigned int has;
	enum kl_vf_end end;

	/* Without memory the answer is no, which is always sound. */
	for (has = 0; past && known && has < 2 && !found; has++) {
		if (!(th->seen >> has & 1))
			continue;
		*past = *r;
		past->s.g[x->m.cont[0]] = kl_vf_const(&x->m, kl_word(has));
		kl_vf_ref_start(x, past);
		do {
			end = kl_vf_ref_step(x, past);
		} while (end == VF_STEPPED && past->ref && x->nstack == nstack);
		found = end == VF_STEPPED && !past->ref && !past->rwrote &&
			!memcmp(past->s.th[r->t].ret, results, x->m.m[th->method].nresults);
		/* Drop forks: a result that depends on an unknown condition does not fit. */
		x->nstack = nstack;
	}
	free(past);
	return found;
}
