// SPDX-License-Identifier: GPL-2.0
/*
 * Records of JSON (RFC 8259), written anew in EDN; see record.h.  They follow one another, one or
 * several in a line, or are the items of one list.  Numbers are equal if their values are, without
 * any rounding: 3, 3.0 and 30e-1 become 3, and 1.50 becomes 1.50M, which EDN knows as exact.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "history/formats/edn_form.h"
#include "records/record.h"

#define MAX_DEPTH 60
#define MAX_DIGITS 400 /* of a number that is whole */
#define MAX_EXPONENT 99999999
#define MAX_MEMBERS 1024 /* of an object */

/* Reads one record; @p is in the file. */
struct json {
	struct kl_records *r;
	const char *p;
	unsigned int depth;
};

static int value(struct json *j);

static int bad(struct json *j, const char *tok, const char *expected)
{
	/* Behind the end there is no word that a message could quote. */
	if (tok >= j->r->end)
		return kl_scan_bad(&j->r->scan, j->r->tok, "the end of this record");
	return kl_scan_bad(&j->r->scan, tok, expected);
}

static void skip(struct json *j)
{
	while (kl_scan_blank(*j->p) || *j->p == '\n')
		j->p++;
}

static int put(struct json *j, const char *s, size_t len)
{
	return kl_record_put(j->r, s, len);
}

/* Return: the number in the four hexadecimal digits at @p, or -1. */
static int hex4(const char *p)
{
	int v = 0, i;

	for (i = 0; i < 4; i++) {
		const unsigned char c = p[i] | 0x20;

		if (kl_scan_digit(p[i]))
			v = v << 4 | (p[i] - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (c - 'a' + 10);
		else
			return -1;
	}
	return v;
}

/* Copy an escape, which EDN knows as well, except for `\/'. */
static int escape(struct json *j)
{
	const char *p = j->p;
	int c, low;

	if (p[1] == 'u') {
		c = hex4(p + 2);
		if (c < 0)
			return bad(j, p, "four hexadecimal digits after \\u");
		j->p += 6;
		if (c >> 11 != 0xd800 >> 11)
			return put(j, p, 6);
		low = p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
		if (c >= 0xdc00 || low < 0xdc00 || low > 0xdfff)
			return bad(j, p, "both halves of a surrogate pair");
		j->p += 6;
		return put(j, p, 12);
	}
	if (!p[1] || !strchr("\"\\/bfnrt", p[1]))
		return bad(j, p, "an escape of JSON, as \\n or \\u0041");
	j->p += 2;
	return p[1] == '/' ? put(j, "/", 1) : put(j, p, 2);
}

static int string(struct json *j)
{
	const char *tok = j->p++, *start;
	int ret = put(j, "\"", 1);

	while (!ret && *j->p != '"') {
		for (start = j->p; *j->p != '"' && *j->p != '\\' && (unsigned char)*j->p >= ' ';)
			j->p++;
		ret = put(j, start, j->p - start);
		if (ret || *j->p == '"')
			break;
		if (*j->p != '\\')
			return bad(j, *j->p == '\n' ? tok : j->p,
				   *j->p == '\n' ? "the end of this string in its line" :
						   "a string without control characters");
		ret = escape(j);
	}
	if (ret)
		return ret;
	j->p++;
	return put(j, "\"", 1);
}

/* Append a number that is whole: its digits, of which @zeros more follow. */
static int whole(struct json *j, const char *tok, const char *digits, size_t len, int64_t zeros)
{
	int ret = 0;

	while (len && (*digits == '0' || *digits == '.')) {
		digits++;
		len--;
	}
	if (!len)
		return put(j, "0", 1);
	if (len + zeros > MAX_DIGITS)
		return bad(j, tok, "a whole number of at most 400 digits");
	ret = *tok == '-' ? put(j, "-", 1) : 0;
	for (; len-- && !ret; digits++)
		ret = *digits == '.' ? 0 : put(j, digits, 1);
	while (zeros-- > 0 && !ret)
		ret = put(j, "0", 1);
	return ret;
}

static int number(struct json *j)
{
	const char *tok = j->p, *first = tok + (*tok == '-'), *p = first, *last, *dot = NULL;
	int64_t exponent = 0;
	bool minus;

	if (!kl_scan_digit(*p) || (*p == '0' && kl_scan_digit(p[1])))
		return bad(j, tok, "a number of JSON, as 7, -7 or 1.5e3");
	for (; kl_scan_digit(*p) || (*p == '.' && !dot && kl_scan_digit(p[1])); p++)
		dot = *p == '.' ? p : dot;
	last = p;
	if ((*p | 0x20) == 'e') {
		minus = p[1] == '-';
		p += 1 + (minus || p[1] == '+');
		if (!kl_scan_digit(*p))
			return bad(j, tok, "a number of JSON, as 7, -7 or 1.5e3");
		for (; kl_scan_digit(*p); p++)
			exponent = exponent > MAX_EXPONENT ? exponent : exponent * 10 + (*p - '0');
		if (exponent > MAX_EXPONENT)
			return bad(j, tok, "an exponent of up to 8 digits");
		exponent = minus ? -exponent : exponent;
	}
	j->p = p;
	/* Zeros at the end of the digits belong to the exponent. */
	exponent -= dot ? last - dot - 1 : 0;
	for (; last > first && (last[-1] == '0' || last[-1] == '.'); last--)
		exponent += last[-1] == '0';
	if (exponent >= 0 || last == first)
		return whole(j, tok, first, last - first, exponent);
	return put(j, tok, p - tok) ?: put(j, "M", 1);
}

#define VALUE "a value of JSON: an object, a list, a string, a number, true, false or null"

/* Return: what is expected in place of the word of @n characters at @p, with advice. */
static const char *wanted(const char *p, size_t n)
{
	static const char *const nothing[] = { "None", "nil", "NULL", "Null", "undefined", "NaN" };
	size_t i;

	if (*p == '\'' || *p == '`')
		return VALUE "; texts stand in double quotes";
	if (*p == '#' || (*p == '/' && (p[1] == '/' || p[1] == '*')))
		return VALUE "; JSON has no comments";
	if (*p == ',')
		return VALUE "; commas stand between values in { } and [ ] only";
	for (i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		if (kl_scan_is(p, n, nothing[i]))
			return VALUE "; write null";
	if (kl_scan_is(p, n, "True") || kl_scan_is(p, n, "TRUE"))
		return VALUE "; write true";
	if (kl_scan_is(p, n, "False") || kl_scan_is(p, n, "FALSE"))
		return VALUE "; write false";
	return n ? VALUE "; texts stand in double quotes" : VALUE;
}

static int literal(struct json *j)
{
	static const struct {
		const char *json, *edn;
	} words[] = { { "true", "true" }, { "false", "false" }, { "null", "nil" } };
	const char *p = j->p;
	size_t i, n;

	for (n = 0; kl_scan_name(p[n]); n++)
		;
	for (i = 0; i < 3; i++) {
		if (!kl_scan_is(p, n, words[i].json))
			continue;
		j->p += n;
		return put(j, words[i].edn, strlen(words[i].edn));
	}
	return bad(j, p, wanted(p, n));
}

/* The keys of an object, in the EDN text. */
struct key {
	size_t at, len;
};

static int object_key(struct json *j, struct key *keys, size_t *n)
{
	const struct key key = { .at = j->r->ntext };
	const char *tok = j->p;
	size_t i;
	int ret;

	if (*tok != '"')
		return bad(j, tok, "a key of an object, in quotes");
	ret = kl_record_mark(j->r, tok) ?: string(j) ?: kl_record_mark(j->r, j->p);
	if (ret)
		return ret;
	if (*n == MAX_MEMBERS)
		return bad(j, tok, "an object of at most 1024 members");
	keys[*n] = key;
	keys[*n].len = j->r->ntext - key.at;
	for (i = 0; i < *n; i++)
		if (keys[i].len == keys[*n].len &&
		    !memcmp(j->r->text + keys[i].at, j->r->text + key.at, keys[i].len))
			return bad(j, tok, "each key of an object once");
	++*n;
	skip(j);
	if (*j->p != ':')
		return bad(j, j->p, "':' after the key");
	j->p++;
	return put(j, " ", 1);
}

/* Read the object or the list that begins here. */
static int collection(struct json *j)
{
	const char close = *j->p == '{' ? '}' : ']', *tok = j->p;
	struct key *keys = NULL;
	size_t n = 0;
	int ret;

	if (++j->depth > MAX_DEPTH)
		return bad(j, tok, "at most 60 nested lists and objects");
	if (close == '}') {
		keys = malloc(MAX_MEMBERS * sizeof(*keys));
		if (!keys)
			return -ENOMEM;
	}
	ret = put(j, j->p++, 1);
	skip(j);
	while (!ret && *j->p != close) {
		ret = keys ? object_key(j, keys, &n) : 0;
		ret = ret ?: value(j);
		if (ret)
			break;
		skip(j);
		if (*j->p == close)
			break;
		if (*j->p != ',') {
			ret = bad(j, j->p < j->r->end ? j->p : tok,
				  close == '}' ? "',' or '}' after a member" :
						 "',' or ']' after an item");
			break;
		}
		j->p++;
		ret = put(j, " ", 1);
		skip(j);
		if (!ret && *j->p == close)
			ret = bad(j, j->p, "another one after ','");
	}
	free(keys);
	j->depth--;
	if (ret)
		return ret;
	return put(j, j->p++, 1);
}

static int value(struct json *j)
{
	int ret;

	skip(j);
	if (j->p >= j->r->end)
		return bad(j, j->p, "a value");
	ret = kl_record_mark(j->r, j->p);
	if (ret)
		return ret;
	if (*j->p == '{' || *j->p == '[')
		ret = collection(j);
	else if (*j->p == '"')
		ret = string(j);
	else if (*j->p == '-' || kl_scan_digit(*j->p))
		ret = number(j);
	else
		ret = literal(j);
	return ret ?: kl_record_mark(j->r, j->p);
}

/* Skip what is before a record.  Return: 1, 0 if there is none, or -EINVAL after a message. */
static int begin(struct json *j)
{
	struct kl_records *r = j->r;

	skip(j);
	if (r->item && j->p < r->end && *j->p != r->close) {
		if (*j->p != ',')
			return bad(j, j->p, "',' or ']' after a record");
		r->item = false;
		j->p++;
		skip(j);
	}
	if (r->close && j->p < r->end && *j->p == r->close) {
		r->close = 0;
		r->over = true;
		j->p++;
		skip(j);
	}
	r->p = j->p;
	if (j->p == r->end)
		return r->close ? kl_records_unclosed(r) : 0;
	return r->over ? bad(j, j->p, "the end of the file") : 1;
}

int kl_json_next(struct kl_records *r)
{
	struct json j = { .r = r, .p = r->p };
	int ret = begin(&j);

	if (ret <= 0)
		return ret;
	kl_record_clear(r, j.p);
	ret = value(&j);
	if (ret)
		return ret;
	r->item = r->close;
	r->p = j.p;
	ret = kl_record_read(r);
	return ret ? ret : 1;
}
