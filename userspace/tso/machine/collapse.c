// SPDX-License-Identifier: GPL-2.0
/* Stores states in pieces. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tso/machine/collapse.h"

/* This bit in a pointer or in data marks a thread's own name. */
#define OWN		(1ULL << 32)

#define MEM_WORDS	(1 + 2 * KL_VM_MEM)
#define THREAD_WORDS	(2 + 2 * KL_VM_REGS + 3 * KL_VM_BUFFER + 2 * KL_VM_MEM)

/* A piece that is being written. */
struct writer {
	const struct kl_vm *vm;
	struct kl_vm_named *mem;		/* the result if the piece is memory, else NULL */
	const struct kl_vm_named *names;	/* memory's names if the piece is a thread */
	struct kl_vm_locals *own;		/* the result if the piece is a thread */
	uint8_t obj[KL_VM_OBJECTS], data[KL_VM_DATA_MAX];	/* own name plus 1, or 0 */
	uint64_t *at;				/* the next word of the piece */
};

void kl_pieces_free(struct kl_pieces *p)
{
	kl_intern_free(&p->mem);
	kl_intern_free(&p->thread);
	free(p->info);
	free(p->dropped);
	memset(p, 0, sizeof(*p));
}

size_t kl_pieces_bytes(const struct kl_pieces *p)
{
	return kl_intern_bytes(&p->mem) + kl_intern_bytes(&p->thread) +
	       p->cinfo * sizeof(*p->info) + p->cdropped * sizeof(*p->dropped);
}

static uint64_t put_object(struct writer *w, unsigned int obj, unsigned int off)
{
	const struct kl_vm_prog *prog = w->vm->prog;

	if (w->mem) {
		if (!w->mem->obj[obj]) {
			w->mem->obj_of[w->mem->nobj] = obj;
			w->mem->obj[obj] = ++w->mem->nobj;
		}
		return KL_VM_PTR + prog->nslots + (w->mem->obj[obj] - 1) * prog->stride + off;
	}
	if (w->names->obj[obj])
		return KL_VM_PTR + prog->nslots + (w->names->obj[obj] - 1) * prog->stride + off;
	if (!w->obj[obj]) {
		w->own->obj[w->own->nobj] = obj;
		w->obj[obj] = ++w->own->nobj;
	}
	return (KL_VM_PTR | OWN) + (w->obj[obj] - 1) * prog->stride + off;
}

static uint64_t put_data(struct writer *w, unsigned int number)
{
	if (w->mem) {
		if (!w->mem->data[number]) {
			w->mem->data[number] = ++w->mem->ndata;
			w->mem->data_of[w->mem->ndata] = number;
		}
		return KL_VM_DATA + w->mem->data[number];
	}
	if (w->names->data[number])
		return KL_VM_DATA + w->names->data[number];
	if (!w->data[number]) {
		w->own->data[w->own->ndata] = number;
		w->data[number] = ++w->own->ndata;
	}
	return (KL_VM_DATA | OWN) + w->data[number] - 1;
}

static void put(struct writer *w, uint64_t v)
{
	const struct kl_vm_prog *prog = w->vm->prog;
	const uint32_t at = v - KL_VM_PTR - prog->nslots;

	if (kl_vm_is_data(v))
		v = put_data(w, v - KL_VM_DATA);
	else if (kl_vm_is_ptr(v) && v - KL_VM_PTR >= prog->nslots && v - KL_VM_PTR < w->vm->nmem)
		v = put_object(w, at / prog->stride, at % prog->stride);
	*w->at++ = v;
}

static void put_fields(struct writer *w, unsigned int obj)
{
	const struct kl_vm_prog *prog = w->vm->prog;
	const uint8_t type = w->vm->type[obj];
	unsigned int i;

	*w->at++ = type;
	for (i = 0; i < prog->structs[type & KL_VM_STRUCT].nfields; i++)
		put(w, w->vm->mem[prog->nslots + obj * prog->stride + i]);
}

int64_t kl_pieces_mem(struct kl_pieces *p, const struct kl_vm *vm, struct kl_vm_named *names)
{
	uint64_t words[MEM_WORDS];
	struct writer w = { .vm = vm, .mem = names, .at = words + 1 };
	unsigned int i;

	names->nobj = names->ndata = 0;
	memset(names->obj, 0, vm->nobj);
	memset(names->data, 0, sizeof(names->data));
	for (i = 0; i < vm->prog->nslots; i++)
		put(&w, vm->mem[i]);
	for (i = 0; i < names->nobj; i++)
		put_fields(&w, names->obj_of[i]);
	words[0] = names->nobj | (uint64_t)names->ndata << 32;
	return kl_intern(&p->mem, words, w.at - words);
}

static void put_frame(struct writer *w, const struct kl_vm_thread *th, unsigned int f)
{
	uint64_t mask = kl_vm_kept(w->vm->prog, th, f);

	for (; mask; mask &= mask - 1)
		put(w, th->reg[f][__builtin_ctzll(mask)]);
}

static void put_buffer(struct writer *w, const struct kl_vm_thread *th)
{
	unsigned int i;

	for (i = 0; i < th->nbuf; i++) {
		const struct kl_vm_entry *e = &th->buf[i];

		*w->at++ = e->kind | e->more << 2;
		if (e->kind != KL_VM_WRITE)
			continue;
		put(w, KL_VM_PTR + e->addr);
		put(w, e->val);
	}
}

static int set_info(struct kl_pieces *p, uint32_t id, const struct kl_piece_info *info)
{
	int ret = kl_grow(p->info, p->cinfo, id + 1);

	if (!ret)
		ret = kl_grow(p->dropped, p->cdropped, id + 1);
	if (ret)
		return ret;
	p->info[id] = *info;
	p->dropped[id] = 0;
	return 0;
}

int64_t kl_pieces_thread(struct kl_pieces *p, const struct kl_vm *vm, unsigned int t,
			 const struct kl_vm_named *names, struct kl_vm_locals *own)
{
	const struct kl_vm_thread *th = &vm->thread[t];
	const unsigned int first = __builtin_ctz(vm->prog->group[t]);
	uint64_t words[THREAD_WORDS];
	struct writer w = { .vm = vm, .names = names, .own = own, .at = words + 2 };
	struct kl_piece_info info = { .thread = first };
	const size_t n = p->thread.n;
	unsigned int i;
	int64_t id;
	int ret;

	own->nobj = own->ndata = 0;
	words[0] = first | th->done << 8 | th->args << 16 | (uint64_t)th->nbuf << 24 |
		   (uint64_t)(th->method + 1) << 32;
	words[1] = (th->pc[0] - vm->prog->start[t]) | (uint64_t)th->pc[1] << 32;
	if (th->method >= 0)
		put_frame(&w, th, 1);
	put_frame(&w, th, 0);
	info.buffer = w.at - words;
	put_buffer(&w, th);
	for (i = 0; i < own->nobj; i++)
		put_fields(&w, own->obj[i]);
	info.nobj = own->nobj;
	info.ndata = own->ndata;
	info.empty_layer = kl_vm_empty_layer(vm, t);
	id = kl_intern(&p->thread, words, w.at - words);
	if (id < 0 || (size_t)id < n)
		return id;
	ret = set_info(p, id, &info);
	return ret ? ret : id;
}

unsigned int kl_pieces_get_mem(const struct kl_pieces *p, uint32_t mem, struct kl_vm *vm)
{
	const struct kl_vm_prog *prog = vm->prog;
	const uint64_t *w = p->mem.words + p->mem.at[mem];
	const unsigned int nobj = (uint32_t)w[0], ndata = *w++ >> 32;
	unsigned int i, j;

	for (i = 0; i < prog->nslots; i++)
		vm->mem[i] = *w++;
	for (i = 0; i < nobj; i++) {
		vm->type[i] = *w++;
		for (j = 0; j < prog->structs[vm->type[i] & KL_VM_STRUCT].nfields; j++)
			vm->mem[prog->nslots + i * prog->stride + j] = *w++;
	}
	kl_pieces_set_nobj(p, vm, nobj);
	return ndata;
}

void kl_pieces_set_nobj(const struct kl_pieces *p, struct kl_vm *vm, unsigned int nobj)
{
	vm->nobj = nobj;
	vm->nmem = p->prog->nslots + nobj * p->prog->stride;
}

void kl_pieces_identity(const struct kl_pieces *p, uint32_t mem, struct kl_vm_named *names)
{
	unsigned int i;

	memset(names, 0, sizeof(*names));
	names->nobj = kl_pieces_nobj(p, mem);
	names->ndata = kl_pieces_ndata(p, mem);
	for (i = 0; i < names->nobj; i++) {
		names->obj[i] = i + 1;
		names->obj_of[i] = i;
	}
	for (i = 1; i <= names->ndata; i++)
		names->data[i] = names->data_of[i] = i;
}

struct reader {
	const struct kl_vm_prog *prog;
	const struct kl_vm_named *names;
	const struct kl_vm_locals *own;
	const uint64_t *at;
};

static uint64_t get(struct reader *r)
{
	const uint64_t v = *r->at++;
	uint32_t at;

	if (kl_vm_is_data(v))
		return KL_VM_DATA + (v & OWN ? r->own->data[(uint32_t)v] :
					       r->names->data_of[(uint32_t)v]);
	if (v >> 62 != 1)
		return v;
	at = v;
	if (!(v & OWN)) {
		if (at < r->prog->nslots)
			return v;
		at -= r->prog->nslots;
	}
	return KL_VM_PTR + r->prog->nslots + at % r->prog->stride + r->prog->stride *
	       (v & OWN ? r->own->obj : r->names->obj_of)[at / r->prog->stride];
}

static void get_frame(struct reader *r, struct kl_vm_thread *th, unsigned int f)
{
	const uint64_t mask = kl_vm_kept(r->prog, th, f);
	unsigned int i;

	for (i = 0; i < r->prog->nregs[f]; i++)
		th->reg[f][i] = mask >> i & 1 ? get(r) : 0;
}

void kl_pieces_get_thread(const struct kl_pieces *p, uint32_t piece, struct kl_vm *vm,
			  unsigned int t, const struct kl_vm_named *names,
			  const struct kl_vm_locals *own)
{
	const struct kl_vm_prog *prog = vm->prog;
	struct kl_vm_thread *th = &vm->thread[t];
	struct reader r = { .prog = prog, .names = names, .own = own };
	unsigned int i, j, obj;
	size_t n;

	r.at = kl_intern_get(&p->thread, piece, &n);
	th->done = r.at[0] >> 8 & 1;
	th->args = r.at[0] >> 16;
	th->nbuf = r.at[0] >> 24 & 0xff;
	th->method = (int)(r.at[0] >> 32) - 1;
	th->pc[0] = prog->start[t] + (uint32_t)r.at[1];
	th->pc[1] = r.at[1] >> 32;
	r.at += 2;
	if (th->method >= 0)
		get_frame(&r, th, 1);
	else
		memset(th->reg[1], 0, prog->nregs[1] * sizeof(th->reg[1][0]));
	get_frame(&r, th, 0);
	for (i = 0; i < th->nbuf; i++) {
		struct kl_vm_entry *e = &th->buf[i];

		e->kind = *r.at & 3;
		e->more = *r.at++ >> 2;
		e->addr = e->kind == KL_VM_WRITE ? get(&r) - KL_VM_PTR : 0;
		e->val = e->kind == KL_VM_WRITE ? get(&r) : 0;
	}
	for (i = 0; i < p->info[piece].nobj; i++) {
		obj = own->obj[i];
		vm->type[obj] = *r.at++;
		for (j = 0; j < prog->structs[vm->type[obj] & KL_VM_STRUCT].nfields; j++)
			vm->mem[prog->nslots + obj * prog->stride + j] = get(&r);
	}
}

int64_t kl_pieces_drop_layer(struct kl_pieces *p, uint32_t piece)
{
	const unsigned int at = p->info[piece].buffer;
	struct kl_piece_info info = p->info[piece];
	uint64_t words[THREAD_WORDS];
	const size_t known = p->thread.n;
	const uint64_t *w;
	int64_t id;
	size_t n;
	int ret;

	if (p->dropped[piece])
		return p->dropped[piece] - 1;
	w = kl_intern_get(&p->thread, piece, &n);
	memcpy(words, w, at * sizeof(*w));
	memcpy(words + at, w + at + 2, (n - at - 2) * sizeof(*w));
	words[0] -= 2 << 24;
	info.empty_layer = (words[0] >> 24 & 0xff) > 1 && words[at] == KL_VM_CALL &&
			   words[at + 1] == KL_VM_RET;
	id = kl_intern(&p->thread, words, n - 2);
	ret = id < 0 || (size_t)id < known ? 0 : set_info(p, id, &info);
	if (ret)
		return ret;
	if (id >= 0)
		p->dropped[piece] = id + 1;
	return id;
}
