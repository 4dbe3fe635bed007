// SPDX-License-Identifier: GPL-2.0
/* klin replay: run klin-replay, a program of its own that no engine is linked with. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "klin/cmd.h"

#define REPLAY	"klin-replay"

/* The path of klin-replay, beside this program; free() it.  NULL after a message. */
static char *find_replay(void)
{
	char self[PATH_MAX], *slash, *path;
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self));

	if (n < 0 || n == sizeof(self)) {
		kl_err("cannot find where klin is (/proc/self/exe): %s",
		       strerror(n < 0 ? errno : ENAMETOOLONG));
		return NULL;
	}
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (asprintf(&path, "%.*s/" REPLAY, (int)(slash ? slash - self : 0), self) < 0) {
		kl_err("out of memory");
		return NULL;
	}
	return path;
}

static int cmd_replay(int argc, char **argv)
{
	char *path = find_replay();

	if (path) {
		execv(path, argv);
		kl_err("cannot run '%s': %s; install it beside klin", path, strerror(errno));
	}
	free(path);
	return KLIN_EXIT_SYSTEM;
}

KL_COMMAND("replay", cmd_replay, "check a verdict's certificate");
