/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tokens of the spec language, and messages about texts.
 *
 * The whole text becomes an array of tokens before parsing, so that the parser can look ahead.  The
 * kind of a token of one character is that character.
 */
#ifndef KL_SPEC_LANG_LEX_H
#define KL_SPEC_LANG_LEX_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/probe/probe.h"

#define KL_TEXT_MAX	(1u << 20) /* maximal size of a file in bytes */
#define KL_NAME_MAX	63 /* maximal length of a name */
#define KL_ERRORS_MAX	20 /* maximal number of messages */

/* Kinds of tokens; operators of two characters are the KL_OP_* of probe.h. */
enum kl_tok_kind {
	KL_TOK_EOF	= 300,
	KL_TOK_NAME,
	KL_TOK_NUM,
	KL_TOK_BAD, /* an error, for which a message was printed */
	KL_TOK_ARROW,
	KL_TOK_DOTDOT,
	KL_TOK_INC,
	KL_TOK_DEC,
	KL_TOK_STRING, /* "..." in one line, with its quotes */
	/* an assignment OP= has this kind plus the kind of OP, which is below 300 */
	KL_TOK_ASSIGN	= 1000,
};

/* Reserved words. */
enum kl_kw {
	KL_KW_NONE,
	KL_KW_ABSENT, KL_KW_ASSERT, KL_KW_ASSUME, KL_KW_ATOMIC, KL_KW_ATOMIC_FLUSH, KL_KW_BOOL,
	KL_KW_CHOOSE, KL_KW_CONST, KL_KW_EITHER, KL_KW_ELSE, KL_KW_EMPTY, KL_KW_FALSE, KL_KW_FENCE,
	KL_KW_FULL, KL_KW_IF, KL_KW_METHOD, KL_KW_OR, KL_KW_PARTITION, KL_KW_PROBE, KL_KW_RETURN,
	KL_KW_SPEC, KL_KW_TRUE, KL_KW_WHILE, KL_KW_WORD,
	/* words of C and of implementations, which cannot be names */
	KL_KW_OTHER,
};

struct kl_tok {
	uint16_t kind;
	uint8_t kw;
	bool after_bad; /* a character before it was refused */
	uint32_t off, len; /* offset and length in the text */
	struct kl_pos pos;
	uint64_t num; /* value of a KL_TOK_NUM */
};

/* Messages about one text; only the first KL_ERRORS_MAX are printed. */
struct kl_diag {
	const char *file;
	const char *text; /* the text, to show the lines of messages; or NULL */
	unsigned int errors;
	bool warned; /* all warnings have been printed */
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
 * @out: the tokens, to be freed by free(); the last has the kind KL_TOK_EOF
 *
 * Characters outside the language get a message and are skipped.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_lex(struct kl_diag *d, const char *text, size_t len, struct kl_tok **out);

/* Return: true if the language reserves the word, so that it can be no name. */
bool kl_is_reserved(const char *word);

/* Return: a token for messages, in @buf: "'text'", cut if it is long, or "end of file". */
const char *kl_tok_show(char buf[48], const char *text, const struct kl_tok *t);

#endif
