// SPDX-License-Identifier: GPL-2.0
/* The plain machine, see plain_tso.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_tso.h"

#define STEPS_ALONE	1000000

static uint64_t from_val(struct kl_val v)
{
	return v.tag ? KL_VM_SPECIAL + v.tag : v.v;
}

static enum plain_did fault(struct plain *m, uint32_t pc, const char *what)
{
	snprintf(m->error, sizeof(m->error), "line %u: %s", m->p->spec->lines[pc], what);
	return PLAIN_FAULT;
}

static struct kl_vm_event *event(struct plain *m, enum kl_vm_event_kind kind, unsigned int t)
{
	struct kl_vm_event *e = &m->ev[m->nev];

	if (++m->nev > PLAIN_EVENTS)
		abort();
	*e = (struct kl_vm_event){ .kind = kind, .thread = t };
	return e;
}

static void push(struct plain *m, unsigned int t, enum kl_vm_kind kind, uint32_t addr,
		 uint64_t val)
{
	struct plain_thread *th = &m->thread[t];

	if (th->nbuf == PLAIN_BUFFER)
		abort();
	th->buf[th->nbuf++] = (struct plain_entry){ .kind = kind, .addr = addr, .val = val };
}

static struct plain_entry pop(struct plain_thread *th)
{
	const struct plain_entry e = th->buf[0];

	memmove(th->buf, th->buf + 1, --th->nbuf * sizeof(*th->buf));
	return e;
}

void plain_flush(struct plain *m, unsigned int t)
{
	struct plain_entry e;

	do {
		e = pop(&m->thread[t]);
		if (e.kind == KL_VM_WRITE)
			m->mem[e.addr] = e.val;
		else
			event(m,
			      e.kind == KL_VM_CALL ? KL_VM_EVENT_FLUSH_CALL : KL_VM_EVENT_FLUSH_RET,
			      t);
	} while (e.more);
}

/* A barrier: return true if the buffer is empty, after flushing the secret stores. */
static bool drain(struct plain *m, unsigned int t)
{
	struct plain_thread *th = &m->thread[t];
	unsigned int i;

	for (i = 0; i < th->nbuf; i++)
		if (th->buf[i].kind == KL_VM_WRITE && !th->buf[i].secret)
			return false;
	while (th->nbuf)
		plain_flush(m, t);
	return true;
}

static uint64_t load(struct plain *m, unsigned int t, uint32_t pc, uint32_t addr)
{
	const struct plain_thread *th = &m->thread[t];
	unsigned int i = th->nbuf;

	m->access = (struct plain_access){
		.addr = addr, .line = m->p->spec->lines[pc], .val = m->mem[addr],
	};
	while (i--) {
		if (th->buf[i].kind != KL_VM_WRITE || th->buf[i].addr != addr)
			continue;
		m->access.val = th->buf[i].val;
		m->access.own = true;
		m->access.own_secret = th->buf[i].secret;
		break;
	}
	return m->access.val;
}

static void store(struct plain *m, unsigned int t, uint32_t pc, uint32_t addr, uint64_t val)
{
	m->access = (struct plain_access){
		.addr = addr, .line = m->p->spec->lines[pc], .val = val, .write = true,
	};
	if (m->p->sc || m->thread[t].block == PLAIN_LOCKED)
		m->mem[addr] = val;
	else
		push(m, t, KL_VM_WRITE, addr, val);
}

/* Return: the index of the word @field behind the pointer @v, or -1 if there is none. */
static int64_t place(const struct plain *m, uint64_t v, unsigned int field)
{
	const uint64_t at = v - KL_VM_PTR + field;

	return v >= KL_VM_PTR && v < KL_VM_PTR + KL_VM_MEM && at < m->nmem ? (int64_t)at : -1;
}

static int64_t element(uint32_t array, uint64_t i)
{
	return i < array >> 16 ? (int64_t)((array & 0xffff) + i) : -1;
}

static void end_block(struct plain_thread *th)
{
	unsigned int i;

	for (i = th->first; th->block == PLAIN_BUFFERED && i + 1 < th->nbuf; i++)
		th->buf[i].more = true;
	th->block = PLAIN_NO_BLOCK;
}

static enum plain_did call(struct plain *m, unsigned int t, unsigned int method, unsigned int args)
{
	const struct kl_method_def *d = &m->p->spec->impl->methods[method];
	struct plain_thread *th = &m->thread[t];
	struct kl_vm_event *e = event(m, KL_VM_EVENT_CALL, t);

	memset(th->reg[1], 0, sizeof(th->reg[1]));
	memcpy(th->reg[1], th->reg[0] + args, d->pub.nparams * sizeof(uint64_t));
	e->method = method;
	e->n = d->pub.nparams;
	memcpy(e->val, th->reg[1], e->n * sizeof(uint64_t));
	th->method = method;
	th->args = args;
	th->pc[1] = d->code;
	if (!m->p->sc)
		push(m, t, KL_VM_CALL, 0, 0);
	return PLAIN_CALL;
}

static enum plain_did leave(struct plain *m, unsigned int t, unsigned int first)
{
	struct plain_thread *th = &m->thread[t];
	struct kl_vm_event *e = event(m, KL_VM_EVENT_RET, t);

	end_block(th);
	e->method = th->method;
	e->n = m->p->spec->impl->methods[th->method].pub.nresults;
	memcpy(e->val, th->reg[1] + first, e->n * sizeof(uint64_t));
	memcpy(th->reg[0] + th->args, e->val, e->n * sizeof(uint64_t));
	th->method = -1;
	if (!m->p->sc)
		push(m, t, KL_VM_RET, 0, 0);
	return PLAIN_RET;
}

/* Choose one of @n ways.  Return: false if the choice is not made yet. */
static bool chosen(struct plain *m, unsigned int n, unsigned int *which)
{
	*which = m->choice;
	m->nchoices = n;
	if (m->choice < 0)
		return false;
	m->choice = -1;
	return true;
}

static uint64_t new_object(struct plain *m, unsigned int type)
{
	const uint64_t at = m->nmem;

	if (m->nobj == KL_VM_OBJECTS || at + m->p->stride > KL_VM_MEM)
		abort();
	m->type[m->nobj++] = type;
	m->nmem += m->p->stride;
	return KL_VM_PTR + at;
}

static bool is_data(uint64_t v)
{
	return v > KL_VM_DATA && v <= KL_VM_DATA + KL_VM_DATA_MAX;
}

enum kl_opcode plain_next(const struct plain *m, unsigned int t)
{
	const struct plain_thread *th = &m->thread[t];

	return m->p->spec->code[th->pc[th->method >= 0]] & 0xff;
}

enum plain_did plain_insn(struct plain *m, unsigned int t)
{
	static const int arith[] = { '+', '-', '*', '/', '%', '&', '|', '^', KL_OP_SHL, KL_OP_SHR };
	const struct kl_spec *s = m->p->spec;
	struct plain_thread *th = &m->thread[t];
	const unsigned int f = th->method >= 0;
	const uint32_t at = th->pc[f], base = f ? s->impl->methods[th->method].code :
						  m->p->start[t];
	const uint32_t *code = &s->code[at];
	const unsigned int op = *code & 0xff, a = *code >> 8 & 0xff, b = *code >> 16 & 0xff,
			   c = *code >> 24, imm = *code >> 16;
	uint64_t *reg = th->reg[f];
	unsigned int i;
	int64_t to;

	if (th->done)
		return PLAIN_OVER;
	th->pc[f]++;
	switch (op) {
	case KL_I_MOV:
		reg[a] = reg[b];
		return PLAIN_LOCAL;
	case KL_I_CONST:
		reg[a] = from_val(s->pool[imm]);
		return PLAIN_LOCAL;
	case KL_I_LOAD:
		reg[a] = load(m, t, at, imm);
		return PLAIN_ACCESS;
	case KL_I_STORE:
		store(m, t, at, imm, reg[a]);
		return PLAIN_ACCESS;
	case KL_I_LOADX:
	case KL_I_STOREX:
	case KL_I_ADDRX:
		th->pc[f]++;
		to = element(code[1], reg[b]);
		if (to < 0)
			return fault(m, at, "the index is out of bounds of its array");
		if (op == KL_I_ADDRX) {
			reg[a] = KL_VM_PTR + to;
			return PLAIN_LOCAL;
		}
		if (op == KL_I_LOADX)
			reg[a] = load(m, t, at, to);
		else
			store(m, t, at, to, reg[a]);
		return PLAIN_ACCESS;
	case KL_I_READ:
	case KL_I_WRITE:
	case KL_I_FIELD:
		to = place(m, reg[b], c);
		if (to < 0)
			return fault(m, at, op == KL_I_FIELD || !reg[b] ?
				     "access through a null pointer" :
				     "access to memory that does not exist");
		if (op == KL_I_FIELD) {
			reg[a] = reg[b] + c;
			return PLAIN_LOCAL;
		}
		if (op == KL_I_READ)
			reg[a] = load(m, t, at, to);
		else
			store(m, t, at, to, reg[a]);
		return PLAIN_ACCESS;
	case KL_I_ADDR:
		reg[a] = KL_VM_PTR + imm;
		return PLAIN_LOCAL;
	case KL_I_NEW:
		reg[a] = new_object(m, imm);
		return PLAIN_LOCAL;
	case KL_I_DIV:
	case KL_I_MOD:
		if (!reg[c])
			return fault(m, at, "division by zero");
		/* fall through */
	case KL_I_ADD:
	case KL_I_SUB:
	case KL_I_MUL:
	case KL_I_AND ... KL_I_SHR:
		if (is_data(reg[b]) || is_data(reg[c]))
			return fault(m, at,
				     "arithmetic on data, which can only be copied and compared");
		reg[a] = kl_arith(arith[op - KL_I_ADD], reg[b], reg[c]);
		return PLAIN_LOCAL;
	case KL_I_LT:
	case KL_I_LE:
		if (is_data(reg[b]) || is_data(reg[c]))
			return fault(m, at,
				     "data has no order: it can only be copied and compared");
		reg[a] = op == KL_I_LT ? reg[b] < reg[c] : reg[b] <= reg[c];
		return PLAIN_LOCAL;
	case KL_I_EQ:
	case KL_I_EQB:
		reg[a] = reg[b] == reg[c];
		return PLAIN_LOCAL;
	case KL_I_NE:
	case KL_I_NEB:
		reg[a] = reg[b] != reg[c];
		return PLAIN_LOCAL;
	case KL_I_NEG:
		reg[a] = -reg[b];
		return PLAIN_LOCAL;
	case KL_I_INV:
		reg[a] = ~reg[b];
		return PLAIN_LOCAL;
	case KL_I_NOT:
		reg[a] = !reg[b];
		return PLAIN_LOCAL;
	case KL_I_JMP:
		th->pc[f] = base + imm;
		return PLAIN_LOCAL;
	case KL_I_JZ:
	case KL_I_JNZ:
		if (!reg[a] == (op == KL_I_JZ))
			th->pc[f] = base + imm;
		return PLAIN_LOCAL;
	case KL_I_FRESH:
		/* The client's caller may pass any data. */
		if (!chosen(m, m->ndata, &i))
			goto undone;
		reg[a] = KL_VM_DATA + 1 + i;
		return PLAIN_LOCAL;
	case KL_I_CHOOSE:
		if (reg[b] > reg[c])
			goto over;
		if (!chosen(m, reg[c] - reg[b] + 1, &i))
			goto undone;
		reg[a] = reg[b] + i;
		return PLAIN_LOCAL;
	case KL_I_EITHER:
		if (!chosen(m, a, &i))
			goto undone;
		th->pc[f] = base + code[1 + i];
		return PLAIN_LOCAL;
	case KL_I_ASSUME:
		if (reg[a])
			return PLAIN_LOCAL;
		if (!th->block)
			goto over;
		goto waits;
	case KL_I_ASSERT:
		if (!reg[a])
			return fault(m, at, "the assertion fails");
		th->pc[f]++;
		return PLAIN_LOCAL;
	case KL_I_BLOCK:
		if (a && !m->p->sc && !drain(m, t))
			goto waits;
		th->block = a || m->p->sc ? PLAIN_LOCKED : PLAIN_BUFFERED;
		th->first = th->nbuf;
		return PLAIN_LOCAL;
	case KL_I_END:
		end_block(th);
		return PLAIN_LOCAL;
	case KL_I_FENCE:
		if (!m->p->sc && !drain(m, t))
			goto waits;
		return PLAIN_LOCAL;
	case KL_I_CALL:
		return call(m, t, imm, a);
	case KL_I_RETURN:
		return leave(m, t, b);
	case KL_I_STOP:
		th->done = true;
		return PLAIN_OVER;
	default:
		abort();
	}

undone:
	th->pc[f] = at;
	return PLAIN_CHOOSES;
waits:
	th->pc[f] = at;
	return PLAIN_WAITS;
over:
	th->pc[f] = at;
	return PLAIN_OVER;
}

enum plain_did plain_alone(struct plain *m, uint32_t code)
{
	struct plain_program alone = *m->p;
	const struct plain_program *all = m->p;
	enum plain_did did = PLAIN_LOCAL;
	unsigned int i;

	alone.sc = true;
	alone.start[0] = code;
	memset(&m->thread[0], 0, sizeof(m->thread[0]));
	m->thread[0].pc[0] = code;
	m->thread[0].method = -1;
	m->p = &alone;
	for (i = 0; i < STEPS_ALONE && (did == PLAIN_LOCAL || did == PLAIN_ACCESS); i++)
		did = plain_insn(m, 0);
	m->p = all;
	return did;
}

void plain_init(struct plain *m, const struct plain_program *p)
{
	const struct kl_impl *im = p->spec->impl;
	unsigned int i, t;

	memset(m, 0, sizeof(*m));
	m->p = p;
	m->nmem = im->nslots;
	m->choice = -1;
	for (i = 0; i < im->nvars; i++)
		for (t = 0; t < im->vars[i].len; t++)
			m->mem[im->vars[i].slot + t] = from_val(im->vars[i].init);
	if (im->init_code && plain_alone(m, im->init_code) != PLAIN_OVER)
		abort();
	for (t = 0; t < p->nthreads; t++) {
		memset(&m->thread[t], 0, sizeof(m->thread[t]));
		m->thread[t].pc[0] = p->start[t];
		m->thread[t].method = -1;
	}
}
