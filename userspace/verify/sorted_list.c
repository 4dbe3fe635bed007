// SPDX-License-Identifier: GPL-2.0
/*
 * A set in a sorted list.  A set is the product of one object for each key, so it is enough to
 * verify an arbitrary key, the observed one.  All other keys are only known to be less or greater
 * (locality; the code only compares keys).
 *
 * KF_IN marks the nodes on the list from the root.  Each write to the next pointer of such a node
 * must insert a node that fits, or remove the next one.  So there is an invariant, which the
 * rules for successors use: the nodes on the list are one chain from the first sentinel (the key
 * 0) to the last (all ones), in the order of their classes, with the observed key at most once.
 */
#include "verify/model.h"

static unsigned int key_class(const struct kl_verifier *x, uint8_t v)
{
	struct kl_val c;

	if (v >= VF_KEY && v <= VF_KEY + KEY_MAX)
		return v - VF_KEY;
	if (v > VF_RANK && v < VF_OWN)
		return v - VF_RANK < RANK_SAME ? KEY_LESS :
		       v - VF_RANK > RANK_SAME ? KEY_MORE :
		       KEY_SAME;
	if (kl_vf_const_of(&x->m, v, &c) && !c.tag && !c.v)
		return KEY_MIN;
	if (kl_vf_const_of(&x->m, v, &c) && !c.tag && c.v == UINT64_MAX)
		return KEY_MAX;
	return KEY_MAX + 1;
}

unsigned int kl_vf_class(const struct kl_verifier *x, uint8_t v)
{
	return key_class(x, v);
}

/* Return: a number that orders keys by class, and in concrete mode also by rank. */
static unsigned int order(const struct kl_verifier *x, uint8_t v)
{
	static const unsigned int of[] = {
		[KEY_MIN] = 0, [KEY_LESS] = 10, [KEY_SAME] = 20, [KEY_MORE] = 30, [KEY_MAX] = 40,
	};

	return of[key_class(x, v)] + (v > VF_RANK && v < VF_OWN ? v - VF_RANK : 0);
}

int kl_vf_key_equal(const struct kl_verifier *x, uint8_t a, uint8_t b)
{
	const unsigned int c = key_class(x, a), d = key_class(x, b);

	if (c > KEY_MAX || d > KEY_MAX)
		return 2;
	if (c != d)
		return 0;
	if (c == KEY_SAME || c >= KEY_MIN)
		return 1;
	return x->concrete ? a == b : 2;
}

int kl_vf_key_less(const struct kl_verifier *x, uint8_t a, uint8_t b, bool or_equal)
{
	const int equal = kl_vf_key_equal(x, a, b);

	if (key_class(x, a) > KEY_MAX || key_class(x, b) > KEY_MAX)
		return 2;
	if (equal)
		return equal == 2 ? 2 : or_equal;
	return order(x, a) < order(x, b);
}

uint8_t kl_vf_key_of(const struct kl_verifier *x, uint64_t kind)
{
	unsigned int i;

	for (i = 0; i < KL_FIELDS_MAX; i++)
		if (x->m.key_field[i])
			return kf_field(kind, x->m.field[i]);
	return VF_TOP;
}

uint64_t kl_vf_node_key(const struct kl_verifier *x, uint64_t kind)
{
	return key_class(x, kl_vf_key_of(x, kind));
}

static bool named_in(const struct kl_vf_state *s, unsigned int i)
{
	return (s->kind[i] & KF_IN) && !(s->kind[i] & KF_SUM);
}

static bool before_same(unsigned int c)
{
	return c == KEY_MIN || c == KEY_LESS;
}

/*
 * Return: the possible successors in @set of node @i, whose key has class @c.  The node was on the
 * list, and its next pointer has not changed since.
 */
static uint32_t later(const struct kl_verifier *x, const struct kl_vf_state *s, unsigned int i,
		      unsigned int c, uint32_t set)
{
	unsigned int d, v;
	uint32_t out = 0;

	if (!(s->kind[i] & KF_SUM))
		set &= ~kl_vf_bit(i);
	for (set &= ~1u; set; set &= set - 1) {
		v = __builtin_ctz(set);
		d = kl_vf_node_key(x, s->kind[v]);
		/* The successor was on the list when node @i was. */
		if ((s->kind[v] & KF_WAS) && d != KEY_MIN &&
		    !(s->kind[i] & KF_SEEN_ALL & ~s->kind[v]) &&
		    (before_same(c) || (!before_same(d) && d != KEY_SAME)))
			out |= kl_vf_bit(v);
	}
	return out;
}

uint32_t kl_vf_chain_coerce(const struct kl_verifier *x, const struct kl_vf_state *s,
			    unsigned int i, uint32_t set)
{
	unsigned int c, d, k, v;
	uint32_t taken = 0, out = 0;
	bool same = false, last = false;

	if (x->concrete || x->init)
		return set;
	c = kl_vf_node_key(x, s->kind[i]);
	if (!(s->kind[i] & KF_IN))
		return s->kind[i] & KF_ORD ? later(x, s, i, c, set) : set;
	if (c == KEY_MAX)
		return set & 1;
	for (k = 1; k < s->nn; k++) {
		if (!named_in(s, k))
			continue;
		d = kl_vf_node_key(x, s->kind[k]);
		same |= d == KEY_SAME;
		if (k == i || !kl_vf_single(s->succ[k]) || s->kind[i] & KF_SUM)
			continue;
		v = __builtin_ctz(s->succ[k]);
		if (!v || (s->kind[v] & KF_SUM))
			continue;
		/* Node @v has a predecessor, so @i does not point to it. */
		taken |= kl_vf_bit(v);
		/* The last node before the place of the observed key is known. */
		last |= before_same(d) && !before_same(kl_vf_node_key(x, s->kind[v]));
	}
	/* A summary has the successors of all its nodes. */
	if (!(s->kind[i] & KF_SUM))
		set &= ~kl_vf_bit(i);
	for (set &= ~1u & ~taken; set; set &= set - 1) {
		v = __builtin_ctz(set);
		d = kl_vf_node_key(x, s->kind[v]);
		if (!(s->kind[v] & KF_IN) || d == KEY_MIN)
			continue;
		if (before_same(c) ? (!before_same(d) && last) ||
		    (same && (d == KEY_MORE || d == KEY_MAX)) : before_same(d) || d == KEY_SAME)
			continue;
		out |= kl_vf_bit(v);
	}
	return out;
}

void kl_vf_chain_filter(const struct kl_verifier *x, struct kl_vf_state *s)
{
	unsigned int i;
	uint32_t set;

	for (i = 1; i < s->nn; i++) {
		set = kl_vf_chain_coerce(x, s, i, s->succ[i]);
		if (set)
			s->succ[i] = set;
	}
}

bool kl_vf_chain_possible(const struct kl_verifier *x, const struct kl_vf_state *s)
{
	unsigned int i;

	for (i = 1; i < s->nn; i++)
		if (named_in(s, i) && s->succ[i] && !kl_vf_chain_coerce(x, s, i, s->succ[i]))
			return false;
	return true;
}

static bool ascending(const struct kl_verifier *x, const struct kl_vf_state *s, unsigned int a,
		      unsigned int b)
{
	const unsigned int c = kl_vf_node_key(x, s->kind[a]), d = kl_vf_node_key(x, s->kind[b]);

	if (c > KEY_MAX || d > KEY_MAX || c == KEY_MAX || d == KEY_MIN)
		return false;
	if (c == d)
		return (c == KEY_LESS || c == KEY_MORE) &&
		       (!x->concrete || kl_vf_key_of(x, s->kind[a]) < kl_vf_key_of(x, s->kind[b]));
	return order(x, kl_vf_key_of(x, s->kind[a])) < order(x, kl_vf_key_of(x, s->kind[b]));
}

/* Return: the threads that note which nodes were on the list since they read its head. */
static uint64_t keepers(const struct kl_verifier *x, const struct kl_vf_state *s)
{
	const unsigned int head = kl_vf_names(s->g[x->m.root]);

	return s->kind[head] & KF_SEEN_ALL;
}

const char *kl_vf_chain_write(const struct kl_verifier *x, struct kl_vf_state *s, unsigned int i,
			      unsigned int to)
{
	unsigned int c;

	if (!(s->kind[i] & KF_IN)) {
		s->kind[i] &= ~(uint64_t)KF_ORD;
		return NULL;
	}
	c = __builtin_ctz(s->succ[i]);
	if (c == to)
		return NULL;
	if (!to || !c)
		return "the sorted list is cut off";
	if (!(s->kind[to] & KF_IN)) {
		if (s->succ[to] != kl_vf_bit(c))
			return "a node is added to the sorted list, but does not point to the rest "
			       "of the list";
		if (!ascending(x, s, i, to) || !ascending(x, s, to, c))
			return "a node is added to the sorted list where its key does not fit";
		s->kind[to] |= KF_IN | KF_ORD | KF_WAS | keepers(x, s);
		return NULL;
	}
	if (s->succ[c] != kl_vf_bit(to))
		return "more than one node is removed from the sorted list at once";
	s->kind[c] &= ~(uint64_t)KF_IN;
	return NULL;
}

const char *kl_vf_chain_init(struct kl_verifier *x, struct kl_vf_state *s)
{
	unsigned int i, k, n = 0;

	x->m.root = -1;
	for (i = 0; i < x->m.nslots; i++)
		if (kl_vf_is_ptr(s->g[i]) &&
		    kl_vf_node_key(x, s->kind[s->g[i]]) == KEY_MIN) {
			x->m.root = i;
			break;
		}
	if (x->m.root < 0)
		return "no shared pointer leads to a first node with the key 0";
	for (i = s->g[x->m.root]; ; i = k, n++) {
		if (n > KL_VF_NODES)
			return "the list is a ring";
		s->kind[i] |= KF_IN | KF_ORD | KF_WAS;
		k = __builtin_ctz(s->succ[i]);
		if (!k)
			break;
		if (!ascending(x, s, i, k))
			return "the list is not in ascending order";
	}
	if (kl_vf_node_key(x, s->kind[i]) != KEY_MAX)
		return "the list's last node does not have the greatest key, ~0";
	return NULL;
}
