// SPDX-License-Identifier: GPL-2.0
/*
 * Finds states from which no run ends.  Under a fair scheduler a run finally stays among states to
 * which it can always come back.  If no end can be reached from a state, its threads wait for
 * something that never happens.  Each state notes one state that was reached from it, and for most
 * states this one leads to an end.  From the other states, all steps are made again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tso/explore/explore_internal.h"

static struct kl_record *head(struct kl_explorer *x, uint32_t at)
{
	return kl_visited_head(&x->visited, at);
}

/*
 * Propagate ends from noted states and from children in the tree of the search, from the last state
 * to the first.  States without an end stay in @place.  Return: their number.
 */
static size_t pass(struct kl_explorer *x, uint32_t *place, size_t n)
{
	size_t i, left = n;

	for (i = n; i--;) {
		struct kl_record *r = head(x, place[i]);

		if (!r->ends && r->next != KL_NO_STATE)
			r->ends = head(x, r->next)->ends;
		if (!r->ends)
			place[--left] = place[i];
		else if (r->parent != KL_NO_STATE)
			head(x, r->parent)->ends = true;
	}
	memmove(place, place + left, (n - left) * sizeof(*place));
	return n - left;
}

/*
 * Make all steps of the states without an end again, and set @changed if this finds an end for one
 * of them.  Return: 1 if the search ends with a verdict, 0 if not, or a negative errno.
 */
static int again(struct kl_explorer *x, const uint32_t *place, size_t n, bool *changed)
{
	size_t i;
	int ret;

	*changed = false;
	for (i = n; i--;) {
		if (head(x, place[i])->ends || head(x, place[i])->idle)
			continue;
		x->unique_reached = false;
		ret = kl_ex_expand(x, place[i]);
		if (ret)
			return ret;
		if (x->facts.refuted)
			return -EAGAIN;
		if (x->unique_reached)
			head(x, place[i])->ends = *changed = true;
		if (kl_ex_stops(x))
			return 1;
	}
	return 0;
}

void kl_ex_tell_waiting(struct kl_explorer *x, const struct kl_vm *vm, const char *what)
{
	size_t used = snprintf(x->message, sizeof(x->message), "%s", what);
	unsigned int t, n = 0;

	for (t = 0; t < x->prog.nthreads && used < sizeof(x->message) - 48; t++) {
		const struct kl_vm_thread *th = &vm->thread[t];
		const uint32_t pc = th->pc[th->method >= 0];

		if (th->done)
			continue;
		used += snprintf(x->message + used, sizeof(x->message) - used, "%s thread %u",
				 n++ ? "," : "", t);
		if (x->prog.line && x->prog.line[pc])
			used += snprintf(x->message + used, sizeof(x->message) - used, " (line %u)",
					 x->prog.line[pc]);
	}
}

void kl_ex_tell_endless(struct kl_explorer *x, const struct kl_vm *vm)
{
	kl_ex_tell_waiting(x, vm, "from here on no run ends; these threads wait or loop for ever:");
}

static int tell(struct kl_explorer *x, uint32_t at)
{
	int ret = kl_ex_load(x, at);

	if (ret)
		return ret;
	kl_ex_found(x, KL_EX_ENDLESS, at, -1, false);
	kl_ex_tell_endless(x, &x->before);
	return 0;
}

/*
 * Find the first state without an end, for the verdict.  Unless a short run is asked for, prefer a
 * state from which no other state is reached.
 */
static int find(struct kl_explorer *x, const uint32_t *place, size_t n)
{
	uint32_t first = KL_NO_STATE;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct kl_record *r = head(x, place[i]);

		if (r->ends || r->idle)
			continue;
		if (first == KL_NO_STATE)
			first = place[i];
		if (x->o.shortest)
			break;
		if (r->next != KL_NO_STATE)
			continue;
		first = place[i];
		break;
	}
	return first != KL_NO_STATE ? tell(x, first) : 0;
}

int kl_ex_ends(struct kl_explorer *x)
{
	const uint64_t transitions = x->transitions, states = x->visited.n;
	uint32_t *place = calloc(states + 1, sizeof(*place)), at;
	bool changed = true;
	size_t n = 0, before;
	int ret = 0;

	if (!place)
		return -ENOMEM;
	x->all_reached = true;
	for (at = 0; kl_visited_has(&x->visited, at); at = kl_visited_next(&x->visited, at))
		place[n++] = at;
	while (!ret && changed) {
		do {
			before = n;
			n = pass(x, place, n);
		} while (n < before);
		ret = again(x, place, n, &changed);
	}
	x->transitions = transitions;
	if (!ret)
		ret = find(x, place, n);
	free(place);
	return ret < 0 ? ret : 0;
}

/* ---- without hash compaction -------------------------------------------------------------- */

static int add_exact(struct kl_explorer *x, struct kl_visited *s)
{
	const size_t len = kl_vm_pack(&x->vm, x->packed, &x->names);
	int ret = kl_visited_add(s, kl_visited_hash(s, x->packed, len), x->packed, len, 0,
				 KL_NO_STATE);

	x->vm.nev = 0;
	return ret < 0 ? ret : 0;
}

/*
 * Make the steps of @t from x->before, and count them in *@steps.
 * Return: 1 if a run ends, 0 if not, or a negative errno.
 */
static int steps_exact(struct kl_explorer *x, struct kl_visited *s, unsigned int t,
		       unsigned int *steps)
{
	enum kl_vm_result r;
	int ret = 0;

	x->vm.nchoice = 0;
	do {
		kl_vm_copy(&x->vm, &x->before);
		r = kl_ex_step(x, t, &x->before);
		*steps += r != KL_VM_WAITS;
		/* A run with a false `assume', or with a fault, does not go on for ever. */
		if (r == KL_VM_DROPPED || r == KL_VM_FAULT)
			return 1;
		if (r == KL_VM_OK)
			ret = add_exact(x, s);
	} while (!ret && kl_vm_next_choice(&x->vm));
	kl_vm_copy(&x->vm, &x->before);
	if (ret || !kl_vm_flush(&x->vm, t))
		return ret;
	++*steps;
	return add_exact(x, s);
}

int kl_ex_comes_to_end(struct kl_explorer *x, const struct kl_vm *from)
{
	struct kl_visited s;
	unsigned int t, steps;
	uint32_t at;
	int ret = kl_visited_init(&s, x->o.memory);

	if (ret)
		return ret;
	kl_vm_copy(&x->vm, from);
	ret = add_exact(x, &s);
	for (at = 0; !ret && kl_visited_has(&s, at); at = kl_visited_next(&s, at)) {
		kl_vm_unpack(&x->before, kl_visited_state(&s, at));
		for (t = steps = 0; t < x->prog.nthreads && !ret; t++)
			ret = steps_exact(x, &s, t, &steps);
		if (!ret && !steps)
			ret = 1;
	}
	kl_visited_free(&s);
	return ret;
}

/* ---- what happens later ------------------------------------------------------------------- */

#define LATER_MEMORY	(64u << 20)	/* bound of the search, in bytes */
#define LATER_LOG	256		/* accesses of a step */

/* Return: true if the accesses of the last step store to @addr, or are not all known. */
static bool stores_to(const struct kl_vm *vm, uint32_t addr)
{
	unsigned int i;

	for (i = 0; i < vm->nlog; i++)
		if (vm->log[i].write && vm->log[i].addr == addr)
			return true;
	return vm->nlog == vm->clog;
}

/* Make the steps and the flush of @t from x->before.  Return: as kl_explore_stores_later(). */
static int later_steps(struct kl_explorer *x, struct kl_visited *s, unsigned int t, uint32_t addr)
{
	enum kl_vm_result r;
	int ret = 0;

	x->vm.nchoice = 0;
	do {
		kl_vm_copy(&x->vm, &x->before);
		x->vm.nlog = 0;
		r = kl_ex_step(x, t, &x->before);
		if (r == KL_VM_FAULT || (r == KL_VM_OK && stores_to(&x->vm, addr)))
			return 1;
		if (r == KL_VM_OK)
			ret = add_exact(x, s);
	} while (!ret && kl_vm_next_choice(&x->vm));
	kl_vm_copy(&x->vm, &x->before);
	x->vm.nlog = 0;
	if (ret || !kl_vm_flush(&x->vm, t))
		return ret;
	return stores_to(&x->vm, addr) ? 1 : add_exact(x, s);
}

int kl_explore_stores_later(struct kl_explorer *x, uint32_t addr, uint64_t *states)
{
	struct kl_vm_access log[LATER_LOG];
	struct kl_visited s;
	unsigned int t;
	uint32_t at;
	int ret;

	if (addr >= x->prog.nslots)
		return -ENOENT;
	ret = kl_visited_init(&s, x->o.memory < LATER_MEMORY ? x->o.memory : LATER_MEMORY);
	if (ret)
		return ret;
	kl_vm_copy(&x->vm, &x->shown);
	ret = add_exact(x, &s);
	x->vm.log = log;
	x->vm.clog = LATER_LOG;
	for (at = 0; !ret && kl_visited_has(&s, at); at = kl_visited_next(&s, at)) {
		kl_vm_unpack(&x->before, kl_visited_state(&s, at));
		for (t = 0; t < x->prog.nthreads && !ret; t++)
			ret = later_steps(x, &s, t, addr);
	}
	x->vm.log = NULL;
	*states = s.n;
	kl_visited_free(&s);
	return ret;
}
