// SPDX-License-Identifier: GPL-2.0
/* The explorer: the search. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "tso/explore_internal.h"

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

/* ---- the program ------------------------------------------------------------------ */

static uint64_t from_val(struct kl_val v)
{
	return v.tag ? KL_VM_SPECIAL + v.tag : v.v;
}

static int set_pool(struct kl_explorer *x)
{
	const struct kl_spec *s = x->spec;
	size_t i;

	x->pool = calloc(s->npool + 1, sizeof(*x->pool));
	if (!x->pool)
		return -ENOMEM;
	for (i = 0; i < s->npool; i++) {
		x->pool[i] = from_val(s->pool[i]);
		if (!s->pool[i].tag && x->pool[i] >> 62 && x->pool[i] >> 62 != 3) {
			kl_err("%s: the constant %llu is too large for the explorer", s->path,
			       (unsigned long long)x->pool[i]);
			return -EINVAL;
		}
	}
	x->prog.pool = x->pool;
	return 0;
}

static int set_live(struct kl_explorer *x)
{
	uint32_t *scratch = calloc(x->prog.ncode, sizeof(*scratch));

	x->live = calloc(x->prog.ncode, sizeof(*x->live));
	if (scratch && x->live) {
		kl_vm_live(&x->prog, x->spec->impl->nmethods, x->live, 0, scratch);
		x->prog.live = x->live;
	}
	free(scratch);
	return x->prog.live ? 0 : -ENOMEM;
}

static int set_program(struct kl_explorer *x)
{
	struct kl_impl *im = x->spec->impl;
	struct kl_vm_prog *p = &x->prog;
	size_t ncode = x->spec->ncode;
	unsigned int i;
	int ret;

	ret = kl_impl_client(x->spec, x->o.threads, x->o.ops, p->start, &p->nthreads,
			     &p->nregs[0]);
	if (ret)
		return ret;
	if (x->spec->ncode > KL_VM_CODE_MAX) {
		kl_err("%s: the client's threads are too long: more than %d words of code",
		       x->spec->path, KL_VM_CODE_MAX);
		x->spec->ncode = ncode;
		return -EINVAL;
	}
	p->ncode = x->spec->ncode;
	x->spec->ncode = ncode;	/* the code itself stays until the next client's */
	p->code = x->spec->code;
	p->line = x->spec->lines;
	p->nslots = im->nslots;
	p->nregs[1] = im->nregs;
	p->methods = x->methods;
	p->structs = x->structs;
	p->stride = 1;
	for (i = 0; i < im->nmethods; i++)
		x->methods[i] = (struct kl_vm_method){
			.name = im->methods[i].pub.name, .start = im->methods[i].code,
			.nparams = im->methods[i].pub.nparams,
			.nresults = im->methods[i].pub.nresults,
		};
	for (i = 0; i < im->nstructs; i++) {
		x->structs[i] = (struct kl_vm_struct){ im->structs[i].name, im->structs[i].nfields };
		if (p->stride < im->structs[i].nfields)
			p->stride = im->structs[i].nfields;
	}
	p->sc = x->o.sc;
	p->merge = !x->o.no_merge;
	p->dead = !x->o.no_dead;
	p->canon = !x->o.no_canon;
	p->hidden = !x->o.no_hidden;
	ret = set_pool(x);
	return ret ? ret : set_live(x);
}

/* Code that runs alone, with nothing in the buffers: of `init' and of `final'. */
static enum kl_vm_result run_alone(struct kl_explorer *x, struct kl_vm *vm, uint32_t code)
{
	const struct kl_vm_prog *all = vm->prog;
	struct kl_vm_prog alone = *all;
	enum kl_vm_result ret = KL_VM_OK;

	alone.nthreads = 1;
	alone.start[0] = code;
	alone.nregs[0] = x->spec->impl->nregs;
	alone.sc = true;
	alone.merge = true;
	vm->prog = &alone;
	memset(&vm->thread[0], 0, sizeof(vm->thread[0]));
	vm->thread[0].pc[0] = code;
	vm->thread[0].method = -1;
	vm->nchoice = 0;
	while (ret == KL_VM_OK && !vm->thread[0].done)
		ret = kl_vm_step(vm, 0);
	memset(&vm->thread[0], 0, sizeof(vm->thread[0]));
	vm->thread[0].pc[0] = all->start[0];
	vm->thread[0].method = -1;
	vm->prog = all;
	return ret;
}

static int first_state(struct kl_explorer *x)
{
	const struct kl_impl *im = x->spec->impl;
	uint64_t init[KL_IMPL_SLOTS] = { 0 };
	unsigned int i, j;

	for (i = 0; i < im->nvars; i++)
		for (j = 0; j < im->vars[i].len; j++)
			init[im->vars[i].slot + j] = from_val(im->vars[i].init);
	kl_vm_init(&x->vm, &x->prog, init);
	x->before.prog = &x->prog;
	if (im->init_code && run_alone(x, &x->vm, im->init_code) != KL_VM_OK) {
		kl_err("%s: init: %s", x->spec->path,
		       x->vm.error[0] ? x->vm.error : "an 'assume' is false");
		return -EINVAL;
	}
	return 0;
}

/* ---- the search ------------------------------------------------------------------------ */

static int abstract_step(struct kl_explorer *x, const struct kl_vm_event *e)
{
	int64_t next = kl_abstract_step(x->abs, x->set, e);

	if (next == -E2BIG) {
		kl_err("%s: %s", x->spec->path, kl_abstract_error(x->abs));
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

int kl_ex_after(struct kl_explorer *x)
{
	uint32_t empty;
	unsigned int t;
	int ret;

	ret = take_events(x);
	if (ret <= 0 || !x->prog.merge)
		return ret;
	for (t = 0; t < x->prog.nthreads && ret > 0; t++) {
		empty = kl_abstract_empty_layers(x->abs, x->set);
		if (!(empty >> t & 1) || !kl_vm_empty_layer(&x->vm, t))
			continue;
		kl_vm_flush(&x->vm, t);
		ret = take_events(x);
		t = -1;		/* others may be ready now */
	}
	return ret;
}

/* Data that only the specification has comes after the implementation's. */
int64_t kl_ex_pack(struct kl_explorer *x)
{
	uint8_t data[KL_VM_DATA_MAX], last = 0;
	uint64_t mask = kl_abstract_data(x->abs, x->set);
	size_t len = kl_vm_pack(&x->vm, x->packed + 4, data);
	uint32_t number;
	int64_t set = x->set;
	unsigned int i;

	if (mask && x->prog.canon) {
		for (i = 0; i < KL_VM_DATA_MAX; i++)
			last = data[i] > last ? data[i] : last;
		for (; mask; mask &= mask - 1) {
			i = __builtin_ctzll(mask);
			if (!data[i])
				data[i] = ++last;
		}
		set = kl_abstract_rename(x->abs, x->set, data);
		if (set < 0)
			return set;
	}
	number = set;
	memcpy(x->packed, &number, 4);
	return 4 + len;
}

void kl_ex_load(struct kl_explorer *x, uint64_t at)
{
	const uint8_t *state = kl_store_state(&x->store, at);

	memcpy(&x->set, state, 4);
	kl_vm_unpack(&x->before, state + 4);
	x->before.taken = kl_abstract_data(x->abs, x->set);
}

static void found(struct kl_explorer *x, enum kl_explore_verdict v, uint64_t at, int t, bool flush)
{
	x->verdict = v;
	x->last = at;
	x->thread = t;
	x->flush = flush;
	memcpy(x->choice, x->vm.choice, sizeof(x->choice));
	x->nchoice = x->vm.at_choice;
}

static void explain(struct kl_explorer *x, uint32_t before)
{
	const struct kl_vm_event *e = &x->vm.ev[x->vm.nev - 1];
	char value[32], allowed[200];
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
	n = kl_abstract_results(x->abs, before, e->thread, allowed, sizeof(allowed));
	snprintf(x->message + used, sizeof(x->message) - used, "%s; the specification allows %s",
		 e->n > 1 ? ")" : "", n ? allowed : "no return at this time");
}

static int reached(struct kl_explorer *x, uint64_t from, int t, bool flush)
{
	const uint32_t before = x->set;
	int64_t len;
	uint64_t at;
	int ret;

	x->transitions++;
	ret = kl_ex_after(x);
	if (ret < 0)
		return ret;
	if (!ret) {
		found(x, KL_EX_NOT_LINEARIZABLE, from, t, flush);
		explain(x, before);
		return 1;
	}
	len = kl_ex_pack(x);
	if (len < 0)
		return len;
	ret = kl_store_add(&x->store, x->packed, len, from, &at);
	if (ret == -ENOSPC) {
		x->verdict = KL_EX_MEMORY;
		return 1;
	}
	return ret < 0 ? ret : 0;
}

/* All steps of a thread; how many there were in @steps.  1: something was found. */
static int expand_thread(struct kl_explorer *x, uint64_t from, unsigned int t, uint32_t set,
			 unsigned int *steps)
{
	enum kl_vm_result r;
	int ret = 0;

	x->vm.nchoice = 0;
	do {
		kl_vm_copy(&x->vm, &x->before);
		x->set = set;
		r = kl_vm_step(&x->vm, t);
		*steps += r != KL_VM_WAITS;
		if (r == KL_VM_OK)
			ret = reached(x, from, t, false);
		if (r == KL_VM_FAULT) {
			found(x, KL_EX_FAULT, from, t, false);
			snprintf(x->message, sizeof(x->message), "thread %u: %s", t, x->vm.error);
			ret = 1;
		}
	} while (!ret && kl_vm_next_choice(&x->vm));
	if (ret)
		return ret;
	kl_vm_copy(&x->vm, &x->before);
	x->set = set;
	if (!kl_vm_flush(&x->vm, t))
		return 0;
	(*steps)++;
	return reached(x, from, t, true);
}

static int at_end(struct kl_explorer *x, uint64_t at)
{
	unsigned int t;

	for (t = 0; t < x->prog.nthreads; t++) {
		if (x->before.thread[t].done)
			continue;
		found(x, KL_EX_DEADLOCK, at, -1, false);
		snprintf(x->message, sizeof(x->message), "deadlock: thread %u and all others that "
			 "have not ended wait", t);
		return 1;
	}
	if (!x->spec->impl->final_code)
		return 0;
	kl_vm_copy(&x->vm, &x->before);
	if (run_alone(x, &x->vm, x->spec->impl->final_code) != KL_VM_FAULT)
		return 0;
	found(x, KL_EX_FINAL, at, -1, false);
	snprintf(x->message, sizeof(x->message), "at the end: %s", x->vm.error);
	return 1;
}

static int expand(struct kl_explorer *x, uint64_t at)
{
	unsigned int t, steps = 0;
	uint32_t set;
	int ret = 0;

	kl_ex_load(x, at);
	set = x->set;
	for (t = 0; t < x->prog.nthreads && !ret; t++)
		ret = expand_thread(x, at, t, set, &steps);
	x->expanded++;
	if (!ret && !steps)
		ret = at_end(x, at);
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

	ret = first_state(x);
	if (ret)
		return ret;
	set = kl_abstract_first(x->abs);
	if (set == -E2BIG) {
		kl_err("%s: %s", x->spec->path, kl_abstract_error(x->abs));
		return -EINVAL;
	}
	if (set < 0)
		return set;
	x->set = set;
	return 0;
}

static int search(struct kl_explorer *x)
{
	uint64_t at, first;
	int64_t len;
	int ret;

	ret = kl_ex_first(x);
	if (ret)
		return ret;
	len = kl_ex_pack(x);
	if (len < 0)
		return len;
	ret = kl_store_add(&x->store, x->packed, len, KL_EX_NO_PLACE, &first);
	for (at = 0, ret = ret < 0 ? ret : 0; !ret && at < x->store.used;
	     at = kl_store_next(&x->store, at)) {
		ret = expand(x, at);
		if (!ret && !(x->expanded & 4095) &&
		    kl_store_bytes(&x->store) + kl_abstract_bytes(x->abs) > x->o.memory) {
			x->verdict = KL_EX_MEMORY;
			ret = 1;
		}
	}
	return ret < 0 ? ret : 0;
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
	x->last = KL_EX_NO_PLACE;
	x->thread = -1;
	ret = set_program(x);
	if (!ret)
		ret = kl_abstract_new(spec, x->prog.nthreads, x->prog.sc, &x->abs);
	if (!ret)
		ret = kl_store_init(&x->store, o->memory);
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
	kl_store_free(&x->store);
	free(x->pool);
	free(x->live);
	free(x);
}

void kl_explore_stats(const struct kl_explorer *x, struct kl_explore_stats *st)
{
	uint64_t at;

	*st = (struct kl_explore_stats){
		.states = x->store.n, .transitions = x->transitions,
		.bytes = kl_store_bytes(&x->store), .sets = kl_abstract_nsets(x->abs),
		.configs = kl_abstract_nconfigs(x->abs), .open = x->store.n - x->expanded,
		.threads = x->prog.nthreads, .seconds = x->seconds,
	};
	st->all_bytes = st->bytes + kl_abstract_bytes(x->abs);
	for (at = x->last; at != KL_EX_NO_PLACE; at = kl_store_head(&x->store, at).parent)
		st->steps++;
	if (st->steps && x->thread < 0)
		st->steps--;
}

const char *kl_explore_message(const struct kl_explorer *x)
{
	return x->message;
}
