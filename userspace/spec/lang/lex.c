// SPDX-License-Identifier: GPL-2.0
/* The lexer, see lex.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "spec/lang/advice.h"

static const struct {
	const char *name;
	enum kl_kw kw;
} keywords[] = {
	{ "absent", KL_KW_ABSENT }, { "assert", KL_KW_ASSERT }, { "assume", KL_KW_ASSUME },
	{ "atomic", KL_KW_ATOMIC }, { "atomic_flush", KL_KW_ATOMIC_FLUSH }, { "bool", KL_KW_BOOL },
	{ "choose", KL_KW_CHOOSE }, { "const", KL_KW_CONST }, { "either", KL_KW_EITHER },
	{ "else", KL_KW_ELSE }, { "empty", KL_KW_EMPTY }, { "false", KL_KW_FALSE },
	{ "fence", KL_KW_FENCE }, { "full", KL_KW_FULL }, { "if", KL_KW_IF },
	{ "method", KL_KW_METHOD }, { "or", KL_KW_OR },
	{ "partition", KL_KW_PARTITION }, { "probe", KL_KW_PROBE }, { "return", KL_KW_RETURN },
	{ "spec", KL_KW_SPEC }, { "true", KL_KW_TRUE }, { "while", KL_KW_WHILE },
	{ "word", KL_KW_WORD },
	{ "break", KL_KW_OTHER }, { "client", KL_KW_OTHER }, { "continue", KL_KW_OTHER },
	{ "do", KL_KW_OTHER }, { "for", KL_KW_OTHER }, { "goto", KL_KW_OTHER },
	{ "null", KL_KW_OTHER }, { "shared", KL_KW_OTHER }, { "sizeof", KL_KW_OTHER },
	{ "struct", KL_KW_OTHER }, { "switch", KL_KW_OTHER }, { "thread", KL_KW_OTHER },
};

struct lexer {
	struct kl_diag *d;
	const char *text;
	size_t len, pos;
	size_t line_start;
	unsigned int line;
	struct kl_tok *tok;
	size_t ntok, cap;
};

static int at(const struct lexer *l, size_t ahead)
{
	return l->pos + ahead < l->len ? (unsigned char)l->text[l->pos + ahead] : 0;
}

static struct kl_pos here(const struct lexer *l)
{
	return (struct kl_pos){ .line = l->line, .col = l->pos - l->line_start + 1 };
}

static void newline(struct lexer *l)
{
	l->pos++;
	l->line++;
	l->line_start = l->pos;
}

static void skip_block_comment(struct lexer *l)
{
	struct kl_pos start = here(l);

	for (l->pos += 2; l->pos < l->len;) {
		if (at(l, 0) == '*' && at(l, 1) == '/') {
			l->pos += 2;
			return;
		}
		if (at(l, 0) == '\n')
			newline(l);
		else
			l->pos++;
	}
	kl_diag_err(l->d, start, "the comment does not end: expected '*/'");
}

static void skip_space(struct lexer *l)
{
	while (l->pos < l->len) {
		int c = at(l, 0);

		if (c == '\n') {
			newline(l);
		} else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
			l->pos++;
		} else if (c == '/' && at(l, 1) == '/') {
			while (l->pos < l->len && at(l, 0) != '\n')
				l->pos++;
		} else if (c == '/' && at(l, 1) == '*') {
			skip_block_comment(l);
		} else {
			return;
		}
	}
}

static bool name_char(int c)
{
	return isalnum(c) || c == '_';
}

static enum kl_kw find_keyword(const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (strlen(keywords[i].name) == len && !memcmp(keywords[i].name, word, len))
			return keywords[i].kw;
	return KL_KW_NONE;
}

bool kl_is_reserved(const char *word)
{
	return find_keyword(word, strlen(word)) != KL_KW_NONE;
}

static void lex_name(struct lexer *l, struct kl_tok *t)
{
	while (name_char(at(l, 0)))
		l->pos++;
	t->kind = KL_TOK_NAME;
	t->len = l->pos - t->off;
	if (t->len > KL_NAME_MAX) {
		kl_diag_err(l->d, t->pos,
			    "name '%.20s...' has %u characters, at most %u are allowed",
			    l->text + t->off, t->len, KL_NAME_MAX);
		t->len = KL_NAME_MAX;
	}
	t->kw = find_keyword(l->text + t->off, t->len);
}

static void lex_number(struct lexer *l, struct kl_tok *t)
{
	unsigned int base = 10, digit;
	bool overflow = false, bad = false;
	uint64_t v = 0;
	size_t i, end;

	while (name_char(at(l, 0)))
		l->pos++;
	end = l->pos;
	t->kind = KL_TOK_NUM;
	t->len = end - t->off;
	while (end > t->off + 1 && strchr("uUlL", l->text[end - 1]))
		end--;
	i = t->off;
	if (l->text[i] == '0' && end - i > 1) {
		base = l->text[i + 1] == 'x' || l->text[i + 1] == 'X' ? 16 : 8;
		i += base == 16 ? 2 : 1;
		bad = i == end;
	}
	for (; i < end; i++) {
		int c = (unsigned char)l->text[i];

		digit = isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : 99;
		bad |= digit >= base;
		overflow |= __builtin_mul_overflow(v, (uint64_t)base, &v);
		overflow |= __builtin_add_overflow(v, (uint64_t)digit, &v);
	}
	if (bad)
		kl_diag_err(l->d, t->pos, "'%.*s' is not a number", t->len > 40 ? 40 : (int)t->len,
			    l->text + t->off);
	else if (overflow)
		kl_diag_err(l->d, t->pos, "number '%.*s' does not fit in 64 bits",
			    t->len > 40 ? 40 : (int)t->len, l->text + t->off);
	t->num = v;
}

/* Read a text in quotes, which has no escapes and ends in its line. */
static void lex_string(struct lexer *l, struct kl_tok *t)
{
	int c;

	t->kind = KL_TOK_STRING;
	for (l->pos++; (c = at(l, 0)) != '"'; l->pos++) {
		if (l->pos < l->len && c >= ' ' && c != 127)
			continue;
		t->kind = KL_TOK_BAD;
		if (l->pos >= l->len || c == '\n')
			kl_diag_err(l->d, t->pos,
				    "the text does not end: expected '\"' in its line");
		else
			kl_diag_err(l->d, here(l), "byte 0x%02x is not allowed in a text", c);
		return;
	}
	l->pos++;
	t->len = l->pos - t->off;
}

static void lex_punct(struct lexer *l, struct kl_tok *t)
{
	static const struct {
		char text[3];
		int kind;
	} two[] = {
		{ "<<", KL_OP_SHL }, { ">>", KL_OP_SHR }, { "==", KL_OP_EQ }, { "!=", KL_OP_NE },
		{ "<=", KL_OP_LE }, { ">=", KL_OP_GE }, { "&&", KL_OP_AND }, { "||", KL_OP_OR },
		{ "->", KL_TOK_ARROW }, { "..", KL_TOK_DOTDOT }, { "++", KL_TOK_INC },
		{ "--", KL_TOK_DEC },
	};
	int c = at(l, 0);
	size_t i;

	t->kind = c;
	t->len = 1;
	for (i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		if (c == two[i].text[0] && at(l, 1) == two[i].text[1]) {
			t->kind = two[i].kind;
			t->len = 2;
			break;
		}
	}
	if ((t->kind == KL_OP_SHL || t->kind == KL_OP_SHR ||
	     (t->len == 1 && strchr("+-*/%&|^", c))) &&
	    at(l, t->len) == '=') {
		t->kind += KL_TOK_ASSIGN;
		t->len++;
	}
	if (t->len == 1 && (!c || !strchr("{}()[]<>,;:=.+-*/%&|^~!?@", c))) {
		t->kind = KL_TOK_BAD;
		if (kl_advise_sign)
			t->len = kl_advise_sign(l->d, t->pos, l->text + l->line_start);
		else
			kl_diag_err(l->d, t->pos, "unexpected byte 0x%02x", c);
	}
	l->pos += t->len;
}

int kl_lex(struct kl_diag *d, const char *text, size_t len, struct kl_tok **out)
{
	struct lexer l = { .d = d, .text = text, .len = len, .line = 1 };
	struct kl_tok *t;
	bool bad = false;
	int c;

	for (;;) {
		skip_space(&l);
		if (kl_grow(l.tok, l.cap, l.ntok + 1)) {
			free(l.tok);
			return -ENOMEM;
		}
		t = &l.tok[l.ntok];
		*t = (struct kl_tok){ .off = l.pos, .pos = here(&l), .after_bad = bad };
		if (l.pos >= l.len || d->errors >= KL_ERRORS_MAX) {
			t->kind = KL_TOK_EOF;
			t->after_bad |= d->errors > 0; /* as behind an open comment */
			break;
		}
		c = at(&l, 0);
		if (isdigit(c))
			lex_number(&l, t);
		else if (name_char(c))
			lex_name(&l, t);
		else if (c == '"')
			lex_string(&l, t);
		else
			lex_punct(&l, t);
		bad = t->kind == KL_TOK_BAD;
		if (!bad)
			l.ntok++;
	}
	*out = l.tok;
	return 0;
}

const char *kl_tok_show(char buf[48], const char *text, const struct kl_tok *t)
{
	if (t->kind == KL_TOK_EOF)
		return "end of file";
	snprintf(buf, 48, "'%.*s%s'", t->len > 40 ? 37 : (int)t->len, text + t->off,
		 t->len > 40 ? "..." : "");
	return buf;
}
