// SPDX-License-Identifier: GPL-2.0
/* Reads and writes klin.ko's files in debugfs, see module.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "record/attach/module.h"

int kl_module_write(const char *file, const char *text)
{
	char path[128];
	int fd, err = 0;

	snprintf(path, sizeof(path), KL_MODULE_DIR "%s", file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

bool kl_module_value(const char *file, const char *key, char *value, size_t size)
{
	size_t len, n = strlen(key);
	char path[128], *data, *line, *save;
	bool found = false;

	value[0] = '\0';
	snprintf(path, sizeof(path), KL_MODULE_DIR "%s", file);
	if (kl_read_file(path, &data, &len))
		return false;
	for (line = strtok_r(data, "\n", &save); line && !found;
	     line = strtok_r(NULL, "\n", &save)) {
		found = !strncmp(line, key, n) && line[n] == '=';
		if (found)
			snprintf(value, size, "%s", line + n + 1);
	}
	free(data);
	return found;
}

int kl_module_refused(const char *what, int err)
{
	char *text;
	size_t len;

	if (err == -ENOENT) {
		kl_err("klin.ko is not loaded, or debugfs is not mounted at /sys/kernel/debug: "
		       "insmod klin.ko");
	} else if (err == -EACCES || err == -EPERM) {
		kl_err("driving klin.ko needs root");
	} else if (!kl_read_file(KL_MODULE_DIR "error", &text, &len)) {
		text[strcspn(text, "\n")] = '\0';
		kl_err("klin.ko refuses '%s': %s", what, len ? text : strerror(-err));
		free(text);
	} else {
		kl_err("klin.ko refuses '%s': %s", what, strerror(-err));
	}
	return err == -EBUSY ? -EBUSY : err == -EACCES || err == -EPERM ? -EPERM : -EINVAL;
}
