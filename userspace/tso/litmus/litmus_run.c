// SPDX-License-Identifier: GPL-2.0
/* Searches all runs of a litmus test, and evaluates its condition in their final states. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tso/machine/growth.h"
#include "tso/litmus/litmus.h"
#include "tso/machine/visited.h"

#define CLOCK_STATES	64	/* states between two reads of the clock */

struct search {
	const struct kl_litmus *l;
	struct kl_litmus_result *r;
	struct kl_vm_prog prog;
	struct kl_visited visited;
	struct kl_growth growth;
	struct kl_vm vm, before;
	uint8_t packed[KL_VM_PACKED + KL_VISITED_PAD];
	/* The search ends at the first state where the condition is @holds; NULL: at none. */
	struct kl_lit_path *path;
	bool holds, quiet;
};

bool kl_litmus_eval(const struct kl_litmus *l, unsigned int node, const uint64_t *state)
{
	const struct kl_lit_node *n = &l->nodes[node];

	switch (n->op) {
	case KL_LIT_TRUE:
		return true;
	case KL_LIT_FALSE:
		return false;
	case KL_LIT_NOT:
		return !kl_litmus_eval(l, n->a, state);
	case KL_LIT_AND:
		return kl_litmus_eval(l, n->a, state) && kl_litmus_eval(l, n->b, state);
	case KL_LIT_OR:
		return kl_litmus_eval(l, n->a, state) || kl_litmus_eval(l, n->b, state);
	case KL_LIT_IMPLIES:
		return !kl_litmus_eval(l, n->a, state) || kl_litmus_eval(l, n->b, state);
	case KL_LIT_EQ:
		return (state[n->a] & n->mask) == n->val;
	case KL_LIT_SAME:
		return state[n->a] == state[n->b];
	}
	return false;
}

bool kl_litmus_ok(const struct kl_litmus *l, const struct kl_litmus_result *r)
{
	switch (l->quantifier) {
	case KL_LIT_EXISTS:
		return r->positive > 0;
	case KL_LIT_NOT_EXISTS:
		return !r->positive;
	default:
		return !r->negative;
	}
}

/* Get the items of the final state.  Return: true if the test's filter accepts it. */
static bool get_final(const struct search *s, uint64_t state[KL_LIT_ITEMS])
{
	const struct kl_litmus *l = s->l;
	size_t i;

	memset(state, 0, KL_LIT_ITEMS * sizeof(*state));
	for (i = 0; i < l->nitems; i++)
		state[i] = l->items[i].thread < 0 ? s->vm.mem[l->items[i].index] :
			   s->vm.thread[l->items[i].thread].reg[0][l->items[i].index];
	return l->filter < 0 || kl_litmus_eval(l, l->filter, state);
}

/* Insert the final state into the sorted array; a few hundred states are usual at most. */
static int add_final(struct search *s)
{
	const struct kl_litmus *l = s->l;
	struct kl_litmus_result *r = s->r;
	uint64_t state[KL_LIT_ITEMS];
	size_t lo = 0, hi = r->nstates, mid, i, w = l->nitems;
	int diff = 1, ret;

	if (!get_final(s, state))
		return 0;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		for (i = 0, diff = 0; i < w && !diff; i++)
			diff = (state[i] > r->states[mid * w + i]) -
			       (state[i] < r->states[mid * w + i]);
		if (!diff)
			return 0;
		if (diff > 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	ret = kl_grow(r->states, r->cstates, (r->nstates + 1) * w + 1);
	if (!ret)
		ret = kl_grow(r->holds, r->cholds, r->nstates + 1);
	if (ret)
		return ret;
	memmove(r->states + (lo + 1) * w, r->states + lo * w,
		(r->nstates - lo) * w * sizeof(*r->states));
	memmove(r->holds + lo + 1, r->holds + lo, (r->nstates - lo) * sizeof(*r->holds));
	memcpy(r->states + lo * w, state, w * sizeof(*state));
	r->holds[lo] = kl_litmus_eval(l, l->condition, state);
	r->nstates++;
	r->positive += r->holds[lo];
	r->negative += !r->holds[lo];
	return 0;
}

static int reached(struct search *s, uint32_t parent)
{
	struct kl_vm_names names;	/* not used: a litmus test has no names */
	size_t len;
	int ret;

	s->r->transitions++;
	len = kl_vm_pack(&s->vm, s->packed, &names);
	ret = kl_visited_add(&s->visited, kl_visited_hash(&s->visited, s->packed, len), s->packed,
			     len, 0, parent);
	return ret < 0 ? ret : 0;
}

/* Copy the states of the run to the final state at @at. */
static int copy_path(struct search *s, uint32_t at)
{
	struct kl_lit_path *p = s->path;
	size_t bytes = 0, i;
	uint32_t to;

	for (to = at; to != KL_NO_STATE; to = kl_visited_head(&s->visited, to)->parent) {
		bytes += kl_visited_head(&s->visited, to)->len;
		p->n++;
	}
	/* kl_vm_unpack() may read a few bytes after a state. */
	p->bytes = malloc(bytes + KL_VISITED_PAD);
	p->end = calloc(p->n, sizeof(*p->end));
	if (!p->bytes || !p->end) {
		p->n = 0;
		return -ENOMEM;
	}
	for (to = at, i = p->n; i--; to = kl_visited_head(&s->visited, to)->parent) {
		p->end[i] = bytes;
		bytes -= kl_visited_head(&s->visited, to)->len;
		memcpy(p->bytes + bytes, kl_visited_state(&s->visited, to), p->end[i] - bytes);
	}
	return 0;
}

/* Look at a final state, which is in s->vm and at @at. */
static int reached_final(struct search *s, uint32_t at)
{
	uint64_t state[KL_LIT_ITEMS];

	if (!s->path)
		return add_final(s);
	if (!get_final(s, state) || kl_litmus_eval(s->l, s->l->condition, state) != s->holds)
		return 0;
	memcpy(s->path->outcome, state, sizeof(state));
	return copy_path(s, at);
}

static int expand(struct search *s, uint32_t at)
{
	unsigned int t, open = 0;
	int ret = 0;

	kl_vm_unpack(&s->before, kl_visited_state(&s->visited, at));
	for (t = 0; t < s->l->nthreads && !ret; t++) {
		open += !s->before.thread[t].done || s->before.thread[t].nbuf;
		kl_vm_copy(&s->vm, &s->before);
		switch (kl_vm_step(&s->vm, t)) {
		case KL_VM_OK:
			ret = reached(s, at);
			break;
		case KL_VM_FAULT:
			if (!s->quiet)
				kl_lit_error(s->l, s->l->cell[s->vm.error_pc], "%s", s->vm.error);
			ret = -EINVAL;
			break;
		default:
			break;
		}
		kl_vm_copy(&s->vm, &s->before);
		if (!ret && kl_vm_flush(&s->vm, t))
			ret = reached(s, at);
	}
	if (!open && !ret) {
		kl_vm_copy(&s->vm, &s->before);
		ret = reached_final(s, at);
	}
	return ret;
}

/* Return: number of variables for kl_growth: the locations, then the registers of each thread. */
static size_t growth_vars(const struct kl_litmus *l)
{
	return l->nlocs + (size_t)l->nthreads * KL_LIT_GPRS;
}

static void note_growth(struct search *s)
{
	const struct kl_litmus *l = s->l;
	unsigned int t, i;

	for (i = 0; i < l->nlocs; i++)
		kl_growth_note(&s->growth, i, s->before.mem[i]);
	for (t = 0; t < l->nthreads; t++)
		for (i = 0; i < KL_LIT_GPRS; i++)
			kl_growth_note(&s->growth, l->nlocs + t * KL_LIT_GPRS + i,
				       s->before.thread[t].reg[0][i]);
}

/* Set r->why to the reason why the search is incomplete. */
static void set_reason(struct search *s, const struct kl_litmus_options *o, int err,
		       const char *stopped)
{
	const struct kl_litmus *l = s->l;
	char *why = s->r->why, name[80];
	const size_t size = sizeof(s->r->why);
	size_t used, i, reg;
	int64_t from, to;

	if (err == -E2BIG) {
		snprintf(why, size, "a state has more than %u bytes", KL_VISITED_STATE_MAX);
		return;
	}
	used = err == -ETIME ? snprintf(why, size, "%s", stopped) :
	       snprintf(why, size, "the states need more than %llu MiB; raise --memory-limit",
			(unsigned long long)(o->memory >> 20));
	for (i = 0; i < s->growth.n; i++) {
		if (!kl_growth_of(&s->growth, i, &from, &to))
			continue;
		reg = i - l->nlocs;
		if (i < l->nlocs)
			snprintf(name, sizeof(name), "%.60s", l->locs[i].name);
		else
			snprintf(name, sizeof(name), "%zu:%s", reg / KL_LIT_GPRS,
				 kl_litmus_reg(l->x64, reg % KL_LIT_GPRS));
		used += snprintf(why + used, size - used, "; ");
		kl_growth_print(why + used, size - used, name, from, to);
		return;
	}
}

/* Follow the states one after the other, until all are done or a bound is reached. */
static int search_all(struct search *s, const struct kl_litmus_options *o)
{
	uint32_t at, level = 0;
	uint64_t followed = 0;
	char stopped[80] = "";
	int ret = reached(s, KL_NO_STATE);

	for (at = 0; !ret && !(s->path && s->path->n) && kl_visited_has(&s->visited, at);
	     at = kl_visited_next(&s->visited, at)) {
		if (at >= level) {
			level = s->visited.used / 4;
			s->r->levels += at > 0;
			kl_growth_level(&s->growth);
		}
		ret = expand(s, at);
		if (kl_growth_samples(&s->growth))
			note_growth(s);
		if (!ret && !(++followed % CLOCK_STATES) && o->lim &&
		    kl_time_over(o->lim, stopped, sizeof(stopped)))
			ret = -ETIME;
	}
	s->r->open = s->visited.n - followed;
	if (ret == -ENOSPC || ret == -ETIME || ret == -E2BIG)
		set_reason(s, o, ret, stopped);
	return ret;
}

void kl_litmus_program(const struct kl_litmus *l, const struct kl_litmus_options *o,
		       struct kl_vm_prog *prog, uint64_t init[KL_LIT_LOCS])
{
	unsigned int i;

	*prog = l->prog;
	prog->sc = o->sc;
	prog->merge = prog->dead = !o->unreduced;
	for (i = 0; i < l->nlocs; i++)
		init[i] = kl_vm_is_ptr(l->locs[i].init) ? l->locs[i].init :
			  l->locs[i].init & kl_lit_mask(l->locs[i].size);
}

static int run(const struct kl_litmus *l, const struct kl_litmus_options *o, bool holds,
	       struct kl_lit_path *path, struct kl_litmus_result *r)
{
	struct search *s = calloc(1, sizeof(*s));
	uint64_t init[KL_LIT_LOCS];
	int ret;

	memset(r, 0, sizeof(*r));
	if (!s)
		return -ENOMEM;
	s->l = l;
	s->r = r;
	s->path = path;
	s->holds = holds;
	s->quiet = o->quiet;
	kl_litmus_program(l, o, &s->prog, init);
	ret = kl_visited_init(&s->visited, o->memory);
	if (ret)
		goto out;
	kl_vm_init(&s->vm, &s->prog, init);
	s->before.prog = &s->prog;
	ret = kl_growth_init(&s->growth, growth_vars(l));
	if (!ret)
		ret = search_all(s, o);
	r->explored = s->visited.n;
out:
	kl_growth_free(&s->growth);
	kl_visited_free(&s->visited);
	free(s);
	return ret;
}

int kl_litmus_run(const struct kl_litmus *l, const struct kl_litmus_options *o,
		  struct kl_litmus_result *r)
{
	return run(l, o, false, NULL, r);
}

int kl_litmus_reach(const struct kl_litmus *l, const struct kl_litmus_options *o, bool holds,
		    struct kl_lit_path *path, struct kl_litmus_result *r)
{
	int ret;

	memset(path, 0, sizeof(*path));
	ret = run(l, o, holds, path, r);
	path->explored = r->explored;
	return ret;
}

void kl_lit_path_free(struct kl_lit_path *path)
{
	free(path->bytes);
	free(path->end);
	memset(path, 0, sizeof(*path));
}

void kl_litmus_result_free(struct kl_litmus_result *r)
{
	free(r->states);
	free(r->holds);
	memset(r, 0, sizeof(*r));
}

static const char *put_value(const struct kl_litmus *l, unsigned int size, bool is_unsigned,
			     uint64_t v, char buf[32])
{
	if (kl_vm_is_ptr(v) && v - KL_VM_PTR < l->nlocs)
		snprintf(buf, 32, "%s", l->locs[v - KL_VM_PTR].name);
	else if (is_unsigned)
		snprintf(buf, 32, "%llu", (unsigned long long)v);
	else if (size == 8)
		snprintf(buf, 32, "%lld", (long long)v);
	else
		snprintf(buf, 32, "%d",
			 size == 1 ? (int8_t)v :
			 size == 2 ? (int16_t)v :
			 (int32_t)v);
	return buf;
}

const char *kl_litmus_value(const struct kl_litmus *l, unsigned int i, uint64_t v, char buf[32])
{
	const struct kl_lit_item *it = &l->items[i];
	unsigned int size = it->thread < 0 ? l->locs[it->index].size : l->x64 ? 8 : 4;

	return put_value(l, size, it->is_unsigned, v, buf);
}

const char *kl_litmus_word(const struct kl_litmus *l, unsigned int loc, uint64_t v, char buf[32])
{
	return put_value(l, l->locs[loc].size, l->locs[loc].is_unsigned, v, buf);
}
