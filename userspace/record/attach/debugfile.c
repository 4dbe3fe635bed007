// SPDX-License-Identifier: GPL-2.0
/* Finds the debug file of the running kernel or of a module, see debugfile.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "record/attach/debugfile.h"

static bool find_file(char *path, size_t size, const char *format, const char *release,
		      const char *rest)
{
	char full[512];
	int n = snprintf(full, sizeof(full), format, release, rest);

	if (n < 0 || (size_t)n >= sizeof(full) || (size_t)n >= size || access(full, R_OK))
		return false;
	strcpy(path, full);
	return true;
}

/* Compare the names of a module in the file system and in the kernel, with - and _ as equal. */
static bool same_name(const char *file, const char *module, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (file[i] != module[i] && !((file[i] == '-' || file[i] == '_') &&
					      (module[i] == '-' || module[i] == '_')))
			return false;
	return true;
}

/*
 * Get a module's path below /lib/modules/RELEASE from modules.dep, whose lines are
 * "PATH: PATH...".
 */
static bool module_path(const char *release, const char *module, char *path, size_t size)
{
	char list[128], *data, *line, *save, *name, *end;
	size_t len, n = strlen(module);
	bool found = false;

	snprintf(list, sizeof(list), "/lib/modules/%s/modules.dep", release);
	if (kl_read_file(list, &data, &len))
		return false;
	line = strtok_r(data, "\n", &save);
	for (; line && !found; line = strtok_r(NULL, "\n", &save)) {
		end = strchr(line, ':');
		if (!end)
			continue;
		*end = '\0';
		name = strrchr(line, '/');
		name = name ? name + 1 : line;
		end = strstr(name, ".ko");
		if (!end || (size_t)(end - name) != n || !same_name(name, module, n))
			continue;
		end[3] = '\0';	/* cut off .xz: only unpacked files can be used */
		found = snprintf(path, size, "%s", line) < (int)size;
	}
	free(data);
	return found;
}

int kl_debug_file(const char *release, const char *module, char *path, size_t size)
{
	static const char *const kernels[] = {
		"/usr/lib/debug/boot/vmlinux-%s%s", "/usr/lib/debug/lib/modules/%s/vmlinux%s",
		"/usr/lib/debug/vmlinux-%s%s", "/lib/modules/%s/build/vmlinux%s",
		"/boot/vmlinux-%s%s",
	};
	static const char *const modules[] = {
		"/usr/lib/debug/lib/modules/%s/%s", "/usr/lib/debug/lib/modules/%s/%s.debug",
		"/lib/modules/%s/%s",
	};
	char rest[256] = "";
	size_t i;

	if (!module) {
		for (i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
			if (find_file(path, size, kernels[i], release, rest))
				return 0;
		return -ENOENT;
	}
	if (!module_path(release, module, rest, sizeof(rest)))
		return -ENOENT;
	for (i = 0; i < sizeof(modules) / sizeof(*modules); i++)
		if (find_file(path, size, modules[i], release, rest))
			return 0;
	return -ENOENT;
}
