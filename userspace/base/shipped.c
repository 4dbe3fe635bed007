// SPDX-License-Identifier: GPL-2.0
/* Finds a shipped specification by its name. */
#include <string.h>

#include "base/nearest.h"
#include "base/shipped.h"

#define MOST_SHIPPED	256

const char *kl_shipped_text(const char *name)
{
	const struct kl_shipped *p;

	for (p = kl_shipped; p->name; p++)
		if (!strcmp(p->name, name))
			return p->text;
	return NULL;
}

const char *kl_shipped_near(const char *name)
{
	const char *names[MOST_SHIPPED];
	size_t n;

	for (n = 0; n < MOST_SHIPPED && kl_shipped[n].name; n++) {
		const char *slash = strrchr(kl_shipped[n].name, '/');

		if (slash && !strcmp(slash + 1, name))
			return kl_shipped[n].name;
		names[n] = kl_shipped[n].name;
	}
	return kl_nearest(name, names, n);
}
