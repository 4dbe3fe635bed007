// SPDX-License-Identifier: GPL-2.0
/* How a program ends, see ending.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/err.h"

#define VIOLATION	1

static bool violation;		/* somebody has one in hand */
static int announced = -1;	/* the code that main() returns */

/* Has all of standard output arrived?  Else 4, with a message unless @code says it already. */
static int flushed(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (code != KLIN_EXIT_SYSTEM)
		kl_err("cannot write to standard output");
	return KLIN_EXIT_SYSTEM;
}

static void guard(int status, void *arg)
{
	if (status == announced)
		return;
	/* argp has shown its help, or what is wrong with the command line. */
	if (announced < 0 && (status == KLIN_EXIT_OK || status == KLIN_EXIT_USAGE)) {
		if (flushed(status) != status)
			_exit(KLIN_EXIT_SYSTEM);
		return;
	}
	kl_err("a library has ended the program, with status %d: out of memory, or of threads?",
	       status);
	_exit(KLIN_EXIT_SYSTEM);
}

void kl_ending_guard(void)
{
	/* It fails only without memory; there is some for a few of them from the beginning. */
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
		kl_err("a defect of klin: the status of a violation, and nobody found one");
		code = KLIN_EXIT_SYSTEM;
	}
	announced = flushed(code);
	return announced;
}

int kl_ending_error(int err)
{
	switch (-err) {
	case 0:
		return KLIN_EXIT_OK;
	case ENOMEM:
	case EIO:
	case EMFILE:
	case ENFILE:
	case ENOSPC:
	case EDQUOT:
	case EAGAIN:
	case EACCES:
	case EPERM:
		return KLIN_EXIT_SYSTEM;
	default:
		return KLIN_EXIT_USAGE;
	}
}

int kl_ending_input(int err)
{
	return kl_ending_error(err) == KLIN_EXIT_USAGE ? -EINVAL : err;
}
