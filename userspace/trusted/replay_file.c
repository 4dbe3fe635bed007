// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a certificate: its lines, its header, and the specification's text at its end.  replay.c
 * checks its claims.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "trusted/replay.h"

#define AGAIN	"make it again with `klin check --certificate=FILE'"

void kl_cert_err(const char *path, char *const *lines, unsigned int line, unsigned int col,
		 const char *what)
{
	kl_err_at(path, line, col ? col : 1, "%s", what);
	/* Zeros, which the parser puts between words, are shown as blanks. */
	if (lines)
		kl_err_source(lines[line - 1], lines[line] - 1 - lines[line - 1], col ? col : 1);
}

/* Report a line of the certificate, with a caret at @at, or at its begin if @at is NULL. */
static int bad_at(const struct kl_cert *c, size_t line, const char *at, const char *what)
{
	kl_cert_err(c->path, c->lines, line, at ? at - c->lines[line - 1] + 1 : 1, what);
	return -EINVAL;
}

static int bad(const struct kl_cert *c, const char *what)
{
	return bad_at(c, c->nheader, NULL, what);
}

static int read_lines(struct kl_cert *c)
{
	size_t len, cap = 0;
	char *s, *end;
	int ret = kl_read_file(c->path, &c->text, &len), mark;

	if (ret) {
		if (ret != -ENOMEM)
			kl_err("cannot read certificate %s: %s", c->path, strerror(-ret));
		return ret;
	}
	mark = kl_text_start(c->path, c->text, len);
	if (mark < 0)
		return mark;
	for (s = c->text + mark; s < c->text + len; s = end + 1) {
		end = memchr(s, '\n', c->text + len - s);
		if (!end)
			end = c->text + len;
		*end = 0;
		if (kl_grow(c->lines, cap, c->nlines + 2))
			return -ENOMEM;
		if (strlen(s) < (size_t)(end - s)) {
			kl_err_at(c->path, c->nlines + 1, strlen(s) + 1,
				  "not a certificate, or a damaged "
				  "one: a zero byte; " AGAIN);
			return -EINVAL;
		}
		c->lines[c->nlines++] = s;
		c->lines[c->nlines] = end + 1;
	}
	return 0;
}

static char *next_line(struct kl_cert *c)
{
	return c->nheader < c->nlines ? c->lines[c->nheader++] : "";
}

static bool is_hash(const char *hex)
{
	return strlen(hex) == KL_SHA256_HEX - 1 &&
	       strspn(hex, "0123456789abcdef") == KL_SHA256_HEX - 1;
}

/* Parse "@word NAME sha256 HEX".  NAME may have spaces; with @unknown, HEX may be "-". */
static bool read_hashed(char *line, const char *word, bool unknown, const char **name,
			const char **hex)
{
	const char before[] = " sha256 ";
	const size_t len = strlen(word);
	char *s, *last = NULL;

	if (strncmp(line, word, len))
		return false;
	for (s = line + len; (s = strstr(s, before)); s++)
		last = s;
	if (!last)
		return false;
	*last = 0;
	*name = line + len;
	*hex = last + strlen(before);
	return is_hash(*hex) || (unknown && !strcmp(*hex, "-"));
}

/* Return: 0 if @no follows @word, 1 if @yes does, -1 if neither does. */
static int choice(const char *line, const char *word, const char *no, const char *yes)
{
	const size_t len = strlen(word);

	if (strncmp(line, word, len))
		return -1;
	return !strcmp(line + len, yes) ? 1 : !strcmp(line + len, no) ? 0 : -1;
}

static int read_version(struct kl_cert *c)
{
	const char *line = next_line(c);

	if (!strcmp(line, "klin-certificate 1") || !strcmp(line, "klin-certificate 2"))
		return bad(c, "certificates of versions 1 and 2 do not name their specification; " AGAIN);
	c->nheader = 1;
	if (strchr(line, '\r'))
		return bad(c, "lines of a certificate do not end in CR LF: try `dos2unix FILE'");
	return strcmp(line, "klin-certificate 3") ?
		       bad(c, "not a certificate: 'klin-certificate 3' expected; "
			      "`klin check --certificate=FILE' writes one") :
		       0;
}

static int read_header(struct kl_cert *c)
{
	const char *end;
	int is;

	if (strcmp(c->lines[c->nlines - 1], "end"))
		return bad_at(c, c->nlines, NULL,
			      "'end' expected in the last line: the "
			      "certificate is cut off, or something follows it; " AGAIN);
	if (!read_hashed(next_line(c), "spec ", false, &c->spec_name, &c->spec_sha256))
		return bad_at(c, c->nheader, c->spec_sha256,
			      "'spec NAME sha256 HEX' expected, HEX of 64 digits");
	if (!read_hashed(next_line(c), "history ", true, &c->history, &c->history_sha256))
		return bad_at(c, c->nheader, c->history_sha256,
			      "'history PATH sha256 HEX' expected, HEX of 64 digits");
	end = kl_digits_after(next_line(c), "operations ", &c->nops);
	if (!end || *end)
		return bad(c, "'operations N' expected");
	is = choice(next_line(c), "memory ", "tso", "sc");
	if (is < 0)
		return bad(c, "'memory tso' or 'memory sc' expected");
	c->classical = is;
	is = choice(next_line(c), "first ", "any", "init");
	if (is < 0)
		return bad(c, "'first init' or 'first any' expected");
	c->fresh = is;
	end = kl_digits_after(next_line(c), "partitions ", &c->nparts);
	is = end ? choice(end, " by ", "object", "key") : -1;
	if (is < 0)
		return bad(c, "'partitions N by object' or '... by key' expected");
	c->by_key = is;
	return 0;
}

/* Join the lines @from to @to, without their tabs and separated by newlines. */
static char *join_lines(const struct kl_cert *c, size_t from, size_t to)
{
	size_t len = 1, i;
	char *text, *s;

	for (i = from; i < to; i++)
		len += strlen(c->lines[i]);
	text = s = malloc(len);
	for (i = from; text && i < to; i++)
		s = stpcpy(stpcpy(s, c->lines[i] + 1), i + 1 < to ? "\n" : "");
	return text;
}

/* Take the specification's text, which ends the file, off the lines. */
static int take_text(struct kl_cert *c)
{
	const size_t end = c->nlines - 1;
	char sha256[KL_SHA256_HEX], what[200];
	const char *stop;
	size_t from = end;
	uint64_t n = 0;

	while (from && c->lines[from - 1][0] == '\t')
		from--;
	stop = from && from < end ? kl_digits_after(c->lines[from - 1], "text ", &n) : NULL;
	if (!stop || *stop || n != end - from)
		return bad_at(c, from ? from : 1, NULL,
			      "'text N' and N lines of the specification expected; " AGAIN);
	c->nlines = from - 1;
	c->spec_text = join_lines(c, from, end);
	if (!c->spec_text)
		return -ENOMEM;
	kl_sha256(c->spec_text, strlen(c->spec_text), sha256);
	if (!strcmp(sha256, c->spec_sha256))
		return 0;
	snprintf(what, sizeof(what), "the carried specification has sha256 %.*s, not %.*s; " AGAIN,
		 KL_SHA256_SHORT, sha256, KL_SHA256_SHORT, c->spec_sha256);
	return bad_at(c, 2, c->spec_sha256, what);
}

int kl_cert_open(const char *path, struct kl_cert **out)
{
	struct kl_cert *c = calloc(1, sizeof(*c));
	int ret = -ENOMEM;

	if (!c)
		goto out;
	c->path = path;
	ret = read_lines(c);
	if (!ret)
		ret = read_version(c);
	if (!ret)
		ret = read_header(c);
	if (!ret)
		ret = take_text(c);
out:
	if (ret == -ENOMEM)
		kl_err("%s: out of memory", path);
	if (ret) {
		kl_cert_close(c);
		return ret;
	}
	*out = c;
	return 0;
}

void kl_cert_close(struct kl_cert *c)
{
	if (!c)
		return;
	free(c->spec_text);
	free(c->lines);
	free(c->text);
	free(c);
}

int kl_cert_check_spec(const struct kl_cert *c, const struct kl_spec *spec, const char *whose)
{
	const char *text = kl_spec_text(spec);
	char sha256[KL_SHA256_HEX], what[300];

	if (!strcmp(text, c->spec_text)) {
		if (!strcmp(c->spec_name, kl_spec_name(spec)))
			return 0;
		snprintf(what, sizeof(what),
			 "the carried specification is '%s', not '%.64s'; " AGAIN,
			 kl_spec_name(spec), c->spec_name);
		return bad_at(c, 2, c->spec_name, what);
	}
	kl_sha256(text, strlen(text), sha256);
	kl_err("%s: is about another specification: '%s' of sha256 %.*s; %s is '%s' of sha256 %.*s",
	       c->path, c->spec_name, KL_SHA256_SHORT, c->spec_sha256, whose, kl_spec_name(spec),
	       KL_SHA256_SHORT, sha256);
	return -EINVAL;
}
