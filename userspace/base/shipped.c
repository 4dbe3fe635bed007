// SPDX-License-Identifier: GPL-2.0
/* Finds a shipped specification by its name. */
#include <string.h>

#include "base/shipped.h"

const char *kl_shipped_text(const char *name)
{
	const struct kl_shipped *p;

	for (p = kl_shipped; p->name; p++)
		if (!strcmp(p->name, name))
			return p->text;
	return NULL;
}
