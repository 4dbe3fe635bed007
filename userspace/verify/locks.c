// SPDX-License-Identifier: GPL-2.0
/*
 * Locks: their holders, and whether all operations take locks in one order, so that no threads can
 * wait for each other in a ring.  The locks of nodes are ordered by keys.  Only operations on the
 * observed key are checked, which stands for any key.
 */
#include "verify/model.h"

#define NODES		62	/* the number that stands for all locks in nodes */

uint64_t kl_vf_held(const struct kl_verifier *x, const struct kl_vf_run *r, unsigned int node)
{
	uint64_t set = 0;
	unsigned int i;

	for (i = 0; i < x->m.nslots; i++)
		if (r->s.g[i] == VF_OWN + r->t)
			set |= 1ULL << i;
	if (node && kf_lock(r->s.kind[node]) == VF_OWN + r->t)
		set |= KL_VF_SELF_LOCK;
	return set;
}

/* Return: true if the key of node @a is certainly less than the key of node @b. */
static bool before(const struct kl_verifier *x, const struct kl_vf_state *s, unsigned int a,
		   unsigned int b)
{
	const uint64_t listed = KF_IN | KF_ORD;

	if (!x->m.keyed)
		return false;
	if (kl_vf_key_less(x, kl_vf_key_of(x, s->kind[a]), kl_vf_key_of(x, s->kind[b]), false) == 1)
		return true;
	return s->kind[a] & listed && s->succ[a] == kl_vf_bit(b);
}

/*
 * Note that the thread wants the lock of @node, or the lock in @slot if @node is 0.  The lock
 * need not be free.
 */
static void note_order(struct kl_verifier *x, const struct kl_vf_run *r, unsigned int node,
		       unsigned int slot)
{
	const struct kl_vf_state *s = &r->s;
	uint64_t has = kl_vf_held(x, r, 0);
	unsigned int i;

	if (x->deaf || x->concrete)
		return;
	for (i = 1; i < s->nn; i++) {
		if (kf_lock(s->kind[i]) != VF_OWN + r->t)
			continue;
		if (!node)
			has |= 1ULL << NODES;
		else if (kl_vf_tracked(x, &s->th[r->t]) && !before(x, s, i, node))
			x->unordered = true;
	}
	for (; has; has &= has - 1)
		x->then[__builtin_ctzll(has)] |= 1ULL << (node ? NODES : slot);
}

bool kl_vf_ordered_locks(const struct kl_verifier *x)
{
	uint64_t after[NODES + 1];
	unsigned int i, k;

	if (x->unordered || x->waits)
		return false;
	memcpy(after, x->then, sizeof(after));
	for (k = 0; k <= NODES; k++)
		for (i = 0; i <= NODES; i++)
			if (after[i] >> k & 1)
				after[i] |= after[k];
	for (i = 0; i <= NODES; i++)
		if (after[i] >> i & 1)
			return false;
	return true;
}

/* Run an instruction that takes or releases a lock. */
enum kl_vf_end kl_vf_lock(struct kl_verifier *x, struct kl_vf_run *r, uint32_t insn)
{
	struct kl_vf_state *s = &r->s;
	const unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff;
	const uint8_t own = VF_OWN + r->t;
	const bool take = (insn & 0xff) == KL_I_LOCK;
	uint8_t p = 0, v;

	if (a) {
		p = s->th[r->t].reg[b];
		if (!kl_vf_is_ptr(p))
			return kl_vf_not_a_node(x, r, p);
		v = kf_lock(s->kind[p]);
	} else {
		v = s->g[b];
	}
	if (!take && v != own)
		return kl_vf_alarm(x, r, "the thread releases a lock that it does not hold");
	if (take && v == own)
		return kl_vf_alarm(x, r, "the thread takes a lock that it already holds");
	if (take)
		note_order(x, r, p, b);
	if (take && v)
		return VF_NONE;
	if (a)
		s->kind[p] = kf_set_lock(s->kind[p], take ? own : VF_NULL);
	else
		s->g[b] = take ? own : VF_NULL;
	r->wrote |= x->others;
	return VF_STEPPED;
}
