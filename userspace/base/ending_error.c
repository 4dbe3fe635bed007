// SPDX-License-Identifier: GPL-2.0
/*
 * The exit status of an error, see ending.h.  libklin has this file and not ending.c,
 * which ends programs.
 */
#include <errno.h>

#include "base/ending.h"

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
