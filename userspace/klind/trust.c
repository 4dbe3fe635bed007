// SPDX-License-Identifier: GPL-2.0
/* Who can write what klind reads and where it writes, see trust.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "klind/trust.h"

static int judge(const char *path, const struct stat *st)
{
	if (st->st_uid && st->st_uid != geteuid()) {
		kl_err("%s belongs to user %u, who can change it: chown it to root", path,
		       (unsigned int)st->st_uid);
		return -EINVAL;
	}
	if (st->st_mode & (S_IWGRP | S_IWOTH)) {
		kl_err("%s can be written by others (mode %o): chmod go-w '%s'", path,
		       (unsigned int)(st->st_mode & 07777), path);
		return -EINVAL;
	}
	return 0;
}

/* In a directory with the sticky bit only its owner can replace a file. */
static int judge_parent(const char *path)
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
	if (!stat(parent, &st) && !(st.st_mode & S_ISVTX))
		ret = judge(parent, &st);
	free(parent);
	return ret;
}

int klind_trust_file(const char *path)
{
	struct stat st;
	int ret;

	if (stat(path, &st))
		return 0;
	ret = judge(path, &st);
	return ret ? ret : judge_parent(path);
}

int klind_trust_directory(const char *path)
{
	struct stat st;
	int ret;

	if (lstat(path, &st))
		return 0;
	if (S_ISLNK(st.st_mode)) {
		kl_err("%s is a symbolic link: name the directory itself", path);
		return -EINVAL;
	}
	if (!S_ISDIR(st.st_mode)) {
		kl_err("%s is no directory", path);
		return -EINVAL;
	}
	ret = judge(path, &st);
	return ret ? ret : judge_parent(path);
}
