// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer: completes a step of the machine.  This takes the step's events in the
 * specification, makes the steps of other threads along with it, and packs the state after it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tso/explore/explore_internal.h"

#define AHEAD_MAX	8	/* doomed retries that a thread makes along with one step */

static int abstract_step(struct kl_explorer *x, const struct kl_vm_event *e)
{
	int64_t next;

	if (x->recording)
		return kl_steps_event(&x->known, e) ?: 1;
	next = x->hist ? kl_histories_step(x->hist, x->set, e) :
			 kl_abstract_step(x->abs, x->set, e);
	if (x->vm.log && x->nshown < KL_EX_SHOWN)
		x->shown_ev[x->nshown++] = *e;
	x->explained = x->set;

	if (next < 0)
		return next;
	x->set = next;
	return next > 0;
}

int kl_ex_take_events(struct kl_explorer *x)
{
	unsigned int i;
	int ret = 1;

	for (i = 0; i < x->vm.nev && ret > 0; i++)
		ret = abstract_step(x, &x->vm.ev[i]);
	/* Unexplained events stay in x->vm for the message. */
	if (ret > 0)
		x->vm.nev = 0;
	else
		x->vm.nev = i;
	return ret;
}

/*
 * After a step or flush of @t, make the steps of @t that no other thread can notice.  If memory has
 * changed, also make such steps of all other threads.
 */
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
			/* A step of @t includes the steps of kl_vm_go_on(). */
			if (i || u != t || flush) {
				r = kl_vm_go_on(&x->vm, u);
				ret = kl_ex_take_events(x);
				if (ret > 0 && r == KL_VM_FAULT) {
					x->faulty = u;
					return KL_EX_FAULTY;
				}
			}
			n = ret > 0 ? kl_vm_doomed_insns(&x->vm, u) : 0;
			if (!n)
				break;
			kl_vm_run(&x->vm, u, n);
		}
	}
	return ret;
}

/* Drop layers that are empty in the machine's buffers and in all configurations. */
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
		ret = kl_ex_take_events(x);
		t = -1;		/* the new set may have other empty layers */
	}
	return ret;
}

int kl_ex_along(struct kl_explorer *x, unsigned int t, bool flush)
{
	int ret = kl_ex_take_events(x);

	return ret > 0 && x->prog.merge && x->prog.facts ? settle(x, t, flush) : ret;
}

int kl_ex_after(struct kl_explorer *x, unsigned int t, bool flush)
{
	int ret = kl_ex_along(x, t, flush);

	/* Layers may be dropped only if there is a specification. */
	return ret == 1 && x->prog.merge && !x->hist ? drop_layers(x) : ret;
}

/* Return: the data values in the specification's set or in the history, a bit for each. */
static uint64_t known_data(const struct kl_explorer *x)
{
	return x->hist ? kl_histories_data(x->hist, x->set) : kl_abstract_data(x->abs, x->set);
}

/* Data values that only the specification has are numbered after the implementation's. */
int64_t kl_ex_pack(struct kl_explorer *x)
{
	uint64_t mask = known_data(x);
	uint8_t *data = x->names.data, last = 0;
	int64_t set = x->set;
	unsigned int i;
	size_t len;

	if (x->in_pieces)
		return kl_ex_pack_pieces(x);
	len = kl_vm_pack(&x->vm, x->packed, &x->names);
	x->hash = kl_visited_hash(&x->visited, x->packed, len);
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

int kl_ex_load(struct kl_explorer *x, uint32_t at)
{
	const uint8_t *state;
	int ret = 0;

	if (x->in_pieces) {
		ret = kl_ex_load_pieces(x, at);
	} else {
		ret = kl_ex_state(x, at, &state);
		if (!ret)
			kl_vm_unpack(&x->before, state);
	}
	if (ret)
		return ret;
	x->loaded = at;
	x->set = kl_visited_head(&x->visited, at)->tag;
	x->before.taken = known_data(x);
	return 0;
}

void kl_ex_explain(struct kl_explorer *x)
{
	const struct kl_vm_event *e = &x->vm.ev[x->vm.nev - 1];
	char value[32], allowed[400];
	unsigned int i;
	int n, used;

	if (e->kind != KL_VM_EVENT_RET) {
		snprintf(x->message, sizeof(x->message),
			 "thread %u: %s: no configuration of the specification allows its stores "
			 "to be flushed at this time",
			 e->thread,
			 e->kind == KL_VM_EVENT_CALL	   ? "call" :
			 e->kind == KL_VM_EVENT_FLUSH_CALL ? "flush(call)" :
							     "flush(ret)");
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
		 e->n > 1 ? ")" : "", n ? allowed : "no return at this point");
}

enum kl_vm_result kl_ex_step(struct kl_explorer *x, unsigned int t, const struct kl_vm *from)
{
	enum kl_vm_result r = kl_vm_step(&x->vm, t);
	const unsigned int n = x->vm.at_choice;

	if (r != KL_VM_WAITS || !x->vm.ndecided)
		return r;
	kl_vm_undo(&x->vm, from);
	/* Accesses after these choices were not made. */
	x->vm.nlog = 0;
	kl_ex_origins_restore(&x->vm);
	r = kl_vm_decide(&x->vm, t, x->vm.ndecided);
	x->vm.at_choice = n;
	return r;
}
