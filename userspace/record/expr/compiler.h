/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interfaces of the compiler of probe expressions. */
#ifndef KL_RECORD_EXPR_COMPILER_H
#define KL_RECORD_EXPR_COMPILER_H

#include "record/expr/compile.h"
#include "record/expr/ctype.h"

/* The state of compiling a target: one fetch program for the call, then one for the return. */
struct kl_comp {
	struct kl_kernel *k;
	struct kl_misfit *bad;
	const struct kl_func *f;
	const struct kl_probe_target *t;
	const struct kl_kplace *place;	/* a place in the function; NULL: its call and return */
	struct klin_insn *prog;
	unsigned int n;
	unsigned int nparams;	/* index of the highest parameter that is used, plus one */
	bool at_return;
};

/*
 * The result of an expression.  Its register holds a value of type @ty or, if @lvalue is set, an
 * address.  The address plus @off is where the lvalue of type @ty is.
 */
struct kl_cv {
	struct kl_ty ty;
	bool lvalue;
	int64_t off;
};

/* Note that @e does not fit the kernel.  Return: -EINVAL. */
int kl_c_fail(const struct kl_comp *c, const struct kl_expr *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int kl_c_emit(struct kl_comp *c, const struct kl_expr *e, uint64_t code, uint64_t imm);
/* Emit dst = dst op src. */
int kl_c_alu(struct kl_comp *c, const struct kl_expr *e, unsigned int op, unsigned int dst,
	     unsigned int src);
/* Truncate a register to an integer type, and extend it to 64 bits. */
int kl_c_extend(struct kl_comp *c, const struct kl_expr *e, unsigned int reg,
		const struct kl_ty *t);
/* Make a register 0 or 1. */
int kl_c_truth(struct kl_comp *c, const struct kl_expr *e, unsigned int reg);

/* Compute the value or lvalue of @e in @reg; the code keeps the registers below @reg. */
int kl_c_expr(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v);
/* Compute the value of @e in @reg. */
int kl_c_value(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v);
/* Compute the value of @e, which must be an integer, in @reg. */
int kl_c_integer(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v);
/* place_expr.c: compute the value of parameter @index at the entry of the inlined function. */
int kl_c_inlined_param(struct kl_comp *c, const struct kl_expr *e, unsigned int index,
		       unsigned int reg, struct kl_cv *v);

/* Check that registers are left for the operands of @e.  Return: 0 or -EINVAL. */
int kl_c_deeper(struct kl_comp *c, const struct kl_expr *e, unsigned int reg);

bool kl_c_is_pointer(struct kl_ty t);
/* Return: bytes of the type that @ptr points to; if unknown, 0 after kl_c_fail(). */
uint64_t kl_c_pointee_size(struct kl_comp *c, const struct kl_expr *e, struct kl_ty ptr);

/* arith.c */
int kl_c_unary(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v);
int kl_c_binary(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v);
int kl_c_conditional(struct kl_comp *c, const struct kl_expr *e, unsigned int reg,
		     struct kl_cv *v);

/**
 * kl_optimize_fetch() - make a fetch program's steps fewer and shorter
 * @prog: the program; the array is zero after its steps
 * @n: number of its steps
 *
 * A register is not read again after its value was stored (KLIN_VAL, KLIN_OBJECT).  So a step that
 * only copies an argument is joined with the step that stores it.  A step is marked KLIN_SURE, and
 * does not test for unknown values, if no value can be unknown after the steps up to it.
 *
 * Return: bit i is set if argument i is used.
 */
unsigned int kl_optimize_fetch(struct klin_insn *prog, unsigned int n);

#endif
