/* SPDX-License-Identifier: GPL-2.0 */
/* The lines of the input that a story is made of. */
#ifndef KL_REPORT_ENTRIES_H
#define KL_REPORT_ENTRIES_H

#include <stdio.h>

#include "check/check.h"
#include "history/history.h"
#include "story/story.h"

/*
 * Print what the file itself says of each operation of the cast, unless it cannot be read again or
 * has klin's own text form.
 * Return: 0 or -ENOMEM.
 */
int kl_print_entries(FILE *f, const struct kl_history *h, const struct kl_story *s);

/*
 * Print values of @h, on which the check reported @r, as the operations' own lines have them; also
 * in counterexamples.  See kl_source_own_words().
 */
void kl_use_own_words(const struct kl_report *r, struct kl_history *h);

#endif
