// SPDX-License-Identifier: GPL-2.0
/* The growth of tables, see table.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"

#define FIRST_SLOTS	64

int kl_table_reserve(struct kl_table *t, size_t more)
{
	const struct kl_table old = *t;
	size_t size = old.slot ? old.mask + 1 : FIRST_SLOTS, i, at;

	if (more > KL_TABLE_END - 1 || old.n > KL_TABLE_END - 1 - more)
		return -EOVERFLOW;
	while (size < 2 * (old.n + more))
		size *= 2;
	if (old.slot && size == old.mask + 1)
		return 0;
	t->slot = calloc(size, sizeof(*t->slot));
	if (!t->slot) {
		*t = old;
		return -ENOMEM;
	}
	kl_big_hint(t->slot, size * sizeof(*t->slot));
	t->mask = size - 1;
	for (i = 0; old.slot && i <= old.mask; i++) {
		if (!old.slot[i])
			continue;
		for (at = old.slot[i] >> 32 & t->mask; t->slot[at]; at = (at + 1) & t->mask)
			;
		t->slot[at] = old.slot[i];
	}
	free(old.slot);
	return 0;
}

void kl_table_clear(struct kl_table *t)
{
	if (t->slot)
		memset(t->slot, 0, (t->mask + 1) * sizeof(*t->slot));
	t->n = 0;
}

void kl_table_free(struct kl_table *t)
{
	free(t->slot);
	memset(t, 0, sizeof(*t));
}

/*
 * Move later entries of the run into the free slot.  Otherwise a search for one of them would stop
 * at that slot.
 */
void kl_table_remove(struct kl_table *t, uint32_t hash, uint32_t i)
{
	const uint64_t entry = (uint64_t)hash << 32 | (i + 1);
	size_t at = hash & t->mask, next, home;

	while (t->slot[at] != entry)
		at = (at + 1) & t->mask;
	for (next = (at + 1) & t->mask; t->slot[next]; next = (next + 1) & t->mask) {
		home = t->slot[next] >> 32 & t->mask;
		if (((next - home) & t->mask) < ((next - at) & t->mask))
			continue;
		t->slot[at] = t->slot[next];
		at = next;
	}
	t->slot[at] = 0;
	t->n--;
}
