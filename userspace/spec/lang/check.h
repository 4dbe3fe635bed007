/* SPDX-License-Identifier: GPL-2.0 */
/* Shared declarations of the checker. */
#ifndef KL_SPEC_LANG_CHECK_H
#define KL_SPEC_LANG_CHECK_H

#include "spec/lang/ast.h"

#define KL_LOCALS_MAX	128 /* maximal number of parameters and local variables in scope */

struct kl_checker {
	struct kl_spec *s;
	struct kl_diag *d;
	struct kl_method_def *m;
	struct kl_local *scope[KL_LOCALS_MAX];
	unsigned int nscope;
	const struct kl_stmt *atomic; /* the present atomic block, or NULL */
	unsigned int loops;
	unsigned int blocks; /* maximal number of atomic blocks on a path to here */
	bool fenced; /* each path to here has a fence or an atomic_flush */
	bool special_local;		/* some local may hold a special value */
	bool stores_local; /* the value of a local is stored into the state */
	/*
	 * For a method whose key is a result: the variable that named all entries that this path
	 * has touched, or NULL.
	 */
	const struct kl_local *key;
	bool out_of_memory;
};

/* Return: the type of @e, or KL_ET_ERR after a message. */
enum kl_etype kl_check_expr(struct kl_checker *c, struct kl_ast_expr *e);
/* Check that @e has @type; @what names the place: "the condition". */
void kl_check_need(struct kl_checker *c, struct kl_ast_expr *e, enum kl_etype type,
		   const char *what);
/* Record that @e is stored into the state. */
void kl_check_stored(struct kl_checker *c, const struct kl_ast_expr *e);
/* Resolve the variable of a NAME or INDEX, for reading or writing. */
enum kl_etype kl_check_place(struct kl_checker *c, struct kl_ast_expr *e, bool write);
/* Return: the local variable with this name, or NULL. */
struct kl_local *kl_check_local(struct kl_checker *c, const char *name);
/* Get the value of a constant expression.  Return: false after a message. */
bool kl_check_const(struct kl_checker *c, struct kl_ast_expr *e, struct kl_val *v,
		    enum kl_etype *type);

/* If @e is a parameter, record its use (enum kl_use). */
void kl_check_use(struct kl_checker *c, const struct kl_ast_expr *e, unsigned int use);

/*
 * check_part.c checks whether `partition by k` is justified.  These functions are called when @e
 * touches the entry that @key names (NULL: all of the state), when a local variable is declared or
 * assigned, at a return, and when two paths join.
 */
void kl_part_resolve(struct kl_checker *c);
void kl_part_touch(struct kl_checker *c, const struct kl_ast_expr *e,
		   const struct kl_ast_expr *key);
void kl_part_declare(struct kl_checker *c, const struct kl_local *l);
void kl_part_set(struct kl_checker *c, const struct kl_local *l, struct kl_pos pos);
void kl_part_return(struct kl_checker *c, const struct kl_stmt *s);
const struct kl_local *kl_part_join(const struct kl_local *a, const struct kl_local *b);

/* check_stmt.c */
void kl_check_method(struct kl_checker *c, struct kl_method_def *m);

static inline enum kl_etype kl_etype(enum kl_type_kind t)
{
	return t == KL_T_BOOL ? KL_ET_BOOL : KL_ET_WORD;
}

static inline const char *kl_etype_name(enum kl_etype t)
{
	static const char *const names[] = {
		[KL_ET_ERR] = "error", [KL_ET_VOID] = "nothing", [KL_ET_WORD] = "word",
		[KL_ET_BOOL] = "bool", [KL_ET_SPECIAL] = "a special value",
	};

	return names[t];
}

#endif
