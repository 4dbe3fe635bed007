/* SPDX-License-Identifier: GPL-2.0 */
/* Small random histories of any spec, for differential tests. */
#ifndef RANDOM_HISTORY_H
#define RANDOM_HISTORY_H

#include "history/history.h"
#include "spec/spec.h"

struct random_config {
	unsigned int max_ops;		/* upper bound, below 16 */
	unsigned int threads;
	unsigned int values;		/* arguments are below this number */
	bool tso;			/* run on a machine with store buffers */
	bool gaps;			/* lose some operations */
	bool overlap;			/* operations of one thread may overlap */
	bool clocks;			/* clocks differ, within the error of the history */
	bool far;			/* times start at 0, or end at the maximum */
	bool unknown;			/* some arguments and call times are unknown */
	bool drains;			/* give drain times to operations without stores, too */
};

/**
 * random_history() - run the spec at random, record it, and perhaps falsify it
 * @spec: the specification
 * @c: the configuration
 * @seed: state of the generator, updated
 * @falsified: receives true if a result may have been changed, false if the history is
 *	correct
 *
 * Times often tie, some operations are pending, and some results are unknown.  The first state
 * may be unknown, and the clock inexact; a correct history stays correct with both.
 */
struct kl_history *random_history(const struct kl_spec *spec, const struct random_config *c,
				  uint64_t *seed, bool *falsified);

#endif
