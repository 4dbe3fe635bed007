/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the litmus tests' assembler share. */
#ifndef KL_TSO_LITMUS_LITMUS_ASM_H
#define KL_TSO_LITMUS_LITMUS_ASM_H

#include "tso/litmus/litmus.h"

#define KL_LA_LABELS	256

/*
 * What set the flags: nothing known; a comparison; arithmetic whose carry is not that of
 * one; arithmetic of which only zero and sign are kept.
 */
enum kl_la_flags { FLAGS_NONE, FLAGS_CMP, FLAGS_SIGNED, FLAGS_ARITH };

enum kl_la_kind { OP_IMM, OP_REG, OP_MEM, OP_DEREF, OP_LABEL };

struct kl_la_operand {
	enum kl_la_kind kind;
	uint64_t imm;
	unsigned int reg, size;		/* bytes; of a register's name */
	/* DEREF: the address in reg and the @scale of register @index, if not 0, and @offset. */
	unsigned int index, scale;
	int64_t offset;
	int loc;
	const char *text;
	size_t len;
};

struct kl_la_label {
	const char *name;
	size_t len;
	int at;				/* -1: not seen yet */
	unsigned int line;		/* where it was used first */
};

struct kl_la_fixup {
	uint32_t at;
	unsigned int label;
};

struct kl_lit_asm {
	struct kl_litmus *l;
	unsigned int t, line, temp;
	const char *cell;		/* for messages */
	size_t cell_len;
	enum kl_la_flags flags;
	unsigned int flags_size;	/* bytes that were compared */
	bool deref;			/* some access is through a register */
	unsigned int sizes;		/* of all accesses, a bit for each size in bytes */
	struct kl_la_label labels[KL_LA_LABELS];
	unsigned int nlabels;
	struct kl_la_fixup fixups[KL_LA_LABELS];
	unsigned int nfixups;
	bool lock;			/* a lock prefix in a cell of its own came before */
	int err;
};

/* A message about the cell; -EINVAL. */
int kl_la_refuse(struct kl_lit_asm *a, const char *why);
/* Where the word is. */
uint32_t kl_la_emit(struct kl_lit_asm *a, uint32_t word);
/* Let the jump at @at lead to @to. */
void kl_la_patch(struct kl_lit_asm *a, uint32_t at, uint32_t to);
unsigned int kl_la_temp(struct kl_lit_asm *a);
/* A register that holds it. */
unsigned int kl_la_constant(struct kl_lit_asm *a, uint64_t v);
unsigned int kl_la_binary(struct kl_lit_asm *a, enum kl_opcode op, unsigned int x, unsigned int y);
/* A register with the lowest @size bytes of @r. */
unsigned int kl_la_masked(struct kl_lit_asm *a, unsigned int r, unsigned int size);
/* And with those extended by their sign to @to bytes. */
unsigned int kl_la_extended(struct kl_lit_asm *a, unsigned int r, unsigned int size,
			    unsigned int to);
bool kl_la_is_name(const char *s, size_t len);
void kl_la_trim(const char **s, size_t *len);
int kl_la_operand(struct kl_lit_asm *a, const char *s, size_t len, struct kl_la_operand *o);
bool kl_la_in_memory(const struct kl_la_operand *o);
/* All accesses to a location are of one size: what others would see is not guessed. */
int kl_la_sized(struct kl_lit_asm *a, const struct kl_la_operand *o, unsigned int size);
/* Where accesses through registers may lead, locations are of the size of these. */
int kl_la_check_addressed(struct kl_lit_asm *a);
/* A register that holds the operand's @size bytes, and nothing above them. */
unsigned int kl_la_fetch(struct kl_lit_asm *a, const struct kl_la_operand *o, unsigned int size);
void kl_la_put(struct kl_lit_asm *a, const struct kl_la_operand *o, unsigned int r,
	       unsigned int size);

#endif
