// SPDX-License-Identifier: GPL-2.0
/* A scanner of EDN, see edn.h. */
#include <errno.h>
#include <string.h>

#include "history/edn.h"

#define MAX_DEPTH	64
#define MAX_DISCARDS	16

#define BLANK	(KL_EDN_BLANK | KL_EDN_ENDS)
#define MARK	(KL_EDN_PLAIN | KL_EDN_ENDS)
#define ATOM	(KL_EDN_PLAIN | KL_EDN_ATOM)

const unsigned char kl_edn_class[256] = {
	[' '] = BLANK, [','] = BLANK,
	['\t'] = KL_EDN_ENDS, ['\r'] = KL_EDN_ENDS, ['\n'] = KL_EDN_ENDS, [';'] = KL_EDN_ENDS,
	['"'] = MARK, ['('] = MARK, [')'] = MARK, ['['] = MARK, [']'] = MARK,
	['{'] = MARK, ['}'] = MARK,
	/* All else that is no control character. */
	['!'] = ATOM, ['$' ... '\''] = ATOM, ['*' ... '+'] = ATOM,
	['-' ... ':'] = ATOM, ['<' ... 'Z'] = ATOM, ['\\'] = ATOM,
	['^' ... 'z'] = ATOM, ['|'] = ATOM, ['~' ... 255] = ATOM,
};

static int value(struct kl_edn *e, struct kl_edn_val *v, unsigned int depth);

bool kl_edn_skip_some(struct kl_edn *e)
{
	struct kl_edn_val discarded;

	while (e->p < e->end) {
		if (*e->p == '\n') {
			e->scan.line++;
			e->p++;
		} else if (*e->p == ';') {
			e->p = memchr(e->p, '\n', e->end - e->p);
		} else if (e->p[0] == '#' && e->p[1] == '_') {
			if (e->bad)
				return true;
			e->p += 2;
			/* `#_ #_ a b' discards both: the form discarded first is behind its own. */
			if (++e->discards > MAX_DISCARDS) {
				e->bad = true;
				kl_scan_bad(&e->scan, e->p - 2, "at most 16 `#_' in one another");
			} else if (value(e, &discarded, 0)) {
				e->bad = true;
			}
			e->discards--;
			/* The message is out: the caller's own reading ends here, too. */
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

/* Its lowest zero byte is told for certain. */
static uint64_t zero_bytes(uint64_t w)
{
	return (w - 0x0101010101010101) & ~w & 0x8080808080808080;
}

/* As far as nothing is special in a string, eight characters at a time: the text's end is. */
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

/* The end of a string that goes on at @p, as it may with more lines; NULL if it has none. */
static const char *string_end(struct kl_edn *e, const char *p)
{
	const char *from = p;
	bool lines = false;

	for (; p < e->end && *p != '"'; p++) {
		lines |= *p == '\n';
		if (*p == '\\')
			p++;
	}
	if (p >= e->end)
		return NULL;
	for (; lines && from < p; from++)
		e->scan.line += *from == '\n';
	return p;
}

/* Apart, as all that is no atom: this is called for each value, and has little to save. */
__attribute__((noinline))
static int string(struct kl_edn *e, struct kl_edn_val *v)
{
	const char *p = skip_plain(e->p + 1);

	v->s = e->p + 1;
	if (*p != '"') {
		p = string_end(e, p);
		if (!p)
			return kl_scan_bad(&e->scan, v->tok, "a string that ends");
	}
	v->kind = KL_EDN_STRING;
	v->len = p - v->s;
	e->p = p + 1;
	return 0;
}

/* An integer that fits; false if it is something else. */
static inline bool integer(struct kl_edn *e, struct kl_edn_val *v)
{
	const char *first = e->p + (*e->p == '-' || *e->p == '+'), *p;
	uint64_t n = 0;

	if (!kl_scan_digit(*first))
		return false;
	for (p = first; kl_scan_digit(*p); p++)
		n = n * 10 + (*p - '0');
	if ((size_t)(p - first) - 1 >= 18 || !kl_edn_ends(*p))
		return false;
	v->kind = KL_EDN_INT;
	v->s = e->p;
	v->len = p - e->p;
	v->v = *e->p == '-' ? -(int64_t)n : (int64_t)n;
	e->p = p;
	return true;
}

static inline void atom(struct kl_edn *e, struct kl_edn_val *v)
{
	const char *p = e->p;

	if (*p == ':') {
		while (!kl_edn_ends(*p))
			p++;
		v->kind = KL_EDN_WORD;
		v->s = e->p;
		v->len = p - e->p;
		e->p = p;
		return;
	}
	if (integer(e, v))
		return;
	/* A character is written \c, whatever c is. */
	if (*p == '\\' && p[1] != '\n')
		p += 2;
	while (!kl_edn_ends(*p))
		p++;
	v->s = e->p;
	v->len = p - e->p;
	e->p = p;
	if (kl_scan_digit(*v->s) || ((*v->s == '-' || *v->s == '+') && v->len > 1 &&
				     kl_scan_digit(v->s[1])))
		v->kind = KL_EDN_OTHER;
	else if (kl_scan_is(v->s, v->len, "nil"))
		v->kind = KL_EDN_NIL;
	else
		v->kind = *v->s == '\\' ? KL_EDN_OTHER : KL_EDN_WORD;
}

/* What is between brackets; pairs are kept.  Apart: other values need not so much stack. */
__attribute__((noinline))
static int collection(struct kl_edn *e, struct kl_edn_val *v, char close, unsigned int depth)
{
	unsigned int line = e->scan.line;
	struct kl_edn_val item;
	size_t n = 0;
	int ret;

	if (depth == MAX_DEPTH)
		return kl_scan_bad(&e->scan, v->tok, "at most 64 brackets inside one another");
	e->p++;
	for (;;) {
		if (!kl_edn_skip(e)) {
			e->scan.line = line;
			return kl_scan_bad(&e->scan, v->tok, "a closing bracket");
		}
		if (e->bad)
			return -EINVAL;
		if (*e->p == close)
			break;
		ret = value(e, &item, depth + 1);
		if (ret)
			return ret;
		if (n < 2)
			v->pair[n] = (struct kl_edn_atom){
				.kind = item.kind == KL_EDN_PAIR ? KL_EDN_OTHER : item.kind,
				.s = item.s, .len = item.len, .v = item.v,
			};
		n++;
	}
	e->p++;
	v->kind = n == 2 && close == ']' ? KL_EDN_PAIR : KL_EDN_OTHER;
	return 0;
}

static const char expected[] = "a value";

/* What begins with a mark. */
__attribute__((noinline))
static int marked(struct kl_edn *e, struct kl_edn_val *v, unsigned int depth)
{
	/* A tag says what the value behind it is; a set has brackets with a mark. */
	while (*e->p == '#') {
		e->p++;
		if (*e->p == '{')
			break;
		while (!kl_edn_ends(*e->p))
			e->p++;
		if (!kl_edn_skip(e))
			return kl_scan_bad(&e->scan, v->tok, expected);
		if (e->bad)
			return -EINVAL;
	}
	switch (*e->p) {
	case '"':
		return string(e, v);
	case '[':
		return collection(e, v, ']', depth);
	case '(':
		return collection(e, v, ')', depth);
	case '{':
		return collection(e, v, '}', depth);
	case ']':
	case ')':
	case '}':
		return kl_scan_bad(&e->scan, e->p, expected);
	}
	atom(e, v);
	return 0;
}

static inline int value_here(struct kl_edn *e, struct kl_edn_val *v, unsigned int depth)
{
	v->tok = e->p;
	v->s = NULL;
	v->len = 0;
	v->v = 0;
	if (*e->p == '"')
		return string(e, v);
	if (!kl_edn_is(*e->p, KL_EDN_ATOM))
		return marked(e, v, depth);
	atom(e, v);
	return 0;
}

static int value(struct kl_edn *e, struct kl_edn_val *v, unsigned int depth)
{
	if (!kl_edn_skip(e))
		return kl_scan_bad(&e->scan, e->end - 1, expected);
	return e->bad ? -EINVAL : value_here(e, v, depth);
}

int kl_edn_value(struct kl_edn *e, struct kl_edn_val *v)
{
	return value(e, v, 0);
}

int kl_edn_value_here(struct kl_edn *e, struct kl_edn_val *v)
{
	return value_here(e, v, 0);
}
