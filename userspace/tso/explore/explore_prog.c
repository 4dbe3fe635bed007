// SPDX-License-Identifier: GPL-2.0
/* The explorer: the program that it runs, and facts that random walks refute beforehand. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "tso/explore/explore_internal.h"

#define WALKS		12
#define WALK_STEPS	200
#define ENOUGH		3	/* walks in a row that refute nothing, after which walking ends */

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

/* Group threads with the same code. */
static void set_groups(struct kl_vm_prog *p)
{
	unsigned int t, u;

	for (t = 0; t < p->nthreads; t++) {
		const size_t n = (t + 1 < p->nthreads ? p->start[t + 1] : p->ncode) - p->start[t];

		p->group[t] = 1u << t;
		for (u = 0; u < t; u++) {
			if (p->start[u + 1] - p->start[u] != n ||
			    memcmp(p->code + p->start[u], p->code + p->start[t],
				   n * sizeof(*p->code)))
				continue;
			p->group[u] |= 1u << t;
			p->group[t] |= 1u << u | p->group[u];
		}
	}
}

int kl_ex_program(struct kl_explorer *x)
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
	x->spec->ncode = ncode;	/* the code stays valid until the next client is compiled */
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
		x->structs[i] = (struct kl_vm_struct){ im->structs[i].name,
						       im->structs[i].nfields };
		if (p->stride < im->structs[i].nfields)
			p->stride = im->structs[i].nfields;
	}
	p->sc = x->o.sc;
	p->merge = !x->o.no_merge;
	p->dead = !x->o.no_dead;
	p->canon = !x->o.no_canon;
	p->hidden = !x->o.no_hidden;
	p->symmetry = !x->o.no_symmetry;
	set_groups(p);
	if (!x->o.no_facts && p->merge)
		p->facts = &x->facts;
	ret = set_pool(x);
	return ret ? ret : set_live(x);
}

/* Run the code of `init' or `final', which runs alone and with empty buffers. */
enum kl_vm_result kl_ex_run_alone(struct kl_explorer *x, struct kl_vm *vm, uint32_t code)
{
	const struct kl_vm_prog *all = vm->prog;
	struct kl_vm_prog alone = *all;
	enum kl_vm_result ret = KL_VM_OK;

	alone.nthreads = 1;
	alone.start[0] = code;
	alone.nregs[0] = x->spec->impl->nregs;
	alone.sc = true;
	alone.merge = true;
	alone.facts = NULL;
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

int kl_ex_first_state(struct kl_explorer *x)
{
	const struct kl_impl *im = x->spec->impl;
	uint64_t init[KL_IMPL_SLOTS] = { 0 };
	unsigned int i, j;

	for (i = 0; i < im->nvars; i++)
		for (j = 0; j < im->vars[i].len; j++)
			init[im->vars[i].slot + j] = from_val(im->vars[i].init);
	kl_vm_init(&x->vm, &x->prog, init);
	x->before.prog = &x->prog;
	if (im->init_code && kl_ex_run_alone(x, &x->vm, im->init_code) != KL_VM_OK) {
		kl_err("%s: init: %s", x->spec->path,
		       x->vm.error[0] ? x->vm.error : "an 'assume' is false");
		return -EINVAL;
	}
	return 0;
}

/* Make a random step or flush.  Return: false if none is possible. */
static bool walk_step(struct kl_explorer *x, uint64_t *seed)
{
	const unsigned int n = x->prog.nthreads, first = kl_rand_below(seed, 2 * n);
	enum kl_vm_result r;
	unsigned int i, t;

	for (i = 0; i < 2 * n; i++) {
		t = (first + i) % (2 * n);
		if (t >= n) {
			if (kl_vm_flush(&x->vm, t - n))
				break;
			continue;
		}
		kl_vm_copy(&x->before, &x->vm);
		x->vm.nchoice = 0;
		for (;;) {
			r = kl_vm_step(&x->vm, t);
			if (!kl_rand_below(seed, 2) || !kl_vm_next_choice(&x->vm))
				break;
			kl_vm_copy(&x->vm, &x->before);
		}
		if (r == KL_VM_OK)
			break;
		kl_vm_copy(&x->vm, &x->before);
	}
	x->vm.nev = 0;
	return i < 2 * n;
}

/* Without the random walks, a search would begin anew for each fact that it refutes. */
int kl_ex_learn(struct kl_explorer *x)
{
	unsigned int i, k, since = 0;
	uint64_t seed = 1;
	int ret;

	if (!x->prog.facts)
		return 0;
	for (i = 0; i < WALKS && since < ENOUGH; i++) {
		kl_facts_begin(&x->facts);
		ret = kl_ex_first_state(x);
		if (ret)
			return ret;
		for (k = 0; k < WALK_STEPS && walk_step(x, &seed); k++)
			;
		since = x->facts.refuted ? 0 : since + 1;
	}
	return 0;
}
