// SPDX-License-Identifier: GPL-2.0
/* Loads on a table of open files, and on names in a directory. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/load/load_user.h"

#define HELD	4	/* file descriptors that a thread holds at one time */

static const char fd_table_help[] = "threads that open, duplicate and close files";

/* Close all files, so that the table is empty when the recording begins. */
static int fd_table_prepare(const uint64_t *number)
{
	return syscall(SYS_close_range, 0, ~0U, 0) ? -errno : 0;
}

static int fd_table_setup(const uint64_t *number, void **priv)
{
	int (*held)[HELD] = malloc(KL_USER_TASKS * sizeof(*held)), i, j;

	if (!held)
		return -ENOMEM;
	for (i = 0; i < KL_USER_TASKS; i++)
		for (j = 0; j < HELD; j++)
			held[i][j] = -1;
	*priv = held;
	return 0;
}

static int fd_table_step(struct kl_user_task *t)
{
	int *held = ((int (*)[HELD])t->priv)[t->index], *fd = &held[kl_user_below(t, HELD)];
	int other = held[kl_user_below(t, HELD)];

	if (*fd >= 0) {
		close(*fd);
		*fd = -1;
		return 1;
	}
	if (other < 0)
		*fd = eventfd(0, 0);
	else
		*fd = fcntl(other, F_DUPFD, (int)kl_user_below(t, 2) * 8);
	return *fd < 0 ? -errno : 1;
}

static const struct kl_user_kind fd_table_kind = {
	.name = "fd_table", .tasks = 4, .prepare = fd_table_prepare, .setup = fd_table_setup,
	.step = fd_table_step,
};
KL_USER_LOAD(fd_table);

static const char rename_help[] = "threads that rename files of a tmpfs, and others that look "
				  "them up";

/* rename.lin expects names of this form. */
static const char *const names[] = { "klin__a", "klin__b", "klin__c", "klin__d" };

/* Mount a file system for the load alone, which vanishes with the load. */
static int rename_prepare(const uint64_t *number)
{
	char dir[] = "/tmp/klin.XXXXXX";
	int err = 0, i, fd;

	if (syscall(SYS_unshare, CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -errno;
	if (!mkdtemp(dir))
		return -errno;
	if (mount("klin", dir, "tmpfs", 0, NULL) || chdir(dir))
		err = -errno;
	for (i = 0; !err && i < 3; i++) {
		fd = open(names[i], O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd < 0)
			err = -errno;
		else
			close(fd);
	}
	/* The mount keeps the directory alive, and the load's process keeps the mount. */
	if (umount2(dir, MNT_DETACH) || rmdir(dir))
		err = err ? err : -errno;
	return err;
}

static int rename_setup(const uint64_t *number, void **priv)
{
	*priv = NULL;
	return 0;
}

/* Exchange the names of two files, and rename a third one back and forth. */
static int rename_step(struct kl_user_task *t)
{
	unsigned int i = kl_user_below(t, 4), from = i & 2 ? 2 + (i & 1) : 0;
	struct stat st;

	if (t->index % 2)
		return stat(names[i], &st) && errno != ENOENT ? -errno : 1;
	if (renameat2(AT_FDCWD, names[from], AT_FDCWD, names[from ^ 1],
		      from ? 0 : RENAME_EXCHANGE) && errno != ENOENT)
		return -errno;
	return 1;
}

static const struct kl_user_kind rename_kind = {
	.name = "rename", .tasks = 4, .prepare = rename_prepare, .setup = rename_setup,
	.step = rename_step,
};
KL_USER_LOAD(rename);
