/* SPDX-License-Identifier: GPL-2.0 */
/* The options --to and --from of the sub-commands that write and read histories. */
#ifndef KLIN_FORM_H
#define KLIN_FORM_H

#include "history/history.h"

#define KLIN_FORMS_WRITTEN	"text, klh, linp, events, edn or jepsen"

#define KLIN_INDEPENDENT	"In EDN and Jepsen's log, values [KEY VALUE] are of " \
	"independent keys, yes or no; by default as reads and cas tell"

/* Is @arg the name of a form? */
static inline bool klin_form(const char *arg, const struct kl_form **form)
{
	*form = kl_form_find(arg);
	return *form;
}

#endif
