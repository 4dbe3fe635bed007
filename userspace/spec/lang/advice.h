/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Advice for messages about specs: what a person may have meant, and what to write.  A program may
 * lack it (klin-replay does): then these functions are NULL.
 *
 * Each text of advice begins with "; " or is empty.
 */
#ifndef KL_SPEC_LANG_ADVICE_H
#define KL_SPEC_LANG_ADVICE_H

#include "spec/lang/parse.h"

struct kl_checker;

#define KL_ADVICE_MAX	200 /* size of a buffer for advice */

/* Advice on the next token, where @what was expected. */
const char *kl_advise_token(struct kl_parser *p, const char *what, char buf[KL_ADVICE_MAX])
	KL_OPTIONAL;
/*
 * Report that the spec has no method @name, unless its declaration has a mistake, which was
 * reported; this does not return.
 */
void kl_advise_no_method(struct kl_parser *p, struct kl_pos pos, const char *name)
	__attribute__((noreturn));
/* Advice on a call NAME(...), where the language has no such function. */
const char *kl_advise_call(struct kl_parser *p, const char *name, char buf[KL_ADVICE_MAX])
	KL_OPTIONAL;
/* Advice on a word of another language; @impl: in an implementation. */
const char *kl_advise_word(const char *word, size_t len, bool impl) KL_OPTIONAL;
/* Advice on a word where an item of a probe clause or a part of a rule begins. */
const char *kl_advise_item(const char *word, size_t len);
/* Advice on a name that is none of @names. */
const char *kl_advise_name(const char *name, const char *const *names, size_t n,
			   char buf[KL_ADVICE_MAX]);
/* Advice on a name at @pos that is no variable of the spec. */
const char *kl_advise_variable(const struct kl_checker *c, const char *name, struct kl_pos pos,
			       char buf[KL_ADVICE_MAX]) KL_OPTIONAL;
/* Advice on a bool @e where a word is needed; @what names the place: "the operand". */
const char *kl_advise_operand(const struct kl_ast_expr *e, const char *what) KL_OPTIONAL;
/* Advice on a method that a container lacks. */
const char *kl_advise_method(enum kl_cont_kind kind, const char *name, char buf[KL_ADVICE_MAX])
	KL_OPTIONAL;

/**
 * kl_advise_sign() - report a character that the language does not have
 * @d: for the message
 * @pos: the character's place
 * @line: the text, from the beginning of the line on
 *
 * Return: the number of bytes that belong to the mistake, at least 1.
 */
size_t kl_advise_sign(struct kl_diag *d, struct kl_pos pos, const char *line) KL_OPTIONAL;

#endif
