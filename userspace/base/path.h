/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of the names of files: of "specs/queue.lin" the last part, and its length without ".lin". */
#ifndef KL_BASE_PATH_H
#define KL_BASE_PATH_H

#include <stddef.h>
#include <string.h>

/* Return: what follows the last slash of @path, or @path. */
static inline const char *kl_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Return: the length of @name without @ending; its whole length if it is no more, or ends else. */
static inline size_t kl_stem(const char *name, const char *ending)
{
	const size_t len = strlen(name), n = strlen(ending);

	return len > n && !strcmp(name + len - n, ending) ? len - n : len;
}

#endif
