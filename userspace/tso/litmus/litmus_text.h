/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interface of the parser (litmus_parse.c, litmus_lex.c, litmus_cond.c). */
#ifndef KL_TSO_LITMUS_LITMUS_TEXT_H
#define KL_TSO_LITMUS_LITMUS_TEXT_H

#include "tso/litmus/litmus.h"

/*
 * A position in the text.  Functions that return a bool return false after a message, and set @err.
 * Some also return false, without a message, if the expected text does not follow.
 */
struct kl_lt_cursor {
	struct kl_litmus *l;
	const char *p;
	unsigned int depth;
	int err;
	bool other; /* the condition of --explain is read, and not the test's own */
};

/* Print a message about the current position, unless c->err is set already.  Return: false. */
bool kl_lt_fail(struct kl_lt_cursor *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Copy up to 30 characters of the text that follows, for messages.  Return: the copy. */
const char *kl_lt_here(const struct kl_lt_cursor *c, char buf[32]);
/* Replace comments by blanks.  Comments nest, and quoted text has none. */
bool kl_lt_blank_comments(struct kl_lt_cursor *c, char *s);
/* Skip white space. */
void kl_lt_space(struct kl_lt_cursor *c);
/* Skip white space and the text @s.  Return: false, without a message, if @s does not follow. */
bool kl_lt_take(struct kl_lt_cursor *c, const char *s);
/* As kl_lt_take(), but with a message if @s does not follow. */
bool kl_lt_expect(struct kl_lt_cursor *c, const char *s);
/* Return: the length of the name at @p, or 0. */
size_t kl_lt_name_len(const char *p);
/* Read a name.  Return: false, without a message, if none follows. */
bool kl_lt_name(struct kl_lt_cursor *c, const char **s, size_t *len);
/* Read a number.  Return: false, without a message, if none follows. */
bool kl_lt_number(struct kl_lt_cursor *c, uint64_t *v);
/* Return: true if "1:" or "P1:" follows. */
bool kl_lt_at_thread(const struct kl_lt_cursor *c);
/* Read a register or location: 1:EAX, P1:rax, x, [x], *x, x[1]. */
bool kl_lt_place(struct kl_lt_cursor *c, struct kl_lit_item *it, unsigned int *size);
/* Read a number, or the address of a location. */
bool kl_lt_value(struct kl_lt_cursor *c, uint64_t *v);
/* Read the text after the program: locations, filter and condition (litmus_cond.c). */
bool kl_lt_condition(struct kl_lt_cursor *c);
/* Take the condition in @text, which has no quantifier, in place of the test's. */
bool kl_lt_other_condition(struct kl_lt_cursor *c, const char *text);

#endif
