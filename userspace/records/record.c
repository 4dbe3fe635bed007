// SPDX-License-Identifier: GPL-2.0
/* Records of a file, and their parts; see record.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/nearest.h"
#include "history/formats/edn_entry.h"
#include "history/formats/edn_form.h"
#include "records/record.h"

/* Print an error or a warning about the value at @tok, or about the record if @tok is NULL. */
static void show(struct kl_records *r, const char *tok, bool warning, const char *fmt, va_list ap)
{
	const char *at = tok ? kl_record_source(r, tok) : r->tok, *line = r->scan.text, *p, *end;
	unsigned int number = r->scan.before + 1;
	char what[600];

	for (p = line; p < at && (p = memchr(p, '\n', at - p)); number++)
		line = ++p;
	end = memchr(at, '\n', r->end - at) ?: r->end;
	while (end > line && end[-1] == '\r')
		end--;
	vsnprintf(what, sizeof(what), fmt, ap);
	if (warning)
		kl_warn_at(r->scan.name, number, at - line + 1, "%s", what);
	else
		kl_err_at(r->scan.name, number, at - line + 1, "%s", what);
	kl_err_source(line, end - line, at - line + 1);
}

int kl_record_bad(struct kl_records *r, const char *tok, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	show(r, tok, false, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

void kl_record_warn(struct kl_records *r, const char *tok, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	show(r, tok, true, fmt, ap);
	va_end(ap);
}

/* Return: the first character from @p on that is no blank and in no comment of EDN. */
static const char *first_char(const char *p)
{
	for (;; p++) {
		if (*p == ';')
			p = rawmemchr(p, '\n');
		else if (!kl_scan_blank(*p) && *p != '\n')
			return p;
	}
}

/* Return: the end of the string at @p, or @p if there is none in this line. */
static const char *string_end(const char *p)
{
	const char *q;

	for (q = p + 1; *q != '"' && *q != '\n'; q++)
		q += *q == '\\' && q[1] != '\n';
	return *q == '"' ? q + 1 : p;
}

/*
 * Recognize the form by the first characters.  A map of JSON begins with a string and a colon; a
 * list of JSON has a comma behind its first item, which in EDN is unusual, or is empty.
 */
static enum kl_record_form recognize(const char *p)
{
	const char *q = first_char(p);

	if (!*q || *q == '(' || *q == '#' || *q == '^')
		return KL_RECORDS_EDN;
	if (*q != '{' && *q != '[')
		return KL_RECORDS_CSV;
	while (*q == '{' || *q == '[' || kl_scan_blank(*q) || *q == '\n')
		q++;
	if (*q == '}' || *q == ']')
		return KL_RECORDS_JSON;
	p = q;
	if (*q == '"')
		q = string_end(q);
	else
		while (kl_scan_name(*q) || *q == '-' || *q == '.')
			q++;
	if (q == p)
		return KL_RECORDS_EDN;
	while (kl_scan_blank(*q))
		q++;
	return *q == ':' || *q == ',' ? KL_RECORDS_JSON : KL_RECORDS_EDN;
}

/* Enter the list that has all records, if there is one. */
static void enter(struct kl_records *r)
{
	const char *p = r->form == KL_RECORDS_CSV ? "" : first_char(r->p), *q;

	if (*p != '[' && *p != '(')
		return;
	q = first_char(p + 1);
	if (*q != '{' && *q != '[' && *q != '(' && *q != '#' && *q != '^' && *q != ']' && *q != ')')
		return;
	r->open = p;
	for (r->open_line = 1, q = r->p; (q = memchr(q, '\n', p - q)); q++)
		r->open_line++;
	r->close = *p == '[' ? ']' : ')';
	r->p = p + 1;
}

/* Refuse a file whose first line does not name the column that each record needs. */
static int check_columns(struct kl_records *r, const struct kl_mapping *map)
{
	const struct kl_map_step *s = map->process->steps;
	const char *p = r->columns;
	size_t i;

	if (map->process->kind != KL_M_PATH || !s->name)
		return 0;
	for (i = 0; i < r->ncolumns; i++, p += strlen(p) + 1)
		if (strlen(p) == s->len + 2 && !memcmp(p + 1, s->name, s->len))
			return 0;
	r->tok = r->scan.text;
	return kl_record_bad(r, NULL,
			     "no column '%s', by line %u of the specification: expected a "
			     "file in EDN or JSON, or in CSV with names of columns in its first "
			     "line and commas between them",
			     s->name, map->process->pos.line);
}

int kl_records_begin(struct kl_records *r, const char *name, const char *text, const char *end,
		     const struct kl_mapping *map)
{
	*r = (struct kl_records){
		.scan = { .name = name, .text = text, .end = end, .line = 1 },
		.p = text,
		.end = end,
		.tok = text,
		.form = recognize(text),
	};
	r->edn.scan = r->scan;
	r->edn.end = end;
	enter(r);
	r->edn.p = r->p;
	return r->form == KL_RECORDS_CSV ? kl_csv_header(r) ?: check_columns(r, map) : 0;
}

int kl_records_unclosed(struct kl_records *r)
{
	if (r->more)
		return 0;
	r->tok = r->open;
	if (r->tok)
		return kl_record_bad(r, NULL, "expected a closing bracket");
	kl_err_at(r->scan.name, r->open_line, 0, "expected a closing bracket");
	return -EINVAL;
}

void kl_records_go_on(struct kl_records *r, const char *text, const char *end, unsigned int before)
{
	r->scan.text = r->p = r->tok = text;
	r->scan.end = r->end = end;
	r->scan.before = before;
	r->open = NULL;
	if (r->form != KL_RECORDS_EDN)
		return;
	r->edn.scan = r->scan;
	r->edn.p = text;
	r->edn.end = end;
}

static int edn_next(struct kl_records *r)
{
	struct kl_edn *e = &r->edn;
	int ret;

	e->ncanon = 0;
	kl_arena_free(&e->arena);
	if (!kl_edn_skip(e))
		return r->close ? kl_records_unclosed(r) : 0;
	if (e->bad)
		return -EINVAL;
	if (r->close && *e->p == r->close) {
		e->p++;
		r->close = 0;
		r->over = true;
		if (!kl_edn_skip(e))
			return 0;
	}
	r->tok = e->p;
	if (r->over)
		return kl_record_bad(r, NULL, "expected the end of the file");
	ret = kl_edn_value_here(e, &r->record);
	return ret ? ret : 1;
}

int kl_records_next(struct kl_records *r)
{
	if (r->form == KL_RECORDS_EDN)
		return edn_next(r);
	r->edn.ncanon = 0;
	kl_arena_free(&r->edn.arena);
	return r->form == KL_RECORDS_JSON ? kl_json_next(r) : kl_csv_next(r);
}

void kl_records_free(struct kl_records *r)
{
	kl_edn_free(&r->edn);
	free(r->text);
	free(r->marks);
	free(r->columns);
}

bool kl_record_is(const struct kl_edn_val *v, const char *text, size_t len)
{
	const bool keyword = v->kind == KL_EDN_WORD && *v->s == ':';

	if (v->kind != KL_EDN_STRING && v->kind != KL_EDN_WORD)
		return false;
	return v->len - keyword == len && !memcmp(v->s + keyword, text, len);
}

/* ---- parts of values ---- */

/* A position in a value that was read before, which has no errors. */
struct visit {
	struct kl_edn *e;
	const char *p;
	unsigned int line;
	char close; /* the closing bracket; 0: the value is no collection */
	bool map;
	const char *ns; /* the namespace of a map, as q in #:q{:a 1}, and its length or 0 */
	size_t nns;
};

/* Enter the collection @v. */
static void visit(struct kl_records *r, const struct kl_edn_val *v, struct visit *at)
{
	struct kl_edn *e = &r->edn;
	bool set;

	*at = (struct visit){ .e = e, .p = e->p, .line = e->scan.line };
	e->p = v->tok;
	if (kl_edn_prefixes(e))
		return;
	set = e->p[0] == '#' && e->p[1] == '{';
	e->p += set;
	if (e->p[0] == '#' && e->p[1] == ':') {
		at->ns = e->p + 2;
		e->p = kl_edn_atom_end(at->ns);
		at->nns = e->p - at->ns;
		/* The map was read before, so it is there. */
		kl_edn_skip(e);
	}
	at->close = *e->p == '[' ? ']' : *e->p == '(' ? ')' : *e->p == '{' ? '}' : 0;
	at->map = at->close == '}' && !set;
	e->p++;
}

static void leave(const struct visit *at)
{
	at->e->p = at->p;
	at->e->scan.line = at->line;
}

/* Read the next value before @close.  Return: 1, 0 if there is none, or a negative errno. */
static int next_value(struct kl_edn *e, char close, struct kl_edn_val *v)
{
	int ret;

	if (!kl_edn_skip(e) || e->bad)
		return -EINVAL;
	if (*e->p == close)
		return 0;
	ret = kl_edn_value_here(e, v);
	return ret ? ret : 1;
}

static bool ends_with(const struct kl_map_step *step, size_t from, const char *s, size_t len)
{
	return step->len == from + len && !memcmp(step->name + from, s, len);
}

/*
 * Return: true if @step names the key of a map.  In #:q{:a 1, :_/b 2, :r/c 3, "d" 4, 5 6} the keys
 * are q/a, b, r/c and d, and the number 5.
 */
static bool is_key(const struct visit *at, const struct kl_edn_val *key,
		   const struct kl_map_step *step)
{
	const char *name = key->s;
	size_t len = key->len;

	if (!step->name)
		return key->kind == KL_EDN_INT && key->v >= 0 && (uint64_t)key->v == step->index;
	if (!at->nns || key->kind != KL_EDN_WORD || kl_scan_is(name, len, "true") ||
	    kl_scan_is(name, len, "false"))
		return kl_record_is(key, step->name, step->len);
	if (*name == ':') {
		name++;
		len--;
	}
	if (len > 2 && !memcmp(name, "_/", 2))
		return ends_with(step, 0, name + 2, len - 2);
	if (memchr(name, '/', len))
		return ends_with(step, 0, name, len);
	return step->len > at->nns && !memcmp(step->name, at->ns, at->nns) &&
	       step->name[at->nns] == '/' && ends_with(step, at->nns + 1, name, len);
}

/* Find a member.  Return: 1, 0 if there is none, or a negative errno. */
static int member(const struct visit *at, const struct kl_map_step *step, struct kl_edn_val *out)
{
	struct kl_edn *e = at->e;
	struct kl_edn_val key, value;
	size_t canon;
	int ret;

	for (;;) {
		canon = e->ncanon;
		ret = next_value(e, '}', &key);
		if (ret <= 0)
			return ret;
		if (is_key(at, &key, step))
			return next_value(e, '}', out);
		ret = next_value(e, '}', &value);
		if (ret < 0)
			return ret;
		e->ncanon = canon;
	}
}

/* Find an item.  Return: as member(). */
static int item(struct kl_edn *e, const struct kl_map_step *step, char close,
		struct kl_edn_val *out)
{
	const size_t canon = e->ncanon;
	struct kl_edn_val v;
	uint64_t i;
	int ret;

	for (i = 0;; i++) {
		ret = next_value(e, close, &v);
		if (ret <= 0)
			return ret;
		if (i == step->index)
			break;
		e->ncanon = canon;
	}
	*out = v;
	return 1;
}

int kl_record_step(struct kl_records *r, const struct kl_edn_val *v, const struct kl_map_step *step,
		   struct kl_edn_val *out)
{
	struct visit at;
	int ret = 0;

	*out = (struct kl_edn_val){ .kind = KL_EDN_NIL, .tok = v->tok, .end = v->end };
	if (v->kind == KL_EDN_NIL)
		return 1;
	visit(r, v, &at);
	if (at.map)
		ret = member(&at, step, out);
	else if (!step->name && at.close)
		ret = item(&r->edn, step, at.close, out);
	leave(&at);
	if (step->name && !at.map)
		return kl_record_bad(r, v->tok, "expected a map, which has '.%s'", step->name);
	if (!step->name && !at.close)
		return kl_record_bad(r, v->tok, "expected a list or a map, which has an item [%llu]",
				     (unsigned long long)step->index);
	return ret < 0 ? ret : !ret;
}

int kl_record_each(struct kl_records *r, const struct kl_edn_val *v,
		   int (*fn)(void *ctx, const struct kl_edn_val *element), void *ctx)
{
	struct kl_edn_val element;
	struct visit at;
	int ret;

	if (v->kind == KL_EDN_NIL)
		return 0;
	visit(r, v, &at);
	do {
		ret = at.close && !at.map ? next_value(&r->edn, at.close, &element) : 0;
		if (ret > 0)
			ret = fn(ctx, &element) ?: 1;
	} while (ret == 1);
	leave(&at);
	if (!at.close || at.map)
		return kl_record_bad(r, v->tok, "expected a list or a set");
	return ret;
}

#define MOST_NAMES 12 /* members that a hint is made from */

/* Return: the name of a key in @buf, or NULL if the key has none, or a long one. */
static const char *name_of(const struct kl_edn_val *key, char buf[KL_NEAREST_MAX])
{
	const bool keyword = key->kind == KL_EDN_WORD && *key->s == ':';
	const size_t len = key->len - keyword;
	size_t i;

	if ((!keyword && key->kind != KL_EDN_STRING) || !len || len >= KL_NEAREST_MAX)
		return NULL;
	memcpy(buf, key->s + keyword, len);
	buf[len] = '\0';
	for (i = 0; i < len; i++)
		if ((unsigned char)buf[i] < ' ' || buf[i] == '\'' || buf[i] == 0x7f)
			return NULL;
	return buf;
}

void kl_record_hint(struct kl_records *r, const struct kl_edn_val *v,
		    const struct kl_map_step *step, char hint[KL_RECORD_HINT])
{
	char text[MOST_NAMES][KL_NEAREST_MAX];
	const char *names[MOST_NAMES], *near;
	const size_t canon = r->edn.ncanon;
	struct kl_edn_val key, value;
	struct visit at = { .map = false };
	size_t i, len = 0, n = 0;

	*hint = '\0';
	if (v->kind == KL_EDN_NIL || !step->name)
		return;
	visit(r, v, &at);
	/* Keys of a map with a namespace are written without it. */
	while (at.map && !at.nns && n < MOST_NAMES && next_value(at.e, '}', &key) == 1) {
		names[n] = name_of(&key, text[n]);
		n += names[n] != NULL;
		if (next_value(at.e, '}', &value) != 1)
			break;
		r->edn.ncanon = canon;
	}
	leave(&at);
	near = kl_nearest(step->name, names, n);
	if (near)
		snprintf(hint, KL_RECORD_HINT, "; did you mean '%s'?", near);
	for (i = 0; i < n && !near; i++) {
		len += snprintf(hint + len, KL_RECORD_HINT - len, "%s'%s'",
				i ? ", " : "; its members are ", names[i]);
		if (len >= KL_RECORD_HINT) {
			*hint = '\0';
			return;
		}
	}
}
