// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer: which loads of the run a value comes from.  Each register has the loads that its
 * value was computed from.  An instruction that fails or waits thereby names the loads that it
 * fails or waits on.
 *
 *	node *n = head;		load 7 of the run
 *	n = n->next;		load 8; the address comes from load 7
 *	if (n->v == 1)		fails if load 8 read null
 *
 * Branches are not followed: a value that a branch has chosen has no loads of the branch.
 */
#include <stdio.h>
#include <string.h>

#include "tso/explore/explore_internal.h"

static void add_load(struct kl_ex_loads *to, uint32_t load)
{
	unsigned int i;

	for (i = 0; i < to->n; i++)
		if (to->load[i] == load)
			return;
	if (to->n < KL_EX_USES)
		to->load[to->n++] = load;
	else
		to->more = true;
}

/* Return: the loads of two values from which one is computed. */
static struct kl_ex_loads both(const struct kl_ex_loads *x, const struct kl_ex_loads *y)
{
	struct kl_ex_loads sum = *x;
	unsigned int i;

	for (i = 0; i < y->n; i++)
		add_load(&sum, y->load[i]);
	sum.more |= y->more;
	sum.copy = false;
	return sum;
}

static struct kl_ex_loads computed(const struct kl_ex_loads *x)
{
	struct kl_ex_loads y = *x;

	y.copy = false;
	return y;
}

/* Return: the load that the instruction makes next. */
static struct kl_ex_loads next_load(const struct kl_ex_origins *o, const struct kl_vm *vm)
{
	struct kl_ex_loads l = { .more = vm->nlog >= vm->clog };

	if (!l.more) {
		l.load[l.n++] = o->base + vm->nlog;
		l.copy = true;
	}
	return l;
}

static void use(struct kl_ex_origins *o, const struct kl_ex_loads *l, uint64_t value)
{
	o->used = *l;
	o->value = value;
}

static void enter(struct kl_ex_origins *o, const struct kl_vm *vm, unsigned int t,
		  unsigned int method, unsigned int args)
{
	memset(o->reg[t][1], 0, sizeof(o->reg[t][1]));
	memcpy(o->reg[t][1], o->reg[t][0] + args,
	       vm->prog->methods[method].nparams * sizeof(o->reg[t][0][0]));
}

static void leave(struct kl_ex_origins *o, const struct kl_vm *vm, unsigned int t,
		  unsigned int first)
{
	const struct kl_vm_thread *th = &vm->thread[t];

	memcpy(o->reg[t][0] + th->args, o->reg[t][1] + first,
	       vm->prog->methods[th->method].nresults * sizeof(o->reg[t][0][0]));
}

static void look(struct kl_vm_trace *tr, const struct kl_vm *vm, unsigned int t, unsigned int f,
		 uint32_t at)
{
	struct kl_ex_origins *o = (struct kl_ex_origins *)tr;
	const uint32_t insn = vm->prog->code[at];
	const unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff, c = insn >> 24;
	struct kl_ex_loads *reg = o->reg[t][f];
	const uint64_t *val = vm->thread[t].reg[f];

	o->thread = t;
	o->at = at;
	memset(&o->used, 0, sizeof(o->used));
	switch (insn & 0xff) {
	case KL_I_MOV:
		reg[a] = reg[b];
		break;
	case KL_I_CONST:
	case KL_I_ADDR:
	case KL_I_NEW:
	case KL_I_FRESH:
	case KL_I_CHOOSE:
		memset(&reg[a], 0, sizeof(reg[a]));
		break;
	case KL_I_LOAD:
		reg[a] = next_load(o, vm);
		break;
	case KL_I_LOADX:
	case KL_I_READ:
		use(o, &reg[b], val[b]);
		reg[a] = next_load(o, vm);
		break;
	case KL_I_STOREX:
	case KL_I_WRITE:
		use(o, &reg[b], val[b]);
		break;
	case KL_I_ADDRX:
	case KL_I_FIELD:
		use(o, &reg[b], val[b]);
		reg[a] = computed(&reg[b]);
		break;
	case KL_I_DIV:
	case KL_I_MOD:
		use(o, &reg[c], val[c]);
		reg[a] = both(&reg[b], &reg[c]);
		break;
	case KL_I_ADD ... KL_I_MUL:
	case KL_I_AND ... KL_I_NEB:
		reg[a] = both(&reg[b], &reg[c]);
		break;
	case KL_I_NEG:
	case KL_I_INV:
	case KL_I_NOT:
		reg[a] = computed(&reg[b]);
		break;
	case KL_I_ASSUME:
	case KL_I_ASSERT:
		use(o, &reg[a], val[a]);
		break;
	case KL_I_CALL:
		enter(o, vm, t, insn >> 16, a);
		break;
	case KL_I_RETURN:
		leave(o, vm, t, b);
		break;
	default:
		break;
	}
}

void kl_ex_origins_init(struct kl_ex_origins *o)
{
	memset(o, 0, sizeof(*o));
	o->trace.fn = look;
}

void kl_ex_origins_save(struct kl_ex_origins *o)
{
	memcpy(o->saved, o->reg, sizeof(o->saved));
}

void kl_ex_origins_restore(struct kl_vm *vm)
{
	struct kl_ex_origins *o = (struct kl_ex_origins *)vm->trace;

	if (o)
		memcpy(o->reg, o->saved, sizeof(o->reg));
}

/* Return: the use of a load; the accesses of a step that comes after the run are in @log. */
static struct kl_explore_use use_of(uint32_t load, uint32_t base, const struct kl_vm_access *log)
{
	const struct kl_vm_access *a = load < base ? NULL : &log[load - base];

	return (struct kl_explore_use){
		.load = load, .after = a, .addr = a ? a->addr : 0, .val = a ? a->val : 0,
		.own = a && a->own,
	};
}

void kl_ex_note_end(struct kl_explorer *x, const struct kl_ex_origins *o,
		    enum kl_explore_end_kind kind, int thread)
{
	struct kl_explore_end *e = &x->ends[x->nends];
	const struct kl_vm_thread *th = thread < 0 ? NULL : &x->shown.thread[thread];
	const uint32_t pc = kind == KL_EX_LOOPS ? th->pc[th->method >= 0] : o->at;
	unsigned int i;

	if (x->nends == KL_VM_THREADS)
		return;
	x->nends++;
	*e = (struct kl_explore_end){
		.kind = kind, .thread = thread, .line = x->prog.line ? x->prog.line[pc] : 0,
		.value = o->value,
	};
	if (kind == KL_EX_FAILS)
		snprintf(e->what, sizeof(e->what), "%s", strstr(x->vm.error, ": ") ?
			 strstr(x->vm.error, ": ") + 2 : x->vm.error);
	/* An error that another instruction than the last has shown is about no value. */
	if (kind == KL_EX_LOOPS || (kind == KL_EX_FAILS && x->vm.error_pc != o->at))
		return;
	e->op = x->prog.code[o->at] & 0xff;
	e->copy = o->used.copy;
	e->more = o->used.more;
	e->nuses = o->used.n;
	for (i = 0; i < o->used.n; i++) {
		const uint32_t load = o->used.load[i];

		if (kind == KL_EX_FAILS && thread >= 0)
			e->use[i].load = load;
		else
			e->use[i] = use_of(load, o->base, x->vm.log);
	}
}

void kl_ex_note_load(struct kl_explorer *x, const struct kl_vm_access *a, uint32_t load)
{
	struct kl_explore_end *e = &x->ends[x->nends - 1];
	unsigned int i;

	if (a->write || a->thread != (unsigned int)e->thread)
		return;
	for (i = 0; i < e->nuses; i++)
		if (e->use[i].addr == a->addr)
			return;
	if (e->nuses < KL_EX_USES)
		e->use[e->nuses++] = (struct kl_explore_use){
			.load = load, .after = true, .addr = a->addr, .val = a->val, .own = a->own,
		};
	else
		e->more = true;
}
