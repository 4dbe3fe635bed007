/* SPDX-License-Identifier: GPL-2.0 */
/* Replays a run that the explorer shows on the plain machine, from the text alone. */
#ifndef SELFTESTS_SHOWN_RUN_H
#define SELFTESTS_SHOWN_RUN_H

#include "tso/explore/explore.h"

/**
 * shown_run_check() - check that the shown run exists in the model and ends in the fault
 * @spec: the model
 * @o: options of the exploration
 * @v: the verdict
 * @x: the explorer, which shows the run
 *
 * Return: true if the run is right; otherwise false, after printing the mistake and the run.
 */
bool shown_run_check(struct kl_spec *spec, const struct kl_explore_options *o,
		     enum kl_explore_verdict v, struct kl_explorer *x);

#endif
