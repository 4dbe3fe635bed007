/* SPDX-License-Identifier: GPL-2.0 */
/* A run that the explorer shows, made again by the plain machine out of its text alone. */
#ifndef SELFTESTS_SHOWN_RUN_H
#define SELFTESTS_SHOWN_RUN_H

#include "tso/explore/explore.h"

/**
 * shown_run_check() - is what is shown a run of the model that ends in what was found?
 * @spec: the model
 * @o: how it was explored
 * @v: what was found
 * @x: the explorer, whose run is asked for
 *
 * Return: true if so; else what is wrong has been printed, with the run.
 */
bool shown_run_check(struct kl_spec *spec, const struct kl_explore_options *o,
		     enum kl_explore_verdict v, struct kl_explorer *x);

#endif
