// SPDX-License-Identifier: GPL-2.0
/* The cache of steps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tso/explore/explore_internal.h"

#define FIRST_SLOTS	1024
#define MADE_MAX	200		/* maximal number of steps of a thread that are cached */

void kl_steps_free(struct kl_steps *s)
{
	kl_pieces_free(&s->pieces);
	kl_intern_free(&s->change);
	free(s->steps);
	free(s->along);
	free(s->step);
	free(s->events);
	free(s->names);
	free(s->by_thread.slot);
	free(s->by_change.slot);
	memset(s, 0, sizeof(*s));
}

void kl_steps_forget(struct kl_steps *s)
{
	struct kl_pieces pieces = s->pieces;

	memset(&s->pieces, 0, sizeof(s->pieces));
	kl_steps_free(s);
	s->pieces = pieces;
}

size_t kl_steps_bytes(const struct kl_steps *s)
{
	return kl_intern_bytes(&s->change) + s->csteps * sizeof(*s->steps) +
	       s->calong * sizeof(*s->along) + s->cstep * sizeof(*s->step) +
	       s->cevents * sizeof(*s->events) + s->cnames +
	       (s->by_thread.nslots + s->by_change.nslots) * sizeof(uint32_t);
}

static size_t slot_of(const struct kl_step_table *t, uint32_t a, uint32_t b)
{
	return kl_mix((uint64_t)a << 32 | b, 1) & (t->nslots - 1);
}

/*
 * Make room for the @n-th entry.  If *@again is set, the table is new and empty, and the caller
 * puts all entries into it again.
 */
static int reserve_slot(struct kl_step_table *t, size_t n, bool *again)
{
	uint32_t *slot;

	*again = false;
	if (2 * n < t->nslots)
		return 0;
	slot = calloc(t->nslots ? 2 * t->nslots : FIRST_SLOTS, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(t->slot);
	t->slot = slot;
	t->nslots = t->nslots ? 2 * t->nslots : FIRST_SLOTS;
	*again = true;
	return 0;
}

static void put_slot(struct kl_step_table *t, uint32_t a, uint32_t b, uint32_t i)
{
	size_t at = slot_of(t, a, b);

	while (t->slot[at])
		at = (at + 1) & (t->nslots - 1);
	t->slot[at] = i + 1;
}

int kl_steps_event(struct kl_steps *s, const struct kl_vm_event *e)
{
	int ret = kl_grow(s->events, s->cevents, s->nevents + 1 + e->n);

	if (ret)
		return ret;
	s->events[s->nevents++] = e->kind | (uint64_t)e->method << 8 | (uint64_t)e->n << 32;
	memcpy(s->events + s->nevents, e->val, e->n * sizeof(*e->val));
	s->nevents += e->n;
	s->recorded++;
	return 0;
}

/* ---- a thread alone beside memory ------------------------------------------------------- */

/*
 * Load a machine that has only the thread with piece @piece.  Numbers of its own objects and data
 * come after the @nobj objects and @ndata data values of memory.
 */
static void load_alone(struct kl_explorer *x, uint32_t piece, const struct kl_vm_named *names,
		       unsigned int nobj, unsigned int ndata)
{
	const struct kl_piece_info *info = &x->known.pieces.info[piece];
	struct kl_vm *vm = &x->before;
	struct kl_vm_locals own;
	unsigned int t, i;

	x->loaded = KL_NO_STATE;
	kl_pieces_set_nobj(&x->known.pieces, vm, nobj + info->nobj);
	for (i = 0; i < info->nobj; i++)
		own.obj[i] = nobj + i;
	for (i = 0; i < info->ndata; i++)
		own.data[i] = ndata + 1 + i;
	vm->taken = (2ULL << (ndata + info->ndata)) - 1;
	for (t = 0; t < x->prog.nthreads; t++) {
		struct kl_vm_thread *th = &vm->thread[t];

		th->done = true;
		th->method = -1;
		th->nbuf = 0;
		memset(th->reg[0], 0, x->prog.nregs[0] * sizeof(th->reg[0][0]));
		memset(th->reg[1], 0, x->prog.nregs[1] * sizeof(th->reg[1][0]));
	}
	kl_pieces_get_thread(&x->known.pieces, piece, vm, info->thread, names, &own);
	kl_vm_copy(&x->vm, vm);
}

/* ---- changes of memory ------------------------------------------------------------------- */

/*
 * Translate a word of an object that memory does not reach any more.  Return: false if the word
 * refers to something that memory has never named.
 */
static bool translate_word(const struct kl_vm *vm, uint64_t v, const uint64_t *obj,
			   unsigned int nobj, const uint64_t *data, unsigned int ndata,
			   uint64_t *out)
{
	const struct kl_vm_prog *p = vm->prog;
	const uint32_t at = v - KL_VM_PTR - p->nslots;

	*out = v;
	if (kl_vm_is_data(v)) {
		*out = KL_VM_DATA + (v - KL_VM_DATA <= ndata ? data[v - KL_VM_DATA] : 0);
		return v - KL_VM_DATA <= ndata;
	}
	if (!kl_vm_is_ptr(v) || v - KL_VM_PTR < p->nslots)
		return true;
	if (at / p->stride >= nobj)
		return false;
	*out = KL_VM_PTR + p->nslots + obj[at / p->stride] * p->stride + at % p->stride;
	return true;
}

/*
 * Store a change of memory from the piece @from to the piece @to, which has @names.  A change has
 * these words:
 *	- the two pieces;
 *	- for each object and data value of @from its number in @to; those that @to does not reach
 *	  have the numbers after the names of @to;
 *	- types and fields of the objects that @to does not reach.
 *
 * Return: the number of the change; -EDOM if it cannot be described; another negative errno.
 */
static int64_t change_of(struct kl_explorer *x, uint32_t from, uint32_t to,
			 const struct kl_vm_named *names)
{
	const struct kl_vm_prog *p = &x->prog;
	struct kl_steps *s = &x->known;
	const unsigned int nobj = kl_pieces_nobj(&s->pieces, from);
	const unsigned int ndata = kl_pieces_ndata(&s->pieces, from);
	uint64_t *obj = s->words + 2, *data = obj + nobj, *w = data + ndata + 1;
	unsigned int i, j, nlost = names->nobj, ndlost = names->ndata;

	s->words[0] = from;
	s->words[1] = to;
	for (i = 0; i < nobj; i++)
		obj[i] = names->obj[i] ? names->obj[i] - 1u : nlost++;
	data[0] = 0;
	for (i = 1; i <= ndata; i++)
		data[i] = names->data[i] ? names->data[i] : ++ndlost;
	if (ndlost >= KL_VM_DATA_MAX)
		return -EDOM;
	for (i = 0; i < nobj; i++) {
		const uint8_t type = x->vm.type[i];

		if (names->obj[i])
			continue;
		*w++ = type;
		for (j = 0; j < p->structs[type & KL_VM_STRUCT].nfields; j++)
			if (!translate_word(&x->vm, x->vm.mem[p->nslots + i * p->stride + j], obj,
					    nobj, data, ndata, w++))
				return -EDOM;
	}
	return kl_intern(&s->change, s->words, w - s->words);
}

/* ---- the result of a step ----------------------------------------------------------------- */

static int append_name(struct kl_steps *s, unsigned int number)
{
	int ret = kl_grow(s->names, s->cnames, s->nnames + 1);

	if (!ret)
		s->names[s->nnames++] = number;
	return ret;
}

/* Return: true if the step has changed an object that other threads may reach. */
static bool has_changed(const struct kl_explorer *x, unsigned int obj)
{
	const struct kl_vm *a = &x->before, *b = &x->vm;
	const size_t at = x->prog.nslots + obj * x->prog.stride;

	return !(a->type[obj] & KL_VM_HIDDEN) && (a->type[obj] != b->type[obj] ||
	       memcmp(a->mem + at, b->mem + at, x->prog.stride * sizeof(*a->mem)));
}

/* Begin to describe a step, before its events are recorded. */
static void begin_step(struct kl_steps *s, struct kl_step *step)
{
	memset(step, 0, sizeof(*step));
	step->change = KL_NO_CHANGE;
	step->events = s->nevents;
	step->names = s->nnames;
	s->recorded = 0;
}

/*
 * Describe the step from x->before to x->vm.  Return: 0; -EDOM if it is left to the machine;
 * another negative errno.
 */
static int end_step(struct kl_explorer *x, uint32_t mem, uint32_t thread, struct kl_step *step)
{
	const unsigned int known = 63 - __builtin_clzll(x->before.taken);
	struct kl_steps *s = &x->known;
	const unsigned int nobj = kl_pieces_nobj(&s->pieces, mem);
	struct kl_vm_named names;
	struct kl_vm_locals own;
	unsigned int i;
	int64_t id = mem;
	int ret = 0;

	if (x->vm.wrote)
		id = kl_pieces_mem(&s->pieces, &x->vm, &names);
	else
		kl_pieces_identity(&s->pieces, mem, &names);
	if (id < 0)
		return id;
	step->mem = id;
	for (i = nobj; i < x->before.nobj; i++) {
		if (names.obj[i] || has_changed(x, i)) {
			ret = append_name(s, i);
			step->nshown++;
		}
		if (ret)
			return ret;
	}
	if (x->vm.wrote) {
		step->nmem = names.ndata;
		for (i = 1; i <= names.ndata && !ret; i++)
			ret = append_name(s, names.data_of[i]);
		id = ret ? ret : change_of(x, mem, id, &names);
		if (id < 0)
			return id;
		step->change = id;
	}
	id = kl_pieces_thread(&s->pieces, &x->vm, s->pieces.info[thread].thread, &names, &own);
	if (id < 0)
		return id;
	step->thread = id;
	for (i = 0; i < own.ndata && !ret; i++)
		ret = append_name(s, own.data[i]);
	for (i = 0; i < own.nobj && !ret; i++)
		ret = own.obj[i] < x->before.nobj + KL_NEW_OBJECTS ? append_name(s, own.obj[i]) :
								     -EDOM;
	step->nevents = s->recorded;
	step->nfresh = 63 - __builtin_clzll(kl_vm_data(&x->vm) | x->before.taken) - known;
	return ret ? ret : s->recorded > UINT8_MAX ? -EDOM : 0;
}

static int add_step(struct kl_steps *s, const struct kl_step *step)
{
	int ret = kl_grow(s->step, s->cstep, s->nstep + 1);

	/*
	 * The index of a step without names or events is the end of the array.  The element
	 * there is prefetched, so it must exist.
	 */
	if (!ret)
		ret = kl_grow(s->names, s->cnames, s->nnames + 1);
	if (!ret)
		ret = kl_grow(s->events, s->cevents, s->nevents + 1);
	if (!ret)
		s->step[s->nstep++] = *step;
	return ret;
}

/* ---- all steps of a thread ---------------------------------------------------------------- */

/* Record a step, or a flush, that x->vm has made, with the steps along with it. */
static int record_step(struct kl_explorer *x, uint32_t mem, uint32_t thread, struct kl_step *step,
		       bool flush)
{
	int ret = kl_ex_along(x, x->known.pieces.info[thread].thread, flush);

	if (ret == KL_EX_FAULTY)
		return -EDOM;
	if (ret > 0)
		ret = end_step(x, mem, thread, step);
	return ret ? ret : add_step(&x->known, step);
}

static int make_steps(struct kl_explorer *x, struct kl_known_steps *k)
{
	const unsigned int t = x->known.pieces.info[k->thread].thread;
	enum kl_vm_result r;
	struct kl_step step;
	bool dropped = false, goes = false;
	int ret = 0;

	x->vm.nchoice = 0;
	do {
		kl_vm_undo(&x->vm, &x->before);
		begin_step(&x->known, &step);
		r = kl_ex_step(x, t, &x->before);
		if (r == KL_VM_FAULT || k->made == MADE_MAX)
			return -EDOM;
		dropped |= r == KL_VM_DROPPED;
		goes |= r == KL_VM_OK;
		k->made += r != KL_VM_WAITS;
		if (r == KL_VM_OK)
			ret = record_step(x, k->mem, k->thread, &step, false);
	} while (!ret && kl_vm_next_choice(&x->vm));
	if (ret)
		return ret;
	k->dropped = dropped && !goes;
	kl_vm_undo(&x->vm, &x->before);
	begin_step(&x->known, &step);
	if (!kl_vm_flush(&x->vm, t))
		return 0;
	k->made++;
	return record_step(x, k->mem, k->thread, &step, true);
}

static int learn_steps(struct kl_explorer *x, uint32_t mem, uint32_t thread)
{
	struct kl_steps *s = &x->known;
	struct kl_known_steps k = { .mem = mem, .thread = thread, .first = s->nstep };
	struct kl_vm_named names;
	unsigned int ndata;
	bool again;
	size_t i;
	int ret;

	kl_pieces_identity(&s->pieces, mem, &names);
	ndata = kl_pieces_get_mem(&s->pieces, mem, &x->before);
	ret = -EDOM;
	if (ndata + s->pieces.info[thread].ndata < KL_VM_DATA_MAX - 1 &&
	    names.nobj + s->pieces.info[thread].nobj < KL_VM_OBJECTS) {
		load_alone(x, thread, &names, names.nobj, ndata);
		x->recording = true;
		ret = make_steps(x, &k);
		x->recording = false;
	}
	if (ret && ret != -EDOM)
		return ret;
	k.machine = ret == -EDOM;
	k.n = s->nstep - k.first;
	ret = kl_grow(s->steps, s->csteps, s->nsteps + 1);
	if (!ret)
		ret = reserve_slot(&s->by_thread, s->nsteps + 1, &again);
	if (ret)
		return ret;
	s->steps[s->nsteps++] = k;
	for (i = again ? 0 : s->nsteps - 1; i < s->nsteps; i++)
		put_slot(&s->by_thread, s->steps[i].mem, s->steps[i].thread, i);
	return 0;
}

const struct kl_known_steps *kl_steps_of(struct kl_explorer *x, uint32_t mem, uint32_t thread)
{
	struct kl_steps *s = &x->known;
	size_t at;

	if (s->nsteps) {
		for (at = slot_of(&s->by_thread, mem, thread); s->by_thread.slot[at];
		     at = (at + 1) & (s->by_thread.nslots - 1)) {
			const struct kl_known_steps *k = &s->steps[s->by_thread.slot[at] - 1];

			if (k->mem == mem && k->thread == thread)
				return k;
		}
	}
	return learn_steps(x, mem, thread) ? NULL : &s->steps[s->nsteps - 1];
}

void kl_steps_prefetch(const struct kl_explorer *x)
{
	const struct kl_steps *s = &x->known;
	const struct kl_ex_now *now = &x->now;
	const unsigned int n = x->prog.nthreads;
	const struct kl_step *step[KL_VM_THREADS];
	uint32_t at[KL_VM_THREADS];
	unsigned int t;

	if (!s->nsteps || !s->nstep)
		return;
	for (t = 0; t < n; t++) {
		at[t] = slot_of(&s->by_thread, now->mem, now->thread[t]);
		__builtin_prefetch(&s->by_thread.slot[at[t]]);
	}
	for (t = 0; t < n; t++) {
		at[t] = s->by_thread.slot[at[t]];
		__builtin_prefetch(&s->steps[at[t] ? at[t] - 1 : 0]);
	}
	for (t = 0; t < n; t++) {
		step[t] = s->step + s->steps[at[t] ? at[t] - 1 : 0].first;
		__builtin_prefetch(step[t]);
	}
	for (t = 0; t < n; t++) {
		if (step[t] >= s->step + s->nstep)
			continue;
		__builtin_prefetch(&s->events[step[t]->events]);
		__builtin_prefetch(&s->names[step[t]->names]);
	}
}

/* ---- steps along with a change of memory ---------------------------------------------------- */

/*
 * Load a change: the new memory, and the objects that it does not reach any more.  @old is set to
 * the numbers of the old memory's names, and @nobj to the number of objects.
 * Return: number of data values.
 */
static unsigned int get_change(struct kl_explorer *x, const uint64_t *w, size_t n,
			       struct kl_vm_named *old, unsigned int *nobj)
{
	const struct kl_vm_prog *p = &x->prog;
	struct kl_pieces *pieces = &x->known.pieces;
	const uint32_t from = w[0], to = w[1];
	unsigned int ndata = kl_pieces_get_mem(pieces, to, &x->before), i, j;
	const uint64_t *end = w + n;

	*nobj = kl_pieces_nobj(pieces, to);
	kl_pieces_identity(pieces, from, old);
	w += 2;
	for (i = 0; i < old->nobj; i++)
		old->obj_of[i] = *w++;
	w++;
	for (i = 1; i <= old->ndata; i++) {
		old->data_of[i] = *w++;
		if (old->data_of[i] > ndata)
			ndata = old->data_of[i];
	}
	for (; w < end; ++*nobj) {
		x->before.type[*nobj] = *w++;
		for (j = 0; j < p->structs[x->before.type[*nobj] & KL_VM_STRUCT].nfields; j++)
			x->before.mem[p->nslots + *nobj * p->stride + j] = *w++;
	}
	return ndata;
}

/* Translate the data number @number after the change to the number before the change. */
static unsigned int old_data_number(const struct kl_vm_named *old, unsigned int ndata,
				    unsigned int number)
{
	unsigned int k;

	if (number > ndata)
		return number - ndata + old->ndata;
	for (k = 1; k <= old->ndata && old->data_of[k] != number; k++)
		;
	return k;
}

/* Translate all numbers in a step along with a change to the numbers before the change. */
static void translate_names(struct kl_steps *s, struct kl_step *step, const struct kl_vm_named *old,
			    unsigned int nobj, unsigned int ndata)
{
	const struct kl_piece_info *info = &s->pieces.info[step->thread];
	uint8_t *name = s->names + step->names + step->nshown;
	uint64_t *w = s->events + step->events, *end = s->events + s->nevents;
	unsigned int i, k, n;

	for (i = 0; i < info->ndata; i++, name++)
		*name = old_data_number(old, ndata, *name);
	for (i = 0; i < info->nobj; i++, name++) {
		for (k = 0; k < old->nobj && old->obj_of[k] != *name; k++)
			;
		*name = *name >= nobj ? *name - nobj + old->nobj : k;
	}
	for (; w < end; w += n) {
		n = *w++ >> 32;
		for (i = 0; i < n; i++) {
			if (!kl_vm_is_data(w[i]))
				continue;
			k = w[i] - KL_VM_DATA;
			w[i] = k <= kl_pieces_ndata(&s->pieces, step->mem) ?
				       (KL_VM_DATA | KL_NEW_NAME) + k :
				       KL_VM_DATA + old_data_number(old, ndata, k);
		}
	}
}

static int make_along(struct kl_explorer *x, uint32_t change, uint32_t thread, struct kl_step *step)
{
	struct kl_steps *s = &x->known;
	unsigned int nobj, ndata;
	struct kl_vm_named old;
	const uint64_t *w;
	uint32_t to;
	size_t n;
	int ret;

	w = kl_intern_get(&s->change, change, &n);
	to = w[1];
	ndata = get_change(x, w, n, &old, &nobj);
	begin_step(s, step);
	if (ndata + s->pieces.info[thread].ndata >= KL_VM_DATA_MAX - 1 ||
	    nobj + s->pieces.info[thread].nobj >= KL_VM_OBJECTS)
		return -EDOM;
	load_alone(x, thread, &old, nobj, ndata);
	x->vm.wrote = false;
	x->recording = true;
	ret = kl_ex_along(x, s->pieces.info[thread].thread, true);
	x->recording = false;
	if (ret < 0)
		return ret;
	if (ret == KL_EX_FAULTY || x->vm.wrote)
		return -EDOM;
	ret = end_step(x, to, thread, step);
	if (!ret && step->nshown)
		return -EDOM;
	if (!ret)
		translate_names(s, step, &old, nobj, ndata);
	return ret;
}

static int learn_along(struct kl_explorer *x, uint32_t change, uint32_t thread)
{
	struct kl_steps *s = &x->known;
	struct kl_known_change k = { .change = change, .thread = thread, .step = s->nstep };
	struct kl_step step;
	bool again;
	size_t i;
	int ret;

	ret = make_along(x, change, thread, &step);
	k.machine = ret == -EDOM;
	if (ret && !k.machine)
		return ret;
	ret = k.machine ? 0 : add_step(s, &step);
	if (!ret)
		ret = kl_grow(s->along, s->calong, s->nalong + 1);
	if (!ret)
		ret = reserve_slot(&s->by_change, s->nalong + 1, &again);
	if (ret)
		return ret;
	s->along[s->nalong++] = k;
	for (i = again ? 0 : s->nalong - 1; i < s->nalong; i++)
		put_slot(&s->by_change, s->along[i].change, s->along[i].thread, i);
	return 0;
}

const struct kl_known_change *kl_steps_along(struct kl_explorer *x, uint32_t change,
					     uint32_t thread)
{
	struct kl_steps *s = &x->known;
	size_t at;

	if (s->nalong) {
		for (at = slot_of(&s->by_change, change, thread); s->by_change.slot[at];
		     at = (at + 1) & (s->by_change.nslots - 1)) {
			const struct kl_known_change *k = &s->along[s->by_change.slot[at] - 1];

			if (k->change == change && k->thread == thread)
				return k;
		}
	}
	return learn_along(x, change, thread) ? NULL : &s->along[s->nalong - 1];
}
