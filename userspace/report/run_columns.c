// SPDX-License-Identifier: GPL-2.0
/* An explorer's run as text, see run_columns.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_columns.h"
#include "report/words.h"

#define LEFT		6	/* columns of the number */
#define MOST_COLUMNS	3	/* with more threads each is indented a little further */
#define INDENT		4

struct columns {
	FILE *f;
	unsigned int threads;
	char *before;	/* the state before the step */
	int err;
};

/* The part of a state for memory or for one buffer: its words, which spaces separate. */
struct section {
	const char *name, *words;
	size_t name_len, len;
};

/* Get the section at *@at, and go to the next.  Return: false at the end. */
static bool next_section(const char **at, struct section *s)
{
	const char *colon = strchr(*at, ':');

	if (!colon)
		return false;
	*s = (struct section){ .name = *at, .name_len = colon - *at };
	s->words = colon + 1 + strspn(colon + 1, " ");
	s->len = strcspn(s->words, ";");
	*at = s->words + s->len;
	*at += strspn(*at, "; ");
	return true;
}

/* Return: true, with @found, if the state @text has a section of that name. */
static bool find_section(const char *text, const struct section *like, struct section *found)
{
	while (next_section(&text, found))
		if (found->name_len == like->name_len &&
		    !memcmp(found->name, like->name, like->name_len))
			return true;
	return false;
}

/* Return: the length of the word at @at; an object "#1={A 0}" is one word. */
static size_t word_length(const char *at, const char *end)
{
	const char *p = at;
	bool inside = false;

	for (; p < end && (inside || *p != ' '); p++)
		inside = *p == '{' || (inside && *p != '}');
	return p - at;
}

/* Is the word of @len bytes, or a word that begins with it if @begin, among those of @s? */
static bool has_word(const struct section *s, const char *word, size_t len, bool begin)
{
	const char *at = s->words, *end = s->words + s->len;
	size_t n;

	for (; at < end; at += n + strspn(at + n, " ")) {
		n = word_length(at, end);
		if ((n == len || (begin && n > len)) && !memcmp(at, word, len))
			return true;
	}
	return false;
}

/*
 * Print the words of @s that the section @old lacks; or if @gone, the names of those whose variable
 * it lacks.  Return: the number of words.
 */
static unsigned int print_new(FILE *f, const struct section *s, const struct section *old,
			      bool gone)
{
	const char *at = s->words, *end = s->words + s->len;
	unsigned int count = 0;
	size_t n, name;

	for (; at < end; at += n + strspn(at + n, " ")) {
		n = word_length(at, end);
		name = strcspn(at, "=");
		name = name < n ? name + 1 : n;
		if (gone ? has_word(old, at, name, true) : has_word(old, at, n, false))
			continue;
		fprintf(f, " %.*s%s", (int)(gone ? name - 1 : n), at, gone ? " is gone" : "");
		count++;
	}
	return count;
}

/* Print what differs between the states before and after a step. */
static void print_changes(FILE *f, const char *before, const char *after)
{
	const char *at = after, *begin = "      =>";
	struct section s, old;
	bool any = false;

	while (next_section(&at, &s)) {
		const bool memory = s.name_len == 6 && !memcmp(s.name, "memory", 6);
		const bool had = find_section(before, &s, &old);

		if (had && s.len == old.len && !memcmp(s.words, old.words, s.len))
			continue;
		fputs(any ? ";" : begin, f);
		any = true;
		if (!memory)
			fprintf(f, " %.*s: %.*s", (int)s.name_len, s.name,
				s.len ? (int)s.len : 5, s.len ? s.words : "empty");
		else if (!had)
			fprintf(f, " %.*s", (int)s.len, s.words);
		else if (!(print_new(f, &s, &old, false) + print_new(f, &old, &s, true)))
			fputs(" memory in another order", f);
	}
	for (at = before; next_section(&at, &s);) {
		if (find_section(after, &s, &old) || !s.len)
			continue;
		fprintf(f, "%s %.*s: empty", any ? ";" : begin, (int)s.name_len, s.name);
		any = true;
	}
	if (any)
		putc('\n', f);
}

static int offset(unsigned int threads, unsigned int thread)
{
	if (threads > MOST_COLUMNS)
		return LEFT + INDENT * (int)thread;
	return LEFT + (int)thread * ((KL_REPORT_WIDTH - LEFT) / (int)threads);
}

void kl_print_heads(FILE *f, unsigned int threads, char letter)
{
	int at = fprintf(f, "step");
	unsigned int t;

	for (t = 0; t < threads; t++)
		at += fprintf(f, "%*s%c%u", offset(threads, t) - at, "", letter, t);
	putc('\n', f);
}

void kl_print_row(FILE *f, unsigned int threads, char letter, unsigned int number,
		  unsigned int thread, const char *what)
{
	const bool last = threads > MOST_COLUMNS || thread + 1 >= threads;
	const int from = offset(threads, thread);

	fprintf(f, "%4u%*s%c%u ", number, from - 4, "", letter, thread);
	kl_put_words(f, what, from + 3, from + 3,
		     last ? KL_REPORT_WIDTH : offset(threads, thread + 1) - 1);
}

static void print_step(void *ctx, const struct kl_explore_step *s)
{
	struct columns *c = ctx;

	if (!s->number) {
		kl_print_heads(c->f, c->threads, 'T');
		fprintf(c->f, "%4u  %s\n", s->number, s->what);
	} else {
		kl_print_row(c->f, c->threads, 'T', s->number, s->thread, s->what);
	}
	print_changes(c->f, c->before ? c->before : "", s->state);
	free(c->before);
	c->before = strdup(s->state);
	if (!c->before)
		c->err = -ENOMEM;
}

int kl_print_run(FILE *f, struct kl_explorer *x)
{
	struct columns c = { .f = f };
	struct kl_explore_stats st;
	int ret;

	kl_explore_stats(x, &st);
	c.threads = st.threads ? st.threads : 1;
	ret = kl_explore_run(x, print_step, &c);
	free(c.before);
	return ret ? ret : c.err;
}
