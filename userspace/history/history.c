// SPDX-License-Identifier: GPL-2.0
/* Histories in memory, see history.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "history/history.h"
#include "history/index.h"
#include "history/internal.h"
#include "history/source.h"
#include "history/spell.h"

#define LINE	16

const char *kl_history_why_empty(const struct kl_history *h)
{
	if (h->ngaps)
		return "no operations; some were lost";
	return h->attached || h->ncoverage ? "no operations were recorded" : NULL;
}

struct kl_history *kl_history_new(void)
{
	struct kl_history *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->index = calloc(1, sizeof(*h->index));
	/* A signature without values may point to index 0, so the array is never NULL. */
	if (!h->index || kl_grow(h->vals, h->cvals, 1)) {
		free(h->index);
		free(h);
		return NULL;
	}
	return h;
}

void kl_history_free(struct kl_history *h)
{
	size_t i;

	if (!h)
		return;
	for (i = 0; i < h->nmethods; i++)
		free(h->methods[i]);
	kl_table_free(&h->index->methods);
	free(h->index->objects.slot);
	free(h->index->threads.slot);
	free(h->index->opsigs.slot);
	free(h->index);
	free(h->ops);
	free(h->points);
	free(h->drains);
	free(h->places);
	free(h->stacks);
	kl_source_free(h->source);
	free(h->opsigs);
	free(h->vals);
	free(h->gaps);
	free(h->methods);
	free(h->arities);
	free(h->objects);
	free(h->threads);
	free(h->spec_path);
	free(h->spec_text);
	free(h->release);
	free(h->attached);
	kl_history_free_spellings(h);
	kl_history_free_coverage(h);
	free(h);
}

/*
 * Return: a hash for which consecutive keys, such as threads numbered by operations, share a cache
 * line of the table.
 */
static uint64_t hash_raw(uint64_t raw)
{
	return kl_mix(raw / LINE, 0x2545f4914f6cdd1dULL) * LINE + raw % LINE;
}

bool kl_name_is_valid(const char *name, size_t len)
{
	size_t i;

	if (!len || len > KL_MAX_NAME || (unsigned int)(*name - '0') < 10)
		return false;
	for (i = 0; i < len; i++)
		if ((unsigned int)((name[i] | 0x20) - 'a') >= 26 &&
		    (unsigned int)(name[i] - '0') >= 10 && name[i] != '_')
			return false;
	return true;
}

int64_t kl_history_method(struct kl_history *h, const char *name, size_t len)
{
	struct kl_table *t = &h->index->methods;
	const uint32_t hash = kl_hash_bytes(name, len);
	char *copy;
	uint32_t i;
	size_t at;
	int ret;

	kl_table_for_each(t, hash, at, i)
		if (!strncmp(h->methods[i], name, len) && !h->methods[i][len])
			return i;
	if (!kl_name_is_valid(name, len))
		return -EINVAL;
	if (h->nmethods >= UINT16_MAX)
		return -EOVERFLOW;
	ret = kl_table_reserve(t, 1) ?: kl_grow(h->methods, h->cmethods, h->nmethods + 1) ?:
	      kl_grow(h->arities, h->carities, h->nmethods + 1);
	if (ret)
		return ret;
	copy = strndup(name, len);
	if (!copy)
		return -ENOMEM;
	h->arities[h->nmethods] = 0;
	h->methods[h->nmethods++] = copy;
	kl_table_put(t, hash, h->nmethods - 1);
	return h->nmethods - 1;
}

/* Make room in the table for one more key, so that at most half of its slots are used. */
static int numbers_reserve(struct kl_numbers *t, const uint64_t *keys)
{
	size_t size = t->slot ? t->mask + 1 : 0, want = size ? size * 2 : 64, i, at;
	uint32_t *slot;

	if (t->used * 2 < size)
		return 0;
	slot = calloc(want, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (i = 0; i < t->used; i++) {
		for (at = hash_raw(keys[i]) & (want - 1); slot[at]; at = (at + 1) & (want - 1))
			;
		slot[at] = i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->mask = want - 1;
	return 0;
}

static int64_t raw_index(struct kl_numbers *t, uint64_t **keys, size_t *n, size_t *cap,
			 uint64_t raw)
{
	uint32_t *recent = &t->recent[kl_recent_at(raw)];
	const int64_t index = kl_recent(t, *keys, raw);
	size_t at;
	int ret;

	if (index >= 0)
		return index;
	if (t->slot) {
		for (at = hash_raw(raw) & t->mask; t->slot[at]; at = (at + 1) & t->mask)
			if ((*keys)[t->slot[at] - 1] == raw)
				return (*recent = t->slot[at]) - 1;
	}
	if (*n >= UINT32_MAX - 1)
		return -EOVERFLOW;
	ret = numbers_reserve(t, *keys) ?: kl_grow(*keys, *cap, *n + 1);
	if (ret)
		return ret;
	(*keys)[(*n)++] = raw;
	for (at = hash_raw(raw) & t->mask; t->slot[at]; at = (at + 1) & t->mask)
		;
	t->slot[at] = ++t->used;
	*recent = *n;
	return *n - 1;
}

int64_t kl_history_object(struct kl_history *h, uint64_t raw)
{
	return raw_index(&h->index->objects, &h->objects, &h->nobjects, &h->cobjects, raw);
}

int64_t kl_history_thread(struct kl_history *h, uint64_t raw)
{
	return raw_index(&h->index->threads, &h->threads, &h->nthreads, &h->cthreads, raw);
}

void kl_history_expect(struct kl_history *h, double times, size_t most)
{
	const double nops = h->nops * times;
	/*
	 * Later operations find their signatures in the table less often than the first ones.  So
	 * if there are many signatures, assume that every later operation adds one.
	 */
	const double nopsigs = h->nopsigs < h->nops / 8 || h->nopsigs > h->nops ?
			       h->nopsigs * times : nops;
	const double nvals = nopsigs * h->nvals / (h->nopsigs + 1.0) * 1.1;
	const size_t told = ((h->points != NULL) + (h->drains != NULL)) * sizeof(*h->points) +
			    (h->stacks != NULL) * sizeof(*h->stacks);

	if (times <= 1 || nops * (sizeof(*h->ops) + told) + nopsigs * sizeof(*h->opsigs) +
			  nvals * sizeof(*h->vals) > most)
		return;
	kl_expect(h->ops, h->cops, h->nops, nops + 1);
	if (h->points)
		kl_expect(h->points, h->cpoints, h->nops, nops + 1);
	if (h->drains)
		kl_expect(h->drains, h->cdrains, h->nops, nops + 1);
	if (h->stacks)
		kl_expect(h->stacks, h->cstacks, h->nops, nops + 1);
	kl_expect(h->opsigs, h->copsigs, h->nopsigs, nopsigs + 1);
	kl_expect(h->vals, h->cvals, h->nvals, nvals + 1);
}

int kl_op_make_pending(struct kl_history *h, struct kl_op *op)
{
	const struct kl_opsig s = *kl_op_sig(h, op);
	int64_t sig;

	sig = kl_history_sig(h, &s, kl_op_args(h, op), NULL);
	if (sig < 0)
		return sig;
	op->flags = (op->flags & ~KL_OP_DRAINED) | KL_OP_PENDING;
	op->ret = KL_TIME_MAX;
	op->sig = sig;
	return 0;
}

int kl_history_add_gap(struct kl_history *h, const struct kl_gap *gap)
{
	int ret;

	if (gap->to < gap->from || gap->reason > KL_GAP_CUT ||
	    (gap->object != KL_ALL_OBJECTS && gap->object >= h->nobjects))
		return -EINVAL;
	ret = kl_grow(h->gaps, h->cgaps, h->ngaps + 1);
	if (!ret)
		h->gaps[h->ngaps++] = *gap;
	return ret;
}
