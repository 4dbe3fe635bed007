// SPDX-License-Identifier: GPL-2.0
/*
 * Domains of unknowns: words, as ascending ranges that do not touch, and special values.  Ranges
 * live until the end of the path.
 *
 * A comparison may exclude a single word from a domain, and each order of the operations may
 * exclude other words.  Keeping all excluded words would multiply the states, and they hardly
 * ever matter.  So kl_dom_fold() keeps a few of them.  If there are more, it keeps only a range
 * that contains them: the doubtful range.  If a result depends on whether a doubtful word is
 * excluded, the path is lost.
 */
#include <errno.h>
#include <string.h>

#include "spec/interp/run.h"

#define RANGES_MAX	256		/* ranges of one unknown */
#define HOLES_MAX	3		/* excluded single words that a state keeps */
#define ALL_RANGES_MAX	(1u << 20)	/* ranges of all unknowns of a path */

int kl_dom_reset(struct kl_run *r)
{
	int ret = kl_grow(r->ranges, r->cranges, 1);

	if (ret)
		return ret;
	r->ranges[0] = (struct kl_range){ .hi = UINT64_MAX };
	r->nranges = 1;
	return 0;
}

struct kl_dom kl_dom_all(const struct kl_run *r)
{
	static const uint32_t special = 1u << KL_EMPTY | 1u << KL_FULL | 1u << KL_ABSENT;

	return (struct kl_dom){ .n = 1, .special = r->s->specials ? special : 0 };
}

/* Make room for @n more ranges.  Return: 0, -ENOMEM, or -E2BIG if there are too many. */
static int reserve_ranges(struct kl_run *r, size_t n)
{
	return r->nranges + n > ALL_RANGES_MAX ? -E2BIG :
	       kl_grow(r->ranges, r->cranges, r->nranges + n);
}

bool kl_dom_all_words(const struct kl_run *r, const struct kl_dom *d)
{
	return d->n == 1 && !r->ranges[d->at].lo && r->ranges[d->at].hi == UINT64_MAX;
}

/* Return: true if all words from @lo to @hi are in @doubt, which may wrap around. */
static bool range_contains(const struct kl_range *doubt, uint64_t lo, uint64_t hi)
{
	return lo - doubt->lo <= doubt->hi - doubt->lo && hi - lo <= doubt->hi - lo;
}

bool kl_dom_doubts(const struct kl_dom *d, struct kl_val v)
{
	return d->doubtful && v.tag == KL_WORD && range_contains(&d->doubt, v.v, v.v);
}

/* If all values of the domain are doubtful, the domain may be empty: the path is lost. */
static void check_doubt(struct kl_run *r, const struct kl_dom *d)
{
	uint32_t i;

	if (!d->doubtful || d->special)
		return;
	for (i = d->at; i < d->at + d->n; i++)
		if (!range_contains(&d->doubt, r->ranges[i].lo, r->ranges[i].hi))
			return;
	r->lost = true;
}

/* Replace the doubtful range by the shortest one that also contains the words from @lo to @hi. */
static void extend_doubt(struct kl_dom *d, uint64_t lo, uint64_t hi)
{
	const struct kl_range old = d->doubtful ? d->doubt : (struct kl_range){ lo, hi };
	const struct kl_range ways[] = {
		old, { lo, hi }, { old.lo, hi }, { lo, old.hi }, { 0, UINT64_MAX },
	};
	const struct kl_range *best = NULL;
	unsigned int i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const struct kl_range *w = &ways[i];

		if (range_contains(w, lo, hi) && range_contains(w, old.lo, old.hi) &&
		    (!best || w->hi - w->lo < best->hi - best->lo))
			best = w;
	}
	d->doubt = *best;
	d->doubtful = true;
}

bool kl_dom_is_all(const struct kl_run *r, const struct kl_dom *d)
{
	return d->special == kl_dom_all(r).special && !d->doubtful && kl_dom_all_words(r, d);
}

bool kl_dom_has(const struct kl_run *r, const struct kl_dom *d, struct kl_val v)
{
	uint32_t i;

	if (v.tag != KL_WORD)
		return d->special >> v.tag & 1;
	for (i = d->at; i < d->at + d->n && r->ranges[i].hi < v.v; i++)
		;
	return i < d->at + d->n && r->ranges[i].lo <= v.v;
}

bool kl_dom_one(const struct kl_run *r, const struct kl_dom *d, uint64_t *word)
{
	if (d->special || d->n != 1 || d->doubtful || r->ranges[d->at].lo != r->ranges[d->at].hi)
		return false;
	*word = r->ranges[d->at].lo;
	return true;
}

int kl_dom_range(struct kl_run *r, uint64_t lo, uint64_t hi, struct kl_dom *d)
{
	int ret = reserve_ranges(r, 2);

	if (ret)
		return ret;
	*d = (struct kl_dom){ .at = r->nranges, .n = 1 };
	if (lo <= hi) {
		r->ranges[r->nranges++] = (struct kl_range){ lo, hi };
		return 0;
	}
	r->ranges[r->nranges++] = (struct kl_range){ 0, hi };
	/* The two ranges may touch. */
	if (hi + 1 == lo) {
		r->ranges[d->at].hi = UINT64_MAX;
		return 0;
	}
	r->ranges[r->nranges++] = (struct kl_range){ lo, UINT64_MAX };
	d->n = 2;
	return 0;
}

int kl_dom_cut(struct kl_run *r, struct kl_dom *d, const struct kl_dom *with)
{
	const uint32_t special = d->special & with->special;
	uint32_t i = 0, k = 0, n = 0;
	struct kl_range *out;
	int ret = reserve_ranges(r, (size_t)d->n + with->n);

	if (ret)
		return kl_run_lose_e2big(r, ret);
	out = r->ranges + r->nranges;
	while (i < d->n && k < with->n) {
		const struct kl_range a = r->ranges[d->at + i], b = r->ranges[with->at + k];
		const struct kl_range both = {
			a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi,
		};

		if (both.lo <= both.hi)
			out[n++] = both;
		if (a.hi < b.hi)
			i++;
		else
			k++;
	}
	if (n > RANGES_MAX)
		return kl_run_lose_e2big(r, -E2BIG);
	if (n == d->n && !memcmp(out, r->ranges + d->at, n * sizeof(*out))) {
		d->special = special;
	} else {
		d->at = r->nranges;
		d->n = n;
		d->special = special;
		r->nranges += n;
	}
	if (with->doubtful)
		extend_doubt(d, with->doubt.lo, with->doubt.hi);
	check_doubt(r, d);
	return n || special ? 0 : KL_DROP;
}

/* Return: the number of excluded single words between two ranges. */
static uint32_t count_holes(const struct kl_run *r, const struct kl_dom *d)
{
	uint32_t i, n = 0;

	for (i = d->at + 1; i < d->at + d->n; i++)
		n += r->ranges[i].lo - r->ranges[i - 1].hi == 2;
	return n;
}

int kl_dom_fold(struct kl_run *r, struct kl_dom *d)
{
	const struct kl_dom old = *d;
	struct kl_range *out;
	uint32_t i, n = 0;
	int ret;

	if (r->exact || count_holes(r, d) <= (d->doubtful ? 0 : HOLES_MAX))
		return 0;
	ret = reserve_ranges(r, old.n);
	if (ret)
		return ret;
	out = r->ranges + r->nranges;
	for (i = old.at; i < old.at + old.n; i++) {
		const struct kl_range a = r->ranges[i];

		if (n && a.lo - out[n - 1].hi == 2) {
			extend_doubt(d, a.lo - 1, a.lo - 1);
			out[n - 1].hi = a.hi;
		} else {
			out[n++] = a;
		}
	}
	d->at = r->nranges;
	d->n = n;
	r->nranges += n;
	check_doubt(r, d);
	return 0;
}

int kl_dom_remove(struct kl_run *r, struct kl_dom *d, struct kl_val v)
{
	struct kl_dom other;
	int ret;

	if (v.tag != KL_WORD) {
		d->special &= ~(1u << v.tag);
		return d->n || d->special ? 0 : KL_DROP;
	}
	/* All other words: from v + 1, wrapping around, to v - 1. */
	ret = kl_dom_range(r, v.v + 1, v.v - 1, &other);
	if (ret)
		return kl_run_lose_e2big(r, ret);
	other.special = d->special;
	return kl_dom_cut(r, d, &other);
}

int kl_dom_map(struct kl_run *r, const struct kl_dom *d, bool minus, uint64_t c,
	       struct kl_dom *to)
{
	struct kl_range *out;
	uint32_t i, k, n = 0;
	int ret = reserve_ranges(r, (size_t)d->n + 1);

	if (ret)
		return ret;
	out = r->ranges + r->nranges;
	for (i = 0; i < d->n; i++) {
		const struct kl_range a = r->ranges[d->at + i];
		struct kl_range b = { (minus ? -a.hi : a.lo) + c, (minus ? -a.lo : a.hi) + c };

		/* A mapped range may wrap around. */
		if (b.lo > b.hi) {
			out[n++] = (struct kl_range){ b.lo, UINT64_MAX };
			b.lo = 0;
		}
		out[n++] = b;
	}
	for (i = 1; i < n; i++) {
		const struct kl_range a = out[i];

		for (k = i; k && out[k - 1].lo > a.lo; k--)
			out[k] = out[k - 1];
		out[k] = a;
	}
	/* Join ranges that touch. */
	for (i = k = 0; i < n; i++) {
		if (k && out[k - 1].hi + 1 == out[i].lo)
			out[k - 1].hi = out[i].hi;
		else
			out[k++] = out[i];
	}
	*to = (struct kl_dom){
		.at = r->nranges, .n = k, .doubtful = d->doubtful,
		.doubt = { (minus ? -d->doubt.hi : d->doubt.lo) + c,
			   (minus ? -d->doubt.lo : d->doubt.hi) + c },
	};
	r->nranges += k;
	return 0;
}
