/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interface of the code generator (gen.c, gen_expr.c). */
#ifndef KL_SPEC_INTERP_GEN_H
#define KL_SPEC_INTERP_GEN_H

#include "spec/lang/ast.h"
#include "spec/interp/code.h"

struct kl_gen {
	struct kl_spec *s;
	struct kl_diag *d;
	struct kl_method_def *m;
	unsigned int top;	/* first free register */
	unsigned int max;	/* greatest number of registers in use */
	unsigned int line;	/* line of the current statement */
	int err;		/* the first error, or 0; no code is written after an error */
};

/* Append a word.  Return: its offset from the start of the method. */
unsigned int kl_gen_emit(struct kl_gen *g, uint32_t word);
/* Return: the offset of the next word from the start of the method. */
unsigned int kl_gen_here(const struct kl_gen *g);
/* Set the target of the jump at offset @at to kl_gen_here(). */
void kl_gen_patch(struct kl_gen *g, unsigned int at);
/* Allocate a register. */
unsigned int kl_gen_temp(struct kl_gen *g);
/* Return: the index of a constant in the pool, to which it is added if it is new. */
unsigned int kl_gen_constant(struct kl_gen *g, struct kl_val v);
/* Return: a register that holds @e; for a local variable its own register. */
unsigned int kl_gen_operand(struct kl_gen *g, const struct kl_ast_expr *e);
/* Compute @e into register @dst.  @e may read @dst unless @e branches. */
void kl_gen_expr(struct kl_gen *g, const struct kl_ast_expr *e, unsigned int dst);
/* Call a container's method.  Return: the register of its result, if it has one. */
unsigned int kl_gen_call(struct kl_gen *g, const struct kl_ast_expr *e);
/* Emit an instruction for an operator on registers. */
void kl_gen_arith(struct kl_gen *g, int op, unsigned int dst, unsigned int a, unsigned int b);

/*
 * Return: true if fast_path.c can execute the method when nothing is unknown.  A program may be
 * linked without fast_path.c; klin-replay is.
 */
bool kl_fast_path_fits(const struct kl_spec *s, const struct kl_method_def *m)
	__attribute__((weak));

#endif
