// SPDX-License-Identifier: GPL-2.0
/*
 * A fast interpreter for the common case: nothing is unknown, the method has no choices, and the
 * state is at most SLOTS_MAX variables and one set or map.  It gives the same outcome as interp.c.
 * In any other case it gives up, and interp.c executes the operation.
 */
#include <errno.h>
#include <string.h>

#include "spec/interp/flow.h"
#include "spec/interp/gen.h"
#include "spec/interp/run.h"

#define SLOTS_MAX	64	/* bits of fast.wrote */
#define NEEDS_FULL	2	/* result of a function: interp.c must execute the operation */

struct fast {
	struct kl_run *r;
	const struct kl_val *now;	/* the current state */
	bool copied;			/* @now is r->out, because the method wrote to the state */
	size_t len;			/* number of values in @now */
	uint64_t wrote;			/* a bit for each assigned slot */
	bool changed;			/* the container may have changed */
};

bool kl_fast_path_fits(const struct kl_spec *s, const struct kl_method_def *m)
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

/*
 * Copy the state to r->out before the first write.
 * Return: the copy, or NULL when out of memory.
 */
static struct kl_val *writable(struct fast *f)
{
	struct kl_run *r = f->r;
	size_t i;

	if (f->copied)
		return r->out;
	if (kl_grow(r->out, r->cout, f->len))
		return NULL;
	for (i = 0; i < f->len; i++)
		r->out[i] = f->now[i];
	f->now = r->out;
	f->copied = true;
	return r->out;
}

static int write_slot(struct fast *f, uint32_t slot, struct kl_val v)
{
	struct kl_val *state = writable(f);

	if (!state)
		return -ENOMEM;
	state[slot] = v;
	f->wrote |= 1ull << slot;
	return 0;
}

/* Set *@at to the index of the entry of @key, or where it belongs.  Return: true if it exists. */
static bool find(const struct fast *f, uint64_t key, size_t *at)
{
	for (*at = f->r->s->nslots + 1; *at < f->len; *at += 2)
		/* In canonical form words come first, in order. */
		if (f->now[*at].tag != KL_WORD || f->now[*at].v >= key)
			return f->now[*at].tag == KL_WORD && f->now[*at].v == key;
	return false;
}

static int put_entry(struct fast *f, size_t at, bool found, struct kl_val key, struct kl_val v)
{
	struct kl_val *state = writable(f);

	if (!state)
		return -ENOMEM;
	f->changed = true;
	if (!found) {
		if (f->len - f->r->s->nslots + 1 > KL_ENTRIES_MAX)
			return NEEDS_FULL;
		if (kl_grow(f->r->out, f->r->cout, f->len + 2))
			return -ENOMEM;
		f->now = state = f->r->out;
		memmove(&state[at + 2], &state[at], (f->len - at) * sizeof(*state));
		state[at] = key;
		state[f->r->s->nslots].v++;
		f->len += 2;
	}
	state[at + 1] = v;
	return 0;
}

static int remove_entry(struct fast *f, size_t at)
{
	struct kl_val *state = writable(f);

	if (!state)
		return -ENOMEM;
	f->changed = true;
	f->len -= 2;
	memmove(&state[at], &state[at + 2], (f->len - at) * sizeof(*state));
	state[f->r->s->nslots].v--;
	return 0;
}

/* As kl_cont_map_call(), for known keys. */
static int call(struct fast *f, bool map, enum kl_cont_op op, struct kl_val *v)
{
	const struct kl_val key = v[0];
	size_t at;
	bool found;

	if (op == KL_CO_SIZE) {
		v[0] = kl_word(f->now[f->r->s->nslots].v);
		return 0;
	}
	if (key.tag != KL_WORD)
		return NEEDS_FULL;
	found = find(f, key.v, &at);
	switch (op) {
	case KL_CO_GET:
		v[0] = found ? f->now[at + 1] : kl_special(KL_ABSENT);
		return 0;
	case KL_CO_HAS:
		v[0] = kl_word(found);
		return 0;
	case KL_CO_PUT:
		return v[1].tag == KL_ABSENT ? NEEDS_FULL : put_entry(f, at, found, key, v[1]);
	case KL_CO_ADD:
		v[0] = kl_word(!found);
		return found ? 0 : put_entry(f, at, false, key, kl_word(1));
	case KL_CO_REMOVE:
		v[0] = kl_word(found);
		if (map)
			v[0] = found ? f->now[at + 1] : kl_special(KL_ABSENT);
		return found ? remove_entry(f, at) : 0;
	default:
		return NEEDS_FULL;
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

/* Execute the method.  Return: 0, KL_DROP, NEEDS_FULL or -ENOMEM. */
static int exec(struct fast *f)
{
	struct kl_run *r = f->r;
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
			reg[a] = f->now[imm];
			break;
		case KL_I_STORE:
			ret = write_slot(f, imm, reg[a]);
			break;
		case KL_I_LOADX:
			if (!element(*pc++, reg[b], &slot))
				return NEEDS_FULL;
			reg[a] = f->now[slot];
			break;
		case KL_I_STOREX:
			if (!element(*pc++, reg[b], &slot))
				return NEEDS_FULL;
			ret = write_slot(f, slot, reg[a]);
			break;
		case KL_I_ADD ... KL_I_SHR:
			if (reg[b].tag | reg[c].tag ||
			    (!reg[c].v && (op == KL_I_DIV || op == KL_I_MOD)))
				return NEEDS_FULL;
			reg[a] = kl_word(kl_arith(arith_op[op], reg[b].v, reg[c].v));
			break;
		case KL_I_LT:
		case KL_I_LE:
			if (reg[b].tag | reg[c].tag)
				return NEEDS_FULL;
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
				return NEEDS_FULL;
			reg[a] = kl_word((reg[b].v == reg[c].v) == (op == KL_I_EQB));
			break;
		case KL_I_NEG:
		case KL_I_INV:
			if (reg[b].tag)
				return NEEDS_FULL;
			reg[a] = kl_word(op == KL_I_NEG ? -reg[b].v : ~reg[b].v);
			break;
		case KL_I_NOT:
			if (reg[b].tag)
				return NEEDS_FULL;
			reg[a] = kl_word(!reg[b].v);
			break;
		case KL_I_JMP:
			if (code + imm < pc)
				r->steps += pc - (code + imm);
			if (r->steps > KL_STEPS_MAX)
				return NEEDS_FULL;
			pc = code + imm;
			break;
		case KL_I_JZ:
		case KL_I_JNZ:
			if (reg[a].tag)
				return NEEDS_FULL;
			if (!reg[a].v == (op == KL_I_JZ))
				pc = code + imm;
			break;
		case KL_I_FORCE:
			if (reg[a].tag)
				return NEEDS_FULL;
			break;
		case KL_I_ASSUME:
			if (reg[a].tag)
				return NEEDS_FULL;
			if (!reg[a].v)
				return KL_DROP;
			break;
		case KL_I_ASSERT:
			if (reg[a].tag || !reg[a].v)
				return NEEDS_FULL;
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
			r->steps += 16 + f->len - s->nslots;
			if (r->steps > KL_STEPS_MAX)
				return NEEDS_FULL;
			ret = call(f, s->conts[0]->cont == KL_C_MAP, c, &reg[a]);
			break;
		case KL_I_RETURN:
			for (slot = 0; slot < a; slot++)
				r->results[slot] = reg[b + slot];
			r->work = r->steps + (pc - code);
			return 0;
		default:
			return NEEDS_FULL;
		}
	}
	return ret;
}

/* Return: true if the state has no unknowns and no notes. */
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

/* Put the arguments into registers.  Return: false if interp.c must execute the operation. */
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

/* Return: true if the results agree with the observed ones. */
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

bool kl_run_fast_path(struct kl_run *r, kl_outcome_fn fn, void *ctx, int *ret)
{
	struct fast f = { .r = r, .now = r->in, .len = r->in_len };
	struct kl_outcome o;

	if (!is_known(r) || !begin(r))
		return false;
	*ret = exec(&f);
	if (*ret == NEEDS_FULL)
		return false;
	if (*ret < 0)
		return true;
	if (*ret == KL_DROP || !agrees(r)) {
		*ret = 0;
		return true;
	}
	o = (struct kl_outcome){
		.state = f.now, .len = f.len, .notes = f.len, .results = r->results,
		.barrier = r->barrier, .through = r->through, .wrote = r->wrote,
		.changed = f.wrote || f.changed, .locals = r->reg,
	};
	for (; f.wrote; f.wrote &= f.wrote - 1)
		r->wrote[o.nwrote++] = __builtin_ctzll(f.wrote);
	*ret = fn(ctx, &o);
	return true;
}
