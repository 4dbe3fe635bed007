// SPDX-License-Identifier: GPL-2.0
/* Multisets: the steps by which configurations of a key came about, for an order. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/loglinear/multiset/multiset.h"

#define TIDY	256	/* minimal number of steps before unneeded ones are dropped */

int multiset_step(struct set_part *s, struct multiset_sim *sim, struct multiset_config *c,
		  uint32_t item, uint32_t place)
{
	if (!s->t->order)
		return 0;
	if (sim->nstep >= LL_NONE)
		return -EAGAIN;
	if (kl_grow(sim->step, sim->cstep, sim->nstep + 1))
		return -ENOMEM;
	sim->step[sim->nstep] = (struct multiset_step){ c->head, item, place };
	c->head = sim->nstep++;
	return 0;
}

int multiset_tell(struct set_part *s, struct multiset_sim *sim)
{
	const uint32_t last = sim->list.c[0].head;
	size_t n = 0, i;
	uint32_t k;

	for (k = last; k != LL_NONE; k = sim->step[k].before)
		n++;
	if (kl_grow(s->late, s->clate, s->nlate + n))
		return -ENOMEM;
	s->nlate += n;
	for (k = last, i = s->nlate; k != LL_NONE; k = sim->step[k].before)
		s->late[--i] = (struct set_late){
			.item = sim->step[k].item, .group = sim->first, .place = sim->step[k].place,
		};
	for (i = 0; i < sim->list.n; i++)
		sim->list.c[i].head = LL_NONE;
	sim->nstep = 0;
	sim->most_steps = TIDY;
	return 0;
}

/* Move needed steps to the front.  A step's predecessors have lower numbers. */
static int forget_steps(struct multiset_sim *sim)
{
	uint32_t *to = malloc((sim->nstep + 1) * sizeof(*to));
	size_t i, n = 0;

	if (!to)
		return -ENOMEM;
	for (i = 0; i < sim->nstep; i++)
		to[i] = LL_NONE;
	for (i = 0; i < sim->list.n; i++)
		if (sim->list.c[i].head != LL_NONE)
			to[sim->list.c[i].head] = 0;
	for (i = sim->nstep; i--; )
		if (to[i] != LL_NONE && sim->step[i].before != LL_NONE)
			to[sim->step[i].before] = 0;
	for (i = 0; i < sim->nstep; i++) {
		struct multiset_step step = sim->step[i];

		if (to[i] == LL_NONE)
			continue;
		to[i] = n;
		if (step.before != LL_NONE)
			step.before = to[step.before];
		sim->step[n++] = step;
	}
	for (i = 0; i < sim->list.n; i++)
		if (sim->list.c[i].head != LL_NONE)
			sim->list.c[i].head = to[sim->list.c[i].head];
	sim->nstep = n;
	free(to);
	return 0;
}

int multiset_tidy(struct set_part *s, struct multiset_sim *sim)
{
	int ret;

	if (sim->nstep < sim->most_steps)
		return 0;
	s->work += sim->nstep;
	if (sim->list.n == 1)
		return multiset_tell(s, sim);
	ret = forget_steps(sim);
	sim->most_steps = 2 * sim->nstep + TIDY;
	return ret;
}
