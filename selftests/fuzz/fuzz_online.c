// SPDX-License-Identifier: GPL-2.0
/*
 * The check of a history that grows, as `klin check --follow' makes it.  The input is a
 * specification, a line "%%", and a history in the text form, which arrives in order of its
 * calls.  The verdict must not contradict that on the whole history.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "history/history.h"
#include "selftests/fuzz/fuzz.h"
#include "spec/spec.h"
#include "watch/feed.h"

#define STATES	(16u << 20)	/* bytes for states */

static void on_violation(void *ctx, const struct kl_online_violation *v)
{
	unsigned int *n = ctx;

	*n += !v->suspect;
}

/* Return: 0, or an error if history and specification do not fit. */
static int follow(const struct kl_spec *s, const struct kl_history *h,
		  struct kl_online_stats *stats, unsigned int *nviolations)
{
	const struct feed_opts opts = {
		.classical = h->memory.sc, .show = 1, .histories = true, .bytes = STATES,
		.violation = on_violation, .ctx = nviolations,
	};
	struct feed *f = feed_new(s, h, &opts);
	int ret;

	if (!f)
		fuzz_broken("out of memory");
	ret = feed_add(f, h);
	if (!ret && h->nops)
		ret = feed_floor(f, h->ops[h->nops / 2].call);
	if (!ret)
		ret = feed_floor(f, KL_TIME_MAX);
	if (!ret)
		ret = feed_end(f);
	feed_stats(f, stats);
	feed_free(f);
	return ret;
}

static void check(const struct kl_spec *s, const struct kl_history *h)
{
	const struct kl_options opt = {
		.classical = h->memory.sc, .no_witness = true, .threads = 1, .work = 100000,
	};
	struct kl_online_stats stats;
	unsigned int nviolations = 0;
	struct kl_report *r;

	if (follow(s, h, &stats, &nviolations) || kl_check(s, h, &opt, &r))
		return;
	if (stats.verdict == KL_VIOLATION && r->verdict == KL_LINEARIZABLE)
		fuzz_broken("a violation is found in a linearizable history that grows");
	if (stats.verdict == KL_LINEARIZABLE && r->verdict == KL_VIOLATION)
		fuzz_broken("a violation is missed in a history that grows");
	if (nviolations && r->verdict == KL_LINEARIZABLE)
		fuzz_broken("a violation is reported of a linearizable history that grows");
	kl_report_free(r);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct kl_history *h;
	struct kl_spec *s;

	if (fuzz_spec_and_history(&data, &size, &s, &h))
		check(s, h);
	kl_history_free(h);
	kl_spec_free(s);
}
