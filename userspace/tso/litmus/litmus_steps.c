// SPDX-License-Identifier: GPL-2.0
/*
 * The steps of a litmus test's run: the states that a search found are made again, instruction by
 * instruction, and each access is noted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tso/litmus/litmus_story.h"
#include "tso/machine/visited.h"

#define INSNS_MAX	100000	/* instructions between two states of the search */
#define LOG_MAX		8	/* accesses of an instruction */

struct replay {
	struct kl_lit_story *s;
	const struct kl_lit_path *path;
	struct kl_vm_prog coarse, fine;	/* of the search; with an instruction a step */
	uint32_t *line;			/* the number plus 1 of each word of code */
	struct kl_vm vm, before;
	struct kl_vm_access log[LOG_MAX];
	/* the last store to each location that reached memory; those in each thread's buffer */
	size_t writer[KL_LIT_LOCS];
	size_t buffer[KL_VM_THREADS][KL_VM_BUFFER];
	unsigned int nbuffer[KL_VM_THREADS];
	uint8_t packed[KL_VM_PACKED + KL_VISITED_PAD];
};

static struct kl_lit_step *add_step(struct kl_lit_story *s, enum kl_lit_kind kind, unsigned int t,
				    size_t cell)
{
	if (kl_grow(s->steps, s->csteps, s->nsteps + 1))
		return NULL;
	s->steps[s->nsteps] = (struct kl_lit_step){ .kind = kind, .thread = t, .cell = cell };
	return &s->steps[s->nsteps++];
}

static size_t cell_of(const struct replay *r, const struct kl_vm_access *a)
{
	const struct kl_litmus *l = r->s->l;

	return l->cell[a->line - 1] - l->copy;
}

/* Return: the store that the load @a read, or 0. */
static size_t find_writer(const struct replay *r, const struct kl_vm_access *a)
{
	unsigned int i;

	for (i = r->nbuffer[a->thread]; a->own && i--;)
		if (r->s->steps[r->buffer[a->thread][i]].loc == a->addr)
			return r->buffer[a->thread][i];
	return r->writer[a->addr];
}

/* Note a load or store of an instruction that is not locked. */
static int note_access(struct replay *r, const struct kl_vm_access *a)
{
	struct kl_lit_story *s = r->s;
	const size_t number = s->nsteps;
	struct kl_lit_step *step;

	step = add_step(s, a->write ? KL_LIT_STORE : KL_LIT_LOAD, a->thread, cell_of(r, a));
	if (!step)
		return -ENOMEM;
	step->loc = a->addr;
	if (!a->write) {
		step->loaded = a->val;
		step->own = a->own;
		step->from = find_writer(r, a);
		return 0;
	}
	step->stored = a->val;
	if (a->buffered) {
		r->buffer[a->thread][r->nbuffer[a->thread]++] = number;
	} else {
		step->left = number;
		r->writer[a->addr] = number;
	}
	return 0;
}

/* Note the accesses of a locked instruction, which are one step. */
static int note_locked(struct replay *r, unsigned int t)
{
	struct kl_lit_story *s = r->s;
	const size_t number = s->nsteps;
	struct kl_lit_step *step = add_step(s, KL_LIT_LOCKED, t, cell_of(r, &r->log[0]));
	unsigned int i;

	if (!step)
		return -ENOMEM;
	step->loc = r->log[0].addr;
	for (i = 0; i < r->vm.nlog; i++) {
		const struct kl_vm_access *a = &r->log[i];

		if (a->write) {
			step->stores = true;
			step->stored = a->val;
			step->left = number;
			r->writer[a->addr] = number;
		} else {
			step->loaded = a->val;
			step->from = find_writer(r, a);
		}
	}
	return 0;
}

static int flush(struct replay *r, unsigned int t)
{
	const size_t store = r->buffer[t][0], number = r->s->nsteps;
	struct kl_lit_step *step;

	if (!r->nbuffer[t] || !kl_vm_flush(&r->vm, t))
		return -ESTALE;
	r->nbuffer[t]--;
	memmove(r->buffer[t], r->buffer[t] + 1, r->nbuffer[t] * sizeof(r->buffer[t][0]));
	step = add_step(r->s, KL_LIT_FLUSH, t, r->s->steps[store].cell);
	if (!step)
		return -ENOMEM;
	step->loc = r->s->steps[store].loc;
	step->stored = r->s->steps[store].stored;
	step->from = store;
	r->s->steps[store].left = number;
	r->writer[step->loc] = store;
	return 0;
}

/* Make an instruction of @t.  Return: 0 or a negative errno. */
static int instruction(struct replay *r, unsigned int t)
{
	const struct kl_litmus *l = r->s->l;
	const uint32_t pc = r->vm.thread[t].pc[0];
	const unsigned int op = l->code[pc] & 0xff;
	unsigned int i;
	int ret = 0;

	r->vm.nlog = 0;
	if (kl_vm_step(&r->vm, t) != KL_VM_OK || r->vm.nlog == LOG_MAX)
		return -ESTALE;
	if (op == KL_I_FENCE)
		return add_step(r->s, KL_LIT_FENCE, t, l->cell[pc] - l->copy) ? 0 : -ENOMEM;
	if (op == KL_I_BLOCK && r->vm.nlog)
		return note_locked(r, t);
	for (i = 0; i < r->vm.nlog && !ret; i++)
		ret = note_access(r, &r->log[i]);
	return ret;
}

/* Return: true if the machine is in the @n-th state of the path. */
static bool is_at(struct replay *r, size_t n)
{
	const size_t begin = n ? r->path->end[n - 1] : 0;
	struct kl_vm_names names;
	size_t len;

	r->vm.prog = &r->coarse;
	len = kl_vm_pack(&r->vm, r->packed, &names);
	r->vm.prog = &r->fine;
	return len == r->path->end[n] - begin && !memcmp(r->packed, r->path->bytes + begin, len);
}

/* Return: true if a step of @t, or a flush, leads from r->before to the @n-th state. */
static bool leads_to(struct replay *r, size_t n, unsigned int t, bool flushes)
{
	const uint8_t *from = r->path->bytes + (n > 1 ? r->path->end[n - 2] : 0);

	r->vm.prog = &r->coarse;
	kl_vm_unpack(&r->vm, from);
	r->vm.touched = 0;
	r->vm.nlog = 0;
	return (flushes ? kl_vm_flush(&r->vm, t) : kl_vm_step(&r->vm, t) == KL_VM_OK) &&
	       is_at(r, n);
}

/* Go to the @n-th state of the path. */
static int go_to(struct replay *r, size_t n)
{
	const unsigned int threads = r->s->l->nthreads;
	unsigned int t, i;
	int ret = 0;

	/* Each thread's step, then its flush. */
	for (t = 0; t < 2 * threads && !leads_to(r, n, t / 2, t % 2); t++)
		;
	kl_vm_copy(&r->vm, &r->before);
	if (t == 2 * threads)
		return -ESTALE;
	if (t % 2)
		return flush(r, t / 2);
	for (i = 0; i < INSNS_MAX && !ret && (!i || !is_at(r, n)); i++)
		ret = instruction(r, t / 2);
	return i < INSNS_MAX ? ret : -ESTALE;
}

int kl_lit_make_steps(struct kl_lit_story *s, const struct kl_lit_path *path,
		      const struct kl_litmus_options *o)
{
	struct replay *r = calloc(1, sizeof(*r));
	uint64_t init[KL_LIT_LOCS];
	size_t i;
	int ret = r ? 0 : -ENOMEM;

	if (ret)
		return ret;
	r->s = s;
	r->path = path;
	kl_litmus_program(s->l, o, &r->coarse, init);
	r->fine = r->coarse;
	r->fine.merge = r->fine.dead = false;
	r->fine.line = r->line = calloc(s->l->ncode, sizeof(*r->line));
	for (i = 0; r->line && i < s->l->ncode; i++)
		r->line[i] = i + 1;
	/* Step 0 is the first state. */
	s->nsteps = 0;
	if (!r->line || !add_step(s, KL_LIT_FENCE, 0, 0))
		ret = -ENOMEM;
	kl_vm_init(&r->vm, &r->fine, init);
	r->vm.log = r->log;
	r->vm.clog = LOG_MAX;
	for (i = 1; i < path->n && !ret; i++) {
		kl_vm_copy(&r->before, &r->vm);
		ret = go_to(r, i);
	}
	free(r->line);
	free(r);
	return ret;
}
