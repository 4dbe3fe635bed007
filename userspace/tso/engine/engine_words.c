// SPDX-License-Identifier: GPL-2.0
/* The TSO engine's states as arrays of words, which are interned. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tso/engine/engine.h"

/* Sort the entries by thread, and keep the order within a thread; few are out of order. */
static int order_entries(struct tso *t, const struct kl_machine *m)
{
	size_t i, k;
	int ret = kl_grow(t->order, t->corder, m->nentries + 1);

	for (i = 0; i < m->nentries && !ret; i++) {
		for (k = i; k && m->entries[t->order[k - 1]].thread > m->entries[i].thread; k--)
			t->order[k] = t->order[k - 1];
		t->order[k] = i;
	}
	return ret;
}

/*
 * The words of a state:
 *	flags, @last, number of entries
 *	memory
 *	entries: thread and item; due, hidden and number of stores; the stores
 *	notes
 * The order of threads is fixed, so equal states have equal words.
 */
int64_t tso_intern(struct tso *t, struct kl_machine *m, bool dropped, uint32_t last)
{
	size_t n = 0, i, k;
	const size_t need = 1 + 2 * m->nmem + 2 * m->nentries + 3 * m->nwrites + 2 * m->nnotes;
	int ret;

	kl_machine_canon(m);
	ret = kl_grow(t->words, t->cwords, need) ?: order_entries(t, m);
	if (ret)
		return ret;
	t->words[n++] = (m->in_gap ? GAP_BIT : 0) | (dropped ? DROPPED_BIT : 0) |
			(m->nnotes ? NOTES_BIT : 0) | (uint64_t)last << LAST_SHIFT | m->nentries;
	memcpy(t->words + n, m->mem, m->nmem * sizeof(*m->mem));
	n += 2 * m->nmem;
	for (i = 0; i < m->nentries; i++) {
		const struct kl_entry *e = &m->entries[t->order[i]];

		t->words[n++] = (uint64_t)e->thread << 32 | e->item;
		t->words[n++] = (e->due ? DUE_BIT : 0) | (e->hidden ? HIDDEN_BIT : 0) | e->n;
		for (k = 0; k < e->n; k++) {
			const struct kl_write *w = &m->writes[e->first + k];

			t->words[n++] = w->slot;
			t->words[n++] = w->v.v;
			t->words[n++] = w->v.tag;
		}
	}
	if (m->nnotes)
		memcpy(t->words + n, m->notes, m->nnotes * sizeof(*m->notes));
	return kl_intern(&t->machines, t->words, n + 2 * m->nnotes);
}

int tso_load(struct tso *t, uint32_t state, struct kl_machine *m)
{
	size_t len, n = 0, i, k;
	const uint64_t *w = kl_intern_get(&t->machines, state, &len);
	int ret;

	m->in_gap = w[0] & GAP_BIT;
	t->last = w[0] >> LAST_SHIFT & LAST_MASK;
	m->nentries = (uint32_t)w[0];
	m->nwrites = 0;
	ret = kl_grow(m->entries, m->centries, m->nentries + 1) ?:
	      kl_grow(m->writes, m->cwrites, len / 3 + 1);
	if (ret)
		return ret;
	memcpy(m->mem, w + 1, m->nmem * sizeof(*m->mem));
	n = 1 + 2 * m->nmem;
	for (i = 0; i < m->nentries; i++) {
		struct kl_entry *e = &m->entries[i];

		e->thread = w[n] >> 32;
		e->item = (uint32_t)w[n++];
		e->hidden = w[n] & HIDDEN_BIT;
		e->due = w[n] & DUE_BIT;
		e->n = (uint32_t)w[n++];
		e->first = m->nwrites;
		for (k = 0; k < e->n; k++, n += 3)
			m->writes[m->nwrites++] = (struct kl_write){
				.slot = w[n], .v = { .v = w[n + 1], .tag = w[n + 2] },
			};
	}
	m->nnotes = w[0] & NOTES_BIT ? (len - n) / 2 : 0;
	ret = kl_grow(m->notes, m->cnotes, m->nnotes);
	if (!ret && m->nnotes)
		memcpy(m->notes, w + n, m->nnotes * sizeof(*m->notes));
	return ret;
}

uint32_t tso_thread_entries(const uint64_t *w, uint32_t left)
{
	const uint32_t thread = entry_thread(w);
	uint32_t n;

	for (n = 0; n < left && entry_thread(w) == thread; n++)
		w = entry_next(w);
	return n;
}

bool tso_same(struct kl_system *sys, uint32_t a, uint32_t b)
{
	const struct kl_intern *m = &((struct tso *)sys)->machines;
	size_t na, nb;
	const uint64_t *wa = kl_intern_get(m, a, &na), *wb = kl_intern_get(m, b, &nb);

	return na == nb && !((wa[0] ^ wb[0]) & ~STEP_BITS) &&
	       !memcmp(wa + 1, wb + 1, (na - 1) * sizeof(*wa));
}

bool tso_lost(struct kl_system *sys, uint32_t state)
{
	const struct tso *t = (const struct tso *)sys;

	size_t len;
	const uint64_t *w = kl_intern_get(&t->machines, state, &len);

	return (w[0] & (GAP_BIT | NOTES_BIT)) == NOTES_BIT &&
	       kl_state_lost((const struct kl_val *)(w + len - 2), 1);
}

int64_t tso_seal(struct kl_system *sys, uint32_t state)
{
	struct tso *t = (struct tso *)sys;
	size_t n;
	const uint64_t *w = kl_intern_get(&t->machines, state, &n);

	if (!(w[0] & STEP_BITS))
		return state;
	if (kl_grow(t->words, t->cwords, n))
		return -ENOMEM;
	memcpy(t->words, w, n * sizeof(*w));
	t->words[0] &= ~STEP_BITS;
	return kl_intern(&t->machines, t->words, n);
}

/* Return: true if two entries are equal, except that @a may be hidden where @b is not. */
static bool same_entry(const uint64_t *a, const uint64_t *b)
{
	const uint64_t more = entry_hidden(b) ? 0 : HIDDEN_BIT;

	return a[0] == b[0] && !((a[1] ^ b[1]) & ~more) &&
	       !memcmp(a + 2, b + 2, 3 * (size_t)(uint32_t)a[1] * sizeof(*a));
}

/*
 * Return: true if the state @a is @b with more hidden entries: entries of @b are hidden in @a, or
 * each thread of @a has further hidden entries before those of @b.  These can be dropped at any
 * time.
 */
bool tso_covers(struct kl_system *sys, uint32_t a, uint32_t b)
{
	const struct tso *t = (const struct tso *)sys;
	const uint64_t *w = t->machines.words + t->machines.at[a];
	const uint64_t *v = t->machines.words + t->machines.at[b];
	uint32_t n = (uint32_t)w[0], m = (uint32_t)v[0], k, l, i;

	/* States with notes are not compared. */
	if (((w[0] ^ v[0]) & GAP_BIT) || (w[0] | v[0]) & NOTES_BIT || n < m ||
	    memcmp(w + 1, v + 1, 2 * t->m.nmem * sizeof(*w)))
		return false;
	w += 1 + 2 * t->m.nmem;
	v += 1 + 2 * t->m.nmem;
	for (; n; n -= k, m -= l) {
		k = tso_thread_entries(w, n);
		l = m && entry_thread(v) == entry_thread(w) ? tso_thread_entries(v, m) : 0;
		if (k < l)
			return false;
		for (i = 0; i < k - l; i++, w = entry_next(w))
			if (!entry_hidden(w))
				return false;
		for (; i < k; i++, w = entry_next(w), v = entry_next(v))
			if (!same_entry(w, v))
				return false;
	}
	return !m;
}

size_t tso_bytes(const struct kl_system *sys)
{
	const struct tso *t = (const struct tso *)sys;
	const size_t now = kl_intern_bytes(&t->machines);

	return now > t->peak ? now : t->peak;
}

bool tso_full(const struct kl_system *sys)
{
	const struct tso *t = (const struct tso *)sys;

	return t->machines.nwords + t->machines.n > t->room;
}

int tso_keep(struct kl_system *sys, uint32_t *states, size_t n)
{
	struct tso *t = (struct tso *)sys;
	int ret;

	t->peak = tso_bytes(sys);
	ret = kl_intern_keep(&t->machines, &sys->first, 1, states, n);
	if (ret)
		return ret;
	/* The next call of tso_keep() costs little compared with the states made until then. */
	t->room = TSO_ROOM + 8 * (t->machines.nwords + t->machines.n);
	return 0;
}
