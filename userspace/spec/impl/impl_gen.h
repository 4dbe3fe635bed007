/* SPDX-License-Identifier: GPL-2.0 */
/* Shared declarations of the compiler of implementations. */
#ifndef KL_SPEC_IMPL_IMPL_GEN_H
#define KL_SPEC_IMPL_IMPL_GEN_H

#include "spec/interp/gen.h"
#include "spec/impl/impl.h"

struct kl_ilocal {
	const char *name;
	struct kl_pos pos;
	unsigned int type;
};

/* The kind of the code being compiled, which decides whether calls and returns are allowed. */
enum kl_icode { KL_IC_METHOD, KL_IC_INIT, KL_IC_THREAD, KL_IC_FINAL };

/* Masks of the local variables without a value. */
struct kl_iunset {
	uint64_t always, some; /* variables without a value on all paths to here; on some paths */
	bool dead; /* no path leads here */
};

struct kl_igen {
	struct kl_gen g;
	struct kl_impl *im;
	struct kl_method_def *m; /* the method, or a placeholder for other code */
	enum kl_icode code;
	struct kl_ilocal local[KL_IMPL_REGS]; /* variables, by register */
	unsigned int nlocals, nloops, self;
	const char **names; /* names of the variables in registers, or NULL */
	unsigned int nkept; /* number of variables at the end of the last list of statements */
	unsigned int atomic; /* line of the present atomic block, or 0 */
	bool returns; /* a `return' can be reached */
	/* linearization points */
	bool lin; /* linearization points are compiled */
	bool in_lin; /* the present expression is the condition of a linearization point */
	/* the expression whose linearization points belong to the statement's store */
	const struct kl_ast_expr *later;
	unsigned int rmw, rmw_type; /* register and type of the last locked instruction's result */
	/* jumps of the innermost loop, chained through their targets */
	unsigned int brk, cont;
	bool broken; /* the innermost loop has a `break' */
	/* variables without a value at this place, and at the targets of brk and cont */
	struct kl_iunset unset, at_brk, at_cont;
};

void kl_ig_err(struct kl_igen *g, struct kl_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *kl_itype_name(const struct kl_igen *g, unsigned int type, char buf[80]);
/* Give a variable the next register. */
void kl_ig_local(struct kl_igen *g, const char *name, struct kl_pos pos, unsigned int type);
/* Return: the type of the struct with this name, or KL_IT_ERR after a message. */
unsigned int kl_ig_struct(struct kl_igen *g, const char *name, struct kl_pos pos);

/* A place: a local, or shared memory. */
struct kl_place {
	enum { KL_PL_NONE, KL_PL_LOCAL, KL_PL_SLOT, KL_PL_ARRAY, KL_PL_FIELD } kind;
	unsigned int type;
	unsigned int reg; /* register of the local, of the index, or of the pointer */
	uint32_t at; /* the slot, the array's first word, or the field */
	struct kl_field *field;
	struct kl_pos pos; /* position of the field's name */
};

/* impl_place.c.  Return: the constant with this name, or NULL. */
const struct kl_const *kl_ig_const_named(const struct kl_igen *g, const char *name);
void kl_ig_no_such_name(struct kl_igen *g, const struct kl_ast_expr *e);
struct kl_place kl_ig_place(struct kl_igen *g, const struct kl_ast_expr *e);
void kl_ig_load(struct kl_igen *g, const struct kl_place *p, unsigned int dst);
void kl_ig_store(struct kl_igen *g, const struct kl_place *p, unsigned int src);
/* Compile @e, with its value in register @dst.  Return: its type. */
unsigned int kl_ig_expr(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int dst);
/*
 * Compile @e, which must have @type; @what is for the message.  Return: the register of its
 * value.
 */
unsigned int kl_ig_value(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int type,
			 const char *what);
bool kl_ig_fits(unsigned int have, unsigned int want);
/* Get the word of a constant expression.  Return: false after a message. */
bool kl_ig_const(struct kl_igen *g, const struct kl_ast_expr *e, uint64_t *v);
/* Compile linearization points behind @e, or on their own if @e is NULL. */
void kl_ig_lin(struct kl_igen *g, const struct kl_lin *l, const struct kl_ast_expr *e,
	       bool attached);
/* Compile a list of statements.  Return: true if its end cannot be reached. */
bool kl_ig_list(struct kl_igen *g, const struct kl_stmt *s);
/* impl_set.c: record that a local variable is set, is declared without a value, or is read. */
void kl_ig_has_value(struct kl_igen *g, unsigned int local);
void kl_ig_no_value(struct kl_igen *g, unsigned int local);
void kl_ig_read(struct kl_igen *g, unsigned int local, struct kl_pos pos);
/* Return: the variables that these statements may set, a bit each. */
uint64_t kl_ig_sets(const struct kl_igen *g, const struct kl_stmt *s);
void kl_ig_meet(struct kl_iunset *u, const struct kl_iunset *other);
unsigned int kl_ig_emit(struct kl_igen *g, uint32_t word);

#endif
