/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the parser share.  Functions that need something of the
 * text do not return if it is not there: they give a message and jump to the
 * innermost kl_p_guard(), so that several errors of a text are found.
 */
#ifndef KL_SPEC_LANG_PARSE_H
#define KL_SPEC_LANG_PARSE_H

#include "spec/lang/ast.h"

struct kl_parser;

struct kl_tok *kl_p_peek(struct kl_parser *p);
struct kl_tok *kl_p_ahead(struct kl_parser *p, unsigned int n);
struct kl_tok *kl_p_next(struct kl_parser *p);
/* Where the parser is, and back to there. */
size_t kl_p_mark(const struct kl_parser *p);
void kl_p_rewind(struct kl_parser *p, size_t mark);
bool kl_p_is(struct kl_parser *p, int kind);
bool kl_p_is_kw(struct kl_parser *p, enum kl_kw kw);
bool kl_p_is_word(struct kl_parser *p, const char *word);
bool kl_p_take(struct kl_parser *p, int kind);
bool kl_p_take_kw(struct kl_parser *p, enum kl_kw kw);
bool kl_p_take_word(struct kl_parser *p, const char *word);
struct kl_tok *kl_p_expect(struct kl_parser *p, int kind, const char *what);
/* A name that is no reserved word; @what for the message: "a variable's name". */
const char *kl_p_name(struct kl_parser *p, const char *what);
void *kl_p_alloc(struct kl_parser *p, size_t size);
void *kl_p_add_(struct kl_parser *p, void **items, size_t *n, size_t *cap, size_t size,
		const char *what);
/* A new zeroed element of one of the specification's growable arrays. */
#define kl_p_add(p, s, field)							\
	((__typeof__((s)->field))kl_p_add_((p), (void **)&(s)->field, &(s)->n##field, \
					   &(s)->c##field, sizeof(*(s)->field), #field))
struct kl_spec *kl_p_spec(struct kl_parser *p);
struct kl_diag *kl_p_diag(struct kl_parser *p);
/* Messages that end the statement or declaration at hand: these do not return. */
void kl_p_expected(struct kl_parser *p, const char *what) __attribute__((noreturn));
void kl_p_fail(struct kl_parser *p, struct kl_pos pos, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
/* Run @fn; if it fails, skip to behind the next ';' or before the next '}'. */
void kl_p_guard(struct kl_parser *p, void (*fn)(struct kl_parser *p, void *arg), void *arg);
void kl_p_enter(struct kl_parser *p);
void kl_p_leave(struct kl_parser *p);
/* Precedence of a binary operator's token, 1 for || to 10 for *; 0 for no operator. */
int kl_p_precedence(int kind);

/* parse_decl.c */
void kl_p_spec_decl(struct kl_parser *p);
void kl_p_const(struct kl_parser *p);
/* `method NAME(...) -> ...`, up to its body. */
void kl_p_method_head(struct kl_parser *p, struct kl_method_def *m);

/* parse_impl.c: implementations and clients. */
bool kl_p_impl(struct kl_parser *p);
void kl_p_set_impl(struct kl_parser *p, bool impl);
/* A declaration outside of the specification; false if there is none. */
bool kl_p_impl_decl(struct kl_parser *p);
/* Is the next word one that begins a declaration of an implementation, and nothing else? */
bool kl_p_is_impl_word(struct kl_parser *p);
/* A statement that only they have; NULL if there is none. */
struct kl_stmt *kl_p_impl_stmt(struct kl_parser *p);
/* The same of expressions; of places: what follows a name. */
struct kl_ast_expr *kl_p_impl_primary(struct kl_parser *p);
struct kl_ast_expr *kl_p_impl_place(struct kl_parser *p, struct kl_ast_expr *e);
/* `@lin', `@lin if (CONDITION)', `@lin other', any number of them. */
void kl_p_impl_lin(struct kl_parser *p, struct kl_lin **list);
struct kl_ast_expr *kl_p_new_expr(struct kl_parser *p, enum kl_ast_kind kind, struct kl_pos pos);
struct kl_stmt *kl_p_new_stmt(struct kl_parser *p, enum kl_stmt_kind kind);
/* Bound the depth of the tree under @e. */
struct kl_ast_expr *kl_p_deeper(struct kl_parser *p, struct kl_ast_expr *e);
struct kl_stmt *kl_p_statement(struct kl_parser *p);

/* parse_expr.c, parse_stmt.c, parse_probe.c, probe_expr.c */
struct kl_ast_expr *kl_p_expr(struct kl_parser *p);
struct kl_ast_expr *kl_p_lvalue_or_call(struct kl_parser *p);
struct kl_stmt *kl_p_block(struct kl_parser *p);
void kl_p_probe(struct kl_parser *p);
/*
 * An expression of C in a probe clause of @target; @has_return: `return` is in it.
 * @special: it may be `empty`, `full` or `absent`.
 */
const struct kl_expr *kl_p_probe_expr(struct kl_parser *p, const struct kl_probe_target *target,
				      bool special, bool *has_return);

#endif
