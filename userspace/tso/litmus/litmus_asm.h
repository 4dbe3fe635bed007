/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interface of the assembler (litmus_x86.c, litmus_operand.c). */
#ifndef KL_TSO_LITMUS_LITMUS_ASM_H
#define KL_TSO_LITMUS_LITMUS_ASM_H

#include "tso/litmus/litmus.h"

#define KL_LA_LABELS	256

/*
 * The source of the flags:
 *	FLAGS_NONE	not known
 *	FLAGS_CMP	a comparison
 *	FLAGS_SIGNED	a comparison, whose carry flag is not known
 *	FLAGS_ARITH	arithmetic, of which only the zero and sign flags are known
 */
enum kl_la_flags { FLAGS_NONE, FLAGS_CMP, FLAGS_SIGNED, FLAGS_ARITH };

enum kl_la_kind { OP_IMM, OP_REG, OP_MEM, OP_DEREF, OP_LABEL };

struct kl_la_operand {
	enum kl_la_kind kind;
	uint64_t imm;
	unsigned int reg, size;		/* size: bytes of the register that the name means */
	/*
	 * OP_DEREF: address = @reg + @scale * @index + @offset, where @reg and @index are
	 * registers
	 */
	unsigned int index, scale;
	int64_t offset;
	int loc;
	const char *text;
	size_t len;
};

struct kl_la_label {
	const char *name;
	size_t len;
	int at;				/* index of its code, or -1 if not defined yet */
};

/* A jump to a label; @at is the index of its code. */
struct kl_la_fixup {
	uint32_t at;
	unsigned int label;
};

struct kl_lit_asm {
	struct kl_litmus *l;
	unsigned int t, temp;
	const char *cell;		/* text of the current cell, for messages; or NULL */
	size_t cell_len;
	enum kl_la_flags flags;
	unsigned int flags_size;	/* number of bytes that were compared */
	bool deref;			/* an access is through a register */
	unsigned int sizes;		/* bitwise or of the sizes of all accesses, in bytes */
	struct kl_la_label labels[KL_LA_LABELS];
	unsigned int nlabels;
	struct kl_la_fixup fixups[KL_LA_LABELS];
	unsigned int nfixups;
	bool lock;			/* the cell before was a lock prefix only */
	bool weak, strong;		/* the cell loses its fence or lock; it gets a lock */
	int err;
};

/* Print a message about the current cell.  Return: -EINVAL. */
int kl_la_refuse(struct kl_lit_asm *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Append a word of code.  Return: its index. */
uint32_t kl_la_emit(struct kl_lit_asm *a, uint32_t word);
/* Set the target of the jump at index @at to index @to. */
void kl_la_patch(struct kl_lit_asm *a, uint32_t at, uint32_t to);
/* Begin a fence or a locked instruction in the current cell, unless the cell loses it. */
void kl_la_barrier(struct kl_lit_asm *a, uint32_t word);
/* Allocate a register, for the current cell only. */
unsigned int kl_la_temp(struct kl_lit_asm *a);
/* Return: a register with the value @v. */
unsigned int kl_la_constant(struct kl_lit_asm *a, uint64_t v);
/* Return: a register with the value x op y. */
unsigned int kl_la_binary(struct kl_lit_asm *a, enum kl_opcode op, unsigned int x, unsigned int y);
/* Return: a register with the lowest @size bytes of @r. */
unsigned int kl_la_masked(struct kl_lit_asm *a, unsigned int r, unsigned int size);
/* Return: a register with the lowest @size bytes of @r, sign-extended to @to bytes. */
unsigned int kl_la_extended(struct kl_lit_asm *a, unsigned int r, unsigned int size,
			    unsigned int to);
bool kl_la_is_name(const char *s, size_t len);
/* Remove blanks at both ends. */
void kl_la_trim(const char **s, size_t *len);
/* Parse an operand.  Return: 0, or -EINVAL after a message. */
int kl_la_operand(struct kl_lit_asm *a, const char *s, size_t len, struct kl_la_operand *o);
bool kl_la_in_memory(const struct kl_la_operand *o);
/*
 * Note an access of @size bytes to an operand.  All accesses to a location must have one size: the
 * effect of mixed sizes is not certain.  Return: 0, or -EINVAL after a message.
 */
int kl_la_sized(struct kl_lit_asm *a, const struct kl_la_operand *o, unsigned int size);
/*
 * Check that each location that an access through a register may reach has the size of the access.
 * Return: 0, or -EINVAL after a message.
 */
int kl_la_check_addressed(struct kl_lit_asm *a);
/* Return: a register with the operand's @size bytes, and zeros above them. */
unsigned int kl_la_fetch(struct kl_lit_asm *a, const struct kl_la_operand *o, unsigned int size);
/* Store the register @r to an operand of @size bytes. */
void kl_la_put(struct kl_lit_asm *a, const struct kl_la_operand *o, unsigned int r,
	       unsigned int size);

#endif
