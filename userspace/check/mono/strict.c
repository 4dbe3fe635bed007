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
	uint32_t *called, *returned;	/* by line: the last run of equal times with one, + 1 */
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
	const uint32_t item = val >> 1, thread = s->p->items[item].line;
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
		const uint32_t thread = s->p->items[k[i].val >> 1].line;

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

/* Returns in order of time, as the events nearly are. */
static size_t sort_returns(const struct kl_part *p, struct kl_key *k)
{
	size_t n = 0, i;

	for (i = 0; i < p->nevents; i++) {
		const uint32_t item = p->events[i].item;

		if (p->events[i].kind == KL_EV_RET)
			k[n++] = (struct kl_key){ .key = p->spans[item].ret, .val = item << 1 | 1 };
	}
	kl_sort_keys(k, n, k + n);
	return n;
}

/* Do the events show all that is known? */
static bool shows_preds(const struct kl_part *p, const struct kl_part *out)
{
	uint32_t i, k;

	for (i = 0; i < p->nitems; i++)
		for (k = p->pred_at[i]; k < p->pred_at[i + 1]; k++)
			if (out->items[p->pred[k]].ret_ev > out->items[i].call_ev)
				return false;
	return true;
}

int mono_strict(const struct kl_part *p, struct kl_part *out)
{
	struct kl_key *k = malloc(2 * ((size_t)p->nitems + 1) * sizeof(*k));
	struct kl_key *run = malloc(2 * ((size_t)p->nitems + 1) * sizeof(*run));
	struct strict s = { .p = p, .out = out };
	uint32_t call = 0, runs = 0;
	size_t nrets, end = 0, n;
	int ret = -ENOMEM;

	*out = *p;
	out->nevents = 0;
	out->items = malloc(((size_t)p->nitems + 1) * sizeof(*out->items));
	out->events = malloc(((size_t)p->nevents + 1) * sizeof(*out->events));
	s.called = calloc((size_t)p->nlines + 1, sizeof(*s.called));
	s.returned = calloc((size_t)p->nlines + 1, sizeof(*s.returned));
	if (!k || !run || !out->items || !out->events || !s.called || !s.returned)
		goto out;
	memcpy(out->items, p->items, p->nitems * sizeof(*out->items));
	nrets = sort_returns(p, k);
	while (call < p->nitems || end < nrets) {
		uint64_t time = call < p->nitems ? p->spans[call].call : KL_TIME_MAX;

		if (end < nrets && k[end].key < time)
			time = k[end].key;
		for (n = 0; call < p->nitems && p->spans[call].call == time; call++)
			run[n++] = (struct kl_key){ .key = time, .val = call << 1 };
		while (end < nrets && k[end].key == time)
			run[n++] = k[end++];
		put_run(&s, run, n, ++runs);
	}
	out->has_preds = !shows_preds(p, out);
	ret = 0;
out:
	free(k);
	free(run);
	free(s.called);
	free(s.returned);
	return ret;
}

void mono_strict_free(struct kl_part *out)
{
	free(out->items);
	free(out->events);
}
