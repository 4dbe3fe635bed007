// SPDX-License-Identifier: GPL-2.0
/* Endless streams of operations, see stream.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "stream.h"

enum { ADD, REMOVE, HAS };
enum { IDLE, CALLED, DONE };

const char *stream_spec(const struct stream_config *c)
{
	static const char *const names[] = { "queue", "set", "pqueue", "stack", "register" };

	return names[c->type];
}

int stream_init(struct stream *s, const struct stream_config *c, const struct kl_spec *spec)
{
	static const char *const names[5][3] = {
		{ "enq", "deq", "peek" }, { "add", "remove", "has" }, { "push", "pop", "peek" },
		{ "push", "pop", "peek" }, { "write", "cas", "read" },
	};
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->c = *c;
	s->seed = c->seed;
	s->cap = 64;
	while (s->cap < 4 * ((uint64_t)c->size + STREAM_THREADS))
		s->cap *= 2;
	s->inside = calloc(s->cap, sizeof(*s->inside));
	for (i = 0; i < 3; i++)
		s->methods[i] = kl_spec_find_method(spec, names[c->type][i]);
	return s->inside ? 0 : -ENOMEM;
}

void stream_free(struct stream *s)
{
	free(s->inside);
}

static void heap_push(struct stream *s, uint64_t word)
{
	uint64_t at = s->n++;

	for (; at && s->inside[(at - 1) / 2] > word; at = (at - 1) / 2)
		s->inside[at] = s->inside[(at - 1) / 2];
	s->inside[at] = word;
}

static uint64_t heap_pop(struct stream *s)
{
	const uint64_t best = s->inside[0], last = s->inside[--s->n];
	uint64_t at = 0, down;

	while ((down = 2 * at + 1) < s->n) {
		if (down + 1 < s->n && s->inside[down + 1] < s->inside[down])
			down++;
		if (s->inside[down] >= last)
			break;
		s->inside[at] = s->inside[down];
		at = down;
	}
	s->inside[at] = last;
	return best;
}

static void queue_effect(struct stream *s, struct stream_thread *t, bool wrong)
{
	if (t->method == ADD) {
		if (wrong && s->c.fault == STREAM_LOST)
			s->fault_event = 1;
		else
			s->inside[(s->head + s->n++) & (s->cap - 1)] = t->word;
		return;
	}
	t->vals[0] = s->n ? kl_word(s->inside[s->head & (s->cap - 1)]) : kl_special(KL_EMPTY);
	if (!s->n)
		return;
	if (wrong && s->c.fault == STREAM_RESULT && s->n > 2 * STREAM_THREADS) {
		/* Fault: an element far behind overtakes the first. */
		uint64_t *other = &s->inside[(s->head + 2 * STREAM_THREADS) & (s->cap - 1)];
		const uint64_t word = *other;

		*other = t->vals[0].v;
		t->vals[0].v = word;
		s->fault_event = 1;
	}
	if (wrong && s->c.fault == STREAM_AGAIN) {
		s->fault_event = 1;
		return;
	}
	s->head++;
	s->n--;
}

static void set_effect(struct stream *s, struct stream_thread *t, bool wrong)
{
	uint64_t *in = &s->inside[t->word];
	const bool was = *in;

	t->vals[1] = kl_word(t->method == ADD ? !was : was);
	if (t->method != HAS)
		*in = t->method == ADD;
	if (wrong) {
		t->vals[1].v ^= 1;
		s->fault_event = 1;
	}
}

static void pqueue_effect(struct stream *s, struct stream_thread *t, bool wrong)
{
	if (t->method == ADD) {
		heap_push(s, t->word);
		return;
	}
	t->vals[0] = s->n ? kl_word(s->inside[0]) : kl_special(KL_EMPTY);
	if (!s->n)
		return;
	if (wrong && s->c.fault == STREAM_AGAIN) {
		s->fault_event = 1;
		return;
	}
	if (wrong && s->c.fault == STREAM_RESULT && s->n > 2 * STREAM_THREADS) {
		/* Fault: remove the last element of the heap instead of the first. */
		const uint64_t word = s->inside[--s->n];

		t->vals[0].v = word;
		s->fault_event = 1;
		return;
	}
	heap_pop(s);
}

static void stack_effect(struct stream *s, struct stream_thread *t, bool wrong)
{
	const uint32_t deep = 2 * STREAM_THREADS;

	if (t->method == ADD) {
		if (wrong && s->c.fault == STREAM_LOST)
			s->fault_event = 1;
		else
			s->inside[s->n++] = t->word;
		return;
	}
	t->vals[0] = s->n ? kl_word(s->inside[s->n - 1]) : kl_special(KL_EMPTY);
	if (!s->n)
		return;
	if (wrong && s->c.fault == STREAM_RESULT && s->n > deep) {
		uint64_t *other = &s->inside[s->n - 1 - deep];
		const uint64_t word = *other;

		*other = t->vals[0].v;
		t->vals[0].v = word;
		s->fault_event = 1;
	}
	if (wrong && s->c.fault == STREAM_AGAIN) {
		s->fault_event = 1;
		return;
	}
	s->n--;
}

static void register_effect(struct stream *s, struct stream_thread *t, bool wrong)
{
	if (t->method == ADD) {
		s->inside[0] = t->word;
		return;
	}
	t->vals[0] = kl_word(s->inside[0]);
	/* Fault: return the initial value, or a very old one. */
	if (wrong && s->c.fault == STREAM_RESULT && s->inside[0]) {
		t->vals[0].v = 0;
		s->fault_event = 1;
	}
	if (wrong && s->c.fault == STREAM_AGAIN && s->added > 4 * STREAM_THREADS) {
		t->vals[0].v = s->added - 4 * STREAM_THREADS;
		s->fault_event = 1;
	}
}

static void call(struct stream *s, struct stream_thread *t)
{
	const uint64_t r = kl_rand(&s->seed);

	s->events++;
	t->call = s->now;
	t->step = CALLED;
	if (s->c.type == STREAM_SET) {
		t->method = r % 3;
		t->word = (r >> 8) % s->c.size;
		t->vals[0] = kl_word(t->word);
		return;
	}
	if (s->c.type == STREAM_REGISTER) {
		t->method = r & 1 ? ADD : HAS;
		t->word = 1 + (s->c.size > 1 ? (r >> 8) % s->c.size : s->added++);
		t->vals[0] = kl_word(t->word);
		return;
	}
	/* Keep about this many elements inside; with small sizes the structure is often empty. */
	t->method = s->n >= s->c.size || (r & 1) ? REMOVE : ADD;
	if (s->n >= 2 * (uint64_t)s->c.size)
		t->method = REMOVE;
	t->word = ++s->added;
	if (s->c.type == STREAM_PQUEUE)
		t->word = (r >> 32 << 24 | (s->added & 0xffffff));
	t->vals[0] = kl_word(t->word);
}

void stream_next(struct stream *s, struct kl_online_op *op)
{
	struct stream_thread *t;
	bool wrong;

	for (;;) {
		t = &s->t[kl_rand_below(&s->seed, s->c.threads)];
		s->now++;
		if (t->step == IDLE) {
			call(s, t);
			continue;
		}
		if (t->step == DONE)
			break;
		wrong = s->c.fault && s->nops >= s->c.fault_at && !s->fault_event;
		t->step = DONE;
		if (s->c.type == STREAM_SET)
			set_effect(s, t, wrong);
		else if (s->c.type == STREAM_QUEUE)
			queue_effect(s, t, wrong);
		else if (s->c.type == STREAM_STACK)
			stack_effect(s, t, wrong);
		else if (s->c.type == STREAM_REGISTER)
			register_effect(s, t, wrong);
		else
			pqueue_effect(s, t, wrong);
		if (s->fault_event == 1)
			s->fault_event = s->events;
	}
	t->step = IDLE;
	s->events++;
	s->nops++;
	*op = (struct kl_online_op){
		.call = t->call, .ret = s->now, .drain = s->now, .thread = t - s->t,
		.cpu = KL_NO_CPU, .vals = t->vals, .method = s->methods[t->method],
	};
}

bool stream_pending(struct stream *s, unsigned int i, struct kl_online_op *op)
{
	struct stream_thread *t = &s->t[i];

	if (i >= s->c.threads || t->step == IDLE)
		return false;
	/* Arguments stay, but results are unknown. */
	if (s->c.type == STREAM_SET)
		t->vals[1] = kl_special(KL_ANY);
	else if (t->method != ADD)
		t->vals[0] = kl_special(KL_ANY);
	*op = (struct kl_online_op){
		.call = t->call, .ret = KL_TIME_MAX, .drain = KL_TIME_MAX, .thread = i,
		.cpu = KL_NO_CPU, .vals = t->vals, .method = s->methods[t->method],
		.flags = KL_OP_PENDING,
	};
	return true;
}

uint64_t stream_floor(const struct stream *s)
{
	uint64_t floor = s->now;
	unsigned int i;

	for (i = 0; i < s->c.threads; i++)
		if (s->t[i].step != IDLE && s->t[i].call < floor)
			floor = s->t[i].call;
	return floor;
}
