// SPDX-License-Identifier: GPL-2.0
/*
 * The interpreter where nothing is unknown and nothing is chosen: one path over words, in a
 * state of some variables and at most one set or map.  It does what interp.c does with them,
 * and gives up before it would have to do more: the operation is executed there then.
 */
#include <errno.h>
#include <string.h>

#include "spec/interp/flow.h"
#include "spec/interp/gen.h"
#include "spec/interp/run.h"

#define SLOTS_MAX	64	/* a bit each */
#define NOT_QUICK	2

struct quick {
	struct kl_run *r;
	const struct kl_val *now;	/* the state */
	bool copied;			/* it is in r->out[], as it was written to */
	size_t len;
	uint64_t wrote;			/* slots */
	bool changed;			/* the container, perhaps */
};

bool kl_quick_fits(const struct kl_spec *s, const struct kl_method_def *m)
{
	const uint32_t *code = s->code + m->code;
	struct kl_flow f;
	size_t at;

	if (s->nslots > SLOTS_MAX || s->nconts > 1)
		return false;
	if (s->nconts && s->conts[0]->cont != KL_C_SET && s->conts[0]->cont != KL_C_MAP)
		return false;
	for (at = 0; at < m->ncode; at += f.words) {
		switch (code[at] & 0xff) {
		case KL_I_CHOOSE:
		case KL_I_ANY:
		case KL_I_EITHER:
			return false;
		}
		kl_insn_flow(&code[at], &f);
	}
	return true;
}

/* The state, to be written to, with room for another entry; NULL when out of memory. */
static struct kl_val *writable(struct quick *q)
{
	struct kl_run *r = q->r;
	size_t i;

	if (q->copied)
		return r->out;
	if (kl_grow(r->out, r->cout, q->len + 2))
		return NULL;
	for (i = 0; i < q->len; i++)
		r->out[i] = q->now[i];
	q->now = r->out;
	q->copied = true;
	return r->out;
}

static int write_slot(struct quick *q, uint32_t slot, struct kl_val v)
{
	struct kl_val *state = writable(q);

	if (!state)
		return -ENOMEM;
	state[slot] = v;
	q->wrote |= 1ull << slot;
	return 0;
}

/* Where the entry of @key is, or where it belongs, and whether it is there. */
static bool find(const struct quick *q, uint64_t key, size_t *at)
{
	for (*at = q->r->s->nslots + 1; *at < q->len; *at += 2)
		/* Words come first, in order. */
		if (q->now[*at].tag != KL_WORD || q->now[*at].v >= key)
			return q->now[*at].tag == KL_WORD && q->now[*at].v == key;
	return false;
}

static int put_entry(struct quick *q, size_t at, bool found, struct kl_val key, struct kl_val v)
{
	struct kl_val *state = writable(q);

	if (!state)
		return -ENOMEM;
	q->changed = true;
	if (!found) {
		if (q->len - q->r->s->nslots + 1 > KL_ENTRIES_MAX)
			return NOT_QUICK;
		memmove(&state[at + 2], &state[at], (q->len - at) * sizeof(*state));
		state[at] = key;
		state[q->r->s->nslots].v++;
		q->len += 2;
	}
	state[at + 1] = v;
	return 0;
}

static int remove_entry(struct quick *q, size_t at)
{
	struct kl_val *state = writable(q);

	if (!state)
		return -ENOMEM;
	q->changed = true;
	q->len -= 2;
	memmove(&state[at], &state[at + 2], (q->len - at) * sizeof(*state));
	state[q->r->s->nslots].v--;
	return 0;
}

/* As kl_cont_map_call(). */
static int call(struct quick *q, bool map, enum kl_cont_op op, struct kl_val *v)
{
	const struct kl_val key = v[0];
	size_t at;
	bool found;

	if (op == KL_CO_SIZE) {
		v[0] = kl_word(q->now[q->r->s->nslots].v);
		return 0;
	}
	if (key.tag != KL_WORD)
		return NOT_QUICK;
	found = find(q, key.v, &at);
	switch (op) {
	case KL_CO_GET:
		v[0] = found ? q->now[at + 1] : kl_special(KL_ABSENT);
		return 0;
	case KL_CO_HAS:
		v[0] = kl_word(found);
		return 0;
	case KL_CO_PUT:
		return v[1].tag == KL_ABSENT ? NOT_QUICK : put_entry(q, at, found, key, v[1]);
	case KL_CO_ADD:
		v[0] = kl_word(!found);
		return found ? 0 : put_entry(q, at, false, key, kl_word(1));
	case KL_CO_REMOVE:
		v[0] = kl_word(found);
		if (map)
			v[0] = found ? q->now[at + 1] : kl_special(KL_ABSENT);
		return found ? remove_entry(q, at) : 0;
	default:
		return NOT_QUICK;
	}
}

static bool element(uint32_t array, struct kl_val index, uint32_t *slot)
{
	*slot = (array & 0xffff) + index.v;
	return index.tag == KL_WORD && index.v < array >> 16;
}

static const int arith_op[] = {
	[KL_I_ADD] = '+', [KL_I_SUB] = '-', [KL_I_MUL] = '*', [KL_I_DIV] = '/', [KL_I_MOD] = '%',
	[KL_I_AND] = '&', [KL_I_OR] = '|', [KL_I_XOR] = '^', [KL_I_SHL] = KL_OP_SHL,
	[KL_I_SHR] = KL_OP_SHR,
};

/* 0, KL_DROP, NOT_QUICK or -ENOMEM. */
static int exec(struct quick *q)
{
	struct kl_run *r = q->r;
	const struct kl_spec *s = r->s;
	const uint32_t *code = s->code + r->m->code, *pc = code;
	struct kl_val *reg = r->reg;
	int ret = 0;

	while (!ret) {
		const uint32_t insn = *pc++;
		const enum kl_opcode op = insn & 0xff;
		const unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff, c = insn >> 24;
		const unsigned int imm = insn >> 16;
		uint32_t slot;

		switch (op) {
		case KL_I_MOV:
			reg[a] = reg[b];
			break;
		case KL_I_CONST:
			reg[a] = s->pool[imm];
			break;
		case KL_I_LOAD:
			reg[a] = q->now[imm];
			break;
		case KL_I_STORE:
			ret = write_slot(q, imm, reg[a]);
			break;
		case KL_I_LOADX:
			if (!element(*pc++, reg[b], &slot))
				return NOT_QUICK;
			reg[a] = q->now[slot];
			break;
		case KL_I_STOREX:
			if (!element(*pc++, reg[b], &slot))
				return NOT_QUICK;
			ret = write_slot(q, slot, reg[a]);
			break;
		case KL_I_ADD ... KL_I_SHR:
			if (reg[b].tag | reg[c].tag ||
			    (!reg[c].v && (op == KL_I_DIV || op == KL_I_MOD)))
				return NOT_QUICK;
			reg[a] = kl_word(kl_arith(arith_op[op], reg[b].v, reg[c].v));
			break;
		case KL_I_LT:
		case KL_I_LE:
			if (reg[b].tag | reg[c].tag)
				return NOT_QUICK;
			reg[a] = kl_word(op == KL_I_LE ? reg[b].v <= reg[c].v :
							 reg[b].v < reg[c].v);
			break;
		case KL_I_EQ:
		case KL_I_NE:
			reg[a] = kl_word(kl_val_eq(reg[b], reg[c]) == (op == KL_I_EQ));
			break;
		case KL_I_EQB:
		case KL_I_NEB:
			if (reg[b].tag | reg[c].tag)
				return NOT_QUICK;
			reg[a] = kl_word((reg[b].v == reg[c].v) == (op == KL_I_EQB));
			break;
		case KL_I_NEG:
		case KL_I_INV:
			if (reg[b].tag)
				return NOT_QUICK;
			reg[a] = kl_word(op == KL_I_NEG ? -reg[b].v : ~reg[b].v);
			break;
		case KL_I_NOT:
			if (reg[b].tag)
				return NOT_QUICK;
			reg[a] = kl_word(!reg[b].v);
			break;
		case KL_I_JMP:
			if (code + imm < pc)
				r->steps += pc - (code + imm);
			if (r->steps > KL_STEPS_MAX)
				return NOT_QUICK;
			pc = code + imm;
			break;
		case KL_I_JZ:
		case KL_I_JNZ:
			if (reg[a].tag)
				return NOT_QUICK;
			if (!reg[a].v == (op == KL_I_JZ))
				pc = code + imm;
			break;
		case KL_I_FORCE:
			if (reg[a].tag)
				return NOT_QUICK;
			break;
		case KL_I_ASSUME:
			if (reg[a].tag)
				return NOT_QUICK;
			if (!reg[a].v)
				return KL_DROP;
			break;
		case KL_I_ASSERT:
			if (reg[a].tag || !reg[a].v)
				return NOT_QUICK;
			pc++;
			break;
		case KL_I_BLOCK:
			r->barrier |= a;
			r->through |= a;
			break;
		case KL_I_FENCE:
			r->barrier = true;
			break;
		case KL_I_CONT:
			r->steps += 16 + q->len - s->nslots;
			if (r->steps > KL_STEPS_MAX)
				return NOT_QUICK;
			ret = call(q, s->conts[0]->cont == KL_C_MAP, c, &reg[a]);
			break;
		case KL_I_RETURN:
			for (slot = 0; slot < a; slot++)
				r->results[slot] = reg[b + slot];
			r->work = r->steps + (pc - code);
			return 0;
		default:
			return NOT_QUICK;
		}
	}
	return ret;
}

/* Is it a state without unknowns, of which nothing else is told? */
static bool is_known(const struct kl_run *r)
{
	const struct kl_val *v = r->in;
	const size_t nslots = r->s->nslots;
	size_t i;

	if (r->in_len < nslots + r->s->nconts)
		return false;
	if (r->s->nconts ? (r->in_len - nslots - 1) / 2 != v[nslots].v ||
			   (r->in_len - nslots) % 2 == 0 : r->in_len != nslots)
		return false;
	for (i = 0; i < r->in_len; i++)
		if (v[i].tag == KL_ANY)
			return false;
	return true;
}

/* False: it is not for here. */
static bool begin(struct kl_run *r)
{
	const struct kl_method *m = &r->m->pub;
	unsigned int i;

	for (i = 0; i < m->nparams; i++) {
		struct kl_val v = r->args[i];

		if (v.tag == KL_ANY || (v.tag != KL_WORD && !r->s->specials))
			return false;
		if (r->m->has_bool && m->params[i].type == KL_T_BOOL)
			v.v = !!v.v;
		r->reg[i] = v;
	}
	r->barrier = r->through = false;
	r->steps = 0;
	return true;
}

/* Are the results what was observed? */
static bool agrees(const struct kl_run *r)
{
	const struct kl_method *m = &r->m->pub;
	unsigned int i;

	for (i = 0; r->res && i < m->nresults; i++) {
		struct kl_val v = r->res[i];

		if (v.tag == KL_ANY)
			continue;
		if (r->m->has_bool && m->results[i].type == KL_T_BOOL && v.tag == KL_WORD)
			v.v = !!v.v;
		if (!kl_val_eq(r->results[i], v))
			return false;
	}
	return true;
}

bool kl_run_quick(struct kl_run *r, kl_outcome_fn fn, void *ctx, int *ret)
{
	struct quick q = { .r = r, .now = r->in, .len = r->in_len };
	struct kl_outcome o;

	if (!is_known(r) || !begin(r))
		return false;
	*ret = exec(&q);
	if (*ret == NOT_QUICK)
		return false;
	if (*ret < 0)
		return true;
	if (*ret == KL_DROP || !agrees(r)) {
		*ret = 0;
		return true;
	}
	o = (struct kl_outcome){
		.state = q.now, .len = q.len, .notes = q.len, .results = r->results,
		.barrier = r->barrier, .through = r->through, .wrote = r->wrote,
		.changed = q.wrote || q.changed, .locals = r->reg,
	};
	for (; q.wrote; q.wrote &= q.wrote - 1)
		r->wrote[o.nwrote++] = __builtin_ctzll(q.wrote);
	*ret = fn(ctx, &o);
	return true;
}
