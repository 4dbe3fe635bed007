// SPDX-License-Identifier: GPL-2.0
/* Writes the specification of a key-value log, see kv_spec.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "history/kv_spec.h"
#include "spec/shipped.h"

#define MAX_RUNS	8000	/* fit the byte code's 16 bits of an address */
#define LINEAR		4	/* so few are tried one after the other */

/* The method stands before this line, and begins so. */
static const char place[] = "\tpartition by k;\n";
static const char head[] = "\tmethod append_any(word k, word s) {\n";

/* Of values from @first to @last, each to the one that is @to - @first above it. */
struct run {
	uint64_t s, first, last, to;
};

static int by_place(const void *a, const void *b)
{
	const struct kl_kv_rule *x = a, *y = b;

	if (x->s != y->s)
		return x->s < y->s ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void put_run(FILE *f, const struct run *r)
{
	if (r->first == r->last)
		fprintf(f, "if (v == %#" PRIx64 ") to = %#" PRIx64 ";\n", r->first, r->to);
	else
		fprintf(f, "if (v >= %#" PRIx64 " && v <= %#" PRIx64 ") to = v + %" PRIu64 ";\n",
			r->first, r->last, r->to - r->first);
}

/* A tree of comparisons over the runs of one string, which are sorted by value. */
static void put_values(FILE *f, const struct run *r, size_t n)
{
	size_t i;

	if (n > LINEAR) {
		fprintf(f, "if (v < %#" PRIx64 ") {\n", r[n / 2].first);
		put_values(f, r, n / 2);
		fputs("} else {\n", f);
		put_values(f, r + n / 2, n - n / 2);
		fputs("}\n", f);
		return;
	}
	for (i = 0; i < n; i++) {
		fputs(i ? "else " : "", f);
		put_run(f, &r[i]);
	}
}

/* The same of several strings: @r is sorted by string. */
static void put_strings(FILE *f, const struct run *r, size_t n)
{
	size_t mid = n / 2;

	if (r->s == r[n - 1].s) {
		fprintf(f, "if (s == %#" PRIx64 ") {\n", r->s);
		put_values(f, r, n);
		fputs("}\n", f);
		return;
	}
	/* A string's runs stay together. */
	while (mid && r[mid - 1].s == r[mid].s)
		mid--;
	while (!mid || r[mid - 1].s == r[mid].s)
		mid++;
	fprintf(f, "if (s < %#" PRIx64 ") {\n", r[mid].s);
	put_strings(f, r, mid);
	fputs("} else {\n", f);
	put_strings(f, r + mid, n - mid);
	fputs("}\n", f);
}

/* Neighbours that go equally far are one run; how many there are. */
static size_t merge(const struct kl_kv_rule *rules, size_t n, struct run *run)
{
	size_t nruns = 0, i;

	for (i = 0; i < n; i++) {
		struct run *last = nruns ? &run[nruns - 1] : NULL;
		const struct kl_kv_rule *u = &rules[i];

		if (last && last->s == u->s && last->last + 1 == u->from &&
		    last->to - last->first == u->to - u->from)
			last->last++;
		else
			run[nruns++] = (struct run){ u->s, u->from, u->from, u->to };
	}
	return nruns;
}

static int write_text(const struct run *run, size_t n, char **text)
{
	const char *kv = kl_shipped_text("kv"), *at = strstr(kv, place);
	struct kl_memstream m;
	int ret = kl_memstream_open(&m);

	if (ret)
		return ret;
	fprintf(m.f, "%.*s%s\t\tatomic_flush {\n"
		"\t\t\tword v = 0, to = s;\n\n\t\t\tif (m.has(k))\n\t\t\t\tv = m.get(k);\n",
		(int)(at - kv), kv, head);
	put_strings(m.f, run, n);
	fprintf(m.f, "\t\t\tm.put(k, to);\n\t\t}\n\t}\n\n%s", at);
	return kl_memstream_close(&m, text, NULL);
}

int kl_kv_spec(struct kl_kv_rule *rules, size_t n, char **text)
{
	struct run *run = calloc(n, sizeof(*run));
	size_t nruns;
	int ret;

	if (!run)
		return -ENOMEM;
	qsort(rules, n, sizeof(*rules), by_place);
	nruns = merge(rules, n, run);
	ret = nruns > MAX_RUNS ? -E2BIG : write_text(run, nruns, text);
	free(run);
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
