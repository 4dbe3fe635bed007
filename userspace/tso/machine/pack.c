// SPDX-License-Identifier: GPL-2.0
/*
 * Packs a state of the machine into bytes, in canonical form.  Objects and data are numbered by
 * first occurrence, in the fixed memory and then in the threads.  Unreachable objects are left out.
 * Threads with the same code are sorted by their states.
 */
#include <string.h>

#include "base/hash.h"
#include "tso/machine/vm.h"

/* The first byte of a value; the text after the colon says which bytes follow. */
enum {
	SMALL	= 0xd0,		/* words below SMALL are one byte */
	PTR	= 0xd0,		/* PTR + i points to the start of object i, 0..31 */
	SLOT	= 0xf0,		/* a pointer to the fixed memory: address, two bytes */
	FIELD	= 0xf2,		/* a pointer into an object: object, offset */
	SPECIAL	= 0xf4,		/* SPECIAL + tag is a special value; tags are below 5 */
	DATA	= 0xf9,		/* data: number */
	WORD16	= 0xfc,
	WORD32	= 0xfd,
	WORD64	= 0xfe,
};

struct packer {
	const struct kl_vm *vm;
	uint8_t *at;
	unsigned int n, done;		/* objects with a new number; objects that were put */
	uint8_t *data, ndata;		/* new number of each data value, or 0; the last one */
	uint8_t name[KL_VM_OBJECTS];	/* new number of each object plus 1, or 0 */
	uint8_t order[KL_VM_OBJECTS];	/* objects by new number */
};

static void put_n(struct packer *p, uint64_t v, unsigned int n)
{
	memcpy(p->at, &v, n);
	p->at += n;
}

static unsigned int object_number(struct packer *p, unsigned int obj)
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
	obj = object_number(p, (at - prog->nslots) / prog->stride);
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

static void put_large(struct packer *p, uint64_t v)
{
	if (kl_vm_is_ptr(v) && v - KL_VM_PTR < p->vm->nmem) {
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

static inline void put(struct packer *p, uint64_t v)
{
	if (v < SMALL)
		*p->at++ = v;
	else
		put_large(p, v);
}

static void put_frame(struct packer *p, const struct kl_vm_thread *th, unsigned int f,
		      uint32_t base)
{
	const struct kl_vm_prog *prog = p->vm->prog;
	const uint64_t mask = kl_vm_kept(prog, th, f);
	unsigned int i;

	put_n(p, th->pc[f] - base, 2);
	for (i = 0; i < prog->nregs[f]; i++)
		if (mask >> i & 1)
			put(p, th->reg[f][i]);
}

static void put_thread(struct packer *p, unsigned int t)
{
	const struct kl_vm_thread *th = &p->vm->thread[t];
	unsigned int i;

	*p->at++ = th->done | (th->method >= 0) << 1 | th->nbuf << 2;
	if (th->method >= 0) {
		*p->at++ = th->method;
		*p->at++ = th->args;
		put_frame(p, th, 1, 0);
	}
	put_frame(p, th, 0, p->vm->prog->start[t]);
	for (i = 0; i < th->nbuf; i++) {
		const struct kl_vm_entry *e = &th->buf[i];

		*p->at++ = e->kind | e->more << 2;
		if (e->kind != KL_VM_WRITE)
			continue;
		put(p, KL_VM_PTR + e->addr);
		put(p, e->val);
	}
}

/* Put the objects that have a number and were not put yet. */
static void put_objects(struct packer *p)
{
	const struct kl_vm *vm = p->vm;
	const struct kl_vm_prog *prog = vm->prog;
	uint8_t *count = p->at++;
	const unsigned int first = p->done;
	unsigned int j;

	for (; p->done < p->n; p->done++) {
		const unsigned int obj = p->order[p->done], type = vm->type[obj] & KL_VM_STRUCT;
		const uint64_t *field = vm->mem + prog->nslots + obj * prog->stride;

		*p->at++ = vm->type[obj];
		for (j = 0; j < prog->structs[type].nfields; j++)
			put(p, field[j]);
	}
	*count = p->done - first;
}

/*
 * Return: @v with numbers that do not depend on the thread.  Objects and data that only threads
 * refer to have no number yet, and are treated as if they were all the same.
 */
static uint64_t shared_value(const struct packer *p, uint64_t v)
{
	const struct kl_vm_prog *prog = p->vm->prog;
	uint32_t at = v - KL_VM_PTR, obj;

	if (!prog->raw && kl_vm_is_data(v))
		return KL_VM_DATA + p->data[v - KL_VM_DATA];
	if (!kl_vm_is_ptr(v) || at < prog->nslots || at >= p->vm->nmem)
		return v;
	obj = (at - prog->nslots) / prog->stride;
	return p->name[obj] ? KL_VM_PTR + p->name[obj] * prog->stride : KL_VM_PTR;
}

static uint64_t hash_frame(const struct packer *p, const struct kl_vm_thread *th, unsigned int f,
			   uint64_t h)
{
	uint64_t mask = kl_vm_kept(p->vm->prog, th, f);

	for (; mask; mask &= mask - 1)
		h = kl_mix(h, shared_value(p, th->reg[f][__builtin_ctzll(mask)]));
	return h;
}

/* Return: a hash of a thread's state, equal for threads with equal states. */
static uint64_t hash_thread(const struct packer *p, unsigned int t)
{
	const struct kl_vm_thread *th = &p->vm->thread[t];
	uint64_t h = (uint64_t)(th->pc[0] - p->vm->prog->start[t]) << 32 | th->pc[1] << 16 |
		     th->nbuf << 9 | (th->method + 1) << 1 | th->done;
	unsigned int i;

	h = hash_frame(p, th, 0, h);
	if (th->method >= 0)
		h = hash_frame(p, th, 1, h);
	for (i = 0; i < th->nbuf; i++) {
		h = kl_mix(h, th->buf[i].kind | th->buf[i].more << 2);
		if (th->buf[i].kind == KL_VM_WRITE)
			h = kl_mix(h ^ shared_value(p, KL_VM_PTR + th->buf[i].addr),
				   shared_value(p, th->buf[i].val));
	}
	return h;
}

/* Sort the threads of each group by their hashes. */
static void order_threads(const struct packer *p, struct kl_vm_names *names)
{
	const struct kl_vm_prog *prog = p->vm->prog;
	uint64_t hash[KL_VM_THREADS];
	unsigned int i, j, t;
	uint8_t other;

	names->moved = false;
	for (i = 0; i < prog->nthreads; i++)
		names->thread[i] = i;
	if (!prog->symmetry)
		return;
	for (i = 0; i < prog->nthreads; i++)
		hash[i] = prog->group[i] & (prog->group[i] - 1) ? hash_thread(p, i) : 0;
	for (i = 1; i < prog->nthreads; i++) {
		for (j = i; j--;) {
			/* Compare neighbours of the group: thread j, and thread t after it. */
			if (!(prog->group[i] >> j & 1))
				continue;
			for (t = j + 1; !(prog->group[i] >> t & 1); t++)
				;
			if (hash[names->thread[j]] <= hash[names->thread[t]])
				break;
			other = names->thread[j];
			names->thread[j] = names->thread[t];
			names->thread[t] = other;
			names->moved = true;
		}
	}
}

size_t kl_vm_pack(const struct kl_vm *vm, uint8_t *out, struct kl_vm_names *names)
{
	const struct kl_vm_prog *prog = vm->prog;
	struct packer p;
	unsigned int i;

	p.vm = vm;
	p.at = out;
	p.data = names->data;
	p.n = p.done = p.ndata = 0;
	memset(names->data, 0, sizeof(names->data));
	memset(p.name, 0, vm->nobj);
	if (!prog->canon)
		for (i = 0; i < vm->nobj; i++)
			object_number(&p, i);
	for (i = 0; i < prog->nslots; i++)
		put(&p, vm->mem[i]);
	if (prog->structs)
		put_objects(&p);
	order_threads(&p, names);
	for (i = 0; i < prog->nthreads; i++)
		put_thread(&p, names->thread[i]);
	if (prog->structs)
		put_objects(&p);
	return p.at - out;
}

struct reader {
	const struct kl_vm_prog *prog;
	const uint8_t *in;
};

static uint64_t get_n(struct reader *r, unsigned int n)
{
	uint64_t v = 0;

	memcpy(&v, r->in, n);
	r->in += n;
	return v;
}

static uint64_t get_object(struct reader *r, unsigned int obj)
{
	return KL_VM_PTR + r->prog->nslots + obj * r->prog->stride;
}

static uint64_t get_large(struct reader *r, uint8_t b)
{
	uint64_t v;

	if (b < SLOT)
		return get_object(r, b - PTR);
	switch (b) {
	case SLOT:
		return KL_VM_PTR + get_n(r, 2);
	case FIELD:
		v = get_object(r, get_n(r, 1));
		return v + get_n(r, 1);
	case DATA:
		return KL_VM_DATA + get_n(r, 1);
	case WORD16:
		return get_n(r, 2);
	case WORD32:
		return get_n(r, 4);
	case WORD64:
		return get_n(r, 8);
	default:
		return KL_VM_SPECIAL + (b - SPECIAL);
	}
}

static inline uint64_t get(struct reader *r)
{
	const uint8_t b = *r->in++;

	return b < SMALL ? b : get_large(r, b);
}

static void get_frame(struct reader *r, struct kl_vm_thread *th, unsigned int f, uint32_t base)
{
	uint64_t mask;
	unsigned int i;

	th->pc[f] = base + get_n(r, 2);
	mask = kl_vm_kept(r->prog, th, f);
	for (i = 0; i < r->prog->nregs[f]; i++)
		th->reg[f][i] = mask >> i & 1 ? get(r) : 0;
}

static void get_thread(struct reader *r, struct kl_vm_thread *th, uint32_t base)
{
	uint8_t head = *r->in++, kind;
	unsigned int i;

	th->done = head & 1;
	th->nbuf = head >> 2;
	th->method = -1;
	th->pc[1] = 0;
	if (head & 2) {
		th->method = *r->in++;
		th->args = *r->in++;
		get_frame(r, th, 1, 0);
	} else {
		memset(th->reg[1], 0, r->prog->nregs[1] * sizeof(th->reg[1][0]));
	}
	get_frame(r, th, 0, base);
	for (i = 0; i < th->nbuf; i++) {
		struct kl_vm_entry *e = &th->buf[i];

		kind = *r->in++;
		e->kind = kind & 3;
		e->more = kind >> 2;
		e->addr = e->kind == KL_VM_WRITE ? get(r) - KL_VM_PTR : 0;
		e->val = e->kind == KL_VM_WRITE ? get(r) : 0;
	}
}

static void get_objects(struct reader *r, struct kl_vm *vm)
{
	const struct kl_vm_prog *prog = vm->prog;
	const unsigned int end = vm->nobj + *r->in++;
	unsigned int i, j;

	for (i = vm->nobj; i < end; i++) {
		uint64_t *field = vm->mem + prog->nslots + i * prog->stride;

		vm->type[i] = *r->in++;
		for (j = 0; j < prog->structs[vm->type[i] & KL_VM_STRUCT].nfields; j++)
			field[j] = get(r);
	}
	vm->nobj = end;
	vm->nmem = prog->nslots + end * prog->stride;
}

void kl_vm_unpack(struct kl_vm *vm, const uint8_t *in)
{
	const struct kl_vm_prog *prog = vm->prog;
	struct reader r = { .prog = prog, .in = in };
	unsigned int i;

	vm->nobj = 0;
	vm->nmem = prog->nslots;
	for (i = 0; i < prog->nslots; i++)
		vm->mem[i] = get(&r);
	if (prog->structs)
		get_objects(&r, vm);
	for (i = 0; i < prog->nthreads; i++)
		get_thread(&r, &vm->thread[i], prog->start[i]);
	if (prog->structs)
		get_objects(&r, vm);
}
