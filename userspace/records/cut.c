// SPDX-License-Identifier: GPL-2.0
/* Finds where records end, see cut.h. */
#include <string.h>

#include "records/cut.h"

static bool is_in(char c, const char *chars)
{
	return c && strchr(chars, c);
}

/* Skip blanks, newlines, comments of EDN and @more.  Return: where, or @end. */
static const char *skip(const char *p, const char *end, const char *more)
{
	for (; p < end && (is_in(*p, " \t\r\n,;") || is_in(*p, more)); p++) {
		p = *p == ';' ? memchr(p, '\n', end - p) : p;
		if (!p)
			return end;
	}
	return p;
}

bool kl_cut_known(const char *text, size_t len)
{
	const char *const end = text + len, *p = skip(text, end, ""), *q;
	bool whole = true;

	if (p == end)
		return false;
	if (!is_in(*p, "[{(")) {
		/* A name of a column may have a newline in quotes. */
		for (q = p; q < end && (*q != '\n' || !whole); q++)
			whole ^= *q == '"';
		return q < end;
	}
	p = skip(p, end, "[{(");
	if (p == end)
		return false;
	/* The first item and what follows it tell EDN from JSON. */
	if (*p == '"') {
		for (p++; p < end && *p != '"' && *p != '\n'; p++)
			p += *p == '\\';
		p++;
	} else {
		while (p < end && !kl_edn_ends(*p))
			p++;
	}
	while (p < end && kl_scan_blank(*p))
		p++;
	return p < end;
}

void kl_cut_begin(struct kl_cut *c, const struct kl_records *r)
{
	*c = (struct kl_cut){ .form = r->form, .begin = true };
	c->depth = c->base = r->close != 0;
}

/* Return: true if the list ends with the bracket that closes here. */
static bool close_bracket(struct kl_cut *c)
{
	c->depth -= c->depth > 0;
	return c->base && !c->depth;
}

static bool json(struct kl_cut *c, char ch)
{
	if (c->string) {
		/* A string has no newline, so it is the reader that reports its end. */
		c->string = c->escape || (ch != '"' && ch != '\n');
		c->escape = !c->escape && ch == '\\' && c->string;
		return ch == '\n';
	}
	c->string = ch == '"';
	c->depth += ch == '{' || ch == '[';
	if (ch == '}' || ch == ']')
		return close_bracket(c);
	return ch == '\n' && c->depth <= c->base;
}

static bool csv(struct kl_cut *c, char ch)
{
	const bool begin = c->begin, quote = c->quote;

	c->begin = c->quote = false;
	if (c->string) {
		c->string = ch != '"';
		c->quote = !c->string;
		return false;
	}
	c->string = ch == '"' && (begin || quote);
	c->begin = ch == ',' || ch == '\n';
	return ch == '\n';
}

/* A form ends that is in no other one. */
static void end_form(struct kl_cut *c)
{
	if (c->depth == c->base)
		c->need -= c->need > 0;
}

/* `^' or `#_': the present form becomes one of @n, or of more if it belongs to another one. */
static void prefix(struct kl_cut *c, unsigned int n)
{
	if (c->depth == c->base)
		c->need = c->need ? c->need + n - (n > 1) : n;
}

/* Read the character behind `#'.  Return: true if nothing more is to be done with it. */
static bool after_hash(struct kl_cut *c, char ch)
{
	c->atom = KL_CUT_NONE;
	if (ch == '{')
		return false;
	if (ch == '_')
		prefix(c, 1);
	else if (ch == '^')
		prefix(c, 2);
	else
		c->atom = ch == '#' ? KL_CUT_ATOM : KL_CUT_TAG;
	return true;
}

static bool edn(struct kl_cut *c, char ch)
{
	if (c->escape) { /* the character behind a backslash */
		c->escape = false;
		return false;
	}
	if (c->string) {
		c->escape = ch == '\\';
		c->string = ch != '"';
		if (!c->string)
			end_form(c);
		return false;
	}
	if (c->comment && ch != '\n')
		return false;
	c->comment = false;
	if (c->atom == KL_CUT_HASH && after_hash(c, ch))
		return false;
	if (kl_edn_is(ch, KL_EDN_ATOM) || ch == '\\' || (ch == '#' && c->atom)) {
		c->escape = ch == '\\';
		c->atom = c->atom ?: KL_CUT_ATOM;
		return false;
	}
	if (c->atom == KL_CUT_ATOM)
		end_form(c);
	if (c->atom == KL_CUT_TAG && c->depth == c->base && !c->need)
		c->need = 1;
	c->atom = ch == '#' ? KL_CUT_HASH : KL_CUT_NONE;
	c->string = ch == '"';
	c->comment = ch == ';';
	if (ch == '^')
		prefix(c, 2);
	c->depth += is_in(ch, "{[(");
	if (is_in(ch, "}])")) {
		if (close_bracket(c))
			return true;
		end_form(c);
	}
	return ch == '\n' && c->depth <= c->base && !c->need;
}

size_t kl_cut_next(struct kl_cut *c, const char *text, size_t len)
{
	bool (*const next)(struct kl_cut *c, char ch) = c->form == KL_RECORDS_EDN  ? edn :
							c->form == KL_RECORDS_JSON ? json :
										     csv;
	size_t i, cut = 0;

	for (i = 0; i < len; i++)
		if (next(c, text[i]))
			cut = i + 1;
	return cut;
}
