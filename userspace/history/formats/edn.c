// SPDX-License-Identifier: GPL-2.0
/*
 * A scanner of EDN, see edn.h: it reads short atoms itself, and leaves other values to
 * edn_form.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history/formats/edn_form.h"

#define MAX_DISCARDS	16

#define BLANK	(KL_EDN_BLANK | KL_EDN_ENDS)
#define MARK	(KL_EDN_PLAIN | KL_EDN_ENDS)
#define ATOM	(KL_EDN_PLAIN | KL_EDN_ATOM)

const unsigned char kl_edn_class[256] = {
	[' '] = BLANK, [','] = BLANK,
	['\t'] = KL_EDN_ENDS, ['\r'] = KL_EDN_ENDS, ['\n'] = KL_EDN_ENDS, [';'] = KL_EDN_ENDS,
	['"'] = MARK, ['('] = MARK, [')'] = MARK, ['['] = MARK, [']'] = MARK,
	['{'] = MARK, ['}'] = MARK,
	['!'] = ATOM, ['$' ... '\''] = ATOM, ['*' ... '+'] = ATOM,
	['-' ... ':'] = ATOM, ['<' ... '?'] = ATOM, ['A' ... 'Z'] = ATOM, ['_'] = ATOM,
	['a' ... 'z'] = ATOM, ['|'] = ATOM, [128 ... 255] = ATOM,
};

static const char expected[] = "a value";

/* Skip the form behind `#_'. */
static int discard(struct kl_edn *e)
{
	e->p += 2;
	if (!kl_edn_skip(e))
		return kl_scan_bad(&e->scan, e->end - 1, expected);
	return e->bad ? -EINVAL : kl_edn_form(e);
}

bool kl_edn_skip_some(struct kl_edn *e)
{
	const size_t canon = e->ncanon;
	int ret;

	while (e->p < e->end) {
		if (*e->p == '\n') {
			e->scan.line++;
			e->p++;
		} else if (*e->p == ';') {
			e->p = memchr(e->p, '\n', e->end - e->p);
		} else if (e->p[0] == '#' && e->p[1] == '_') {
			if (e->bad)
				return true;
			/*
			 * `#_ #_ a b' discards both forms: the first `#_' discards b, the second
			 * a.
			 */
			if (++e->discards > MAX_DISCARDS) {
				e->bad = true;
				kl_scan_bad(&e->scan, e->p, "at most 16 nested `#_'");
			} else {
				ret = discard(e);
				e->bad = ret;
			}
			e->discards--;
			e->ncanon = canon;
			/* A message was printed; callers stop when they see e->bad. */
			if (e->bad)
				return true;
		} else if (kl_scan_blank(*e->p) || *e->p == ',') {
			e->p++;
		} else {
			return true;
		}
	}
	return false;
}

/*
 * Return: marks (0x80) of the zero bytes of @w.  Above the lowest zero byte a mark may be wrong,
 * because of borrows.
 */
static uint64_t zero_bytes(uint64_t w)
{
	return (w - 0x0101010101010101) & ~w & 0x8080808080808080;
}

/*
 * Return: the first quote, backslash or newline from @p on.  Eight characters are compared at a
 * time.  The text ends with a newline, so there is one.
 */
static inline const char *skip_plain(const char *p)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t w, found;

	for (;; p += sizeof(w)) {
		w = kl_scan_eight(p);
		found = zero_bytes(w ^ ones * '"') | zero_bytes(w ^ ones * '\\') |
			zero_bytes(w ^ ones * '\n');
		if (found)
			return p + __builtin_ctzll(found) / 8;
	}
}

/* Read a string without escapes and newlines.  Return: false if it is something else. */
static inline bool string(struct kl_edn *e, struct kl_edn_val *v)
{
	const char *p = skip_plain(e->p + 1);

	if (*p != '"')
		return false;
	v->kind = KL_EDN_STRING;
	v->s = e->p + 1;
	v->len = p - v->s;
	e->p = p + 1;
	return true;
}

/* Read an integer of up to 18 digits.  Return: false if it is something else. */
static inline bool integer(struct kl_edn *e, struct kl_edn_val *v)
{
	const char *first = e->p + (*e->p == '-' || *e->p == '+'), *p;
	uint64_t n = 0;

	if (!kl_scan_digit(*first))
		return false;
	for (p = first; kl_scan_digit(*p); p++)
		n = n * 10 + (*p - '0');
	if ((size_t)(p - first) - 1 >= 18 || !kl_edn_ends(*p) || (*first == '0' && p > first + 1))
		return false;
	v->kind = KL_EDN_INT;
	v->v = *e->p == '-' ? -(int64_t)n : (int64_t)n;
	e->p = p;
	return true;
}

/* Read a keyword, or a symbol that begins with a letter.  Return: false if it is something else. */
static inline bool name(struct kl_edn *e, struct kl_edn_val *v)
{
	const char *p = kl_edn_atom_end(e->p);

	if (!kl_edn_ends(*p))
		return false;
	if (*e->p == ':' ? p == e->p + 1 || e->p[1] == ':' :
	    (unsigned int)((*e->p | 0x20) - 'a') >= 26)
		return false;
	v->s = e->p;
	v->len = p - e->p;
	v->kind = kl_scan_is(v->s, v->len, "nil") ? KL_EDN_NIL : KL_EDN_WORD;
	e->p = p;
	return true;
}

/* Find the items of a vector or a list of two; equal vectors and lists are equal values. */
static int find_pair(struct kl_edn *e, struct kl_edn_val *v)
{
	const char *end = e->p, close = *v->tok == '[' ? ']' : ')';
	const unsigned int line = e->scan.line;
	const size_t canon = e->ncanon;
	unsigned int n = 0;
	int ret = 0;

	e->p = v->tok + 1;
	while (kl_edn_skip(e) && *e->p != close && n < 3 && !ret) {
		if (n < 2)
			v->item[n] = e->p;
		ret = n++ < 2 ? kl_edn_form(e) : 0;
	}
	e->p = end;
	e->scan.line = line;
	e->ncanon = canon;
	if (n == 2)
		v->kind = KL_EDN_PAIR;
	return ret;
}

/* Set the kind of @v by its canonical text, so that 1, +1 and 1N are the same number. */
static void tell_kind(const struct kl_edn *e, struct kl_edn_val *v)
{
	const char *s = e->canon + v->canon, *p = s + (*s == '-');
	const char *end = s + v->ncanon;
	int64_t n = 0;

	v->kind = kl_scan_is(s, v->ncanon, "nil") ? KL_EDN_NIL : KL_EDN_OTHER;
	if (p == end || end - p > 18)
		return;
	for (; p < end && kl_scan_digit(*p); p++)
		n = n * 10 + (*p - '0');
	if (p < end)
		return;
	v->kind = KL_EDN_INT;
	v->v = *s == '-' ? -n : n;
}

/* Read any other value.  Not inlined, so that readers of short atoms need to save few registers. */
__attribute__((noinline))
static int other(struct kl_edn *e, struct kl_edn_val *v)
{
	int ret;

	v->canon = e->ncanon;
	if (*e->p == '"') {
		v->kind = KL_EDN_STRING;
		ret = kl_edn_text(e, v);
	} else {
		ret = kl_edn_form(e);
	}
	if (ret)
		return ret;
	v->ncanon = e->ncanon - v->canon;
	v->end = e->p;
	if (*v->tok == '"')
		return 0;
	tell_kind(e, v);
	return *v->tok == '[' || *v->tok == '(' ? find_pair(e, v) : 0;
}

int kl_edn_value_here(struct kl_edn *e, struct kl_edn_val *v)
{
	v->tok = e->p;
	v->s = NULL;
	v->len = 0;
	v->v = 0;
	v->ncanon = 0;
	if (!(*e->p == '"' ? string(e, v) : integer(e, v) || name(e, v)))
		return other(e, v);
	v->end = e->p;
	return 0;
}

int kl_edn_value(struct kl_edn *e, struct kl_edn_val *v)
{
	if (!kl_edn_skip(e))
		return kl_scan_bad(&e->scan, e->end - 1, expected);
	return e->bad ? -EINVAL : kl_edn_value_here(e, v);
}

int kl_edn_item(struct kl_edn *e, const struct kl_edn_val *v, unsigned int i,
		struct kl_edn_val *out)
{
	const char *p = e->p;
	const unsigned int line = e->scan.line;
	int ret;

	e->p = v->item[i];
	ret = kl_edn_value_here(e, out);
	e->p = p;
	e->scan.line = line;
	return ret;
}

const char *kl_edn_canon(const struct kl_edn *e, const struct kl_edn_val *v, size_t *len)
{
	*len = v->ncanon ? v->ncanon : (size_t)(v->end - v->tok);
	return v->ncanon ? e->canon + v->canon : v->tok;
}

void kl_edn_free(struct kl_edn *e)
{
	free(e->canon);
	kl_arena_free(&e->arena);
}
