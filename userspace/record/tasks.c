// SPDX-License-Identifier: GPL-2.0
/* Lists all tasks of the machine, see tasks.h. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "record/tasks.h"

struct walk {
	int (*fn)(void *ctx, pid_t pid, pid_t tid);
	void *ctx;
	pid_t pid;
};

/* Call @fn for each number in a directory of /proc, which may no longer exist. */
static int each_number(const char *dir, int (*fn)(struct walk *w, pid_t n), struct walk *w)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int err = 0;

	while (d && !err && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			err = fn(w, atoi(e->d_name));
	if (d)
		closedir(d);
	return err;
}

static int take_task(struct walk *w, pid_t tid)
{
	return w->fn(w->ctx, w->pid, tid);
}

static int take_process(struct walk *w, pid_t pid)
{
	char dir[64];

	w->pid = pid;
	snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	return each_number(dir, take_task, w);
}

int kl_tasks_each(int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx)
{
	struct walk w = { .fn = fn, .ctx = ctx };

	return each_number("/proc", take_process, &w);
}

bool kl_task_comm(pid_t tid, char *comm)
{
	char path[64], *data;
	size_t len;

	snprintf(comm, KL_COMM_MAX, "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	if (kl_read_file(path, &data, &len))
		return false;
	data[strcspn(data, "\n")] = '\0';
	snprintf(comm, KL_COMM_MAX, "%s", data);
	free(data);
	return true;
}
