// SPDX-License-Identifier: GPL-2.0
/*
 * A thread's step from an abstract state, in all ways that it can go.
 *
 * A step has at most one access that does not commute with what other threads
 * do, and all that commutes around it.  What commutes: registers, nodes that
 * nobody else knows, fields that are never written once others know their node,
 * variables that only `init' writes, and places that are accessed under one lock
 * only.  Taking a lock commutes to the right, releasing one to the left (Lipton).  That a field or a place is such a
 * one is assumed until an access shows that it is not: then all begins anew.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "verify/model.h"

#define SELF_LOCK	(1ULL << 63)	/* of a lockset: the lock of the node itself */

enum vf_class { C_LOCAL, C_BOTH, C_RIGHT, C_LEFT, C_NONE };

enum kl_vf_end kl_vf_alarm(struct kl_verifier *x, struct kl_vf_run *r, const char *fmt, ...)
{
	const struct kl_vf_thread *th = &r->s.th[r->t];
	/* The reference runs when the code is past its linearization point. */
	const unsigned int pc = th->pc - (r->ref && th->pc);
	int n = 0;
	va_list ap;

	if (x->alarm || x->deaf)
		return VF_ALARM;
	if (th->method >= 0)
		n = snprintf(x->message, sizeof(x->message), "line %u, in '%s': ",
			     kl_vf_line(x, th->method, pc), x->m.m[th->method].name);
	va_start(ap, fmt);
	vsnprintf(x->message + n, sizeof(x->message) - n, fmt, ap);
	va_end(ap);
	return VF_ALARM;
}

static uint8_t bool_of(struct kl_verifier *x, bool b)
{
	return kl_vf_const(&x->m, kl_word(b));
}

/* ---- what commutes ------------------------------------------------------------------- */

static uint64_t held(const struct kl_verifier *x, const struct kl_vf_run *r, unsigned int node)
{
	uint64_t set = 0;
	unsigned int i;

	for (i = 0; i < x->m.nslots; i++)
		if (r->s.g[i] == VF_OWN + r->t)
			set |= 1ULL << i;
	if (node && kf_lock(r->s.kind[node]) == VF_OWN + r->t)
		set |= SELF_LOCK;
	return set;
}

/* An access to what locks may protect. */
static enum vf_class guarded(struct kl_verifier *x, const struct kl_vf_run *r, unsigned int place,
			     unsigned int node)
{
	uint64_t *prot = &x->m.prot[place];

	if (!*prot)
		return C_NONE;
	*prot &= held(x, r, node);
	if (*prot)
		return C_BOTH;
	x->restart = true;
	return C_NONE;
}

static enum vf_class field_class(struct kl_verifier *x, const struct kl_vf_run *r, uint8_t ptr,
				 unsigned int field, bool write)
{
	if (!kl_vf_is_ptr(ptr) || !(r->s.kind[ptr] & KF_ESC))
		return C_LOCAL;
	if (x->m.field[field] < KL_VF_FIELDS && !x->m.mutable[field]) {
		if (!write)
			return C_LOCAL;
		x->m.mutable[field] = x->restart = true;
	}
	return guarded(x, r, x->m.nslots + field, ptr);
}

static enum vf_class class_of(struct kl_verifier *x, const struct kl_vf_run *r, uint32_t insn)
{
	const struct kl_vf_thread *th = &r->s.th[r->t];
	const unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff, c = insn >> 24;
	struct kl_val v;

	switch ((enum kl_opcode)(insn & 0xff)) {
	case KL_I_LOAD:
		return x->m.written[insn >> 16] ? guarded(x, r, insn >> 16, 0) : C_LOCAL;
	case KL_I_STORE:
		if (!x->m.written[insn >> 16])
			x->m.written[insn >> 16] = x->restart = true;
		return guarded(x, r, insn >> 16, 0);
	case KL_I_LOADX:
	case KL_I_STOREX:
		return kl_vf_const_of(&x->m, th->reg[b], &v) && v.v < KL_IMPL_SLOTS ?
		       C_NONE : C_LOCAL;
	case KL_I_READ:
	case KL_I_WRITE:
		return field_class(x, r, th->reg[b], c, (insn & 0xff) == KL_I_WRITE);
	case KL_I_BLOCK:
		return C_NONE;
	case KL_I_LOCK:
	case KL_I_UNLOCK:
		if (a && kl_vf_is_ptr(th->reg[b]) && !(r->s.kind[th->reg[b]] & KF_ESC))
			return C_LOCAL;
		return (insn & 0xff) == KL_I_LOCK ? C_RIGHT : C_LEFT;
	case KL_I_LIN:
		return c & KL_LIN_ATTACHED ? C_LOCAL : C_NONE;
	default:
		return C_LOCAL;
	}
}

static bool accesses(uint32_t insn)
{
	switch ((enum kl_opcode)(insn & 0xff)) {
	case KL_I_READ:
	case KL_I_WRITE:
	case KL_I_NEW:
	case KL_I_LOCK:
	case KL_I_UNLOCK:
		return true;
	default:
		return false;
	}
}

/* Must the step end before this instruction? */
static bool stops(struct kl_verifier *x, struct kl_vf_run *r, uint32_t insn)
{
	const struct kl_vf_thread *th = &r->s.th[r->t];
	enum vf_class c;

	c = class_of(x, r, insn);
	if (!x->init && x->m.m[th->method].point[th->pc])
		c = C_NONE;
	if (r->block || (c == C_LOCAL && !(x->o.no_merge && accesses(insn))))
		return false;
	if (x->o.no_por || x->o.no_merge)
		c = C_NONE;
	if (r->commit && (c == C_NONE || c == C_RIGHT))
		return true;
	r->acted = true;
	r->commit |= c == C_NONE || c == C_LEFT;
	return false;
}

/* ---- operations ----------------------------------------------------------------------- */

static bool tracked(const struct kl_verifier *x, const struct kl_vf_thread *th)
{
	return !x->m.keyed || th->key == VF_KEY + KEY_SAME || th->key == VF_RANK + RANK_SAME;
}

static void forget_seen(struct kl_vf_state *s, unsigned int t, bool now)
{
	unsigned int i;

	for (i = 1; i < s->nn; i++) {
		s->kind[i] &= ~((uint64_t)KF_SEEN << t);
		if (now && s->kind[i] & KF_IN)
			s->kind[i] |= (uint64_t)KF_SEEN << t;
	}
}

static void begin(struct kl_verifier *x, struct kl_vf_run *r, unsigned int method, uint8_t key,
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
			     m->bools >> i & 1 ? bool_of(x, bits >> i & 1) : VF_ARG + i;
	th->seen = m->other && x->m.keyed && tracked(x, th) ?
		   1u << (r->s.g[x->m.cont[0]] != VF_NULL) : 0;
}

static void end(struct kl_vf_run *r)
{
	struct kl_vf_thread *th = &r->s.th[r->t];
	const uint8_t ops = th->ops;

	memset(th, 0, sizeof(*th));
	th->method = -1;
	th->ops = ops;
	forget_seen(&r->s, r->t, false);
}

static enum kl_vf_end returns(struct kl_verifier *x, struct kl_vf_run *r, unsigned int n,
			      unsigned int first)
{
	struct kl_vf_thread *th = &r->s.th[r->t];
	const unsigned int lin = th->lin & LIN_MASK;
	uint8_t result[KL_VF_RESULTS];
	unsigned int i;

	for (i = 1; i < r->s.nn && kf_lock(r->s.kind[i]) != VF_OWN + r->t; i++)
		;
	if (i < r->s.nn || held(x, r, 0))
		return kl_vf_alarm(x, r, "it returns with a lock held");
	memcpy(result, th->reg + first, n);
	if (!tracked(x, th))
		goto out;
	for (i = 0; i < n; i++)
		if (lin == LIN_NONE || result[i] != th->ret[i] || result[i] == VF_TOP)
			break;
	if ((i < n || lin == LIN_NONE) &&
	    !(lin != LIN_EFFECT && th->lin & LIN_OTHER && kl_vf_hindsight(x, r, result))) {
		if (lin == LIN_NONE && !(th->lin & LIN_OTHER))
			return kl_vf_alarm(x, r, "it returns without having come to a linearization "
					   "point");
		return kl_vf_alarm(x, r, "the result may differ from the specification's");
	}
out:
	end(r);
	return VF_STEPPED;
}

/* A linearization point; r->ref is set if the reference has to run. */
static enum kl_vf_end linearize(struct kl_verifier *x, struct kl_vf_run *r, unsigned int kind)
{
	struct kl_vf_thread *th = &r->s.th[r->t];

	if (!tracked(x, th))
		return VF_STEPPED;
	if (kind & KL_LIN_OTHER) {
		th->lin |= LIN_OTHER;
		return VF_STEPPED;
	}
	if ((th->lin & LIN_MASK) == LIN_EFFECT)
		return kl_vf_alarm(x, r, "a linearization point after one that took effect");
	kl_vf_ref_start(x, r);
	return VF_STEPPED;
}

/* ---- instructions ------------------------------------------------------------------------ */

enum kl_vf_end kl_vf_no_room(struct kl_verifier *x, struct kl_vf_run *r)
{
	x->full = true;
	return kl_vf_alarm(x, r, "more nodes must be told apart than there is room for");
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

static enum kl_vf_end not_a_node(struct kl_verifier *x, struct kl_vf_run *r, uint8_t v)
{
	return kl_vf_alarm(x, r, v ? "access through what may be no pointer" :
			   "access through a null pointer");
}

static enum kl_vf_end load_slot(struct kl_verifier *x, struct kl_vf_run *r, unsigned int a,
				unsigned int slot)
{
	struct kl_vf_thread *th = &r->s.th[r->t];

	th->reg[a] = r->s.g[slot];
	if (x->m.keyed && !x->init && (int)slot == x->m.root &&
	    (x->seen_all || (x->m.m[th->method].other && tracked(x, th))))
		forget_seen(&r->s, r->t, true);
	return VF_STEPPED;
}

static enum kl_vf_end store_slot(struct kl_verifier *x, struct kl_vf_run *r, unsigned int slot,
				 uint8_t v)
{
	if (x->m.keyed && !x->init && (int)slot == x->m.root)
		return kl_vf_alarm(x, r, "the list's head is written: klin verify takes sets in "
				   "lists that begin with a node of their own");
	if (kl_vf_is_ptr(v) && !x->init)
		kl_vf_escape(&r->s, v);
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
		return not_a_node(x, r, p);
	if (x->m.field[field] == FIELD_NEXT) {
		e = kl_vf_focus_or_end(x, r, p, false);
		if (e == VF_STEPPED)
			th->reg[a] = kl_vf_next(&r->s, p, false);
		return e;
	}
	if (!(r->s.kind[p] & KF_CAND))
		return kl_vf_alarm(x, r, "a node that is the specification's only");
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
		return not_a_node(x, r, v);
	if (s->kind[p] & KF_IN || (s->kind[p] & KF_UNIF && s->succ[p] & kl_vf_bit(v))) {
		e = kl_vf_focus_or_end(x, r, p, false);
		if (e != VF_STEPPED)
			return e;
	} else if (kf_has_rsucc(s->kind[p]) && s->rsucc[p] & kl_vf_bit(v)) {
		/* Whether it becomes uniform must be known. */
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
			kl_vf_escape(s, v);
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
		return not_a_node(x, r, p);
	if (!(s->kind[p] & KF_CAND))
		return kl_vf_alarm(x, r, "a node that is the specification's only");
	if (x->m.field[field] == FIELD_NEXT)
		return write_next(x, r, p, v);
	if (x->m.key_field[field]) {
		if (s->kind[p] & KF_WAS)
			return kl_vf_alarm(x, r, "the key of a node that was on the list changes");
		if (kl_vf_const_of(&x->m, v, &c))
			v = !c.tag && !c.v ? VF_KEY + KEY_MIN :
			    !c.tag && c.v == UINT64_MAX ? VF_KEY + KEY_MAX : VF_TOP;
	}
	/* The operation's argument in the node that it made; other data is not followed. */
	if (kl_vf_is_data(v) && (v < VF_ARG || th->corr != p))
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

static enum kl_vf_end lock(struct kl_verifier *x, struct kl_vf_run *r, uint32_t insn)
{
	struct kl_vf_state *s = &r->s;
	const unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff;
	const uint8_t own = VF_OWN + r->t;
	const bool take = (insn & 0xff) == KL_I_LOCK;
	uint8_t p = 0, v;

	if (a) {
		p = s->th[r->t].reg[b];
		if (!kl_vf_is_ptr(p))
			return not_a_node(x, r, p);
		v = kf_lock(s->kind[p]);
	} else {
		v = s->g[b];
	}
	if (!take && v != own)
		return kl_vf_alarm(x, r, "a lock is released that the thread does not hold");
	if (take && v)
		return VF_NONE;
	if (a)
		s->kind[p] = kf_set_lock(s->kind[p], take ? own : VF_NULL);
	else
		s->g[b] = take ? own : VF_NULL;
	r->wrote = true;
	return VF_STEPPED;
}

/* What is not known is taken both ways; this one is true. */
static void set_unknown(struct kl_verifier *x, struct kl_vf_run *r, unsigned int a, uint16_t next)
{
	struct kl_vf_run *f = kl_vf_fork(x, r);

	f->resume = false;
	f->s.th[r->t].reg[a] = VF_NULL;
	f->s.th[r->t].pc = next;
	r->s.th[r->t].reg[a] = bool_of(x, true);
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
	/* A loop's second round is another step, or it would have no end here. */
	if (target <= r->s.th[r->t].pc)
		r->jumps++;
	*next = target;
	return VF_STEPPED;
}

/* One instruction of the implementation. */
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
			return kl_vf_alarm(x, r, "an index is not known");
		if (v.v >= code[th->pc + 1] >> 16)
			return kl_vf_alarm(x, r, "an index outside of its array");
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
		reg[a] = kl_vf_arith(x, op, reg[b], reg[c]);
		break;
	case KL_I_NEG:
	case KL_I_INV:
		reg[a] = kl_vf_arith(x, op, reg[b], VF_NULL);
		break;
	case KL_I_LT ... KL_I_NEB:
		is = op == KL_I_LT || op == KL_I_LE ?
		     kl_vf_less(x, reg[b], reg[c], op == KL_I_LE) : kl_vf_equal(x, reg[b], reg[c]);
		if (is == 2)
			set_unknown(x, r, a, next);
		else
			reg[a] = bool_of(x, is == (op != KL_I_NE && op != KL_I_NEB));
		break;
	case KL_I_NOT:
		is = kl_vf_truth(x, reg[b]);
		if (is == 2)
			set_unknown(x, r, a, next);
		else
			reg[a] = bool_of(x, !is);
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
			return kl_vf_alarm(x, r, "more alternatives than klin verify follows");
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
		e = lock(x, r, word);
		break;
	case KL_I_LIN:
		is = b ? kl_vf_truth(x, reg[a]) : 1;
		if (is == 2) {
			set_unknown(x, r, a, th->pc);
			return VF_STEPPED;
		}
		if (is)
			e = linearize(x, r, c);
		break;
	case KL_I_RETURN:
		return returns(x, r, a, b);
	default:
		return kl_vf_alarm(x, r, "an instruction that klin verify does not know");
	}
	if (e == VF_STEPPED)
		th->pc = next;
	return e;
}

/* ---- steps -------------------------------------------------------------------------------- */

/* Run until the step ends. */
static enum kl_vf_end run(struct kl_verifier *x, struct kl_vf_run *r)
{
	struct kl_vf_thread *th = &r->s.th[r->t];
	const uint32_t *code = x->m.m[th->method].code;
	enum kl_vf_end e;
	bool first = true;

	for (;;) {
		if (kl_grow(x->stack, x->cstack, x->nstack + KL_VF_FORKS))
			return kl_vf_no_room(x, r);
		if (r->ref) {
			e = kl_vf_ref_step(x, r);
		} else {
			if (!first && r->jumps > 1 && r->acted && !r->block)
				return VF_STEPPED;
			if (!r->resume && stops(x, r, code[th->pc]))
				return VF_STEPPED;
			r->resume = true;
			if (++r->steps > KL_VF_STEPS)
				return kl_vf_alarm(x, r, "a loop without end that accesses no "
						   "memory");
			e = kl_vf_insn(x, r, code);
			r->resume = false;
		}
		first = false;
		x->steps++;
		if (e != VF_STEPPED || th->method < 0)
			return e;
	}
}

static int finish(struct kl_verifier *x, size_t base)
{
	struct kl_vf_run r;
	int ret = 0;

	while (x->nstack > base && !ret && !x->alarm) {
		memcpy(&r, &x->stack[--x->nstack], sizeof(r));
		switch (run(x, &r)) {
		case VF_STEPPED:
			ret = x->emit(x, &r);
			break;
		case VF_NONE:
			break;
		case VF_ALARM:
			/* What another thread does wrong is found when it is looked at itself. */
			if (x->deaf)
				break;
			x->alarm = true;
			memcpy(&x->bad, &r.s, sizeof(x->bad));
			break;
		}
	}
	x->nstack = base;
	return ret;
}

static int start(struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t,
		 struct kl_vf_run **r)
{
	if (kl_grow(x->stack, x->cstack, x->nstack + KL_VF_FORKS))
		return -ENOMEM;
	*r = &x->stack[x->nstack++];
	memset(*r, 0, offsetof(struct kl_vf_run, alt));
	kl_vf_copy(&(*r)->s, s);
	(*r)->t = t;
	return 0;
}

static int begin_all(struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t,
		     unsigned int method)
{
	const struct kl_vf_method *m = &x->m.m[method];
	const unsigned int first = x->concrete ? VF_RANK + 1 : VF_KEY;
	const unsigned int n = m->key < 0 ? 1 : x->concrete ? 5 : 3;
	unsigned int k, bits;
	struct kl_vf_run *r;
	int ret;

	for (k = 0; k < n; k++) {
		for (bits = 0; bits <= m->bools; bits++) {
			if (bits & ~m->bools)
				continue;
			ret = start(x, s, t, &r);
			if (ret)
				return ret;
			begin(x, r, method, m->key < 0 ? 0 : first + k, bits);
			r->method = method;
			r->line = kl_vf_line(x, method, 0);
		}
	}
	return 0;
}

int kl_vf_step(struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t)
{
	const size_t base = x->nstack;
	struct kl_vf_run *r;
	unsigned int i;
	int ret = 0;

	if (s->th[t].method >= 0) {
		ret = start(x, s, t, &r);
		if (!ret) {
			r->method = s->th[t].method;
			r->line = kl_vf_line(x, r->method, s->th[t].pc);
		}
	} else if (!x->concrete || s->th[t].ops < x->max_ops) {
		for (i = 0; i < x->m.nm && !ret; i++)
			if (x->role[t] >> i & 1)
				ret = begin_all(x, s, t, i);
	}
	return ret ? ret : finish(x, base);
}
