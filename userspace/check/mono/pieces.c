// SPDX-License-Identifier: GPL-2.0
/* Operations by blocks, see pieces.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/mono/pieces.h"

void pieces_free(struct pieces *p)
{
	free(p->piece);
	free(p->from);
	free(p->n);
}

/* How many there are of each block, in from[block + 2]; or list them, from[block + 1] on. */
static inline void put(struct pieces *p, bool list, unsigned int l, uint32_t block, uint64_t piece)
{
	block += p->base[l];
	if (list)
		p->piece[p->from[block + 1]++] = piece;
	else
		p->from[block + 2]++;
}

static inline void put_window(struct pieces *p, bool list, struct mono_window w, uint32_t item)
{
	uint32_t from = w.from, to = w.to, a, b;
	unsigned int l;

	for (l = 0; ; l++, from = a + 1, to = b - 1) {
		a = from / COVER_BLOCK;
		b = to / COVER_BLOCK;
		if (a == b) {
			put(p, list, l, a, piece_make(item, from, to));
			return;
		}
		put(p, list, l, a, piece_make(item, from, COVER_BLOCK - 1));
		put(p, list, l, b, piece_make(item, 0, to));
		if (a + 1 == b)
			return;
	}
}

static inline void put_all(struct pieces *p, bool list, struct mono *m)
{
	uint32_t i, peek;

	for (i = 0; i < m->nvalues; i++) {
		const struct mono_value *v = &m->v[i];

		if (mono_gone(m, v))
			continue;
		if (v->add != MONO_NONE)
			put_window(p, list, mono_add_window(v), v->add);
		if (v->remove != MONO_NONE)
			put_window(p, list, mono_remove_window(v), v->remove);
		for (peek = v->peeks ? m->first_peek[i] : MONO_NONE; peek != MONO_NONE;
		     peek = m->next_peek[peek])
			put_window(p, list, mono_peek_window(m, v, peek), peek);
	}
}

int pieces_init(struct pieces *p, struct mono *m)
{
	uint64_t blocks = m->end, n = 0;
	uint32_t i, all;
	unsigned int l;

	memset(p, 0, sizeof(*p));
	for (l = 0; l < COVER_LEVELS; l++) {
		blocks = blocks / COVER_BLOCK + 1;
		p->base[l + 1] = p->base[l] + blocks;
	}
	all = p->base[COVER_LEVELS];
	p->from = calloc((size_t)all + 2, sizeof(*p->from));
	p->n = malloc((size_t)all * sizeof(*p->n));
	if (!p->from || !p->n)
		return -ENOMEM;
	put_all(p, false, m);
	for (i = 0; i < all; i++)
		n += p->n[i] = p->from[i + 2];
	if (n >= UINT32_MAX)
		return -ENOMEM;
	for (i = 2; i < all + 2; i++)
		p->from[i] += p->from[i - 1];
	p->piece = kl_big_alloc((n + 1) * sizeof(*p->piece));
	if (!p->piece)
		return -ENOMEM;
	put_all(p, true, m);
	return 0;
}
