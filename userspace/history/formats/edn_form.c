// SPDX-License-Identifier: GPL-2.0
/*
 * Values of EDN that are more than short atoms, see edn.h.  Each value is read into its canonical
 * text: two values have the same text if and only if Clojure's `=' calls them equal.
 *
 *	(1 2), [1, 2]		[1 2]
 *	#{b a}, {2 x, 1 y}	#{a b}, {1 y 2 x}
 *	1N, +1, 2/2		1
 *	1.50M, "\u0041"		15e-1M, "A"
 *
 * Forms that have no meaning in a history, and Clojure code, are errors.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "history/formats/edn_form.h"

#define MAX_DEPTH	64
#define CODE "a value (this is Clojure code, not data; texts of JSON stand in double quotes)"

static int form(struct kl_edn *e, unsigned int depth);

int kl_edn_put(struct kl_edn *e, const char *s, size_t len)
{
	int ret = kl_grow(e->canon, e->ccanon, e->ncanon + len + 1);

	if (ret)
		return ret;
	memcpy(e->canon + e->ncanon, s, len);
	e->ncanon += len;
	return 0;
}

static int put(struct kl_edn *e, char c)
{
	return kl_edn_put(e, &c, 1);
}

/*
 * Move to the next form, in a collection or behind a prefix.  Return: 0, or -EINVAL after a
 * message.
 */
static int next(struct kl_edn *e, const char *tok, const char *expected)
{
	if (!kl_edn_skip(e))
		return kl_scan_bad(&e->scan, tok, expected);
	return e->bad ? -EINVAL : 0;
}

int kl_edn_wrong_bracket(struct kl_edn *e, char close)
{
	if (!strchr(")]}", *e->p) || *e->p == close)
		return 0;
	return kl_scan_bad(&e->scan, e->p,
			   close == '}' ? "`}' here, which closes the last `{'" :
			   close == ']' ? "`]' here, which closes the last `['" :
					  "`)' here, which closes the last `('");
}

/* Read a list or a vector up to @close.  Blanks separate the canonical texts of its forms. */
static int sequence(struct kl_edn *e, const char *tok, char close, unsigned int depth)
{
	bool first = true;
	int ret;

	ret = put(e, '[');
	for (e->p++; !ret; first = false) {
		ret = next(e, tok, "a closing bracket");
		if (ret || *e->p == close)
			break;
		ret = kl_edn_wrong_bracket(e, close) ?: first ? 0 : put(e, ' ');
		ret = ret ?: form(e, depth + 1);
	}
	if (ret)
		return ret;
	e->p++;
	return put(e, ']');
}

/*
 * An item of a set or a map.  @at and @len are the index and length of its canonical text, which
 * begins with the key; @key is the key's length, and @tok the item's place in the input.
 */
struct item {
	size_t at, key, len;
	const char *tok;
};

struct items {
	struct item *item;
	size_t n, cap;
	const char *close;	/* the collection's closing bracket in the input */
};

static int by_key(const void *a, const void *b, void *text)
{
	const struct item *x = a, *y = b;
	const size_t len = x->key < y->key ? x->key : y->key;
	const int order = memcmp((char *)text + x->at, (char *)text + y->at, len);

	return order ? order : (x->key > y->key) - (x->key < y->key);
}

static bool is_symbol(const char *s, size_t len)
{
	return kl_edn_is(*s, KL_EDN_ATOM) && !kl_scan_digit(*s) &&
	       !(*s == '-' && len > 1 && kl_scan_digit(s[1])) && !kl_scan_is(s, len, "nil") &&
	       !kl_scan_is(s, len, "true") && !kl_scan_is(s, len, "false");
}

/* Add the namespace @ns to the key at @at: in `#:ns{:a 1, :_/b 2}' the keys are :ns/a and :b. */
static int qualify(struct kl_edn *e, size_t at, const char *ns, size_t len)
{
	const bool keyword = e->canon[at] == ':';
	const size_t name = at + keyword, n = e->ncanon - name;
	int ret;

	if (!keyword && !is_symbol(e->canon + at, n))
		return 0;
	if (n > 2 && !memcmp(e->canon + name, "_/", 2)) {
		memmove(e->canon + name, e->canon + name + 2, n - 2);
		e->ncanon -= 2;
		return 0;
	}
	if (memchr(e->canon + name, '/', n))
		return 0;
	ret = kl_grow(e->canon, e->ccanon, e->ncanon + len + 2);
	if (ret)
		return ret;
	memmove(e->canon + name + len + 1, e->canon + name, n);
	memcpy(e->canon + name, ns, len);
	e->canon[name + len] = '/';
	e->ncanon += len + 1;
	return 0;
}

/* Read the items of a set, or with @map of a map, whose keys have the namespace @ns if @nns > 0. */
static int items(struct kl_edn *e, const char *tok, struct items *is, bool map, const char *ns,
		 size_t nns, unsigned int depth)
{
	struct item *item;
	int ret;

	for (;;) {
		ret = next(e, tok, "a closing bracket");
		if (ret || *e->p == '}')
			return ret;
		ret = kl_edn_wrong_bracket(e, '}') ?: kl_grow(is->item, is->cap, is->n + 1);
		if (ret)
			return ret;
		item = &is->item[is->n++];
		*item = (struct item){ .at = e->ncanon, .tok = e->p };
		ret = form(e, depth + 1);
		if (!ret && nns)
			ret = qualify(e, item->at, ns, nns);
		item->key = e->ncanon - item->at;
		if (!ret && map) {
			ret = next(e, tok, "a closing bracket");
			if (!ret && *e->p == '}')
				ret = kl_scan_bad(&e->scan, item->tok, "a value for each key");
			ret = ret ?: put(e, ' ') ?: form(e, depth + 1);
		}
		if (ret)
			return ret;
		item->len = e->ncanon - item->at;
	}
}

/* Sort the items, whose canonical texts begin at @at, by key.  Equal keys are an error. */
static int sort_items(struct kl_edn *e, struct items *is, size_t at, bool map)
{
	size_t i;
	char *copy;
	int ret = 0;

	if (!is->n)
		return 0;
	copy = malloc(e->ncanon - at + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, e->canon + at, e->ncanon - at);
	for (i = 0; i < is->n; i++)
		is->item[i].at -= at;
	qsort_r(is->item, is->n, sizeof(*is->item), by_key, copy);
	e->ncanon = at;
	for (i = 0; i < is->n && !ret; i++) {
		const struct item *item = &is->item[i];

		if (i && !by_key(item - 1, item, copy))
			ret = kl_scan_bad(&e->scan, item->tok > item[-1].tok ? item->tok :
					  item[-1].tok, map ? "each key of a map once" :
					  "each member of a set once");
		else
			ret = (i ? put(e, ' ') : 0) ?: kl_edn_put(e, copy + item->at, item->len);
	}
	free(copy);
	return ret;
}

/* Read a set or a map, from its opening bracket on. */
static int unordered(struct kl_edn *e, const char *tok, bool map, const char *ns, size_t nns,
		     unsigned int depth)
{
	struct items is = { 0 };
	size_t at;
	int ret;

	ret = kl_edn_put(e, "#{", 2);
	if (map) {
		e->ncanon--;
		e->canon[e->ncanon - 1] = '{';
	}
	at = e->ncanon;
	e->p++;
	ret = ret ?: items(e, tok, &is, map, ns, nns, depth);
	e->p += !ret;
	ret = ret ?: sort_items(e, &is, at, map);
	free(is.item);
	return ret ?: put(e, '}');
}

/* Skip metadata: `^{:doc "x"} value' equals `value'. */
static int metadata(struct kl_edn *e, unsigned int depth)
{
	const char *tok = e->p;
	const size_t at = e->ncanon;
	int ret;

	e->p += *tok == '#' ? 2 : 1;
	ret = next(e, tok, "metadata and a value");

	if (!ret && !kl_edn_is(*e->p, KL_EDN_ATOM) && *e->p != '{' && *e->p != '"' && *e->p != '[')
		ret = kl_scan_bad(&e->scan, e->p,
				  "metadata: a map, a keyword, a symbol or a string");
	ret = ret ?: form(e, depth + 1);
	e->ncanon = at;
	return ret;
}

int kl_edn_metadata(struct kl_edn *e)
{
	return metadata(e, 0);
}

static int with_metadata(struct kl_edn *e, unsigned int depth)
{
	const char *tok = e->p;

	return metadata(e, depth) ?: next(e, tok, "a value after its metadata") ?:
	       form(e, depth + 1);
}

/* Read a map with a namespace, as in #:ns{:a 1}. */
static int namespaced(struct kl_edn *e, const char *tok, unsigned int depth)
{
	const char *ns = e->p + 2, *end = kl_edn_atom_end(ns);
	int ret;

	if (end == ns || *ns == ':' || !kl_edn_ends(*end) || memchr(ns, '/', end - ns))
		return kl_scan_bad(&e->scan, tok, "the namespace of a map, as in #:jepsen{:f 1}");
	e->p = end;
	ret = next(e, tok, "a map after its namespace");
	if (!ret && *e->p != '{')
		ret = kl_scan_bad(&e->scan, e->p, "a map after its namespace");
	return ret ?: unordered(e, tok, true, ns, end - ns, depth);
}

static int tagged(struct kl_edn *e, const char *tok, unsigned int depth)
{
	const char *tag = e->p + 1, *end = kl_edn_atom_end(tag);
	size_t at;
	int ret;

	if (!kl_edn_ends(*end))
		return kl_scan_bad(&e->scan, tok, "a tag, as in #inst");
	e->p = end;
	ret = next(e, tok, "a value after its tag") ?: kl_edn_put(e, tok, end - tok) ?: put(e, ' ');
	at = e->ncanon;
	ret = ret ?: form(e, depth + 1);
	if (!ret && kl_scan_is(tag, end - tag, "inst"))
		ret = kl_edn_inst(e, tok, at);
	if (!ret && kl_scan_is(tag, end - tag, "uuid"))
		ret = kl_edn_uuid(e, tok, at);
	return ret;
}

static int dispatch(struct kl_edn *e, unsigned int depth)
{
	const char *tok = e->p;
	const char c = tok[1];

	if (c == '{') {
		e->p++;
		return unordered(e, tok, false, NULL, 0, depth);
	}
	if (c == ':')
		return namespaced(e, tok, depth);
	if (c == '#')
		return kl_edn_symbolic(e, tok);
	if (c == '^')
		return with_metadata(e, depth);
	if ((unsigned int)((c | 0x20) - 'a') < 26)
		return tagged(e, tok, depth);
	if (kl_scan_end(c))
		return kl_scan_bad(&e->scan, tok,
				   "a value (a comment of EDN begins with `;', and CSV has none)");
	return kl_scan_bad(&e->scan, tok, CODE);
}

static int form(struct kl_edn *e, unsigned int depth)
{
	const char *tok = e->p;

	if (depth > MAX_DEPTH)
		return kl_scan_bad(&e->scan, tok, "at most 64 nested forms");
	switch (*tok) {
	case '"':
		return kl_edn_text(e, NULL);
	case '[':
		return sequence(e, tok, ']', depth);
	case '(':
		return sequence(e, tok, ')', depth);
	case '{':
		return unordered(e, tok, true, NULL, 0, depth);
	case '#':
		return dispatch(e, depth);
	case '^':
		return with_metadata(e, depth);
	case '\\':
		return kl_edn_char(e);
	case '\'':
	case '`':
	case '@':
	case '~':
		return kl_scan_bad(&e->scan, tok, CODE);
	}
	if (!kl_edn_is(*tok, KL_EDN_ATOM))
		return kl_scan_bad(&e->scan, tok, "a value");
	if (kl_scan_digit(*tok) || ((*tok == '-' || *tok == '+') && kl_scan_digit(tok[1])))
		return kl_edn_number(e);
	return kl_edn_symbol(e);
}

int kl_edn_form(struct kl_edn *e)
{
	return form(e, 0);
}
