// SPDX-License-Identifier: GPL-2.0
/*
 * A search of all orders, see search.h.  It is the oracle's search, with one more word in each
 * configuration: the number of the result that the searched operation had.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "history/spell.h"
#include "story/search.h"
#include "trusted/enumerate.h"

#define MOST_LOOKS	16000000	/* some hundredths of a second */
#define IN_GAP		1
#define HEAD		2		/* words before the state: IN_GAP or 0, and 1 + result */

struct search {
	struct kl_orders o;
	struct kl_run *run;
	struct kl_search *out;
	const struct kl_search_in *in;
	uint32_t want;
	/* the current configuration, and the item that takes effect */
	const uint64_t *words;
	size_t nwords;
	uint32_t place;
	uint64_t head[HEAD];	/* of the configuration after the step */
	uint32_t *twins;	/* place -> that of the previous pending operation like it */
	uint64_t *buf;
	size_t cbuf;
};

static const struct kl_val *state_of(const uint64_t *words)
{
	return (const struct kl_val *)(words + HEAD);
}

static size_t length_of(size_t nwords)
{
	return (nwords - HEAD) * sizeof(uint64_t) / sizeof(struct kl_val);
}

static int make_words(struct search *s, const struct kl_val *state, size_t len)
{
	const size_t words = len * sizeof(*state) / sizeof(*s->buf);
	int ret = kl_grow(s->buf, s->cbuf, words + HEAD);

	if (ret)
		return ret;
	memcpy(s->buf, s->head, sizeof(s->head));
	if (len)
		memcpy(s->buf + HEAD, state, len * sizeof(*state));
	return words + HEAD;
}

static bool is_pending(const struct search *s, uint32_t place)
{
	const struct kl_item *it = &s->o.p->items[kl_orders_item(&s->o, place)];

	return it->kind == KL_ITEM_OP && it->ret_ev == KL_NO_EVENT;
}

static int add_state(void *ctx, const struct kl_outcome *o)
{
	struct search *s = ctx;
	const struct kl_step step = { .item = kl_orders_item(&s->o, s->place) };
	const int n = make_words(s, o->state, o->len);

	if (n < 0)
		return n;
	/* For the results, a pending operation that changes nothing need not take effect. */
	if (s->want != KL_NO_OP && is_pending(s, s->place) && (size_t)n == s->nwords &&
	    !memcmp(s->buf, s->words, n * sizeof(*s->buf)))
		return 0;
	return kl_orders_add(&s->o, s->place, step, s->buf, n);
}

/* Print a state, or nothing if it does not fit. */
static void print_state(char *buf, size_t size, const struct search *s,
			const struct kl_val *state, size_t len)
{
	if (kl_state_print(buf, size, s->o.p->spec, s->in->h, state, len) >= (int)size)
		*buf = 0;
}

/* Print results: "1", or "(1, 2)".  Return: true if all are known. */
static bool print_results(char *buf, size_t size, const struct kl_history *h,
			  const struct kl_method *m, const struct kl_val *vals)
{
	const unsigned int n = m->nresults;
	size_t len = 0;
	bool known = true;
	unsigned int i;
	char v[64];

	*buf = 0;
	for (i = 0; i < n && len < size; i++) {
		known &= vals[i].tag != KL_ANY;
		kl_history_print_result(v, sizeof(v), h, m->name, i, vals[i]);
		len += snprintf(buf + len, size - len, "%s%s", i ? ", " : n > 1 ? "(" : "", v);
	}
	if (n > 1 && len < size)
		snprintf(buf + len, size - len, ")");
	return known;
}

/* Note a result of the searched operation.  Return: 1 + its number, or 0 if there is no room. */
static unsigned int note_result(struct search *s, const struct kl_item *it,
				const struct kl_val *vals, bool in_gap)
{
	const struct kl_method *m = kl_spec_method(s->o.p->spec, it->method);
	struct kl_search *out = s->out;
	struct kl_search_result r = { 0 };
	unsigned int i;

	r.known = print_results(r.result, sizeof(r.result), s->in->h, m, vals);
	if (!in_gap)
		print_state(r.state, sizeof(r.state), s, state_of(s->words), length_of(s->nwords));
	for (i = 0; i < out->nresults; i++)
		if (!strcmp(out->results[i].result, r.result) &&
		    !strcmp(out->results[i].state, r.state))
			return i + 1;
	if (out->nresults == KL_SEARCH_RESULTS)
		return 0;
	out->results[out->nresults++] = r;
	return out->nresults;
}

/* The searched operation takes effect with these results. */
static int add_result(void *ctx, const struct kl_outcome *o)
{
	struct search *s = ctx;
	const struct kl_item *it = &s->o.p->items[kl_orders_item(&s->o, s->place)];
	const bool in_gap = s->words[0];
	struct kl_outcome unknown = { 0 };
	const unsigned int number = note_result(s, it, o->results, in_gap);

	/* Results beyond the room are one more number, so that their orders are followed, too. */
	s->head[1] = number ? number : KL_SEARCH_RESULTS + 1;
	if (!in_gap)
		return add_state(s, o);
	unknown.state = state_of(s->words);
	unknown.len = length_of(s->nwords);
	return add_state(s, &unknown);
}

static int any_outcome(void *ctx, const struct kl_outcome *o)
{
	*(bool *)ctx = true;
	return 0;
}

static int apply(struct search *s, const struct kl_item *it, const struct kl_val *res,
		 kl_outcome_fn fn, void *ctx)
{
	int ret;

	kl_run_set_bound(s->run, kl_looks_left(&s->o.looks), kl_looks_over, &s->o.looks);
	ret = kl_run_apply(s->run, state_of(s->words), length_of(s->nwords), it->method,
			   kl_item_args(s->o.p, it), res, fn, ctx);
	if (!ret || ret == -EDQUOT)
		ret = kl_look(&s->o.looks, kl_run_work(s->run) + s->nwords);
	return ret;
}

/*
 * Find the twins of pending operations: those with equal method and arguments.  Of twins, the one
 * that was called first takes effect first; other orders are the same with the two exchanged.
 */
static int find_twins(struct search *s)
{
	const struct kl_part *p = s->o.p;
	uint32_t *last = malloc((p->nitems + 1) * sizeof(*last)), n = 0, i, k;

	s->twins = malloc((p->nitems + 1) * sizeof(*s->twins));
	for (i = 0; last && s->twins && i < p->nitems; i++) {
		s->twins[i] = KL_NO_PLACE;
		if (!is_pending(s, i))
			continue;
		for (k = 0; k < n; k++)
			if (p->items[kl_orders_item(&s->o, last[k])].sig ==
			    p->items[kl_orders_item(&s->o, i)].sig)
				break;
		if (k < n)
			s->twins[i] = last[k];
		n += k == n;
		last[k] = i;
		if (kl_look(&s->o.looks, k))
			break;
	}
	free(last);
	return last && s->twins ? i < p->nitems ? -E2BIG : 0 : -ENOMEM;
}

static bool has_taken_effect(const struct search *s, uint32_t place)
{
	const struct kl_done *c = &s->o.c;
	uint32_t i;

	for (i = 0; i < c->nskips && c->skips[i] != place; i++)
		;
	return place < c->high && i == c->nskips;
}

/* The results that an item must have, or NULL if it may have any. */
static const struct kl_val *results_of(const struct search *s, const struct kl_item *it)
{
	if (s->in->free == KL_SEARCH_FREE_ALL || (s->in->free == KL_SEARCH_FREE_PURE && it->pure))
		return NULL;
	return kl_item_res(s->o.p, it);
}

/* Let the item at @place take effect, as the oracle does. */
static int try_item(void *ctx, uint32_t place)
{
	struct search *s = ctx;
	const struct kl_item *it = &s->o.p->items[kl_orders_item(&s->o, place)];
	const bool in_gap = s->words[0];
	struct kl_outcome unknown = { 0 };
	bool any = false;
	int ret;

	if (s->twins[place] != KL_NO_PLACE && !has_taken_effect(s, s->twins[place]))
		return 0;
	s->place = place;
	memcpy(s->head, s->words, sizeof(s->head));
	if (it->kind == KL_ITEM_OP && it->op == s->want)
		return apply(s, it, NULL, add_result, s);
	if (it->kind == KL_ITEM_OP) {
		ret = apply(s, it, results_of(s, it), in_gap ? any_outcome : add_state,
			    in_gap ? (void *)&any : s);
		if (ret || !any)
			return ret;
	} else if (it->kind == KL_ITEM_ENTER || in_gap) {
		s->head[0] = it->kind == KL_ITEM_ENTER ? IN_GAP : 0;
	} else {
		return 0;
	}
	unknown.state = kl_run_init(s->run, false, &unknown.len);
	return unknown.state ? add_state(s, &unknown) : -ENOMEM;
}

static int go_on(void *ctx, const uint64_t *words, size_t n)
{
	struct search *s = ctx;
	const int ret = s->twins ? 0 : find_twins(s);

	s->words = words;
	s->nwords = n;
	return ret ?: kl_orders_each(&s->o, try_item, s);
}

/* A complete order: note the result that it has.  Return: true, so that the search goes on. */
static bool note_complete(void *ctx, const uint64_t *words, size_t n)
{
	struct search *s = ctx;

	if (!words[0] && kl_state_lost(state_of(words), length_of(n)))
		s->out->over = true;
	else if (words[1] > KL_SEARCH_RESULTS)
		s->out->more = true;
	else if (words[1])
		s->out->results[words[1] - 1].complete = true;
	return true;
}

/* ---- longest orders ---- */

/* Collects the results that are possible in a state. */
struct possible {
	const struct search *s;
	const struct kl_item *it;
	char *buf;
	size_t size, len;
	unsigned int n;
};

static int add_possible(void *ctx, const struct kl_outcome *o)
{
	struct possible *p = ctx;
	char text[128];

	print_results(text, sizeof(text), p->s->in->h,
		      kl_spec_method(p->s->o.p->spec, p->it->method), o->results);
	if (p->n++ < 4 && p->len < p->size)
		p->len += snprintf(p->buf + p->len, p->size - p->len, "%s%s",
				   p->n > 1 ? " or " : "", text);
	return 0;
}

/* The completed operation with the earliest return of those that @done lacks, or KL_NO_OP. */
static uint32_t find_missing(const struct kl_search_in *in, const bool *done)
{
	const struct kl_op *ops = in->h->ops;
	uint32_t best = KL_NO_OP, i;

	for (i = 0; i < in->nops; i++) {
		const uint32_t op = in->ops ? in->ops[i] : i;

		if (!done[op] && ops[op].ret != KL_TIME_MAX &&
		    (best == KL_NO_OP || ops[op].ret < ops[best].ret))
			best = op;
	}
	return best;
}

/* Fill @end with the order that step @last ends.  Return: 0 or -ENOMEM. */
static int fill_end(struct search *s, struct kl_search_end *end, uint32_t last, bool *done)
{
	const struct kl_part *p = s->o.p;
	uint32_t i, missing;
	size_t n = 0;

	for (i = last; i; i = s->o.steps[i].before)
		n += p->items[s->o.steps[i].step.item].kind == KL_ITEM_OP;
	end->ops = malloc((n + 1) * sizeof(*end->ops));
	if (!end->ops)
		return -ENOMEM;
	end->n = n;
	for (i = last; i; i = s->o.steps[i].before) {
		const struct kl_item *it = &p->items[s->o.steps[i].step.item];

		if (it->kind != KL_ITEM_OP)
			continue;
		done[it->op] = true;
		end->ops[--n] = it->op;
	}
	missing = find_missing(s->in, done);
	end->stopped_by = missing;
	for (i = 0; i < p->nitems && missing != KL_NO_OP; i++) {
		struct possible r = {
			.s = s, .it = &p->items[i], .buf = end->allowed,
			.size = sizeof(end->allowed),
		};

		if (p->items[i].kind == KL_ITEM_OP && p->items[i].op == missing &&
		    apply(s, &p->items[i], NULL, add_possible, &r) == -ENOMEM)
			return -ENOMEM;
		if (r.n > 4 && r.len < r.size)
			snprintf(end->allowed + r.len, r.size - r.len, " or others");
	}
	return 0;
}

/* Does one of the orders end like @end? */
static bool is_known_end(const struct kl_search *out, const struct kl_search_end *end)
{
	size_t i;

	for (i = 0; i < out->nends; i++)
		if (!strcmp(out->ends[i].state, end->state) &&
		    out->ends[i].stopped_by == end->stopped_by)
			return true;
	return false;
}

/* The configurations that were extended last end the longest orders. */
static int find_ends(struct search *s)
{
	const struct kl_level *l = s->o.from;
	struct kl_search *out = s->out;
	bool *done = malloc(s->in->h->nops + 1);
	int ret = done ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < l->n && out->nends < KL_SEARCH_ENDS && !ret; i++) {
		const uint64_t *w = l->words + l->at[i];
		struct kl_search_end *end = &out->ends[out->nends];

		/* A configuration begins with enumerate.c's two words and its skips. */
		w += 2 + (uint32_t)w[1];
		s->words = w;
		s->nwords = l->words + l->at[i + 1] - w;
		memset(done, 0, s->in->h->nops);
		if (!w[0])
			print_state(end->state, sizeof(end->state), s, state_of(w),
				    length_of(s->nwords));
		ret = fill_end(s, end, l->step[i], done);
		if (!ret && !is_known_end(out, end)) {
			out->nends++;
		} else {
			free(end->ops);
			*end = (struct kl_search_end){ 0 };
		}
	}
	free(done);
	return ret;
}

static int try_orders(struct search *s)
{
	const struct kl_val *state;
	size_t len;
	int ret;

	kl_run_set_slow(s->run, true);
	state = kl_run_init(s->run, s->o.p->fresh, &len);
	ret = state ? make_words(s, state, len) : -ENOMEM;
	if (ret > 0)
		ret = kl_orders_try(&s->o, s->buf, ret, go_on, s);
	if (!ret && s->want == KL_NO_OP && !s->out->over)
		ret = find_ends(s);
	if (ret < 0 && ret != -ENOMEM)
		s->out->over = true;
	return ret == -ENOMEM ? ret : 0;
}

int kl_search(const struct kl_spec *spec, const struct kl_search_in *in, uint32_t want,
	      struct kl_search *out)
{
	const struct kl_limits lim = {
		.work = in->most && in->most < MOST_LOOKS ? in->most : MOST_LOOKS,
	};
	const struct kl_history *h = in->h;
	struct search s = {
		.o = { .looks = { .lim = &lim }, .is_lost = note_complete },
		.run = kl_run_new(spec), .out = out, .in = in, .want = want,
	};
	int *map = malloc((h->nmethods + 1) * sizeof(*map));
	struct kl_part part = { 0 };
	int ret = s.run && map ? 0 : -ENOMEM;
	size_t i;

	*out = (struct kl_search){ 0 };
	for (i = 0; i < h->nmethods && !ret; i++)
		map[i] = kl_spec_find_method(spec, h->methods[i]);
	s.o.p = &part;
	if (!ret)
		ret = kl_part_build(spec, h, map, in->ops, in->nops, in->object, false, &part);
	if (!ret)
		ret = try_orders(&s);
	if (ret == -EOVERFLOW) {
		out->over = true;
		ret = 0;
	}
	out->looks = s.o.looks.n;
	kl_orders_free(&s.o);
	free(s.twins);
	free(s.buf);
	kl_part_free(&part);
	kl_run_free(s.run);
	free(map);
	if (ret)
		kl_search_free(out);
	return ret;
}

void kl_search_free(struct kl_search *s)
{
	size_t i;

	for (i = 0; i < s->nends; i++)
		free(s->ends[i].ops);
	s->nends = 0;
}
