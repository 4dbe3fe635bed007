// SPDX-License-Identifier: GPL-2.0
/*
 * Records the outcomes of an operation, so that equal outcomes of several paths are reported
 * once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "spec/interp/run.h"

/* A record in seen[] is a hash, the number of words, and the words. */
#define RECORD_HEAD	2

void kl_outcome_reset(struct kl_run *r)
{
	if (r->noutcomes)
		memset(r->table, 0, r->table_size * sizeof(*r->table));
	r->noutcomes = 0;
	/* Index 0 marks a free bucket, so records begin at 1. */
	r->nseen = 1;
}

static uint64_t *bucket(struct kl_run *r, const uint64_t *record)
{
	size_t i = record[0] & (r->table_size - 1);

	for (;; i = (i + 1) & (r->table_size - 1)) {
		const uint64_t *old = r->seen + r->table[i];

		if (!r->table[i] || (old[0] == record[0] && old[1] == record[1] &&
				     !memcmp(old + RECORD_HEAD, record + RECORD_HEAD,
					     record[1] * sizeof(*record))))
			return &r->table[i];
	}
}

static int grow_table(struct kl_run *r)
{
	size_t size = r->table_size ? 4 * r->table_size : 64, i, at;
	uint64_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	free(r->table);
	r->table = table;
	r->table_size = size;
	for (i = 0, at = 1; i < r->noutcomes; i++) {
		*bucket(r, r->seen + at) = at;
		at += RECORD_HEAD + r->seen[at + 1];
	}
	return 0;
}

static uint64_t *put_vals(uint64_t *w, const struct kl_val *v, size_t n)
{
	if (n)
		memcpy(w, v, n * sizeof(*v));
	return w + 2 * n;
}

int kl_outcome_new(struct kl_run *r, const struct kl_outcome *o, bool *new)
{
	size_t nres = r->m->pub.nresults, i;
	size_t words = 3 + 2 * (o->len + nres + o->nbound + o->nlocals) + o->nwrote;
	uint64_t *record, *w, *place;
	int ret;

	ret = kl_grow(r->seen, r->cseen, r->nseen + RECORD_HEAD + words);
	if (!ret && 2 * (r->noutcomes + 1) > r->table_size)
		ret = grow_table(r);
	if (ret)
		return ret;
	record = r->seen + r->nseen;
	w = record + RECORD_HEAD;
	*w++ = o->barrier | o->through << 1;
	*w++ = o->nwrote;
	*w++ = o->at;
	w = put_vals(w, o->state, o->len);
	w = put_vals(w, o->results, nres);
	w = put_vals(w, o->bound, o->nbound);
	w = put_vals(w, o->locals, o->nlocals);
	for (i = 0; i < o->nwrote; i++)
		*w++ = o->wrote[i];
	record[1] = words;
	record[0] = kl_hash_words(record + RECORD_HEAD, words, 0);
	place = bucket(r, record);
	*new = !*place;
	if (*new) {
		*place = r->nseen;
		r->nseen += RECORD_HEAD + words;
		r->noutcomes++;
	}
	return 0;
}
