// SPDX-License-Identifier: GPL-2.0
/* A monitor's core is reported only if a general engine finds no order of it, too. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/engines.h"
#include "check/loglinear/loglinear.h"

#define CORE_WORK	(100000 * KL_CONFIG_LOOKS)	/* bound of looks for a core, */
#define CORE_EACH	(100 * KL_CONFIG_LOOKS)	/* and more for each operation that was placed */

void ll_decline(struct kl_answer *a, const char *why)
{
	a->verdict = KL_UNKNOWN;
	snprintf(a->reason, sizeof(a->reason), "log-linear: %s", why);
}

int ll_ask_general(const struct kl_slice *s, const struct kl_limits *limits,
		   const struct kl_answer *core, struct kl_answer *a)
{
	struct kl_limits lim = *limits;
	struct kl_part part = { 0 };
	int ret = kl_part_build(s->spec, s->h, s->methods, core->core, core->ncore, s->object,
				false, &part);

	lim.no_witness = true;
	lim.progress = NULL;
	if (!ret)
		ret = kl_frontier_engine.decide(&part, &lim, a);
	kl_part_free(&part);
	return ret == -EOVERFLOW ? 0 : ret;
}

int ll_confirm(const struct kl_slice *s, const struct kl_limits *limits, struct kl_answer *a)
{
	struct kl_answer general = { .verdict = KL_UNKNOWN };
	struct kl_limits lim = *limits;
	int ret;

	lim.work = CORE_WORK;
	lim.each = CORE_EACH;
	ret = ll_ask_general(s, &lim, a, &general);
	if (!ret && general.verdict == KL_VIOLATION) {
		a->verdict = KL_VIOLATION;
		a->fail_event = general.fail_event;
	} else {
		free(a->core);
		a->core = NULL;
		a->ncore = 0;
		ll_decline(a, general.verdict == KL_LINEARIZABLE ?
			"values repeat: cannot match removals to additions" :
			"cannot confirm a violation: too many operations take part in it");
	}
	kl_answer_free(&general);
	return ret;
}
