// SPDX-License-Identifier: GPL-2.0
/*
 * Queues.  The conditions are those of loglinear/queue.c.  Each is checked when it may first be
 * broken: at the return that first sees a value (a removal, a peek), when everything that matters
 * has happened.  Values that are certainly inside form a list by their first returns, so values
 * that must be seen earlier are at its head.
 *
 * A value leaves the list when its last operation is called.  It is known then that this is the
 * last one, since all operations that were called before its removal returned are known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/online/lifetimes.h"

struct queue {
	struct uses s;
	uint32_t front;		/* the value at the front since the event @begins, or ON_NONE */
	uint64_t begins;
	uint64_t left;		/* least first_ret of the values that left since @begins */
	uint64_t first;		/* values from before the start were gone by this event */
};

static void *queue_new(struct kl_online *o, bool strict, int begin)
{
	struct queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	uses_init(&q->s, strict, begin);
	q->front = ON_NONE;
	q->first = NEVER;
	return q;
}

static void queue_free(struct kl_online *o, void *mon)
{
	struct queue *q = mon;

	uses_free(o, &q->s);
	free(q);
}

static int queue_announce(struct kl_online *o, void *mon, uint32_t op)
{
	return uses_announce(o, &((struct queue *)mon)->s, op);
}

static const char never_empty[] = "it was found empty, but was not empty at any time of the "
				  "operation";

static int wrong(struct kl_online *o, struct queue *q, const char *what, uint64_t v, uint64_t w)
{
	if (q->s.begin == ON_LOST)
		return 0;
	snprintf(o->reason, sizeof(o->reason), what, v, w);
	return 1;
}

/* The last operation of a value has been called. */
static int leave(struct kl_online *o, struct queue *q, uint32_t i)
{
	struct uses *s = &q->s;
	struct use *u = use(s, i);
	int ret;

	u->last_call = s->ev;
	if (u->inside)
		uses_leave(o, s, i);
	if (q->front == i)
		q->front = ON_NONE;
	else if (q->front != ON_NONE && u->first_ret < q->left)
		q->left = u->first_ret;
	core_start(s);
	if (u->removed) {
		ret = core_word(s, i);
		return ret ? ret : wrong(o, q, "%" PRIu64 " was seen after it was removed",
					 u->word, 0);
	}
	if (u->add != ON_NONE || s->begin != ON_ANY)
		return 0;
	/* The value is from before the start, and was inside until now. */
	u->first = true;
	if (s->ninside)
		s->empty = 0;
	if (q->first < s->ev)
		return wrong(o, q, "%" PRIu64 " was removed after values that were added "
					      "later", u->word, 0);
	return 0;
}

static int queue_call(struct kl_online *o, void *mon, uint32_t i)
{
	struct queue *q = mon;
	int ret = uses_call(o, &q->s, i);
	const struct on_op *op = on_op(o, i);
	const struct use *u;

	if (ret || op->kind > ON_PEEK)
		return ret;
	u = use(&q->s, use_of(&q->s, op));
	return u->remove != ON_NONE && u->last == i ? leave(o, q, use_of(&q->s, op)) : 0;
}

/*
 * The value @i is at the front, so values that entered before it must be gone.  Those that are not
 * are given to pending removals.  Return: 0, 1 with a core, -ENOMEM.
 */
static int first_in(struct kl_online *o, struct queue *q, uint32_t i)
{
	struct uses *s = &q->s;
	const struct use *u = use(s, i);
	uint32_t head, by;
	int ret;

	for (;;) {
		head = s->head == i ? use(s, i)->next : s->head;
		if (head == ON_NONE || use(s, head)->first_ret >= u->call || s->begin == ON_LOST)
			return 0;
		by = uses_give(s, head);
		if (by == ON_NONE)
			break;
		on_op(o, by)->refs++;
		use(s, head)->remove = by;
		leave(o, q, head);
		use(s, head)->removed = true;
	}
	core_start(s);
	ret = core_word(s, head) ?: core_word(s, i);
	if (!ret && q->front != ON_NONE)
		ret = core_word(s, q->front);
	return ret ? ret : wrong(o, q, "%" PRIu64 " was at the front before %" PRIu64
				 " was removed, although it was added later", u->word,
				 use(s, head)->word);
}

/* The first removal or peek of the value @i returns: check that the value can be at the front. */
static int sight(struct kl_online *o, struct queue *q, uint32_t i)
{
	struct uses *s = &q->s;
	struct use *u = use(s, i);
	uint64_t first = s->ev;
	int ret;

	core_start(s);
	if ((!u->call && s->begin == ON_FRESH) || uses_doubted(s, i)) {
		ret = core_word(s, i);
		return ret ? ret : wrong(o, q, "%" PRIu64 " was seen, but was not added before, or "
							  "not as often", u->word, 0);
	}
	u->first |= !u->call;
	if (q->front != ON_NONE && q->front != i) {
		first = q->begins;
		if (u->last_call > q->begins) {
			ret = core_word(s, i) ?: core_word(s, q->front);
			return ret ? ret : wrong(o, q, "%" PRIu64 " was at the front while %" PRIu64
						 " was", u->word, use(s, q->front)->word);
		}
		if (q->left < u->call)
			return wrong(o, q, "%" PRIu64
				     " was at the front before a value that was added earlier was "
				     "removed", u->word, 0);
	}
	ret = first_in(o, q, i);
	if (ret)
		return ret;
	if (u->call && first < q->first)
		q->first = first;
	/* The last call of an operation that was open at the start was not seen. */
	if (u->first && !use_over(u) && !u->inside && !u->removed) {
		/* The value is from before the start, and is still inside. */
		if (q->first < s->ev)
			return wrong(o, q, "%" PRIu64 " was seen after values that were added "
						      "later were removed", u->word, 0);
		u->first_ret = 0;
		s->empty = 0;
		uses_enter(o, s, i);
	}
	if (!use_over(u)) {
		q->front = i;
		q->begins = s->ev;
		q->left = NEVER;
	}
	return 0;
}

static int found_empty(struct kl_online *o, struct queue *q, uint32_t i)
{
	struct uses *s = &q->s;
	const uint64_t call = uses_empty(s, i);
	uint32_t by, head;
	int ret;

	if (call == NEVER)
		return 0;
	while (s->begin != ON_LOST && s->ninside && s->empty < call) {
		by = uses_give(s, s->head);
		if (by == ON_NONE) {
			core_start(s);
			ret = core_op(s, i) ?: core_since(s, call);
			return ret ? ret : wrong(o, q, never_empty, 0, 0);
		}
		on_op(o, by)->refs++;
		head = s->head;
		use(s, head)->remove = by;
		leave(o, q, head);
		use(s, head)->removed = true;
	}
	if (s->ev < q->first)
		q->first = s->ev;
	/* A counterexample begins in the spec's first state, so that must be the empty one. */
	if (s->begin == ON_FRESH || !o->c.init || !uses_clean(s, call))
		return 0;
	q->front = ON_NONE;
	return uses_known(o, s, call);
}

/* If the last operation of the value @i was called before the monitor began, set last_call now. */
static void was_called(struct kl_online *o, struct queue *q, uint32_t i)
{
	struct use *u = use(&q->s, i);

	if (!use_over(u) && u->remove != ON_NONE && on_op(o, u->last)->old)
		u->last_call = q->s.ev;
}

static int queue_ret(struct kl_online *o, void *mon, uint32_t i)
{
	struct queue *q = mon;
	struct uses *s = &q->s;
	const struct on_op *op = on_op(o, i);
	uint32_t at;
	int ret = 0;

	uses_return(o, s, i);
	if (op->old && op->kind <= ON_PEEK)
		was_called(o, q, use_of(s, op));
	if (op->kind == ON_EMPTY) {
		ret = found_empty(o, q, i);
	} else if (op->kind <= ON_PEEK) {
		at = use_of(s, op);
		if (op->kind != ON_ADD && use(s, at)->first_seen_ret == s->ev)
			ret = sight(o, q, at);
		/* Values from before the start are inside already, see leave(). */
		if (!ret && use(s, at)->first_ret == s->ev && !use_over(use(s, at)) &&
		    use(s, at)->call)
			uses_enter(o, s, at);
	}
	return ret ? ret : uses_returned(o, s, i);
}

static int queue_core(struct kl_online *o, void *mon, const uint32_t **ops, size_t *n)
{
	return uses_core(o, &((struct queue *)mon)->s, ops, n);
}

static int queue_doubt(struct kl_online *o, void *mon)
{
	return uses_doubt(o, &((struct queue *)mon)->s);
}

const struct on_monitor on_queue = {
	.new = queue_new, .free = queue_free, .announce = queue_announce, .call = queue_call,
	.ret = queue_ret, .core = queue_core, .doubt = queue_doubt,
};
