// SPDX-License-Identifier: GPL-2.0
/* The program klin: runs the sub-command that its first argument names. */
#include <locale.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/shipped.h"
#include "klin/cmd.h"
#include "record/attach/features.h"
#include "report/build.h"

/* Freed blocks of this many bytes or more go back to the kernel at once. */
#define MMAP_THRESHOLD	(512 << 10)

extern const struct kl_command *const __start_kl_commands[];
extern const struct kl_command *const __stop_kl_commands[];

static int by_name(const void *a, const void *b)
{
	const struct kl_command *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void usage(FILE *f)
{
	size_t n = __stop_kl_commands - __start_kl_commands, i;
	const struct kl_command **sorted = calloc(n, sizeof(*sorted));

	fprintf(f, "Usage: klin COMMAND [OPTION...]\n"
		   "Linearizability monitor for the Linux kernel.\n\nCommands:\n");
	if (sorted) {
		memcpy(sorted, __start_kl_commands, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), by_name);
		for (i = 0; i < n; i++)
			fprintf(f, "  %-10s %s\n", sorted[i]->name, sorted[i]->help);
		free(sorted);
	}
	fprintf(f, "\n`klin help COMMAND' lists the options of COMMAND.\n"
		   "Exit status: 0 linearizable (or done), 1 violation, 2 usage or input,\n"
		   "3 unknown, 4 the system refused.\n\n"
		   "Examples:\n"
		   "  # Make a random history of a queue, and decide it.\n"
		   "  klin gen --type=queue -o queue.klh\n"
		   "  klin check queue.klh\n"
		   "  # Record a structure of the running kernel for ten seconds, and decide.\n"
		   "  klin record -o run.klh --duration 10 port_range\n"
		   "  klin check run.klh\n"
		   "  # Prove a stack without locks.\n"
		   "  klin verify treiber\n");
}

static const struct kl_command *find_command(const char *name)
{
	const struct kl_command *const *c;

	for (c = __start_kl_commands; c < __stop_kl_commands; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static bool is_command(const char *name, size_t len)
{
	const struct kl_command *const *c;

	for (c = __start_kl_commands; c < __stop_kl_commands; c++)
		if (strlen((*c)->name) == len && !strncmp((*c)->name, name, len))
			return true;
	return false;
}

static int no_command(const char *name)
{
	static const char *const others[] = { "help", "--help", "--version" };
	const size_t n = __stop_kl_commands - __start_kl_commands;
	const size_t nothers = sizeof(others) / sizeof(*others);
	const char **names = calloc(n + nothers, sizeof(*names)), *near, *blank;
	size_t i;

	for (i = 0; names && i < n; i++)
		names[i] = __start_kl_commands[i]->name;
	for (i = 0; names && i < nothers; i++)
		names[n + i] = others[i];
	near = names ? kl_nearest(name, names, n + nothers) : NULL;
	blank = strchr(name, ' ');
	if (!near && blank && is_command(name, blank - name))
		kl_err("no command '%s'; did you mean `klin %s', without quotes?  `klin help' "
		       "lists the commands",
		       name, name);
	else if (!near && !strcmp(name, "--"))
		kl_err("expected a command before '--'; `klin help' lists the commands");
	else if (!near && *name == '-' && name[1])
		kl_err("no option '%s' before a command; options follow the command, as in `klin "
		       "check --json'; `klin help' lists the commands",
		       name);
	else if (!near && (!access(name, F_OK) || kl_shipped_text(name)))
		kl_err("no command '%s'; did you mean `klin check %s%s'?  `klin help' lists the "
		       "commands",
		       name, name, kl_shipped_text(name) ? " HISTORY" : "");
	else
		kl_err("no command '%s'%s%s%s `klin help' lists them", name,
		       near ? "; did you mean " : "", near ? near : "", near ? "?" : ";");
	free(names);
	return KLIN_EXIT_USAGE;
}

static int run(const struct kl_command *c, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof(name), "klin %s", c->name);
	argv[0] = name;
	return c->run(argc, argv);
}

/* `klin help' and `klin help COMMAND'; argv[0] is "help". */
static int help(int argc, char **argv)
{
	char option[] = "--help", *args[] = { NULL, option, NULL };
	const struct kl_command *c;

	if (argc == 1) {
		usage(stdout);
		return KLIN_EXIT_OK;
	}
	if (argc > 2) {
		kl_err("help: expected one COMMAND, found also '%s'", argv[2]);
		return KLIN_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return KLIN_EXIT_OK;
	}
	c = find_command(argv[1]);
	if (!c && *argv[1] == '-') {
		kl_err("help: '%s': expected a COMMAND, as in `klin help check'", argv[1]);
		return KLIN_EXIT_USAGE;
	}
	return c ? run(c, 2, args) : no_command(argv[1]);
}

int main(int argc, char **argv)
{
	const struct kl_command *c;

	kl_ending_guard();
	kl_args_look = kl_args_suggest;
	setlocale(LC_CTYPE, "");
	/* glibc's default threshold grows when large blocks are freed; one that is set does not. */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	if (argc < 2) {
		usage(stderr);
		return kl_ending(KLIN_EXIT_USAGE);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return kl_ending(help(argc - 1, argv + 1));
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		if (argc > 2) {
			kl_err("%s: expected no argument, found '%s'", argv[1], argv[2]);
			return kl_ending(KLIN_EXIT_USAGE);
		}
		kl_put_build(stdout, "klin");
		kl_put_features(stdout);
		return kl_ending(KLIN_EXIT_OK);
	}
	c = find_command(argv[1]);
	if (c && argc == 3 && !strcmp(argv[2], "help") && access(argv[2], F_OK)) {
		kl_err("no file 'help'; did you mean `klin help %s'?", argv[1]);
		return kl_ending(KLIN_EXIT_USAGE);
	}
	return kl_ending(c ? run(c, argc - 1, argv + 1) : no_command(argv[1]));
}
