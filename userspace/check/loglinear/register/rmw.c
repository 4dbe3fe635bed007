// SPDX-License-Identifier: GPL-2.0
/*
 * Registers with compare-and-swap, fetch-and-add, exchange: whatever tells by its result
 * which word it saw (spec/classify/word.h), where no word comes to be there twice.
 *
 * Then each word is there once, for a time, from the operation that made it to the one
 * that took it, which is the only one that can have seen it last: a compare-and-swap of a
 * to b joins the times of a and b.  So words fall into chains, each begun by a write (or
 * by what was there first), the rest of its order given; and the order inside of a chain
 * is all right if no operation returned before one was called that comes earlier in it.
 *
 * Between chains it is as with Gibbons & Korach's zones (Testing shared memories, section
 * 4): let lo be the first return of a chain's operations, hi their last call.  If hi <= lo'
 * one may come before the other, as a whole; and not if hi > lo', for then some operation
 * of the second returned before one of the first was called.  So of two one may come first
 * unless hi > lo' and hi' > lo.  If there are no such two, lo + hi is an order of all: if
 * hi > lo' then the second has to come first; hi' <= lo, and lo' + hi' < lo + hi.
 *
 * What saw that a word was not there is put where another one was, in that order of the
 * others.  If that cannot be, chains change places (rmw_reorder.c); there may be an order that
 * is not found so: then nothing is said.  A no is confirmed
 * by the frontier engine on all operations, so it does no harm that which pending
 * operations took effect is a guess (rmw_pending.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/register/rmw.h"

#define MAX_SPAN	(UINT64_C(1) << 58)
#define OFTEN		4	/* times an operation of a shape, from which on it is remembered */
#define BACK		"a word was there more than once"

static void moves_free(struct moves *m)
{
	mono_words_free(&m->words);
	free(m->last);
	free(m->known);
	free(m->op);
	free(m->v);
	free(m->pending);
	free(m->chain);
	free(m->block);
	free(m->wish);
	free(m->order);
}

static const struct kl_op *op_of(const struct moves *m, uint32_t item)
{
	return &m->s->h->ops[m->s->ops ? m->s->ops[item] : item];
}

static int no(struct moves *m, const char *why)
{
	snprintf(m->why, sizeof(m->why), "%s", why);
	return 0;
}

static int allocate(struct moves *m)
{
	const struct kl_history *h = m->s->h;
	const size_t n = (size_t)m->s->nops + 1;

	m->last = calloc(h->nthreads + 1, sizeof(*m->last));
	m->op = kl_big_alloc(n * sizeof(*m->op));
	m->v = kl_big_alloc(2 * n * sizeof(*m->v));
	m->pending = malloc(n * sizeof(*m->pending));
	m->chain = malloc(2 * n * sizeof(*m->chain));
	if (h->nshapes < n / OFTEN) {
		m->known = calloc(h->nshapes, sizeof(*m->known));
		if (!m->known)
			return -ENOMEM;
	}
	if (!m->last || !m->op || !m->v || !m->pending || !m->chain)
		return -ENOMEM;
	return mono_words_init(&m->words, h, 2 * m->s->nops + 1);
}

int moves_number(struct moves *m, uint64_t word, uint32_t *value)
{
	const uint32_t n = m->words.n;

	if (mono_words_number(&m->words, word, mono_words_hash(word), value))
		return -ENOMEM;
	if (*value == n)
		m->v[n] = (struct moves_value){
			.maker = MONO_NONE, .taker = MONO_NONE, .lo = FOREVER, .block = MONO_NONE,
		};
	return 0;
}

/* Of one time: calls, returns of threads that are called then, these calls, other returns. */
enum { CALL, TIED_RET, TIED_CALL, RET, TURNS };

/*
 * Strictly, the clock has no error, and where times are equal a thread's return comes
 * before its next call, see timeline.c.
 */
static bool set_times(struct moves *m, uint32_t item)
{
	const struct kl_op *op = op_of(m, item), *last;
	const uint64_t base = op_of(m, 0)->call;
	const uint64_t ret = m->strict ? op->ret : kl_time_add(op->ret, m->s->h->error);
	struct moves_op *o = &m->op[item];

	if (op->call - base > MAX_SPAN)
		return false;
	o->call = TURNS * (op->call - base + 1) + CALL;
	o->ret = ret - base > MAX_SPAN ? FOREVER : TURNS * (ret - base + 1) + RET;
	if (!m->strict)
		return true;
	if (m->last[op->thread]) {
		last = op_of(m, m->last[op->thread] - 1);
		if (last->ret == op->call && last->call < last->ret) {
			o->call += TIED_CALL - CALL;
			m->op[m->last[op->thread] - 1].ret -= RET - TIED_RET;
		}
	}
	m->last[op->thread] = item + 1;
	return true;
}

static void saw(struct moves_value *v, const struct moves_op *op)
{
	v->lo = op->ret < v->lo ? op->ret : v->lo;
	v->hi = op->call > v->hi ? op->call : v->hi;
}

static void make(struct moves *m, uint32_t item)
{
	struct moves_value *v = &m->v[m->op[item].after];

	m->again |= v->maker != MONO_NONE || m->op[item].after == m->first;
	v->maker = item;
	v->made++;
}

static void take(struct moves *m, uint32_t item)
{
	struct moves_value *v = &m->v[m->op[item].before];

	v->taker = item;
	v->taken++;
}

/* Which words an operation saw and left.  1, 0 with m->why, -ENOMEM. */
static int find_words(struct moves *m, const struct kl_op *op, struct moves_op *o)
{
	const struct kl_history *h = m->s->h;
	const int method = m->s->methods[kl_op_method(h, op)];
	const struct kl_word_method *does = method < 0 ? NULL : kl_word_method(m->s->spec, method);
	struct kl_word_step step;

	if (!does)
		return no(m, "a method that does not tell what it saw");
	step = kl_word_step(does, kl_op_args(h, op), op->flags & KL_OP_PENDING);
	o->kind = step.kind;
	o->before = o->after = MONO_NONE;
	switch (step.kind) {
	case KL_WORD_NEVER:
		return no(m, "a result that no state gives");
	case KL_WORD_OTHER:
		return no(m, "what an operation saw is not known");
	case KL_WORD_NOTHING:
		m->opaque |= !kl_spec_method(m->s->spec, method)->pure;
		break;
	case KL_WORD_ADDS:
		break;
	default:
		if ((step.kind != KL_WORD_WRITES && moves_number(m, step.before, &o->before)) ||
		    ((step.kind == KL_WORD_WRITES || step.kind == KL_WORD_MOVES) &&
		     moves_number(m, step.after, &o->after)))
			return -ENOMEM;
	}
	return 1;
}

/* The same, but only once of each shape where these are few. */
static int recall_words(struct moves *m, const struct kl_op *op, struct moves_op *o)
{
	struct moves_op *known = &m->known[op->shape];
	int ret = known->kind == KL_WORD_NEVER ? find_words(m, op, known) : 1;

	o->kind = known->kind;
	o->before = known->before;
	o->after = known->after;
	return ret;
}

static void look_at_pending(struct moves *m, uint32_t item)
{
	struct moves_op *o = &m->op[item];

	if (o->kind == KL_WORD_NOTHING) {
		o->kind = KL_WORD_NEVER;
		return;
	}
	m->pending[m->npending++] = item;
	if (o->after != MONO_NONE)
		m->v[o->after].made++;
	else
		m->nadds++;
}

/* What an operation did.  1, 0 with m->why, -ENOMEM. */
static int look_at(struct moves *m, uint32_t item)
{
	const struct kl_op *op = op_of(m, item);
	const bool pending = op->flags & KL_OP_PENDING;
	struct moves_op *o = &m->op[item];
	int ret;

	if (!set_times(m, item))
		return no(m, "times that are too far apart");
	ret = m->known && !pending ? recall_words(m, op, o) : find_words(m, op, o);
	if (ret <= 0)
		return ret;
	if (pending) {
		look_at_pending(m, item);
		return 1;
	}
	if (o->kind == KL_WORD_SEES)
		saw(&m->v[o->before], o);
	if (o->kind == KL_WORD_MOVES)
		take(m, item);
	if (o->after != MONO_NONE)
		make(m, item);
	return 1;
}

static int begin(struct moves *m, const struct kl_container *c)
{
	uint32_t i;
	int ret = allocate(m);

	m->first = MONO_NONE;
	if (ret)
		return ret;
	if (c->init && m->s->h->fresh && c->first.tag != KL_WORD)
		return no(m, "what is there first is no word");
	if (c->init && m->s->h->fresh)
		ret = moves_number(m, c->first.v, &m->first);
	if (ret)
		return ret;
	for (i = 0, ret = 1; i < m->s->nops && ret > 0; i++) {
		ret = look_at(m, i);
		/* What more than is certain has to say is not asked then. */
		if (m->again && m->strict)
			return no(m, BACK);
	}
	return ret;
}

/*
 * A word has to be made as often as it is taken, once to be seen: but for one, if what was
 * there first is not known.  True also where words come back.
 */
static bool is_made(struct moves *m)
{
	uint64_t missing = 0, most = m->nadds + (m->first == MONO_NONE);
	uint32_t i, one = MONO_NONE;

	for (i = 0; i < m->words.n; i++) {
		const struct moves_value *v = &m->v[i];
		const uint32_t made = v->made + (i == m->first);
		const uint32_t need = v->taken ? v->taken : !!v->hi;

		if (made >= need)
			continue;
		missing += need - made;
		if (one == MONO_NONE || v->taken > 1)
			one = i;
	}
	if (missing <= most)
		return true;
	m->bad[0] = most ? MONO_NONE : one;
	if (m->v[one].taken > 1)
		snprintf(m->why, sizeof(m->why),
			 "%" PRIu64 " was replaced %u times and was there %u",
			 moves_word(m, one), m->v[one].taken, m->v[one].made + (one == m->first));
	else
		snprintf(m->why, sizeof(m->why), "%" PRIu64 " was seen and never written",
			 moves_word(m, one));
	return false;
}

/* Is the order there is one of the history?  1, 0 or -ENOMEM. */
static int in_time(const struct moves *m)
{
	const struct mono all = { .s = m->s, .order = m->order, .norder = m->norder };
	const uint64_t error = m->s->h->error;
	uint64_t latest = 0;
	uint32_t i;

	for (i = 0; i < m->norder; i++) {
		const struct kl_op *op = op_of(m, m->order[i].item);

		if (kl_time_add(op->ret, error) < latest)
			return 0;
		latest = op->call > latest ? op->call : latest;
	}
	return mono_keeps_lines(&all);
}

static int linearizable(struct moves *m, struct kl_answer *a)
{
	int ret = moves_order(m);

	if (ret <= 0) {
		m->strict |= !m->forced;	/* that there is none is not said */
		return ret;
	}
	ret = in_time(m);
	if (ret <= 0) {
		no(m, "no order found that keeps the order of each thread");
		m->strict = true;
		return ret;
	}
	a->verdict = KL_LINEARIZABLE;
	if (m->lim->no_witness)
		return 1;
	a->steps = m->order;
	a->nsteps = m->norder;
	m->order = NULL;
	return 1;
}

/* What was there first may have been written later, too. */
static bool comes_back(const struct moves *m)
{
	uint32_t i;

	for (i = 0; i < m->words.n; i++)
		if (m->v[i].taken > 1)
			return true;
	return false;
}

/* A condition does not hold: so it has to be for the general engine. */
static int confirm(const struct moves *m, struct kl_answer *a)
{
	int ret = moves_core(m, a);

	if (ret)
		return ret;
	snprintf(a->reason, sizeof(a->reason), "%s", m->why);
	return mono_confirm(m->s, m->lim, a);
}

static int run(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	       bool strict, struct kl_answer *a)
{
	struct moves m = { .s = s, .lim = lim, .strict = strict, .bad = { MONO_NONE, MONO_NONE } };
	bool decided = false;
	int ret = begin(&m, c);

	if (ret > 0 && !is_made(&m)) {
		decided = !strict;
		ret = 0;
	} else if (ret > 0 && (m.again || comes_back(&m))) {
		ret = strict ? 0 : moves_parts(&m, a);
		no(&m, BACK);
	} else if (ret > 0) {
		ret = moves_choose(&m) ?: moves_chains(&m);
		if (ret > 0)
			ret = linearizable(&m, a);
		decided = !m.strict;
	}
	if (!ret && decided)
		ret = confirm(&m, a);
	else if (!ret && a->verdict == KL_UNKNOWN)
		snprintf(a->reason, sizeof(a->reason), "log-linear: %.140s", m.why);
	moves_free(&m);
	return ret < 0 ? ret : 0;
}

int mono_moves(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	       struct kl_answer *a)
{
	int ret;

	a->verdict = KL_UNKNOWN;
	/* First an order of more than is certain; then, if that says nothing, of what is. */
	ret = run(s, lim, c, true, a);
	if (!ret && a->verdict == KL_UNKNOWN)
		ret = run(s, lim, c, false, a);
	return ret;
}
