/* SPDX-License-Identifier: GPL-2.0 */
/* klin check --follow: check a history while it grows. */
#ifndef KLIN_FOLLOW_H
#define KLIN_FOLLOW_H

#include "klin/session.h"

struct follow_args {
	const char *spec;	/* NULL: the specification that the history carries */
	const char *history;
	/* operations come in any order, but at most @lateness after their calls */
	bool late;
	uint64_t lateness;	/* in units of the history's clock */
	struct session_style style;
};

/**
 * follow() - read, check and print until the history ends or style.stop is set
 * @a: the history and the options
 *
 * Return: the exit code.
 */
int follow(const struct follow_args *a);

#endif
