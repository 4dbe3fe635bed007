// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer: the variables that grow, if the search was stopped.  All elements of an array count
 * as one variable.  So do a field in all objects, and all variables of a method.
 */
#include <stdio.h>

#include "tso/explore/explore_internal.h"

#define TOLD	3	/* maximal number of variables that are named */

static size_t first_field(const struct kl_impl *im)
{
	return im->nvars;
}

static size_t first_client(const struct kl_impl *im)
{
	return first_field(im) + (size_t)im->nstructs * KL_FIELDS_MAX;
}

static size_t first_method(const struct kl_impl *im)
{
	return first_client(im) + im->nclient_vars;
}

int kl_ex_growth_init(struct kl_explorer *x)
{
	const struct kl_impl *im = x->spec->impl;

	return kl_growth_init(&x->growth, first_method(im) + im->nmethods);
}

static void note_memory(struct kl_explorer *x, const struct kl_vm *vm)
{
	const struct kl_impl *im = x->spec->impl;
	unsigned int i, k, type;

	for (i = 0; i < im->nvars; i++)
		for (k = 0; k < im->vars[i].len; k++)
			kl_growth_note(&x->growth, i, vm->mem[im->vars[i].slot + k]);
	for (i = 0; i < vm->nobj; i++) {
		type = vm->type[i] & KL_VM_STRUCT;
		for (k = 0; k < im->structs[type].nfields; k++)
			kl_growth_note(&x->growth, first_field(im) + type * KL_FIELDS_MAX + k,
				       vm->mem[im->nslots + i * x->prog.stride + k]);
	}
}

static void note_threads(struct kl_explorer *x, const struct kl_vm *vm)
{
	const struct kl_impl *im = x->spec->impl;
	const struct kl_vm_thread *th;
	uint64_t kept;
	unsigned int t;
	size_t i;

	for (i = 0; i < im->nclient_vars; i++) {
		th = &vm->thread[im->client_vars[i].t];
		if (!th->done && kl_vm_kept(&x->prog, th, 0) >> im->client_vars[i].reg & 1)
			kl_growth_note(&x->growth, first_client(im) + i,
				       th->reg[0][im->client_vars[i].reg]);
	}
	for (t = 0; t < x->prog.nthreads; t++) {
		th = &vm->thread[t];
		if (th->done || th->method < 0)
			continue;
		for (kept = kl_vm_kept(&x->prog, th, 1); kept; kept &= kept - 1)
			kl_growth_note(&x->growth, first_method(im) + th->method,
				       th->reg[1][__builtin_ctzll(kept)]);
	}
}

void kl_ex_growth_note(struct kl_explorer *x, const struct kl_vm *vm)
{
	note_memory(x, vm);
	note_threads(x, vm);
}

static void name_of(const struct kl_explorer *x, size_t i, char *buf, size_t size)
{
	const struct kl_impl *im = x->spec->impl;

	if (i < first_field(im)) {
		snprintf(buf, size, "%s%s", im->vars[i].f.name, im->vars[i].is_array ? "[]" : "");
	} else if (i < first_client(im)) {
		const struct kl_struct *s = &im->structs[(i - first_field(im)) / KL_FIELDS_MAX];

		snprintf(buf, size, "%s->%s", s->name,
			 s->fields[(i - first_field(im)) % KL_FIELDS_MAX].name);
	} else if (i < first_method(im)) {
		const struct kl_client_var *v = &im->client_vars[i - first_client(im)];

		snprintf(buf, size, "%s.%s", v->thread, v->name);
	} else {
		snprintf(buf, size, "a variable of %s()",
			 im->methods[i - first_method(im)].pub.name);
	}
}

const char *kl_explore_grown(struct kl_explorer *x)
{
	char name[80];
	size_t i, used = 0;
	unsigned int n = 0;
	int64_t from, to;

	x->grown[0] = 0;
	for (i = 0; i < x->growth.n && n < TOLD; i++) {
		if (!kl_growth_of(&x->growth, i, &from, &to))
			continue;
		/* A method's copy of a growing variable is not worth naming. */
		if (n && i >= first_client(x->spec->impl))
			break;
		name_of(x, i, name, sizeof(name));
		used += snprintf(x->grown + used, sizeof(x->grown) - used, "%s", n++ ? "; " : "");
		used += kl_growth_print(x->grown + used, sizeof(x->grown) - used, name, from, to);
	}
	if (n)
		snprintf(x->grown + used, sizeof(x->grown) - used,
			 ": without a bound the search does not end; add one, for example an "
			 "'assume' where the variable changes");
	return x->grown;
}
