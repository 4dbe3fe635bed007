// SPDX-License-Identifier: GPL-2.0
/* Advice on characters that the language does not have, see advice.h. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "spec/lang/advice.h"

/* Characters that word processors, web pages and keyboards give in place of others. */
static const struct {
	char text[4];
	const char *advice;
} characters[] = {
	{ "\xc2\xa0", ", a blank that does not break: write a blank" },
	{ "\xe2\x80\xaf", ", a blank that does not break: write a blank" },
	{ "\xe2\x80\x8b", ", a blank without width: remove it" },
	{ "\xef\xbb\xbf", ", a byte order mark: remove it" },
	{ "\xe2\x80\x9c", "; write '\"'" }, { "\xe2\x80\x9d", "; write '\"'" },
	{ "\xe2\x80\x98", "; write '\"'" }, { "\xe2\x80\x99", "; write '\"'" },
	{ "\xe2\x88\x92", "; write '-'" }, { "\xe2\x80\x93", "; write '-'" },
	{ "\xe2\x80\x94", "; write '-'" }, { "\xe2\x86\x92", "; write '->'" },
	{ "\xe2\x89\xa4", "; write '<='" }, { "\xe2\x89\xa5", "; write '>='" },
	{ "\xe2\x89\xa0", "; write '!='" }, { "\xc3\x97", "; write '*'" },
};

/* Return: the length of the UTF-8 character at @s, or 0 if it is none. */
static size_t utf8_length(const char *s)
{
	const unsigned char c = *s;
	const size_t n = c >= 0xf0 && c < 0xf8 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
	size_t i;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return c < 0xf8 ? n : 0;
}

/* Return: the length of the text in typographic quotes at @s, or of the opening quote alone. */
static size_t quoted(const char *s)
{
	const char *p;

	for (p = s + 1; *p && *p != '\n'; p++) {
		if (*p == '"' || *p == '\'')
			return p - s + 1;
		/* All four typographic quotes begin with the same two bytes. */
		if (!strncmp(p, "\xe2\x80", 2) && (p[2] & 0xfa) == 0x98)
			return p - s + 3;
	}
	return 3;
}

/* Report the character at @s, which is in UTF-8 or no text at all. */
static size_t wide(struct kl_diag *d, struct kl_pos pos, const char *s)
{
	const bool in_name = pos.col > 1 && (isalnum((unsigned char)s[-1]) || s[-1] == '_');
	size_t n = utf8_length(s), i;

	if (!n) {
		kl_diag_err(d, pos, "unexpected byte 0x%02x: expected text in UTF-8",
			    (unsigned char)*s);
		return 1;
	}
	for (i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
		if (strncmp(s, characters[i].text, n) || strlen(characters[i].text) != n)
			continue;
		kl_diag_err(d, pos, "unexpected '%.*s'%s", (int)n, s, characters[i].advice);
		return strchr(characters[i].advice, '"') ? quoted(s) : n;
	}
	kl_diag_err(d, pos, "unexpected '%.*s': names have the letters a to z and A to Z, digits "
			    "and '_'", (int)n, s);
	/* The rest of a name is part of the same mistake. */
	while (in_name && (isalnum((unsigned char)s[n]) || s[n] == '_' || (s[n] & 0x80)))
		n++;
	return n;
}

size_t kl_advise_sign(struct kl_diag *d, struct kl_pos pos, const char *line)
{
	const char *s = line + pos.col - 1, *end;

	if (*s & 0x80)
		return wide(d, pos, s);
	switch (*s) {
	case '#':
		kl_diag_err(d, pos, "unexpected '#': comments begin with '//', and there is no "
				    "preprocessor");
		return strcspn(s, "\n");
	case '\'':
		kl_diag_err(d, pos, "unexpected ''': texts stand in double quotes, and there are "
				    "no characters");
		end = s + 1 + strcspn(s + 1, "'\n");
		return end - s + (*end == '\'');
	case '$':
		kl_diag_err(d, pos,
			    "unexpected '$': names have none; a probe's function has its "
			    "parameters' names, and 'return' is its result");
		return 1 + strspn(s + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");
	default:
		if (*s > ' ' && *s < 127)
			kl_diag_err(d, pos, "unexpected '%c'", *s);
		else
			kl_diag_err(d, pos, "unexpected byte 0x%02x", (unsigned char)*s);
		return 1;
	}
}
