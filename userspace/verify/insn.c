// SPDX-License-Identifier: GPL-2.0
/* The instructions of an implementation, on abstract states. */
#include "verify/model.h"

enum kl_vf_end kl_vf_no_room(struct kl_verifier *x, struct kl_vf_run *r)
{
	x->full = true;
	return kl_vf_alarm(x, r, "too many nodes must be distinguished");
}

enum kl_vf_end kl_vf_not_a_node(struct kl_verifier *x, struct kl_vf_run *r, uint8_t v)
{
	return kl_vf_alarm(x, r, v ? "access through a value that may not be a pointer" :
			   "access through a null pointer");
}

enum kl_vf_end kl_vf_focus_or_end(struct kl_verifier *x, struct kl_vf_run *r, unsigned int i,
				  bool ref)
{
	switch (kl_vf_focus(x, r, i, ref)) {
	case FOCUS_DONE:
		return VF_STEPPED;
	case FOCUS_NONE:
		return VF_NONE;
	default:
		return kl_vf_no_room(x, r);
	}
}

static enum kl_vf_end load_slot(struct kl_verifier *x, struct kl_vf_run *r, unsigned int a,
				unsigned int slot)
{
	struct kl_vf_thread *th = &r->s.th[r->t];

	th->reg[a] = r->s.g[slot];
	if (x->m.keyed && !x->init && (int)slot == x->m.root)
		kl_vf_forget_seen(&r->s, r->t, true);
	return VF_STEPPED;
}

/*
 * Other threads can reach @i from here on.  If an operation makes several nodes, the one that is
 * published corresponds to the specification's node.
 */
static void publish(const struct kl_verifier *x, struct kl_vf_run *r, unsigned int i)
{
	if (!x->m.keyed && !(r->s.kind[i] & KF_ESC))
		r->s.th[r->t].corr = i;
	kl_vf_escape(&r->s, i);
}

static enum kl_vf_end store_slot(struct kl_verifier *x, struct kl_vf_run *r, unsigned int slot,
				 uint8_t v)
{
	if (x->m.keyed && !x->init && (int)slot == x->m.root)
		return kl_vf_alarm(x, r, "the head of the list is written: klin verify needs a "
					 "set's list to begin with a sentinel node");
	if (kl_vf_is_ptr(v) && !x->init)
		publish(x, r, v);
	r->s.g[slot] = kl_vf_is_data(v) ? VF_TOP : v;
	r->wrote = true;
	return VF_STEPPED;
}

static enum kl_vf_end read_field(struct kl_verifier *x, struct kl_vf_run *r, unsigned int a,
				 uint8_t p, unsigned int field)
{
	struct kl_vf_thread *th = &r->s.th[r->t];
	enum kl_vf_end e;
	uint8_t v;

	if (!kl_vf_is_ptr(p))
		return kl_vf_not_a_node(x, r, p);
	if (x->m.field[field] == FIELD_NEXT) {
		e = kl_vf_focus_or_end(x, r, p, false);
		if (e == VF_STEPPED)
			th->reg[a] = kl_vf_next(&r->s, p, false);
		return e;
	}
	if (!(r->s.kind[p] & KF_CAND))
		return kl_vf_alarm(x, r, "access to a node that only the specification has");
	v = kf_field(r->s.kind[p], x->m.field[field]);
	th->reg[a] = v == VF_ARG ? VF_TOK + p : v > VF_ARG && v < VF_ARG + 8 ? VF_TOP : v;
	return VF_STEPPED;
}

static enum kl_vf_end write_next(struct kl_verifier *x, struct kl_vf_run *r, unsigned int p,
				 uint8_t v)
{
	struct kl_vf_state *s = &r->s;
	const char *why;
	enum kl_vf_end e;

	if (v && !kl_vf_is_ptr(v))
		return kl_vf_not_a_node(x, r, v);
	if (s->kind[p] & KF_IN || (s->kind[p] & KF_UNIF && s->succ[p] & kl_vf_bit(v))) {
		e = kl_vf_focus_or_end(x, r, p, false);
		if (e != VF_STEPPED)
			return e;
	} else if (kf_has_rsucc(s->kind[p]) && s->rsucc[p] & kl_vf_bit(v)) {
		/* The edge must be definite, to know whether the node becomes uniform. */
		e = kl_vf_focus_or_end(x, r, p, true);
		if (e != VF_STEPPED)
			return e;
	}
	if (x->m.keyed && !x->init) {
		why = kl_vf_chain_write(x, s, p, v);
		if (why)
			return kl_vf_alarm(x, r, "%s", why);
	}
	kl_vf_set_next(s, p, v, false);
	if (s->kind[p] & KF_ESC) {
		if (v)
			publish(x, r, v);
		r->wrote = true;
	}
	return VF_STEPPED;
}

static enum kl_vf_end write_field(struct kl_verifier *x, struct kl_vf_run *r, uint8_t p,
				  unsigned int field, uint8_t v)
{
	struct kl_vf_state *s = &r->s;
	const struct kl_vf_thread *th = &s->th[r->t];
	struct kl_val c;

	if (!kl_vf_is_ptr(p))
		return kl_vf_not_a_node(x, r, p);
	if (!(s->kind[p] & KF_CAND))
		return kl_vf_alarm(x, r, "access to a node that only the specification has");
	if (x->m.field[field] == FIELD_NEXT)
		return write_next(x, r, p, v);
	if (x->m.key_field[field]) {
		if (s->kind[p] & KF_WAS)
			return kl_vf_alarm(x, r,
					   "the key of a node changes after the node was on the "
					   "list");
		if (kl_vf_const_of(&x->m, v, &c))
			v = !c.tag && !c.v ? VF_KEY + KEY_MIN :
			    !c.tag && c.v == UINT64_MAX ? VF_KEY + KEY_MAX : VF_TOP;
	}
	/* Only the operation's argument, in a node that it made, is followed as data. */
	if (kl_vf_is_data(v) && (v < VF_ARG || (s->kind[p] & KF_ESC && th->corr != p)))
		v = VF_TOP;
	if (kl_vf_names(v))
		v = VF_TOP;
	s->kind[p] = kf_set_field(s->kind[p], x->m.field[field], v);
	r->wrote |= s->kind[p] & KF_ESC;
	return VF_STEPPED;
}

static enum kl_vf_end new_node(struct kl_verifier *x, struct kl_vf_run *r, unsigned int a)
{
	struct kl_vf_thread *th = &r->s.th[r->t];
	const unsigned int i = kl_vf_new(&r->s, KF_CAND);

	if (!i)
		return kl_vf_no_room(x, r);
	th->reg[a] = i;
	if (!x->m.keyed)
		th->corr = i;
	return VF_STEPPED;
}

/* Take an unknown condition both ways; this run goes on with true. */
static void set_unknown(struct kl_verifier *x, struct kl_vf_run *r, unsigned int a, uint16_t next)
{
	struct kl_vf_run *f = kl_vf_fork(x, r);

	f->resume = false;
	f->s.th[r->t].reg[a] = VF_NULL;
	f->s.th[r->t].pc = next;
	r->s.th[r->t].reg[a] = kl_vf_const(&x->m, kl_word(true));
}

static enum kl_vf_end choose(struct kl_verifier *x, struct kl_vf_run *r, uint32_t insn)
{
	const unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff, c = insn >> 24;
	uint8_t *reg = r->s.th[r->t].reg;
	struct kl_val lo, hi;
	uint64_t v;

	if (!kl_vf_const_of(&x->m, reg[b], &lo) || !kl_vf_const_of(&x->m, reg[c], &hi)) {
		reg[a] = VF_TOP;
		return VF_STEPPED;
	}
	if (lo.v > hi.v)
		return VF_NONE;
	if (hi.v - lo.v >= KL_VF_FORKS / 2) {
		reg[a] = VF_TOP;
		return VF_STEPPED;
	}
	for (v = lo.v + 1; v <= hi.v; v++) {
		struct kl_vf_run *f = kl_vf_fork(x, r);

		f->resume = false;
		f->s.th[r->t].reg[a] = kl_vf_const(&x->m, kl_word(v));
		f->s.th[r->t].pc++;
	}
	reg[a] = kl_vf_const(&x->m, lo);
	return VF_STEPPED;
}

static enum kl_vf_end jump(struct kl_verifier *x, struct kl_vf_run *r, unsigned int target,
			   uint16_t *next)
{
	/* A loop's second round is another step; otherwise a step might have no end. */
	if (target <= r->s.th[r->t].pc)
		r->jumps++;
	*next = target;
	return VF_STEPPED;
}

enum kl_vf_end kl_vf_insn(struct kl_verifier *x, struct kl_vf_run *r, const uint32_t *code)
{
	struct kl_vf_thread *th = &r->s.th[r->t];
	const uint32_t word = code[th->pc];
	const enum kl_opcode op = word & 0xff;
	const unsigned int a = word >> 8 & 0xff, b = word >> 16 & 0xff, c = word >> 24;
	const unsigned int imm = word >> 16;
	uint16_t next = th->pc + 1;
	uint8_t *reg = th->reg;
	enum kl_vf_end e = VF_STEPPED;
	struct kl_val v;
	unsigned int i;
	int is;

	switch (op) {
	case KL_I_MOV:
		reg[a] = reg[b];
		break;
	case KL_I_CONST:
		reg[a] = kl_vf_const(&x->m, x->m.spec->pool[imm]);
		break;
	case KL_I_LOAD:
		e = load_slot(x, r, a, imm);
		break;
	case KL_I_STORE:
		e = store_slot(x, r, imm, reg[a]);
		break;
	case KL_I_LOADX:
	case KL_I_STOREX:
		next++;
		if (!kl_vf_const_of(&x->m, reg[b], &v))
			return kl_vf_alarm(x, r, "an index is unknown");
		if (v.v >= code[th->pc + 1] >> 16)
			return kl_vf_alarm(x, r, "the index is out of bounds of its array");
		i = (code[th->pc + 1] & 0xffff) + v.v;
		e = op == KL_I_LOADX ? load_slot(x, r, a, i) : store_slot(x, r, i, reg[a]);
		break;
	case KL_I_READ:
		e = read_field(x, r, a, reg[b], c);
		break;
	case KL_I_WRITE:
		e = write_field(x, r, reg[b], c, reg[a]);
		break;
	case KL_I_NEW:
		e = new_node(x, r, a);
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
		e = jump(x, r, imm, &next);
		break;
	case KL_I_JZ:
	case KL_I_JNZ:
	case KL_I_ASSUME:
	case KL_I_ASSERT:
		is = kl_vf_truth(x, reg[a]);
		if (is == 2) {
			set_unknown(x, r, a, th->pc);
			return VF_STEPPED;
		}
		x->waits |= op == KL_I_ASSUME;
		if (op == KL_I_ASSUME && !is)
			return VF_NONE;
		if (op == KL_I_ASSERT && !is)
			return kl_vf_alarm(x, r, "the assertion may fail");
		if (op == KL_I_ASSERT)
			next++;
		if ((op == KL_I_JZ || op == KL_I_JNZ) && is == (op == KL_I_JNZ))
			e = jump(x, r, imm, &next);
		break;
	case KL_I_CHOOSE:
		e = choose(x, r, word);
		break;
	case KL_I_EITHER:
		if (a > KL_VF_FORKS / 2)
			return kl_vf_alarm(x, r, "too many alternatives for klin verify");
		for (i = 1; i < a; i++) {
			struct kl_vf_run *f = kl_vf_fork(x, r);

			f->resume = false;
			f->s.th[r->t].pc = code[th->pc + 1 + i];
		}
		next = code[th->pc + 1];
		break;
	case KL_I_BLOCK:
		r->block = 1;
		break;
	case KL_I_END:
		r->block = 0;
		break;
	case KL_I_FENCE:
		break;
	case KL_I_LOCK:
	case KL_I_UNLOCK:
		e = kl_vf_lock(x, r, word);
		break;
	case KL_I_LIN:
		is = b ? kl_vf_truth(x, reg[a]) : 1;
		if (is == 2) {
			set_unknown(x, r, a, th->pc);
			return VF_STEPPED;
		}
		if (is)
			e = kl_vf_linearize(x, r, c);
		break;
	case KL_I_RETURN:
		return kl_vf_returns(x, r, a, b);
	default:
		return kl_vf_alarm(x, r, "an instruction that klin verify does not support");
	}
	if (e == VF_STEPPED)
		th->pc = next;
	return e;
}
