// SPDX-License-Identifier: GPL-2.0
/* Messages about files that are no histories: their first lines, and the expected ones. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "history/formats/form.h"
#include "history/wrong_file.h"

#define LINES	3 /* number of lines of the file that are shown */
#define EXAMPLES	512 /* size of a buffer for the list of all examples */

/*
 * List an example of each form: "`A' (x), `B' (y), or a first line `C' (z)".  Forms with the same
 * example are named together.
 */
static const char *all_examples(char text[EXAMPLES])
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
				len = len - 1 + snprintf(text + len - 1, EXAMPLES - len + 1,
							 ", %s)",
							 (*f)->name);
			else
				len += snprintf(text + len, EXAMPLES - len, "%s%s`%s' (%s)",
						*last ? ", " : "", header ? "a first line " : "",
						(*f)->example, (*f)->name);
			last = (*f)->example;
			if (len >= EXAMPLES)
				return text;
		}
	}
	return text;
}

int kl_form_unread(const char *name, const struct kl_form *form, const struct kl_start *start)
{
	const struct kl_file_kind *kind =
		kl_file_kind && !form ? kl_file_kind(start->text, start->len) : NULL;
	char examples[EXAMPLES];

	if (kind && kind->not_history) {
		kl_err_at(name, 1, 0, "the file is %s: %s", kind->what, kind->not_history);
		return -EINVAL;
	}
	if (!start->more)
		kl_err_at(name, 0, 0, "the file is empty: expected a history; a history without "
			  "operations begins with `# klin history 1'");
	else if (form)
		kl_err_at(name, 1, 0, "the file has no operation: expected the form %s, as in "
				      "`%s'", form->name, form->example);
	else
		kl_err_at(name, 1, 0,
			  "the file has no form that klin reads: expected %s, or a spec with a "
			  "history block",
			  all_examples(examples));
	if (start->more)
		kl_err_lines(start->text, start->len, LINES);
	return -EINVAL;
}
