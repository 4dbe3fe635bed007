/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared declarations of the parser.  A function that does not find what it needs in the text
 * does not return: it prints a message and jumps to the innermost kl_p_guard(), so that several
 * errors of a text are found.
 */
#ifndef KL_SPEC_LANG_PARSE_H
#define KL_SPEC_LANG_PARSE_H

#include "spec/lang/ast.h"

struct kl_parser;

struct kl_tok *kl_p_peek(struct kl_parser *p);
struct kl_tok *kl_p_ahead(struct kl_parser *p, unsigned int n);
struct kl_tok *kl_p_next(struct kl_parser *p);
/* Get the parser's position, and go back to it. */
size_t kl_p_mark(const struct kl_parser *p);
void kl_p_rewind(struct kl_parser *p, size_t mark);
bool kl_p_is(struct kl_parser *p, int kind);
bool kl_p_is_kw(struct kl_parser *p, enum kl_kw kw);
bool kl_p_is_word(struct kl_parser *p, const char *word);
bool kl_p_take(struct kl_parser *p, int kind);
bool kl_p_take_kw(struct kl_parser *p, enum kl_kw kw);
bool kl_p_take_word(struct kl_parser *p, const char *word);
struct kl_tok *kl_p_expect(struct kl_parser *p, int kind, const char *what);
/* Read a name that is no reserved word; @what is for the message: "a variable's name". */
const char *kl_p_name(struct kl_parser *p, const char *what);
void *kl_p_alloc(struct kl_parser *p, size_t size);
void *kl_p_add_(struct kl_parser *p, void **items, size_t *n, size_t *cap, size_t size,
		const char *what);
/* Add a zeroed element to one of the spec's growable arrays. */
#define kl_p_add(p, s, field)							\
	((__typeof__((s)->field))kl_p_add_((p), (void **)&(s)->field, &(s)->n##field, \
					   &(s)->c##field, sizeof(*(s)->field), #field))
struct kl_spec *kl_p_spec(struct kl_parser *p);
struct kl_diag *kl_p_diag(struct kl_parser *p);
/* Give up the present statement or declaration, after a message; this does not return. */
void kl_p_give_up(struct kl_parser *p) __attribute__((noreturn));
/* Print a message and give up the present statement or declaration; these do not return. */
void kl_p_expected(struct kl_parser *p, const char *what) __attribute__((noreturn));
void kl_p_fail(struct kl_parser *p, struct kl_pos pos, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
/* Run @fn; after an error in it, skip to behind the next ';' or to before the next '}'. */
void kl_p_guard(struct kl_parser *p, void (*fn)(struct kl_parser *p, void *arg), void *arg);
void kl_p_enter(struct kl_parser *p);
void kl_p_leave(struct kl_parser *p);
/* Return: the precedence of a binary operator, from 1 for || to 10 for *; 0 for other tokens. */
int kl_p_precedence(int kind);

/* parse_decl.c */
void kl_p_spec_decl(struct kl_parser *p);
void kl_p_const(struct kl_parser *p);
/* Parse `method NAME(...) -> ...`, up to the body. */
void kl_p_method_head(struct kl_parser *p, struct kl_method_def *m);

/* Return: true if the position is in an implementation or a client. */
bool kl_p_impl(struct kl_parser *p);
void kl_p_set_impl(struct kl_parser *p, bool impl);
/* Return: true if the next word can only begin a declaration of an implementation. */
bool kl_p_is_impl_word(struct kl_parser *p);
struct kl_ast_expr *kl_p_new_expr(struct kl_parser *p, enum kl_ast_kind kind, struct kl_pos pos);
struct kl_stmt *kl_p_new_stmt(struct kl_parser *p, enum kl_stmt_kind kind);
/* Check the depth of the tree under @e.  Return: @e. */
struct kl_ast_expr *kl_p_deeper(struct kl_parser *p, struct kl_ast_expr *e);
struct kl_stmt *kl_p_statement(struct kl_parser *p);

/* parse_expr.c, parse_stmt.c */
struct kl_ast_expr *kl_p_expr(struct kl_parser *p);
struct kl_ast_expr *kl_p_lvalue_or_call(struct kl_parser *p);
struct kl_stmt *kl_p_block(struct kl_parser *p);

/*
 * Parts of the language that a program may lack (klin-replay does): its parser skips their text.
 */
#define KL_OPTIONAL	__attribute__((weak))

/* Parse a probe clause (spec/probe/parse_probe.c). */
void kl_p_probe(struct kl_parser *p) KL_OPTIONAL;
/* Parse a history block (spec/mapping/parse_mapping.c). */
void kl_p_history(struct kl_parser *p) KL_OPTIONAL;

/* Parse a declaration outside the spec (spec/impl/parse_impl.c). */
void kl_p_impl_decl(struct kl_parser *p) KL_OPTIONAL;
/* Parse a statement that only implementations have.  Return: NULL if there is none. */
struct kl_stmt *kl_p_impl_stmt(struct kl_parser *p) KL_OPTIONAL;
/* As kl_p_impl_stmt(), for an expression, and for the part of a place after the name @e. */
struct kl_ast_expr *kl_p_impl_primary(struct kl_parser *p) KL_OPTIONAL;
struct kl_ast_expr *kl_p_impl_place(struct kl_parser *p, struct kl_ast_expr *e) KL_OPTIONAL;
/* Parse any number of `@lin', `@lin if (CONDITION)' and `@lin other'. */
void kl_p_impl_lin(struct kl_parser *p, struct kl_lin **list) KL_OPTIONAL;
/* Compile the implementation of a checked spec (spec/impl/impl.c). */
int kl_impl_gen(struct kl_spec *s, struct kl_diag *d) KL_OPTIONAL;

#endif
