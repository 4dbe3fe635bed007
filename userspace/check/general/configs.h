/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of configurations, for the frontier. */
#ifndef KL_CHECK_GENERAL_CONFIGS_H
#define KL_CHECK_GENERAL_CONFIGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct kl_configs - what the configurations of a run have in common
 * @masklen: words of their masks, a bit for each slot: it has taken effect
 * @reclen: words of a record: the mask, a mask of what may be taken as hidden if
 *	@hidden is not 0, and a word state << 32 | node
 * @hidden: where that mask begins
 * @free: mask of the open operations that change nothing
 * @over: mask of the open operations that overwrite everything, and may be hidden
 *
 * An overwrite that was open when another one took effect may have come just before
 * it, where nobody saw it: it is hidden, and may still take effect later instead.
 *
 * The node, how it came about, is no part of what makes configurations equal.  One
 * covers another if the state is the same, it has all that changes nothing and that
 * the other has, and all else alike or hidden: then it can go on as the other can.
 */
struct kl_configs {
	size_t masklen, reclen, hidden;
	uint64_t *free, *over;
};

struct kl_config_set {
	uint64_t *rec;
	size_t n, cap;
	uint64_t *table;	/* stamp << 32 | index + 1; not in use while there are few */
	size_t tsize;
	uint32_t stamp;
	uint64_t looks;		/* at records that a new one was compared with */
};

static inline uint32_t kl_rec_state(const struct kl_configs *c, const uint64_t *rec)
{
	return rec[c->reclen - 1] >> 32;
}

static inline uint32_t kl_rec_node(const struct kl_configs *c, const uint64_t *rec)
{
	return (uint32_t)rec[c->reclen - 1];
}

static inline void kl_rec_set(const struct kl_configs *c, uint64_t *rec, uint32_t state,
			      uint32_t node)
{
	rec[c->reclen - 1] = (uint64_t)state << 32 | node;
}

static inline bool kl_rec_has(const uint64_t *rec, uint32_t slot)
{
	return rec[slot / 64] >> slot % 64 & 1;
}

/* Has it taken effect, or may that be supposed? */
static inline bool kl_rec_done(const struct kl_configs *c, const uint64_t *rec, uint32_t slot)
{
	return kl_rec_has(rec, slot) || (c->hidden && kl_rec_has(rec + c->hidden, slot));
}

static inline void kl_rec_copy(const struct kl_configs *c, uint64_t *to, const uint64_t *from)
{
	size_t i;

	for (i = 0; i < c->reclen; i++)
		to[i] = from[i];
}

/* All of covering but for the states: has @o as much as @rec? */
static inline bool kl_rec_has_all(const struct kl_configs *c, const uint64_t *o,
				  const uint64_t *rec)
{
	size_t i;

	for (i = 0; i < c->masklen; i++) {
		const uint64_t hidden = c->hidden ? o[c->hidden + i] : 0;

		if (((o[i] ^ rec[i]) & ~c->free[i] & ~hidden) || (rec[i] & ~o[i] & c->free[i]) ||
		    (c->hidden && rec[c->hidden + i] & ~hidden))
			return false;
	}
	return true;
}

static inline void kl_config_set_clear(struct kl_config_set *s)
{
	s->n = 0;
}

/**
 * kl_config_set_add() - add a configuration
 * @c: what it has in common with the others
 * @s: the set
 * @rec: its record
 * @from: it may take the place of one that it covers, from this index on
 *
 * Return: 1 if it was added, 0 if one is there that covers it, -ENOMEM.
 */
int kl_config_set_add(const struct kl_configs *c, struct kl_config_set *s, const uint64_t *rec,
		      size_t from);
void kl_config_set_free(struct kl_config_set *s);

#endif
