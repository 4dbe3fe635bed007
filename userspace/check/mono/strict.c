// SPDX-License-Identifier: GPL-2.0
/*
 * A partition whose events show the order of each thread: the clock has no error,
 * and where times are equal a thread's return comes before its next call.  That
 * orders more than is certain, so an order of it is one of the partition, and that
 * it has none says nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "check/mono/mono.h"

struct strict {
	const struct kl_part *p;
	struct kl_part *out;
	uint32_t *called, *returned;	/* by thread: the last run of equal times with one, + 1 */
};

static void put(struct strict *s, uint32_t val)
{
	struct kl_item *it = &s->out->items[val >> 1];
	const uint32_t ev = s->out->nevents++;

	s->out->events[ev] = (struct kl_event){
		.item = val >> 1, .kind = val & 1 ? KL_EV_RET : KL_EV_CALL,
	};
	if (val & 1)
		it->ret_ev = ev;
	else
		it->call_ev = ev;
}

/* Which comes first at one time: 0 .. 3. */
static unsigned int turn(const struct strict *s, uint32_t val, uint64_t time, uint32_t run)
{
	const uint32_t item = val >> 1, thread = s->p->items[item].thread;
	const bool both = s->called[thread] == run && s->returned[thread] == run;

	if (!(val & 1))
		return both ? 2 : 0;
	return both && s->p->spans[item].call < time ? 1 : 3;
}

/* Events k[0 .. n - 1] are at one time. */
static void put_run(struct strict *s, const struct kl_key *k, size_t n, uint32_t run)
{
	unsigned int t;
	size_t i;

	if (n == 1) {
		put(s, k->val);
		return;
	}
	for (i = 0; i < n; i++) {
		const uint32_t thread = s->p->items[k[i].val >> 1].thread;

		if (k[i].val & 1)
			s->returned[thread] = run;
		else
			s->called[thread] = run;
	}
	for (t = 0; t < 4; t++)
		for (i = 0; i < n; i++)
			if (turn(s, k[i].val, k[i].key, run) == t)
				put(s, k[i].val);
}

int mono_strict(const struct kl_part *p, struct kl_part *out)
{
	struct kl_key *k = malloc(4 * ((size_t)p->nitems + 1) * sizeof(*k));
	struct strict s = { .p = p, .out = out };
	size_t n = 0, i, end;
	uint32_t run = 0;
	int ret = -ENOMEM;

	*out = *p;
	out->nevents = 0;
	out->items = malloc(((size_t)p->nitems + 1) * sizeof(*out->items));
	out->events = malloc(((size_t)p->nevents + 1) * sizeof(*out->events));
	s.called = calloc((size_t)p->nthreads + 1, sizeof(*s.called));
	s.returned = calloc((size_t)p->nthreads + 1, sizeof(*s.returned));
	if (!k || !out->items || !out->events || !s.called || !s.returned)
		goto out;
	memcpy(out->items, p->items, p->nitems * sizeof(*out->items));
	for (i = 0; i < p->nitems; i++)
		k[n++] = (struct kl_key){ .key = p->spans[i].call, .val = i << 1 };
	for (i = 0; i < p->nitems; i++)
		if (p->items[i].ret_ev != KL_NO_EVENT)
			k[n++] = (struct kl_key){ .key = p->spans[i].ret, .val = i << 1 | 1 };
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i = end) {
		for (end = i + 1; end < n && k[end].key == k[i].key; end++)
			;
		put_run(&s, k + i, end - i, ++run);
	}
	ret = 0;
out:
	free(k);
	free(s.called);
	free(s.returned);
	return ret;
}

void mono_strict_free(struct kl_part *out)
{
	free(out->items);
	free(out->events);
}
