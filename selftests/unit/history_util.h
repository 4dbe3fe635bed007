/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of histories share. */
#ifndef HISTORY_UTIL_H
#define HISTORY_UTIL_H

#include <stddef.h>
#include <stdint.h>

#include "history/history.h"
#include "spec/spec.h"

/* How many random cases: KLIN_RUNS, or @otherwise. */
unsigned long wanted_runs(unsigned long otherwise);

/* Are so few wanted, as with sanitizers, that what does not depend on that is cut, too? */
bool few_wanted(void);

/* Messages since history_log_start(), a line each; kept instead of printed. */
extern char history_log[8192];
void history_log_start(void);
void history_log_stop(void);
/*
 * The first message is `NAME:LINE:COLUMN: error: 'WORD...': ...', or says the end of the line in
 * the place of a word; the line of @text has it in that column, and is shown with a caret below.
 * A message that quotes no word has no column.  Leaves column and line out of the log.
 */
void history_log_place(const char *text);

/* The text form in memory; free() it. */
char *history_text(const struct kl_history *h, size_t *len);

/* Both have the same text. */
void assert_same_history(const struct kl_history *a, const struct kl_history *b);

/* A random history with all that the forms can hold: gaps, pending, points, big numbers... */
struct kl_history *history_random(uint64_t seed);

/* The shipped specification of that name; kl_spec_free() it. */
struct kl_spec *shipped_spec(const char *name);

#endif
