/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States in pieces (Holzmann, State Compression in SPIN, 1997): memory, and for each
 * thread what it has.  Each piece is kept once and has a number.
 *
 * Objects and data that the fixed memory reaches are named there, by where they are
 * found first.  What only threads know is named anew in each thread's piece, in the
 * same manner, and belongs to it; a state tells which of these names are the same.
 * So a piece says all that a step of its thread depends on, together with memory,
 * and is the same in many states, of threads of the same code too.
 */
#ifndef KL_TSO_MACHINE_COLLAPSE_H
#define KL_TSO_MACHINE_COLLAPSE_H

#include "base/intern.h"
#include "tso/machine/vm.h"

struct kl_piece_info {
	uint8_t ndata, nobj;	/* names of its own */
	uint8_t thread;		/* the first one of the same code */
	bool empty_layer;	/* the oldest layer of its buffer is complete and without entries */
	uint16_t buffer;	/* where its buffer begins, in words */
};

struct kl_pieces {
	const struct kl_vm_prog *prog;
	struct kl_intern mem, thread;
	struct kl_piece_info *info;	/* of each thread's piece */
	uint32_t *dropped;		/* the piece without its oldest, empty layer, plus 1 */
	size_t cinfo, cdropped;
};

/* What memory names, in a machine: its objects and data by number, and the names of these. */
struct kl_vm_named {
	unsigned int nobj, ndata;
	uint8_t obj[KL_VM_OBJECTS];		/* 1 + the name of an object, 0: it has none */
	uint8_t data[KL_VM_DATA_MAX];		/* the name of data, 1, 2, ...; 0: it has none */
	uint8_t obj_of[KL_VM_OBJECTS];		/* which object has a name */
	uint8_t data_of[KL_VM_DATA_MAX];	/* which data has a name */
};

/* What a thread's piece names besides: which objects and data these are. */
struct kl_vm_locals {
	unsigned int nobj, ndata;
	uint8_t obj[KL_VM_OBJECTS], data[KL_VM_DATA_MAX];
};

/* Memory as a piece: its number, or a negative errno; @names is set. */
int64_t kl_pieces_mem(struct kl_pieces *p, const struct kl_vm *vm, struct kl_vm_named *names);
/* A thread as a piece beside that memory; @own is set. */
int64_t kl_pieces_thread(struct kl_pieces *p, const struct kl_vm *vm, unsigned int t,
			 const struct kl_vm_named *names, struct kl_vm_locals *own);
/* Memory from its piece; its objects and data have their names as numbers.  How many data. */
unsigned int kl_pieces_get_mem(const struct kl_pieces *p, uint32_t mem, struct kl_vm *vm);
/* Which numbers a machine has for names, where kl_pieces_get_mem() is all that was done. */
void kl_pieces_plain(const struct kl_pieces *p, uint32_t mem, struct kl_vm_named *names);
/*
 * A thread from its piece, with the objects of its own; vm->nobj must be beyond all of
 * these.  @names: which numbers the names of memory have (obj_of and data_of).
 */
void kl_pieces_get_thread(const struct kl_pieces *p, uint32_t piece, struct kl_vm *vm,
			  unsigned int t, const struct kl_vm_named *names,
			  const struct kl_vm_locals *own);
/* @vm has room for that many objects. */
void kl_pieces_room(const struct kl_pieces *p, struct kl_vm *vm, unsigned int nobj);
/* A thread's piece without the oldest layer, which is empty; a negative errno. */
int64_t kl_pieces_drop_layer(struct kl_pieces *p, uint32_t piece);
void kl_pieces_free(struct kl_pieces *p);
size_t kl_pieces_bytes(const struct kl_pieces *p);

/* How many objects and data a memory names. */
static inline unsigned int kl_pieces_nobj(const struct kl_pieces *p, uint32_t mem)
{
	return (uint32_t)p->mem.words[p->mem.at[mem]];
}

static inline unsigned int kl_pieces_ndata(const struct kl_pieces *p, uint32_t mem)
{
	return p->mem.words[p->mem.at[mem]] >> 32;
}

#endif
