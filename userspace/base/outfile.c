// SPDX-License-Identifier: GPL-2.0
/* Files that appear under their names when they are complete, see outfile.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/outfile.h"

/*
 * Create the file @name with the mode that the umask gives (unlike mkstemp()).  The @n letters
 * of @name from @end on are replaced by random ones.
 * Return: a file descriptor, or a negative errno.
 */
static int create(const char *name, char *end, size_t n)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char random[16];
	unsigned int tries;
	size_t i;
	int fd;

	for (tries = 0; tries < 100; tries++) {
		if (getrandom(random, n, 0) != (ssize_t)n)
			return -EIO;
		for (i = 0; i < n; i++)
			end[i] = letters[random[i] % (sizeof(letters) - 1)];
		fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

/* Open a temporary file in the directory of @path; kl_outfile_commit() renames it. */
static int open_beside(struct kl_outfile *o, const char *path)
{
	int fd;

	if (!o->path || asprintf(&o->tmp, "%s.XXXXXX", path) < 0) {
		o->tmp = NULL;
		kl_outfile_abort(o);
		return -ENOMEM;
	}
	fd = create(o->tmp, o->tmp + strlen(o->tmp) - 6, 6);
	if (fd < 0) {
		free(o->tmp);
		o->tmp = NULL;
		kl_outfile_abort(o);
		return fd;
	}
	o->f = fdopen(fd, "w");
	if (!o->f) {
		close(fd);
		kl_outfile_abort(o);
		return -ENOMEM;
	}
	return 0;
}

int kl_outfile_open(struct kl_outfile *o, const char *path)
{
	struct stat st;

	memset(o, 0, sizeof(*o));
	if (!strcmp(path, "-")) {
		o->f = stdout;
		return 0;
	}
	o->path = strdup(path);
	/* A special file such as /dev/null is written in place and must not be replaced. */
	if (o->path && !stat(path, &st) && !S_ISREG(st.st_mode)) {
		int ret;

		o->f = fopen(path, "we");
		ret = o->f ? 0 : -errno;
		if (ret)
			kl_outfile_abort(o);
		return ret;
	}
	return open_beside(o, path);
}

int kl_outfile_replace(struct kl_outfile *o, const char *path)
{
	struct stat st;

	memset(o, 0, sizeof(*o));
	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return S_ISLNK(st.st_mode) ? -ELOOP : -EEXIST;
	o->path = strdup(path);
	return open_beside(o, path);
}

int kl_outfile_commit(struct kl_outfile *o)
{
	int ret;

	fflush(o->f);
	ret = kl_stream_err(o->f);
	if (!o->path)
		return ret;
	if (!ret && o->tmp && fsync(fileno(o->f)) && errno != EINVAL)
		ret = -errno;
	if (fclose(o->f) && !ret)
		ret = -errno;
	o->f = NULL;
	if (!ret && o->tmp && rename(o->tmp, o->path))
		ret = -errno;
	if (!ret) {
		free(o->tmp);
		o->tmp = NULL;
	}
	kl_outfile_abort(o);
	return ret;
}

void kl_outfile_abort(struct kl_outfile *o)
{
	if (o->f && o->path)
		fclose(o->f);
	if (o->tmp)
		unlink(o->tmp);
	free(o->tmp);
	free(o->path);
	memset(o, 0, sizeof(*o));
}

void kl_cannot_write(const char *path, int err)
{
	if (strcmp(path, "-"))
		kl_err("cannot write '%s': %s", path, strerror(-err));
	else
		kl_err("cannot write to standard output: %s", strerror(-err));
}
