// SPDX-License-Identifier: GPL-2.0
/*
 * Header lines of the text form:  `# KEYWORD ...'.  A line with an unknown keyword is a comment.
 * Wrong content after a known keyword is an error, and so is a keyword with a typing error
 * (directive.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "history/directive.h"
#include "history/internal.h"
#include "history/spell.h"
#include "history/text.h"

static bool take(const char **pp, const char *word)
{
	const char *p = kl_scan_skip(*pp);
	size_t n = kl_scan_word(p);

	if (n != strlen(word) || memcmp(p, word, n))
		return false;
	*pp = p + n;
	return true;
}

static int at_end(struct kl_text_src *s, const char *p)
{
	p = kl_scan_skip(p);
	return *p == '\n' ? 0 : kl_scan_bad(&s->scan, p, "the end of the line");
}

/* Replace *out by the rest of the line, without blanks around it. */
static int take_line(struct kl_text_src *s, const char *p, char **out, const char *what)
{
	const char *end;
	char *copy;

	p = kl_scan_skip(p);
	for (end = p; *end != '\n'; end++)
		;
	while (end > p && kl_scan_blank(end[-1]))
		end--;
	if (end == p)
		return kl_scan_bad(&s->scan, p, what);
	if (memchr(p, 0, end - p))
		return kl_scan_bad(&s->scan, p, "no zero byte");
	copy = strndup(p, end - p);
	if (!copy)
		return -ENOMEM;
	free(*out);
	*out = copy;
	return 0;
}

/* Append the line at @p, with its newline, to a text. */
static int append_line(struct kl_text_src *s, const char *p, char **text, size_t *n, size_t *cap)
{
	size_t len = 0;
	int ret;

	while (p[len] != '\n')
		len++;
	if (memchr(p, 0, len))
		return kl_scan_bad(&s->scan, p, "no zero byte");
	ret = kl_grow(*text, *cap, *n + len + 2);
	if (ret)
		return ret;
	memcpy(*text + *n, p, len + 1);
	*n += len + 1;
	(*text)[*n] = 0;
	return 0;
}

static int header_version(struct kl_text_src *s, const char *p)
{
	const char *tok = p = kl_scan_skip(p);
	uint64_t v;

	if (kl_scan_u64(&s->scan, &p, &v, "a version number"))
		return -EINVAL;
	if (v != 1)
		return kl_scan_bad(&s->scan, tok, "version 1, the only one this klin reads");
	return at_end(s, p);
}

/* Note where the file says something; another line may say it again, but nothing else. */
static int said(struct kl_text_src *s, unsigned int *line, bool same, const char *p)
{
	char what[64];

	if (*line && !same) {
		snprintf(what, sizeof(what), "this contradicts line %u; remove one of them", *line);
		return kl_scan_bad_shown(&s->scan, kl_scan_skip(p), what);
	}
	*line = s->scan.line;
	return 0;
}

static int header_clock(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	const enum kl_clock clock = h->clock;
	const uint64_t error = h->error;
	const char *tok = p;
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (take(&p, kl_clock_names[i]))
			break;
	if (i == 4)
		return kl_scan_bad(&s->scan, kl_scan_skip(p), "mono, seq, tick or epoch");
	h->clock = i;
	h->error = 0;
	if (take(&p, "error")) {
		p = kl_scan_skip(p);
		if (kl_scan_u64(&s->scan, &p, &h->error,
				"the clock's error, a number without a unit"))
			return -EINVAL;
	} else if (*kl_scan_skip(p) != '\n') {
		return kl_scan_bad(&s->scan, kl_scan_skip(p),
				   "`error' and a number, or the end of the line");
	}
	return said(s, &s->clock, h->clock == clock && h->error == error, tok) ?: at_end(s, p);
}

static int header_first(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	const bool fresh = h->fresh;
	const char *tok = p;

	if (take(&p, "init"))
		h->fresh = true;
	else if (take(&p, "any"))
		h->fresh = false;
	else
		return kl_scan_bad(&s->scan, kl_scan_skip(p), "init or any");
	return said(s, &s->first, h->fresh == fresh, tok) ?: at_end(s, p);
}

static int header_memory(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	const bool sc = h->memory.sc;
	const char *tok = p;

	if (take(&p, "tso"))
		h->memory.sc = false;
	else if (take(&p, "sc"))
		h->memory.sc = true;
	else
		return kl_scan_bad_shown(&s->scan, kl_scan_skip(p), "expected tso or sc");
	h->memory.told = true;
	return said(s, &s->memory, h->memory.sc == sc, tok) ?: at_end(s, p);
}

static int header_cpus(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	const char *tok;
	uint64_t v;

	p = kl_scan_skip(p);
	tok = p;
	if (kl_scan_u64(&s->scan, &p, &v, "the number of CPUs"))
		return -EINVAL;
	if (v >= KL_NO_CPU)
		return kl_scan_bad(&s->scan, tok, "fewer than 65535 CPUs");
	h->ncpus = v;
	return at_end(s, p);
}

/* Read a time of a gap; `-' means KL_TIME_MAX. */
static int gap_time(struct kl_text_src *s, const char **pp, uint64_t *out)
{
	const char *p = kl_scan_skip(*pp);
	int ret = 0;

	if (*p == '-' && kl_scan_end(p[1])) {
		*out = KL_TIME_MAX;
		p++;
	} else {
		ret = kl_scan_u64(&s->scan, &p, out, "a time, or `-'");
	}
	*pp = p;
	return ret;
}

static int header_gap(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	struct kl_gap gap = {
		.from = KL_TIME_MIN, .to = KL_TIME_MAX, .object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU,
	};
	const char *start = kl_scan_skip(p), *tok;
	int64_t obj;
	uint64_t v;
	int ret;

	for (;;) {
		p = kl_scan_skip(p);
		if (*p == '\n')
			break;
		tok = p;
		if (take(&p, "cpu")) {
			p = kl_scan_skip(p);
			tok = p;
			ret = kl_scan_u64(&s->scan, &p, &v, "a CPU number");
			if (!ret && v >= KL_NO_CPU)
				ret = kl_scan_bad(&s->scan, tok, "a CPU number below 65535");
			gap.cpu = v;
		} else if (take(&p, "from")) {
			ret = gap_time(s, &p, &gap.from);
		} else if (take(&p, "to")) {
			ret = gap_time(s, &p, &gap.to);
		} else if (take(&p, "lost")) {
			p = kl_scan_skip(p);
			ret = kl_scan_u64(&s->scan, &p, &gap.lost, "the number of lost operations");
		} else if (take(&p, "object")) {
			p = kl_scan_skip(p);
			p += *p == '@';
			ret = kl_scan_u64(&s->scan, &p, &v, "an object");
			if (!ret) {
				obj = kl_history_object(h, v);
				if (obj < 0)
					return obj;
				gap.object = obj;
			}
		} else if (take(&p, "reason")) {
			ret = 0;
			if (take(&p, "lost"))
				gap.reason = KL_GAP_LOST;
			else if (take(&p, "missed"))
				gap.reason = KL_GAP_MISSED;
			else if (take(&p, "cut"))
				gap.reason = KL_GAP_CUT;
			else
				ret = kl_scan_bad(&s->scan, kl_scan_skip(p), "lost, missed or cut");
		} else {
			ret = kl_scan_bad(&s->scan, tok, "cpu, from, to, lost, object or reason");
		}
		if (ret)
			return ret;
	}
	if (gap.to < gap.from)
		return kl_scan_bad(&s->scan, start, "a gap that ends after it begins");
	return kl_history_add_gap(h, &gap);
}

static int header_coverage(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	const char *method = kl_scan_skip(p), *text = NULL;
	const size_t len = kl_scan_word(method);
	size_t ntext = 0;
	unsigned int i;

	if (!len || !kl_name_is_valid(method, len))
		return kl_scan_bad(&s->scan, method, "a method's name");
	p = method + len;
	for (i = 0; i < KL_COVER_KINDS; i++)
		if (take(&p, kl_cover_names[i]))
			break;
	if (i == KL_COVER_KINDS)
		return kl_scan_bad(&s->scan, kl_scan_skip(p),
				   "whole, asserted, unknown or undrained");
	p = kl_scan_skip(p);
	if (*p == '"') {
		text = p + 1;
		ntext = strcspn(text, "\"\n");
		if (text[ntext] != '"')
			return kl_scan_bad(&s->scan, text + ntext, "'\"' at the end of the text");
		p = text + ntext + 1;
	}
	return at_end(s, p) ?: kl_history_cover(h, i, method, len, text, ntext);
}

static int header_objects(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	if (!take(&p, "keys"))
		return kl_scan_bad(&s->scan, kl_scan_skip(p), "keys");
	h->keyed = true;
	return at_end(s, p);
}

static int take_spelling(struct kl_history *h, struct kl_text_src *s, const char *p,
			 enum kl_spelled kind, const char *number)
{
	char *text = NULL;
	uint64_t word;
	size_t i;
	int ret;

	p = kl_scan_skip(p);
	if (kl_scan_u64(&s->scan, &p, &word, number))
		return -EINVAL;
	ret = take_line(s, p, &text, "the text that reports show for it");
	/* Reports print it, and a terminal would obey control characters. */
	for (i = 0; !ret && text[i]; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			ret = kl_scan_bad(&s->scan, kl_scan_skip(p) + i, "no control character");
	if (!ret)
		ret = kl_history_spell_kind(h, kind, word, text, strlen(text));
	free(text);
	return ret;
}

static int header_spelling(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	return take_spelling(h, s, p, KL_SPELLED_WORD, "a word, as in 0x4000000000000000");
}

static int header_comm(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	return take_spelling(h, s, p, KL_SPELLED_THREAD, "a thread's number");
}

static int header_stack(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	return take_spelling(h, s, p, KL_SPELLED_STACK, "a stack's number");
}

static int header_slab(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	return take_spelling(h, s, p, KL_SPELLED_SLAB, "an object");
}

static int header_floor(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	uint64_t v;

	(void)h;
	p = kl_scan_skip(p);
	if (kl_scan_u64(&s->scan, &p, &v, "a time"))
		return -EINVAL;
	s->floor = v;
	s->has_floor = true;
	return at_end(s, p);
}

static int header_end(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	(void)h;
	s->ended = true;
	return at_end(s, p);
}

static int header_klin(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	(void)h;
	if (!take(&p, "history"))
		return kl_scan_bad(&s->scan, kl_scan_skip(p), "`history'");
	return header_version(s, p);
}

static int header_release(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	return take_line(s, p, &h->release, "a kernel release");
}

static int header_spec(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	return take_line(s, p, &h->spec_path, "a spec file's name");
}

static int header_attached(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	(void)h;
	return append_line(s, p + (*p == ' '), &s->attached, &s->nattached, &s->cattached);
}

static int header_spec_text(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	(void)h;
	return append_line(s, p + (*p == ' '), &s->spec_text, &s->nspec, &s->cspec);
}

/* A row says how a header line differs from a comment with the same first word. */
static const struct kl_directive directives[] = {
	{ "klin", header_klin, .next = "history", .words = 2, .few = 2 },
	{ "clock", header_clock, .next = "mono seq tick epoch", .words = 3, .few = 1,
	  .later = "error", .others = "block flock lock" },
	{ "first", header_first, .next = "init any", .words = 1, .few = 1, .aside = "state" },
	{ "memory", header_memory, .next = "tso sc", .words = 1, .few = 1, .aside = "model" },
	{ "cpus", header_cpus, .next = "#", .words = 1, .few = 1, .others = "cpu" },
	{ "release", header_release, .next = "#.", .words = 1, .few = 0,
	  .others = "released releases" },
	{ "spec", header_spec, .next = "/", .words = 1, .few = 1,
	  .others = "sec speck specs sped spew" },
	{ "coverage", header_coverage, .at = 1, .next = "whole asserted unknown undrained",
	  .few = 2 },
	{ "objects", header_objects, .next = "keys", .words = 1, .few = 1 },
	{ "spelling", header_spelling, .next = "0x", .few = 1, .later = "#" },
	{ "comm", header_comm, .next = "#", .few = 0, .others = "com coma comb come comma" },
	{ "stack", header_stack, .next = "#", .few = 0,
	  .others = "slack smack snack stacks stalk stick stock track" },
	{ "slab", header_slab, .next = "0x", .few = 1, .later = "#", .others = "slap slabs stab" },
	{ "gap", header_gap, .next = "cpu from to lost object reason", .few = 2, .wordy = true,
	  .later = "#", .others = "cap gas lap map nap rap sap tap zap" },
	{ "floor", header_floor, .next = "#", .words = 1, .few = 1, .others = "flood flour" },
	/* The first line `# attached' names the way in which a function is probed. */
	{ "attached", header_attached,
	  .later = "fentry fentry+fexit, kprobe kprobe, "
		   "kprobe+kretprobe kprobe+kretprobe, tracepoints, klin.ko klin.ko's libklin:",
	  .others = "attach attaches detached" },
	/* `# end of phase one' and `# end phase' are prose, but `# end 7' is an error. */
	{ "end", header_end, .next = "#", .words = 1, .few = 1, .wordy = true, .bare = true,
	  .others = "and bend ed en ends env fend ind lend mend pend rnd send snd tend und vend" },
	{ "|", header_spec_text, .few = KL_DIRECTIVE_ANY },
};

/* Report a typing error: a gap line that is taken for a comment could cause a false alarm. */
static int mistyped(struct kl_text_src *s, const char *p, const struct kl_directive *d)
{
	const bool blanks = strcspn(p, "=:_\n") < strcspn(p, "\n");
	char what[120];

	snprintf(what, sizeof(what), "did you mean `# %s'? %s`##' begins any comment", d->word,
		 blanks ? "Its words have blanks between them; " : "");
	return kl_scan_bad_shown(&s->scan, p, what);
}

int kl_text_header(struct kl_history *h, struct kl_text_src *s, const char *p)
{
	const struct kl_directive *d;

	/* Later lines `# attached' need not name a way of probing. */
	if (s->nattached && kl_scan_blank(*p) && take(&p, "attached"))
		return header_attached(h, s, p);
	d = kl_directive_find(directives, sizeof(directives) / sizeof(*directives), &p);
	h->declared |= !!d;
	if (!d) {
		d = kl_directive_meant(directives, sizeof(directives) / sizeof(*directives), &p);
		return d ? mistyped(s, p, d) : 0;
	}
	return d->read(h, s, p);
}

void kl_text_header_end(struct kl_history *h, struct kl_text_src *s)
{
	free(h->attached);
	free(h->spec_text);
	h->attached = s->attached;
	h->spec_text = s->spec_text;
	/* In a stream more header lines may follow. */
	s->attached = NULL;
	s->spec_text = NULL;
	s->nattached = s->cattached = s->nspec = s->cspec = 0;
}
