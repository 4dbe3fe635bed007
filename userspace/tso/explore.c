// SPDX-License-Identifier: GPL-2.0
/* The explorer: the search. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "tso/explore_internal.h"

#define AHEAD_MAX	8

bool kl_explore_can(const struct kl_spec *spec)
{
	return spec->impl;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* ---- the search ------------------------------------------------------------------------ */

static int abstract_step(struct kl_explorer *x, const struct kl_vm_event *e)
{
	int64_t next = x->hist ? kl_histories_step(x->hist, x->set, e) :
		       kl_abstract_step(x->abs, x->set, e);

	if (x->vm.log && x->nshown < KL_EX_SHOWN)
		x->shown_ev[x->nshown++] = *e;
	x->explained = x->set;

	if (next == -E2BIG) {
		kl_err("%s: %s", x->spec->path, x->hist ? "a history is too long" :
		       kl_abstract_error(x->abs));
		return -EINVAL;
	}
	if (next < 0)
		return next;
	x->set = next;
	return next > 0;
}

static int take_events(struct kl_explorer *x)
{
	unsigned int i;
	int ret = 1;

	for (i = 0; i < x->vm.nev && ret > 0; i++)
		ret = abstract_step(x, &x->vm.ev[i]);
	/* What could not be explained stays where it is, for the message. */
	if (ret > 0)
		x->vm.nev = 0;
	else
		x->vm.nev = i;
	return ret;
}

/* What the threads do that no other can notice, after a step of @t. */
static int settle(struct kl_explorer *x, unsigned int t, bool flush)
{
	const bool all = x->vm.wrote;
	enum kl_vm_result r;
	unsigned int u, i, n;
	int ret = 1;

	for (u = 0; u < x->prog.nthreads; u++) {
		if (u != t && !all)
			continue;
		for (i = 0; i < AHEAD_MAX && ret > 0; i++) {
			/* Who has just made a step has gone on. */
			if (i || u != t || flush) {
				r = kl_vm_go_on(&x->vm, u);
				ret = take_events(x);
				if (ret > 0 && r == KL_VM_FAULT) {
					x->faulty = u;
					return KL_EX_FAULTY;
				}
			}
			n = ret > 0 ? kl_vm_ahead(&x->vm, u) : 0;
			if (!n)
				break;
			kl_vm_run(&x->vm, u, n);
		}
	}
	return ret;
}

/* Layers that are empty on both sides need not wait. */
static int drop_layers(struct kl_explorer *x)
{
	uint32_t empty;
	unsigned int t;
	int ret = 1;

	for (t = 0; t < x->prog.nthreads && ret > 0; t++) {
		empty = kl_abstract_empty_layers(x->abs, x->set);
		if (!empty)
			break;
		if (!(empty >> t & 1) || !kl_vm_empty_layer(&x->vm, t))
			continue;
		kl_vm_flush(&x->vm, t);
		ret = take_events(x);
		t = -1;		/* others may be ready now */
	}
	return ret;
}

int kl_ex_after(struct kl_explorer *x, unsigned int t, bool flush)
{
	int ret;

	ret = take_events(x);
	if (ret <= 0 || !x->prog.merge)
		return ret;
	if (x->prog.facts)
		ret = settle(x, t, flush);
	/* What is left out here is so only beside a specification. */
	return ret == 1 && !x->hist ? drop_layers(x) : ret;
}

/* Data that the specification or the history has. */
static uint64_t known_data(const struct kl_explorer *x)
{
	return x->hist ? kl_histories_data(x->hist, x->set) : kl_abstract_data(x->abs, x->set);
}

/* Data that only the specification has comes after the implementation's. */
int64_t kl_ex_pack(struct kl_explorer *x, const struct kl_vm_base *base)
{
	uint64_t mask = known_data(x);
	size_t len = kl_vm_pack(&x->vm, x->packed, &x->names, base);
	uint8_t *data = x->names.data, last = 0;
	int64_t set = x->set;
	unsigned int i;

	x->hash = kl_store_hash(&x->store, x->packed, len);
	if (mask) {
		for (i = 0; i < KL_VM_DATA_MAX; i++)
			last = data[i] > last ? data[i] : last;
		for (; mask; mask &= mask - 1) {
			i = __builtin_ctzll(mask);
			if (!data[i])
				data[i] = x->prog.canon ? ++last : i;
		}
	}
	if (x->prog.canon || x->names.moved)
		set = x->hist ? kl_histories_rename(x->hist, x->set, &x->names) :
		      kl_abstract_rename(x->abs, x->set, &x->names);
	if (set < 0)
		return set;
	x->set = set;
	return len;
}

void kl_ex_load(struct kl_explorer *x, uint32_t at)
{
	x->set = kl_store_head(&x->store, at)->tag;
	kl_vm_unpack(&x->before, kl_store_state(&x->store, at), &x->base);
	x->before.taken = known_data(x);
}

void kl_ex_found(struct kl_explorer *x, enum kl_explore_verdict v, uint32_t at, int t, bool flush)
{
	x->verdict = v;
	x->last = at;
	x->thread = t;
	x->flush = flush;
	memcpy(x->choice, x->vm.choice, sizeof(x->choice));
	x->nchoice = x->vm.at_choice;
}

void kl_ex_explain(struct kl_explorer *x)
{
	const struct kl_vm_event *e = &x->vm.ev[x->vm.nev - 1];
	char value[32], allowed[400];
	unsigned int i;
	int n, used;

	if (e->kind != KL_EV_RET) {
		snprintf(x->message, sizeof(x->message), "thread %u: %s: the specification has "
			 "no configuration left in which its stores could leave at this time",
			 e->thread, e->kind == KL_EV_CALL ? "call" :
			 e->kind == KL_EV_FLUSH_CALL ? "flush(call)" : "flush(ret)");
		return;
	}
	used = snprintf(x->message, sizeof(x->message), "thread %u: %s() returns%s", e->thread,
			x->methods[e->method].name, e->n > 1 ? " (" : e->n ? " " : "");
	for (i = 0; i < e->n; i++) {
		kl_vm_value(value, sizeof(value), e->val[i]);
		used += snprintf(x->message + used, sizeof(x->message) - used, "%s%s",
				 i ? ", " : "", value);
	}
	n = kl_ex_allowed(x, x->explained, e->thread, allowed, sizeof(allowed));
	snprintf(x->message + used, sizeof(x->message) - used, "%s; the specification allows %s",
		 e->n > 1 ? ")" : "", n ? allowed : "no return at this time");
}

/* A state that was reached from @from to the store. */
static int add_state(struct kl_explorer *x, uint32_t from, const struct kl_ex_waiting *w)
{
	struct kl_record *head;
	int ret;

	ret = kl_store_add(&x->store, w->hash, x->waiting_bytes + w->at, w->len, w->set, from);
	if (ret == -ENOSPC) {
		x->verdict = KL_EX_MEMORY;
		return 1;
	}
	if (ret < 0)
		return ret;
	/* The latest state is the nearest to an end, most of the time. */
	head = kl_store_head(&x->store, from);
	if (x->store.found != from && (head->next == KL_NO_STATE || head->next < x->store.found))
		head->next = x->store.found;
	x->ends_reached |= kl_store_head(&x->store, x->store.found)->ends;
	return 0;
}

/*
 * The states that wait to the store: all at once, so that memory is asked for all
 * of them before the first is compared.
 */
static int add_waiting(struct kl_explorer *x, uint32_t from)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < x->nwaiting; i++)
		kl_store_near(&x->store, x->waiting[i].hash);
	for (i = 0; i < x->nwaiting && !ret; i++)
		ret = add_state(x, from, &x->waiting[i]);
	x->nwaiting = x->nwaiting_bytes = 0;
	return ret;
}

static int reached(struct kl_explorer *x, uint32_t from, int t, bool flush)
{
	int64_t len;
	int ret;

	x->transitions++;
	ret = kl_ex_after(x, t, flush);
	if (ret < 0)
		return ret;
	if (!ret) {
		kl_ex_found(x, KL_EX_NOT_LINEARIZABLE, from, t, flush);
		kl_ex_explain(x);
		return 1;
	}
	if (ret == KL_EX_FAULTY) {
		kl_ex_found(x, KL_EX_FAULT, from, t, flush);
		snprintf(x->message, sizeof(x->message), "thread %u: %s", x->faulty, x->vm.error);
		return 1;
	}
	len = kl_ex_pack(x, &x->base);
	if (len < 0)
		return len;
	if (x->nwaiting == KL_EX_WAITING ||
	    x->nwaiting_bytes + (size_t)len > sizeof(x->waiting_bytes)) {
		ret = add_waiting(x, from);
		if (ret)
			return ret;
	}
	memcpy(x->waiting_bytes + x->nwaiting_bytes, x->packed, len);
	x->waiting[x->nwaiting++] = (struct kl_ex_waiting){
		.hash = x->hash, .set = x->set, .len = len, .at = x->nwaiting_bytes,
	};
	x->nwaiting_bytes += len;
	return 0;
}

enum kl_vm_result kl_ex_step(struct kl_explorer *x, unsigned int t, const struct kl_vm *from)
{
	enum kl_vm_result r = kl_vm_step(&x->vm, t);
	const unsigned int n = x->vm.at_choice;

	if (r != KL_VM_WAITS || !x->vm.ndecided)
		return r;
	kl_vm_undo(&x->vm, from);
	r = kl_vm_decide(&x->vm, t, x->vm.ndecided);
	x->vm.at_choice = n;
	return r;
}

/* The step of @t ends with an error; what it did before may have been wrong too. */
static int faulted(struct kl_explorer *x, uint32_t from, unsigned int t)
{
	int ret = take_events(x);

	if (ret < 0)
		return ret;
	if (!ret) {
		kl_ex_found(x, KL_EX_NOT_LINEARIZABLE, from, t, false);
		kl_ex_explain(x);
		return 1;
	}
	kl_ex_found(x, KL_EX_FAULT, from, t, false);
	snprintf(x->message, sizeof(x->message), "thread %u: %s", t, x->vm.error);
	return 1;
}

/* All steps of a thread; how many there were in @steps.  1: something was found. */
static int expand_thread(struct kl_explorer *x, uint32_t from, unsigned int t, uint32_t set,
			 unsigned int *steps)
{
	bool dropped = false, goes = false;
	enum kl_vm_result r;
	int ret = 0;

	x->vm.nchoice = 0;
	do {
		kl_vm_undo(&x->vm, &x->before);
		x->set = set;
		r = kl_ex_step(x, t, &x->before);
		dropped |= r == KL_VM_DROPPED;
		goes |= r == KL_VM_OK;
		*steps += r != KL_VM_WAITS;
		if (r == KL_VM_OK)
			ret = reached(x, from, t, false);
		if (r == KL_VM_FAULT)
			ret = faulted(x, from, t);
	} while (!ret && kl_vm_next_choice(&x->vm));
	if (ret)
		return ret;
	/* Runs in which an `assume' is false are none: nothing is said of them. */
	if (dropped && !goes)
		kl_store_head(&x->store, from)->ends = true;
	kl_vm_undo(&x->vm, &x->before);
	x->set = set;
	if (!kl_vm_flush(&x->vm, t))
		return 0;
	(*steps)++;
	return reached(x, from, t, true);
}

static int at_end(struct kl_explorer *x, uint32_t at)
{
	unsigned int t;
	int ret;

	if (x->hist) {
		ret = kl_histories_end(x->hist, kl_store_head(&x->store, at)->tag);
		if (ret)
			return ret;
	}
	for (t = 0; t < x->prog.nthreads; t++) {
		if (x->before.thread[t].done)
			continue;
		kl_ex_found(x, KL_EX_DEADLOCK, at, -1, false);
		snprintf(x->message, sizeof(x->message), "all threads that have not ended wait");
		return 1;
	}
	if (!x->spec->impl->final_code)
		return 0;
	kl_vm_copy(&x->vm, &x->before);
	if (kl_ex_run_alone(x, &x->vm, x->spec->impl->final_code) != KL_VM_FAULT)
		return 0;
	kl_ex_found(x, KL_EX_FINAL, at, -1, false);
	snprintf(x->message, sizeof(x->message), "at the end: %s", x->vm.error);
	return 1;
}

int kl_ex_expand(struct kl_explorer *x, uint32_t at)
{
	unsigned int t, steps = 0;
	uint32_t set;
	int ret = 0;

	kl_ex_load(x, at);
	kl_vm_copy(&x->vm, &x->before);
	set = x->set;
	for (t = 0; t < x->prog.nthreads && !ret; t++)
		ret = expand_thread(x, at, t, set, &steps);
	if (!ret)
		ret = add_waiting(x, at);
	x->nwaiting = x->nwaiting_bytes = 0;
	if (!ret && !steps) {
		kl_store_head(&x->store, at)->ends = true;
		ret = at_end(x, at);
	}
	if (x->o.progress && !(x->expanded & 1023)) {
		x->o.progress->states = x->store.n;
		x->o.progress->expanded = x->expanded;
	}
	return ret;
}

int kl_ex_first(struct kl_explorer *x)
{
	int64_t set;
	int ret;

	ret = kl_ex_first_state(x);
	if (ret)
		return ret;
	set = x->hist ? kl_histories_first(x->hist) : kl_abstract_first(x->abs);
	if (set == -E2BIG) {
		kl_err("%s: %s", x->spec->path, kl_abstract_error(x->abs));
		return -EINVAL;
	}
	if (set < 0)
		return set;
	x->set = set;
	return 0;
}

static bool covers(void *ctx, uint32_t a, uint32_t b)
{
	const struct kl_explorer *x = ctx;

	return x->hist ? kl_histories_harder(x->hist, a, b) : kl_abstract_within(x->abs, a, b);
}

static size_t spec_bytes(const struct kl_explorer *x)
{
	return x->hist ? kl_histories_bytes(x->hist) : kl_abstract_bytes(x->abs);
}

static int search_once(struct kl_explorer *x)
{
	uint32_t at, level = 0;
	int64_t len;
	int ret;

	kl_store_free(&x->store);
	ret = kl_store_init(&x->store, x->o.memory);
	if (!ret)
		ret = kl_ex_first(x);
	if (ret)
		return ret;
	if (!x->o.no_cover) {
		x->store.covers = covers;
		x->store.ctx = x;
	}
	x->transitions = x->expanded = x->levels = 0;
	len = kl_ex_pack(x, NULL);
	if (len < 0)
		return len;
	ret = kl_store_add(&x->store, x->hash, x->packed, len, x->set, KL_NO_STATE);
	for (at = 0, ret = ret < 0 ? ret : 0; !ret && kl_store_has(&x->store, at);
	     at = kl_store_next(&x->store, at)) {
		if (at >= level) {
			level = x->store.used / 4;
			x->levels++;
		}
		x->store.open = x->o.shortest ? level : kl_store_next(&x->store, at);
		x->expanded++;
		if (kl_store_head(&x->store, at)->idle && !x->o.shortest)
			continue;
		ret = kl_ex_expand(x, at);
		if (!ret && x->facts.refuted)
			return -EAGAIN;
		if (!ret && !(x->expanded & 4095) &&
		    kl_store_bytes(&x->store) + spec_bytes(x) > x->o.memory) {
			x->verdict = KL_EX_MEMORY;
			ret = 1;
		}
	}
	return ret < 0 ? ret : 0;
}

/*
 * Is what was found, an end of all runs or one without end, too little to tell?  Then
 * what it left out is put in, and all begins anew.
 */
static bool left_out(struct kl_explorer *x)
{
	if (x->verdict != KL_EX_OK && x->verdict != KL_EX_ENDLESS)
		return false;
	/* Calls with data of their own each are not all that there is. */
	if (x->compared && !x->prog.again)
		x->prog.again = true;
	/* Covered states have no steps of their own. */
	else if (x->verdict == KL_EX_ENDLESS && !x->o.no_cover)
		x->o.no_cover = true;
	else
		return false;
	x->verdict = KL_EX_OK;
	x->last = KL_NO_STATE;
	x->message[0] = '\0';
	return true;
}

static int search(struct kl_explorer *x)
{
	int ret = kl_ex_learn(x);

	while (!ret) {
		kl_facts_begin(&x->facts);
		ret = search_once(x);
		if (!ret && x->verdict == KL_EX_OK)
			ret = kl_ex_ends(x);
		if (!ret && left_out(x))
			ret = -EAGAIN;
		if (ret != -EAGAIN)
			break;
		x->begun++;
		ret = 0;
	}
	return ret;
}

static int check_spec(const struct kl_spec *s)
{
	if (!s->impl) {
		kl_err("%s: no implementation in it: 'klin explore' needs 'shared', 'method' and "
		       "'client' behind the specification", s->path);
		return -EINVAL;
	}
	return 0;
}

/* Does the specification compare what the implementation takes as data? */
static bool spec_compares(const struct kl_spec *s)
{
	size_t i;
	unsigned int k;

	for (i = 0; i < s->impl->nmethods && i < kl_spec_nmethods(s); i++)
		for (k = 0; k < kl_spec_method(s, i)->nparams; k++)
			if (s->impl->methods[i].data >> k & 1 &&
			    kl_spec_method(s, i)->params[k].use & KL_USE_COMPARED)
				return true;
	return false;
}

int kl_explore(struct kl_spec *spec, const struct kl_explore_options *o,
	       enum kl_explore_verdict *verdict, struct kl_explorer **out)
{
	struct kl_explorer *x;
	double start = now();
	int ret;

	*out = NULL;
	ret = check_spec(spec);
	if (ret)
		return ret;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	*out = x;
	x->spec = spec;
	x->o = *o;
	x->last = KL_NO_STATE;
	x->thread = -1;
	ret = kl_ex_program(x);
	x->prog.compared = &x->compared;
	x->prog.again = spec_compares(spec);
	if (!ret)
		ret = o->histories ? kl_histories_new(&x->prog, &x->hist) :
		      kl_abstract_new(spec, x->prog.nthreads, x->prog.sc, &x->abs);
	if (!ret)
		ret = search(x);
	x->seconds = now() - start;
	*verdict = x->verdict;
	return ret;
}

void kl_explorer_free(struct kl_explorer *x)
{
	if (!x)
		return;
	kl_abstract_free(x->abs);
	kl_histories_free(x->hist);
	kl_store_free(&x->store);
	free(x->pool);
	free(x->live);
	free(x);
}

void kl_explore_stats(const struct kl_explorer *x, struct kl_explore_stats *st)
{
	uint32_t at;

	*st = (struct kl_explore_stats){
		.states = x->store.n, .transitions = x->transitions,
		.bytes = kl_store_bytes(&x->store), .sets = x->abs ? kl_abstract_nsets(x->abs) : 0,
		.configs = x->abs ? kl_abstract_nconfigs(x->abs) : 0, .open = x->store.n - x->expanded,
		.threads = x->prog.nthreads, .levels = x->levels ? x->levels - 1 : 0,
		.seconds = x->seconds,
	};
	st->all_bytes = st->bytes + spec_bytes(x);
	for (at = x->last; at != KL_NO_STATE; at = kl_store_head(&x->store, at)->parent)
		st->steps++;
	if (st->steps && x->thread < 0)
		st->steps--;
}

int64_t kl_explore_print_histories(struct kl_explorer *x, FILE *f)
{
	return x->hist ? kl_histories_print(x->hist, f) : -EINVAL;
}
