// SPDX-License-Identifier: GPL-2.0
/* The explorer: a run as people read it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tso/explore_internal.h"

#define LOG_MAX		64

/* The name of a word of memory; objects are #1, #2, ... in the order of this state. */
static void print_place(const struct kl_explorer *x, const struct kl_vm *vm, uint32_t addr,
			FILE *f)
{
	const struct kl_impl *im = x->spec->impl;
	unsigned int i, obj, field;

	for (i = 0; i < im->nvars; i++) {
		const struct kl_shared *v = &im->vars[i];

		if (addr < v->slot || addr >= v->slot + v->len)
			continue;
		fputs(v->f.name, f);
		if (v->is_array)
			fprintf(f, "[%u]", addr - v->slot);
		return;
	}
	obj = (addr - im->nslots) / x->prog.stride;
	field = (addr - im->nslots) % x->prog.stride;
	fprintf(f, "#%u->%s", obj + 1, obj < vm->nobj ?
		im->structs[vm->type[obj] & ~KL_VM_HIDDEN].fields[field].name : "?");
}

static void print_value(const struct kl_explorer *x, uint64_t v, FILE *f)
{
	char buf[32];
	uint32_t at = v - KL_VM_PTR;

	if (kl_vm_is_ptr(v)) {
		fprintf(f, "#%u", (at - x->prog.nslots) / x->prog.stride + 1);
		return;
	}
	kl_vm_value(buf, sizeof(buf), v);
	fputs(buf, f);
}

static void print_accesses(const struct kl_explorer *x, const struct kl_vm *vm, unsigned int t,
			   FILE *f)
{
	unsigned int i;

	for (i = 0; i < vm->nlog; i++) {
		const struct kl_vm_access *a = &vm->log[i];

		if (i)
			fputs(", ", f);
		if (!a->line)
			fprintf(f, "T%u's buffer: ", t);
		print_place(x, vm, a->addr, f);
		fputs(a->write ? " = " : " is ", f);
		print_value(x, a->val, f);
		fputs(!a->line ? " reaches memory" : a->buffered ? " to the buffer" :
		      a->own ? " (own buffer)" : "", f);
		if (!a->write && !a->own && vm->mem[a->addr] != a->val)
			fputs(" (before)", f);
		if (a->line)
			fprintf(f, " [%u]", a->line);
	}
}

static void print_args(const struct kl_explorer *x, const struct kl_vm_event *e, FILE *f)
{
	unsigned int i;

	for (i = 0; i < e->n; i++) {
		if (i)
			fputs(", ", f);
		print_value(x, e->val[i], f);
	}
}

static void print_events(const struct kl_explorer *x, const struct kl_vm_event *ev,
			 unsigned int n, bool calls, FILE *f)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct kl_vm_event *e = &ev[i];

		if (calls && e->kind == KL_EV_CALL) {
			fprintf(f, "call %s(", x->methods[e->method].name);
			print_args(x, e, f);
			fputs("); ", f);
		} else if (!calls && e->kind == KL_EV_RET) {
			fprintf(f, "; %s returns%s", x->methods[e->method].name, e->n ? " " : "");
			print_args(x, e, f);
		}
	}
}

static void print_state(const struct kl_explorer *x, const struct kl_vm *vm, FILE *f)
{
	const struct kl_impl *im = x->spec->impl;
	unsigned int i, j, t;

	fputs("         memory:", f);
	for (i = 0; i < im->nslots; i++) {
		fputc(' ', f);
		print_place(x, vm, i, f);
		fputc('=', f);
		print_value(x, vm->mem[i], f);
	}
	for (i = 0; i < vm->nobj; i++) {
		const struct kl_struct *s = &im->structs[vm->type[i] & ~KL_VM_HIDDEN];

		fprintf(f, " #%u={", i + 1);
		for (j = 0; j < s->nfields; j++) {
			fputs(j ? " " : "", f);
			print_value(x, vm->mem[im->nslots + i * x->prog.stride + j], f);
		}
		fputc('}', f);
	}
	for (t = 0; t < x->prog.nthreads; t++) {
		const struct kl_vm_thread *th = &vm->thread[t];

		if (!kl_vm_has_writes(th))
			continue;
		fprintf(f, "; T%u's buffer:", t);
		for (i = 0; i < th->nbuf; i++) {
			if (th->buf[i].kind != KL_VM_WRITE)
				continue;
			fputc(' ', f);
			print_place(x, vm, th->buf[i].addr, f);
			fputc('=', f);
			print_value(x, th->buf[i].val, f);
			fputs(th->buf[i].more ? " +" : "", f);
		}
	}
	fputc('\n', f);
}

/* One step of a run, from x->before to x->vm. */
static void print_step(const struct kl_explorer *x, unsigned int number, unsigned int t,
		       const struct kl_vm_event *ev, unsigned int nev, FILE *f)
{
	fprintf(f, "%5u  T%u  ", number, t);
	print_events(x, ev, nev, true, f);
	if (x->vm.nlog)
		print_accesses(x, &x->vm, t, f);
	else
		fputs("goes on", f);
	print_events(x, ev, nev, false, f);
	fputc('\n', f);
	print_state(x, &x->vm, f);
}

/* Make a step from x->before: 1 if it leads to the state at @to (or @to is none). */
static int step_to(struct kl_explorer *x, uint32_t set, unsigned int t, bool flush, uint64_t to,
		   struct kl_vm_event *ev, unsigned int *nev)
{
	enum kl_vm_result r = KL_VM_OK;
	int ret;

	x->set = set;
	x->vm.nev = 0;
	x->vm.nlog = 0;
	if (flush ? !kl_vm_flush(&x->vm, t) : (r = kl_vm_step(&x->vm, t)) != KL_VM_OK) {
		*nev = x->vm.nev;
		memcpy(ev, x->vm.ev, *nev * sizeof(*ev));
		return r == KL_VM_FAULT && to == KL_EX_NO_PLACE;
	}
	*nev = x->vm.nev;
	memcpy(ev, x->vm.ev, *nev * sizeof(*ev));
	if (to == KL_EX_NO_PLACE)
		return 1;
	ret = kl_ex_after(x);
	if (ret <= 0)
		return ret;
	return kl_ex_pack(x) == kl_store_head(&x->store, to).len &&
	       !memcmp(x->packed, kl_store_state(&x->store, to), kl_store_head(&x->store, to).len);
}

/* Find the step from @from to @to again, and print it. */
static int print_edge(struct kl_explorer *x, uint64_t from, uint64_t to, unsigned int number,
		      struct kl_vm_access *log, FILE *f)
{
	struct kl_vm_event ev[KL_VM_EVENTS];
	unsigned int t, nev;
	uint32_t set;
	int ret, flush;

	kl_ex_load(x, from);
	set = x->set;
	for (t = 0; t < x->prog.nthreads; t++) {
		for (flush = 0; flush < 2; flush++) {
			x->vm.nchoice = 0;
			do {
				kl_vm_copy(&x->vm, &x->before);
				x->vm.log = log;
				x->vm.clog = LOG_MAX;
				x->vm.at_choice = 0;
				ret = step_to(x, set, t, flush, to, ev, &nev);
				if (ret < 0)
					return ret;
				if (!ret)
					continue;
				print_step(x, number, t, ev, nev, f);
				return 0;
			} while (kl_vm_next_choice(&x->vm));
		}
	}
	return -EINVAL;
}

static void print_last(struct kl_explorer *x, unsigned int number, struct kl_vm_access *log,
		       FILE *f)
{
	struct kl_vm_event ev[KL_VM_EVENTS];
	unsigned int nev;

	kl_ex_load(x, x->last);
	kl_vm_copy(&x->vm, &x->before);
	x->vm.log = log;
	x->vm.clog = LOG_MAX;
	x->vm.nchoice = x->nchoice;
	memcpy(x->vm.choice, x->choice, sizeof(x->choice));
	step_to(x, x->set, x->thread, x->flush, KL_EX_NO_PLACE, ev, &nev);
	print_step(x, number, x->thread, ev, nev, f);
}

int kl_explore_print_run(struct kl_explorer *x, FILE *f)
{
	struct kl_vm_access *log = calloc(LOG_MAX, sizeof(*log));
	uint64_t at, *path = NULL;
	size_t n = 0, i;
	int ret = 0;

	for (at = x->last; at != KL_EX_NO_PLACE; at = kl_store_head(&x->store, at).parent)
		n++;
	path = calloc(n + 1, sizeof(*path));
	if (!log || !path) {
		ret = -ENOMEM;
		goto out;
	}
	for (at = x->last, i = n; i; at = kl_store_head(&x->store, at).parent)
		path[--i] = at;
	if (n) {
		kl_ex_load(x, path[0]);
		kl_vm_copy(&x->vm, &x->before);
		fputs("    0  the first state\n", f);
		print_state(x, &x->vm, f);
	}
	for (i = 1; i < n && !ret; i++)
		ret = print_edge(x, path[i - 1], path[i], i, log, f);
	if (!ret && n && x->thread >= 0)
		print_last(x, n, log, f);
	x->vm.log = NULL;
out:
	free(path);
	free(log);
	return ret;
}
