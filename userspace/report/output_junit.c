// SPDX-License-Identifier: GPL-2.0
/* Tests as JUnit's XML, see output.h. */
#include <string.h>

#include "report/output.h"

/* Return: the length of the UTF-8 character at @s, which is well-formed. */
static size_t length(const unsigned char *s)
{
	return *s < 0x80 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
}

/* Print a text as an attribute or as content.  XML 1.0 cannot express all characters. */
static void put_text(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	for (; *s; s += n) {
		n = length(s);
		if (*s == '&')
			fputs("&amp;", f);
		else if (*s == '<')
			fputs("&lt;", f);
		else if (*s == '>')
			fputs("&gt;", f);
		else if (*s == '"')
			fputs("&quot;", f);
		else if (*s == '\t' || *s == '\r')
			fprintf(f, "&#%d;", *s);
		else if (*s == '\n')
			fputc('\n', f);
		else if (*s < ' ' || (n == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe))
			fputs("\xef\xbf\xbd", f);
		else
			fwrite(s, 1, n, f);
	}
}

static void put_attribute(FILE *f, const char *name, const char *text)
{
	if (!text)
		return;
	fprintf(f, " %s=\"", name);
	put_text(f, text);
	fputc('"', f);
}

static const char *string_of(const json_t *j, const char *name)
{
	return json_string_value(json_object_get(j, name));
}

static size_t count(const json_t *tests, const char *end)
{
	const json_t *test;
	size_t i, n = 0;

	json_array_foreach(tests, i, test)
		n += !strcmp(string_of(test, "end"), end);
	return n;
}

/* Print <failure>, <error> or <skipped>, which has the lines. */
static void put_end(FILE *f, const char *name, const json_t *test)
{
	fprintf(f, "   <%s", name);
	put_attribute(f, "message", string_of(test, "why"));
	put_attribute(f, "type", string_of(test, "code"));
	fputc('>', f);
	put_text(f, string_of(test, "lines") ?: "");
	fprintf(f, "</%s>\n", name);
}

static void put_test(FILE *f, const char *class, const json_t *test)
{
	static const struct { const char *end, *name; } ends[] = {
		{ "fail", "failure" }, { "error", "error" }, { "skip", "skipped" },
	};
	const char *end = string_of(test, "end");
	size_t i;

	fputs("  <testcase", f);
	put_attribute(f, "classname", class);
	put_attribute(f, "name", string_of(test, "name"));
	fputs(">\n", f);
	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(end, ends[i].end))
			put_end(f, ends[i].name, test);
	if (!strcmp(end, "pass") && string_of(test, "lines")) {
		fputs("   <system-out>", f);
		put_text(f, string_of(test, "lines"));
		fputs("</system-out>\n", f);
	}
	fputs("  </testcase>\n", f);
}

void kl_output_junit(FILE *f, const json_t *j, const json_t *tests)
{
	/* The last of several results is about the whole. */
	const json_t *whole = json_is_array(j) ? json_array_get(j, json_array_size(j) - 1) : j;
	const json_t *seconds = json_object_get(whole, "seconds"), *test;
	const char *class = string_of(whole, "spec") ?: string_of(whole, "file") ?:
			    string_of(whole, "kind");
	size_t i;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite", f);
	put_attribute(f, "name", string_of(whole, "history") ?: string_of(whole, "file") ?:
		      string_of(whole, "kind"));
	fprintf(f, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
		json_array_size(tests), count(tests, "fail"), count(tests, "error"),
		count(tests, "skip"));
	if (seconds)
		fprintf(f, " time=\"%.3f\"", json_number_value(seconds));
	put_attribute(f, "hostname", string_of(whole, "host"));
	fputs(">\n  <properties>\n   <property name=\"klin\"", f);
	put_attribute(f, "value", string_of(json_object_get(whole, "klin"), "version"));
	fputs("/>\n   <property name=\"kernel\"", f);
	put_attribute(f, "value", string_of(whole, "kernel") ?: "");
	fputs("/>\n  </properties>\n", f);
	json_array_foreach(tests, i, test)
		put_test(f, class, test);
	fputs(" </testsuite>\n</testsuites>\n", f);
}
