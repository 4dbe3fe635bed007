// SPDX-License-Identifier: GPL-2.0
/* Reading of whole files, see file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static int read_all(int fd, size_t hint, char **data, size_t *len)
{
	size_t cap = 0, used = 0;
	char *buf = NULL;
	ssize_t n;
	int ret;

	ret = kl_grow(buf, cap, hint + 1);
	if (ret)
		return ret;
	for (;;) {
		ret = kl_grow(buf, cap, used + 2);
		if (ret)
			goto err;
		n = read(fd, buf + used, cap - used - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ret = -errno;
			goto err;
		}
		if (!n)
			break;
		used += n;
	}
	buf[used] = 0;
	*data = buf;
	*len = used;
	return 0;
err:
	free(buf);
	return ret;
}

int kl_read_file(const char *path, char **data, size_t *len)
{
	struct stat st;
	int fd, ret;

	if (!strcmp(path, "-"))
		return read_all(STDIN_FILENO, 4096, data, len);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		ret = -errno;
	else if (S_ISDIR(st.st_mode))
		ret = -EISDIR;
	else
		ret = read_all(fd, S_ISREG(st.st_mode) ? (size_t)st.st_size : 4096, data, len);
	close(fd);
	return ret;
}

int kl_stream_err(FILE *f)
{
	return !ferror(f) ? 0 : errno ? -errno : -EIO;
}
