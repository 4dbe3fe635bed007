// SPDX-License-Identifier: GPL-2.0
/*
 * Registers with compare-and-swap, fetch-and-add and exchange: operations whose results show which
 * word they saw (spec/classify/word.h).  No word may be in the register twice.
 *
 * Then each word is there for one period, from the operation that made it to the operation that
 * took it.  A compare-and-swap of a to b joins the periods of a and b.  So words fall into chains,
 * each begun by a write or by the first word, and the order inside a chain is given.  It is valid
 * if no operation returned before an earlier operation of the chain was called.  For example:
 *
 *	write 1, cas 1 -> 2, add 5 (saw 2), read 7	one chain: 1, 2, 7
 *	write 4, read 4					another: 4
 *
 * Chains are ordered like zones (Gibbons & Korach, Testing shared memories, section 4).  Let r be
 * the first return of a chain's operations, and c their last call.  A chain may come before another
 * as a whole if c <= r'.  If c > r', an operation of the second returned before one of the first
 * was called.  So two chains cannot be ordered if c > r' and c' > r.  If there are no such two,
 * r + c orders all chains: if c > r', the second must come first, and then c' <= r and r' + c' <
 * r + c.
 *
 * An operation that saw a word absent is placed where another word is there.  If there is no such
 * place, chains change places (rmw_reorder.c).  Not every order is found so; then the verdict is
 * UNKNOWN.  The pending operations that took effect are guessed (rmw_pending.c).  A wrong guess
 * does no harm, since the frontier engine confirms violations.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/register/rmw.h"

#define MAX_SPAN	(UINT64_C(1) << 58)
/* operations per signature from which on signatures are remembered */
#define OFTEN		4
#define BACK		"a word was there more than once"

static void rmw_free(struct rmw *m)
{
	ll_words_free(&m->words);
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

static const struct kl_op *op_of(const struct rmw *m, uint32_t item)
{
	return &m->s->h->ops[m->s->ops ? m->s->ops[item] : item];
}

static int no(struct rmw *m, const char *why)
{
	snprintf(m->why, sizeof(m->why), "%s", why);
	return 0;
}

static int allocate(struct rmw *m)
{
	const struct kl_history *h = m->s->h;
	const size_t n = (size_t)m->s->nops + 1;

	m->last = calloc(h->nthreads + 1, sizeof(*m->last));
	m->op = kl_big_alloc(n * sizeof(*m->op));
	m->v = kl_big_alloc(2 * n * sizeof(*m->v));
	m->pending = malloc(n * sizeof(*m->pending));
	m->chain = malloc(2 * n * sizeof(*m->chain));
	if (h->nopsigs < n / OFTEN) {
		m->known = calloc(h->nopsigs, sizeof(*m->known));
		if (!m->known)
			return -ENOMEM;
	}
	if (!m->last || !m->op || !m->v || !m->pending || !m->chain)
		return -ENOMEM;
	return ll_words_init(&m->words, h, 2 * m->s->nops + 1);
}

int rmw_number(struct rmw *m, uint64_t word, uint32_t *value)
{
	const uint32_t n = m->words.n;

	if (ll_words_number(&m->words, word, ll_words_hash(word), value))
		return -ENOMEM;
	if (*value == n)
		m->v[n] = (struct rmw_value){
			.maker = LL_NONE,
			.taker = LL_NONE,
			.first_ret = FOREVER,
			.block = LL_NONE,
		};
	return 0;
}

/*
 * Order at equal times: calls; returns of threads that also have a call then, TIED_RET; calls of
 * these threads, TIED_CALL; other returns.
 */
enum { CALL, TIED_RET, TIED_CALL, RET, TURNS };

/*
 * Set an operation's times.  With `strict', the clock has no error, and at equal times a thread's
 * return comes before its next call; see timeline.c.  Return: false if times are too far apart.
 */
static bool set_times(struct rmw *m, uint32_t item)
{
	const struct kl_op *op = op_of(m, item), *last;
	const uint64_t base = op_of(m, 0)->call;
	const uint64_t ret = m->strict ? op->ret : kl_time_add(op->ret, m->s->h->error);
	struct rmw_op *o = &m->op[item];

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

static void saw(struct rmw_value *v, const struct rmw_op *op)
{
	v->first_ret = op->ret < v->first_ret ? op->ret : v->first_ret;
	v->last_call = op->call > v->last_call ? op->call : v->last_call;
}

static void make(struct rmw *m, uint32_t item)
{
	struct rmw_value *v = &m->v[m->op[item].after];

	m->again |= v->maker != LL_NONE || m->op[item].after == m->first;
	v->maker = item;
	v->made++;
}

static void take(struct rmw *m, uint32_t item)
{
	struct rmw_value *v = &m->v[m->op[item].before];

	v->taker = item;
	v->taken++;
}

/* Find the words that an operation saw and left.  Return: 1, 0 with m->why, -ENOMEM. */
static int find_words(struct rmw *m, const struct kl_op *op, struct rmw_op *o)
{
	const struct kl_history *h = m->s->h;
	const int method = m->s->methods[kl_op_method(h, op)];
	const struct kl_word_method *does = method < 0 ? NULL : kl_word_method(m->s->spec, method);
	struct kl_word_step step;

	if (!does)
		return no(m, "a method that does not return the value it read");
	step = kl_word_step(does, kl_op_args(h, op), op->flags & KL_OP_PENDING);
	o->kind = step.kind;
	o->before = o->after = LL_NONE;
	switch (step.kind) {
	case KL_WORD_NEVER:
		return no(m, "a result that no state allows");
	case KL_WORD_OTHER:
		return no(m, "the value that an operation read is unknown");
	case KL_WORD_NOTHING:
		m->opaque |= !kl_spec_method(m->s->spec, method)->pure;
		break;
	case KL_WORD_ADDS:
		break;
	default:
		if ((step.kind != KL_WORD_WRITES && rmw_number(m, step.before, &o->before)) ||
		    ((step.kind == KL_WORD_WRITES || step.kind == KL_WORD_MOVES) &&
		     rmw_number(m, step.after, &o->after)))
			return -ENOMEM;
	}
	return 1;
}

/* Do as find_words(), but only once for each signature; for histories with few of them. */
static int recall_words(struct rmw *m, const struct kl_op *op, struct rmw_op *o)
{
	struct rmw_op *known = &m->known[op->sig];
	int ret = known->kind == KL_WORD_NEVER ? find_words(m, op, known) : 1;

	o->kind = known->kind;
	o->before = known->before;
	o->after = known->after;
	return ret;
}

static void look_at_pending(struct rmw *m, uint32_t item)
{
	struct rmw_op *o = &m->op[item];

	if (o->kind == KL_WORD_NOTHING) {
		o->kind = KL_WORD_NEVER;
		return;
	}
	m->pending[m->npending++] = item;
	if (o->after != LL_NONE)
		m->v[o->after].made++;
	else
		m->nadds++;
}

/* Enter an operation's times, and what it did to words.  Return: 1, 0 with m->why, -ENOMEM. */
static int look_at(struct rmw *m, uint32_t item)
{
	const struct kl_op *op = op_of(m, item);
	const bool pending = op->flags & KL_OP_PENDING;
	struct rmw_op *o = &m->op[item];
	int ret;

	if (!set_times(m, item))
		return no(m, "times are too far apart");
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
	if (o->after != LL_NONE)
		make(m, item);
	return 1;
}

static int begin(struct rmw *m, const struct kl_container *c)
{
	uint32_t i;
	int ret = allocate(m);

	m->first = LL_NONE;
	if (ret)
		return ret;
	if (c->init && m->s->h->fresh && c->first.tag != KL_WORD)
		return no(m, "the first value is not a word");
	if (c->init && m->s->h->fresh)
		ret = rmw_number(m, c->first.v, &m->first);
	if (ret)
		return ret;
	for (i = 0, ret = 1; i < m->s->nops && ret > 0; i++) {
		ret = look_at(m, i);
		/* Strict times do not help where words come back. */
		if (m->again && m->strict)
			return no(m, BACK);
	}
	return ret;
}

/*
 * Check that each word is made as often as it is taken, and at least once if it is seen.  If the
 * first word is unknown, one word may be made once less.  This also holds where words come back.
 */
static bool is_made(struct rmw *m)
{
	uint64_t missing = 0, most = m->nadds + (m->first == LL_NONE);
	uint32_t i, one = LL_NONE;

	for (i = 0; i < m->words.n; i++) {
		const struct rmw_value *v = &m->v[i];
		const uint32_t made = v->made + (i == m->first);
		const uint32_t need = v->taken ? v->taken : !!v->last_call;

		if (made >= need)
			continue;
		missing += need - made;
		if (one == LL_NONE || v->taken > 1)
			one = i;
	}
	if (missing <= most)
		return true;
	m->bad[0] = most ? LL_NONE : one;
	if (m->v[one].taken > 1)
		snprintf(m->why, sizeof(m->why),
			 "%" PRIu64 " was replaced %u times, but written %u "
				    "times", rmw_word(m, one),
			 m->v[one].taken, m->v[one].made + (one == m->first));
	else
		snprintf(m->why, sizeof(m->why), "%" PRIu64 " was read, but never written",
			 rmw_word(m, one));
	return false;
}

/* Return: 1 if the order contradicts neither times nor threads, 0 if it does, -ENOMEM. */
static int in_time(const struct rmw *m)
{
	const struct loglinear all = { .s = m->s, .order = m->order, .norder = m->norder };
	const uint64_t error = m->s->h->error;
	uint64_t latest = 0;
	uint32_t i;

	for (i = 0; i < m->norder; i++) {
		const struct kl_op *op = op_of(m, m->order[i].item);

		if (kl_time_add(op->ret, error) < latest)
			return 0;
		latest = op->call > latest ? op->call : latest;
	}
	return ll_keeps_thread_order(&all);
}

static int linearizable(struct rmw *m, struct kl_answer *a)
{
	int ret = rmw_order(m);

	if (ret <= 0) {
		m->strict |= !m->forced;	/* there may still be an order */
		return ret;
	}
	ret = in_time(m);
	if (ret <= 0) {
		no(m, "found no order that keeps the program order of each thread");
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

/* Return: true if a word was replaced more than once, so that it must have come back. */
static bool comes_back(const struct rmw *m)
{
	uint32_t i;

	for (i = 0; i < m->words.n; i++)
		if (m->v[i].taken > 1)
			return true;
	return false;
}

/* A condition is broken: let a general engine confirm that the core has no order. */
static int confirm(const struct rmw *m, struct kl_answer *a)
{
	int ret = rmw_core(m, a);

	if (ret)
		return ret;
	snprintf(a->reason, sizeof(a->reason), "%s", m->why);
	return ll_confirm(m->s, m->lim, a);
}

static int run(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	       bool strict, struct kl_answer *a)
{
	struct rmw m = { .s = s, .lim = lim, .strict = strict, .bad = { LL_NONE, LL_NONE } };
	bool decided = false;
	int ret = begin(&m, c);

	if (ret > 0 && !is_made(&m)) {
		decided = !strict;
		ret = 0;
	} else if (ret > 0 && (m.again || comes_back(&m))) {
		ret = strict ? 0 : rmw_parts(&m, a);
		no(&m, BACK);
	} else if (ret > 0) {
		ret = rmw_choose(&m) ?: rmw_chains(&m);
		if (ret > 0)
			ret = linearizable(&m, a);
		decided = !m.strict;
	}
	if (!ret && decided)
		ret = confirm(&m, a);
	else if (!ret && a->verdict == KL_UNKNOWN)
		snprintf(a->reason, sizeof(a->reason), "log-linear: %.140s", m.why);
	rmw_free(&m);
	return ret < 0 ? ret : 0;
}

int ll_rmw(const struct kl_slice *s, const struct kl_limits *lim, const struct kl_container *c,
	   struct kl_answer *a)
{
	int ret;

	a->verdict = KL_UNKNOWN;
	/* First with strict times; if that does not decide, with the times that are certain. */
	ret = run(s, lim, c, true, a);
	if (!ret && a->verdict == KL_UNKNOWN)
		ret = run(s, lim, c, false, a);
	return ret;
}
