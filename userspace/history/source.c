// SPDX-License-Identifier: GPL-2.0
/* Messages about operations of a history that was read, see source.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "history/scan.h"
#include "history/source.h"

/* A place in the text: number of its line, column, and the line with its length. */
struct found {
	unsigned int line;
	size_t col, len;
	char *text;
};

int kl_source_note(struct kl_history *h, const struct kl_input *in)
{
	struct kl_source *s = calloc(1, sizeof(*s));

	if (s && h->source) {
		s->events = h->source->events;
		s->nevents = h->source->nevents;
		h->source->events = NULL;
		s->failed = h->source->failed;
		s->nfailed = h->source->nfailed;
		h->source->failed = NULL;
		s->other = h->source->other;
		s->nother = h->source->nother;
		h->source->other = NULL;
	}
	kl_source_free(h->source);
	h->source = s;
	if (!s)
		return -ENOMEM;
	s->name = strdup(in->name);
	s->path = in->file ? strdup(in->name) : NULL;
	if (!s->name || (in->file && !s->path))
		return -ENOMEM;
	s->skip = in->skipped;
	s->places = in->places;
	s->id = in->id;
	s->form = in->form;
	s->first = 1;
	/* A pipe cannot be read again, so a short text is kept. */
	if (in->file || !in->whole || !h->places)
		return 0;
	s->kept = malloc(in->whole);
	if (!s->kept)
		return -ENOMEM;
	memcpy(s->kept, in->buf, in->whole);
	s->text = s->kept;
	s->len = in->whole;
	return 0;
}

void kl_source_free(struct kl_source *s)
{
	if (!s)
		return;
	free(s->name);
	free(s->path);
	free(s->kept);
	free(s->events);
	free(s->failed);
	free(s->other);
	if (s->again)
		s->again->free(s->again);
	free(s);
}

/* Return: true if word @i of a line, the @n characters at @at, is the word @word (enum kl_at). */
static bool is_word(const char *at, size_t n, unsigned int i, unsigned int word)
{
	static const char point[] = "point=";

	if (word == KL_AT_POINT)
		return n >= sizeof(point) - 1 && !memcmp(at, point, sizeof(point) - 1);
	return i == word;
}

/*
 * Return: the column of word @word (enum kl_at) in a line, or of the first word if the line has no
 * such word.  The arrow before results does not count as a word.
 */
static size_t word_col(const char *line, size_t len, unsigned int word)
{
	const char *p = line, *end = line + len;
	const char *at;
	unsigned int i;

	for (i = 0; ; i++) {
		do {
			while (p < end && kl_scan_blank(*p))
				p++;
			at = p;
			while (p < end && !kl_scan_blank(*p))
				p++;
		} while (p - at == 2 && !memcmp(at, "->", 2));
		if (at == end)
			return word ? word_col(line, len, 0) : 1;
		if (is_word(at, p - at, i, word))
			return at - line + 1;
	}
}

/*
 * Return: true if @place is in the line @f, which begins at byte @at of the text.  Then @f gets the
 * column, and loses its newline.
 */
static bool in_line(const struct kl_source *s, struct found *f, uint32_t place, size_t at,
		    unsigned int word)
{
	if (s->places == KL_PLACES_OFFSETS) {
		if (place - at >= f->len)
			return false;
		f->col = place - at + 1;
	} else {
		if (f->line != place)
			return false;
		f->col = word_col(f->text, f->len, s->places == KL_PLACES_WORDS ? word : 0);
	}
	while (f->len && strchr("\r\n", f->text[f->len - 1]))
		f->len--;
	return true;
}

/* Find a place in the text.  The caller frees @f->text if it is found. */
static bool find(struct kl_source *s, uint32_t place, unsigned int word, struct found *f)
{
	FILE *file = s->text ? fmemopen((void *)s->text, s->len, "r") :
		     s->path ? fopen(s->path, "re") : NULL;
	const bool again = s->places == KL_PLACES_OFFSETS && place >= s->found_at;
	size_t cap = 0, at = again ? s->found_at : 0;
	bool found = false;
	ssize_t len;

	if (!file)
		return false;
	fseeko(file, (s->text ? 0 : s->skip) + at, SEEK_SET);
	f->line = s->first + (again ? s->found_lines : 0);
	for (; !found && (len = getline(&f->text, &cap, file)) > 0; f->line++) {
		f->len = len;
		found = in_line(s, f, place, at, word);
		if (found) {
			s->found_at = at;
			s->found_lines = f->line - s->first;
		}
		at += len;
	}
	f->line--;
	fclose(file);
	return found;
}

unsigned int kl_source_find(const struct kl_history *h, size_t op, size_t *col)
{
	struct kl_source *s = h->source;
	struct found f = { .text = NULL };

	*col = 0;
	if (!s || !h->places || h->places[op] >= KL_FIRST_PLACE)
		return 0;
	if (s->places != KL_PLACES_OFFSETS)
		return h->places[op];
	if (find(s, h->places[op], 0, &f))
		*col = f.col;
	free(f.text);
	return *col ? f.line : 0;
}

void kl_history_err(const struct kl_history *h, size_t op, enum kl_at word, const char *fmt, ...)
{
	struct kl_source *s = h->source;
	struct found f = { .text = NULL };
	char what[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (!s) {
		kl_err("%s", what);
	} else if (op == KL_NO_OP || !h->places || h->places[op] >= KL_FIRST_PLACE) {
		kl_err_at(s->name, 0, 0, "%s", what);
	} else if (find(s, h->places[op], word, &f)) {
		kl_err_at(s->name, f.line, f.col, "%s", what);
		kl_err_source(f.text, f.len, f.col);
	} else {
		/* A long text from a pipe is not kept, so its lines cannot be shown. */
		kl_err_at(s->name, s->places == KL_PLACES_OFFSETS ? 0 : h->places[op], 0, "%s",
			  what);
	}
	free(f.text);
}
