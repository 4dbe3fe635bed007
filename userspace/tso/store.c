// SPDX-License-Identifier: GPL-2.0
/* The states that a search has seen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "tso/store.h"

#define FIRST_SLOTS	(1u << 12)
#define PLACE_BITS	44
#define PLACE_MASK	((1ULL << PLACE_BITS) - 1)

int kl_store_init(struct kl_store *s, uint64_t limit)
{
	memset(s, 0, sizeof(*s));
	s->limit = limit < PLACE_MASK ? limit : PLACE_MASK;
	s->nslots = FIRST_SLOTS;
	s->table = calloc(s->nslots, sizeof(*s->table));
	if (!s->table)
		return -ENOMEM;
	/* Only addresses: memory comes when it is written to. */
	s->size = s->limit;
	s->mem = mmap(NULL, s->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->mem != MAP_FAILED)
		return 0;
	free(s->table);
	memset(s, 0, sizeof(*s));
	return -ENOMEM;
}

void kl_store_free(struct kl_store *s)
{
	if (s->mem)
		munmap(s->mem, s->size);
	free(s->table);
	memset(s, 0, sizeof(*s));
}

static uint64_t hash(const uint8_t *p, size_t len)
{
	uint64_t h = len, a, b;

	for (; len >= 16; len -= 16, p += 16) {
		memcpy(&a, p, 8);
		memcpy(&b, p + 8, 8);
		h = kl_mix(a ^ h, b);
	}
	a = b = 0;
	memcpy(&a, p, len < 8 ? len : 8);
	if (len > 8)
		memcpy(&b, p + 8, len - 8);
	return kl_mix(kl_mix(a ^ h, b), 0x589965cc75374cc3ULL);
}

static int grow(struct kl_store *s)
{
	uint64_t n = s->nslots * 2, at, h, i;
	uint64_t *table;

	/* Both tables are there for a while. */
	if (s->used + (n + s->nslots) * sizeof(*table) > s->limit)
		return -ENOSPC;
	table = calloc(n, sizeof(*table));
	if (!table)
		return -ENOMEM;
	for (at = 0; at < s->used; at = kl_store_next(s, at)) {
		h = hash(kl_store_state(s, at), kl_store_head(s, at).len);
		for (i = h & (n - 1); table[i]; i = (i + 1) & (n - 1))
			;
		table[i] = (at + 1) | (h & ~PLACE_MASK);
	}
	free(s->table);
	s->table = table;
	s->nslots = n;
	return 0;
}

int kl_store_add(struct kl_store *s, const uint8_t *state, size_t len, uint64_t parent,
		 uint64_t *at)
{
	const struct kl_record r = { .parent = parent, .len = len };
	uint64_t h, i, e;
	int ret;

	if (len > UINT16_MAX)
		return -ENOSPC;
	if (s->n * 4 >= s->nslots * 3) {
		ret = grow(s);
		/* Without room for a larger table this one gets a little fuller yet. */
		if (ret && s->n * 10 >= s->nslots * 9)
			return ret;
	}
	h = hash(state, len);
	for (i = h & (s->nslots - 1); (e = s->table[i]); i = (i + 1) & (s->nslots - 1)) {
		if ((e ^ h) & ~PLACE_MASK)
			continue;
		e = (e & PLACE_MASK) - 1;
		if (kl_store_head(s, e).len == len && !memcmp(kl_store_state(s, e), state, len))
			return 0;
	}
	if (s->used + sizeof(r) + len + s->nslots * sizeof(*s->table) > s->limit ||
	    s->used + sizeof(r) + len > s->size)
		return -ENOSPC;
	*at = s->used;
	memcpy(s->mem + s->used, &r, sizeof(r));
	memcpy(s->mem + s->used + sizeof(r), state, len);
	s->used += sizeof(r) + len;
	s->table[i] = (*at + 1) | (h & ~PLACE_MASK);
	s->n++;
	return 1;
}
