// SPDX-License-Identifier: GPL-2.0
/* The x86-TSO machine: steps of threads, and flushes of buffers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tso/machine/invariants.h"
#include "tso/machine/vm.h"

#define STEPS_MAX	100000		/* instructions of a step */
/* Quiet accesses in a step, at most: enough for most loops, and a bound for endless ones. */
#define QUIET_MAX	60

enum block { NONE, BUFFERED, LOCKED };

/* The step that is being made. */
struct step {
	struct kl_vm *vm;
	struct kl_vm_thread *th;
	unsigned int t;
	enum block block;
	unsigned int first;		/* index in the buffer of the block's first entry */
	bool acted;			/* the step has made its visible access */
	unsigned int nquiet;		/* number of quiet accesses, see is_quiet() */
	unsigned int first_stop;	/* number of instructions before the step may end */
	unsigned int limit;		/* greatest number of instructions */
	unsigned int decide;		/* if not 0, the step stops after so many choices */
};

void kl_vm_init(struct kl_vm *vm, const struct kl_vm_prog *prog, const uint64_t *init)
{
	unsigned int t;

	memset(vm, 0, sizeof(*vm));
	vm->prog = prog;
	vm->nmem = prog->nslots;
	memcpy(vm->mem, init, prog->nslots * sizeof(*init));
	for (t = 0; t < prog->nthreads; t++) {
		vm->thread[t].pc[0] = prog->start[t];
		vm->thread[t].method = -1;
	}
}

/* Copy a few words; a call of memcpy() would take longer. */
static inline void copy_words(uint64_t *to, const uint64_t *from, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		to[i] = from[i];
}

static void copy_threads(struct kl_vm *to, const struct kl_vm *from, uint32_t which)
{
	const struct kl_vm_prog *p = from->prog;

	for (; which; which &= which - 1) {
		const struct kl_vm_thread *f = &from->thread[__builtin_ctz(which)];
		struct kl_vm_thread *th = &to->thread[__builtin_ctz(which)];

		memcpy(th, f, offsetof(struct kl_vm_thread, buf));
		memcpy(th->buf, f->buf, f->nbuf * sizeof(*f->buf));
		copy_words(th->reg[0], f->reg[0], p->nregs[0]);
		copy_words(th->reg[1], f->reg[1], p->nregs[1]);
	}
}

void kl_vm_undo(struct kl_vm *vm, const struct kl_vm *from)
{
	copy_threads(vm, from, vm->touched);
	vm->nobj = from->nobj;
	vm->nmem = from->nmem;
	copy_words(vm->mem, from->mem, from->nmem);
	memcpy(vm->type, from->type, from->nobj);
	vm->taken = from->taken;
	vm->nev = 0;
	vm->wrote = false;
	vm->touched = 0;
}

void kl_vm_copy(struct kl_vm *to, const struct kl_vm *from)
{
	to->prog = from->prog;
	to->touched = (1u << from->prog->nthreads) - 1;
	kl_vm_undo(to, from);
}

static enum kl_vm_result fault(struct step *s, uint32_t pc, const char *what)
{
	const struct kl_vm_prog *p = s->vm->prog;

	if (p->line)
		snprintf(s->vm->error, sizeof(s->vm->error), "line %u: %s", p->line[pc], what);
	else
		snprintf(s->vm->error, sizeof(s->vm->error), "%s", what);
	s->vm->limit = false;
	s->vm->error_pc = pc;
	return KL_VM_FAULT;
}

/* Report that the program exceeds a bound of the machine, which is no fault of the program. */
static enum kl_vm_result out_of_room(struct step *s, uint32_t pc, const char *what)
{
	fault(s, pc, what);
	s->vm->limit = true;
	return KL_VM_FAULT;
}

static struct kl_vm_event *event(struct kl_vm *vm, enum kl_vm_event_kind kind, unsigned int t)
{
	struct kl_vm_event *e = &vm->ev[vm->nev++];

	/* A step has at most KL_VM_EVENTS events, and the caller takes them after each step. */
	if (vm->nev > KL_VM_EVENTS)
		abort();
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->thread = t;
	return e;
}

static void drop_oldest(struct kl_vm_thread *th, unsigned int n)
{
	th->nbuf -= n;
	memmove(th->buf, th->buf + n, th->nbuf * sizeof(*th->buf));
}

static void pop_marker(struct kl_vm *vm, unsigned int t)
{
	struct kl_vm_thread *th = &vm->thread[t];

	event(vm, th->buf[0].kind == KL_VM_CALL ? KL_VM_EVENT_FLUSH_CALL : KL_VM_EVENT_FLUSH_RET,
	      t);
	drop_oldest(th, 1);
}

bool kl_vm_has_writes(const struct kl_vm_thread *th)
{
	unsigned int i;

	for (i = 0; i < th->nbuf; i++)
		if (th->buf[i].kind == KL_VM_WRITE)
			return true;
	return false;
}

bool kl_vm_empty_layer(const struct kl_vm *vm, unsigned int t)
{
	const struct kl_vm_thread *th = &vm->thread[t];

	return th->nbuf > 1 && th->buf[0].kind == KL_VM_CALL && th->buf[1].kind == KL_VM_RET;
}

static void log_access(struct kl_vm *vm, unsigned int t, uint32_t pc, uint32_t addr, uint64_t val,
		       bool write, bool buffered, bool own)
{
	if (vm->log && vm->nlog < vm->clog)
		vm->log[vm->nlog++] = (struct kl_vm_access){
			.addr = addr, .val = val, .thread = t, .write = write,
			.buffered = buffered, .own = own,
			.line = vm->prog->line && pc != UINT32_MAX ? vm->prog->line[pc] : 0,
		};
}

bool kl_vm_flush(struct kl_vm *vm, unsigned int t)
{
	struct kl_vm_thread *th = &vm->thread[t];
	unsigned int n;

	if (!th->nbuf)
		return false;
	vm->touched |= 1u << t;
	if (!vm->prog->merge && th->buf[0].kind != KL_VM_WRITE) {
		pop_marker(vm, t);
		return true;
	}
	if (th->buf[0].kind == KL_VM_CALL) {
		if (th->nbuf == 1)
			return false;
		pop_marker(vm, t);
	}
	for (n = 0; n < th->nbuf && th->buf[n].kind == KL_VM_WRITE; n++) {
		kl_facts_write(vm, t, th->buf[n].addr, th->buf[n].val);
		vm->mem[th->buf[n].addr] = th->buf[n].val;
		log_access(vm, t, UINT32_MAX, th->buf[n].addr, th->buf[n].val, true, false, false);
		if (!th->buf[n].more) {
			n++;
			break;
		}
	}
	drop_oldest(th, n);
	if (vm->prog->merge && th->nbuf && th->buf[0].kind == KL_VM_RET)
		pop_marker(vm, t);
	return true;
}

bool kl_vm_next_choice(struct kl_vm *vm)
{
	unsigned int n = vm->at_choice;

	while (n && vm->choice[n - 1] + 1u >= vm->choices[n - 1])
		n--;
	vm->nchoice = n;
	if (!n)
		return false;
	vm->choice[n - 1]++;
	return true;
}

/* Set @out to one of @n alternatives.  Return: false if there are too many, or too many choices. */
static bool choose(struct step *s, uint64_t n, unsigned int *out)
{
	struct kl_vm *vm = s->vm;
	unsigned int i = vm->at_choice;

	if (n > 255 || i == sizeof(vm->choice))
		return false;
	if (i >= vm->nchoice)
		vm->choice[i] = 0;
	vm->choices[i] = n;
	vm->at_choice++;
	if (!s->block)
		vm->ndecided = vm->at_choice;
	*out = vm->choice[i];
	return true;
}

static bool push(struct step *s, enum kl_vm_kind kind, uint32_t addr, uint64_t val)
{
	struct kl_vm_thread *th = s->th;

	if (th->nbuf == KL_VM_BUFFER)
		return false;
	th->buf[th->nbuf++] = (struct kl_vm_entry){ .kind = kind, .addr = addr, .val = val };
	return true;
}

static uint64_t load(struct step *s, uint32_t pc, uint32_t addr)
{
	unsigned int i;

	for (i = s->th->nbuf; i--;) {
		const struct kl_vm_entry *e = &s->th->buf[i];

		if (e->kind == KL_VM_WRITE && e->addr == addr) {
			log_access(s->vm, s->t, pc, addr, e->val, false, false, true);
			return e->val;
		}
	}
	log_access(s->vm, s->t, pc, addr, s->vm->mem[addr], false, false, false);
	return s->vm->mem[addr];
}


/* Other threads may get @v: if it points to a hidden object, unhide all that it reaches. */
static void publish(struct kl_vm *vm, uint64_t v)
{
	const struct kl_vm_prog *p = vm->prog;
	unsigned int i;
	int obj;

	if (!p->hidden || !kl_vm_is_ptr(v))
		return;
	obj = kl_vm_object(vm, v - KL_VM_PTR);
	if (obj < 0 || !(vm->type[obj] & KL_VM_HIDDEN))
		return;
	vm->type[obj] &= ~KL_VM_HIDDEN;
	for (i = 0; i < p->structs[vm->type[obj] & KL_VM_STRUCT].nfields; i++)
		publish(vm, vm->mem[p->nslots + obj * p->stride + i]);
}

/*
 * Store @val.  A store to a hidden object goes to memory at once: in a buffer it would leave before
 * the store that publishes the object, so nobody can notice the difference.
 */
static bool store(struct step *s, uint32_t pc, uint32_t addr, uint64_t val)
{
	const bool hidden = kl_vm_hidden(s->vm, addr);
	const bool direct = hidden || s->vm->prog->sc || s->block == LOCKED;

	if (!hidden)
		publish(s->vm, val);
	if (direct && !hidden)
		kl_facts_write(s->vm, s->t, addr, val);

	log_access(s->vm, s->t, pc, addr, val, true, !direct, false);
	if (!direct)
		return push(s, KL_VM_WRITE, addr, val);
	s->vm->mem[addr] = val;
	return true;
}

/*
 * Execute a barrier.  It waits until the buffer has no stores; with prog->merge it then removes the
 * markers.  Return: false if the barrier must wait.
 */
static bool drain_buffer(struct step *s)
{
	if (kl_vm_has_writes(s->th))
		return false;
	if (!s->vm->prog->merge)
		return !s->th->nbuf;
	while (s->th->nbuf)
		pop_marker(s->vm, s->t);
	return true;
}

static void end_block(struct step *s)
{
	unsigned int i;

	if (s->block == BUFFERED)
		for (i = s->first; i + 1 < s->th->nbuf; i++)
			s->th->buf[i].more = true;
	s->block = NONE;
	s->acted = true;
}

static bool enter(struct step *s, unsigned int method, unsigned int args)
{
	const struct kl_vm_prog *p = s->vm->prog;
	const struct kl_vm_method *m = &p->methods[method];
	struct kl_vm_event *e = event(s->vm, KL_VM_EVENT_CALL, s->t);

	memset(s->th->reg[1], 0, p->nregs[1] * sizeof(uint64_t));
	memcpy(s->th->reg[1], s->th->reg[0] + args, m->nparams * sizeof(uint64_t));
	e->method = method;
	e->n = m->nparams;
	memcpy(e->val, s->th->reg[1], m->nparams * sizeof(uint64_t));
	s->th->method = method;
	s->th->args = args;
	s->th->pc[1] = m->start;
	return p->sc || push(s, KL_VM_CALL, 0, 0);
}

static bool leave(struct step *s, unsigned int first)
{
	const struct kl_vm_prog *p = s->vm->prog;
	const struct kl_vm_method *m = &p->methods[s->th->method];
	struct kl_vm_event *e = event(s->vm, KL_VM_EVENT_RET, s->t);

	memcpy(s->th->reg[0] + s->th->args, s->th->reg[1] + first, m->nresults * sizeof(uint64_t));
	e->method = s->th->method;
	e->n = m->nresults;
	memcpy(e->val, s->th->reg[1] + first, m->nresults * sizeof(uint64_t));
	memset(s->th->reg[1], 0, p->nregs[1] * sizeof(uint64_t));
	s->th->method = -1;
	s->th->pc[1] = 0;
	s->acted = true;
	if (p->sc)
		return true;
	if (!push(s, KL_VM_RET, 0, 0))
		return false;
	if (p->merge && s->th->nbuf == 1)
		pop_marker(s->vm, s->t);
	return true;
}


static uint64_t new_object(struct kl_vm *vm, unsigned int type)
{
	const struct kl_vm_prog *p = vm->prog;
	uint32_t at = vm->nmem;

	if (vm->nobj == KL_VM_OBJECTS || at + p->stride > KL_VM_MEM)
		return 0;
	memset(vm->mem + at, 0, p->stride * sizeof(*vm->mem));
	vm->type[vm->nobj++] = type | (p->hidden ? KL_VM_HIDDEN : 0);
	vm->nmem += p->stride;
	return KL_VM_PTR + at;
}

static void collect_data(uint64_t *mask, const uint64_t *v, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (kl_vm_is_data(v[i]))
			*mask |= 1ULL << (v[i] - KL_VM_DATA);
}

uint64_t kl_vm_data(const struct kl_vm *vm)
{
	const struct kl_vm_prog *p = vm->prog;
	uint64_t mask = 0;
	unsigned int t, i;

	collect_data(&mask, vm->mem, vm->nmem);
	for (t = 0; t < p->nthreads; t++) {
		collect_data(&mask, vm->thread[t].reg[0], p->nregs[0]);
		collect_data(&mask, vm->thread[t].reg[1], p->nregs[1]);
		for (i = 0; i < vm->thread[t].nbuf; i++)
			collect_data(&mask, &vm->thread[t].buf[i].val, 1);
	}
	return mask;
}

/* Return: a data value that occurs neither in the state nor in the specification's states, or 0. */
static uint64_t fresh_data(const struct kl_vm *vm)
{
	const uint64_t mask = kl_vm_data(vm) | vm->taken | 1;

	return ~mask ? KL_VM_DATA + __builtin_ctzll(~mask) : 0;
}

/*
 * Choose the data of a new call: a fresh value, or, if data may repeat, any value that occurs.
 * Return: the value, or 0 if the numbers of data or the choices are used up.
 */
static uint64_t new_data(struct step *s)
{
	const struct kl_vm *vm = s->vm;
	uint64_t live = kl_vm_data(vm) | vm->taken;
	unsigned int i = 0;

	live &= ~1ULL;
	if (!vm->prog->again || !live)
		return fresh_data(vm);
	if (!choose(s, 1 + __builtin_popcountll(live), &i))
		return 0;
	if (!i)
		return fresh_data(vm);
	while (--i)
		live &= live - 1;
	return KL_VM_DATA + __builtin_ctzll(live);
}

static void note_comparison(const struct kl_vm_prog *p, uint64_t x, uint64_t y)
{
	if (p->compared && kl_vm_is_data(x) && kl_vm_is_data(y))
		*p->compared = true;
}

/* Return: true if the result @v of arithmetic looks like a pointer, data or a special value. */
static bool out_of_range(const struct kl_vm_prog *p, uint64_t v)
{
	return !p->raw && v >> 61 && v >> 61 != 7;
}

/*
 * Return: true if the result of arithmetic is not known, because it depends on the numeric value of
 * an address.  Only a result of 0, or equal to an operand, is known.
 */
static bool arith_on_address(uint64_t result, uint64_t x, uint64_t y)
{
	return (kl_vm_is_ptr(x) || kl_vm_is_ptr(y)) && result && result != x && result != y;
}

static int arith_op(enum kl_opcode op)
{
	static const int ops[] = {
		'+', '-', '*', '/', '%', '&', '|', '^', KL_OP_SHL, KL_OP_SHR,
	};

	return ops[op - KL_I_ADD];
}

/*
 * Return: true if the time of a read from @addr does not matter.  A loop may wait for a change of a
 * word that never changes; QUIET_MAX ends its step.
 */
static bool is_quiet(struct step *s, uint32_t addr)
{
	return kl_vm_hidden(s->vm, addr) ||
	       (kl_facts_constant(s->vm, s->t, addr) && s->nquiet++ < QUIET_MAX);
}

/* The instructions for which ends_step() can be true. */
static const bool may_stop[KL_I_COUNT_] = {
	[KL_I_READ] = true, [KL_I_WRITE] = true, [KL_I_LOAD] = true, [KL_I_LOADX] = true,
	[KL_I_STORE] = true, [KL_I_STOREX] = true, [KL_I_FENCE] = true, [KL_I_BLOCK] = true,
	[KL_I_CHOOSE] = true, [KL_I_EITHER] = true, [KL_I_CALL] = true,
};

/* Return: true if this instruction must begin a new step. */
static bool ends_step(struct step *s, const uint32_t *code, const uint64_t *reg)
{
	const uint32_t insn = *code;
	const unsigned int b = insn >> 16 & 0xff;
	uint32_t addr;

	switch ((enum kl_opcode)(insn & 0xff)) {
	case KL_I_READ:
		addr = kl_vm_address(s->vm, reg[b], insn >> 24);
		return s->acted && (addr == UINT32_MAX || !is_quiet(s, addr));
	case KL_I_WRITE:
		addr = kl_vm_address(s->vm, reg[b], insn >> 24);
		return s->acted && s->vm->prog->sc &&
		       (addr == UINT32_MAX || !kl_vm_hidden(s->vm, addr));
	case KL_I_LOAD:
		return s->acted && !is_quiet(s, insn >> 16);
	case KL_I_LOADX:
		addr = kl_vm_element(code[1], reg[b]);
		return s->acted && (addr == UINT32_MAX || !is_quiet(s, addr));
	case KL_I_STORE:
	case KL_I_STOREX:
		return s->acted && s->vm->prog->sc;
	case KL_I_FENCE:
		return s->acted && s->th->nbuf;
	case KL_I_BLOCK:
	case KL_I_CHOOSE:
	case KL_I_EITHER:
	case KL_I_CALL:
		return s->acted;
	default:
		return false;
	}
}

static enum kl_vm_result run_step(struct step *sp);

/* Return: true if the next instruction can belong to a loop within one step. */
static bool may_loop(const struct step *s)
{
	const unsigned int f = s->th->method >= 0;
	const uint32_t *code = &s->vm->prog->code[s->th->pc[f]];
	const enum kl_opcode op = *code & 0xff;
	struct step probe = *s;

	/* A second visible access ends the step. */
	probe.acted = true;
	if (!s->block && may_stop[op] && ends_step(&probe, code, s->th->reg[f]))
		return false;
	switch (op) {
	case KL_I_NEW:
	case KL_I_FRESH:
	case KL_I_CHOOSE:
	case KL_I_EITHER:
	case KL_I_BLOCK:
	case KL_I_END:
	case KL_I_FENCE:
	case KL_I_CALL:
	case KL_I_RETURN:
	case KL_I_STOP:
		return false;
	default:
		return true;
	}
}

static bool same_state(const struct kl_vm *a, const struct kl_vm *b, unsigned int t)
{
	const struct kl_vm_thread *x = &a->thread[t], *y = &b->thread[t];
	const unsigned int f = x->method >= 0;

	return x->pc[f] == y->pc[f] && x->nbuf == y->nbuf &&
	       !memcmp(x->reg[f], y->reg[f], a->prog->nregs[f] * sizeof(x->reg[f][0])) &&
	       !memcmp(a->mem, b->mem, a->nmem * sizeof(*a->mem));
}

/*
 * A step has reached STEPS_MAX instructions.  The step never ends if it repeats a state.  Brent's
 * algorithm finds this: it compares each state with a remembered one, which is replaced after 1, 2,
 * 4, 8, ... instructions, so that the remembered state is in the loop at last.
 */
static enum kl_vm_result find_endless_loop(struct step *s)
{
	struct kl_vm *vm = s->vm, *was = malloc(sizeof(*was));
	struct step one = *s;
	bool round = false;
	unsigned int i;
	uint32_t pc;

	one.limit = one.first_stop = 1;
	for (i = 1; was && !round && i < STEPS_MAX; i++) {
		if (!(i & (i - 1)))
			memcpy(was, vm, sizeof(*was));
		if (!may_loop(s) || run_step(&one) != KL_VM_OK)
			break;
		round = same_state(vm, was, s->t);
	}
	free(was);
	pc = s->th->pc[s->th->method >= 0];
	return round ? fault(s, pc, "an endless loop that accesses no memory") :
		       out_of_room(s, pc, "more instructions between two accesses to memory than "
				   "the explorer follows");
}

/* Execute instructions until the step ends; @sp has its bounds. */
static enum kl_vm_result run_step(struct step *sp)
{
	struct step s = *sp;
	struct kl_vm *vm = s.vm;
	const unsigned int t = s.t;
	const struct kl_vm_prog *p = vm->prog;
	struct kl_vm_thread *th = s.th;
	unsigned int count;

	for (count = 0; count < s.limit; count++) {
		const unsigned int f = th->method >= 0;
		const uint32_t base = f ? p->methods[th->method].start : p->start[t];
		const uint32_t at = th->pc[f], insn = p->code[at];
		enum kl_opcode op = insn & 0xff;
		unsigned int a = insn >> 8 & 0xff, b = insn >> 16 & 0xff, c = insn >> 24, i;
		unsigned int imm = insn >> 16;
		uint64_t *reg = th->reg[f];
		uint32_t addr, array;

		if (s.decide && vm->ndecided == s.decide)
			return KL_VM_OK;
		if (count >= s.first_stop && !s.block &&
		    (!p->merge || (may_stop[op] && ends_step(&s, &p->code[at], th->reg[f]))))
			return KL_VM_OK;
		if (vm->trace)
			vm->trace->fn(vm->trace, vm, t, f, at);
		vm->touched |= 1u << t;
		th->pc[f]++;
		switch (op) {
		case KL_I_MOV:
			reg[a] = reg[b];
			break;
		case KL_I_CONST:
			reg[a] = p->pool[imm];
			break;
		case KL_I_LOAD:
			s.acted |= !is_quiet(&s, imm);
			reg[a] = load(&s, at, imm);
			break;
		case KL_I_STORE:
			if (!store(&s, at, imm, reg[a]))
				goto full;
			s.acted = true;
			break;
		case KL_I_LOADX:
		case KL_I_STOREX:
		case KL_I_ADDRX:
			array = p->code[th->pc[f]++];
			addr = kl_vm_element(array, reg[b]);
			if (addr == UINT32_MAX)
				return fault(&s, at, "the index is out of bounds of its array");
			s.acted |= op == KL_I_STOREX || (op == KL_I_LOADX && !is_quiet(&s, addr));
			if (op == KL_I_LOADX)
				reg[a] = load(&s, at, addr);
			else if (op == KL_I_ADDRX)
				reg[a] = KL_VM_PTR + addr;
			else if (!store(&s, at, addr, reg[a]))
				goto full;
			break;
		case KL_I_READ:
		case KL_I_WRITE:
			addr = kl_vm_address(vm, reg[b], c);
			if (addr == UINT32_MAX)
				return fault(&s, at, reg[b] ?
					     "access to memory that does not exist" :
					     "access through a null pointer");
			s.acted |= op == KL_I_READ ? !is_quiet(&s, addr) : !kl_vm_hidden(vm, addr);
			if (op == KL_I_READ)
				reg[a] = load(&s, at, addr);
			else if (!store(&s, at, addr, reg[a]))
				goto full;
			break;
		case KL_I_ADDR:
			reg[a] = KL_VM_PTR + imm;
			break;
		case KL_I_FIELD:
			if (kl_vm_address(vm, reg[b], c) == UINT32_MAX)
				return fault(&s, at, "access through a null pointer");
			reg[a] = reg[b] + c;
			break;
		case KL_I_NEW:
			reg[a] = new_object(vm, imm);
			if (!reg[a])
				return out_of_room(&s, at, "too many objects for the explorer");
			break;
		case KL_I_FRESH:
			reg[a] = new_data(&s);
			if (!reg[a])
				return out_of_room(&s, at, "too many data values for the explorer");
			break;
		case KL_I_DIV:
		case KL_I_MOD:
			if (!reg[c])
				return fault(&s, at, "division by zero");
			/* fall through */
		case KL_I_ADD:
		case KL_I_SUB:
		case KL_I_MUL:
		case KL_I_AND ... KL_I_SHR:
			if (!p->raw && (kl_vm_is_data(reg[b]) || kl_vm_is_data(reg[c])))
				return fault(&s, at,
					     "arithmetic on data, which can only be copied and "
					     "compared");
			if (p->raw && arith_on_address(kl_arith(arith_op(op), reg[b], reg[c]),
						       reg[b], reg[c]))
				return fault(&s, at, "arithmetic on an address");
			reg[a] = kl_arith(arith_op(op), reg[b], reg[c]);
			if (out_of_range(p, reg[a]))
				return out_of_room(&s, at,
						   "the number is too large for the explorer");
			break;
		case KL_I_LT:
		case KL_I_LE:
			if (p->raw && (kl_vm_is_ptr(reg[b]) || kl_vm_is_ptr(reg[c])))
				return fault(&s, at, "the order of two addresses is not known");
			if (!p->raw && (kl_vm_is_data(reg[b]) || kl_vm_is_data(reg[c])))
				return fault(&s, at, "data has no order: it can only be copied and "
					     "compared");
			reg[a] = op == KL_I_LT ? reg[b] < reg[c] : reg[b] <= reg[c];
			break;
		case KL_I_EQ:
		case KL_I_EQB:
			note_comparison(p, reg[b], reg[c]);
			reg[a] = reg[b] == reg[c];
			break;
		case KL_I_NE:
		case KL_I_NEB:
			note_comparison(p, reg[b], reg[c]);
			reg[a] = reg[b] != reg[c];
			break;
		case KL_I_NEG:
		case KL_I_INV:
			reg[a] = op == KL_I_NEG ? -reg[b] : ~reg[b];
			break;
		case KL_I_NOT:
			reg[a] = !reg[b];
			break;
		case KL_I_JMP:
			th->pc[f] = base + imm;
			break;
		case KL_I_JZ:
		case KL_I_JNZ:
			if (!reg[a] == (op == KL_I_JZ))
				th->pc[f] = base + imm;
			break;
		case KL_I_CHOOSE:
			if (reg[b] > reg[c])
				return KL_VM_DROPPED;
			if (!choose(&s, reg[c] - reg[b] + 1, &i))
				return out_of_room(&s, at, "too many choices at once");
			reg[a] = reg[b] + i;
			break;
		case KL_I_EITHER:
			if (!choose(&s, a, &i))
				return out_of_room(&s, at, "too many choices at once");
			th->pc[f] = base + p->code[at + 1 + i];
			break;
		case KL_I_ASSUME:
			if (reg[a])
				break;
			if (s.block)
				return KL_VM_WAITS;
			/*
			 * The run ends here, but other threads can notice what the step did
			 * before.
			 */
			th->pc[f] = at;
			return s.acted && count ? KL_VM_OK : KL_VM_DROPPED;
		case KL_I_ASSERT:
			if (!reg[a])
				return fault(&s, at, "the assertion fails");
			th->pc[f]++;
			break;
		case KL_I_BLOCK:
			if (a && !p->sc && !drain_buffer(&s))
				return KL_VM_WAITS;
			s.block = a || p->sc ? LOCKED : BUFFERED;
			s.first = th->nbuf;
			break;
		case KL_I_END:
			end_block(&s);
			break;
		case KL_I_FENCE:
			if (!p->sc && !drain_buffer(&s))
				return KL_VM_WAITS;
			break;
		case KL_I_CALL:
			if (!enter(&s, imm, a))
				goto full;
			break;
		case KL_I_RETURN:
			if (s.block)
				end_block(&s);
			if (!leave(&s, b))
				goto full;
			break;
		case KL_I_STOP:
			th->done = true;
			th->pc[f]--;
			return KL_VM_OK;
		default:
			return fault(&s, at, "an instruction that only specifications have");
		}
	}
	return s.limit < STEPS_MAX ? KL_VM_OK : find_endless_loop(&s);

full:
	return out_of_room(&s, th->pc[th->method >= 0],
			   "too many entries in a store buffer for the explorer");
}

enum kl_vm_result kl_vm_step(struct kl_vm *vm, unsigned int t)
{
	struct step s = {
		.vm = vm, .t = t, .th = &vm->thread[t], .first_stop = 1, .limit = STEPS_MAX,
	};

	vm->at_choice = vm->ndecided = 0;
	return s.th->done ? KL_VM_WAITS : run_step(&s);
}

enum kl_vm_result kl_vm_decide(struct kl_vm *vm, unsigned int t, unsigned int n)
{
	struct step s = {
		.vm = vm, .t = t, .th = &vm->thread[t], .first_stop = 1, .limit = STEPS_MAX,
		.decide = n,
	};

	vm->at_choice = vm->ndecided = 0;
	return run_step(&s);
}

enum kl_vm_result kl_vm_go_on(struct kl_vm *vm, unsigned int t)
{
	struct step s = {
		.vm = vm, .t = t, .th = &vm->thread[t], .acted = true, .limit = STEPS_MAX,
	};

	return s.th->done ? KL_VM_OK : run_step(&s);
}

enum kl_vm_result kl_vm_run(struct kl_vm *vm, unsigned int t, unsigned int n)
{
	struct step s = {
		.vm = vm, .t = t, .th = &vm->thread[t], .first_stop = n, .limit = n,
	};

	return run_step(&s);
}
