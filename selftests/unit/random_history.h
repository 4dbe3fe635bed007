/* SPDX-License-Identifier: GPL-2.0 */
/* Small random histories of any spec, for differential tests. */
#ifndef RANDOM_HISTORY_H
#define RANDOM_HISTORY_H

#include "history/history.h"
#include "spec/spec.h"

struct random_config {
	unsigned int max_ops;		/* at most, below 16 */
	unsigned int threads;
	unsigned int values;		/* arguments are below */
	bool tso;			/* run on a machine with store buffers */
	bool gaps;			/* lose some operations */
	bool overlap;			/* operations of one thread may be at once */
	bool clocks;			/* that differ as far as the history says */
	bool far;			/* times from 0 on, or up to the last one */
	bool unknown;			/* some arguments and calls are not known */
	bool drains;			/* also of operations that store nothing */
};

/**
 * random_history() - run the spec at random, record it, and perhaps falsify it
 * @spec: the specification
 * @c: how
 * @seed: advanced
 * @falsified: whether a result was changed; a history that was not is right
 *
 * Times tie often; some operations are pending, some results unknown; the first
 * state may be some other and declared unknown, and the clock inexact, both of
 * which keep a right history right.
 */
struct kl_history *random_history(const struct kl_spec *spec, const struct random_config *c,
				  uint64_t *seed, bool *falsified);

#endif
