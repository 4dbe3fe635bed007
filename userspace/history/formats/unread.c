// SPDX-License-Identifier: GPL-2.0
/* Messages about files that are no histories: their first lines, and the expected ones. */
#include <errno.h>

#include "base/err.h"
#include "history/formats/form.h"
#include "history/wrong_file.h"

#define LINES 3 /* number of lines of the file that are shown */

int kl_form_unread(const char *name, const struct kl_form *form, const struct kl_start *start)
{
	const struct kl_file_kind *kind =
		kl_file_kind && !form ? kl_file_kind(start->text, start->len) : NULL;
	char examples[KL_EXAMPLES], near[KL_TITLE];

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
			  "history block%s",
			  kl_form_examples ? kl_form_examples(examples) : "klin's own forms",
			  kl_form_near_title ? kl_form_near_title(start, near) : "");
	if (start->more)
		kl_err_lines(start->text, start->len, LINES);
	return -EINVAL;
}
