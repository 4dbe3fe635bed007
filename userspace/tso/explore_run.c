// SPDX-License-Identifier: GPL-2.0
/* The explorer: a run as people read it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tso/explore_internal.h"

#define LOG_MAX		64

/* The name of a word of memory; objects are #1, #2, ... */
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
		im->structs[vm->type[obj] & KL_VM_STRUCT].fields[field].name : "?");
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
		else if (a->thread != t)
			fprintf(f, "T%u: ", a->thread);
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
		const struct kl_struct *s = &im->structs[vm->type[i] & KL_VM_STRUCT];

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

/* Does the step of @t from x->before lead to the state at @to? */
static int leads_to(struct kl_explorer *x, unsigned int t, bool flush, uint32_t to)
{
	int64_t len;
	int ret;

	if (flush ? !kl_vm_flush(&x->vm, t) : kl_ex_step(x, t, &x->before) != KL_VM_OK)
		return 0;
	ret = kl_ex_after(x, t, flush);
	if (ret <= 0 || ret == KL_EX_FAULTY)
		return ret < 0 ? ret : 0;
	len = kl_ex_pack(x, NULL);
	if (len < 0)
		return len;
	return len == kl_store_head(&x->store, to)->len &&
	       x->set == kl_store_head(&x->store, to)->tag &&
	       !memcmp(x->packed, kl_store_state(&x->store, to), len);
}

/* Find the step from @from to @to again; its choices are in x->vm. */
static int find_step(struct kl_explorer *x, uint32_t from, uint32_t to, unsigned int *t,
		     bool *flush)
{
	uint32_t set;
	int ret;

	kl_ex_load(x, from);
	set = x->set;
	for (*t = 0; *t < x->prog.nthreads; ++*t) {
		x->vm.nchoice = 0;
		do {
			kl_vm_copy(&x->vm, &x->before);
			x->set = set;
			*flush = false;
			ret = leads_to(x, *t, false, to);
			if (ret)
				return ret < 0 ? ret : 0;
		} while (kl_vm_next_choice(&x->vm));
		kl_vm_copy(&x->vm, &x->before);
		x->set = set;
		*flush = true;
		ret = leads_to(x, *t, true, to);
		if (ret)
			return ret < 0 ? ret : 0;
	}
	return -EINVAL;
}

/* Make the step with the names that stay, and print it. */
static int show_step(struct kl_explorer *x, unsigned int number, unsigned int t, bool flush,
		     struct kl_vm_access *log, FILE *f)
{
	int ret;

	t = x->shown_thread[t];
	kl_vm_copy(&x->vm, &x->shown);
	x->set = x->shown_set;
	x->vm.log = log;
	x->vm.clog = LOG_MAX;
	x->vm.nlog = 0;
	if (flush)
		kl_vm_flush(&x->vm, t);
	else
		kl_ex_step(x, t, &x->shown);
	x->nshown = 0;
	ret = kl_ex_after(x, t, flush);
	x->vm.log = NULL;
	if (ret < 0)
		return ret;
	x->vm.log = log;
	print_step(x, number, t, x->shown_ev, x->nshown, f);
	x->vm.log = NULL;
	kl_vm_copy(&x->shown, &x->vm);
	/* A value that was there once keeps its name. */
	x->shown.taken |= kl_vm_data(&x->vm);
	x->shown_set = x->set;
	return 0;
}

static int show_first(struct kl_explorer *x, FILE *f)
{
	int ret = kl_ex_first(x);

	if (ret)
		return ret;
	kl_ex_pack(x, NULL);
	memcpy(x->shown_thread, x->names.thread, sizeof(x->shown_thread));
	x->shown.prog = &x->prog;
	kl_vm_copy(&x->shown, &x->vm);
	x->shown_set = x->set;
	fputs("    0  the first state\n", f);
	print_state(x, &x->vm, f);
	return 0;
}

int kl_explore_print_run(struct kl_explorer *x, FILE *f)
{
	struct kl_vm_access *log = calloc(LOG_MAX, sizeof(*log));
	uint8_t thread[KL_VM_THREADS];
	uint32_t at, *path = NULL;
	size_t n = 0, i;
	unsigned int t, k;
	bool flush;
	int ret = 0;

	for (at = x->last; at != KL_NO_STATE; at = kl_store_head(&x->store, at)->parent)
		n++;
	path = calloc(n + 1, sizeof(*path));
	if (!log || !path) {
		ret = -ENOMEM;
		goto out;
	}
	for (at = x->last, i = n; i; at = kl_store_head(&x->store, at)->parent)
		path[--i] = at;
	if (n)
		ret = show_first(x, f);
	for (i = 1; i < n && !ret; i++) {
		ret = find_step(x, path[i - 1], path[i], &t, &flush);
		if (ret)
			break;
		x->vm.nchoice = x->vm.at_choice;
		for (k = 0; k < x->prog.nthreads; k++)
			thread[k] = x->shown_thread[x->names.thread[k]];
		ret = show_step(x, i, t, flush, log, f);
		memcpy(x->shown_thread, thread, sizeof(thread));
	}
	if (!ret && n && x->thread >= 0) {
		memcpy(x->vm.choice, x->choice, sizeof(x->choice));
		x->vm.nchoice = x->nchoice;
		ret = show_step(x, n, x->thread, x->flush, log, f);
	}
out:
	free(path);
	free(log);
	return ret;
}
