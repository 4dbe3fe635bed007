/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States in pieces (Holzmann, State Compression in SPIN, 1997): a piece for memory, and one for
 * each thread.  Each piece is stored once and has a number; a state is a tuple of such numbers.
 *
 * A name is a number for an object or a data value.  The piece of memory names all that the fixed
 * memory reaches, by first occurrence.  A thread's piece names the rest of what the thread reaches,
 * in the same way; these are the thread's own names.  A state says which own names of its threads
 * mean the same object or data value.
 *
 * So a step of a thread depends on two pieces only.  Equal pieces are in many states, and threads
 * with the same code share them.
 */
#ifndef KL_TSO_MACHINE_COLLAPSE_H
#define KL_TSO_MACHINE_COLLAPSE_H

#include "base/intern.h"
#include "tso/machine/vm.h"

/* A thread's piece. */
struct kl_piece_info {
	uint8_t ndata, nobj;	/* number of own names of data, and of objects */
	uint8_t thread;		/* the first thread with the same code */
	bool empty_layer;	/* see kl_vm_empty_layer() */
	uint16_t buffer;	/* index of the first word of the store buffer */
};

struct kl_pieces {
	const struct kl_vm_prog *prog;
	struct kl_intern mem, thread;
	struct kl_piece_info *info;	/* for each thread's piece */
	/* cache of kl_pieces_drop_layer(): for each thread's piece the result plus 1, or 0 */
	uint32_t *dropped;
	size_t cinfo, cdropped;
};

/* The names of objects and data in a piece of memory, by their numbers in the machine; and back. */
struct kl_vm_named {
	unsigned int nobj, ndata;
	uint8_t obj[KL_VM_OBJECTS];		/* 1 + the name of each object, or 0 */
	uint8_t data[KL_VM_DATA_MAX];		/* the name, from 1 on, of each data value, or 0 */
	uint8_t obj_of[KL_VM_OBJECTS];		/* the object with each name */
	uint8_t data_of[KL_VM_DATA_MAX];	/* the data value with each name */
};

/* The machine's number of the object or data value for each own name of a thread. */
struct kl_vm_locals {
	unsigned int nobj, ndata;
	uint8_t obj[KL_VM_OBJECTS], data[KL_VM_DATA_MAX];
};

/* Store memory as a piece, and set @names.  Return: the piece's number, or a negative errno. */
int64_t kl_pieces_mem(struct kl_pieces *p, const struct kl_vm *vm, struct kl_vm_named *names);
/*
 * Store thread @t as a piece, given the names of memory, and set @own.
 * Return: the piece's number, or a negative errno.
 */
int64_t kl_pieces_thread(struct kl_pieces *p, const struct kl_vm *vm, unsigned int t,
			 const struct kl_vm_named *names, struct kl_vm_locals *own);
/*
 * Load memory from its piece.  The machine's numbers of objects and data are then their names.
 * Return: number of data values.
 */
unsigned int kl_pieces_get_mem(const struct kl_pieces *p, uint32_t mem, struct kl_vm *vm);
/* Set @names for a machine after kl_pieces_get_mem(): each number is its name. */
void kl_pieces_identity(const struct kl_pieces *p, uint32_t mem, struct kl_vm_named *names);
/*
 * Load thread @t and its own objects from a piece.  The numbers in @own must be below vm->nobj.
 * @names gives the numbers for the names of memory (obj_of and data_of).
 */
void kl_pieces_get_thread(const struct kl_pieces *p, uint32_t piece, struct kl_vm *vm,
			  unsigned int t, const struct kl_vm_named *names,
			  const struct kl_vm_locals *own);
/* Set the number of objects of @vm. */
void kl_pieces_set_nobj(const struct kl_pieces *p, struct kl_vm *vm, unsigned int nobj);
/*
 * Remove the oldest layer, which is empty, from the buffer of a thread's piece.
 * Return: the number of the new piece, or a negative errno.
 */
int64_t kl_pieces_drop_layer(struct kl_pieces *p, uint32_t piece);
void kl_pieces_free(struct kl_pieces *p);
size_t kl_pieces_bytes(const struct kl_pieces *p);

/* Return: number of objects that a piece of memory names. */
static inline unsigned int kl_pieces_nobj(const struct kl_pieces *p, uint32_t mem)
{
	return (uint32_t)p->mem.words[p->mem.at[mem]];
}

/* Return: number of data values that a piece of memory names. */
static inline unsigned int kl_pieces_ndata(const struct kl_pieces *p, uint32_t mem)
{
	return p->mem.words[p->mem.at[mem]] >> 32;
}

#endif
