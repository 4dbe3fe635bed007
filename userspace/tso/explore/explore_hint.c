// SPDX-License-Identifier: GPL-2.0
/* The explorer: a hint at the commonest reason why specification and implementation do not fit. */
#include <stdlib.h>

#include "base/memstream.h"
#include "tso/explore/explore_internal.h"

/* Return: the index of the newest store to @addr in the thread's buffer, or -1. */
static int in_buffer(const struct kl_vm_thread *th, uint32_t addr)
{
	int i = th->nbuf;

	while (i-- && (th->buf[i].kind != KL_VM_WRITE || th->buf[i].addr != addr))
		;
	return i;
}

/* Return: true if the entry @at of the buffer belongs to the newest call in the buffer. */
static bool of_last_call(const struct kl_vm_thread *th, unsigned int at)
{
	while (++at < th->nbuf)
		if (th->buf[at].kind == KL_VM_CALL)
			return false;
	return true;
}

static void note_read(struct kl_explorer *x, const struct kl_vm_access *a, const struct kl_vm *vm)
{
	struct kl_ex_stale *s = &x->stale[a->thread];
	unsigned int t;
	int at;

	/* A stale read that was repeated later explains nothing. */
	if (s->seen && s->addr == a->addr)
		s->seen = false;
	for (t = 0; t < x->prog.nthreads; t++) {
		const struct kl_vm_thread *th = &vm->thread[t];

		at = t == a->thread ? -1 : in_buffer(th, a->addr);
		if (at < 0 || th->buf[at].val == a->val)
			continue;
		*s = (struct kl_ex_stale){
			.seen = true, .owner = t, .addr = a->addr, .line = a->line,
			.val = th->buf[at].val,
			.method = of_last_call(th, at) ? x->shown_method[t] : -1,
		};
		return;
	}
}

void kl_ex_note_stale(struct kl_explorer *x, unsigned int t)
{
	unsigned int i;

	/* The call is the first event of a step. */
	for (i = 0; i < x->nshown; i++) {
		if (x->shown_ev[i].kind != KL_VM_EVENT_CALL)
			continue;
		x->shown_method[x->shown_ev[i].thread] = x->shown_ev[i].method;
		x->stale[x->shown_ev[i].thread].seen = false;
	}
	for (i = 0; i < x->vm.nlog; i++) {
		const struct kl_vm_access *a = &x->vm.log[i];

		if (!a->write && !a->own)
			note_read(x, a, a->thread == t ? &x->shown : &x->vm);
	}
}

/* Return: true if the store that @s missed is still in its thread's buffer. */
static bool still_in_buffer(const struct kl_explorer *x, const struct kl_ex_stale *s)
{
	const struct kl_vm_thread *th = &x->vm.thread[s->owner];
	const int at = in_buffer(th, s->addr);

	return at >= 0 && th->buf[at].val == s->val;
}

/*
 * Explain a stale read of the thread of @e, if there was one.  In the specification, the step of
 * the storing thread drains its buffer.  In the implementation, the store is still in the buffer.
 * A store that has left it may have been drained by the implementation, too, which explains
 * nothing.
 */
static void print_stale(const struct kl_explorer *x, const struct kl_vm_event *e, FILE *f)
{
	const struct kl_ex_stale *s = &x->stale[e->thread];
	const char *name;

	if (!s->seen || s->method < 0 || !kl_spec_method(x->spec, s->method)->flush ||
	    !still_in_buffer(x, s))
		return;
	name = x->methods[s->method].name;
	fprintf(f, "T%u's %s() read ", e->thread, x->methods[e->method].name);
	kl_ex_print_place(x, &x->vm, s->addr, f);
	fprintf(f, " (line %u) while T%u's buffer held a store of %s() to it, the value ", s->line,
		s->owner, name);
	kl_ex_print_value(x, s->val, f);
	fprintf(f, "; the specification's step of %s() drains the store buffer (atomic_flush), and the "
		"implementation's did not after this store; either %s() needs a fence or an atomic "
		"step, or the specification 'atomic' in place of 'atomic_flush'", name, name);
}

/* Print that a method returns while the buffer of its thread is not empty. */
static void print_drains(const struct kl_explorer *x, const struct kl_vm_event *e, FILE *f)
{
	const char *name = x->methods[e->method].name;

	fprintf(f, "the specification's step of %s() drains the store buffer (atomic_flush), and "
		"the implementation's did not; when it returns, ", name);
	if (kl_vm_has_writes(&x->vm.thread[e->thread])) {
		fputs("its stores are not all in memory: ", f);
		kl_ex_print_buffer(x, &x->vm, e->thread, f);
	} else {
		fprintf(f, "T%u's buffer holds no store, only the marker of a call or return that "
			   "was not drained", e->thread);
	}
	fprintf(f, "; either %s() needs a fence or an atomic step, or the specification "
		"'atomic' in place of 'atomic_flush'", name);
}

/*
 * A step of the specification in `atomic_flush' waits until the thread's store buffer is empty.  An
 * implementation that does not drain its buffer may return earlier, or let others read old values.
 */
int kl_ex_find_hint(struct kl_explorer *x)
{
	const struct kl_vm_event *e = &x->vm.ev[x->vm.nev - 1];
	struct kl_memstream m;
	int ret;

	free(x->hint);
	x->hint = NULL;
	if (e->kind != KL_VM_EVENT_RET)
		return 0;
	ret = kl_memstream_open(&m);
	if (ret)
		return ret;
	if (kl_abstract_drains(x->abs, x->explained, e))
		print_drains(x, e, m.f);
	else
		print_stale(x, e, m.f);
	return kl_memstream_close(&m, &x->hint, NULL);
}
