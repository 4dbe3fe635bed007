/* SPDX-License-Identifier: GPL-2.0 */
/* klin check --follow: decide a history while it grows. */
#ifndef KLIN_FOLLOW_H
#define KLIN_FOLLOW_H

#include "klin/session.h"

struct follow_args {
	const char *spec;	/* or NULL: the one that the history carries */
	const char *history;
	bool late;		/* operations come in any order, at most @lateness after their call */
	uint64_t lateness;
	struct session_style style;
};

/**
 * follow() - read, check and print until the history ends or style.stop is set
 * @a: what and how
 *
 * Return: the exit code.
 */
int follow(const struct follow_args *a);

#endif
