// SPDX-License-Identifier: GPL-2.0
/* Litmus tests: the text as a whole, its initial state and its condition. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "tso/litmus.h"

#define ROWS_MAX	512
#define DEPTH_MAX	200

struct cursor {
	struct kl_litmus *l;
	const char *p;
	unsigned int line, depth;
	int err;
};

static bool fail(struct cursor *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct cursor *c, const char *fmt, ...)
{
	char msg[256];
	va_list ap;

	if (c->err)
		return false;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	kl_err_at(c->l->path, c->line, 0, "%s", msg);
	c->err = -EINVAL;
	return false;
}

/* Up to 30 characters of what is there, for messages. */
static const char *here(const struct cursor *c, char buf[32])
{
	size_t n = strcspn(c->p, "\n");

	snprintf(buf, 32, "%.*s", n > 30 ? 30 : (int)n, c->p);
	return *c->p ? buf : "end of file";
}

static void space(struct cursor *c)
{
	for (;;) {
		if (c->p[0] == '(' && c->p[1] == '*') {
			while (*c->p && !(c->p[0] == '*' && c->p[1] == ')'))
				c->line += *c->p++ == '\n';
			c->p += *c->p ? 2 : 0;
		} else if (isspace((unsigned char)*c->p)) {
			c->line += *c->p++ == '\n';
		} else {
			return;
		}
	}
}

static bool take(struct cursor *c, const char *s)
{
	size_t n = strlen(s);

	space(c);
	if (strncmp(c->p, s, n) || (isalpha((unsigned char)*s) &&
				    (isalnum((unsigned char)c->p[n]) || c->p[n] == '_')))
		return false;
	c->p += n;
	return true;
}

static bool expect(struct cursor *c, const char *s)
{
	char buf[32];

	return take(c, s) || fail(c, "expected '%s', found '%s'", s, here(c, buf));
}

static size_t name_len(const char *p)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*p) && *p != '_')
		return 0;
	while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.')
		n++;
	return n;
}

static bool name(struct cursor *c, const char **s, size_t *len)
{
	space(c);
	*s = c->p;
	*len = name_len(c->p);
	c->p += *len;
	return *len > 0;
}

static bool number(struct cursor *c, uint64_t *v)
{
	bool minus;
	char *end;

	space(c);
	minus = *c->p == '-' && isdigit((unsigned char)c->p[1]);
	if (!minus && !isdigit((unsigned char)*c->p))
		return false;
	errno = 0;
	*v = strtoull(c->p + minus, &end, 0);
	if (errno)
		return fail(c, "a number too large");
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

/* Is "1:" or "P1:" next? */
static bool at_thread(const struct cursor *c)
{
	const char *p = c->p + (*c->p == 'P');

	if (!isdigit((unsigned char)*p))
		return false;
	while (isdigit((unsigned char)*p))
		p++;
	return *p == ':';
}

/* 1:EAX, P1:rax, x, [x], *x */
static bool place(struct cursor *c, struct kl_lit_item *it, unsigned int *size)
{
	const char *s;
	char buf[32];
	size_t len;
	bool bracket;
	int at;

	space(c);
	if (at_thread(c)) {
		it->thread = strtoul(c->p + (*c->p == 'P'), (char **)&s, 10);
		c->p = s + 1;
		if (*c->p == '%')
			c->p++;
		if (it->thread < 0 || it->thread >= KL_VM_THREADS)
			return fail(c, "a thread that klin litmus has no room for");
		if (!name(c, &s, &len))
			return fail(c, "expected a register, found '%s'", here(c, buf));
		at = kl_lit_register(c->l->x64, s, len, size);
		if (at < 0)
			return fail(c, "'%.*s' is no register that klin litmus knows", (int)len, s);
		it->index = at;
		return true;
	}
	if (*c->p == '*')
		c->p++;
	bracket = take(c, "[");
	it->thread = -1;
	if (!name(c, &s, &len))
		return fail(c, "expected a register or a location, found '%s'", here(c, buf));
	at = kl_lit_location(c->l, s, len);
	if (at < 0)
		return fail(c, "more locations than klin litmus has room for");
	it->index = at;
	return !bracket || expect(c, "]");
}

/* ---- initial state ---------------------------------------------------------- */

static const struct type {
	const char *name;
	unsigned int size;
	bool is_unsigned;
} types[] = {
	{ "int", 4, false }, { "int32_t", 4, false }, { "uint32_t", 4, true },
	{ "long", 8, false }, { "int64_t", 8, false }, { "uint64_t", 8, true },
	{ "intptr_t", 8, false }, { "uintptr_t", 8, true },
};

/* A type, if one is next: a name that another place follows. */
static bool type(struct cursor *c, const struct type **t)
{
	const struct cursor before = *c;
	const char *s, *after;
	size_t len, i;

	*t = NULL;
	if (!name(c, &s, &len))
		return true;
	space(c);
	after = c->p;
	*c = before;
	if (*after != '*' && *after != '[' && !isalnum((unsigned char)*after) && *after != '_')
		return true;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == len && !memcmp(types[i].name, s, len))
			*t = &types[i];
	/* x[2] is an array's element, or an array */
	if (!*t)
		return fail(c, "'%.*s': a type or an array that klin litmus does not know",
			    (int)len, s);
	name(c, &s, &len);
	return true;
}

static bool value(struct cursor *c, uint64_t *v)
{
	const char *s;
	char buf[32];
	size_t len;
	int at;

	space(c);
	if (number(c, v))
		return true;
	take(c, "&");
	if (c->err || !name(c, &s, &len))
		return fail(c, "expected a value, found '%s'", here(c, buf));
	at = kl_lit_location(c->l, s, len);
	if (at < 0)
		return fail(c, "more locations than klin litmus has room for");
	*v = KL_VM_PTR + at;
	return true;
}

static bool init_entry(struct cursor *c)
{
	struct kl_litmus *l = c->l;
	struct kl_lit_item it = { 0 };
	unsigned int size = 0;
	const struct type *t;
	bool pointer;
	uint64_t v = 0;

	if (!type(c, &t))
		return false;
	space(c);
	pointer = t && *c->p == '*';
	if (!place(c, &it, &size))
		return false;
	space(c);
	if (*c->p == '[')
		return fail(c, "an array, which klin litmus does not know");
	if (take(c, "=") && !value(c, &v))
		return false;
	if (it.thread >= 0) {
		if (v < KL_VM_PTR && size == 4)
			v &= UINT32_MAX;
		l->reg[it.thread][it.index] = v;
		return true;
	}
	if (pointer || (!t && kl_vm_is_ptr(v)))
		l->locs[it.index].size = l->x64 ? 8 : 4;
	else if (t)
		l->locs[it.index].size = t->size;
	if (!l->x64 && l->locs[it.index].size == 8)
		return fail(c, "a location of 64 bits in a test for X86");
	l->locs[it.index].is_unsigned = t && t->is_unsigned;
	l->locs[it.index].init = v;
	return true;
}

static bool init_state(struct cursor *c)
{
	if (!expect(c, "{"))
		return false;
	for (;;) {
		while (take(c, ";"))
			;
		if (take(c, "}"))
			return true;
		if (!init_entry(c))
			return false;
		space(c);
		if (*c->p != ';' && *c->p != '}')
			return expect(c, ";");
	}
}

/* ---- the program ---------------------------------------------------------------- */

struct row {
	const char *text;
	size_t len;
	unsigned int line;
};

static bool condition_begins(struct cursor *c)
{
	static const char *const words[] = {
		"exists", "forall", "locations", "filter", "final", "observed", "with", "~", "not",
	};
	struct cursor d = *c;
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (take(&d, words[i]))
			return true;
	return false;
}

static bool rows(struct cursor *c, struct row *row, size_t *n)
{
	const char *p;

	for (*n = 0;; (*n)++) {
		space(c);
		if (!*c->p || (*n && condition_begins(c)))
			return *n || fail(c, "expected 'P0 | P1 ;' and the program");
		if (*n == ROWS_MAX)
			return fail(c, "more than %d rows", ROWS_MAX);
		row[*n].text = c->p;
		row[*n].line = c->line;
		for (p = c->p; *p && *p != ';'; p++)
			c->line += *p == '\n';
		if (!*p)
			return fail(c, "expected ';' at the end of a row");
		row[*n].len = p - c->p;
		c->p = p + 1;
	}
}

/* The text of column @t of a row; false if it has fewer. */
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

static bool header(struct cursor *c, const struct row *r)
{
	unsigned int t, n;
	const char *s;
	char *end;
	size_t len;

	for (t = 0; column(r, t, &s, &len); t++) {
		while (len && isspace((unsigned char)*s)) {
			s++;
			len--;
		}
		n = len > 1 && *s == 'P' && isdigit((unsigned char)s[1]) ?
		    strtoul(s + 1, &end, 10) : KL_VM_THREADS;
		while (n == t && end < s + len && isspace((unsigned char)*end))
			end++;
		if (n != t || end != s + len) {
			c->line = r->line;
			return fail(c, "expected 'P%u', found '%.*s'; there may be %d threads", t,
				    (int)len, s, KL_VM_THREADS);
		}
	}
	c->l->nthreads = t;
	return true;
}

static bool program(struct cursor *c)
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
	for (t = 0; t < c->l->nthreads && !c->err; t++) {
		kl_lit_asm_thread(a, t);
		for (i = 1; i < n && !c->err; i++)
			if (column(&row[i], t, &s, &len))
				c->err = kl_lit_asm_cell(a, s, len, row[i].line);
		if (!c->err)
			c->err = kl_lit_asm_end(a);
	}
	for (i = 1; i < n && !c->err; i++) {
		if (column(&row[i], t, &s, &len)) {
			c->line = row[i].line;
			fail(c, "a row with more columns than there are threads");
		}
	}
out:
	kl_lit_asm_free(a);
	free(row);
	return !c->err;
}

/* ---- the condition ----------------------------------------------------------------- */

static int item(struct cursor *c, const struct kl_lit_item *it)
{
	struct kl_litmus *l = c->l;
	unsigned int i;

	for (i = 0; i < l->nitems; i++)
		if (l->items[i].thread == it->thread && l->items[i].index == it->index)
			return i;
	if (i == KL_LIT_ITEMS) {
		fail(c, "more registers and locations than klin litmus has room for");
		return -1;
	}
	if (it->thread >= (int)l->nthreads) {
		fail(c, "there is no thread %d", it->thread);
		return -1;
	}
	l->items[l->nitems++] = *it;
	return i;
}

static int node(struct cursor *c, enum kl_lit_op op, unsigned int a, unsigned int b, uint64_t val)
{
	struct kl_litmus *l = c->l;

	if (c->err)
		return 0;
	if (l->nnodes == KL_LIT_NODES) {
		fail(c, "a condition with more than %d parts", KL_LIT_NODES);
		return 0;
	}
	c->err = kl_grow(l->nodes, l->cnodes, l->nnodes + 1);
	if (c->err)
		return 0;
	l->nodes[l->nnodes] = (struct kl_lit_node){ .op = op, .a = a, .b = b, .val = val };
	return l->nnodes++;
}

/* A constant as the item can hold it. */
static uint64_t fit(const struct cursor *c, const struct kl_lit_item *it, uint64_t v)
{
	unsigned int size = it->thread < 0 ? c->l->locs[it->index].size : c->l->x64 ? 8 : 4;

	return size == 8 || kl_vm_is_ptr(v) ? v : v & UINT32_MAX;
}

static int atom(struct cursor *c)
{
	struct kl_lit_item it = { 0 }, other = { 0 };
	unsigned int size = 0;
	bool differs;
	char buf[32];
	uint64_t v;
	int a, n;

	if (!place(c, &it, &size))
		return 0;
	a = item(c, &it);
	if (a < 0)
		return 0;
	differs = take(c, "<>") || take(c, "!=");
	if (!differs && !take(c, "==") && !take(c, "=")) {
		fail(c, "expected '=' or '<>', found '%s'", here(c, buf));
		return 0;
	}
	space(c);
	if (at_thread(c) || *c->p == '[' || *c->p == '*') {
		if (!place(c, &other, &size))
			return 0;
		n = item(c, &other);
		n = n < 0 ? 0 : node(c, KL_LIT_SAME, a, n, 0);
	} else if (value(c, &v)) {
		n = node(c, KL_LIT_EQ, a, 0, fit(c, &it, v));
	} else {
		return 0;
	}
	return differs ? node(c, KL_LIT_NOT, n, 0, 0) : n;
}

static int implies(struct cursor *c);

static int unary(struct cursor *c)
{
	int n = 0;

	if (c->err)
		return 0;
	if (c->depth == DEPTH_MAX) {
		fail(c, "nested more than %d deep", DEPTH_MAX);
		return 0;
	}
	c->depth++;
	if (take(c, "~") || take(c, "not")) {
		n = node(c, KL_LIT_NOT, unary(c), 0, 0);
	} else if (take(c, "true")) {
		n = node(c, KL_LIT_TRUE, 0, 0, 0);
	} else if (take(c, "false")) {
		n = node(c, KL_LIT_FALSE, 0, 0, 0);
	} else if (take(c, "(")) {
		n = implies(c);
		expect(c, ")");
	} else {
		n = atom(c);
	}
	c->depth--;
	return n;
}

static int conjunction(struct cursor *c)
{
	int n = unary(c);

	while (!c->err && take(c, "/\\"))
		n = node(c, KL_LIT_AND, n, unary(c), 0);
	return n;
}

static int disjunction(struct cursor *c)
{
	int n = conjunction(c);

	while (!c->err && take(c, "\\/"))
		n = node(c, KL_LIT_OR, n, conjunction(c), 0);
	return n;
}

static int implies(struct cursor *c)
{
	int n = disjunction(c);

	/* As herd reads it: to the right. */
	if (!c->err && take(c, "=>"))
		n = node(c, KL_LIT_IMPLIES, n, implies(c), 0);
	return n;
}

static bool locations(struct cursor *c)
{
	struct kl_lit_item it;
	const char *s;
	unsigned int size;
	size_t len;

	if (!expect(c, "["))
		return false;
	while (!take(c, "]")) {
		it = (struct kl_lit_item){ 0 };
		if (!place(c, &it, &size) || item(c, &it) < 0)
			return false;
		space(c);
		if (*c->p == '[')
			return fail(c, "an array, which klin litmus does not know");
		if (name(c, &s, &len))	/* its type says how to print it; the declaration does too */
			take(c, "*");
		space(c);
		if (*c->p != ']' && !expect(c, ";"))
			return false;
	}
	return true;
}

static bool condition(struct cursor *c)
{
	struct kl_litmus *l = c->l;
	char buf[32];

	if (take(c, "locations") && !locations(c))
		return false;
	l->filter = -1;
	if (take(c, "filter"))
		l->filter = implies(c);
	space(c);
	if (take(c, "exists") || take(c, "final")) {
		l->quantifier = KL_LIT_EXISTS;
		l->condition = implies(c);
	} else if (take(c, "forall")) {
		l->quantifier = KL_LIT_FORALL;
		l->condition = implies(c);
	} else if (take(c, "~") || take(c, "not")) {
		l->quantifier = KL_LIT_NOT_EXISTS;
		if (expect(c, "exists"))
			l->condition = implies(c);
	} else if (!*c->p) {
		l->quantifier = KL_LIT_FORALL;
		l->condition = node(c, KL_LIT_TRUE, 0, 0, 0);
	} else {
		return fail(c, "expected 'exists', '~exists' or 'forall', found '%s'",
			    here(c, buf));
	}
	take(c, ";");
	space(c);
	if (*c->p)
		fail(c, "expected the end of the test, found '%s'", here(c, buf));
	return !c->err;
}

/* ---- all of it ------------------------------------------------------------------------ */

static bool head(struct cursor *c)
{
	const char *p;
	char buf[32];
	size_t len;

	space(c);
	if (take(c, "X86_64"))
		c->l->x64 = true;
	else if (!take(c, "X86"))
		return fail(c, "expected 'X86' or 'X86_64', found '%s'", here(c, buf));
	while (*c->p == ' ' || *c->p == '\t')
		c->p++;
	len = strcspn(c->p, " \t\r\n{");
	if (!len)
		return fail(c, "expected the test's name");
	c->l->name = kl_arena_strndup(&c->l->arena, c->p, len);
	c->p += len;
	/* Documentation and KEY=VALUE lines. */
	p = strchr(c->p, '{');
	if (!p)
		return fail(c, "expected '{' and the initial state");
	for (; c->p < p; c->p++)
		c->line += *c->p == '\n';
	return c->l->name || fail(c, "out of memory");
}

/* Registers by thread, then locations by name, as herd has them. */
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
	l->prog.nregs[0] = KL_LIT_REGS;
	l->prog.stride = 1;
	l->prog.raw = true;
	kl_vm_live(&l->prog, 0, l->live, observed, scratch);
	free(scratch);
	return 0;
}

int kl_litmus_parse(const char *path, const char *text, struct kl_litmus **out)
{
	struct kl_litmus *l = calloc(1, sizeof(*l));
	struct cursor c = { .l = l, .p = text, .line = 1 };

	if (!l)
		return -ENOMEM;
	l->path = path;
	if (strlen(text) > KL_LIT_TEXT_MAX)
		fail(&c, "more than %u bytes", KL_LIT_TEXT_MAX);
	else if (head(&c) && init_state(&c) && program(&c) && condition(&c))
		sort_items(l);
	if (!c.err)
		c.err = finish(l);
	if (c.err) {
		kl_litmus_free(l);
		return c.err;
	}
	*out = l;
	return 0;
}

void kl_litmus_free(struct kl_litmus *l)
{
	if (!l)
		return;
	free(l->nodes);
	free(l->code);
	free(l->pool);
	free(l->live);
	kl_arena_free(&l->arena);
	free(l);
}
