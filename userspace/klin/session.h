/* SPDX-License-Identifier: GPL-2.0 */
/* A history that is checked while it grows, as `check --follow' and `monitor' show it. */
#ifndef KLIN_SESSION_H
#define KLIN_SESSION_H

#include "check/online/online.h"

struct session_style {
	const char *name;	/* of the history */
	bool classical, json, no_diagram;
	enum kl_memory_by memory_by;	/* by the history: @classical is not looked at */
	unsigned int show;	/* counterexamples */
	uint64_t bytes;		/* bound of memory */
	const volatile int *stop;
};

struct session;

/**
 * session_new() - begin
 * @spec: the specification
 * @h: clock, error and first state
 * @style: how it is shown; kept
 *
 * Return: NULL when out of memory.
 */
struct session *session_new(const struct kl_spec *spec, const struct kl_history *h,
			    const struct session_style *style);
void session_free(struct session *s);

/*
 * Hand the operations and gaps of @h on.  0; -EINVAL after a message when they are none
 * of the specification; -ENOMEM.
 */
int session_add(struct session *s, const struct kl_history *h);
/* All that is still to come is called at @floor or later.  0 or -ENOMEM. */
int session_floor(struct session *s, uint64_t floor);
/* The latest time that an operation returned. */
uint64_t session_newest(const struct session *s);
/* Show how far it is, if standard error is a terminal and a second has passed. */
void session_progress(struct session *s);

/**
 * session_end() - print the verdict
 * @s: the session
 * @whole: nothing is missing at the end
 *
 * Return: the exit code.
 */
int session_end(struct session *s, bool whole);

#endif
