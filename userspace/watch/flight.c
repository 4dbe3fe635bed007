// SPDX-License-Identifier: GPL-2.0
/*
 * The flight recorder, see flight.h.  It is a list of segments, each a small history.  The oldest
 * segment is freed if there are too many.  Shots share segments, so no operation is added to a
 * segment that is in a shot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/coverage.h"
#include "history/spell.h"
#include "watch/flight.h"

#define SEGMENT_OPS	4096
#define SEGMENTS 16 /* a segment takes at most 1/SEGMENTS of the memory */
#define PENDING		4096	/* maximal number of pending operations, which are not forgotten */
#define INDEX_BYTES	64	/* approximate size of an object or thread in a history's index */

struct segment {
	struct segment *next;
	struct kl_history *h;
	unsigned int refs;
	uint64_t bytes;
	uint64_t newest; /* time of the latest return */
	uint64_t over; /* after this time no store of its operations is in a store buffer */
};

struct flight {
	const struct kl_spec *spec;
	struct kl_history *head;	/* header of each history; it has no operations */
	struct kl_history *pending; /* pending operations */
	struct segment *first, *last;
	/* bounds of @bytes, and of the age of operations; bytes and operations in all segments */
	uint64_t limit, ns, bytes, ops;
	/*
	 * the latest return; the time after which forgotten operations have no effect; the number
	 * of forgotten operations and gaps
	 */
	uint64_t newest, cut, forgotten;
	/* it is unknown when the stores of forgotten operations left the store buffers */
	bool lost;
	bool blind; /* pending operations were left out, since there were too many */
};

struct flight_shot {
	const struct kl_spec *spec;
	struct kl_history *head, *pending;
	struct segment **segments;
	size_t n;
	uint64_t cut, end, forgotten;
	bool lost;
};

static int copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

/* Copy the header of a history. */
static struct kl_history *copy_head(const struct kl_history *from)
{
	struct kl_history *h = kl_history_new();

	if (!h)
		return NULL;
	h->clock = from->clock;
	h->error = from->error;
	h->fresh = from->fresh;
	h->memory = from->memory;
	h->ncpus = from->ncpus;
	kl_history_share_spellings(h, from);
	if (!copy_text(&h->spec_path, from->spec_path) &&
	    !copy_text(&h->spec_text, from->spec_text) &&
	    !copy_text(&h->release, from->release) && !copy_text(&h->attached, from->attached) &&
	    !kl_history_copy_coverage(h, from))
		return h;
	kl_history_free(h);
	return NULL;
}

static int copy_op(struct kl_history *to, const struct kl_history *from, const struct kl_op *op)
{
	const char *name = from->methods[kl_op_method(from, op)];
	int64_t method = kl_history_method(to, name, strlen(name));
	int64_t thread = kl_history_thread(to, from->threads[op->thread]);
	int64_t object = kl_history_object(to, from->objects[op->object]);
	struct kl_opsig s = *kl_op_sig(from, op);
	struct kl_op copy = *op;
	int ret;

	if (method < 0 || thread < 0 || object < 0)
		return -ENOMEM;
	s.method = method;
	copy.thread = thread;
	copy.object = object;
	ret = kl_history_add(to, &copy, &s, kl_op_args(from, op), kl_op_res(from, op));
	return ret ?: kl_history_set_points(to, to->nops - 1, kl_op_point(from, op),
					    kl_op_drain(from, op)) ?:
	       kl_history_set_stack(to, to->nops - 1, kl_op_stack(from, op));
}

static int copy_gap(struct kl_history *to, const struct kl_history *from, const struct kl_gap *gap)
{
	struct kl_gap copy = *gap;
	int64_t object;

	if (gap->object != KL_ALL_OBJECTS) {
		object = kl_history_object(to, from->objects[gap->object]);
		if (object < 0)
			return object;
		copy.object = object;
	}
	return kl_history_add_gap(to, &copy);
}

static uint64_t bytes_of(const struct kl_history *h)
{
	return h->cops * sizeof(*h->ops) + (h->cpoints + h->cdrains) * sizeof(*h->drains) +
	       h->cstacks * sizeof(*h->stacks) +
	       h->copsigs * sizeof(*h->opsigs) + h->cvals * sizeof(*h->vals) +
	       h->cgaps * sizeof(*h->gaps) +
	       (h->nobjects + h->nthreads + h->nopsigs) * INDEX_BYTES + sizeof(struct segment);
}

static void put_segment(struct segment *s)
{
	if (__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL))
		return;
	kl_history_free(s->h);
	free(s);
}

struct flight *flight_new(const struct kl_spec *spec, const struct kl_history *h, uint64_t bytes,
			  uint64_t ns)
{
	struct flight *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->spec = spec;
	f->limit = bytes;
	f->ns = ns;
	f->head = copy_head(h);
	f->pending = kl_history_new();
	if (f->head && f->pending)
		return f;
	flight_free(f);
	return NULL;
}

void flight_free(struct flight *f)
{
	struct segment *s, *next;

	if (!f)
		return;
	for (s = f->first; s; s = next) {
		next = s->next;
		put_segment(s);
	}
	kl_history_free(f->pending);
	kl_history_free(f->head);
	free(f);
}

/* Return: the segment to add operations to, or NULL without memory. */
static struct segment *open_segment(struct flight *f)
{
	struct segment *s = f->last;

	if (s && s->h->nops < SEGMENT_OPS && s->h->ngaps < SEGMENT_OPS &&
	    s->bytes < f->limit / SEGMENTS && __atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) == 1)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->h = kl_history_new();
	s->refs = 1;
	if (!s->h) {
		free(s);
		return NULL;
	}
	if (f->last)
		f->last->next = s;
	else
		f->first = s;
	f->last = s;
	return s;
}

static void account(struct flight *f, struct segment *s)
{
	const uint64_t bytes = bytes_of(s->h);

	f->bytes += bytes - s->bytes;
	s->bytes = bytes;
}

/* Return: a time after which no store of the operation is in a store buffer. */
static uint64_t over(const struct flight *f, const struct kl_history *h, const struct kl_op *op)
{
	const int m = kl_spec_find_method(f->spec, h->methods[kl_op_method(h, op)]);

	if (kl_spec_flushes(f->spec) || (m >= 0 && kl_spec_method(f->spec, m)->pure))
		return op->ret;
	return kl_op_empty(h, op);
}

static void forget_first(struct flight *f)
{
	struct segment *s = f->first;

	f->first = s->next;
	if (!f->first)
		f->last = NULL;
	if (s->over == KL_TIME_MAX) {
		f->lost = true;
		s->over = s->newest;
	}
	if (s->over > f->cut)
		f->cut = s->over;
	f->forgotten += s->h->nops + s->h->ngaps;
	f->ops -= s->h->nops;
	f->bytes -= s->bytes;
	put_segment(s);
}

static void forget(struct flight *f)
{
	while (f->first && f->bytes > f->limit)
		forget_first(f);
	while (f->ns && f->first && f->first->newest < f->newest &&
	       f->newest - f->first->newest > f->ns)
		forget_first(f);
}

static int add_pending(struct flight *f, const struct kl_history *h, const struct kl_op *op)
{
	if (f->pending->nops < PENDING)
		return copy_op(f->pending, h, op);
	f->blind = true;
	return 0;
}

static int add_op(struct flight *f, const struct kl_history *h, const struct kl_op *op)
{
	struct segment *s;
	int ret;

	if (op->flags & KL_OP_PENDING)
		return add_pending(f, h, op);
	s = open_segment(f);
	ret = s ? copy_op(s->h, h, op) : -ENOMEM;
	if (ret)
		return ret;
	f->ops++;
	if (op->ret > s->newest)
		s->newest = op->ret;
	if (s->newest > f->newest)
		f->newest = s->newest;
	if (over(f, h, op) > s->over)
		s->over = over(f, h, op);
	if (s->h->nops % 64 == 0) {
		account(f, s);
		forget(f);
	}
	return 0;
}

int flight_add(struct flight *f, const struct kl_history *h)
{
	struct segment *s;
	size_t i;
	/* Facts of store buffers are copied, too, since the check knows the memory model. */
	const int harmful = kl_coverage_follow(f->spec, f->head, h, false);
	int ret = 0;

	if (harmful < 0)
		return harmful;
	for (i = 0; i < h->ngaps && !ret; i++) {
		const uint64_t to = h->gaps[i].to;

		s = open_segment(f);
		ret = s ? copy_gap(s->h, h, &h->gaps[i]) : -ENOMEM;
		if (ret)
			return ret;
		if (to > s->newest)
			s->newest = to;
		if (to > s->over)
			s->over = to;
	}
	for (i = 0; i < h->nops && !ret; i++)
		ret = add_op(f, h, &h->ops[i]);
	if (f->last)
		account(f, f->last);
	forget(f);
	return ret ? ret : harmful;
}

int flight_attached(struct flight *f, const char *text)
{
	free(f->head->attached);
	return copy_text(&f->head->attached, text);
}

void flight_stats(const struct flight *f, struct flight_stats *out)
{
	*out = (struct flight_stats){
		.ops = f->ops + f->pending->nops, .forgotten = f->forgotten,
		.bytes = f->bytes + bytes_of(f->pending),
	};
}

struct flight_shot *flight_take(struct flight *f, uint64_t floor)
{
	struct flight_shot *shot = calloc(1, sizeof(*shot));
	struct segment *s;
	size_t n = 0, i;

	if (!shot)
		return NULL;
	for (s = f->first; s; s = s->next)
		n++;
	shot->spec = f->spec;
	shot->cut = f->blind ? KL_TIME_MAX : f->cut;
	shot->lost = f->lost || f->blind;
	shot->forgotten = f->forgotten + f->blind;
	shot->end = floor;
	shot->head = copy_head(f->head);
	shot->pending = kl_history_new();
	shot->segments = malloc((n + 1) * sizeof(*shot->segments));
	if (!shot->head || !shot->pending || !shot->segments)
		goto err;
	for (i = 0; i < f->pending->nops; i++)
		if (copy_op(shot->pending, f->pending, &f->pending->ops[i]))
			goto err;
	for (s = f->first; s; s = s->next) {
		__atomic_add_fetch(&s->refs, 1, __ATOMIC_ACQ_REL);
		shot->segments[shot->n++] = s;
	}
	return shot;
err:
	flight_shot_free(shot);
	return NULL;
}

void flight_shot_free(struct flight_shot *s)
{
	if (!s)
		return;
	while (s->n)
		put_segment(s->segments[--s->n]);
	free(s->segments);
	kl_history_free(s->head);
	kl_history_free(s->pending);
	free(s);
}

/* Copy operations that were called before the end; the shot lacks some of the later ones. */
static int copy_ops(const struct flight_shot *s, const struct kl_history *from,
		    const uint64_t *object, struct kl_history *to)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < from->nops && !ret; i++) {
		struct kl_op *op;

		if (from->ops[i].call >= s->end || (s->forgotten && from->ops[i].ret <= s->cut) ||
		    (object && from->objects[from->ops[i].object] != *object))
			continue;
		ret = copy_op(to, from, &from->ops[i]);
		if (ret)
			break;
		op = &to->ops[to->nops - 1];
		if (kl_time_add(op->ret, to->error) >= s->end && !(op->flags & KL_OP_PENDING))
			ret = kl_op_make_pending(to, op);
		if (!ret && kl_op_drain(to, op) >= s->end)
			ret = kl_history_set_points(to, to->nops - 1, kl_op_point(to, op),
						    KL_TIME_MAX);
	}
	return ret;
}

static int copy_gaps(const struct flight_shot *s, const struct kl_history *from,
		     const uint64_t *object, struct kl_history *to)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < from->ngaps && !ret; i++) {
		const struct kl_gap *g = &from->gaps[i];

		if (object && g->object != KL_ALL_OBJECTS && from->objects[g->object] != *object)
			continue;
		if (g->from < s->end)
			ret = copy_gap(to, from, g);
	}
	return ret;
}

int flight_shot_history(const struct flight_shot *s, const uint64_t *object,
			struct kl_history **out)
{
	const struct kl_gap cut = {
		.from = KL_TIME_MIN, .to = kl_time_add(s->cut, s->head->error),
		.object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU,
		/* It is unknown when the stores of lost operations left the store buffers. */
		.reason = s->lost ? KL_GAP_LOST : KL_GAP_CUT,
	};
	struct kl_history *h = copy_head(s->head);
	size_t i;
	int ret = 0;

	if (!h)
		return -ENOMEM;
	if (s->forgotten) {
		h->fresh = false;
		ret = kl_history_add_gap(h, &cut);
	}
	if (!ret)
		ret = copy_ops(s, s->pending, object, h);
	for (i = 0; i < s->n && !ret; i++)
		ret = copy_ops(s, s->segments[i]->h, object, h) ?:
		      copy_gaps(s, s->segments[i]->h, object, h);
	if (!ret)
		ret = kl_history_finish(h);
	if (ret)
		kl_history_free(h);
	else
		*out = h;
	return ret;
}
