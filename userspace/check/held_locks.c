// SPDX-License-Identifier: GPL-2.0
/*
 * Warnings of methods of an implementation that end while they hold a lock:
 *
 *	lock(l);
 *	if (x == v)
 *		return false;		// an unlock(l) is missing before it
 *	unlock(l);
 *
 * Some methods do so on purpose, because another one unlocks.  So there is no warning of a lock
 * that some code unlocks without having locked it.  A lock counts as held at the end of a method
 * only if every path to this end holds it: two `if's may have the same condition.  Locks in arrays
 * and structs, which may be one and the same, are left out.
 *
 * There also is a warning of an unlock() that cannot follow a lock(), in the same method or before
 * it.
 */
#include <string.h>

#include "check/check.h"
#include "spec/impl/impl.h"
#include "spec/lang/ast.h"

/* The states in which a lock may be: a bit each; 0: no path comes here. */
enum { FREE = 1, HELD = 2 };

struct walk {
	struct kl_diag d;
	const char *lock;
	unsigned int at_break, at_continue; /* the states there, in the innermost loop */
	bool foreign; /* some code may unlock what it does not hold */
	bool kept; /* some code may end, or call a method, while it holds the lock */
	bool telling; /* warn of ends that hold the lock */
	struct kl_pos locked; /* the last lock() */
	const struct kl_method_def *m; /* NULL: a thread, or code of the client */
};

static bool is_lock(const struct walk *w, const struct kl_stmt *s)
{
	return s->lhs && s->lhs->kind == KL_A_NAME && !strcmp(s->lhs->name, w->lock);
}

static void end(struct walk *w, struct kl_pos pos, unsigned int state)
{
	w->kept |= state & HELD;
	if (w->telling && w->m && state == HELD && !w->foreign)
		kl_diag_warn(&w->d, pos,
			     "'%s' ends with the lock '%s' of line %u, and no other method "
			     "unlocks it",
			     w->m->pub.name, w->lock, w->locked.line);
}

static unsigned int walk(struct walk *w, const struct kl_stmt *s, unsigned int state);

static bool is_true(const struct kl_ast_expr *e)
{
	return e && e->kind == KL_A_BOOL && e->num;
}

/* Walk a loop until no iteration adds a state.  Return: the states behind it. */
static unsigned int walk_loop(struct walk *w, const struct kl_stmt *s, unsigned int state)
{
	const unsigned int at_break = w->at_break, at_continue = w->at_continue;
	const bool telling = w->telling;
	unsigned int head = state, before, out, tail = 0;

	w->telling = false;
	w->at_break = w->at_continue = 0;
	do {
		before = head;
		tail = walk(w, s->body, head);
		head |= tail | w->at_continue;
	} while (head != before);
	/* The states are known now, so the ends can be judged. */
	w->telling = telling;
	tail = walk(w, s->body, head) | w->at_continue;
	out = w->at_break;
	if (!is_true(s->a))
		out |= s->kind == KL_S_DO ? tail : head;
	w->at_break = at_break;
	w->at_continue = at_continue;
	return out;
}

/* Return: the states behind the statement. */
static unsigned int walk_one(struct walk *w, const struct kl_stmt *s, unsigned int state)
{
	const struct kl_stmt *alt;
	unsigned int out = 0;

	switch (s->kind) {
	case KL_S_BLOCK:
	case KL_S_ATOMIC:
		return walk(w, s->body, state);
	case KL_S_IF:
		out = walk(w, s->body, state);
		return out | (s->other ? walk(w, s->other, state) : state);
	case KL_S_EITHER:
		for (alt = s->body; alt; alt = alt->next)
			out |= walk(w, alt->body, state);
		return out;
	case KL_S_WHILE:
	case KL_S_DO:
		return walk_loop(w, s, state);
	case KL_S_ASSUME:
	case KL_S_ASSERT:
		return s->a->kind == KL_A_BOOL && !s->a->num ? 0 : state;
	case KL_S_BREAK:
		w->at_break |= state;
		return 0;
	case KL_S_CONTINUE:
		w->at_continue |= state;
		return 0;
	case KL_S_RETURN:
		end(w, s->pos, state);
		return 0;
	case KL_S_LOCK:
		if (!is_lock(w, s) || !state)
			return state;
		w->locked = s->pos;
		return HELD;
	case KL_S_UNLOCK:
		if (!is_lock(w, s) || !state)
			return state;
		w->foreign |= state & FREE;
		if (w->telling && state == FREE && !w->kept)
			kl_diag_warn(&w->d, s->pos, "nothing holds the lock '%s' here", w->lock);
		return FREE;
	case KL_S_CALL:
		w->kept |= state & HELD;
		return state;
	default:
		return state;
	}
}

static unsigned int walk(struct walk *w, const struct kl_stmt *s, unsigned int state)
{
	for (; s; s = s->next)
		state = walk_one(w, s, state);
	return state;
}

static void walk_method(struct walk *w, const struct kl_method_def *m)
{
	w->m = m;
	w->at_break = w->at_continue = 0;
	end(w, m->pos, walk(w, m->body, FREE));
}

static void walk_all(struct walk *w, const struct kl_impl *im)
{
	size_t i;

	for (i = 0; i < im->nmethods; i++)
		walk_method(w, &im->methods[i]);
	w->m = NULL;
	for (i = 0; i < im->nthreads; i++)
		end(w, im->threads[i].pos, walk(w, im->threads[i].body, FREE));
	end(w, im->init_pos, walk(w, im->init, FREE));
	walk(w, im->final, FREE);
}

void kl_warn_held_locks(const struct kl_spec *spec)
{
	const struct kl_impl *im = spec->impl;
	unsigned int i;

	for (i = 0; im && i < im->nvars; i++) {
		struct walk w = {
			.d = { .file = spec->path, .text = spec->text },
			.lock = im->vars[i].f.name,
			.kept = im->vars[i].init_expr,
		};

		if (im->vars[i].f.type != KL_IT_LOCK || im->vars[i].is_array)
			continue;
		walk_all(&w, im);
		w.telling = true;
		walk_all(&w, im);
	}
}
