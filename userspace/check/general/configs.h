/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of configurations, for the frontier. */
#ifndef KL_CHECK_GENERAL_CONFIGS_H
#define KL_CHECK_GENERAL_CONFIGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct kl_configs - common properties of a run's configurations
 * @masklen: words of a mask, which has a bit for each slot whose operation took effect
 * @reclen: words of a record: the mask, a mask of hidden operations if @hidden is not 0, and a word
 *	state << 32 | node
 * @hidden: index in a record of the mask of hidden operations; 0: no operation is hidden
 * @free: mask of open operations that change nothing
 * @over: mask of open operations that overwrite the whole state, and may be hidden
 *
 * When an overwrite takes effect, another open overwrite may have taken effect just before it,
 * where no operation saw it.  The other overwrite is hidden then: it may count as done, or take
 * effect later.
 *
 * The node says how a configuration was reached, and is ignored in comparisons.  A configuration
 * covers another if it can go on in every way in which the other can: the states are equal, it has
 * all operations of @free that the other has, and it agrees with the other about each other
 * operation, or hides it.
 */
struct kl_configs {
	size_t masklen, reclen, hidden;
	uint64_t *free, *over;
};

struct kl_config_set {
	uint64_t *rec;
	size_t n, cap;
	/*
	 * A hash table of entries stamp << 32 | index + 1; those with another stamp are free.  It
	 * is not used while there are few records.
	 */
	uint64_t *table;
	size_t tsize;
	uint32_t stamp;
	uint64_t looks;		/* looks at records that were compared with a new one */
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

/* Has the operation in @slot taken effect, or is it hidden? */
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

/* Does @o cover @rec, apart from the states? */
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
 * @c: the common properties
 * @s: the set
 * @rec: the record
 * @from: from this index on, the record may replace one that it covers
 *
 * Return: 1 if the record was added, 0 if another record covers it, -ENOMEM.
 */
int kl_config_set_add(const struct kl_configs *c, struct kl_config_set *s, const uint64_t *rec,
		      size_t from);
void kl_config_set_free(struct kl_config_set *s);

#endif
