// SPDX-License-Identifier: GPL-2.0
/* The calls and returns of a history in one order, see order.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "base/sort.h"
#include "history/formats/order.h"

struct order {
	const struct kl_history *h;
	const char *form;
	uint64_t *events;
	size_t n;
	struct kl_key *rets; /* operations that returned, sorted by return + error */
	size_t nrets;
	uint32_t *open; /* by thread: index + 1 of the open operation, or 0 */
	uint8_t *ended; /* by operation: its return is among the events */
};

static int refuse(const struct order *o, const char *what)
{
	kl_err("%s, which the form %s cannot express", what, o->form);
	return -EINVAL;
}

bool kl_history_is(const struct kl_history *h, const char *name)
{
	const char *p = h->spec_path;
	size_t len = strlen(name);

	if (!p)
		return false;
	p = kl_last_part(p);
	/* The spec is given by a path, or by the name of a shipped spec. */
	return kl_stem(p, ".lin") == len && !strncmp(p, name, len);
}

static int sort_returns(struct order *o)
{
	const struct kl_history *h = o->h;
	size_t i;

	o->rets = calloc(h->nops + 1, 2 * sizeof(*o->rets));
	if (!o->rets)
		return -ENOMEM;
	for (i = 0; i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i];
		uint64_t at;

		if (op->flags & KL_OP_NOCALL)
			return refuse(o, "the history has calls that were not seen");
		if (op->flags & KL_OP_PENDING)
			continue;
		if (__builtin_add_overflow(op->ret, h->error, &at))
			at = UINT64_MAX;
		o->rets[o->nrets++] = (struct kl_key){ .key = at, .val = i };
	}
	kl_sort_keys(o->rets, o->nrets, o->rets + h->nops + 1);
	return 0;
}

static void put_call(struct order *o, size_t i)
{
	o->events[o->n++] = (uint64_t)i << 1;
	o->open[o->h->ops[i].thread] = i + 1;
}

static void put_return(struct order *o, size_t i)
{
	if (o->ended[i])
		return;
	o->ended[i] = 1;
	o->events[o->n++] = (uint64_t)i << 1 | 1;
	o->open[o->h->ops[i].thread] = 0;
}

/*
 * Put the calls @i .. @end - 1, which have the same time, before the returns at that time.  One
 * thread may return and call again at that time: these two events come after the other calls.
 */
static int put_calls(struct order *o, size_t i, size_t end)
{
	const struct kl_op *op;
	size_t next = SIZE_MAX;
	uint32_t before;

	for (; i < end; i++) {
		op = &o->h->ops[i];
		before = o->open[op->thread];
		if (!before) {
			put_call(o, i);
			continue;
		}
		if (o->h->ops[before - 1].flags & KL_OP_PENDING)
			return refuse(o, "a thread goes on after an operation that never returned");
		if (o->h->ops[before - 1].ret > op->call)
			return refuse(o, "the history has nested operations of one thread");
		if (o->h->error || next != SIZE_MAX)
			return refuse(o, "some times are nearer to each other than the clock's "
					 "error");
		next = i;
	}
	if (next != SIZE_MAX) {
		put_return(o, o->open[o->h->ops[next].thread] - 1);
		put_call(o, next);
	}
	return 0;
}

static int put_events(struct order *o)
{
	const struct kl_op *op = o->h->ops;
	size_t i = 0, end, k = 0;
	int ret;

	while (i < o->h->nops) {
		for (; k < o->nrets && o->rets[k].key < op[i].call; k++)
			put_return(o, o->rets[k].val);
		for (end = i + 1; end < o->h->nops && op[end].call == op[i].call; end++)
			;
		ret = put_calls(o, i, end);
		if (ret)
			return ret;
		i = end;
	}
	for (; k < o->nrets; k++)
		put_return(o, o->rets[k].val);
	return 0;
}

int kl_history_events(const struct kl_history *h, const char *form, uint64_t **events, size_t *n)
{
	struct order o = { .h = h, .form = form };
	int ret;

	if (h->ngaps)
		return refuse(&o, "the history has gaps");
	if (!h->fresh)
		return refuse(&o, "the history's first state is not known");
	if (h->nobjects > 1)
		return refuse(&o, "the history has several objects");
	o.events = malloc((h->nops + 1) * 2 * sizeof(*o.events));
	o.open = calloc(h->nthreads + 1, sizeof(*o.open));
	o.ended = calloc(h->nops + 1, 1);
	ret = o.events && o.open && o.ended ? sort_returns(&o) : -ENOMEM;
	if (!ret)
		ret = put_events(&o);
	free(o.rets);
	free(o.open);
	free(o.ended);
	if (ret) {
		free(o.events);
		return ret;
	}
	*events = o.events;
	*n = o.n;
	return 0;
}
