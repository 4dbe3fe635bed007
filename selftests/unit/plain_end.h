/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of the faults of a state of the plain machine, or of the run to it. */
#ifndef SELFTESTS_PLAIN_END_H
#define SELFTESTS_PLAIN_END_H

#include "plain_tso.h"
#include "tso/explore/explore.h"

/*
 * Return: true if the verdict @v holds for the run whose last state is @m.  The check that no
 * run from here ends visits at most PLAIN_STATES states; beyond that, the verdict counts as
 * true.
 */
#define PLAIN_STATES	3000

bool plain_ends(const struct plain *m, const struct kl_explore_options *o,
		enum kl_explore_verdict v, const char *message);

#endif
