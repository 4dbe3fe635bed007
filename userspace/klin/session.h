/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A history that is checked while it grows.  The session prints violations when they occur, and
 * the verdict at the end.  `klin check --follow' and `klin monitor' use it.
 */
#ifndef KLIN_SESSION_H
#define KLIN_SESSION_H

#include <stdio.h>

#include "check/online/online.h"
#include "report/diagram.h"
#include "report/output.h"

struct session_style {
	const char *name;	/* name of the history */
	/* @classical: check by sequential consistency; unused with KL_MEMORY_BY_HISTORY */
	bool classical, no_diagram;
	enum kl_output output;
	enum kl_memory_by memory_by;	/* source of the memory model */
	bool full;		/* print the whole story, and the counterexample */
	enum kl_diagram_auto colour;
	unsigned int show;	/* number of counterexamples that are shown */
	uint64_t bytes;		/* bound of the memory for states */
	const volatile int *stop;	/* becomes nonzero to end the check */
	const char *certificate;	/* gets the first violation's proof (certify.h), or NULL */
	FILE *out;		/* gets violations as text; NULL: standard output */
};

struct session;

/**
 * session_new() - begin a session
 * @spec: the specification
 * @h: a history with the clock, its error, and the first state
 * @style: options; copied, but the texts must stay valid
 *
 * Return: the session, or NULL when out of memory.
 */
struct session *session_new(const struct kl_spec *spec, const struct kl_history *h,
			    const struct session_style *style);
void session_free(struct session *s);

/*
 * Check the operations and gaps of @h.  Return: 0; -EINVAL after a message if an operation does
 * not fit the specification; -ENOMEM.
 */
int session_add(struct session *s, const struct kl_history *h);
/*
 * Forget the names of values until the next session_add(), so that the history can get more of them
 * without a copy of all.
 */
void session_release(struct session *s);
/* Note that all later operations have calls at @floor or later.  Return: 0 or -ENOMEM. */
int session_floor(struct session *s, uint64_t floor);
/* Forget objects that no later operation has.  Return: 0 or -ENOMEM. */
int session_over(struct session *s, const uint64_t *objects, size_t n);
/* Get the counts so far. */
void session_stats(const struct session *s, struct kl_online_stats *st);
/* Return: the latest time at which an operation returned. */
uint64_t session_newest(const struct session *s);
/* Show the progress at most once a second, if standard error is a terminal. */
void session_progress(struct session *s);
/* Remove the progress, so that a message can follow. */
void session_clear_line(struct session *s);

/**
 * session_end() - print the verdict
 * @s: the session
 * @whole: the history has ended, and no operation is missing at its end
 *
 * Return: the exit code.
 */
int session_end(struct session *s, bool whole);

#endif
