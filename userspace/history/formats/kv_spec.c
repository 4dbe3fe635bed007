// SPDX-License-Identifier: GPL-2.0
/* Writes the spec of a key-value log, see kv_spec.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "history/formats/kv_spec.h"
#include "base/shipped.h"

/* maximum of windows and strings, because addresses in the byte code have 16 bits */
#define MAX_WINDOWS	6500
#define WINDOW		64 /* values of a window, one for each bit of a word */

/* The new method is inserted before the line @place, and begins with @head. */
static const char place[] = "\tpartition by k;\n";
static const char head[] = "\tmethod append_any(word k, word s) {\n";

/*
 * A window: steps for string @s which all add @to - @first to a value.  If @mask is 0, they
 * lead from the @n values from @first on.  Otherwise they lead from each value @first + i for
 * which bit i of @mask is set.
 */
struct window {
	uint64_t s, first, n, to, mask;
};

static int by_place(const void *a, const void *b)
{
	const struct kl_kv_rule *x = a, *y = b;

	if (x->s != y->s)
		return x->s < y->s ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void put_window(FILE *f, const struct window *w)
{
	fprintf(f, "first = %#" PRIx64 ";\nfar = %" PRIu64 ";\n", w->first, w->to - w->first);
	if (w->mask)
		fprintf(f, "bits = %#" PRIx64 ";\n", w->mask);
	else
		fprintf(f, "n = %" PRIu64 ";\n", w->n);
}

/* Write a tree of comparisons for the windows of one string, which are sorted by value. */
static void put_values(FILE *f, const struct window *w, size_t n)
{
	if (n == 1) {
		put_window(f, w);
		return;
	}
	fprintf(f, "if (v < %#" PRIx64 ") {\n", w[n / 2].first);
	put_values(f, w, n / 2);
	fputs("} else {\n", f);
	put_values(f, w + n / 2, n - n / 2);
	fputs("}\n", f);
}

/* Write a tree of comparisons for the windows of several strings, which are sorted by string. */
static void put_strings(FILE *f, const struct window *w, size_t n)
{
	size_t mid = n / 2;

	if (w->s == w[n - 1].s) {
		fprintf(f, "if (s == %#" PRIx64 ") {\n", w->s);
		put_values(f, w, n);
		fputs("}\n", f);
		return;
	}
	/* Move @mid, so that no string has windows on both sides of it. */
	while (mid && w[mid - 1].s == w[mid].s)
		mid--;
	while (!mid || w[mid - 1].s == w[mid].s)
		mid++;
	fprintf(f, "if (s < %#" PRIx64 ") {\n", w[mid].s);
	put_strings(f, w, mid);
	fputs("} else {\n", f);
	put_strings(f, w + mid, n - mid);
	fputs("}\n", f);
}

static uint64_t low_bits(uint64_t n)
{
	return n < WINDOW ? (1ull << n) - 1 : ~0ull;
}

/*
 * Merge steps from neighbouring values, with equal @to - @from, into windows without a mask.
 * Return: the number of windows.
 */
static size_t merge(const struct kl_kv_rule *rules, size_t n, struct window *w)
{
	size_t nw = 0, i;

	for (i = 0; i < n; i++) {
		struct window *last = nw ? &w[nw - 1] : NULL;
		const struct kl_kv_rule *u = &rules[i];

		if (last && last->s == u->s && last->first + last->n == u->from &&
		    last->to - last->first == u->to - u->from)
			last->n++;
		else
			w[nw++] = (struct window){ u->s, u->from, 1, u->to, 0 };
	}
	return nw;
}

/*
 * Merge windows with equal @to - @first, whose values are less than WINDOW apart, into windows
 * with a mask.  Return: the number of windows.
 */
static size_t pack(struct window *w, size_t n)
{
	size_t nw = 0, i;

	for (i = 0; i < n; i++) {
		struct window *last = nw ? &w[nw - 1] : NULL;
		const struct window next = w[i];
		const uint64_t at = last ? next.first - last->first : 0;

		if (last && last->s == next.s && last->to - last->first == next.to - next.first &&
		    at < WINDOW && next.n <= WINDOW - at) {
			if (!last->mask)
				last->mask = low_bits(last->n);
			last->mask |= low_bits(next.n) << at;
		} else {
			w[nw++] = next;
		}
	}
	return nw;
}

/* Return: the number of branches in the byte code: one for each window and each string. */
static size_t branches(const struct window *w, size_t n)
{
	size_t sum = n, i;

	for (i = 0; i < n; i++)
		sum += !i || w[i].s != w[i - 1].s;
	return sum;
}

static int write_text(const struct window *w, size_t n, char **text)
{
	const char *kv = kl_shipped_text("kv"), *at = strstr(kv, place);
	struct kl_memstream m;
	int ret = kl_memstream_open(&m);

	if (ret)
		return ret;
	fprintf(m.f, "%.*s%s\t\tatomic_flush {\n"
		"\t\t\tword v = 0, to = s, first = 0, n = 0, bits = 0, far = 0;\n\n"
		"\t\t\tif (m.has(k))\n\t\t\t\tv = m.get(k);\n",
		(int)(at - kv), kv, head);
	put_strings(m.f, w, n);
	fprintf(m.f, "\t\t\tif (v - first < n || (bits >> (v - first) & 1) == 1)\n"
		"\t\t\t\tto = v + far;\n\t\t\tm.put(k, to);\n\t\t}\n\t}\n\n%s", at);
	return kl_memstream_close(&m, text, NULL);
}

int kl_kv_spec(struct kl_kv_rule *rules, size_t n, char **text)
{
	struct window *w = calloc(n, sizeof(*w));
	size_t nw;
	int ret;

	if (!w)
		return -ENOMEM;
	qsort(rules, n, sizeof(*rules), by_place);
	nw = pack(w, merge(rules, n, w));
	ret = branches(w, nw) > MAX_WINDOWS ? -E2BIG : write_text(w, nw, text);
	free(w);
	return ret;
}

bool kl_kv_spec_extends(const char *base, const char *text)
{
	const char *at = strstr(base, place);
	const size_t before = at ? at - base : 0, len = strlen(text), n = strlen(base);

	return at && len > n && !strncmp(base, text, before) &&
	       !strncmp(text + before, head, sizeof(head) - 1) &&
	       !strcmp(text + len - (n - before), at);
}

const char *kl_kv_spec_note(const char *text)
{
	return strstr(text, head) ? ", with the appends of the history" : "";
}
