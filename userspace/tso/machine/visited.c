// SPDX-License-Identifier: GPL-2.0
/* The set of states that a search has visited: an append-only array with a hash table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tso/machine/visited.h"

#define FIRST_SLOTS	64
/* offset in kl_visited.mem from which huge pages are used */
#define LARGE		(16u << 20)

/* Replace the table by an empty one with @n slots. */
static int set_table(struct kl_visited *s, uint64_t n)
{
	uint32_t *table = calloc(n, sizeof(*table));
	uint8_t *hint = malloc(n * sizeof(*hint));

	if (!table || !hint) {
		free(table);
		free(hint);
		return -ENOMEM;
	}
	kl_big_hint(table, n * sizeof(*table));
	kl_big_hint(hint, n * sizeof(*hint));
	free(s->table);
	free(s->hint);
	s->table = table;
	s->hint = hint;
	s->nslots = n;
	return 0;
}

int kl_visited_init(struct kl_visited *s, uint64_t limit)
{
	const uint64_t max = 4 * (uint64_t)(UINT32_MAX - KL_VISITED_STATE_MAX);

	memset(s, 0, sizeof(*s));
	s->limit = limit;
	if (set_table(s, FIRST_SLOTS))
		return -ENOMEM;
	/* This reserves addresses only; the kernel adds memory on the first write. */
	s->size = limit < max ? limit : max;
	s->mem = mmap(NULL, s->size + KL_VISITED_PAD, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->mem != MAP_FAILED) {
		if (s->size > LARGE)
			madvise(s->mem + LARGE, s->size - LARGE, MADV_HUGEPAGE);
		return 0;
	}
	free(s->table);
	free(s->hint);
	memset(s, 0, sizeof(*s));
	return -ENOMEM;
}

void kl_visited_free(struct kl_visited *s)
{
	if (s->mem)
		munmap(s->mem, s->size + KL_VISITED_PAD);
	free(s->table);
	free(s->hint);
	memset(s, 0, sizeof(*s));
}

/*
 * Return: the first bytes at @p, @len but at most 8.  They are read by a single load of 8 bytes: a
 * load that spans several recent stores would have to wait for them.
 */
static uint64_t load(const uint8_t *p, size_t len)
{
	uint64_t v;

	if (!len)
		return 0;
	memcpy(&v, p, 8);
	return len < 8 ? v & ((1ULL << 8 * len) - 1) : v;
}

static uint64_t hash(const uint8_t *p, size_t len)
{
	uint64_t h = len, a, b;

	for (; len >= 16; len -= 16, p += 16) {
		memcpy(&a, p, 8);
		memcpy(&b, p + 8, 8);
		h = kl_mix(a ^ h, b);
	}
	a = load(p, len);
	b = len > 8 ? load(p + 8, len - 8) : 0;
	return kl_mix(kl_mix(a ^ h, b), 0x589965cc75374cc3ULL);
}

/* States are short, so a call of memcmp() would take longer than this loop. */
static bool same(const uint8_t *p, const uint8_t *q, size_t len)
{
	uint64_t a, b;

	for (; len >= 8; len -= 8, p += 8, q += 8) {
		memcpy(&a, p, 8);
		memcpy(&b, q, 8);
		if (a != b)
			return false;
	}
	while (len && *p == *q) {
		len--;
		p++;
		q++;
	}
	return !len;
}

static uint8_t hint_of(uint64_t h)
{
	return h >> 56;
}

static void put(struct kl_visited *s, uint64_t h, uint32_t at)
{
	uint64_t i = h & (s->nslots - 1);

	while (s->table[i])
		i = (i + 1) & (s->nslots - 1);
	s->table[i] = at + 1;
	s->hint[i] = hint_of(h);
}

static int grow(struct kl_visited *s)
{
	const uint64_t n = s->nslots * 2, one = sizeof(*s->table) + sizeof(*s->hint);
	uint32_t at;
	int ret;

	/* During the growth both tables exist. */
	if (s->used + (n + s->nslots) * one > s->limit)
		return -ENOSPC;
	ret = set_table(s, n);
	for (at = 0; !ret && kl_visited_has(s, at); at = kl_visited_next(s, at))
		if (!kl_visited_head(s, at)->idle)
			put(s, hash(kl_visited_state(s, at), kl_visited_head(s, at)->len), at);
	return ret;
}

/* Append a record. */
static int append(struct kl_visited *s, const uint8_t *state, const struct kl_record *r)
{
	const uint64_t bytes = (sizeof(*r) + r->len + 3) / 4 * 4;

	if (kl_visited_bytes(s) + bytes > s->limit || s->used + bytes > s->size)
		return -ENOSPC;
	memcpy(s->mem + s->used, r, sizeof(*r));
	memcpy(s->mem + s->used + sizeof(*r), state, r->len);
	s->found = s->used / 4;
	s->used += bytes;
	s->n++;
	return 0;
}

uint64_t kl_visited_hash(const struct kl_visited *s, const uint8_t *state, size_t len)
{
	const uint64_t h = hash(state, len);

	__builtin_prefetch(&s->table[h & (s->nslots - 1)]);
	__builtin_prefetch(&s->hint[h & (s->nslots - 1)]);
	return h;
}

void kl_visited_prefetch(const struct kl_visited *s, uint64_t h)
{
	const uint32_t at = s->table[h & (s->nslots - 1)];

	if (at)
		__builtin_prefetch(kl_visited_head(s, at - 1));
}

int kl_visited_add(struct kl_visited *s, uint64_t h, const uint8_t *state, size_t len, uint32_t tag,
		   uint32_t parent)
{
	const struct kl_record r = {
		.parent = parent, .tag = tag, .next = KL_NO_STATE, .len = len,
	};
	struct kl_record *e;
	uint32_t at;
	uint64_t i;
	int ret;

	if (len > KL_VISITED_STATE_MAX)
		return -E2BIG;
	if (s->n * 4 >= s->nslots * 3) {
		ret = grow(s);
		/* Without room for a larger table, fill the old one up to nine tenths. */
		if (ret && s->n * 10 >= s->nslots * 9)
			return ret;
	}
	for (i = h & (s->nslots - 1); s->table[i]; i = (i + 1) & (s->nslots - 1)) {
		if (s->hint[i] != hint_of(h))
			continue;
		at = s->table[i] - 1;
		e = kl_visited_head(s, at);
		if (e->len != len || !same(kl_visited_state(s, at), state, len))
			continue;
		s->found = at;
		if (e->tag == tag || (s->covers && s->covers(s->ctx, e->tag, tag)))
			return 0;
		if (!s->covers || !s->covers(s->ctx, tag, e->tag))
			continue;
		if (at >= s->open) {
			e->tag = tag;
			e->parent = parent;
			return 0;
		}
		/* The slot now leads to the new record, so the old one is not found any more. */
		at = s->used / 4;
		ret = append(s, state, &r);
		if (ret)
			return ret;
		e->idle = true;
		s->table[i] = at + 1;
		return 1;
	}
	at = s->used / 4;
	ret = append(s, state, &r);
	if (ret)
		return ret;
	s->table[i] = at + 1;
	s->hint[i] = hint_of(h);
	return 1;
}
