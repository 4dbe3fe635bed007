// SPDX-License-Identifier: GPL-2.0
/* The explorer: threads that wait in loops for what no one will write. */
#include <string.h>

#include "tso/explore_internal.h"

#define LOOP_MAX	64		/* steps of a loop */

static bool is_at(const struct kl_explorer *x, int64_t len, uint32_t at)
{
	return len == kl_store_head(&x->store, at)->len &&
	       x->set == kl_store_head(&x->store, at)->tag &&
	       !memcmp(x->packed, kl_store_state(&x->store, at), len);
}

static bool changed(const struct kl_explorer *x, unsigned int t)
{
	return x->vm.nmem != x->before.nmem ||
	       x->vm.thread[t].nbuf != x->before.thread[t].nbuf ||
	       memcmp(x->vm.mem, x->before.mem, x->vm.nmem * sizeof(*x->vm.mem));
}

/* Does @t alone come back to the state at @at, and does nothing but read until then? */
static int comes_back(struct kl_explorer *x, unsigned int t, uint32_t set, uint32_t at)
{
	unsigned int i;
	int64_t len;
	int ret;

	kl_vm_copy(&x->vm, &x->before);
	x->set = set;
	for (i = 0; i < LOOP_MAX; i++) {
		x->vm.nchoice = 0;
		if (kl_vm_step(&x->vm, t) != KL_VM_OK || x->vm.at_choice || x->vm.nev ||
		    changed(x, t))
			return 0;
		ret = kl_ex_after(x, t);
		if (ret != 1)
			return ret < 0 ? ret : 0;
		if (memcmp(x->vm.thread[t].pc, x->before.thread[t].pc,
			   sizeof(x->vm.thread[t].pc)))
			continue;
		len = kl_ex_pack(x);
		if (len < 0)
			return len;
		if (is_at(x, len, at))
			return 1;
	}
	return 0;
}

int kl_ex_spins(struct kl_explorer *x, uint32_t set, uint32_t at)
{
	const struct kl_vm_prog *p = &x->prog;
	unsigned int t, open = 0;
	int ret;

	for (t = 0; t < p->nthreads; t++) {
		if (kl_vm_has_writes(&x->before.thread[t]))
			return 0;
		open += !x->before.thread[t].done;
	}
	if (!open)
		return 0;
	for (t = 0; t < p->nthreads; t++) {
		if (x->before.thread[t].done)
			continue;
		ret = comes_back(x, t, set, at);
		if (ret != 1)
			return ret;
	}
	return 1;
}
