// SPDX-License-Identifier: GPL-2.0
/* klin replay: run klin-replay, a separate program that is linked without any engine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/beside.h"
#include "base/err.h"
#include "history/wrong_file.h"
#include "klin/cmd.h"
#include "klin/replay_options.h"

static int cmd_replay(int argc, char **argv)
{
	const struct argp argp = { .options = replay_options };
	const char *last = argv[argc - 1];
	char hint[KL_FILE_HINT], *path;

	/* klin-replay, which is to be small, does not suggest options. */
	kl_args_suggest(&argp, argc, argv);
	if (argc > 1 && *last != '-' && !kl_args_last_option && access(last, F_OK)) {
		kl_err("cannot read certificate %s: %s%s", last, strerror(errno),
		       kl_history_hint(last, -errno, hint));
		return KLIN_EXIT_USAGE;
	}
	path = kl_beside("klin-replay");
	if (path) {
		execv(path, argv);
		kl_err("cannot run '%s': %s; install it beside klin", path, strerror(errno));
	}
	free(path);
	return KLIN_EXIT_SYSTEM;
}

KL_COMMAND("replay", cmd_replay, "check a verdict's certificate");
