// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a run of the plain machine.  There are four faults: no order of the specification
 * explains the history, a condition of `final' is false, no thread can go on, or no run comes
 * to an end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/intern.h"
#include "plain_end.h"
#include "tso/explore/spec_configs.h"

/* Map data to words that no model uses. */
static uint64_t plain_value(uint64_t v)
{
	return v > KL_VM_DATA && v <= KL_VM_DATA + KL_VM_DATA_MAX ? 1000000 + v - KL_VM_DATA : v;
}

/* Return: true if the specification has the history.  Steps it event by event. */
static bool explained(const struct plain *m)
{
	struct kl_abstract *a;
	struct kl_vm_event e;
	unsigned int i, k;
	int64_t set;

	assert_int_equal(kl_abstract_new(m->p->spec, m->p->nthreads, m->p->sc, &a), 0);
	set = kl_abstract_first(a);
	for (i = 0; i < m->nev && set > 0; i++) {
		e = m->ev[i];
		for (k = 0; k < e.n; k++)
			e.val[k] = plain_value(e.val[k]);
		set = kl_abstract_step(a, set, &e);
	}
	assert_true(set >= 0);
	kl_abstract_free(a);
	return set;
}

/* ---- states that are reached from a state --------------------------------------------- */

struct reach {
	const struct plain *m;
	struct kl_intern states;
	struct plain **todo;
	size_t n, done;
	bool moved;
	/* stuck: in some state no thread can go on; ends: some run comes to its end */
	bool stuck, ends;
};

static uint64_t *put_thread(const struct plain_thread *th, uint64_t *w)
{
	unsigned int i;

	*w++ = th->pc[0] | (uint64_t)(th->method >= 0 ? th->pc[1] : 0) << 32;
	*w++ = (uint64_t)(th->method + 1) << 8 | th->done | (uint64_t)th->nbuf << 32;
	memcpy(w, th->reg[0], sizeof(th->reg[0]));
	w += KL_VM_REGS;
	if (th->method >= 0)
		memcpy(w, th->reg[1], sizeof(th->reg[1]));
	else
		memset(w, 0, sizeof(th->reg[1]));
	w += KL_VM_REGS;
	for (i = 0; i < th->nbuf; i++) {
		*w++ = th->buf[i].kind | th->buf[i].more << 2 | (uint64_t)th->buf[i].addr << 32;
		*w++ = th->buf[i].val;
	}
	return w;
}

/* Queue a state if it is new. */
static void reached(struct reach *r, const struct plain *m)
{
	static uint64_t words[KL_VM_MEM + 8 * (2 * KL_VM_REGS + 2 + 2 * PLAIN_BUFFER)];
	uint64_t *w = words;
	unsigned int t;

	r->moved = true;
	memcpy(w, m->mem, m->nmem * sizeof(*w));
	w += m->nmem;
	for (t = 0; t < m->p->nthreads; t++)
		w = put_thread(&m->thread[t], w);
	if (r->n > PLAIN_STATES || (size_t)kl_intern(&r->states, words, w - words) < r->n)
		return;
	r->todo[r->n] = malloc(sizeof(*m));
	assert_non_null(r->todo[r->n]);
	memcpy(r->todo[r->n], m, sizeof(*m));
	r->todo[r->n++]->nev = 0;
}

/* Run @t up to its next visible step, for each of its choices. */
static void follow(struct reach *r, struct plain *m, unsigned int t)
{
	enum plain_did did = PLAIN_LOCAL;
	struct plain *one;
	unsigned int i, n = 0;

	while (did == PLAIN_LOCAL || (m->thread[t].block && did == PLAIN_ACCESS)) {
		/* A thread that runs this long without an access is in an endless loop. */
		if (n++ > 100000)
			return;
		did = plain_insn(m, t);
	}
	if (did == PLAIN_CHOOSES) {
		one = malloc(sizeof(*one));
		assert_non_null(one);
		for (i = 0; i < m->nchoices; i++) {
			memcpy(one, m, sizeof(*one));
			one->choice = i;
			follow(r, one, t);
		}
		free(one);
	} else if (did != PLAIN_WAITS) {
		/* A run with another fault is not an endless run. */
		r->ends |= did == PLAIN_FAULT;
		reached(r, m);
	}
}

static void step_all(struct reach *r, const struct plain *from)
{
	struct plain *m = malloc(sizeof(*m));
	unsigned int t;
	bool over = true;

	assert_non_null(m);
	r->moved = false;
	for (t = 0; t < from->p->nthreads; t++) {
		over &= from->thread[t].done;
		memcpy(m, from, sizeof(*m));
		if (!m->thread[t].done)
			follow(r, m, t);
		memcpy(m, from, sizeof(*m));
		if (m->thread[t].nbuf) {
			plain_flush(m, t);
			reached(r, m);
		}
	}
	r->ends |= over;
	r->stuck |= !over && !r->moved;
	free(m);
}

/* Explore from @m: @stuck if in some state no thread can go on, @ends if some run ends. */
static void explore(const struct plain *m, bool *stuck, bool *ends)
{
	struct reach r = { .m = m };

	r.todo = calloc(PLAIN_STATES + 2, sizeof(*r.todo));
	assert_non_null(r.todo);
	reached(&r, m);
	for (; r.done < r.n && r.done < PLAIN_STATES && !r.ends; r.done++)
		step_all(&r, r.todo[r.done]);
	*stuck = r.stuck;
	*ends = r.ends;
	while (r.n)
		free(r.todo[--r.n]);
	free(r.todo);
	kl_intern_free(&r.states);
}

static bool writes_wait(const struct plain *m)
{
	unsigned int t, i;

	for (t = 0; t < m->p->nthreads; t++)
		for (i = 0; i < m->thread[t].nbuf; i++)
			if (m->thread[t].buf[i].kind == KL_VM_WRITE && !m->thread[t].buf[i].secret)
				return true;
	return false;
}

static bool final_fails(const struct plain *m, const char *message)
{
	struct plain *end = malloc(sizeof(*end));
	char want[200];
	unsigned int t;
	bool ret;

	assert_non_null(end);
	memcpy(end, m, sizeof(*end));
	ret = !writes_wait(m);
	for (t = 0; t < m->p->nthreads; t++) {
		while (end->thread[t].nbuf)
			plain_flush(end, t);
		ret &= end->thread[t].done || plain_insn(end, t) == PLAIN_OVER;
	}
	ret = ret && plain_alone(end, m->p->spec->impl->final_code) == PLAIN_FAULT;
	snprintf(want, sizeof(want), "at the end: %s", end->error);
	free(end);
	return ret && !strcmp(want, message);
}

bool plain_ends(const struct plain *m, const struct kl_explore_options *o,
		enum kl_explore_verdict v, const char *message)
{
	bool stuck, ends;

	switch (v) {
	case KL_EX_NOT_LINEARIZABLE:
		return !explained(m);
	case KL_EX_FINAL:
		return final_fails(m, message);
	case KL_EX_DEADLOCK:
		explore(m, &stuck, &ends);
		return !writes_wait(m) && stuck && !ends;
	case KL_EX_ENDLESS:
		explore(m, &stuck, &ends);
		return !ends;
	default:
		return false;
	}
}
