// SPDX-License-Identifier: GPL-2.0
/*
 * States as bytes.  Objects are named by where they are found first, from the
 * fixed memory, then the threads in order; what cannot be reached any more is
 * left out, as memory with a garbage collector would.
 */
#include <string.h>

#include "tso/vm.h"

enum {
	SMALL	= 0xd0,		/* words below it are one byte */
	PTR	= 0xd0,		/* a pointer to the start of object 0..31 */
	SLOT	= 0xf0,		/* a pointer to memory that is always there: next byte, or two */
	FIELD	= 0xf2,		/* a pointer into an object: object, offset */
	SPECIAL	= 0xf4,		/* + tag, below 5 */
	DATA	= 0xf9,		/* its number */
	WORD16	= 0xfc,
	WORD32	= 0xfd,
	WORD64	= 0xfe,
};

struct packer {
	const struct kl_vm *vm;
	uint8_t *at;
	uint8_t name[KL_VM_OBJECTS];	/* 1 + the new number, 0: not found yet */
	uint8_t order[KL_VM_OBJECTS];	/* objects by new number */
	unsigned int n;
	uint8_t *data, ndata;
};

static void put_n(struct packer *p, uint64_t v, unsigned int n)
{
	memcpy(p->at, &v, n);
	p->at += n;
}

static unsigned int object(struct packer *p, unsigned int obj)
{
	if (!p->name[obj]) {
		p->order[p->n] = obj;
		p->name[obj] = ++p->n;
	}
	return p->name[obj] - 1;
}

static void put_ptr(struct packer *p, uint64_t v)
{
	const struct kl_vm_prog *prog = p->vm->prog;
	uint32_t at = v - KL_VM_PTR, obj, off;

	if (at < prog->nslots) {
		*p->at++ = SLOT;
		put_n(p, at, 2);
		return;
	}
	obj = object(p, (at - prog->nslots) / prog->stride);
	off = (at - prog->nslots) % prog->stride;
	if (!off && obj < SLOT - PTR) {
		*p->at++ = PTR + obj;
		return;
	}
	*p->at++ = FIELD;
	*p->at++ = obj;
	*p->at++ = off;
}

static uint8_t data_number(struct packer *p, unsigned int number)
{
	if (!p->data[number])
		p->data[number] = p->vm->prog->canon ? ++p->ndata : number;
	return p->data[number];
}

static void put(struct packer *p, uint64_t v)
{
	if (v < SMALL) {
		*p->at++ = v;
	} else if (kl_vm_is_ptr(v) && v - KL_VM_PTR < p->vm->nmem) {
		put_ptr(p, v);
	} else if (v >= KL_VM_SPECIAL && v < KL_VM_SPECIAL + 5) {
		*p->at++ = SPECIAL + (v - KL_VM_SPECIAL);
	} else if (!p->vm->prog->raw && kl_vm_is_data(v)) {
		*p->at++ = DATA;
		*p->at++ = data_number(p, v - KL_VM_DATA);
	} else if (v <= UINT16_MAX) {
		*p->at++ = WORD16;
		put_n(p, v, 2);
	} else if (v <= UINT32_MAX) {
		*p->at++ = WORD32;
		put_n(p, v, 4);
	} else {
		*p->at++ = WORD64;
		put_n(p, v, 8);
	}
}

/* The registers of a frame that a state has; those of a client that wait for results do not. */
static uint64_t live(const struct kl_vm_prog *prog, const struct kl_vm_thread *th, unsigned int f)
{
	uint64_t mask;

	if (!prog->dead)
		return UINT64_MAX;
	mask = prog->live[th->pc[f]];
	if (!f && th->method >= 0)
		mask &= ~(((1ULL << prog->methods[th->method].nresults) - 1) << th->args);
	return mask;
}

static void put_frame(struct packer *p, const struct kl_vm_thread *th, unsigned int f)
{
	const struct kl_vm_prog *prog = p->vm->prog;
	const uint64_t mask = live(prog, th, f);
	unsigned int i;

	put_n(p, th->pc[f], 2);
	for (i = 0; i < prog->nregs[f]; i++)
		if (mask >> i & 1)
			put(p, th->reg[f][i]);
}

static void put_thread(struct packer *p, const struct kl_vm_thread *th)
{
	unsigned int i;

	*p->at++ = th->done | (th->method >= 0) << 1 | th->nbuf << 2;
	if (th->method >= 0) {
		*p->at++ = th->method;
		*p->at++ = th->args;
		put_frame(p, th, 1);
	}
	put_frame(p, th, 0);
	for (i = 0; i < th->nbuf; i++) {
		const struct kl_vm_entry *e = &th->buf[i];

		*p->at++ = e->kind | e->more << 2;
		if (e->kind != KL_VM_WRITE)
			continue;
		put(p, KL_VM_PTR + e->addr);
		put(p, e->val);
	}
}

size_t kl_vm_pack(const struct kl_vm *vm, uint8_t *out, uint8_t data[KL_VM_DATA_MAX])
{
	const struct kl_vm_prog *prog = vm->prog;
	struct packer p = { .vm = vm, .at = out, .data = data };
	unsigned int i, j;
	uint8_t *count;

	memset(data, 0, KL_VM_DATA_MAX);
	if (!prog->canon)
		for (i = 0; i < vm->nobj; i++)
			object(&p, i);
	for (i = 0; i < prog->nslots; i++)
		put(&p, vm->mem[i]);
	for (i = 0; i < prog->nthreads; i++)
		put_thread(&p, &vm->thread[i]);
	count = p.at++;
	for (i = 0; i < p.n; i++) {
		const unsigned int obj = p.order[i], type = vm->type[obj] & ~KL_VM_HIDDEN;
		const uint64_t *field = vm->mem + prog->nslots + obj * prog->stride;

		*p.at++ = vm->type[obj];
		for (j = 0; j < prog->structs[type].nfields; j++)
			put(&p, field[j]);
	}
	*count = p.n;
	return p.at - out;
}

static uint64_t get_n(const uint8_t **in, unsigned int n)
{
	uint64_t v = 0;

	memcpy(&v, *in, n);
	*in += n;
	return v;
}

static uint64_t get(const struct kl_vm_prog *prog, const uint8_t **in)
{
	uint8_t b = *(*in)++;
	uint64_t obj;

	if (b < SMALL)
		return b;
	if (b < SLOT)
		return KL_VM_PTR + prog->nslots + (b - PTR) * prog->stride;
	switch (b) {
	case SLOT:
		return KL_VM_PTR + get_n(in, 2);
	case FIELD:
		obj = get_n(in, 1);
		return KL_VM_PTR + prog->nslots + obj * prog->stride + get_n(in, 1);
	case DATA:
		return KL_VM_DATA + get_n(in, 1);
	case WORD16:
		return get_n(in, 2);
	case WORD32:
		return get_n(in, 4);
	case WORD64:
		return get_n(in, 8);
	default:
		return KL_VM_SPECIAL + (b - SPECIAL);
	}
}

static void get_frame(const struct kl_vm_prog *prog, struct kl_vm_thread *th, unsigned int f,
		      const uint8_t **in)
{
	uint64_t mask;
	unsigned int i;

	th->pc[f] = get_n(in, 2);
	mask = live(prog, th, f);
	for (i = 0; i < prog->nregs[f]; i++)
		th->reg[f][i] = mask >> i & 1 ? get(prog, in) : 0;
}

static void get_thread(const struct kl_vm_prog *prog, struct kl_vm_thread *th, const uint8_t **in)
{
	uint8_t head = *(*in)++, kind;
	unsigned int i;

	th->done = head & 1;
	th->nbuf = head >> 2;
	th->method = -1;
	th->pc[1] = 0;
	if (head & 2) {
		th->method = *(*in)++;
		th->args = *(*in)++;
		get_frame(prog, th, 1, in);
	}
	get_frame(prog, th, 0, in);
	for (i = 0; i < th->nbuf; i++) {
		struct kl_vm_entry *e = &th->buf[i];

		kind = *(*in)++;
		e->kind = kind & 3;
		e->more = kind >> 2;
		e->addr = e->kind == KL_VM_WRITE ? get(prog, in) - KL_VM_PTR : 0;
		e->val = e->kind == KL_VM_WRITE ? get(prog, in) : 0;
	}
}

void kl_vm_unpack(struct kl_vm *vm, const uint8_t *in)
{
	const struct kl_vm_prog *prog = vm->prog;
	unsigned int i, j;

	for (i = 0; i < prog->nslots; i++)
		vm->mem[i] = get(prog, &in);
	for (i = 0; i < prog->nthreads; i++)
		get_thread(prog, &vm->thread[i], &in);
	vm->nobj = *in++;
	vm->nmem = prog->nslots + vm->nobj * prog->stride;
	for (i = 0; i < vm->nobj; i++) {
		uint64_t *field = vm->mem + prog->nslots + i * prog->stride;

		vm->type[i] = *in++;
		for (j = 0; j < prog->structs[vm->type[i] & ~KL_VM_HIDDEN].nfields; j++)
			field[j] = get(prog, &in);
	}
}
