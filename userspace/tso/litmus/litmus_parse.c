// SPDX-License-Identifier: GPL-2.0
/* Parser of litmus tests: the head, the initial state and the table of the program. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/err.h"
#include "tso/litmus/litmus_text.h"

#define ROWS_MAX	512	/* rows of the program's table */

/* ---- initial state ---------------------------------------------------------- */

struct type {
	unsigned int size;
	bool is_unsigned, given;
};

static const struct type_name {
	const char *name;
	unsigned int size;
	bool is_unsigned;
} types[] = {
	{ "char", 1, false }, { "int8_t", 1, false }, { "uint8_t", 1, true },
	{ "short", 2, false }, { "int16_t", 2, false }, { "uint16_t", 2, true },
	{ "int", 4, false }, { "int32_t", 4, false }, { "uint32_t", 4, true },
	{ "long", 8, false }, { "int64_t", 8, false }, { "uint64_t", 8, true },
	{ "intptr_t", 8, false }, { "uintptr_t", 8, true }, { "unsigned", 4, true },
	{ "signed", 4, false }, { "volatile", 0, false }, { "const", 0, false },
};

static const struct type_name *find_type(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == len && !memcmp(types[i].name, s, len))
			return &types[i];
	return NULL;
}

/* Read a type if one follows: names before a register or location. */
static bool type(struct kl_lt_cursor *c, struct type *t)
{
	const struct type_name *found;
	struct kl_lt_cursor before;
	const char *s, *after;
	size_t len;

	*t = (struct type){ 0 };
	for (;;) {
		before = *c;
		if (!kl_lt_name(c, &s, &len))
			return true;
		kl_lt_space(c);
		after = c->p;
		if (*after != '*' && !isalnum((unsigned char)*after) && *after != '_') {
			*c = before;
			return true;
		}
		found = find_type(s, len);
		if (!found) {
			c->p = s;
			return kl_lt_fail(c, "unknown type '%.*s', expected one such as int or "
					  "uint64_t", (int)len, s);
		}
		/*
		 * In `unsigned long' or `short int', the name with another size than int's
		 * counts.
		 */
		if (found->size && (!t->size || found->size != 4))
			t->size = found->size;
		t->is_unsigned |= found->is_unsigned;
		t->given = true;
	}
}

bool kl_lt_value(struct kl_lt_cursor *c, uint64_t *v)
{
	const char *s;
	char buf[32];
	size_t len;
	int at;

	kl_lt_space(c);
	if (kl_lt_number(c, v))
		return true;
	kl_lt_take(c, "&");
	if (c->err || !kl_lt_name(c, &s, &len))
		return kl_lt_fail(c, "expected a value, found '%s'", kl_lt_here(c, buf));
	at = kl_lit_location(c->l, s, len);
	if (at < 0)
		return kl_lt_fail(c, "too many locations: klin litmus supports %d", KL_LIT_LOCS);
	c->l->locs[at].addressed = true;
	*v = KL_VM_PTR + at;
	return true;
}

/* Read the values v, v, ... } of an array whose first location is @first. */
static bool elements(struct kl_lt_cursor *c, unsigned int first, unsigned int len)
{
	unsigned int i = 0;

	do {
		if (i == len)
			return kl_lt_fail(c, "the array has %u elements, but more values", len);
		if (!kl_lt_value(c, &c->l->locs[first + i++].init))
			return false;
	} while (kl_lt_take(c, ","));
	return kl_lt_expect(c, "}");
}

/* Read the declaration x[n]: it makes locations x[0] .. x[n-1], the first of which is named x. */
static bool array(struct kl_lt_cursor *c, const struct type *t, unsigned int first)
{
	struct kl_litmus *l = c->l;
	char element[64];
	uint64_t n, i;
	int at;

	if (!kl_lt_expect(c, "[") || !kl_lt_number(c, &n))
		return c->err ? false : kl_lt_fail(c, "expected the array's number of elements");
	if (!kl_lt_expect(c, "]"))
		return false;
	if (!n || n > KL_LIT_LOCS || first + 1 != l->nlocs || strlen(l->locs[first].name) > 40)
		return kl_lt_fail(c, "the array is too large, its name is too long, or its name "
				     "was used before");
	if (!t->size)
		return kl_lt_fail(c, "the array has no type, expected as in 'int x[2]'");
	for (i = 0; i < n; i++) {
		snprintf(element, sizeof(element), "%s[%u]", l->locs[first].name, (unsigned int)i);
		at = i ? kl_lit_location(l, element, strlen(element)) : (int)first;
		if (at < 0)
			return kl_lt_fail(c, "too many locations: klin litmus supports %d",
					  KL_LIT_LOCS);
		l->locs[at].size = t->size;
		l->locs[at].is_unsigned = t->is_unsigned;
		l->locs[at].len = n - i;
	}
	if (!kl_lt_take(c, "="))
		return true;
	if (!kl_lt_take(c, "{"))
		return kl_lt_fail(c, "expected '{' and the array's values");
	return elements(c, first, n);
}

/* Refuse the value of the place at @at if it has another one already.  Return: false then. */
static bool is_same(struct kl_lt_cursor *c, const char *at, bool given, uint64_t old, uint64_t v)
{
	if (!given || old == v)
		return true;
	c->p = at;
	return kl_lt_fail(c, "the place has another first value already");
}

static bool init_entry(struct kl_lt_cursor *c)
{
	struct kl_litmus *l = c->l;
	struct kl_lit_item it = { 0 };
	unsigned int size = 0;
	const char *at;
	struct kl_lit_loc *loc;
	struct type t;
	bool pointer, given;
	uint64_t v = 0;

	if (!type(c, &t))
		return false;
	kl_lt_space(c);
	pointer = t.given && *c->p == '*';
	at = c->p;
	if (!kl_lt_place(c, &it, &size))
		return false;
	kl_lt_space(c);
	if (*c->p == '[' && it.thread < 0 && !pointer)
		return array(c, &t, it.index);
	if (*c->p == '[')
		return kl_lt_fail(c, "arrays of pointers are not supported");
	given = kl_lt_take(c, "=");
	if (given && !kl_lt_value(c, &v))
		return false;
	if (it.thread >= 0) {
		if (v < KL_VM_PTR && size == 4)
			v &= UINT32_MAX;
		if (!is_same(c, at, l->has_init[it.thread] >> it.index & 1,
			     l->reg[it.thread][it.index], v))
			return false;
		if (!l->init_at[it.thread])
			l->init_at[it.thread] = at;
		l->reg[it.thread][it.index] = v;
		l->has_init[it.thread] |= 1u << it.index;
		return true;
	}
	loc = &l->locs[it.index];
	if (!is_same(c, at, loc->given && given, loc->init, v))
		return false;
	loc->given |= given;
	if (pointer || (!t.given && kl_vm_is_ptr(v)))
		loc->size = l->x64 ? 8 : 4;
	else if (t.size)
		loc->size = t.size;
	if (!l->x64 && loc->size == 8)
		return kl_lt_fail(c, "a location of 64 bits needs a test for X86_64");
	loc->is_unsigned = t.is_unsigned;
	if (given)
		loc->init = v;
	return true;
}

static bool init_state(struct kl_lt_cursor *c)
{
	char buf[32];

	if (!kl_lt_expect(c, "{"))
		return false;
	for (;;) {
		while (kl_lt_take(c, ";"))
			;
		if (kl_lt_take(c, "}")) {
			while (kl_lt_take(c, ";"))
				;
			return true;
		}
		if (!init_entry(c))
			return false;
		kl_lt_space(c);
		if (*c->p == ';' || *c->p == '}')
			continue;
		return kl_lt_fail(c, "expected ';' or '}' in the initial state, found '%s'%s",
				  kl_lt_here(c, buf),
				  *c->p == ':' ? "; write '=' before a value" : "");
	}
}

/* ---- the program ---------------------------------------------------------------- */

struct row {
	const char *text;
	size_t len;
};

static bool condition_begins(struct kl_lt_cursor *c)
{
	static const char *const words[] = {
		"exists", "forall", "locations", "filter", "final", "observed", "with", "~", "not",
	};
	struct kl_lt_cursor d = *c;
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (kl_lt_take(&d, words[i]))
			return true;
	return false;
}

static bool rows(struct kl_lt_cursor *c, struct row *row, size_t *n)
{
	const char *p;
	char buf[32];

	for (*n = 0;; (*n)++) {
		kl_lt_space(c);
		if (!*c->p || (*n && condition_begins(c)))
			return *n || kl_lt_fail(c, "expected 'P0 | P1 ;' and the program");
		if (*n == ROWS_MAX)
			return kl_lt_fail(c, "the program has more than %d rows", ROWS_MAX);
		row[*n].text = c->p;
		p = strchrnul(c->p, ';');
		if (!*p && !strchrnul(c->p, '|')[0])
			return kl_lt_fail(c,
					  "expected a row that ends with ';', or 'exists', "
					  "'~exists', 'forall' or 'locations', found '%s'",
					  kl_lt_here(c, buf));
		if (!*p)
			return kl_lt_fail(c, "expected ';' at the end of a row");
		row[*n].len = p - c->p;
		c->p = p + 1;
	}
}

/* Get the text of column @t of a row.  Return: false if the row has fewer columns. */
static bool column(const struct row *r, unsigned int t, const char **s, size_t *len)
{
	const char *p = r->text, *end = r->text + r->len, *bar;

	for (;; t--) {
		bar = memchr(p, '|', end - p);
		*s = p;
		*len = (bar ? bar : end) - p;
		if (!t)
			return true;
		if (!bar)
			return false;
		p = bar + 1;
	}
}

static bool header(struct kl_lt_cursor *c, const struct row *r)
{
	const char *s, *end;
	unsigned int t;
	uint64_t n = 0;
	size_t len;

	for (t = 0; column(r, t, &s, &len); t++) {
		while (len && isspace((unsigned char)*s)) {
			s++;
			len--;
		}
		end = len > 1 && *s == 'P' ? kl_digits(s + 1, &n) : NULL;
		while (end && end < s + len && isspace((unsigned char)*end))
			end++;
		if (end != s + len || n != t || t >= KL_VM_THREADS) {
			c->p = s;
			if (t >= KL_VM_THREADS)
				return kl_lt_fail(c,
						  "expected ';' after 'P%d': at most %d threads "
						  "are supported",
						  KL_VM_THREADS - 1, KL_VM_THREADS);
			len = strnlen(s, len) < strcspn(s, "\n") ? len : strcspn(s, "\n");
			return kl_lt_fail(c,
					  "expected 'P%u', found '%.*s'; '|' stands between "
					  "threads, and ';' at the end of a row",
					  t, (int)len, s);
		}
	}
	c->l->nthreads = t;
	return true;
}

/* Check that a row has a column for each thread, which may be blank. */
static bool check_columns(struct kl_lt_cursor *c, const struct row *r)
{
	const unsigned int want = c->l->nthreads;
	const char *s;
	unsigned int n;
	size_t len;

	for (n = 0; n <= want && column(r, n, &s, &len); n++)
		;
	if (n == want)
		return true;
	c->p = n > want ? s : r->text + r->len;
	if (n > want)
		return kl_lt_fail(c, "the row has more columns than there are threads%s",
				  memchr(r->text, '\n', r->len) ?
					  "; is a ';' missing at the end of the line before?" :
					  "");
	return kl_lt_fail(c,
			  "the row ends after %u column%s of %u; write '|' before a column "
			  "without an instruction, too",
			  n, n == 1 ? "" : "s", want);
}

static bool program(struct kl_lt_cursor *c)
{
	struct row *row = calloc(ROWS_MAX, sizeof(*row));
	struct kl_lit_asm *a = kl_lit_asm_new(c->l);
	const char *s;
	size_t n, len, i;
	unsigned int t;

	if (!row || !a) {
		c->err = -ENOMEM;
		goto out;
	}
	if (!rows(c, row, &n) || !header(c, &row[0]))
		goto out;
	for (i = 1; i < n; i++)
		if (!check_columns(c, &row[i]))
			goto out;
	for (t = 0; t < c->l->nthreads && !c->err; t++) {
		kl_lit_asm_thread(a, t);
		for (i = 1; i < n && !c->err; i++)
			if (column(&row[i], t, &s, &len))
				c->err = kl_lit_asm_cell(a, s, len);
		if (!c->err)
			c->err = kl_lit_asm_end(a);
	}
	c->l->nprogram = c->l->nlocs;
out:
	kl_lit_asm_free(a);
	free(row);
	return !c->err;
}

/* ---- the whole test ------------------------------------------------------------------- */

static bool architecture(struct kl_lt_cursor *c)
{
	char buf[32];

	kl_lt_space(c);
	if (!*c->p)
		return kl_lt_fail(c, "the file is empty: expected a test, which begins with 'X86' "
				     "or 'X86_64'");
	c->l->x64 = kl_lt_take(c, "X86_64");
	return c->l->x64 || kl_lt_take(c, "X86") ||
	       kl_lt_fail(c,
			  "expected 'X86' or 'X86_64', found '%s': klin litmus runs tests in "
			  "assembly of x86 only",
			  kl_lt_here(c, buf));
}

/* Other kinds of tests may have no comments like these, such as those in C, where '(*x' is none. */
static bool comments(struct kl_lt_cursor *c, char *text)
{
	kl_lt_space(c);
	if (isalpha((unsigned char)*c->p) && !architecture(c))
		return false;
	c->p = text;
	return kl_lt_blank_comments(c, text);
}

static bool head(struct kl_lt_cursor *c)
{
	const char *p, *end;
	size_t len;

	if (!architecture(c))
		return false;
	while (*c->p == ' ' || *c->p == '\t')
		c->p++;
	len = strcspn(c->p, " \t\r\n{");
	if (!len)
		return kl_lt_fail(c, "expected the test's name");
	c->l->name = kl_arena_strndup(&c->l->arena, c->p, len);
	c->p += len;
	/* Skip documentation, which may be quoted, and KEY=VALUE lines. */
	for (p = c->p; *p && *p != '{'; p++) {
		end = *p == '"' ? strpbrk(p + 1, "\"\n") : NULL;
		if (end && *end == '"')
			p = end;
	}
	if (!*p)
		return kl_lt_fail(c, "expected '{' and the initial state");
	c->p = p;
	return c->l->name || kl_lt_fail(c, "out of memory");
}

/* Sort the items as herd does: registers by thread, then locations by name. */
static void sort_items(struct kl_litmus *l)
{
	unsigned int to[KL_LIT_ITEMS], i, j, n;
	struct kl_lit_item sorted[KL_LIT_ITEMS];

	for (i = 0; i < l->nitems; i++) {
		for (j = n = 0; j < l->nitems; j++) {
			const struct kl_lit_item *x = &l->items[j], *y = &l->items[i];

			if (x->thread != y->thread)
				n += y->thread < 0 || (x->thread >= 0 && x->thread < y->thread);
			else if (x->thread < 0)
				n += strcmp(l->locs[x->index].name, l->locs[y->index].name) < 0;
			else
				n += x->index < y->index;
		}
		to[i] = n;
		sorted[n] = l->items[i];
	}
	memcpy(l->items, sorted, l->nitems * sizeof(*sorted));
	for (i = 0; i < l->nnodes; i++) {
		if (l->nodes[i].op == KL_LIT_EQ || l->nodes[i].op == KL_LIT_SAME)
			l->nodes[i].a = to[l->nodes[i].a];
		if (l->nodes[i].op == KL_LIT_SAME)
			l->nodes[i].b = to[l->nodes[i].b];
	}
}

static int finish(struct kl_litmus *l)
{
	uint64_t observed = 0;
	uint32_t *scratch;
	unsigned int i;

	for (i = 0; i < l->nitems; i++) {
		if (l->items[i].thread >= 0)
			observed |= 1ULL << l->items[i].index;
		else
			l->items[i].is_unsigned = l->locs[l->items[i].index].is_unsigned;
	}
	l->live = calloc(l->ncode, sizeof(*l->live));
	scratch = calloc(l->ncode, sizeof(*scratch));
	if (!l->live || !scratch) {
		free(scratch);
		return -ENOMEM;
	}
	l->prog.code = l->code;
	l->prog.pool = l->pool;
	l->prog.live = l->live;
	l->prog.ncode = l->ncode;
	l->prog.nslots = l->nlocs;
	l->prog.nthreads = l->nthreads;
	l->prog.nregs[0] = l->nregs;
	l->prog.stride = 1;
	l->prog.raw = true;
	kl_vm_live(&l->prog, 0, l->live, observed, scratch);
	free(scratch);
	return 0;
}

int kl_litmus_parse(const char *path, const char *text, struct kl_litmus **out)
{
	return kl_litmus_parse_changed(path, text, NULL, out);
}

int kl_litmus_parse_changed(const char *path, const char *text, const struct kl_lit_change *change,
			    struct kl_litmus **out)
{
	struct kl_litmus *l = calloc(1, sizeof(*l));
	struct kl_lt_cursor c = { .l = l };
	char *copy;

	if (!l)
		return -ENOMEM;
	l->path = path;
	l->change = change;
	copy = kl_arena_strndup(&l->arena, text, strlen(text));
	if (!copy) {
		kl_litmus_free(l);
		return -ENOMEM;
	}
	l->text = text;
	l->copy = c.p = copy;
	if (strlen(text) > KL_LIT_TEXT_MAX)
		kl_lt_fail(&c, "the test has more than %u bytes", KL_LIT_TEXT_MAX);
	else if (comments(&c, copy) && head(&c) && init_state(&c) && program(&c) &&
		 kl_lt_condition(&c) &&
		 (!change || !change->condition || kl_lt_other_condition(&c, change->condition)))
		sort_items(l);
	if (!c.err)
		c.err = finish(l);
	if (c.err) {
		kl_litmus_free(l);
		return c.err;
	}
	/* The caller's text may be freed now. */
	l->text = copy;
	l->change = NULL;
	*out = l;
	return 0;
}

void kl_litmus_free(struct kl_litmus *l)
{
	if (!l)
		return;
	free(l->nodes);
	free(l->code);
	free(l->cell);
	free(l->pool);
	free(l->live);
	kl_arena_free(&l->arena);
	free(l);
}
