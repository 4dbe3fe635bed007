// SPDX-License-Identifier: GPL-2.0
/* Splitting a history into partitions, see split.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/limit.h"
#include "base/mem.h"
#include "base/threads.h"
#include "check/split.h"

#define NO_KEY	UINT32_MAX
#define AHEAD	16	/* operations ahead of their turn whose keys are prefetched */
#define LOOKS	65536	/* operations, or partitions, between two looks at the clock */
#define RANGES	16	/* maximal number of ranges, which threads count in parallel */
#define RANGE	32768	/* minimal number of operations for a thread */

struct splitter {
	const struct kl_spec *spec;
	const struct kl_history *h;
	const int *methods;
	struct kl_split *s;
	uint32_t *key;		/* signature -> number of its key */
	struct kl_intern keys;
	size_t nkeys;
	unsigned int threads;
	uint32_t *part;		/* operation -> its partition, or its pair in split_direct() */
	struct kl_table table;	/* partitions by object and key */
	uint32_t *part_key;	/* partition -> number of its key */
	size_t cobject, ckey, cat;
};

/* The operations that one thread processes.  A pair is an object and a key. */
struct range {
	size_t from, to;
	/* pair -> number of its operations; in list_range(): 1 + the next one's index in s->ops */
	uint32_t *at;
	uint32_t *seen;		/* pairs in order of appearance */
	size_t nseen;
};

void kl_split_free(struct kl_split *s)
{
	free(s->ops);
	free(s->at);
	free(s->object);
	free(s->key);
	memset(s, 0, sizeof(*s));
}

/* Number the keys of all signatures.  Return: 1, 0 if an operation has no known key, -ENOMEM. */
static int number_keys(struct splitter *t)
{
	const struct kl_history *h = t->h;
	bool all = true;
	int ret = 1;
	size_t i;

	for (i = 0; i < h->nopsigs; i++) {
		const struct kl_opsig *s = &h->opsigs[i];
		const struct kl_method *m = kl_spec_method(t->spec, t->methods[s->method]);
		uint64_t key;
		int64_t number;

		t->key[i] = NO_KEY;
		/* A signature without operations may have any form. */
		if (s->nargs != m->nparams || s->nres != m->nresults ||
		    !kl_method_key(m, h->vals + s->vals, &key)) {
			all = false;
			continue;
		}
		number = kl_intern(&t->keys, &key, 1);
		if (number < 0)
			return number;
		t->key[i] = number;
	}
	t->nkeys = t->keys.n;
	for (i = 0; !all && i < h->nops && ret == 1; i++)
		ret = t->key[h->ops[i].sig] != NO_KEY;
	return ret;
}

static int new_part(struct splitter *t, uint32_t object, uint32_t key)
{
	struct kl_split *s = t->s;
	int ret = kl_grow(s->object, t->cobject, s->n + 1) ?:
		  kl_grow(t->part_key, t->ckey, s->n + 1);

	if (ret)
		return ret;
	s->object[s->n] = object;
	t->part_key[s->n++] = key;
	return 0;
}

struct ranges {
	const struct splitter *t;
	struct range range[RANGES];
};

static void count_range(void *arg, size_t n)
{
	struct ranges *all = arg;
	const struct splitter *t = all->t;
	struct range *r = &all->range[n];
	size_t i;

	for (i = r->from; i < r->to; i++) {
		const struct kl_op *op = &t->h->ops[i];
		const uint32_t key = t->s->by_key ? t->key[op->sig] : 0;
		const uint32_t pair = op->object * t->nkeys + key;

		if (i + AHEAD < t->h->nops)
			__builtin_prefetch(&t->key[op[AHEAD].sig]);
		if (!r->at[pair]++)
			r->seen[r->nseen++] = pair;
		t->part[i] = pair;
	}
}

/* Is @pair in a range before @r?  Its entry in range.at is not 0 then, also after placing. */
static bool seen_before(const struct range *all, const struct range *r, uint32_t pair)
{
	for (; all < r; all++)
		if (all->at[pair])
			return true;
	return false;
}

/* Number the partitions in order of appearance, and turn the counts in range.at into indices. */
static int place_ranges(struct splitter *t, struct range *ranges, size_t n)
{
	struct kl_split *s = t->s;
	size_t next = 0, i, j, k;
	int ret;

	for (i = 0; i < n; i++) {
		for (j = 0; j < ranges[i].nseen; j++) {
			const uint32_t pair = ranges[i].seen[j];

			if (seen_before(ranges, &ranges[i], pair))
				continue;
			ret = kl_grow(s->at, t->cat, s->n + 2) ?:
			      new_part(t, pair / t->nkeys, pair % t->nkeys);
			if (!ret && !(s->n % LOOKS))
				ret = kl_limit_look(NULL, 0);
			if (ret)
				return ret;
			s->at[s->n - 1] = next;
			for (k = i; k < n; k++) {
				const uint32_t count = ranges[k].at[pair];

				ranges[k].at[pair] = next + 1;
				next += count;
			}
			s->at[s->n] = next;
		}
	}
	return 0;
}

static void list_range(void *arg, size_t n)
{
	struct ranges *all = arg;
	const struct splitter *t = all->t;
	struct range *r = &all->range[n];
	size_t i;

	for (i = r->from; i < r->to; i++)
		t->s->ops[r->at[t->part[i]]++ - 1] = i;
}

/*
 * Split by few objects and keys: each thread has a table of all pairs.  The order of partitions
 * does not depend on the number of threads.
 */
static int split_direct(struct splitter *t, size_t pairs)
{
	const size_t nops = t->h->nops;
	struct ranges all = { .t = t };
	struct range *r = all.range;
	size_t n = t->threads < RANGES ? t->threads : RANGES, i;
	int ret = 0;

	while (n > 1 && (nops / n < RANGE || pairs > nops / 4 / n))
		n--;
	for (i = 0; i < n; i++) {
		const size_t most = nops / n + 1;

		r[i].from = nops * i / n;
		r[i].to = nops * (i + 1) / n;
		r[i].at = calloc(pairs + 1, sizeof(*r[i].at));
		r[i].seen = malloc((pairs < most ? pairs : most) * sizeof(*r[i].seen) + 1);
		if (!r[i].at || !r[i].seen)
			ret = -ENOMEM;
	}
	if (ret)
		goto free;
	kl_threads_each(n, n, count_range, &all);
	ret = kl_limit_look(NULL, 0) ?: place_ranges(t, r, n);
	if (ret)
		goto free;
	kl_threads_each(n, n, list_range, &all);
free:
	for (i = 0; i < n; i++) {
		free(r[i].at);
		free(r[i].seen);
	}
	return ret;
}

/* Find the partition, or make it.  Return: its number, or -ENOMEM. */
static int64_t find_part(struct splitter *t, uint32_t object, uint32_t key)
{
	const uint32_t hash = kl_mix(object, key);
	uint32_t i;
	size_t at;
	int ret;

	kl_table_for_each(&t->table, hash, at, i)
		if (t->s->object[i] == object && t->part_key[i] == key)
			return i;
	ret = kl_table_add(&t->table, hash, t->s->n) ?: new_part(t, object, key);
	return ret ? ret : (int64_t)t->s->n - 1;
}

static int number_hashed(struct splitter *t)
{
	const struct kl_split *s = t->s;
	int64_t part;
	size_t i;

	for (i = 0; i < t->h->nops; i++) {
		const struct kl_op *op = &t->h->ops[i];

		if (!(i % LOOKS) && kl_limit_look(NULL, 0))
			return -ETIME;
		part = find_part(t, op->object, s->by_key ? t->key[op->sig] : 0);
		if (part < 0)
			return part;
		t->part[i] = part;
	}
	return 0;
}

/* Make one partition of all operations. */
static int only_part(struct splitter *t)
{
	struct kl_split *s = t->s;
	const bool all = kl_spec_partition(t->spec) == KL_PART_NONE;
	int ret = t->h->nops ? new_part(t, all ? KL_ALL_OBJECTS : 0, 0) : 0;

	if (ret)
		return ret;
	s->at = calloc(2, sizeof(*s->at));
	s->key = calloc(1, sizeof(*s->key));
	if (!s->at || !s->key)
		return -ENOMEM;
	s->at[s->n] = t->h->nops;
	return 0;
}

/* List each partition's operations. */
static int gather(struct splitter *t)
{
	struct kl_split *s = t->s;
	size_t i;

	s->at = calloc(s->n + 2, sizeof(*s->at));
	if (!s->at)
		return -ENOMEM;
	for (i = 0; i < t->h->nops; i++)
		s->at[t->part[i] + 2]++;
	for (i = 2; i < s->n + 2; i++)
		s->at[i] += s->at[i - 1];
	for (i = 0; i < t->h->nops; i++)
		s->ops[s->at[t->part[i] + 1]++] = i;
	return 0;
}

static int make_parts(struct splitter *t)
{
	const size_t nops = t->h->nops, pairs = t->h->nobjects * t->nkeys;
	const bool direct = pairs / t->nkeys == t->h->nobjects && pairs <= 4 * nops + 1024 &&
			    pairs < UINT32_MAX;
	struct kl_split *s = t->s;
	size_t i, words;
	int ret;

	t->part = kl_big_alloc((nops + 1) * sizeof(*t->part));
	s->ops = kl_big_alloc((nops + 1) * sizeof(*s->ops));
	if (!t->part || !s->ops)
		return -ENOMEM;
	ret = kl_limit_look(NULL, 0);
	if (ret)
		return ret;
	ret = direct ? split_direct(t, pairs) : number_hashed(t) ?: gather(t);
	if (ret)
		return ret;
	s->key = calloc(s->n + 1, sizeof(*s->key));
	if (!s->key)
		return -ENOMEM;
	for (i = 0; s->by_key && i < s->n; i++)
		s->key[i] = *kl_intern_get(&t->keys, t->part_key[i], &words);
	return 0;
}

int kl_split(const struct kl_spec *spec, const struct kl_history *h, const int *methods,
	     bool by_object, unsigned int threads, struct kl_split *out)
{
	struct splitter t = {
		.spec = spec, .h = h, .methods = methods, .s = out, .threads = threads ?: 1,
	};
	int ret = 0;

	memset(out, 0, sizeof(*out));
	t.key = kl_big_alloc((h->nopsigs + 1) * sizeof(*t.key));
	if (!t.key)
		ret = -ENOMEM;
	if (!ret && !by_object && kl_spec_partition(spec) == KL_PART_PARAM)
		ret = number_keys(&t);
	out->by_key = ret > 0 && h->nops;
	if (!out->by_key)
		t.nkeys = 1;
	if (ret >= 0 && !out->by_key &&
	    (h->nobjects <= 1 || kl_spec_partition(spec) == KL_PART_NONE))
		ret = only_part(&t);
	else if (ret >= 0)
		ret = make_parts(&t);
	free(t.part);
	free(t.key);
	kl_intern_free(&t.keys);
	kl_table_free(&t.table);
	free(t.part_key);
	if (ret)
		kl_split_free(out);
	return ret;
}
