// SPDX-License-Identifier: GPL-2.0
/* Examples of all forms of histories, for messages. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "history/formats/form.h"

const char *kl_form_examples(char text[KL_EXAMPLES])
{
	const struct kl_form *const *f;
	const char *last = "";
	size_t len = 0;
	int header;

	for (header = 0; header < 2; header++) {
		for (f = kl_forms(); *f; f++) {
			if ((*f)->binary || (*f)->header != header)
				continue;
			if (!strcmp((*f)->example, last))
				len = len - 1 + snprintf(text + len - 1, KL_EXAMPLES - len + 1,
							 ", %s)",
							 (*f)->name);
			else
				len += snprintf(text + len, KL_EXAMPLES - len, "%s%s`%s' (%s)",
						*last ? ", " : "", header ? "a first line " : "",
						(*f)->example, (*f)->name);
			last = (*f)->example;
			if (len >= KL_EXAMPLES)
				return text;
		}
	}
	return text;
}

/* Return: advice on the first line that is no comment, if it is nearly an operation. */
static const char *near_operation(const struct kl_start *start, char buf[KL_TITLE])
{
	static const char *const events[] = { "invokes", "returns" };
	const char *line = start->text, *end = start->text + start->len, *near;
	char first[KL_TITLE / 2], second[KL_TITLE / 2];

	while (line < end && (*line == '#' || *line == '\n')) {
		line = memchr(line, '\n', end - line);
		line = line ? line + 1 : end;
	}
	if (line == end || sscanf(line, "%31s %31s", first, second) != 2)
		return buf;
	near = kl_nearest(second, events, 2);
	if (*second == '@' || (*first == 't' && strspn(first + 1, "0123456789") > 0))
		snprintf(buf, KL_TITLE, "; a thread is written as in `t3'");
	else if (near && strspn(first, "0123456789") == strlen(first))
		snprintf(buf, KL_TITLE, "; did you mean `%s'?", near);
	return buf;
}

const char *kl_form_near_title(const struct kl_start *start, char buf[KL_TITLE])
{
	static const char *const titles[] = {
		"set", "stack", "queue", "priorityqueue", "pqueue", "deque",
	};
	const char *line = start->text, *end = memchr(line, '\n', start->len), *near;
	char word[KL_TITLE / 2];
	int n;

	*buf = 0;
	if (!end || *line != '#')
		return near_operation(start, buf);
	line += 1 + (line[1] == ' ');
	n = strcspn(line, " \r\n");
	snprintf(word, sizeof(word), "%.*s", n, line);
	near = kl_nearest(word, titles, sizeof(titles) / sizeof(*titles));
	if (near)
		snprintf(buf, KL_TITLE, "; did you mean the first line `# %s'?", near);
	return *buf ? buf : near_operation(start, buf);
}
