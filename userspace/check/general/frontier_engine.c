// SPDX-License-Identifier: GPL-2.0
/*
 * The engines `frontier' and `beam', which decide on sequential consistency: the frontier's system
 * is the specification alone, without a machine.
 *
 * `beam' keeps a bounded number of configurations.  It finds orders where many operations overlap
 * and many orders exist.  Once it has given up a configuration, it finds no violation.
 */
#include <stdint.h>
#include <string.h>

#include "check/engines.h"
#include "check/general/spec_stepper.h"

#define WIDTH		4u		/* first width of a beam that is asked alone */
#define MAX_WIDTH	(1u << 20)
#define BEAM_TIMES	4	/* a beam's bound of work, as a multiple of other engines' */
#define WIDTH_LOOKS	(4 * KL_CONFIG_LOOKS)	/* looks for an operation, at a width of 1 */

struct plain {
	struct kl_system sys;
	struct kl_stepper sim;
	struct kl_budget budget;
};

static bool plain_covers(struct kl_system *s, uint32_t a, uint32_t b)
{
	return kl_stepper_covers(&((struct plain *)s)->sim, a, b);
}

static int plain_step(struct kl_system *s, uint32_t state, uint32_t item, const uint32_t **next)
{
	struct plain *pl = (struct plain *)s;
	const int ret = kl_stepper_step(&pl->sim, state, item, next);

	kl_stepper_count(&pl->sim, &pl->budget);
	/* Without notes, see kl_state_covers(), no state covers another. */
	if (pl->sim.noted)
		s->covers = plain_covers;
	return ret;
}

static int plain_nature(struct kl_system *s, uint32_t item)
{
	return kl_stepper_nature(&((struct plain *)s)->sim, item);
}

static int plain_keep(struct kl_system *s, uint32_t *states, size_t n)
{
	kl_supply_forget(s->supply);
	return kl_stepper_keep(&((struct plain *)s)->sim, states, n);
}

static bool plain_full(const struct kl_system *s)
{
	return kl_stepper_full(&((const struct plain *)s)->sim);
}

static bool plain_lost(struct kl_system *s, uint32_t state)
{
	return kl_stepper_lost(&((struct plain *)s)->sim, state);
}

static size_t plain_bytes(const struct kl_system *s)
{
	return kl_stepper_bytes(&((const struct plain *)s)->sim);
}

static int decide(const struct kl_part *p, const struct kl_limits *lim, size_t width,
		  struct kl_answer *a)
{
	struct plain pl = {
		.sys = {
			.step = plain_step, .nature = plain_nature, .bytes = plain_bytes,
			.keep = plain_keep, .full = plain_full, .lost = plain_lost, .opsigs = true,
			.width = width,
		},
		.budget = { .lim = lim },
	};
	int ret;

	ret = kl_stepper_init(&pl.sim, p, &pl.budget, pl.budget.reason);
	if (ret)
		return ret;
	pl.sys.first = pl.sim.first;
	pl.sys.memo = &pl.sim.memo;
	ret = width ? kl_supply_new(&pl.sim, &pl.sys.supply) : 0;
	if (!ret)
		ret = kl_frontier_run(p, &pl.sys, &pl.budget, a);
	kl_supply_free(pl.sys.supply);
	kl_stepper_free(&pl.sim);
	return ret;
}

static int frontier_decide(const struct kl_part *p, const struct kl_limits *lim,
			   struct kl_answer *a)
{
	a->engine = "frontier";
	return decide(p, lim, 0, a);
}

/*
 * With a bound of work, so in turns with other engines, make one pass with the width that the bound
 * allows.  Without a bound, make passes with ever greater widths.
 */
static int beam_decide(const struct kl_part *p, const struct kl_limits *lim,
		       struct kl_answer *a)
{
	struct kl_limits own = *lim;
	size_t width = lim->work ? lim->each / WIDTH_LOOKS : WIDTH;
	uint64_t all = 0;
	int ret;

	/* The width bounds the work, too, so most runs end far below this bound. */
	own.work *= BEAM_TIMES;
	own.each *= BEAM_TIMES;
	do {
		kl_answer_free(a);
		memset(a, 0, sizeof(*a));
		a->engine = "beam";
		ret = decide(p, &own, width, a);
		width *= 4;
		all += a->work;
		own.cap -= a->work < own.cap ? a->work : own.cap;
	} while (!ret && !lim->work && a->verdict == KL_UNKNOWN && kl_wants_work(a) &&
		 width <= MAX_WIDTH && (own.cap || !lim->cap));
	a->work = all;
	return ret;
}

const struct kl_engine kl_frontier_engine = {
	.name = "frontier",
	.help = "any spec: all configurations, event by event",
	.rank = 50,
	.general = true, .near = true,
	.decide = frontier_decide,
};
KL_ENGINE(kl_frontier_engine);
const struct kl_engine kl_beam_engine = {
	.name = "beam",
	.help = "very many threads: keeps few configurations; finds orders only",
	.rank = 80,
	.decide = beam_decide,
};
KL_ENGINE(kl_beam_engine);
