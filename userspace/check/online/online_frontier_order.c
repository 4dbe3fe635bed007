// SPDX-License-Identifier: GPL-2.0
/* Open operations take effect, in every possible order; see online_frontier.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "check/online/online_frontier.h"

int live_too_many(struct kl_online *o, const char *what)
{
	snprintf(o->reason, sizeof(o->reason), "%s", what);
	return -EDQUOT;
}

/* Return: true if all predecessors of @op took effect; ghosts may have done so in the gap. */
static inline bool ready(const struct live *l, const uint64_t *rec, const struct live_open *op)
{
	return !(op->preds & ~l->ghosts & ~rec[0]);
}

/* Return: true if a ghost that precedes @op could no longer take effect after @op. */
static inline bool excludes(const struct live *l, const uint64_t *rec, const struct live_open *op)
{
	return op->preds & l->ghosts & ~rec[0];
}

static inline void take(const struct live *l, uint64_t *rec, unsigned int slot, uint32_t state)
{
	const struct live_open *op = &l->open[slot];
	uint64_t gone = op->preds & l->ghosts & ~rec[0];

	/* Ghosts that precede the operation can no longer take effect. */
	while (gone) {
		const unsigned int g = __builtin_ctzll(gone);

		rec[0] |= live_bit(g);
		gone = (gone | (l->open[g].preds & l->ghosts)) & ~rec[0];
	}
	rec[0] |= live_bit(slot);
	if (l->c.hidden) {
		rec[1] &= ~live_bit(slot);
		if (op->over)
			rec[1] |= l->over & ~rec[0];
	}
	kl_rec_set(&l->c, rec, state, 0);
}

int live_settle(struct kl_online *o, struct live *l, uint64_t *rec)
{
	const uint32_t *next;
	uint64_t left;
	bool again;
	int n;

	do {
		again = false;
		for (left = l->free & ~rec[0]; left; left &= left - 1) {
			const unsigned int slot = __builtin_ctzll(left);
			const struct live_open *op = &l->open[slot];

			if (!ready(l, rec, op) || excludes(l, rec, op))
				continue;
			n = live_step(o, kl_rec_state(&l->c, rec), on_op(o, op->op)->sig, &next);
			if (n < 0)
				return n;
			if (n != 1 || next[0] != kl_rec_state(&l->c, rec))
				continue;
			take(l, rec, slot, next[0]);
			again |= on_op(o, op->op)->is_pred;
		}
	} while (again);
	return 0;
}

/*
 * Add the configuration o->tmp, which came from record @at of o->seen: to o->next if the operation
 * of @slot took effect, and to o->seen if it may still do so.
 */
static int arrive(struct kl_online *o, struct live *l, unsigned int slot, size_t at)
{
	const bool done = kl_rec_done(&l->c, o->tmp, slot);
	int ret = 0;

	if (done)
		ret = kl_config_set_add(&l->c, &o->next, o->tmp, 0);
	if (ret >= 0 && !kl_rec_has(o->tmp, slot))
		ret = kl_config_set_add(&l->c, &o->seen, o->tmp, at + 1);
	if (ret >= 0 && o->seen.n + o->next.n > ON_CONFIGS)
		return live_too_many(o, "too many orders of overlapping operations are possible");
	return ret < 0 ? ret : 0;
}

static int expand(struct kl_online *o, struct live *l, unsigned int slot, size_t at)
{
	uint64_t left = l->used & ~o->seen.rec[at * l->c.reclen];
	const uint32_t *next;
	int n, k, ret;

	for (; left; left &= left - 1) {
		const unsigned int s = __builtin_ctzll(left);
		const struct live_open *op = &l->open[s];
		const uint64_t *rec = o->seen.rec + at * l->c.reclen;

		if ((op->twin != LIVE_NO_SLOT && !kl_rec_has(rec, op->twin)) || !ready(l, rec, op))
			continue;
		n = live_step(o, kl_rec_state(&l->c, rec), on_op(o, op->op)->sig, &next);
		if (n < 0)
			return n;
		if (!n || (op->free && n == 1 && next[0] == kl_rec_state(&l->c, rec) &&
			   !excludes(l, rec, op)))
			continue;
		ret = kl_grow(o->succ, o->csucc, n);
		if (ret)
			return ret;
		memcpy(o->succ, next, n * sizeof(*next));
		for (k = 0; k < n; k++) {
			kl_rec_copy(&l->c, o->tmp, o->seen.rec + at * l->c.reclen);
			take(l, o->tmp, s, o->succ[k]);
			ret = live_settle(o, l, o->tmp) ?: arrive(o, l, slot, at);
			if (ret)
				return ret;
		}
	}
	return 0;
}

int live_satisfy(struct kl_online *o, struct live *l, unsigned int slot)
{
	struct kl_config_set swap;
	size_t at;
	int ret;

	kl_config_set_clear(&o->next);
	kl_config_set_clear(&o->seen);
	for (at = 0; at < l->cur.n; at++) {
		kl_rec_copy(&l->c, o->tmp, l->cur.rec + at * l->c.reclen);
		ret = arrive(o, l, slot, 0);
		if (ret)
			return ret;
	}
	for (at = 0; at < o->seen.n; at++) {
		ret = expand(o, l, slot, at);
		if (ret)
			return ret;
	}
	if (!o->next.n)
		return 1;
	swap = l->cur;
	l->cur = o->next;
	o->next = swap;
	return 0;
}
