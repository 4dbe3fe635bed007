// SPDX-License-Identifier: GPL-2.0
/* klin replay: run klin-replay, a separate program that is linked without any engine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/beside.h"
#include "base/err.h"
#include "history/formats/form.h"
#include "history/wrong_file.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/replay_options.h"

/* Return: false after a message if an option of klin-replay names no form. */
static bool check_form(int argc, char **argv)
{
	char names[KL_FORM_NAMES], hint[32];
	const char *arg;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (strncmp(argv[i], "--from", 6) || (argv[i][6] && argv[i][6] != '='))
			continue;
		arg = argv[i][6] ? argv[i] + 7 : i + 1 < argc ? argv[++i] : "help";
		if (!strcmp(arg, "help") || kl_form_find(arg))
			continue;
		kl_err("--from=%s: expected %s%s", arg, kl_form_names(names, false),
		       kl_form_hint(arg, hint));
		return false;
	}
	return true;
}

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
	if (!check_form(argc, argv))
		return KLIN_EXIT_USAGE;
	path = kl_beside("klin-replay");
	if (path) {
		execv(path, argv);
		kl_err("cannot run '%s': %s; install it beside klin", path, strerror(errno));
	}
	free(path);
	return KLIN_EXIT_SYSTEM;
}

KL_COMMAND("replay", cmd_replay, "check a verdict's certificate");
