// SPDX-License-Identifier: GPL-2.0
/* Strings, characters and symbols of EDN, and the tags that apply to strings; see edn_form.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "history/formats/edn_form.h"

#define ESCAPE	"one of the escapes \\t, \\r, \\n, \\b, \\f, \\\\, \\\", \\101 and \\u0041"

#define CHARACTER	"a character, as in \\a, \\newline or \\u0041"

/* Encode a code point as UTF-8.  A lone half of a surrogate pair is encoded like any other. */
static unsigned int utf8(char *to, unsigned int c)
{
	if (c < 0x80) {
		to[0] = c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = 0xc0 | c >> 6;
		to[1] = 0x80 | (c & 63);
		return 2;
	}
	if (c < 0x10000) {
		to[0] = 0xe0 | c >> 12;
		to[1] = 0x80 | (c >> 6 & 63);
		to[2] = 0x80 | (c & 63);
		return 3;
	}
	to[0] = 0xf0 | c >> 18;
	to[1] = 0x80 | (c >> 12 & 63);
	to[2] = 0x80 | (c >> 6 & 63);
	to[3] = 0x80 | (c & 63);
	return 4;
}

/* Return: the number of four hexadecimal digits at @p, or -1 if there are fewer digits. */
static int hex4(const char *p)
{
	unsigned int i, d;
	int v = 0;

	for (i = 0; i < 4; i++) {
		d = (unsigned int)((p[i] | 0x20) - 'a') + 10;
		if (kl_scan_digit(p[i]))
			d = p[i] - '0';
		else if (d < 10)
			return -1;
		if (d > 15)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

/*
 * Read an octal number of up to three digits.  Return: the number, or -1 if it is above 0377 or
 * has no digit.
 */
static int octal(const char **pp)
{
	const char *p = *pp;
	int v = 0;

	for (; p < *pp + 3 && (unsigned int)(*p - '0') < 8; p++)
		v = v << 3 | (*p - '0');
	if (p == *pp || v > 0377)
		return -1;
	*pp = p;
	return v;
}

/*
 * Read the rest of an escape at *pp, which is behind the backslash.
 * Return: the character, or -1 if there is no valid escape.
 */
static int escaped(const char **pp)
{
	static const char from[] = "trnbf\\\"", to[] = "\t\r\n\b\f\\\"";
	const char *p = *pp, *found;
	int c, low;

	if (*p == 'u') {
		c = hex4(p + 1);
		*pp = p + 5;
		if (c >> 10 == 0xd800 >> 10 && p[5] == '\\' && p[6] == 'u') {
			low = hex4(p + 7);
			if (low >> 10 == 0xdc00 >> 10) {
				*pp = p + 11;
				c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
			}
		}
		return c;
	}
	if (kl_scan_digit(*p))
		return octal(pp);
	found = *p ? strchr(from, *p) : NULL;
	*pp = p + 1;
	return found ? to[found - from] : -1;
}

/*
 * Append a character of a string to the canonical text.  Quotes, backslashes and newlines are
 * escaped, so that the text is one line.
 */
static int put_char(struct kl_edn *e, char c)
{
	const char two[2] = { '\\', c == '\n' ? 'n' : c };

	if (c == '"' || c == '\\' || c == '\n')
		return kl_edn_put(e, two, 2);
	return kl_edn_put(e, &c, 1);
}

int kl_edn_text(struct kl_edn *e, struct kl_edn_val *out)
{
	const char *tok = e->p, *p = tok + 1, *from;
	const size_t at = e->ncanon;
	const unsigned int line = e->scan.line;
	char utf[4], *s, *to;
	unsigned int n, i;
	int c, ret = kl_edn_put(e, "\"", 1);

	while (p < e->end && *p != '"' && !ret) {
		if (*p != '\\') {
			e->scan.line += *p == '\n';
			ret = put_char(e, *p++);
			continue;
		}
		from = p++;
		c = escaped(&p);
		if (c < 0)
			return kl_scan_bad(&e->scan, from, ESCAPE);
		n = utf8(utf, c);
		for (i = 0; i < n && !ret; i++)
			ret = put_char(e, utf[i]);
	}
	if (ret)
		return ret;
	if (p >= e->end) {
		e->scan.line = line;
		return kl_scan_bad(&e->scan, tok, "a string with a closing quote");
	}
	e->p = p + 1;
	if (out) {
		s = to = kl_arena_alloc(&e->arena, e->ncanon - at);
		if (!s)
			return -ENOMEM;
		for (from = e->canon + at + 1; from < e->canon + e->ncanon; from++)
			*to++ = *from != '\\' ? *from : *++from == 'n' ? '\n' : *from;
		out->s = s;
		out->len = to - s;
	}
	return kl_edn_put(e, "\"", 1);
}

int kl_edn_char(struct kl_edn *e)
{
	static const struct {
		const char *name;
		int c;
	} names[] = {
		{ "newline", '\n' }, { "space", ' ' }, { "tab", '\t' }, { "return", '\r' },
		{ "formfeed", '\f' }, { "backspace", '\b' },
	};
	const char *tok = e->p, *p = tok + 1, *name = p, *at;
	unsigned int i;
	int c = -1;
	size_t n;
	char text[8];

	/*
	 * The first byte may be one that no symbol contains, such as a bracket.  Further bytes of
	 * the character, or letters of its name, are read as an atom.
	 */
	if (!kl_edn_is(*p, KL_EDN_ATOM) && (unsigned char)*p <= ' ')
		return kl_scan_bad(&e->scan, tok, "a character");
	p = kl_edn_atom_end(p + 1);
	n = p - name;
	e->p = p;
	if (!kl_edn_ends(*p))
		return kl_scan_bad(&e->scan, tok, CHARACTER);
	for (i = 1; i < n && ((unsigned char)name[i] & 0xc0) == 0x80; i++)
		;
	if (i == n && (n == 1 || (unsigned char)*name >= 0xc0))
		return kl_edn_put(e, tok, n + 1);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (kl_scan_is(name, n, names[i].name))
			c = names[i].c;
	if (*name == 'u' && n == 5)
		c = hex4(name + 1);
	at = name + 1;
	if (*name == 'o' && n <= 4) {
		c = octal(&at);
		c = at == p ? c : -1;
	}
	if (c < 0)
		return kl_scan_bad(&e->scan, tok, CHARACTER);
	/* Visible characters stand for themselves; others become \uXXXX. */
	n = c > ' ' ? 1 + utf8(text + 1, c) :
	    (size_t)snprintf(text, sizeof(text), "\\u%04x", c);
	text[0] = '\\';
	return kl_edn_put(e, text, n);
}

int kl_edn_symbol(struct kl_edn *e)
{
	const char *tok = e->p, *p = kl_edn_atom_end(tok);

	if (!kl_edn_ends(*p))
		return kl_scan_bad(&e->scan, tok, "a value: symbols have no such character");
	if (*tok == ':' && (p == tok + 1 || tok[1] == ':'))
		return kl_scan_bad(&e->scan, tok, "a keyword with a name, as in :read");
	e->p = p;
	return kl_edn_put(e, tok, p - tok);
}

int kl_edn_symbolic(struct kl_edn *e, const char *tok)
{
	const char *p = kl_edn_atom_end(tok + 2);
	const size_t n = p - tok;

	if (kl_scan_is(tok, n, "##NaN"))
		return kl_scan_bad(&e->scan, tok,
				   "a value that equals itself, which ##NaN does not");
	if (!kl_scan_is(tok, n, "##Inf") && !kl_scan_is(tok, n, "##-Inf"))
		return kl_scan_bad(&e->scan, tok, "##Inf or ##-Inf");
	e->p = p;
	return kl_edn_put(e, tok, n);
}

int kl_edn_uuid(struct kl_edn *e, const char *tok, size_t at)
{
	static const char form[] = "\"00000000-0000-0000-0000-000000000000\"";
	char *s = e->canon + at;
	size_t i;

	for (i = 0; i < sizeof(form) - 1 && i < e->ncanon - at; i++) {
		if (form[i] == '0' && (unsigned int)(s[i] - 'A') < 6)
			s[i] |= 0x20;
		if (form[i] == '0' ? !kl_scan_digit(s[i]) && (unsigned int)(s[i] - 'a') >= 6 :
		    form[i] != s[i])
			break;
	}
	if (i < sizeof(form) - 1 || e->ncanon - at != sizeof(form) - 1)
		return kl_scan_bad(&e->scan, tok, "a UUID of 8-4-4-4-12 hexadecimal digits");
	return 0;
}
