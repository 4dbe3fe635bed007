// SPDX-License-Identifier: GPL-2.0
/* Programs that are installed in one directory, see beside.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/err.h"

char *kl_beside(const char *program)
{
	char self[PATH_MAX], *slash, *path;
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self));

	if (n < 0 || n == sizeof(self)) {
		kl_err("cannot find the directory of this program (/proc/self/exe): %s",
		       strerror(n < 0 ? errno : ENAMETOOLONG));
		return NULL;
	}
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (asprintf(&path, "%.*s/%s", (int)(slash ? slash - self : 0), self, program) < 0) {
		kl_err("out of memory");
		return NULL;
	}
	return path;
}
