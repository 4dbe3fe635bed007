// SPDX-License-Identifier: GPL-2.0
/* The exit status of a program, see ending.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/err.h"

#define VIOLATION	1

static bool violation;		/* a violation was reported through kl_ending_violation() */
static int announced = -1;	/* the exit code that main() returns, -1 if not known yet */

/*
 * Flush standard output, and report lost output unless @code is KLIN_EXIT_SYSTEM already.
 * Return: @code, or KLIN_EXIT_SYSTEM if output was lost.
 */
static int flushed(int code)
{
	/* After an earlier write failed, the reason is no longer known. */
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (code != KLIN_EXIT_SYSTEM)
		kl_err("cannot write to standard output%s%s", errno ? ": " : "",
		       errno ? strerror(errno) : "");
	return KLIN_EXIT_SYSTEM;
}

static void guard(int status, void *arg)
{
	if (status == announced)
		return;
	/* argp has printed its help or a usage error. */
	if (announced < 0 && (status == KLIN_EXIT_OK || status == KLIN_EXIT_USAGE)) {
		if (flushed(status) != status)
			_exit(KLIN_EXIT_SYSTEM);
		return;
	}
	kl_err("a library ended the program with status %d; memory or threads may be exhausted",
	       status);
	_exit(KLIN_EXIT_SYSTEM);
}

void kl_ending_guard(void)
{
	/*
	 * on_exit() fails only without memory, and glibc reserves memory for the first functions
	 * that are registered.
	 */
	if (on_exit(guard, NULL)) {
		kl_err("out of memory");
		_exit(KLIN_EXIT_SYSTEM);
	}
}

int kl_ending_violation(void)
{
	violation = true;
	return VIOLATION;
}

int kl_ending(int code)
{
	if (code == VIOLATION && !violation) {
		kl_err("a defect of klin: exit status of a violation, but no engine reported one");
		code = KLIN_EXIT_SYSTEM;
	}
	announced = flushed(code);
	return announced;
}
