/* SPDX-License-Identifier: GPL-2.0 */
/* The compiler of probe expressions from within: expressions, and arithmetic. */
#ifndef KL_RECORD_EXPR_COMPILER_H
#define KL_RECORD_EXPR_COMPILER_H

#include "record/expr/compile.h"
#include "record/expr/ctype.h"

struct kl_comp {
	struct kl_kernel *k;
	struct kl_misfit *bad;
	const struct kl_func *f;
	const struct kl_probe_target *t;
	const struct kl_kplace *place;	/* NULL: the function's call and return */
	struct klin_insn *prog;
	unsigned int n;
	unsigned int nparams;	/* highest parameter used, plus one */
	bool at_return;
};

/* The value of an expression: of @ty, or an lvalue of @ty at the address + @off. */
struct kl_cv {
	struct kl_ty ty;
	bool lvalue;
	int64_t off;
};

/* It does not fit at @e; always -EINVAL. */
int kl_c_fail(const struct kl_comp *c, const struct kl_expr *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int kl_c_emit(struct kl_comp *c, const struct kl_expr *e, uint64_t code, uint64_t imm);
/* dst = dst op src */
int kl_c_alu(struct kl_comp *c, const struct kl_expr *e, unsigned int op, unsigned int dst,
	     unsigned int src);
/* Cut a register to an integer type. */
int kl_c_extend(struct kl_comp *c, const struct kl_expr *e, unsigned int reg,
		const struct kl_ty *t);
/* Make a register 0 or 1. */
int kl_c_truth(struct kl_comp *c, const struct kl_expr *e, unsigned int reg);

/* The value or lvalue of @e in @reg; registers above are used, those below are kept. */
int kl_c_expr(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v);
/* The value of @e in @reg. */
int kl_c_value(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v);
/* The same, and it must be an integer. */
int kl_c_integer(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v);
/* place_expr.c: parameter @index of the inlined function, as at its entry. */
int kl_c_inlined_param(struct kl_comp *c, const struct kl_expr *e, unsigned int index,
		       unsigned int reg, struct kl_cv *v);

/* Are there registers for what is below @e? */
int kl_c_deeper(struct kl_comp *c, const struct kl_expr *e, unsigned int reg);

bool kl_c_is_pointer(struct kl_ty t);
/* Size of what it points to; 0 after a message if that is not known. */
uint64_t kl_c_pointee_size(struct kl_comp *c, const struct kl_expr *e, struct kl_ty ptr);

/* arith.c */
int kl_c_unary(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v);
int kl_c_binary(struct kl_comp *c, const struct kl_expr *e, unsigned int reg, struct kl_cv *v);
int kl_c_conditional(struct kl_comp *c, const struct kl_expr *e, unsigned int reg,
		     struct kl_cv *v);

/**
 * kl_shorten() - make a fetch program's steps fewer and shorter
 * @prog: the program; behind its steps all is zero
 * @n: its steps
 *
 * A register is not read again when its value has been put somewhere (KLIN_VAL,
 * KLIN_OBJECT), so what only carries an argument there is joined with that; and where
 * nothing can be unknown yet no step has to ask (KLIN_SURE).
 *
 * Return: bit i is set if argument i is used.
 */
unsigned int kl_shorten(struct klin_insn *prog, unsigned int n);

#endif
