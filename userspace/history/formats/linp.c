// SPDX-License-Identifier: GPL-2.0
/*
 * LinP's form (Lee & Mathur): a line with the type, then a line for each operation: method, value,
 * start, end.  All operations have returned.  See linp.h for values and times.
 *
 *	# stack
 *	push 1 1 2
 *	pop -1 5 6
 *
 * In the form of PolyLin, its successor, lines of sets have results, too, 1 or 0:
 *
 *	# set
 *	insert 1 0 1 2
 *
 * The form has no threads.  klin's history puts the operations on as few threads as possible.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/mem.h"
#include "history/formats/linp_scan.h"
#include "history/formats/order.h"

#define PEEK	{ "peek", "peek", KL_LINP_TAKE }

static const struct kl_linp_type types[] = {
	{ .name = "stack", .spec = "stack", .expected = "push, pop or peek",
	  .methods = { { "push", "push", KL_LINP_GIVE }, { "pop", "pop", KL_LINP_TAKE }, PEEK } },
	{ .name = "queue", .spec = "queue", .expected = "enq, deq or peek",
	  .methods = { { "enq", "enq", KL_LINP_GIVE }, { "deq", "deq", KL_LINP_TAKE }, PEEK } },
	{ .name = "priorityqueue", .also = "pqueue", .spec = "pqueue",
	  .expected = "insert, poll or peek", .reversed = true,
	  .methods = { { "insert", "push", KL_LINP_GIVE },
		       { "poll", "pop", KL_LINP_TAKE }, PEEK } },
	{ .name = "deque", .spec = "deque",
	  .expected = "push_front, push_back, pop_front or pop_back",
	  .methods = { { "push_front", "push_front", KL_LINP_GIVE },
		       { "push_back", "push_back", KL_LINP_GIVE },
		       { "pop_front", "pop_front", KL_LINP_TAKE },
		       { "pop_back", "pop_back", KL_LINP_TAKE } } },
	{ .name = "set", .spec = "set", .ties = true,
	  .expected = "insert, remove, contains, contains_true or contains_false",
	  .methods = { { "insert", "add", KL_LINP_TRUE }, { "remove", "remove", KL_LINP_TRUE },
		       { "contains_true", "has", KL_LINP_TRUE },
		       { "contains_false", "has", KL_LINP_FALSE },
		       /* PolyLin's methods, with a result */
		       { "contains", "has", KL_LINP_TELL }, { "insert", "add", KL_LINP_TELL },
		       { "remove", "remove", KL_LINP_TELL } } },
};

#define NTYPES	(sizeof(types) / sizeof(*types))

static bool is_linp(const struct kl_head *head)
{
	return kl_linp_is(head, types, NTYPES) &&
	       (head->data == head->end || !kl_scan_digit(*head->data));
}

/*
 * Return: true if the line, whose rest behind the value is at @p, has a result before the times.
 * Then three numbers follow the value.
 */
static bool has_result(const struct kl_linp *l, int m, const char *p)
{
	int words;

	if (l->type->methods[m].shape == KL_LINP_TELL)
		return true;
	if (l->type->methods[m].shape != KL_LINP_TRUE)
		return false;
	for (words = 0; kl_scan_word(p = kl_scan_skip(p)); words++)
		p += kl_scan_word(p);
	return words > 2;
}

/* Return: the method with the name of @m whose lines have a result, or @m if there is none. */
static int telling(const struct kl_linp *l, int m)
{
	const struct kl_linp_method *t = l->type->methods;
	int i;

	for (i = 0; t[i].theirs; i++)
		if (t[i].shape == KL_LINP_TELL && !strcmp(t[i].theirs, t[m].theirs))
			return i;
	return m;
}

static int scan_line(void *ctx, const char **pp)
{
	struct kl_linp *l = ctx;
	struct kl_op op = { 0 };
	uint64_t v, result = 0;
	const char *p = *pp;
	int m, ret;

	if (*p == '#')
		return kl_linp_header(l, pp);
	m = kl_linp_method(l, &p);
	if (m < 0)
		return m;
	ret = kl_linp_value(l, m, &p, &v);
	if (ret)
		return ret;
	if (has_result(l, m, p))
		m = telling(l, m);
	if (l->type->methods[m].shape == KL_LINP_TELL && kl_linp_result(l, &p, &result))
		return -EINVAL;
	if (kl_linp_times(l, &p, &op) || kl_scan_eol(&l->scan, &p))
		return -EINVAL;
	*pp = p;
	return kl_linp_add(l, m, &op, v, result);
}

/* Give each operation a thread, such that operations of one thread do not overlap. */
static int number_threads(struct kl_history *h)
{
	struct kl_heap lanes = { .n = 0 };	/* threads by the return of their last operation */
	size_t i;
	int64_t thread;
	int ret = 0;

	for (i = 0; i < h->nops; i++) {
		struct kl_op *op = &h->ops[i];

		if (lanes.n && lanes.entry[0].key < op->call) {
			op->thread = lanes.entry[0].value;
			kl_heap_replace(&lanes, op->ret, op->thread);
			continue;
		}
		thread = kl_history_thread(h, lanes.n);
		ret = thread < 0 ? thread : kl_heap_push(&lanes, op->ret, thread);
		if (ret)
			break;
		op->thread = thread;
	}
	free(lanes.entry);
	return ret;
}

static int read_linp(struct kl_input *in, struct kl_history **out)
{
	struct kl_linp l = {
		.types = types, .ntypes = NTYPES, .one_thread = true,
		.expected = "set, stack, queue, priorityqueue or deque",
	};
	int ret;

	ret = kl_linp_read(&l, in, scan_line, out);
	if (ret)
		return ret;
	ret = number_threads(*out);
	if (ret) {
		kl_history_free(*out);
		*out = NULL;
	}
	return ret;
}

/* ---- writing ---- */

static bool is_named(const struct kl_history *h)
{
	const struct kl_linp_type *t;

	for (t = types; t < types + NTYPES && !kl_history_is(h, t->spec); t++)
		;
	return t < types + NTYPES;
}

/*
 * Return: the type for the history's spec or, if there is none, a type that has all methods of the
 * history (a stack rather than a priority queue); NULL after a message if no type fits.
 */
static const struct kl_linp_type *type_of(const struct kl_history *h)
{
	const bool named = is_named(h);
	const struct kl_linp_type *t;
	const struct kl_linp_method *m;
	size_t i;

	for (t = types; t < types + NTYPES; t++) {
		if (named ? !kl_history_is(h, t->spec) : t->reversed)
			continue;
		/* Methods without an operation do not matter. */
		for (i = 0; i < h->nmethods; i++) {
			for (m = t->methods; m->theirs && strcmp(m->ours, h->methods[i]); m++)
				;
			if (!m->theirs && h->arities[i])
				break;
		}
		if (i == h->nmethods)
			return t;
	}
	kl_err("the form linp has sets, stacks, queues, priority queues and deques: the history's "
	       "methods fit none of them");
	return NULL;
}

static int cannot(const struct kl_history *h, const struct kl_op *op, const char *why)
{
	char text[256];

	kl_op_print(text, sizeof(text), h, op);
	kl_err("%s: the form linp %s", text, why);
	return -EINVAL;
}

struct writer {
	const struct kl_history *h;
	const struct kl_linp_type *t;
	FILE *f;
	bool low, high;		/* some values are below 2^63; some are at or above 2^63 */
	uint64_t largest;
};

/* Return: the method's name in this form, and the value in @value; or NULL after a message. */
static const char *find_method(const struct writer *w, const struct kl_op *op,
			       const struct kl_val **value)
{
	const struct kl_opsig *s = kl_op_sig(w->h, op);
	const struct kl_val *v, *res = kl_op_res(w->h, op);
	const char *ours = w->h->methods[s->method];
	uint64_t told = s->nres ? res->v : 0;
	const struct kl_linp_method *m;

	if (op->flags & KL_OP_PENDING) {
		cannot(w->h, op, "has no operations without a return");
		return NULL;
	}
	/*
	 * An add or remove that did not change the set shows whether the value was in the set, so
	 * it is written as a `has'.
	 */
	if (s->nres == 1 && res->tag == KL_WORD && !told &&
	    (!strcmp(ours, "add") || !strcmp(ours, "remove"))) {
		told = *ours == 'a';
		ours = "has";
	}
	for (m = w->t->methods; m->theirs; m++) {
		bool take = m->shape == KL_LINP_TAKE, give = m->shape == KL_LINP_GIVE;

		if (strcmp(m->ours, ours) || s->nargs != !take || s->nres != !give ||
		    m->shape == KL_LINP_TELL)
			continue;
		if (!take && !give && (res->tag != KL_WORD || told != (m->shape == KL_LINP_TRUE)))
			continue;
		v = take ? res : kl_op_args(w->h, op);
		*value = v;
		if ((v->tag == KL_WORD && (v->v <= INT64_MAX || w->t->reversed)) ||
		    (v->tag == KL_EMPTY && take))
			return m->theirs;
		cannot(w->h, op, "has only numbers from 0 to 2^63 - 1, and empty");
		return NULL;
	}
	cannot(w->h, op, "has no such operation");
	return NULL;
}

/* Find the range of the values, because those of a priority queue must be reversed. */
static int look_at_values(struct writer *w)
{
	const struct kl_val *v;
	size_t i;

	for (i = 0; i < w->h->nops; i++) {
		if (!find_method(w, &w->h->ops[i], &v))
			return -EINVAL;
		if (v->tag != KL_WORD)
			continue;
		if (v->v > INT64_MAX)
			w->high = true;
		else
			w->low = true;
		if (v->v > w->largest)
			w->largest = v->v;
	}
	if (!w->high || !w->low)
		return 0;
	kl_err("the form linp cannot express a priority queue with values both below 2^63 and from "
	       "2^63 on; choose another form");
	return -EINVAL;
}

static int put_op(const struct writer *w, const struct kl_op *op, const uint64_t *time)
{
	const struct kl_val *v;
	const char *name = find_method(w, op, &v);
	uint64_t value;

	if (!name)
		return -EINVAL;
	value = v->v;
	if (w->t->reversed)
		value = w->high ? ~value : w->largest - value;
	if (v->tag == KL_EMPTY)
		value = -1;
	fprintf(w->f, "%s %" PRId64 " %" PRIu64 " %" PRIu64 "\n", name, (int64_t)value, time[0],
		time[1]);
	return 0;
}

/* Write times 1, 2, ..., so that no two events have equal times, and lines in order of call. */
static int write_linp(const struct kl_history *h, FILE *f)
{
	struct writer w = { .h = h, .f = f, .t = type_of(h) };
	uint64_t *events, *time = NULL;
	size_t n, i;
	int ret;

	if (!w.t)
		return -EINVAL;
	ret = kl_history_events(h, "linp", &events, &n);
	if (ret)
		return ret;
	time = calloc(h->nops + 1, 2 * sizeof(*time));
	if (!time)
		ret = -ENOMEM;
	for (i = 0; i < n && !ret; i++)
		time[events[i]] = i + 1;
	if (!ret && w.t->reversed)
		ret = look_at_values(&w);
	if (!ret)
		fprintf(f, "# %s\n", w.t->name);
	for (i = 0; i < n && !ret; i++)
		if (!(events[i] & 1))
			ret = put_op(&w, &h->ops[events[i] >> 1], &time[events[i]]);
	free(time);
	free(events);
	if (!ret)
		ret = kl_stream_err(f);
	return ret;
}

const struct kl_form kl_form_linp = {
	.name = "linp", .rank = 30,
	.help = "LinP's and PolyLin's",
	.header = true, .example = "# stack",
	.is = is_linp, .places = KL_PLACES_LINES, .read = read_linp, .write = write_linp,
	.specs = { "set", "stack", "queue", "pqueue", "deque" },
};
KL_FORM(kl_form_linp);
