/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the implementations' compiler share. */
#ifndef KL_SPEC_IMPL_IMPL_GEN_H
#define KL_SPEC_IMPL_IMPL_GEN_H

#include "spec/interp/gen.h"
#include "spec/impl/impl.h"

struct kl_ilocal {
	const char *name;
	struct kl_pos pos;
	unsigned int type;
};

/* What the code at hand is: calls and returns have their places. */
enum kl_icode { KL_IC_METHOD, KL_IC_INIT, KL_IC_THREAD, KL_IC_FINAL };

/* Local variables without a value, a bit for each. */
struct kl_iunset {
	uint64_t always, some;		/* on all ways that lead here, on some */
	bool dead;			/* none does */
};

struct kl_igen {
	struct kl_gen g;
	struct kl_impl *im;
	struct kl_method_def *m;	/* of a method; a stand-in for others */
	enum kl_icode code;
	struct kl_ilocal local[KL_IMPL_REGS];	/* each in the register of its number */
	unsigned int nlocals, nloops, self;
	const char **names;		/* of the variables in registers, if they are wanted */
	unsigned int nkept;		/* variables at the end of the last list of statements */
	unsigned int atomic;		/* the line of the block we are in, or 0 */
	bool returns;			/* some `return' can be reached */
	/* Linearization points. */
	bool lin;			/* they become code */
	bool in_lin;			/* this is the condition of one */
	const struct kl_ast_expr *later; /* its points come behind the statement's store */
	unsigned int rmw, rmw_type;	/* register of the last locked instruction's result */
	/* Jumps of the innermost loop, chained through their targets. */
	unsigned int brk, cont;
	bool broken;
	struct kl_iunset unset, at_brk, at_cont;	/* here, and behind those jumps */
};

void kl_ig_err(struct kl_igen *g, struct kl_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *kl_itype_name(const struct kl_igen *g, unsigned int type, char buf[80]);
/* A variable of that name is in the next register. */
void kl_ig_local(struct kl_igen *g, const char *name, struct kl_pos pos, unsigned int type);
/* The type that a name of a struct means, or KL_IT_ERR after a message. */
unsigned int kl_ig_struct(struct kl_igen *g, const char *name, struct kl_pos pos);

/* A place: a local, or shared memory. */
struct kl_place {
	enum { KL_PL_NONE, KL_PL_LOCAL, KL_PL_SLOT, KL_PL_ARRAY, KL_PL_FIELD } kind;
	unsigned int type;
	unsigned int reg;	/* the local, the index, the pointer */
	uint32_t at;		/* the slot, the array's word, the field */
	struct kl_field *field;
	struct kl_pos pos;	/* of the field's name */
};

/* impl_place.c; NULL: there is none. */
const struct kl_const *kl_ig_const_named(const struct kl_igen *g, const char *name);
void kl_ig_no_such_name(struct kl_igen *g, const struct kl_ast_expr *e);
struct kl_place kl_ig_place(struct kl_igen *g, const struct kl_ast_expr *e);
void kl_ig_load(struct kl_igen *g, const struct kl_place *p, unsigned int dst);
void kl_ig_store(struct kl_igen *g, const struct kl_place *p, unsigned int src);
/* Compute @e to register @dst; its type. */
unsigned int kl_ig_expr(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int dst);
/* A register that holds @e, which must be of @type; @what for the message. */
unsigned int kl_ig_value(struct kl_igen *g, const struct kl_ast_expr *e, unsigned int type,
			 const char *what);
bool kl_ig_fits(unsigned int have, unsigned int want);
/* A word of a constant expression. */
bool kl_ig_const(struct kl_igen *g, const struct kl_ast_expr *e, uint64_t *v);
/* Linearization points behind @e, or on their own if that is NULL. */
void kl_ig_lin(struct kl_igen *g, const struct kl_lin *l, const struct kl_ast_expr *e,
	       bool attached);
/* A list of statements; true if its end cannot be reached. */
bool kl_ig_list(struct kl_igen *g, const struct kl_stmt *s);
/* impl_set.c: a local variable is set; is declared without a value; is read. */
void kl_ig_has_value(struct kl_igen *g, unsigned int local);
void kl_ig_no_value(struct kl_igen *g, unsigned int local);
void kl_ig_read(struct kl_igen *g, unsigned int local, struct kl_pos pos);
/* The variables that these statements may set. */
uint64_t kl_ig_sets(const struct kl_igen *g, const struct kl_stmt *s);
void kl_ig_meet(struct kl_iunset *u, const struct kl_iunset *other);
unsigned int kl_ig_emit(struct kl_igen *g, uint32_t word);

#endif
