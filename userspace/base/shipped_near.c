// SPDX-License-Identifier: GPL-2.0
/* Suggests a shipped specification for a mistyped name. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/path.h"
#include "base/shipped.h"

#define MOST_SHIPPED	256

const char *kl_shipped_near(const char *path)
{
	const char *names[MOST_SHIPPED], *lasts[MOST_SHIPPED], *near;
	char name[KL_NEAREST_MAX];
	size_t n, i;

	n = snprintf(name, sizeof(name), "%s", path);
	if (n >= sizeof(name))
		return NULL;
	name[kl_stem(name, ".lin")] = '\0';
	for (n = 0; n < MOST_SHIPPED && kl_shipped[n].name; n++) {
		names[n] = kl_shipped[n].name;
		lasts[n] = kl_last_part(names[n]);
	}
	for (i = 0; i < n; i++)
		if (!strcasecmp(lasts[i], kl_last_part(name)))
			return names[i];
	near = kl_nearest(name, names, n);
	if (near)
		return near;
	/* Another ending than .lin makes names no less alike. */
	name[strlen(name) - strlen(kl_last_part(name)) + strcspn(kl_last_part(name), ".")] = '\0';
	near = kl_nearest(kl_last_part(name), lasts, n);
	for (i = 0; near && i < n; i++)
		if (lasts[i] == near)
			return names[i];
	return NULL;
}
