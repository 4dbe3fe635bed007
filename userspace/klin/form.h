/* SPDX-License-Identifier: GPL-2.0 */
/* The option --to of the sub-commands that write histories. */
#ifndef KLIN_FORM_H
#define KLIN_FORM_H

#include <string.h>

#include "history/history.h"

/* Is @arg the name of a form? */
static inline int klin_form(const char *arg, enum kl_form *form)
{
	if (!strcmp(arg, "text"))
		*form = KL_FORM_TEXT;
	else if (!strcmp(arg, "klh"))
		*form = KL_FORM_KLH;
	else
		return 0;
	return 1;
}

#endif
