// SPDX-License-Identifier: GPL-2.0
/*
 * The compiler of implementations: reads of local variables without a value.  At each place of a
 * method there are two sets: variables without a value on all paths to the place, and on some
 * paths.
 */
#include <string.h>

#include "spec/impl/impl_gen.h"

/* Join two paths to one place: @u becomes the sets of both paths together. */
void kl_ig_meet(struct kl_iunset *u, const struct kl_iunset *other)
{
	if (other->dead)
		return;
	if (u->dead) {
		*u = *other;
		return;
	}
	u->always &= other->always;
	u->some |= other->some;
}

void kl_ig_has_value(struct kl_igen *g, unsigned int local)
{
	g->unset.always &= ~(1ULL << local);
	g->unset.some &= ~(1ULL << local);
}

void kl_ig_no_value(struct kl_igen *g, unsigned int local)
{
	g->unset.always |= 1ULL << local;
	g->unset.some |= 1ULL << local;
}

void kl_ig_read(struct kl_igen *g, unsigned int local, struct kl_pos pos)
{
	const uint64_t bit = 1ULL << local;
	const struct kl_ilocal *l = &g->local[local];

	if (g->unset.dead || !(g->unset.some & bit))
		return;
	if (g->unset.always & bit)
		kl_ig_err(g, pos, "'%s' has no value here: line %u declares it, and nothing sets "
				  "it", l->name, l->pos.line);
	else
		kl_diag_warn(g->g.d, pos, "'%s' may have no value here: not every path from line "
					  "%u sets it", l->name, l->pos.line);
	/* One message for a variable is enough. */
	kl_ig_has_value(g, local);
}

static uint64_t named(const struct kl_igen *g, const char *name)
{
	unsigned int i;

	for (i = 0; i < g->nlocals; i++)
		if (!strcmp(g->local[i].name, name))
			return 1ULL << i;
	return 0;
}

uint64_t kl_ig_sets(const struct kl_igen *g, const struct kl_stmt *s)
{
	uint64_t mask = 0;
	unsigned int i;

	for (; s; s = s->next) {
		if (s->kind == KL_S_ASSIGN && s->lhs->kind == KL_A_NAME)
			mask |= named(g, s->lhs->name);
		if (s->kind == KL_S_CHOOSE)
			mask |= named(g, s->name);
		for (i = 0; i < s->nout; i++)
			if (s->out[i]->kind == KL_A_NAME)
				mask |= named(g, s->out[i]->name);
		mask |= kl_ig_sets(g, s->body) | kl_ig_sets(g, s->other);
	}
	return mask;
}
