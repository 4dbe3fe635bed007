// SPDX-License-Identifier: GPL-2.0
/* Tests as KTAP version 1, see output.h.  The lines about a test come before its result. */
#include <stdbool.h>
#include <string.h>

#include "report/output.h"

/* A description ends at the line's end, and a directive begins with '#'. */
static void put_description(FILE *f, const char *s)
{
	for (; *s; s++)
		if (*s == '#')
			fputs("\\#", f);
		else
			fputc((unsigned char)*s < ' ' ? ' ' : *s, f);
}

/* Print a text as comments, each of its lines by itself. */
static void put_comment(FILE *f, const char *s)
{
	const char *end;

	for (; *s; s = *end ? end + 1 : end) {
		end = strchrnul(s, '\n');
		fputs("# ", f);
		for (; s < end; s++)
			fputc(*s == '\r' ? ' ' : *s, f);
		fputc('\n', f);
	}
}

void kl_output_ktap(FILE *f, const json_t *tests)
{
	const json_t *test;
	size_t i;

	fprintf(f, "KTAP version 1\n1..%zu\n", json_array_size(tests));
	json_array_foreach(tests, i, test) {
		const char *end = json_string_value(json_object_get(test, "end"));
		const char *why = json_string_value(json_object_get(test, "why"));
		const char *lines = json_string_value(json_object_get(test, "lines"));
		const bool skip = !strcmp(end, "skip");

		if (why && !skip)
			put_comment(f, why);
		put_comment(f, lines ? lines : "");
		fprintf(f, "%s %zu ", skip || !strcmp(end, "pass") ? "ok" : "not ok", i + 1);
		put_description(f, json_string_value(json_object_get(test, "name")));
		if (skip) {
			fputs(" # SKIP ", f);
			put_description(f, why ? why : "");
		}
		fputc('\n', f);
	}
}
