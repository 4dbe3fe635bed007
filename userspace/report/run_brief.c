// SPDX-License-Identifier: GPL-2.0
/* Prints what is known of a run in the lines of a terminal, see run_brief.h. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "report/run_brief.h"
#include "report/words.h"

#define STEPS_LEAST	4	/* lines of the run without which it is left out */
#define MORE		"  More: --full, klin report\n"

/* The texts of a result's parts. */
struct brief {
	char *head, *story, *hint, *title, *run, *end;
};

/* Return: the lines that the line at @line takes on a terminal. */
static unsigned int height(const char *line)
{
	const size_t n = strcspn(line, "\n");

	return n ? (n + KL_REPORT_WIDTH - 1) / KL_REPORT_WIDTH : 1;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

static unsigned int count_lines(const char *text)
{
	unsigned int n = 0;

	for (; *text; text = next_line(text))
		n += height(text);
	return n;
}

/* Print the lines that have room. */
static void put_lines(FILE *f, const char *text, unsigned int room)
{
	const char *next;

	for (; *text && height(text) <= room; text = next) {
		next = next_line(text);
		room -= height(text);
		fprintf(f, "%.*s", (int)(next - text), text);
	}
}

/* Does a step begin in the line?  Its number is right-aligned in four columns, or in five. */
static bool is_step(const char *line)
{
	const size_t n = strspn(line, " 0123456789");

	return (n >= 4 && isdigit((unsigned char)line[3])) ||
	       (n >= 5 && isdigit((unsigned char)line[4]));
}

/* Return: the first of the last steps that have room together. */
static const char *last_steps(const char *steps, unsigned int room)
{
	const char *line, *first = NULL;

	for (line = steps; *line; line = next_line(line))
		if (is_step(line) && !first && count_lines(line) <= room)
			first = line;
	return first;
}

static void print_texts(FILE *f, const struct brief *b)
{
	const unsigned int hint = count_lines(b->hint);
	const unsigned int all = count_lines(b->head) + count_lines(b->story) + hint +
				 count_lines(b->title) + count_lines(b->run) +
				 count_lines(b->end);
	unsigned int room = KL_RUN_LINES - 1, used = count_lines(b->head) + count_lines(b->end);
	const char *steps;

	if (all <= KL_RUN_LINES) {
		fprintf(f, "%s%s%s%s%s%s", b->head, b->hint, b->story, b->title, b->run, b->end);
		return;
	}
	room = used < room ? room - used : 0;
	fputs(b->head, f);
	if (count_lines(b->story) <= room) {
		fputs(b->story, f);
		room -= count_lines(b->story);
	} else {
		put_lines(f, b->story, room ? room - 1 : 0);
		fputs("  ...\n", f);
		room = 0;
	}
	if (hint <= room) {
		fputs(b->hint, f);
		room -= hint;
	}
	/* The title and the names of threads. */
	used = count_lines(b->title) + 1;
	steps = room >= used + STEPS_LEAST ? last_steps(next_line(b->run), room - used) : NULL;
	if (steps)
		fprintf(f, "%s%.*s%s", b->title, (int)(next_line(b->run) - b->run), b->run, steps);
	fputs(b->end, f);
	fputs(MORE, f);
}

/* Set *@text to what @print prints.  Return: 0 or a negative errno. */
static int get_text(kl_print_part print, const void *result, char **text)
{
	struct kl_memstream m;
	int ret = kl_memstream_open(&m);

	if (ret)
		return ret;
	ret = print ? print(m.f, result) : 0;
	return kl_memstream_close(&m, text, NULL) ?: ret;
}

int kl_print_run_brief(FILE *f, const struct kl_run_parts *parts, const void *result)
{
	struct brief b = { 0 };
	const struct {
		kl_print_part print;
		char **text;
	} all[] = {
		{ parts->head, &b.head },   { parts->story, &b.story }, { parts->hint, &b.hint },
		{ parts->title, &b.title }, { parts->run, &b.run },	{ parts->end, &b.end },
	};
	const size_t n = sizeof(all) / sizeof(*all);
	int ret = 0;
	size_t i;

	for (i = 0; i < n && !ret; i++)
		ret = get_text(all[i].print, result, all[i].text);
	if (!ret)
		print_texts(f, &b);
	for (i = 0; i < n; i++)
		free(*all[i].text);
	return ret;
}
