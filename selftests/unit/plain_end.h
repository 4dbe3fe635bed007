/* SPDX-License-Identifier: GPL-2.0 */
/* The faults of a state of the plain machine, or of the run to it. */
#ifndef SELFTESTS_PLAIN_END_H
#define SELFTESTS_PLAIN_END_H

#include "plain_tso.h"
#include "tso/explore/explore.h"

/*
 * Is what was found true of the run whose last state is @m?  That no run from here comes to
 * an end is followed through PLAIN_STATES states; more than that count as true.
 */
#define PLAIN_STATES	3000

bool plain_ends(const struct plain *m, const struct kl_explore_options *o,
		enum kl_explore_verdict v, const char *message);

#endif
