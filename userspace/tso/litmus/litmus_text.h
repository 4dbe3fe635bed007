/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the reader of litmus tests share: a place in the text. */
#ifndef KL_TSO_LITMUS_LITMUS_TEXT_H
#define KL_TSO_LITMUS_LITMUS_TEXT_H

#include "tso/litmus/litmus.h"

struct kl_lt_cursor {
	struct kl_litmus *l;
	const char *p;
	unsigned int line, depth;
	int err;
};

/* A message about this line; false. */
bool kl_lt_fail(struct kl_lt_cursor *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Up to 30 characters of what is there, for messages. */
const char *kl_lt_here(const struct kl_lt_cursor *c, char buf[32]);
/* Blanks for comments, which may be nested and anywhere; quoted text stays. */
bool kl_lt_blank_comments(struct kl_lt_cursor *c, char *s);
void kl_lt_space(struct kl_lt_cursor *c);
bool kl_lt_take(struct kl_lt_cursor *c, const char *s);
bool kl_lt_expect(struct kl_lt_cursor *c, const char *s);
size_t kl_lt_name_len(const char *p);
bool kl_lt_name(struct kl_lt_cursor *c, const char **s, size_t *len);
/* False if none is next, or after a message. */
bool kl_lt_number(struct kl_lt_cursor *c, uint64_t *v);
/* Is "1:" or "P1:" next? */
bool kl_lt_at_thread(const struct kl_lt_cursor *c);
/* 1:EAX, P1:rax, x, [x], *x, x[1] */
bool kl_lt_place(struct kl_lt_cursor *c, struct kl_lit_item *it, unsigned int *size);
/* A number or the address of a location. */
bool kl_lt_value(struct kl_lt_cursor *c, uint64_t *v);
/* All behind the program (litmus_cond.c). */
bool kl_lt_condition(struct kl_lt_cursor *c);

#endif
