/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the code generator share. */
#ifndef KL_SPEC_INTERP_GEN_H
#define KL_SPEC_INTERP_GEN_H

#include "spec/lang/ast.h"
#include "spec/interp/code.h"

struct kl_gen {
	struct kl_spec *s;
	struct kl_diag *d;
	struct kl_method_def *m;
	unsigned int top;	/* first free register */
	unsigned int max;	/* registers in use at most */
	unsigned int line;	/* of the statement at hand */
	int err;		/* the first that happened; code is not written after it */
};

/* Append a word; its place counted from the start of the method. */
unsigned int kl_gen_emit(struct kl_gen *g, uint32_t word);
unsigned int kl_gen_here(const struct kl_gen *g);
/* Let the jump at @at go to here. */
void kl_gen_patch(struct kl_gen *g, unsigned int at);
unsigned int kl_gen_temp(struct kl_gen *g);
/* The number of a constant in the pool. */
unsigned int kl_gen_constant(struct kl_gen *g, struct kl_val v);
/* A register that holds @e: its own if it is a local variable. */
unsigned int kl_gen_operand(struct kl_gen *g, const struct kl_ast_expr *e);
/* Compute @e into register @dst, which @e may read unless it branches. */
void kl_gen_expr(struct kl_gen *g, const struct kl_ast_expr *e, unsigned int dst);
/* Call a container's method; the result's register, meaningless if there is none. */
unsigned int kl_gen_call(struct kl_gen *g, const struct kl_ast_expr *e);
/* An operator on registers. */
void kl_gen_arith(struct kl_gen *g, int op, unsigned int dst, unsigned int a, unsigned int b);

/* Can fast_path.c execute it, as a rule? */
bool kl_quick_fits(const struct kl_spec *s, const struct kl_method_def *m);

#endif
