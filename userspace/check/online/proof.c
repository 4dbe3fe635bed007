// SPDX-License-Identifier: GPL-2.0
/* Values that are gone, kept for proofs; see proof.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/online/proof.h"

#define LOOK	16	/* removed values that proof_get() looks at to find one */

static void put(struct kl_online *o, struct proofs *p, uint32_t i)
{
	struct gone *g = &p->g[i];
	unsigned int k;

	if (--g->refs)
		return;
	for (k = 0; k < 4; k++)
		if (g->op[k] != ON_NONE)
			on_op_put(o, g->op[k]);
	g->next = p->free;
	p->free = i + 1;
}

void proofs_free(struct kl_online *o, struct proofs *p)
{
	while (p->nlast)
		put(o, p, p->last[--p->nlast]);
	free(p->g);
	*p = (struct proofs){ 0 };
}

/* Drop the older half of the values. */
static void leave_out(struct kl_online *o, struct proofs *p)
{
	const uint32_t n = PROOF_LAST / 2;
	uint32_t k;

	for (k = 0; k < n; k++) {
		if (p->g[p->last[k]].last_call > p->left_out)
			p->left_out = p->g[p->last[k]].last_call;
		put(o, p, p->last[k]);
	}
	p->nlast -= n;
	memmove(p->last, p->last + n, p->nlast * sizeof(*p->last));
}

static void hold_ops(struct kl_online *o, struct gone *g, const struct use *u)
{
	const uint32_t ops[4] = { u->add, u->remove, u->see, u->last };
	unsigned int k;

	for (k = 0; k < 4; k++) {
		g->op[k] = ops[k];
		if (ops[k] != ON_NONE)
			on_op(o, ops[k])->refs++;
	}
}

int proofs_add(struct kl_online *o, struct proofs *p, struct uses *s, uint32_t i,
	       uint64_t first_ret, uint64_t last_call, bool whole)
{
	const struct use *u = use(s, i);
	struct gone *g;
	uint32_t at;
	int ret;

	while (p->nlast) {
		g = &p->g[p->last[p->nlast - 1]];
		if (g->first_ret < first_ret || g->last_call > last_call)
			break;
		put(o, p, p->last[--p->nlast]);
	}
	if (p->nlast == PROOF_LAST)
		leave_out(o, p);
	at = p->free - 1;
	if (p->free) {
		p->free = p->g[at].next;
	} else {
		ret = kl_grow(p->g, p->cap, p->n + 1);
		if (ret)
			return ret;
		at = p->n++;
	}
	g = &p->g[at];
	*g = (struct gone){
		.first_ret = first_ret, .last_call = last_call, .refs = 1,
		.op = { ON_NONE, ON_NONE, ON_NONE, ON_NONE },
	};
	/* If the word has several uses at once, the operations of each are a guess. */
	if (whole && u->add != ON_NONE && !u->opens && uses_alone(s, i))
		hold_ops(o, g, u);
	p->last[p->nlast++] = at;
	return 0;
}

/*
 * Return: of the last @look kept values, the one that covers the slot @at and reaches furthest; or
 * ON_NONE.
 */
static uint32_t reaching(const struct proofs *p, uint64_t at, uint32_t look)
{
	uint32_t best = ON_NONE, k;

	for (k = p->nlast; k-- && look--; ) {
		const struct gone *g = &p->g[p->last[k]];

		if (g->first_ret <= at && at < g->last_call &&
		    (best == ON_NONE || g->last_call > p->g[best].last_call))
			best = p->last[k];
	}
	return best;
}

uint64_t proofs_free_gap(const struct proofs *p, uint64_t from)
{
	uint32_t i;

	from = from < p->left_out ? p->left_out : from;
	while ((i = reaching(p, from, PROOF_LAST)) != ON_NONE)
		from = p->g[i].last_call;
	return from;
}

static int core(const struct proofs *p, struct uses *s, uint32_t i)
{
	unsigned int k;
	int ret = 0;

	for (k = 0; k < 4 && !ret; k++)
		ret = core_op(s, p->g[i].op[k]);
	return ret;
}

int proofs_core(const struct proofs *p, struct uses *s, uint64_t from, uint64_t to)
{
	uint32_t i;
	int ret = 0;

	while (from < to && !ret && (i = reaching(p, from, PROOF_LAST)) != ON_NONE) {
		ret = core(p, s, i);
		from = p->g[i].last_call;
	}
	return ret;
}

void proof_get(struct proofs *p, struct proof *proof, uint64_t from, uint64_t to)
{
	unsigned int k;
	uint32_t i;

	for (k = 0; k < 2 && from < to && (i = reaching(p, from, LOOK)) != ON_NONE; k++) {
		p->g[i].refs++;
		proof->by[k] = i + 1;
		from = p->g[i].last_call;
	}
}

void proof_put(struct kl_online *o, struct proofs *p, struct proof *proof)
{
	unsigned int k;

	for (k = 0; k < 2; k++)
		if (proof->by[k])
			put(o, p, proof->by[k] - 1);
	*proof = (struct proof){ 0 };
}

int proof_core(const struct proofs *p, struct uses *s, const struct proof *proof)
{
	unsigned int k;
	int ret = 0;

	for (k = 0; k < 2 && !ret; k++)
		if (proof->by[k])
			ret = core(p, s, proof->by[k] - 1);
	return ret;
}
