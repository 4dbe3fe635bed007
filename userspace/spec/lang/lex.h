/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tokens of the specification language, and messages about its texts.
 *
 * A text is turned into one array of tokens before it is parsed, so that the
 * parser may look ahead.  The kind of a token of one character is that character.
 */
#ifndef KL_SPEC_LANG_LEX_H
#define KL_SPEC_LANG_LEX_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/lang/probe.h"

#define KL_TEXT_MAX	(1u << 20)	/* bytes in a file */
#define KL_NAME_MAX	63		/* characters in a name */
#define KL_ERRORS_MAX	20		/* messages before giving up */

/* KL_OP_* of probe.h are the operators of two characters. */
enum kl_tok_kind {
	KL_TOK_EOF	= 300,
	KL_TOK_NAME,
	KL_TOK_NUM,
	KL_TOK_BAD,	/* a message was given for it */
	KL_TOK_ARROW,
	KL_TOK_DOTDOT,
	KL_TOK_INC,
	KL_TOK_DEC,
	KL_TOK_STRING,	/* "..." in one line, the quotes are part of it */
	/* The assignment OP= is this plus OP's own kind, which is below 300. */
	KL_TOK_ASSIGN	= 1000,
};

/* Reserved words. */
enum kl_kw {
	KL_KW_NONE,
	KL_KW_ABSENT, KL_KW_ASSERT, KL_KW_ASSUME, KL_KW_ATOMIC, KL_KW_ATOMIC_FLUSH, KL_KW_BOOL,
	KL_KW_CHOOSE, KL_KW_CONST, KL_KW_EITHER, KL_KW_ELSE, KL_KW_EMPTY, KL_KW_FALSE, KL_KW_FENCE,
	KL_KW_FULL, KL_KW_IF, KL_KW_METHOD, KL_KW_OR, KL_KW_PARTITION, KL_KW_PROBE, KL_KW_RETURN,
	KL_KW_SPEC, KL_KW_TRUE, KL_KW_WHILE, KL_KW_WORD,
	/* Of C or of the part of the language that describes implementations: no names either. */
	KL_KW_OTHER,
};

struct kl_tok {
	uint16_t kind, kw;
	uint32_t off, len;	/* where in the text */
	struct kl_pos pos;
	uint64_t num;		/* of KL_TOK_NUM */
};

/* Messages about one text; those after the first KL_ERRORS_MAX are dropped. */
struct kl_diag {
	const char *file;
	unsigned int errors;
	bool warned;		/* of all that there is to warn of */
};

void kl_diag_err(struct kl_diag *d, struct kl_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void kl_diag_warn(struct kl_diag *d, struct kl_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * kl_lex() - split a text into tokens
 * @d: for messages
 * @text: the text
 * @len: its length in bytes, at most KL_TEXT_MAX
 * @out: the tokens, the last of kind KL_TOK_EOF; free() them
 *
 * Characters that are no part of the language get a message and are left out.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_lex(struct kl_diag *d, const char *text, size_t len, struct kl_tok **out);

/* "'text'" of a token for messages, cut if long; "end of file". */
const char *kl_tok_show(char buf[48], const char *text, const struct kl_tok *t);

#endif
