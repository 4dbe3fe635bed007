// SPDX-License-Identifier: GPL-2.0
/* The values of a priority queue in the order in which they are popped; see loglinear.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/loglinear/loglinear.h"

/* Return: a key that is less for values that are popped earlier or, with @last, later. */
static inline uint64_t key(const struct loglinear *m, uint32_t value, bool last)
{
	return m->c.max != last ? ~ll_word(m, value) : ll_word(m, value);
}

/* Sort entries with equal upper halves by their whole words, in @room if that is large enough. */
static int sort_run(const struct loglinear *m, uint64_t *t, size_t n, bool last, uint64_t *room,
		    size_t nroom)
{
	const size_t need = 2 * n * sizeof(struct kl_key) / sizeof(*room);
	struct kl_key *more = need > nroom ? malloc(need * sizeof(*room)) : NULL;
	struct kl_key *k = more ? more : (struct kl_key *)room;
	size_t i;

	if (need > nroom && !more)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		k[i] = (struct kl_key){ .key = key(m, t[i], last), .val = t[i] };
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i++)
		t[i] = (t[i] & ~(uint64_t)UINT32_MAX) | k[i].val;
	free(more);
	return 0;
}

static int sort_runs(const struct loglinear *m, uint64_t *t, size_t n, bool last, uint64_t *room)
{
	size_t i, end;
	int ret = 0;

	for (i = 0; i < n && !ret; i = end) {
		for (end = i + 1; end < n && !((t[i] ^ t[end]) >> 32); end++)
			;
		if (end > i + 1)
			ret = sort_run(m, t + i, end - i, last, room, n);
	}
	return ret;
}

uint64_t *ll_turns(const struct loglinear *m, bool last, uint32_t *count)
{
	const size_t bytes = ((size_t)m->nvalues + 1) * sizeof(uint64_t);
	uint64_t *t = kl_big_alloc(bytes), *room = kl_big_alloc(bytes);
	uint64_t min = UINT64_MAX, max = 0;
	unsigned int shift;
	uint32_t i, n = 0;
	int ret = -ENOMEM;

	if (!t || !room)
		goto out;
	for (i = 0; i < m->nvalues; i++) {
		const uint64_t k = key(m, i, last);

		min = k < min ? k : min;
		max = k > max ? k : max;
	}
	shift = max > min ? __builtin_clzll(max - min) : 63;
	for (i = 0; i < m->nvalues; i++)
		if (!ll_gone(m, &m->v[i]))
			t[n++] = ((key(m, i, last) - min) << shift & ~(uint64_t)UINT32_MAX) | i;
	kl_sort_halves(t, n, room);
	/* The upper half lacks some bits of the words, which may differ. */
	ret = shift < 32 ? sort_runs(m, t, n, last, room) : 0;
	*count = n;
out:
	free(room);
	if (ret) {
		free(t);
		t = NULL;
	}
	return t;
}
