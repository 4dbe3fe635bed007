// SPDX-License-Identifier: GPL-2.0
/* Lexer of litmus tests: names, numbers, registers and locations. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/err.h"
#include "tso/litmus/litmus_text.h"

/* Print an error or a warning with its line of the text and a caret; @at is NULL: without. */
static void show(const struct kl_litmus *l, const char *at, bool warning, const char *fmt,
		 va_list ap)
{
	const char *line = l->text, *p, *end = at ? l->text + (at - l->copy) : line;
	unsigned int n = 1;
	char msg[256];

	vsnprintf(msg, sizeof(msg), fmt, ap);
	for (p = line; p < end; p++) {
		if (*p == '\n') {
			line = p + 1;
			n++;
		}
	}
	if (warning)
		kl_warn_at(l->path, at ? n : 0, end - line + 1, "%s", msg);
	else
		kl_err_at(l->path, at ? n : 0, end - line + 1, "%s", msg);
	if (at)
		kl_err_source(line, strcspn(line, "\r\n"), end - line + 1);
}

void kl_lit_error(const struct kl_litmus *l, const char *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	show(l, at, false, fmt, ap);
	va_end(ap);
}

void kl_lit_warn(const struct kl_litmus *l, const char *at, const char *fmt, ...)
{
	va_list ap;

	/* A test that is read again, with a change, was read as it is before. */
	if (l->change)
		return;
	va_start(ap, fmt);
	show(l, at, true, fmt, ap);
	va_end(ap);
}

bool kl_lt_fail(struct kl_lt_cursor *c, const char *fmt, ...)
{
	char msg[256];
	va_list ap;

	if (c->err)
		return false;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	kl_lit_error(c->l, c->p, "%s", msg);
	c->err = -EINVAL;
	return false;
}

const char *kl_lt_here(const struct kl_lt_cursor *c, char buf[32])
{
	size_t n = strcspn(c->p, "\n");

	snprintf(buf, 32, "%.*s", n > 30 ? 30 : (int)n, c->p);
	return *c->p ? buf : "end of file";
}

void kl_lt_space(struct kl_lt_cursor *c)
{
	while (isspace((unsigned char)*c->p))
		c->p++;
}

bool kl_lt_blank_comments(struct kl_lt_cursor *c, char *s)
{
	const char *from = s;
	unsigned int depth = 0;
	bool quoted = false;

	for (; *s; s++) {
		const bool open = s[0] == '(' && s[1] == '*', close = s[0] == '*' && s[1] == ')';

		if (!depth && *s == '"' && !(quoted = !quoted))
			continue;
		if (!quoted && (open || (depth && close))) {
			if (open && !depth)
				from = s;
			depth += open ? 1 : -1;
			s[0] = s[1] = ' ';
			s++;
		} else if (depth && *s != '\n') {
			*s = ' ';
		}
		/* A quotation without a closing quote ends with its line. */
		quoted &= *s != '\n';
	}
	if (!depth)
		return true;
	c->p = from;
	return kl_lt_fail(c, "the comment is not closed, expected '*)'");
}

bool kl_lt_take(struct kl_lt_cursor *c, const char *s)
{
	size_t n = strlen(s);

	kl_lt_space(c);
	if (strncmp(c->p, s, n) || (isalpha((unsigned char)*s) &&
				    (isalnum((unsigned char)c->p[n]) || c->p[n] == '_')))
		return false;
	c->p += n;
	return true;
}

bool kl_lt_expect(struct kl_lt_cursor *c, const char *s)
{
	char buf[32];

	return kl_lt_take(c, s) ||
	       kl_lt_fail(c, "expected '%s', found '%s'", s, kl_lt_here(c, buf));
}

size_t kl_lt_name_len(const char *p)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*p) && *p != '_')
		return 0;
	while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.')
		n++;
	return n;
}

bool kl_lt_name(struct kl_lt_cursor *c, const char **s, size_t *len)
{
	kl_lt_space(c);
	*s = c->p;
	*len = kl_lt_name_len(c->p);
	c->p += *len;
	return *len > 0;
}

bool kl_lt_number(struct kl_lt_cursor *c, uint64_t *v)
{
	bool minus;
	char *end;

	kl_lt_space(c);
	minus = *c->p == '-' && isdigit((unsigned char)c->p[1]);
	if (!minus && !isdigit((unsigned char)*c->p))
		return false;
	errno = 0;
	*v = strtoull(c->p + minus, &end, 0);
	if (errno)
		return kl_lt_fail(c, "the number is too large: it does not fit 64 bits");
	if (minus)
		*v = -*v;
	c->p = end;
	return true;
}

int kl_lit_location(struct kl_litmus *l, const char *s, size_t len)
{
	unsigned int i;

	for (i = 0; i < l->nlocs; i++)
		if (strlen(l->locs[i].name) == len && !memcmp(l->locs[i].name, s, len))
			return i;
	if (i == KL_LIT_LOCS)
		return -1;
	l->locs[i] = (struct kl_lit_loc){ .name = kl_arena_strndup(&l->arena, s, len) };
	if (!l->locs[i].name)
		return -1;
	return l->nlocs++;
}

bool kl_lt_at_thread(const struct kl_lt_cursor *c)
{
	const char *p = c->p + (*c->p == 'P');

	if (!isdigit((unsigned char)*p))
		return false;
	while (isdigit((unsigned char)*p))
		p++;
	return *p == ':';
}

/* Read the index in x[2].  If x is no array yet, [2] belongs to its declaration, and is left. */
static bool element(struct kl_lt_cursor *c, struct kl_lit_item *it)
{
	const struct kl_lit_loc *loc = &c->l->locs[it->index];
	uint64_t n;

	kl_lt_space(c);
	if (*c->p != '[' || !loc->len)
		return true;
	c->p++;
	if (!kl_lt_number(c, &n) || n >= loc->len)
		return c->err ? false :
		       kl_lt_fail(c, "expected an index from 0 to %u", loc->len - 1);
	it->index += n;
	return kl_lt_expect(c, "]");
}

bool kl_lt_place(struct kl_lt_cursor *c, struct kl_lit_item *it, unsigned int *size)
{
	const char *s;
	char buf[32];
	size_t len;
	uint64_t thread = 0;
	bool bracket;
	int at;

	kl_lt_space(c);
	if (kl_lt_at_thread(c)) {
		s = kl_digits(c->p + (*c->p == 'P'), &thread);
		if (!s || thread >= KL_VM_THREADS)
			return kl_lt_fail(c, "the thread's number is too large, expected 0 to %d",
					  KL_VM_THREADS - 1);
		it->thread = thread;
		c->p = s + 1;
		if (*c->p == '%')
			c->p++;
		if (!kl_lt_name(c, &s, &len))
			return kl_lt_fail(c, "expected a register, found '%s'", kl_lt_here(c, buf));
		at = kl_lit_register(c->l->x64, s, len, size);
		if (at < 0)
			at = kl_lit_other_register(c->l->x64, s, len, size);
		if (at < 0 || *size < 4) {
			c->p = s;
			return kl_lt_fail(c, "'%.*s' is not a register of 32 or 64 bits that klin "
					  "litmus supports", (int)len, s);
		}
		it->index = at;
		return true;
	}
	if (*c->p == '*')
		c->p++;
	bracket = kl_lt_take(c, "[");
	it->thread = -1;
	if (!kl_lt_name(c, &s, &len))
		return kl_lt_fail(c, "expected a register or a location, found "
				  "'%s'", kl_lt_here(c, buf));
	at = kl_lit_location(c->l, s, len);
	if (at < 0)
		return kl_lt_fail(c, "too many locations: klin litmus supports %d", KL_LIT_LOCS);
	it->index = at;
	return element(c, it) && (!bracket || kl_lt_expect(c, "]"));
}
