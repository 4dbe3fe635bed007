// SPDX-License-Identifier: GPL-2.0
/*
 * The canonical form of a state: of all orders of similar threads, the one whose bytes are least.
 * States that differ only in names then have equal bytes.
 */
#include "base/hash.h"
#include "verify/model.h"

#define PERMS_MAX	720

/* Forget values that are never read again. */
static void kill_dead(const struct kl_verifier *x, struct kl_vf_state *s)
{
	unsigned int t, i;

	for (t = 0; t < s->nt; t++) {
		struct kl_vf_thread *th = &s->th[t];
		uint64_t live;

		if (th->method < 0)
			continue;
		live = x->m.m[th->method].live[th->pc];
		for (i = 0; i < x->m.nregs; i++)
			if (!(live >> i & 1) &&
			    !(kl_vf_live(x, th) >> i & 1 && kl_vf_is_ptr(th->reg[i])))
				th->reg[i] = VF_NULL;
		if ((th->lin & LIN_MASK) == LIN_EFFECT)
			th->corr = 0;
		if ((th->lin & LIN_MASK) == LIN_NONE)
			memset(th->ret, 0, sizeof(th->ret));
	}
}

/* Return: a hash of a thread that does not depend on the names of nodes and threads. */
static uint64_t signature(const struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t)
{
	const struct kl_vf_thread *th = &s->th[t];
	const unsigned int n = x->m.nregs + KL_VF_RESULTS + 1;
	uint8_t v[KL_VF_REGS + KL_VF_RESULTS + 1];
	unsigned int i, j, k;
	uint64_t h;

	if (th->method < 0)
		return UINT64_MAX - th->ops;
	v[0] = th->corr;
	memcpy(v + 1, th->ret, KL_VF_RESULTS);
	memcpy(v + 1 + KL_VF_RESULTS, th->reg, x->m.nregs);
	h = kl_mix(th->pc, (uint64_t)th->method << 40 | (uint64_t)th->lin << 32 |
		   (uint64_t)th->key << 24 | (uint64_t)th->seen << 16 | (uint64_t)th->bits << 8 |
		   th->ops);
	for (i = 0; i < n; i++) {
		uint64_t w = v[i];

		k = kl_vf_names(v[i]);
		if (k) {
			for (j = 0; j < i && kl_vf_names(v[j]) != k; j++)
				;
			w = (v[i] & ~(KL_VF_NODES - 1)) + 256 * (j + 1);
			if (j == i) {
				for (j = 0; j < x->m.ng && kl_vf_names(s->g[j]) != k; j++)
					;
				w += (j + 1) << 16;
				h = kl_mix(h, kf_set_lock(s->kind[k], kf_lock(s->kind[k]) ==
							  VF_OWN + t) & ~KF_SEEN_ALL);
			}
		}
		h = kl_mix(h, w);
	}
	for (j = 0; j < x->m.nslots; j++)
		if (s->g[j] == VF_OWN + t)
			h = kl_mix(h, j + 1);
	return h >> 1;
}

/* A search for the form of @s whose bytes are least.  @out is the best form so far. */
struct best {
	struct kl_verifier *x;
	const struct kl_vf_state *s;
	struct kl_vf_state *out;
	uint64_t sig[KL_VF_THREADS];
	uint8_t order[KL_VF_THREADS];
	unsigned int tried;
};

static void try_form(struct best *b)
{
	struct kl_vf_store *st = &b->x->store;
	struct kl_vf_state f;
	uint8_t key[KL_VF_KEY_MAX];
	uint32_t edges[KL_VF_EDGES_MAX];
	unsigned int len, core, nedges;
	int d;

	if (!b->tried++) {
		kl_vf_form(b->x, b->s, b->order, b->out);
		st->core = kl_vf_pack(b->x, b->out, st->key, &st->len, st->edges, &st->nedges);
		return;
	}
	kl_vf_form(b->x, b->s, b->order, &f);
	core = kl_vf_pack(b->x, &f, key, &len, edges, &nedges);
	d = len == st->len ? memcmp(key, st->key, len) : (int)len - (int)st->len;
	if (d > 0)
		return;
	/* If the keys are equal, the edges decide, so that the first trial is not preferred. */
	if (!d && memcmp(edges, st->edges, 4 * nedges) >= 0)
		return;
	kl_vf_copy(b->out, &f);
	memcpy(st->key, key, len);
	memcpy(st->edges, edges, 4 * nedges);
	st->len = len;
	st->core = core;
	st->nedges = nedges;
}

/* Try all orders of similar threads from @from on. */
static void permute(struct best *b, unsigned int from)
{
	unsigned int i, nt = b->s->nt;
	uint8_t t;

	if (from == nt) {
		if (b->tried < PERMS_MAX)
			try_form(b);
		return;
	}
	for (i = from; i < nt; i++) {
		const uint8_t p = b->order[from], q = b->order[i];

		if (b->sig[p] != b->sig[q] || b->x->role[p] != b->x->role[q] ||
		    (i > from && b->s->th[p].method < 0))
			break;
		t = b->order[from];
		b->order[from] = b->order[i];
		b->order[i] = t;
		permute(b, from + 1);
		t = b->order[from];
		b->order[from] = b->order[i];
		b->order[i] = t;
	}
}

void kl_vf_canon(struct kl_verifier *x, struct kl_vf_state *s, struct kl_vf_state *out)
{
	struct best b = { .x = x, .s = s, .out = out };
	unsigned int i, k, t;

	kill_dead(x, s);
	if (x->m.keyed && x->m.root >= 0)
		kl_vf_chain_filter(x, s);
	for (t = 0; t < s->nt; t++)
		b.order[t] = t;
	if (x->o.no_symmetry || s->nt == 1) {
		try_form(&b);
		return;
	}
	for (t = 0; t < s->nt; t++)
		b.sig[t] = signature(x, s, t);
	/* Threads of one role are neighbours, and are sorted among themselves. */
	for (i = 1; i < s->nt; i++)
		for (k = i; k && x->role[k - 1] == x->role[k] &&
		     b.sig[b.order[k - 1]] > b.sig[b.order[k]]; k--) {
			t = b.order[k];
			b.order[k] = b.order[k - 1];
			b.order[k - 1] = t;
		}
	permute(&b, 0);
}

void kl_vf_ordered(struct kl_verifier *x, const struct kl_vf_state *s, const uint8_t *order,
		   struct kl_vf_state *out)
{
	struct kl_vf_store *st = &x->store;

	kl_vf_form(x, s, order, out);
	st->core = kl_vf_pack(x, out, st->key, &st->len, st->edges, &st->nedges);
}

void kl_vf_abstract_keys(const struct kl_verifier *x, struct kl_vf_state *s)
{
	unsigned int i, f, t;

	for (i = 0; i < KL_FIELDS_MAX; i++) {
		f = x->m.field[i];
		if (!x->m.key_field[i])
			continue;
		for (t = 1; t < s->nn; t++)
			if (kf_field(s->kind[t], f) > VF_RANK && kf_field(s->kind[t], f) < VF_OWN)
				s->kind[t] = kf_set_field(s->kind[t], f, VF_KEY +
					kl_vf_class(x, kf_field(s->kind[t], f)));
	}
	for (t = 0; t < s->nt; t++) {
		struct kl_vf_thread *th = &s->th[t];

		if (th->key > VF_RANK && th->key < VF_OWN)
			th->key = VF_KEY + kl_vf_class(x, th->key);
		for (i = 0; i < x->m.nregs; i++)
			if (th->reg[i] > VF_RANK && th->reg[i] < VF_OWN)
				th->reg[i] = VF_KEY + kl_vf_class(x, th->reg[i]);
	}
}
