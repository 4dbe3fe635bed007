// SPDX-License-Identifier: GPL-2.0
/*
 * Records of CSV (RFC 4180), written anew in EDN; see record.h.  The first line has the names of
 * the columns.  Quotes around a field have no meaning, as RFC 4180 says.  A field is a number if it
 * is a whole decimal number without zeros in front; true and false are bools; an empty field
 * without quotes is nil; all others are texts.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "records/record.h"

/* A field: its place in the file, and whether it has quotes. */
struct field {
	const char *tok, *end;
	bool quoted;
};

static int bad(struct kl_records *r, const char *tok, const char *expected)
{
	return kl_scan_bad(&r->scan, tok, expected);
}

/* Return: true if the field is over at @p. */
static bool ends(const char *p)
{
	return *p == ',' || *p == '\n' || (*p == '\r' && p[1] == '\n');
}

/* Find the field at r->p.  Then r->p is at its comma or newline. */
static int find_field(struct kl_records *r, struct field *f)
{
	const char *p = r->p;

	*f = (struct field){ .tok = p, .quoted = *p == '"' };
	if (f->quoted) {
		for (p++; p < r->end; p++) {
			if (*p != '"')
				continue;
			if (p[1] != '"')
				break;
			p++;
		}
		if (p >= r->end)
			return bad(r, f->tok, "a closing quote");
		if (!ends(++p))
			return bad(r, p, "',' or the end of the line after a closing quote");
	} else {
		for (; !ends(p); p++)
			if (*p == '"')
				return bad(r, p,
					   "quotes around the whole field, with \"\" for a "
					   "quote inside");
	}
	f->end = p;
	r->p = p;
	return 0;
}

/* Go on behind the field.  Return: true if another field follows in the record. */
static bool next_field(struct kl_records *r)
{
	if (*r->p == ',') {
		r->p++;
		return true;
	}
	r->p += 1 + (*r->p == '\r');
	return false;
}

static int put_text(struct kl_records *r, const struct field *f)
{
	const char *p = f->tok + f->quoted, *end = f->end - f->quoted;
	int ret = kl_record_put(r, "\"", 1);

	for (; p < end && !ret; p++) {
		ret = kl_record_put_char(r, *p);
		p += f->quoted && *p == '"';
	}
	return ret ?: kl_record_put(r, "\"", 1);
}

static bool is_number(const char *p, const char *end)
{
	p += p < end && *p == '-';
	if (p == end || (*p == '0' && end > p + 1))
		return false;
	while (p < end && kl_scan_digit(*p))
		p++;
	return p == end;
}

static int put_field(struct kl_records *r, const struct field *f)
{
	const char *p = f->tok + f->quoted, *end = f->end - f->quoted;
	const size_t len = end - p;
	int ret = kl_record_mark(r, f->tok);

	if (ret)
		return ret;
	if (!len && !f->quoted)
		ret = kl_record_put(r, "nil", 3);
	else if (is_number(p, end) || kl_scan_is(p, len, "true") || kl_scan_is(p, len, "false"))
		ret = kl_record_put(r, p, len);
	else
		ret = put_text(r, f);
	return ret ?: kl_record_mark(r, f->end);
}

/* Return: the name of column @i of the header, a string of EDN, and its length. */
static const char *column(const struct kl_records *r, size_t i, size_t *len)
{
	const char *p = r->columns;

	for (; i; i--)
		p += strlen(p) + 1;
	*len = strlen(p);
	return p;
}

int kl_csv_header(struct kl_records *r)
{
	struct field f;
	size_t i, len, n;
	int ret;

	do {
		r->tok = r->p;
		r->ntext = 0;
		ret = find_field(r, &f) ?: put_text(r, &f) ?: kl_record_put(r, "", 1);
		if (ret)
			return ret;
		for (i = 0; i < r->ncolumns; i++)
			if (!strcmp(column(r, i, &len), r->text))
				return bad(r, f.tok,
					   "names of columns, each once, in the first line");
		n = r->nheader + r->ntext;
		ret = kl_grow_((void **)&r->columns, &r->cheader, n, 1);
		if (ret)
			return ret;
		memcpy(r->columns + r->nheader, r->text, r->ntext);
		r->nheader = n;
		r->ncolumns++;
	} while (next_field(r));
	return 0;
}

int kl_csv_next(struct kl_records *r)
{
	const char *name = r->columns;
	size_t i = 0;
	struct field f;
	int ret;

	/* An empty line is no record. */
	while (r->p < r->end && (*r->p == '\n' || (*r->p == '\r' && r->p[1] == '\n')))
		r->p++;
	if (r->p >= r->end)
		return 0;
	kl_record_clear(r, r->p);
	ret = kl_record_mark(r, r->p) ?: kl_record_put(r, "{", 1);
	do {
		ret = ret ?: find_field(r, &f);
		if (ret)
			return ret;
		if (i++ == r->ncolumns)
			return bad(r, f.tok, "as many fields as the first line has");
		ret = kl_record_put(r, name, strlen(name)) ?: kl_record_put(r, " ", 1);
		ret = ret ?: put_field(r, &f) ?: kl_record_put(r, " ", 1);
		name += strlen(name) + 1;
	} while (next_field(r));
	if (ret)
		return ret;
	if (i < r->ncolumns)
		return bad(r, f.end, "as many fields as the first line has");
	ret = kl_record_put(r, "}", 1) ?: kl_record_read(r);
	return ret ? ret : 1;
}
