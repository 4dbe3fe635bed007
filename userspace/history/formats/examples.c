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

const char *kl_form_near_title(const struct kl_start *start, char buf[KL_TITLE])
{
	static const char *const titles[] = {
		"set", "stack", "queue", "priorityqueue", "pqueue", "deque",
	};
	const char *line = start->text, *end = memchr(line, '\n', start->len), *near;
	char word[KL_TITLE / 2];

	*buf = 0;
	if (!end || strncmp(line, "# ", 2))
		return buf;
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(line + 2, " \r\n"), line + 2);
	near = kl_nearest(word, titles, sizeof(titles) / sizeof(*titles));
	if (near)
		snprintf(buf, KL_TITLE, "; did you mean the first line `# %s'?", near);
	return buf;
}
