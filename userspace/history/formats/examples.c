// SPDX-License-Identifier: GPL-2.0
/* Examples of all forms of histories, for messages. */
#include <stdio.h>
#include <string.h>

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
