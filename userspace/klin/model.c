// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <unistd.h>

#include "base/shipped.h"
#include "klin/model.h"

const char *kl_model_name(const char *file, const char *const *folders)
{
	const struct kl_shipped *p;

	if (strchr(file, '/') || !access(file, F_OK))
		return file;
	for (; *folders; folders++) {
		const size_t len = strlen(*folders);

		for (p = kl_shipped; p->name; p++)
			if (!strncmp(p->name, *folders, len) && p->name[len] == '/' &&
			    !strcmp(p->name + len + 1, file))
				return p->name;
	}
	return file;
}
