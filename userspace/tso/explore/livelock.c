// SPDX-License-Identifier: GPL-2.0
/*
 * Runs without end.  Under any fair scheduler a run stays in the end among states
 * that it can always come back to; if from a state no end can be reached, its
 * threads wait for what never happens.  Each state knows one that was reached
 * from it; for most this leads to an end.  Of the others all steps are made again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tso/explore/explore_internal.h"

static struct kl_record *head(struct kl_explorer *x, uint32_t at)
{
	return kl_store_head(&x->store, at);
}

/*
 * Ends along the one state that each knows and along the tree, from the last state to the
 * first; those that are left stay in @place.  How many.
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
 * Again with all steps of the states that are left.  1: the search is at its end, as
 * something was found in them or a limit reached, which the verdict says.
 */
static int again(struct kl_explorer *x, const uint32_t *place, size_t n, bool *changed)
{
	size_t i;
	int ret;

	*changed = false;
	for (i = n; i--;) {
		if (head(x, place[i])->ends || head(x, place[i])->idle)
			continue;
		x->ends_reached = false;
		ret = kl_ex_expand(x, place[i]);
		if (ret)
			return ret;
		if (x->facts.refuted)
			return -EAGAIN;
		if (x->ends_reached)
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
	kl_ex_tell_waiting(x, vm, "from here on no run comes to an end: these wait or go round "
			   "for ever:");
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
 * The first state without an end; or better, unless its run should be short, one in which
 * all go round where they are.
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
	const uint64_t transitions = x->transitions, states = x->store.n;
	uint32_t *place = calloc(states + 1, sizeof(*place)), at;
	bool changed = true;
	size_t n = 0, before;
	int ret = 0;

	if (!place)
		return -ENOMEM;
	x->all_reached = true;
	for (at = 0; kl_store_has(&x->store, at); at = kl_store_next(&x->store, at))
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

/* ---- the same without hashes ------------------------------------------------------------ */

static int add_exact(struct kl_explorer *x, struct kl_store *s)
{
	const size_t len = kl_vm_pack(&x->vm, x->packed, &x->names);
	int ret = kl_store_add(s, kl_store_hash(s, x->packed, len), x->packed, len, 0,
			       KL_NO_STATE);

	x->vm.nev = 0;
	return ret < 0 ? ret : 0;
}

/* The steps of @t from x->before; how many there are, in @steps.  1: a run is over; 0; errno. */
static int steps_exact(struct kl_explorer *x, struct kl_store *s, unsigned int t,
		       unsigned int *steps)
{
	enum kl_vm_result r;
	int ret = 0;

	x->vm.nchoice = 0;
	do {
		kl_vm_copy(&x->vm, &x->before);
		r = kl_ex_step(x, t, &x->before);
		*steps += r != KL_VM_WAITS;
		/* A run that is none, or one with a fault, is none that goes on for ever. */
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
	struct kl_store s;
	unsigned int t, steps;
	uint32_t at;
	int ret = kl_store_init(&s, x->o.memory);

	if (ret)
		return ret;
	kl_vm_copy(&x->vm, from);
	ret = add_exact(x, &s);
	for (at = 0; !ret && kl_store_has(&s, at); at = kl_store_next(&s, at)) {
		kl_vm_unpack(&x->before, kl_store_state(&s, at));
		for (t = steps = 0; t < x->prog.nthreads && !ret; t++)
			ret = steps_exact(x, &s, t, &steps);
		if (!ret && !steps)
			ret = 1;
	}
	kl_store_free(&s);
	return ret;
}
