// SPDX-License-Identifier: GPL-2.0
/* Lines, words and numbers, see scan.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limit.h"
#include "base/text.h"
#include "history/internal.h"
#include "history/scan.h"

#define MAX_ERRORS	20
#define EXPECT		64 /* maximum of bytes allocated at once, for each byte of a file */

const unsigned char kl_scan_class[256] = {
	[' '] = KL_SCAN_BLANK | KL_SCAN_END, ['\t'] = KL_SCAN_BLANK | KL_SCAN_END,
	['\r'] = KL_SCAN_BLANK | KL_SCAN_END, ['\n'] = KL_SCAN_END,
	['a' ... 'z'] = KL_SCAN_NAME, ['A' ... 'Z'] = KL_SCAN_NAME,
	['0' ... '9'] = KL_SCAN_NAME, ['_'] = KL_SCAN_NAME,
};

/* Return: true if the word ends at @p.  A @keyword of EDN ends at a comma or a bracket, too. */
static bool ends(const char *p, bool keyword)
{
	return kl_scan_end(*p) || (keyword && strchr(",()[]{}", *p));
}

/* Return: the word at @p in quotes, in @buf, for a message. */
static const char *quote(char *buf, size_t size, const char *p)
{
	const bool keyword = *p == ':';
	size_t n = 0;

	if (kl_scan_end(*p))
		return *p == ' ' || *p == '\t' ? "a blank" : "the end of the line";
	buf[n++] = '\'';
	/* A character of UTF-8 is shown whole. */
	for (; !ends(p, keyword) && n < size - ((*p & 0xc0) == 0x80 ? 5 : 8); p++)
		buf[n++] = *p & 0x80 || isprint((unsigned char)*p) ? *p : '?';
	if (!ends(p, keyword)) {
		memcpy(buf + n, "...", 3);
		n += 3;
	}
	buf[n++] = '\'';
	buf[n] = 0;
	return buf;
}

/* Find the line of @tok, and set @s->line.  Return: the line, or NULL if @tok is in no line. */
static const char *find_line(struct kl_scan *s, const char *tok, size_t *len)
{
	const char *line = s->text ?: s->start, *p = line, *end = s->end;

	if (!line)
		return NULL;
	if (!s->text)
		end = (const char *)rawmemchr(line, '\n') + 1;
	if ((uintptr_t)tok < (uintptr_t)line || (uintptr_t)tok >= (uintptr_t)end)
		return NULL;
	if (s->text)
		for (s->line = s->before + 1; (p = memchr(p, '\n', tok - p)); s->line++)
			line = ++p;
	*len = (const char *)memchr(tok, '\n', end - tok) - line;
	while (*len && line[*len - 1] == '\r')
		--*len;
	return line;
}

/* Print a message about the word at @tok, with its place. */
static int say(struct kl_scan *s, const char *tok, const char *expected, const char *what)
{
	char buf[48];
	const char *quoted = quote(buf, sizeof(buf), tok), *line;
	size_t len = 0, col;

	s->errors++;
	if (s->quiet)
		return -EINVAL;
	line = find_line(s, tok, &len);
	col = line ? tok - line + 1 : 0;
	/* A line ends before its carriage returns. */
	if (line && col > len)
		col = len + 1;
	kl_err_at(s->name, s->line, col, "%s: %s%s%s", quoted, expected, what,
		  kl_scan_odd ? kl_scan_odd(tok) : "");
	if (line)
		kl_err_source(line, len, col);
	return -EINVAL;
}

int kl_scan_bad(struct kl_scan *s, const char *tok, const char *expected)
{
	return say(s, tok, "expected ", expected);
}

int kl_scan_bad_shown(struct kl_scan *s, const char *tok, const char *what)
{
	return say(s, tok, "", what);
}

int kl_scan_stop(struct kl_scan *s, const char *tok, const char *expected)
{
	s->stop = true;
	return kl_scan_bad(s, tok, expected);
}

int kl_scan_u64_slow(struct kl_scan *s, const char **pp, uint64_t *out, const char *what)
{
	const char *p = *pp, *start = p;
	uint64_t v = 0, old;
	unsigned int d;

	if (p[0] == '0' && (p[1] | 0x20) == 'x') {
		p += 2;
		for (start = p; ; p++) {
			if (kl_scan_digit(*p))
				d = *p - '0';
			else if ((unsigned int)((*p | 0x20) - 'a') < 6)
				d = (*p | 0x20) - 'a' + 10;
			else
				break;
			if (v >> 60)
				return kl_scan_bad(s, *pp, "a number below 2^64");
			v = v << 4 | d;
		}
	} else {
		for (; (d = (unsigned int)(*p - '0')) < 10; p++) {
			old = v;
			v = v * 10 + d;
			if (old > UINT64_MAX / 10 || v < d)
				return kl_scan_bad(s, *pp, "a number below 2^64");
		}
	}
	if (p == start || !kl_scan_end(*p))
		return kl_scan_bad(s, *pp, what);
	*pp = p;
	*out = v;
	return 0;
}

int kl_scan_negative(struct kl_scan *s, const char **pp, uint64_t *out, const char *what)
{
	const char *p = *pp + 1;
	uint64_t w;

	if (!kl_scan_digit(*p))
		return kl_scan_bad(s, *pp, what);
	if (kl_scan_u64(s, &p, &w, what))
		return -EINVAL;
	if (w > (uint64_t)1 << 63)
		return kl_scan_bad(s, *pp, "a number not below -2^63");
	*out = -w;
	*pp = p;
	return 0;
}

void kl_scan_skipped(struct kl_scan *s, enum kl_skip kind, const char *tok)
{
	size_t n = strcspn(tok, "\r\n"), i;

	s->skipped[kind]++;
	if (s->skip_line)
		return;
	s->skip_line = s->line;
	if (n > sizeof(s->skip_text) - 1)
		n = sizeof(s->skip_text) - 1;
	for (i = 0; i < n; i++)
		s->skip_text[i] = isprint((unsigned char)tok[i]) ? tok[i] : ' ';
	s->skip_text[n] = 0;
}

void kl_scan_note_skipped(const struct kl_scan *s, struct kl_history *h)
{
	static const char *const kinds[KL_SKIPS] = {
		[KL_SKIP_FOREIGN] = "lines of other programs",
		[KL_SKIP_NAMED] = "entries of processes without a number, as :nemesis",
		[KL_SKIP_REMARK] = ":info entries of processes without a pending :invoke",
	};
	const size_t size = sizeof(h->skipped_why);
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < KL_SKIPS; i++) {
		if (!s->skipped[i])
			continue;
		h->skipped += s->skipped[i];
		len += snprintf(h->skipped_why + len, size - len, "%s%zu %s", len ? ", " : "",
				s->skipped[i], kinds[i]);
	}
	if (!h->skipped)
		return;
	snprintf(h->skipped_why + len, size - len, " (first: line %u: %s)", s->skip_line,
		 s->skip_text);
	kl_warn("%s: skipped %s", s->name, h->skipped_why);
}

/*
 * Call @line for each line of a run that is not empty.
 * Return: 0, also if lines have errors; a negative errno if the rest cannot be scanned.
 */
static int scan_run(struct kl_scan *s, const char *p, const char *end,
		    int (*line)(void *ctx, const char **pp), void *ctx)
{
	int ret;

	ret = kl_limit_look("line", s->line + 1);
	if (ret)
		return ret;
	ret = kl_text_zero(s->name, s->line + 1, p, end - p);
	if (ret)
		return ret;
	while (p < end) {
		s->start = p;
		p = kl_scan_skip(p);
		s->line++;
		ret = *p == '\n' ? 0 : line(ctx, &p);
		if ((ret && ret != -EINVAL) || s->stop)
			return ret;
		if (s->errors >= MAX_ERRORS) {
			kl_err_at(s->name, s->line, 0, "too many errors, giving up");
			return -EINVAL;
		}
		if (*p != '\n')
			p = memchr(p, '\n', end - p);
		p++;
	}
	return s->h ? kl_history_flush(s->h) : 0;
}

int kl_scan_text(struct kl_scan *s, int (*line)(void *ctx, const char **pp), void *ctx)
{
	s->line = 0;
	return scan_run(s, s->text, s->end, line, ctx) ?: s->errors ? -EINVAL : 0;
}

int kl_scan_lines(struct kl_scan *s, struct kl_input *in,
		  int (*line)(void *ctx, const char **pp), void *ctx)
{
	const char *p, *end;
	bool first = true;
	int ret;

	while ((ret = kl_input_lines(in, &p, &end)) > 0) {
		const size_t len = end - p;

		ret = scan_run(s, p, end, line, ctx);
		if (ret || s->stop)
			return ret;
		/* The first lines show how much memory the others need. */
		if (first && s->h && in->size / EXPECT < SIZE_MAX / EXPECT)
			kl_history_expect(s->h, 1.02 * in->size / len, EXPECT * in->size);
		first = false;
	}
	if (!ret && s->errors)
		ret = -EINVAL;
	return ret;
}
