/* SPDX-License-Identifier: GPL-2.0 */
/* Stories of random violations: the cast of each is a violation by itself. */
#ifndef STORY_CASTS_H
#define STORY_CASTS_H

#include <stdbool.h>
#include <stddef.h>

#include "history/history.h"
#include "story/story.h"

/**
 * struct story_casts - a test of random violations
 * @specs: names of @nspecs shipped specs
 * @reasons: all @nreasons reasons, which the violations must reach
 * @runs: random histories of each spec, unless KLIN_RUNS says otherwise
 * @max_ops: operations of a history at most
 * @tso: with store buffers, and only violations that were decided with them
 * @look: looks at each story, too; or NULL
 */
struct story_casts {
	const char *const *specs, *const *reasons;
	size_t nspecs, nreasons;
	unsigned long runs;
	unsigned int max_ops;
	bool tso;
	void (*look)(const struct kl_history *h, const struct kl_part_result *p,
		     const struct kl_story *s);
};

void story_casts_test(const struct story_casts *t);

#endif
