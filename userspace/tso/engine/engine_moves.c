// SPDX-License-Identifier: GPL-2.0
/* The TSO engine's moves: entries that leave the store buffers. */
#include "base/mem.h"
#include "tso/engine/engine.h"

/* Return: true if the item is an operation of @thread; the ends of a gap have no thread. */
static bool is_of_thread(const struct tso *t, uint32_t item, uint32_t thread)
{
	const struct kl_item *it = &t->p->items[item];

	return it->kind == KL_ITEM_OP && it->thread == thread;
}

/* Return: true if the entry must leave by the return or drain that the frontier engine is at. */
static bool must_leave(const struct tso *t, const uint64_t *w)
{
	return t->sys.drain ? entry_item(w) == t->sys.item : entry_due(w);
}

/*
 * Append the moves of a thread, whose @n entries begin at @w, to t->moves, and advance @count.  If
 * all entries that must leave are hidden, one move drops them, and later entries need no flush now.
 * Return: the end of the thread's entries.
 */
static const uint64_t *thread_moves(struct tso *t, const uint64_t *w, uint32_t n, bool flushes,
				    uint32_t *count)
{
	const uint32_t thread = entry_thread(w);
	const bool waits = is_of_thread(t, t->sys.item, thread);
	bool on = true;
	uint32_t i;

	for (i = 0; i < n; i++, w = entry_next(w)) {
		if (on && flushes)
			t->moves[(*count)++] = kl_tso_move(t->p, thread, i, false);
		on = on && entry_hidden(w);
		if (!on)
			continue;
		if (waits && must_leave(t, w) && (i + 1 == n || !must_leave(t, entry_next(w)))) {
			t->moves[(*count)++] = kl_tso_move(t->p, thread, i + 1, true);
			on = false;
		} else if (!i && n >= KL_BUFFER_DEPTH) {
			t->moves[(*count)++] = kl_tso_move(t->p, thread, 1, true);
		}
	}
	return w;
}

/*
 * A thread may flush its oldest entry, or a later one if all entries before it are hidden.
 * Dropping hidden entries is a move only if a return or drain waits for it, or the buffer is
 * full.
 */
int tso_moves(struct kl_system *sys, uint32_t state, const uint32_t **moves)
{
	struct tso *t = (struct tso *)sys;
	const uint32_t last = t->machines.words[t->machines.at[state]] >> LAST_SHIFT & LAST_MASK;
	uint32_t n, i, k, count = 0;
	const uint64_t *w = entries_of(t, state, &n);
	int ret = kl_grow(t->moves, t->cmoves, 2 * n + 1);

	for (i = 0; i < n && !ret; i += k) {
		k = tso_thread_entries(w, n - i);
		w = thread_moves(t, w, k, !last || last == entry_thread(w) + 1, &count);
	}
	*moves = t->moves;
	return ret ? ret : (int)count;
}

int tso_move(struct kl_system *sys, uint32_t state, uint32_t move, uint32_t *next)
{
	struct tso *t = (struct tso *)sys;
	const uint32_t thread = kl_tso_move_thread(t->p, move);
	uint32_t n = kl_tso_move_hidden(t->p, move);
	int ret = tso_load(t, state, &t->m);
	int64_t id;
	size_t i;

	if (ret)
		return ret;
	while (n--)
		kl_machine_drop(&t->m, thread);
	if (!kl_tso_move_drops(t->p, move)) {
		kl_machine_flush(&t->m, thread);
		t->last = t->lazy && !t->m.in_gap ? thread + 1 : 0;
		for (i = 0; i < t->m.nentries; i++) {
			struct kl_entry *e = &t->m.entries[i];

			e->hidden = e->thread != thread && (e->hidden || t->last);
		}
	}
	id = tso_intern(t, &t->m, false, t->last);
	if (id < 0)
		return id;
	count_work(t, &t->m);
	*next = id;
	return 0;
}

bool tso_waits(struct kl_system *sys, uint32_t state, uint32_t item, bool drain)
{
	struct tso *t = (struct tso *)sys;
	uint32_t n, i;
	const uint64_t *w = entries_of(t, state, &n);

	for (i = 0; i < n; i++, w = entry_next(w))
		if (is_of_thread(t, item, entry_thread(w)) &&
		    (drain ? entry_item(w) == item : entry_due(w)))
			return true;
	return false;
}

/* A step with DROPPED_BIT has dropped all entries that its thread had. */
bool tso_left(struct kl_system *sys, uint32_t item, uint32_t before, uint32_t after,
	      bool *dropped)
{
	const struct tso *t = (const struct tso *)sys;
	uint32_t n, i;
	const uint64_t had = (uint32_t)t->machines.words[t->machines.at[before]];
	const uint64_t *w = entries_of(t, after, &n);

	*dropped = t->machines.words[t->machines.at[after]] & DROPPED_BIT;
	if (!*dropped)
		return n > had;
	for (i = 0; i < n; i++, w = entry_next(w))
		if (entry_thread(w) == t->p->items[item].thread)
			return true;
	return false;
}
