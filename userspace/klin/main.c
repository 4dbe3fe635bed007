// SPDX-License-Identifier: GPL-2.0
/* The program klin: runs the sub-command that its first argument names. */
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "klin/cmd.h"
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
	fprintf(f, "\n`klin COMMAND --help' lists the options of COMMAND.\n"
		   "Exit status: 0 linearizable (or done), 1 violation, 2 usage or input,\n"
		   "3 unknown, 4 the system refused.\n\n"
		   "Examples:\n"
		   "  # Make a random history of a queue, and decide it.\n"
		   "  klin gen --type=queue -o queue.klh\n"
		   "  klin check queue.klh\n"
		   "  # Record a structure of the running kernel for ten seconds, and decide.\n"
		   "  klin record -o run.klh --duration 10 specs/port_range.lin\n"
		   "  klin check run.klh\n"
		   "  # Prove a stack without locks.\n"
		   "  klin verify specs/explore/treiber.lin\n");
}

int main(int argc, char **argv)
{
	size_t n = __stop_kl_commands - __start_kl_commands, i;
	char name[64];

	kl_ending_guard();
	setlocale(LC_CTYPE, "");
	/* glibc's default threshold grows when large blocks are freed; one that is set does not. */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	if (argc < 2) {
		usage(stderr);
		return kl_ending(KLIN_EXIT_USAGE);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return kl_ending(KLIN_EXIT_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		kl_put_build(stdout, "klin");
		return kl_ending(KLIN_EXIT_OK);
	}
	for (i = 0; i < n; i++) {
		const struct kl_command *c = __start_kl_commands[i];

		if (strcmp(c->name, argv[1]))
			continue;
		snprintf(name, sizeof(name), "klin %s", c->name);
		argv[1] = name;
		return kl_ending(c->run(argc - 1, argv + 1));
	}
	kl_err("no command '%s'; `klin --help' lists them", argv[1]);
	return kl_ending(KLIN_EXIT_USAGE);
}
