// SPDX-License-Identifier: GPL-2.0
/* The accesses to memory of an explorer's run, see run_accesses.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/run_accesses.h"
#include "tso/machine/vm.h"

/* The accesses that wrote the words in memory and in the store buffers. */
struct run_machine {
	uint32_t writer[KL_VM_MEM];	/* the last store to each word that reached memory */
	uint32_t buffer[KL_VM_THREADS][KL_VM_BUFFER];
	unsigned int nbuffer[KL_VM_THREADS];
};

void kl_run_accesses_free(struct kl_run_accesses *a)
{
	free(a->all);
	free(a->machine);
	memset(a, 0, sizeof(*a));
}

/* Return: the newest store to @addr in the thread's buffer, or KL_RUN_NONE. */
static uint32_t in_buffer(const struct kl_run_accesses *a, unsigned int thread, uint32_t addr)
{
	const struct run_machine *m = a->machine;
	unsigned int i;

	for (i = m->nbuffer[thread]; i--;)
		if (a->all[m->buffer[thread][i]].addr == addr)
			return m->buffer[thread][i];
	return KL_RUN_NONE;
}

uint32_t kl_run_source(const struct kl_run_accesses *a, unsigned int thread, uint32_t addr)
{
	const uint32_t own = a->machine ? in_buffer(a, thread, addr) : KL_RUN_NONE;

	if (!a->machine)
		return KL_RUN_NONE;
	return own != KL_RUN_NONE ? own : a->machine->writer[addr];
}

/* Return: a store of another value than @val in another thread's buffer, or KL_RUN_NONE. */
static uint32_t missed(const struct kl_run_accesses *a, unsigned int thread, uint32_t addr,
		       uint64_t val)
{
	unsigned int t;
	uint32_t store;

	for (t = 0; t < KL_VM_THREADS; t++) {
		store = t == thread ? KL_RUN_NONE : in_buffer(a, t, addr);
		if (store != KL_RUN_NONE && a->all[store].val != val)
			return store;
	}
	return KL_RUN_NONE;
}

/* Return: false if the access does not fit those before it. */
static bool add(struct kl_run_accesses *a, const struct kl_vm_access *from, unsigned int step)
{
	struct kl_run_access *to = &a->all[a->n];
	struct run_machine *m = a->machine;
	const unsigned int t = from->thread;

	*to = (struct kl_run_access){
		.step = step, .thread = t, .line = from->line, .addr = from->addr,
		.val = from->val, .write = from->write, .flush = from->write && !from->line,
		.from = KL_RUN_NONE, .missed = KL_RUN_NONE,
	};
	if (!from->write) {
		to->from = kl_run_source(a, t, from->addr);
		to->missed = from->own ? KL_RUN_NONE : missed(a, t, from->addr, from->val);
		if (to->from != KL_RUN_NONE && a->all[to->from].val != from->val)
			return false;
	} else if (to->flush) {
		to->from = m->buffer[t][0];
		if (!m->nbuffer[t] || a->all[to->from].addr != from->addr)
			return false;
		memmove(m->buffer[t], m->buffer[t] + 1, --m->nbuffer[t] * sizeof(m->buffer[t][0]));
		a->all[to->from].left = step;
		m->writer[from->addr] = to->from;
	} else if (from->buffered) {
		m->buffer[t][m->nbuffer[t]++] = a->n;
	} else {
		to->left = step;
		m->writer[from->addr] = a->n;
	}
	a->n++;
	return true;
}

void kl_run_accesses_add(struct kl_run_accesses *a, const struct kl_explore_step *step)
{
	unsigned int i;

	a->cut |= step->cut;
	if (a->err || a->cut)
		return;
	if (!a->machine) {
		a->machine = calloc(1, sizeof(*a->machine));
		if (!a->machine) {
			a->err = -ENOMEM;
			return;
		}
		memset(a->machine->writer, 0xff, sizeof(a->machine->writer));
	}
	a->err = kl_grow(a->all, a->cap, a->n + step->naccesses);
	for (i = 0; i < step->naccesses && !a->err && !a->cut; i++)
		a->cut = !add(a, &step->accesses[i], step->number);
}
