// SPDX-License-Identifier: GPL-2.0
/* The last values that left a priority queue; see removed_values.h. */
#include <errno.h>
#include <stdlib.h>

#include "check/online/removed_values.h"

#define KEPT	128

static void put(struct kl_online *o, struct left_value *v)
{
	unsigned int k;

	for (k = 0; k < 4; k++)
		if (v->op[k] != ON_NONE)
			on_op_put(o, v->op[k]);
}

int left_add(struct kl_online *o, struct left *l, const struct uses *s, uint32_t i)
{
	const struct use *u = &s->u[i];
	const uint32_t ops[4] = { u->add, u->remove, u->see, u->last };
	struct left_value *v;
	unsigned int k;

	if (!l->v)
		l->v = malloc(KEPT * sizeof(*l->v));
	if (!l->v)
		return -ENOMEM;
	v = &l->v[l->at];
	if (l->n == KEPT)
		put(o, v);
	else
		l->n++;
	l->at = (l->at + 1) % KEPT;
	*v = (struct left_value){
		.word = u->word, .first_ret = u->first_ret, .last_call = u->last_call,
	};
	for (k = 0; k < 4; k++) {
		v->op[k] = k > 1 && (ops[k] == ops[0] || ops[k] == ops[1]) ? ON_NONE : ops[k];
		if (v->op[k] != ON_NONE)
			on_op(o, v->op[k])->refs++;
	}
	return 0;
}

void left_free(struct kl_online *o, struct left *l)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		put(o, &l->v[i]);
	free(l->v);
}

const struct left_value *left_find(const struct left *l, uint64_t word, bool max, uint64_t at)
{
	const struct left_value *best = NULL;
	uint32_t i;

	for (i = 0; i < l->n; i++) {
		const struct left_value *v = &l->v[i];

		if ((max ? v->word > word : v->word < word) && v->first_ret <= at &&
		    at < v->last_call && (!best || v->first_ret < best->first_ret))
			best = v;
	}
	return best;
}
