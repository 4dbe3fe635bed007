/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers for tests of histories. */
#ifndef HISTORY_UTIL_H
#define HISTORY_UTIL_H

#include <stddef.h>
#include <stdint.h>

#include "history/history.h"
#include "spec/spec.h"

/* Return: the number of random cases, from KLIN_RUNS, or @otherwise. */
unsigned long wanted_runs(unsigned long otherwise);

/* Return: true if KLIN_RUNS asks for few cases, so that fixed cases are reduced, too. */
bool few_wanted(void);

/* Messages since history_log_start(), one a line; collected instead of printed. */
extern char history_log[8192];
void history_log_start(void);
void history_log_stop(void);
/*
 * Check the place in the first message, which is `NAME:LINE:COLUMN: error: 'WORD...': ...'.
 * The line of @text must have WORD at that column; at the end of the line the message names
 * the end of the line instead.  The line must be shown with a caret below.  A message without
 * a quoted word has no column.  Removes the column and the shown line from the log.
 */
void history_log_place(const char *text);

/* Return: the text form in memory; free() it. */
char *history_text(const struct kl_history *h, size_t *len);

/* Check that @a and @b have the same text form. */
void assert_same_history(const struct kl_history *a, const struct kl_history *b);

/*
 * Return: a random history with everything that the forms can hold: gaps, pending operations,
 * ...
 */
struct kl_history *history_random(uint64_t seed);

/* Return: the shipped specification of that name; kl_spec_free() it. */
struct kl_spec *shipped_spec(const char *name);

#endif
