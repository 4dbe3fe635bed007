// SPDX-License-Identifier: GPL-2.0
/*
 * Priority queues: values leave as early as they can.
 *
 * A better value is one with higher priority.  A time of a value is one at which no better value is
 * inside.
 *
 * - A value is inside from its first return on.  It leaves at its first time after the last of its
 *   operations has been called: to leave earlier is never worse for others.
 * - If that time comes before the first return, the value enters and leaves at that time.
 * - A peek needs a time of its value while the peek is open, after the addition was called.  Before
 *   the value's first return, the value may have to enter for the peek.  If it does so at its last
 *   time before that return, no other value has a disadvantage: from then until the return a better
 *   value is inside.
 *
 * Equal words are equally good: when one of them can leave, one whose removal is open does.
 *
 * So there is an order if and only if each value is gone when its removal returns, each peek had
 * its time when it returns, and each operation that found the queue empty had a time with no
 * value inside.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check/online/removed_values.h"

struct entry {
	uint64_t word;
	uint64_t stamp;		/* call of its addition, to recognise a use that was reused */
	uint32_t use;		/* in pqueue.in: a use of the word that was inside */
	uint32_t op;		/* a peek, or ON_NONE */
};

struct heap {
	struct entry *e;
	size_t n, cap;
};

struct pqueue {
	struct uses s;
	bool max;
	struct heap in;		/* values that are certainly inside */
	/* values and peeks that wait for a time with no better value inside */
	struct heap wait;
	uint32_t *early;	/* peeks called before the addition */
	size_t nearly, cearly;
	struct left left;
};

static inline bool better(const struct pqueue *q, uint64_t v, uint64_t w)
{
	return q->max ? v > w : v < w;
}

static int push(struct pqueue *q, struct heap *h, struct entry e)
{
	size_t at = h->n, up;
	int ret = kl_grow(h->e, h->cap, at + 1);

	if (ret)
		return ret;
	h->n++;
	for (; at; at = up) {
		up = (at - 1) / 2;
		if (!better(q, e.word, h->e[up].word))
			break;
		h->e[at] = h->e[up];
	}
	h->e[at] = e;
	return 0;
}

static void pop(struct pqueue *q, struct heap *h)
{
	const struct entry last = h->e[--h->n];
	size_t at = 0, down;

	while ((down = 2 * at + 1) < h->n) {
		if (down + 1 < h->n && better(q, h->e[down + 1].word, h->e[down].word))
			down++;
		if (!better(q, h->e[down].word, last.word))
			break;
		h->e[at] = h->e[down];
		at = down;
	}
	h->e[at] = last;
}

static void *pqueue_new(struct kl_online *o, bool strict, int begin)
{
	struct pqueue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	uses_init(&q->s, strict, begin);
	q->max = o->c.max;
	return q;
}

static void pqueue_free(struct kl_online *o, void *mon)
{
	struct pqueue *q = mon;

	if (!q->s.strict)
		o->inside -= q->in.n;
	left_free(o, &q->left);
	uses_free(o, &q->s);
	free(q->in.e);
	free(q->wait.e);
	free(q->early);
	free(q);
}

static int pqueue_announce(struct kl_online *o, void *mon, uint32_t op)
{
	return uses_announce(o, &((struct pqueue *)mon)->s, op);
}

static const char never_empty[] = "it was found empty, but was not empty at any time of the "
				  "operation";

static int wrong(struct kl_online *o, struct pqueue *q, const char *what, uint64_t v, uint64_t w)
{
	if (q->s.begin == ON_LOST)
		return 0;
	snprintf(o->reason, sizeof(o->reason), what, v, w);
	return 1;
}

static inline bool had_its_time(const struct pqueue *q, const struct on_op *op)
{
	return q->s.strict ? op->timed2 : op->timed;
}

/* Any use; a use whose last operation was called; a use that can be given to a pending removal. */
enum which { ONE, OVER, GIVEN };

static bool is_that(const struct use *u, enum which which)
{
	return which == ONE || (which == OVER ? use_over(u) : u->remove == ON_NONE);
}

/* Return: a use of the best word inside that fits @which, or ON_NONE. */
static uint32_t first(const struct pqueue *q, enum which which)
{
	const struct uses *s = &q->s;
	const uint64_t word = q->in.e[0].word;
	uint32_t i = q->in.e[0].use;
	const struct use *u = &s->u[i];

	if (u->held && u->word == word && (!u->crowd || is_that(u, which)))
		return is_that(u, which) ? i : ON_NONE;
	for (i = uses_first(s, word); i != ON_NONE; i = s->u[i].same)
		if (s->u[i].held && is_that(&s->u[i], which))
			break;
	return i;
}

/* The use @i, which has the best word inside, leaves.  Return: 0, or -ENOMEM. */
static int go(struct kl_online *o, struct pqueue *q, uint32_t i)
{
	use(&q->s, i)->taken = true;
	use(&q->s, i)->held = false;
	pop(q, &q->in);
	o->inside -= !q->s.strict;
	/* Other monitors never need a core. */
	return q->s.strict || q->s.begin != ON_FRESH ? 0 : left_add(o, &q->left, &q->s, i);
}

/* After an event: values leave that can, and waiting values and peeks have their time. */
static int settle(struct kl_online *o, struct pqueue *q)
{
	struct uses *s = &q->s;
	uint32_t i;
	int ret = 0;

	while (!ret && q->in.n && (i = first(q, OVER)) != ON_NONE)
		ret = go(o, q, i);
	while (q->wait.n && !(q->in.n && better(q, q->in.e[0].word, q->wait.e[0].word))) {
		const struct entry e = q->wait.e[0];

		pop(q, &q->wait);
		if (e.op == ON_NONE) {
			if (use(s, e.use)->linked && use(s, e.use)->call == e.stamp)
				use(s, e.use)->taken = true;
		} else if (s->strict) {
			on_op(o, e.op)->timed2 = true;
		} else {
			on_op(o, e.op)->timed = true;
		}
	}
	return ret;
}

/* Let the use @i, or the peek @op at it, wait for a time with no better value inside. */
static int wait_for(struct pqueue *q, uint32_t i, uint32_t op)
{
	const struct use *u = use(&q->s, i);

	return push(q, &q->wait, (struct entry){
		.word = u->word, .stamp = u->call, .use = i, .op = op,
	});
}

/* The addition of the use @i was called: peeks at it that were called before can wait now, too. */
static int begin_early(struct kl_online *o, struct pqueue *q, uint32_t i)
{
	size_t k;
	int ret = 0;

	for (k = 0; k < q->nearly && !ret; k++) {
		if (use_of(&q->s, on_op(o, q->early[k])) != i)
			continue;
		ret = wait_for(q, i, q->early[k]);
		q->early[k--] = q->early[--q->nearly];
	}
	return ret;
}

static int pqueue_call(struct kl_online *o, void *mon, uint32_t i)
{
	struct pqueue *q = mon;
	struct uses *s = &q->s;
	int ret = uses_call(o, s, i);
	const struct on_op *op = on_op(o, i);
	struct use *u;
	uint32_t at;

	if (ret || op->kind > ON_PEEK)
		return ret ? ret : settle(o, q);
	at = use_of(s, op);
	u = use(s, at);
	if (op->kind == ON_ADD) {
		ret = begin_early(o, q, at);
	} else if (op->kind == ON_PEEK && u->call) {
		ret = wait_for(q, at, i);
	} else if (op->kind == ON_PEEK) {
		ret = kl_grow(q->early, q->cearly, q->nearly + 1);
		if (!ret)
			q->early[q->nearly++] = i;
	}
	if (!ret && u->removed) {
		core_start(s);
		ret = core_word(s, at);
		return ret ? ret : wrong(o, q, "%" PRIu64 " was seen after it was removed",
					 u->word, 0);
	}
	if (!ret && u->remove != ON_NONE && u->last == i && !use_over(u)) {
		u->last_call = s->ev;
		if (u->first_ret == NEVER && u->call)
			ret = wait_for(q, at, ON_NONE);
	}
	return ret ? ret : settle(o, q);
}

/* Give the best value inside to a pending removal.  Return: 1, or 0 if that is not possible. */
static int give(struct kl_online *o, struct pqueue *q)
{
	struct uses *s = &q->s;
	const uint32_t best = first(q, GIVEN), by = best == ON_NONE ? ON_NONE : uses_give(s, best);

	if (by == ON_NONE)
		return 0;
	on_op(o, by)->refs++;
	use(s, best)->remove = by;
	use(s, best)->removed = true;
	use(s, best)->last_call = s->ev;
	return 1;
}

/*
 * For each slot from the latest back to @from, add to the core a value of higher priority than
 * @word that was present.  End where none is known.
 */
static int all_in_the_way(struct pqueue *q, uint64_t word, uint64_t from)
{
	struct uses *s = &q->s;
	uint64_t at = s->ev - 1;
	int ret = 0;

	while (!ret && at >= from) {
		const struct left_value *v = left_find(&q->left, word, q->max, at);
		const struct use *best = NULL;
		unsigned int k;
		size_t i;

		for (i = 0; i < q->in.n; i++) {
			const struct use *u = use(s, q->in.e[i].use);

			if (u->held && better(q, u->word, word) && u->first_ret <= at &&
			    at < u->last_call && (!best || u->first_ret < best->first_ret))
				best = u;
		}
		if (best && (!v || best->first_ret <= v->first_ret)) {
			ret = core_word(s, best - s->u);
			at = best->first_ret;
		} else if (v) {
			for (k = 0; k < 4 && !ret; k++)
				ret = core_op(s, v->op[k]);
			at = v->first_ret;
		} else {
			break;
		}
		if (!at)
			break;
		at--;
	}
	return ret;
}

/* Add the best word inside to the core. */
static int core_first(struct pqueue *q)
{
	const uint32_t i = first(q, ONE);

	return i == ON_NONE ? 0 : core_word(&q->s, i);
}

/* Make a core: better values kept the use @at from leaving, or a peek at it from its time. */
static int in_the_way(struct kl_online *o, struct pqueue *q, uint32_t at, const char *what)
{
	struct uses *s = &q->s;
	const struct use *u = use(s, at);
	int ret = core_word(s, at);

	if (!ret && q->in.n)
		ret = core_first(q) ?:
		      all_in_the_way(q, u->word, use_over(u) ? u->last_call : u->call);
	return ret ? ret : wrong(o, q, what, use(s, at)->word, q->in.n ? q->in.e[0].word : 0);
}

/* A removal or peek returns: check that its value left, or that it had its time. */
static int sight(struct kl_online *o, struct pqueue *q, uint32_t i)
{
	struct uses *s = &q->s;
	const struct on_op *op = on_op(o, i);
	const uint32_t at = use_of(s, op);
	const struct use *u = use(s, at);
	int ret;

	if (s->begin == ON_LOST)
		return 0;
	core_start(s);
	if (!u->call && s->begin == ON_ANY) {
		snprintf(o->reason, sizeof(o->reason), "%s",
			 "a value may have been inside from the start");
		return -EDQUOT;
	}
	if (!u->call || uses_doubted(s, at)) {
		ret = core_word(s, at);
		return ret ? ret : wrong(o, q, "%" PRIu64 " was seen, but was not added before, or "
							  "not as often", u->word, 0);
	}
	while (!(op->kind == ON_REMOVE ? u->taken : had_its_time(q, op))) {
		/* The slot before this return is the operation's last one. */
		if (!q->in.n || !better(q, q->in.e[0].word, u->word) || !give(o, q))
			return in_the_way(o, q, at, op->kind == ON_REMOVE ?
					  "%" PRIu64 " was removed while %" PRIu64
					  ", which has priority, was inside" :
					  "%" PRIu64 " was first while %" PRIu64
					  ", which has priority, was inside");
		ret = settle(o, q);
		if (ret)
			return ret;
	}
	return 0;
}

static int enter(struct kl_online *o, struct pqueue *q, uint32_t i)
{
	struct use *u = use(&q->s, i);

	u->held = true;
	if (!q->in.n)
		q->s.empty = q->s.ev - 1;
	o->inside += !q->s.strict;
	return push(q, &q->in, (struct entry){ .word = u->word, .use = i });
}

/* The queue was empty at @call, so its values are those that were added since. */
static int known(struct kl_online *o, struct pqueue *q, uint64_t call)
{
	struct uses *s = &q->s;
	const uint64_t empty = s->empty;
	uint32_t i;
	int ret;

	if (!s->strict)
		o->inside -= q->in.n;
	q->in.n = q->wait.n = q->nearly = 0;
	ret = uses_known(o, s, call);
	for (i = 0; i < s->n && !ret; i++) {
		struct use *u = use(s, i);

		/* Other uses of the word may still be open. */
		u->taken = u->removed;
		u->held = false;
		if (u->linked && u->call && u->first_ret != NEVER && !u->removed)
			ret = enter(o, q, i);
	}
	s->empty = empty;
	return ret;
}

static int found_empty(struct kl_online *o, struct pqueue *q, uint32_t i)
{
	struct uses *s = &q->s;
	const uint64_t call = uses_empty(s, i);
	int ret;

	if (call == NEVER)
		return 0;
	while (s->begin != ON_LOST && q->in.n && s->empty < call) {
		if (!give(o, q)) {
			core_start(s);
			ret = core_op(s, i) ?: core_first(q) ?:
			      all_in_the_way(q, q->max ? 0 : UINT64_MAX, call);
			return ret ? ret : wrong(o, q, never_empty, 0, 0);
		}
		ret = settle(o, q);
		if (ret)
			return ret;
	}
	/* A counterexample begins in the spec's first state, so that must be the empty one. */
	if (s->begin == ON_FRESH || !o->c.init || !uses_clean(s, call))
		return 0;
	return known(o, q, call);
}

/* Remove a value from the heap q->in, although better ones are inside. */
static int take_out(struct kl_online *o, struct pqueue *q, struct use *u)
{
	struct entry *e = q->in.e;
	const size_t n = q->in.n;
	size_t i, k;
	int ret = 0;

	for (k = 0; k < n && e[k].word != u->word; k++)
		;
	u->held = false;
	u->taken = true;
	if (k == n)
		return 0;
	o->inside -= !q->s.strict;
	/* The entries before it are a heap; the others are inserted again. */
	q->in.n = k;
	for (i = k + 1; i < n && !ret; i++)
		ret = push(q, &q->in, e[i]);
	return ret;
}

static int pqueue_ret(struct kl_online *o, void *mon, uint32_t i)
{
	struct pqueue *q = mon;
	struct uses *s = &q->s;
	const struct on_op *op = on_op(o, i);
	struct use *u;
	uint32_t at;
	int ret = 0;

	uses_return(o, s, i);
	if (op->kind == ON_EMPTY) {
		ret = found_empty(o, q, i);
	} else if (op->kind <= ON_PEEK) {
		at = use_of(s, op);
		if (op->kind != ON_ADD)
			ret = sight(o, q, i);
		u = use(s, at);
		if (!ret && u->held && u->removed && !u->opens)
			ret = take_out(o, q, u);
		else if (!ret && u->first_ret == s->ev && !u->taken && !u->removed && u->call)
			ret = enter(o, q, at);
	}
	if (!ret || ret == 1)
		ret = settle(o, q) ?: ret;
	return ret ? ret : uses_returned(o, s, i);
}

static int pqueue_core(struct kl_online *o, void *mon, const uint32_t **ops, size_t *n)
{
	return uses_core(o, &((struct pqueue *)mon)->s, ops, n);
}

static int pqueue_doubt(struct kl_online *o, void *mon)
{
	struct pqueue *q = mon;
	const struct on_op *op = q->s.returning == ON_NONE ? NULL : on_op(o, q->s.returning);
	struct use *u = op && op->kind <= ON_PEEK ? use(&q->s, use_of(&q->s, op)) : NULL;
	int ret = u && u->held && u->removed && !u->opens ? take_out(o, q, u) : 0;

	return ret ? ret : uses_doubt(o, &((struct pqueue *)mon)->s);
}

const struct on_monitor on_pqueue = {
	.new = pqueue_new, .free = pqueue_free, .announce = pqueue_announce, .call = pqueue_call,
	.ret = pqueue_ret, .core = pqueue_core, .doubt = pqueue_doubt,
};
