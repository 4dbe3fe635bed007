// SPDX-License-Identifier: GPL-2.0
/*
 * What an unknown may be: words, as ascending ranges that do not touch, and special
 * values.  Ranges live until the end of the path.
 */
#include <errno.h>
#include <string.h>

#include "spec/run.h"

#define RANGES_MAX	256		/* of an unknown; where it has more they are not kept */
#define ALL_RANGES_MAX	(1u << 20)	/* of a path */

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

/* Room for @n more ranges: 0, -ENOMEM, -E2BIG: there are too many, which is no error. */
static int room(struct kl_run *r, size_t n)
{
	return r->nranges + n > ALL_RANGES_MAX ? -E2BIG :
	       kl_grow(r->ranges, r->cranges, r->nranges + n);
}

/* A constraint that is not kept: more is accepted, which the state says. */
static int forget(struct kl_run *r, int ret)
{
	if (ret != -E2BIG)
		return ret;
	r->lost = true;
	return 0;
}

bool kl_dom_all_words(const struct kl_run *r, const struct kl_dom *d)
{
	return d->n == 1 && !r->ranges[d->at].lo && r->ranges[d->at].hi == UINT64_MAX;
}

bool kl_dom_is_all(const struct kl_run *r, const struct kl_dom *d)
{
	return d->special == kl_dom_all(r).special && kl_dom_all_words(r, d);
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
	if (d->special || d->n != 1 || r->ranges[d->at].lo != r->ranges[d->at].hi)
		return false;
	*word = r->ranges[d->at].lo;
	return true;
}

/* From @lo on, perhaps beyond the greatest word, to @hi. */
int kl_dom_range(struct kl_run *r, uint64_t lo, uint64_t hi, struct kl_dom *d)
{
	int ret = room(r, 2);

	if (ret)
		return ret;
	*d = (struct kl_dom){ .at = r->nranges, .n = 1 };
	if (lo <= hi) {
		r->ranges[r->nranges++] = (struct kl_range){ lo, hi };
		return 0;
	}
	r->ranges[r->nranges++] = (struct kl_range){ 0, hi };
	/* They may touch. */
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
	int ret = room(r, (size_t)d->n + with->n);

	if (ret)
		return forget(r, ret);
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
		return forget(r, -E2BIG);
	if (n == d->n && !memcmp(out, r->ranges + d->at, n * sizeof(*out))) {
		d->special = special;
	} else {
		*d = (struct kl_dom){ .at = r->nranges, .n = n, .special = special };
		r->nranges += n;
	}
	return n || special ? 0 : KL_DROP;
}

int kl_dom_remove(struct kl_run *r, struct kl_dom *d, struct kl_val v)
{
	struct kl_dom other;
	int ret;

	if (v.tag != KL_WORD) {
		d->special &= ~(1u << v.tag);
		return d->n || d->special ? 0 : KL_DROP;
	}
	/* All words from the one behind it to the one before it. */
	ret = kl_dom_range(r, v.v + 1, v.v - 1, &other);
	if (ret)
		return forget(r, ret);
	other.special = d->special;
	return kl_dom_cut(r, d, &other);
}

int kl_dom_map(struct kl_run *r, const struct kl_dom *d, bool minus, uint64_t c,
	       struct kl_dom *to)
{
	struct kl_range *out;
	uint32_t i, k, n = 0;
	int ret = room(r, (size_t)d->n + 1);

	if (ret)
		return ret;
	out = r->ranges + r->nranges;
	for (i = 0; i < d->n; i++) {
		const struct kl_range a = r->ranges[d->at + i];
		struct kl_range b = { (minus ? -a.hi : a.lo) + c, (minus ? -a.lo : a.hi) + c };

		/* One may begin below the greatest word and end above it. */
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
	/* Where 0 came to lie two may touch. */
	for (i = k = 0; i < n; i++) {
		if (k && out[k - 1].hi + 1 == out[i].lo)
			out[k - 1].hi = out[i].hi;
		else
			out[k++] = out[i];
	}
	*to = (struct kl_dom){ .at = r->nranges, .n = k };
	r->nranges += k;
	return 0;
}
