// SPDX-License-Identifier: GPL-2.0
/* Sets of configurations, see configs.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/general/configs.h"

#define FEW	8	/* records up to which a set is searched without a table */

static inline size_t rec_hash(const struct kl_configs *c, const uint64_t *rec)
{
	uint64_t h = kl_rec_state(c, rec);
	size_t i;

	for (i = 0; i < c->masklen; i++)
		h = kl_mix(h, rec[i] & ~c->free[i] & ~c->over[i]);
	return h;
}

/* Does @o cover @rec?  See struct kl_configs. */
static inline bool covers(const struct kl_configs *c, const uint64_t *o, const uint64_t *rec)
{
	return kl_rec_state(c, o) == kl_rec_state(c, rec) && kl_rec_has_all(c, o, rec);
}

/*
 * Return: true if record @i covers @rec (*ret is 0), or if @rec covers record @i and replaced it
 * (*ret is 1).
 */
static inline bool settles(const struct kl_configs *c, struct kl_config_set *s, size_t i,
			   const uint64_t *rec, size_t from, int *ret)
{
	uint64_t *o = s->rec + i * c->reclen;

	s->looks++;
	*ret = 0;
	if (covers(c, o, rec))
		return true;
	if (i < from || !c->hidden || !covers(c, rec, o))
		return false;
	kl_rec_copy(c, o, rec);
	*ret = 1;
	return true;
}

static int set_rehash(const struct kl_configs *c, struct kl_config_set *s, size_t size)
{
	uint64_t *table = calloc(size, sizeof(*table));
	size_t i, at;

	if (!table)
		return -ENOMEM;
	free(s->table);
	s->table = table;
	s->tsize = size;
	for (i = 0; i < s->n; i++) {
		at = rec_hash(c, s->rec + i * c->reclen) & (size - 1);
		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = (uint64_t)s->stamp << 32 | (i + 1);
	}
	return 0;
}

/* Enter all records into the table, because there are too many to be searched one by one. */
static int set_start_table(const struct kl_configs *c, struct kl_config_set *s)
{
	size_t i, at;

	if (!s->table || !++s->stamp) {
		s->stamp = 1;
		return set_rehash(c, s, 64);
	}
	for (i = 0; i < s->n; i++) {
		at = rec_hash(c, s->rec + i * c->reclen) & (s->tsize - 1);
		while (s->table[at] >> 32 == s->stamp)
			at = (at + 1) & (s->tsize - 1);
		s->table[at] = (uint64_t)s->stamp << 32 | (i + 1);
	}
	return 0;
}

int kl_config_set_add(const struct kl_configs *c, struct kl_config_set *s, const uint64_t *rec,
		      size_t from)
{
	size_t at = 0, i;
	int ret = 0;

	if (s->n < FEW) {
		for (i = 0; i < s->n; i++)
			if (settles(c, s, i, rec, from, &ret))
				return ret;
	} else {
		if (s->n == FEW)
			ret = set_start_table(c, s);
		else if (s->n * 2 >= s->tsize)
			ret = set_rehash(c, s, s->tsize * 2);
		if (ret)
			return ret;
		at = rec_hash(c, rec) & (s->tsize - 1);
		for (; s->table[at] >> 32 == s->stamp; at = (at + 1) & (s->tsize - 1))
			if (settles(c, s, (uint32_t)s->table[at] - 1, rec, from, &ret))
				return ret;
	}
	ret = kl_grow(s->rec, s->cap, (s->n + 1) * c->reclen);
	if (ret)
		return ret;
	kl_rec_copy(c, s->rec + s->n * c->reclen, rec);
	s->n++;
	if (s->n > FEW)
		s->table[at] = (uint64_t)s->stamp << 32 | s->n;
	return 1;
}

void kl_config_set_free(struct kl_config_set *s)
{
	free(s->rec);
	free(s->table);
}
