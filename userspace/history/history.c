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
	/* Operations without values have theirs at the beginning, so there always is one. */
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
	free(h->index->methods.slot);
	free(h->index->objects.slot);
	free(h->index->threads.slot);
	free(h->index->shapes.slot);
	free(h->index);
	free(h->ops);
	free(h->points);
	free(h->drains);
	free(h->places);
	kl_source_free(h->source);
	free(h->shapes);
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

/* Those that are counted up, as numbers of operations for threads, are neighbours: a cache line. */
static uint64_t hash_raw(uint64_t raw)
{
	return kl_mix(raw / LINE, 0x2545f4914f6cdd1dULL) * LINE + raw % LINE;
}

static uint64_t hash_name(const char *name, size_t len)
{
	uint64_t h = len, w;

	for (; len >= 8; name += 8, len -= 8) {
		memcpy(&w, name, 8);
		h = kl_mix(h, w);
	}
	for (w = 0; len; len--)
		w = w << 8 | (unsigned char)*name++;
	return kl_mix(h, w);
}

/* Room for one more at a load of at most a half; @hash tells the hash of index i. */
static int table_reserve(struct kl_table *t, const struct kl_history *h,
			 uint64_t (*hash)(const struct kl_history *h, size_t i))
{
	size_t size = t->slot ? t->mask + 1 : 0, want = size ? size * 2 : 64, i, at;
	uint32_t *slot;

	if (t->used * 2 < size)
		return 0;
	slot = calloc(want, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (i = 0; i < t->used; i++) {
		for (at = hash(h, i) & (want - 1); slot[at]; at = (at + 1) & (want - 1))
			;
		slot[at] = i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->mask = want - 1;
	return 0;
}

static uint64_t method_hash(const struct kl_history *h, size_t i)
{
	return hash_name(h->methods[i], strlen(h->methods[i]));
}

static uint64_t object_hash(const struct kl_history *h, size_t i)
{
	return hash_raw(h->objects[i]);
}

static uint64_t thread_hash(const struct kl_history *h, size_t i)
{
	return hash_raw(h->threads[i]);
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
	uint64_t hash = hash_name(name, len);
	char *copy;
	size_t at;
	int ret;

	if (t->slot) {
		for (at = hash & t->mask; t->slot[at]; at = (at + 1) & t->mask) {
			const char *m = h->methods[t->slot[at] - 1];

			if (!strncmp(m, name, len) && !m[len])
				return t->slot[at] - 1;
		}
	}
	if (!kl_name_is_valid(name, len))
		return -EINVAL;
	if (h->nmethods >= UINT16_MAX)
		return -EOVERFLOW;
	ret = table_reserve(t, h, method_hash);
	if (!ret)
		ret = kl_grow(h->methods, h->cmethods, h->nmethods + 1) ?:
		      kl_grow(h->arities, h->carities, h->nmethods + 1);
	if (ret)
		return ret;
	copy = strndup(name, len);
	if (!copy)
		return -ENOMEM;
	h->arities[h->nmethods] = 0;
	h->methods[h->nmethods++] = copy;
	for (at = hash & t->mask; t->slot[at]; at = (at + 1) & t->mask)
		;
	t->slot[at] = ++t->used;
	return h->nmethods - 1;
}

static int64_t raw_index(struct kl_history *h, struct kl_table *t, uint64_t **keys, size_t *n,
			 size_t *cap, uint64_t raw,
			 uint64_t (*hash)(const struct kl_history *h, size_t i))
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
	ret = table_reserve(t, h, hash);
	if (!ret)
		ret = kl_grow(*keys, *cap, *n + 1);
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
	return raw_index(h, &h->index->objects, &h->objects, &h->nobjects, &h->cobjects, raw,
			 object_hash);
}

int64_t kl_history_thread(struct kl_history *h, uint64_t raw)
{
	return raw_index(h, &h->index->threads, &h->threads, &h->nthreads, &h->cthreads, raw,
			 thread_hash);
}

void kl_history_expect(struct kl_history *h, double times, size_t most)
{
	const double nops = h->nops * times;
	/* At first more of them are found: where there are many each may be another one. */
	const double nshapes = h->nshapes < h->nops / 8 || h->nshapes > h->nops ?
			       h->nshapes * times : nops;
	const double nvals = nshapes * h->nvals / (h->nshapes + 1.0) * 1.1;
	const size_t told = ((h->points != NULL) + (h->drains != NULL)) * sizeof(*h->points);

	if (times <= 1 || nops * (sizeof(*h->ops) + told) + nshapes * sizeof(*h->shapes) +
			  nvals * sizeof(*h->vals) > most)
		return;
	kl_expect(h->ops, h->cops, h->nops, nops + 1);
	if (h->points)
		kl_expect(h->points, h->cpoints, h->nops, nops + 1);
	if (h->drains)
		kl_expect(h->drains, h->cdrains, h->nops, nops + 1);
	kl_expect(h->shapes, h->cshapes, h->nshapes, nshapes + 1);
	kl_expect(h->vals, h->cvals, h->nvals, nvals + 1);
}

int kl_op_make_pending(struct kl_history *h, struct kl_op *op)
{
	const struct kl_shape s = *kl_op_shape(h, op);
	int64_t shape;

	shape = kl_history_shape(h, &s, kl_op_args(h, op), NULL);
	if (shape < 0)
		return shape;
	op->flags = (op->flags & ~KL_OP_DRAINED) | KL_OP_PENDING;
	op->ret = KL_TIME_MAX;
	op->shape = shape;
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
