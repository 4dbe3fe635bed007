// SPDX-License-Identifier: GPL-2.0
/* Check the permissions of files and directories that klind uses, see trust.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "klind/trust.h"

static int check_owner(const char *path, const struct stat *st)
{
	if (st->st_uid && st->st_uid != geteuid()) {
		kl_err("%s belongs to user %u, who can change it; run: chown root '%s'", path,
		       (unsigned int)st->st_uid, path);
		return -EINVAL;
	}
	return 0;
}

static int check_access(const char *path, const struct stat *st)
{
	int ret = check_owner(path, st);

	if (!ret && st->st_mode & (S_IWGRP | S_IWOTH)) {
		kl_err("%s can be written by others (mode %o); run: chmod go-w '%s'", path,
		       (unsigned int)(st->st_mode & 07777), path);
		ret = -EINVAL;
	}
	return ret;
}

/*
 * Check the directory of @path.  If it has the sticky bit, only the owners of the directory and of
 * the file can replace the file, so write permission of others does no harm.
 */
static int check_parent(const char *path)
{
	char *parent = strdup(path), *slash;
	struct stat st;
	int ret = 0;

	if (!parent)
		return -ENOMEM;
	slash = strrchr(parent, '/');
	if (!slash)
		strcpy(parent, ".");
	else
		slash[slash == parent] = '\0';
	if (!stat(parent, &st))
		ret = st.st_mode & S_ISVTX ? check_owner(parent, &st) : check_access(parent, &st);
	free(parent);
	return ret;
}

int klind_trust_file(const char *path)
{
	struct stat st;
	int ret;

	if (stat(path, &st))
		return 0;
	ret = check_access(path, &st);
	return ret ? ret : check_parent(path);
}

int klind_trust_directory(const char *path)
{
	struct stat st;
	int ret;

	if (lstat(path, &st))
		return 0;
	if (S_ISLNK(st.st_mode)) {
		kl_err("%s is a symbolic link; name the directory itself", path);
		return -EINVAL;
	}
	if (!S_ISDIR(st.st_mode)) {
		kl_err("%s is not a directory; choose another path", path);
		return -EINVAL;
	}
	ret = check_access(path, &st);
	return ret ? ret : check_parent(path);
}
