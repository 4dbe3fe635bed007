// SPDX-License-Identifier: GPL-2.0
/* What leaves the store buffers of the TSO engine, see engine.c. */
#include "base/mem.h"
#include "tso/engine/engine.h"

/* The ends of a gap are of no thread. */
static bool is_of_thread(const struct tso *t, uint32_t item, uint32_t thread)
{
	const struct kl_item *it = &t->p->items[item];

	return it->kind == KL_ITEM_OP && it->thread == thread;
}

/* Has the entry to leave by the return, or drain, of its thread that is to be satisfied? */
static bool is_wanted(const struct tso *t, const uint64_t *w)
{
	return t->sys.drain ? word_item(w) == t->sys.item : word_due(w);
}

/*
 * Moves of a thread, whose @n entries begin at @w: to t->moves from @count on.  Where all
 * that has to leave may just go there is no need to flush what is behind it now.
 */
static const uint64_t *moves_of(struct tso *t, const uint64_t *w, uint32_t n, bool flushes,
				uint32_t *count)
{
	const uint32_t thread = word_thread(w);
	const bool waits = is_of_thread(t, t->sys.item, thread);
	bool on = true;
	uint32_t i;

	for (i = 0; i < n; i++, w = word_next(w)) {
		if (on && flushes)
			t->moves[(*count)++] = kl_tso_move(t->p, thread, i, false);
		on = on && word_hidden(w);
		if (!on)
			continue;
		if (waits && is_wanted(t, w) && (i + 1 == n || !is_wanted(t, word_next(w)))) {
			t->moves[(*count)++] = kl_tso_move(t->p, thread, i + 1, true);
			on = false;
		} else if (!i && n >= KL_BUFFER_DEPTH) {
			t->moves[(*count)++] = kl_tso_move(t->p, thread, 1, true);
		}
	}
	return w;
}

/*
 * Each thread with something in its buffer may flush its oldest entry, or a later one if
 * those before it are hidden; that they go without a flush is a move only where the
 * machine waits for it.
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
		w = moves_of(t, w, k, !last || last == word_thread(w) + 1, &count);
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

	for (i = 0; i < n; i++, w = word_next(w))
		if (is_of_thread(t, item, word_thread(w)) &&
		    (drain ? word_item(w) == item : word_due(w)))
			return true;
	return false;
}

/* What a step drops is all that its thread had. */
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
	for (i = 0; i < n; i++, w = word_next(w))
		if (word_thread(w) == t->p->items[item].thread)
			return true;
	return false;
}
