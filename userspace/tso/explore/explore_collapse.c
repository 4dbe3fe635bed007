// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer's states in pieces, and steps that are looked up.  A state is the number of its
 * memory's piece, the numbers of its threads' pieces, and for each thread the data and objects for
 * which its own names stand.  Numbers of memory's data and objects come first, and then all others
 * in the order in which they occur.
 */
#include <errno.h>
#include <string.h>

#include "tso/explore/explore_internal.h"

#define NEW_OBJECT	128	/* first number of objects that a step makes, above all others */
#define NAMES		(KL_VM_DATA_MAX + KL_VM_OBJECTS)

/*
 * A state that is being made from pieces.  Numbers of objects and data are those of the state
 * before the step.
 */
struct joining {
	uint32_t mem, thread[KL_VM_THREADS];
	/* the numbers for each thread's own names, of data and then of objects */
	const uint8_t *own[KL_VM_THREADS];
	unsigned int fresh;	/* greatest number of data so far */
	uint8_t mem_data[KL_VM_DATA_MAX];	/* number of each data name of changed memory */
	uint8_t *data;		/* for each number of data the new number, or 0 */
	uint8_t last;		/* greatest new number in @data */
};

/* Order threads with the same code by the numbers of their pieces. */
static void order_threads(struct kl_explorer *x, const struct joining *j)
{
	const struct kl_vm_prog *p = &x->prog;
	struct kl_vm_names *names = &x->names;
	unsigned int i, k, t;
	uint8_t other;

	names->moved = false;
	for (i = 0; i < p->nthreads; i++)
		names->thread[i] = i;
	if (!p->symmetry)
		return;
	for (i = 1; i < p->nthreads; i++) {
		for (k = i; k--;) {
			/* Compare neighbours of the group: thread k, and thread t after it. */
			if (!(p->group[i] >> k & 1))
				continue;
			for (t = k + 1; !(p->group[i] >> t & 1); t++)
				;
			if (j->thread[names->thread[k]] <= j->thread[names->thread[t]])
				break;
			other = names->thread[k];
			names->thread[k] = names->thread[t];
			names->thread[t] = other;
			names->moved = true;
		}
	}
}

/* Stores whole words, because a load of a word that was stored in parts has to wait. */
struct packer {
	uint64_t word;
	unsigned int bits;
	uint8_t *at;
};

static inline void put(struct packer *p, uint64_t v, unsigned int bits)
{
	p->word |= v << p->bits;
	p->bits += bits;
	if (p->bits < 64)
		return;
	memcpy(p->at, &p->word, sizeof(p->word));
	p->at += sizeof(p->word);
	p->word = p->bits = 0;
}

/*
 * Join the state into x->packed, x->names and x->hash, and rename its set.  Return: the state's
 * length in bytes; -EDOM if memory also has data of a thread's own, or there are too many data
 * values or objects; another negative errno.
 */
static int64_t join(struct kl_explorer *x, struct joining *j)
{
	const struct kl_piece_info *all = x->known.pieces.info;
	const uint8_t nmem = j->last;
	uint8_t obj[256] = { 0 }, *data = j->data;
	struct packer out = { .at = x->packed };
	uint8_t nobj = kl_pieces_nobj(&x->known.pieces, j->mem);
	unsigned int i, k, t;
	uint64_t mask;
	int64_t set, len;

	order_threads(x, j);
	put(&out, j->mem, 32);
	for (i = 0; i < x->prog.nthreads; i++)
		put(&out, j->thread[x->names.thread[i]], 32);
	for (i = 0; i < x->prog.nthreads; i++) {
		const struct kl_piece_info *info;
		const uint8_t *own;

		t = x->names.thread[i];
		info = &all[j->thread[t]];
		own = j->own[t];
		for (k = info->ndata; k--; own++) {
			if (!data[*own])
				data[*own] = ++j->last;
			else if (data[*own] <= nmem)
				return -EDOM;
			put(&out, data[*own], 8);
		}
		for (k = info->nobj; k--; own++) {
			if (!obj[*own])
				obj[*own] = 1 + nobj++;
			put(&out, obj[*own] - 1, 8);
		}
	}
	if (j->last >= KL_VM_DATA_MAX || nobj > KL_VM_OBJECTS)
		return -EDOM;
	for (mask = kl_abstract_data(x->abs, x->set); mask; mask &= mask - 1)
		if (!data[__builtin_ctzll(mask)])
			data[__builtin_ctzll(mask)] = ++j->last;
	set = kl_abstract_rename(x->abs, x->set, &x->names);
	if (set < 0)
		return set;
	x->set = set;
	/* This may write beyond the end of the state. */
	memcpy(out.at, &out.word, sizeof(out.word));
	len = out.at - x->packed + out.bits / 8;
	x->hash = kl_visited_hash(&x->visited, x->packed, len);
	return len;
}

int64_t kl_ex_pack_pieces(struct kl_explorer *x)
{
	struct kl_vm_locals own[KL_VM_THREADS];
	uint8_t numbers[KL_VM_THREADS][NAMES];
	struct joining j = { .data = x->names.data };
	struct kl_vm_named names;
	unsigned int t;
	int64_t id = kl_pieces_mem(&x->known.pieces, &x->vm, &names);

	if (id < 0)
		return id;
	j.mem = id;
	j.last = names.ndata;
	memcpy(j.data, names.data, sizeof(names.data));
	for (t = 0; t < x->prog.nthreads; t++) {
		id = kl_pieces_thread(&x->known.pieces, &x->vm, t, &names, &own[t]);
		if (id < 0)
			return id;
		j.thread[t] = id;
		memcpy(numbers[t], own[t].data, own[t].ndata);
		memcpy(numbers[t] + own[t].ndata, own[t].obj, own[t].nobj);
		j.own[t] = numbers[t];
	}
	return join(x, &j);
}

int kl_ex_look(struct kl_explorer *x, uint32_t at)
{
	const uint8_t *in, *own;
	struct kl_ex_now *now = &x->now;
	uint64_t mask;
	unsigned int t, i;
	int ret = kl_ex_state(x, at, &in);

	if (ret)
		return ret;
	x->set = kl_visited_head(&x->visited, at)->tag;
	memcpy(&now->mem, in, sizeof(now->mem));
	memcpy(now->thread, in + sizeof(now->mem), x->prog.nthreads * sizeof(*now->thread));
	own = in + sizeof(now->mem) + x->prog.nthreads * sizeof(*now->thread);
	now->ndata = now->last = kl_pieces_ndata(&x->known.pieces, now->mem);
	now->nobj = now->end_obj = kl_pieces_nobj(&x->known.pieces, now->mem);
	for (t = 0; t < x->prog.nthreads; t++) {
		const struct kl_piece_info *info = &x->known.pieces.info[now->thread[t]];

		now->own[t] = own;
		for (i = 0; i < info->ndata; i++, own++)
			if (now->last < *own)
				now->last = *own;
		for (i = 0; i < info->nobj; i++, own++)
			if (now->end_obj <= *own)
				now->end_obj = *own + 1;
	}
	mask = kl_abstract_data(x->abs, x->set);
	if (mask >> now->last > 1)
		now->last = 63 - __builtin_clzll(mask);
	return 0;
}

int kl_ex_load_pieces(struct kl_explorer *x, uint32_t at)
{
	struct kl_pieces *p = &x->known.pieces;
	struct kl_vm_named names;
	struct kl_vm_locals own;
	unsigned int t;
	int ret = kl_ex_look(x, at);

	if (ret)
		return ret;
	kl_pieces_get_mem(p, x->now.mem, &x->before);
	kl_pieces_set_nobj(p, &x->before, x->now.end_obj);
	kl_pieces_identity(p, x->now.mem, &names);
	for (t = 0; t < x->prog.nthreads; t++) {
		const struct kl_piece_info *info = &p->info[x->now.thread[t]];

		memcpy(own.data, x->now.own[t], info->ndata);
		memcpy(own.obj, x->now.own[t] + info->ndata, info->nobj);
		kl_pieces_get_thread(p, x->now.thread[t], &x->before, t, &names, &own);
	}
	return 0;
}

/* ---- known steps --------------------------------------------------------------------------- */

/*
 * Return: the number in the state of the data that is called @name in a cached step of thread @t.
 * Data that is new in the step gets numbers above @fresh.
 */
static unsigned int data_number(const struct kl_ex_now *now, const struct kl_piece_info *info,
				unsigned int t, unsigned int name, unsigned int fresh)
{
	if (name <= now->ndata)
		return name;
	name -= now->ndata + 1;
	return name < info->ndata ? now->own[t][name] : fresh + 1 + name - info->ndata;
}

static unsigned int object_number(const struct kl_ex_now *now, const struct kl_piece_info *info,
				  unsigned int t, unsigned int name)
{
	if (name < now->nobj)
		return name;
	name -= now->nobj;
	return name < info->nobj ? now->own[t][info->ndata + name] :
	       NEW_OBJECT + KL_NEW_OBJECTS * t + name - info->nobj;
}

/*
 * Take the events of a cached step of thread @t in the specification.
 * Return: 1, 0 if the events cannot be explained, or a negative errno.
 */
static int take_events(struct kl_explorer *x, const struct kl_step *s, unsigned int t,
		       const struct joining *j)
{
	const struct kl_piece_info *info = &x->known.pieces.info[x->now.thread[t]];
	const uint64_t *w = x->known.events + s->events;
	struct kl_vm_event e = { .thread = t };
	unsigned int i, k;
	int64_t set;
	uint64_t v;

	for (i = s->nevents; i; i--) {
		e.kind = *w;
		e.method = *w >> 8;
		e.n = *w++ >> 32;
		for (k = 0; k < e.n; k++) {
			v = *w++;
			if (kl_vm_is_data(v))
				v = KL_VM_DATA + (v & KL_NEW_NAME ? j->mem_data[(uint32_t)v] :
				    data_number(&x->now, info, t, v - KL_VM_DATA, j->fresh));
			e.val[k] = v;
		}
		set = kl_abstract_step(x->abs, x->set, &e);
		if (set <= 0)
			return set;
		x->set = set;
	}
	return 1;
}

/* Set @numbers to the numbers for the thread's own names after its step. */
static void take_names(const struct kl_explorer *x, const struct kl_step *s, unsigned int t,
		       struct joining *j, uint8_t *numbers)
{
	const struct kl_piece_info *old = &x->known.pieces.info[x->now.thread[t]];
	const struct kl_piece_info *info = &x->known.pieces.info[s->thread];
	const uint8_t *name = NULL;
	unsigned int i;

	if (info->ndata + info->nobj)
		name = x->known.names + s->names + s->nshown + s->nmem;
	j->thread[t] = s->thread;
	j->own[t] = numbers;
	for (i = info->ndata; i; i--)
		*numbers++ = data_number(&x->now, old, t, *name++, j->fresh);
	for (i = info->nobj; i; i--)
		*numbers++ = object_number(&x->now, old, t, *name++);
}

/*
 * Return: true if the own objects of another thread include an own object of @t that the step
 * changed, or that is reachable from memory after the step.
 */
static bool shared(const struct kl_explorer *x, const struct kl_step *s, unsigned int t)
{
	const struct kl_piece_info *all = x->known.pieces.info;
	const struct kl_ex_now *now = &x->now;
	unsigned int i, u, number;

	for (i = 0; i < s->nshown; i++) {
		number = object_number(now, &all[now->thread[t]], t,
				       x->known.names[s->names + i]);
		for (u = 0; u < x->prog.nthreads; u++)
			if (u != t && memchr(now->own[u] + all[now->thread[u]].ndata, number,
					     all[now->thread[u]].nobj))
				return true;
	}
	return false;
}

/*
 * Make the steps that other threads take along with a change of memory by a step of @t.
 * Return: 1; 0 if they cannot be explained; -EDOM if they are left to the machine; another
 * negative errno.
 */
static int along(struct kl_explorer *x, uint32_t change, unsigned int t, struct joining *j,
		 uint8_t numbers[KL_VM_THREADS][NAMES])
{
	const struct kl_known_change *k;
	const struct kl_step *s;
	unsigned int u;
	int ret = 1;

	for (u = 0; u < x->prog.nthreads && ret > 0; u++) {
		if (u == t)
			continue;
		k = kl_steps_along(x, change, x->now.thread[u]);
		if (!k)
			return -ENOMEM;
		if (k->machine)
			return -EDOM;
		s = &x->known.step[k->step];
		if (j->fresh + s->nfresh >= KL_VM_DATA_MAX)
			return -EDOM;
		take_names(x, s, u, j, numbers[u]);
		if (s->nevents)
			ret = take_events(x, s, u, j);
		j->fresh += s->nfresh;
	}
	return ret;
}

/* Drop layers that are empty in the machine's buffers and in all configurations. */
static int drop_layers(struct kl_explorer *x, struct joining *j)
{
	static const uint8_t kinds[] = { KL_VM_EVENT_FLUSH_CALL, KL_VM_EVENT_FLUSH_RET };
	const struct kl_piece_info *info;
	struct kl_vm_event e = { 0 };
	uint32_t empty;
	unsigned int t, i;
	int64_t id;

	for (t = 0; t < x->prog.nthreads; t++) {
		empty = kl_abstract_empty_layers(x->abs, x->set);
		if (!empty)
			break;
		info = &x->known.pieces.info[j->thread[t]];
		if (!(empty >> t & 1) || !info->empty_layer)
			continue;
		id = kl_pieces_drop_layer(&x->known.pieces, j->thread[t]);
		if (id < 0)
			return id;
		j->thread[t] = id;
		e.thread = t;
		for (i = 0; i < 2; i++) {
			e.kind = kinds[i];
			id = kl_abstract_step(x->abs, x->set, &e);
			if (id <= 0)
				return id;
			x->set = id;
		}
		t = -1;		/* the new set may have other empty layers */
	}
	return 1;
}

/* Join the state after a known step.  Return: as join(), or 0 if the step cannot be explained. */
static int64_t follow(struct kl_explorer *x, const struct kl_step *step, unsigned int t)
{
	const struct kl_step s = *step;		/* a copy, since the table of steps may move */
	const struct kl_ex_now *now = &x->now;
	uint8_t numbers[KL_VM_THREADS][NAMES];
	struct joining j;
	unsigned int i;
	int ret;

	if (now->last + s.nfresh >= KL_VM_DATA_MAX || (s.nshown && shared(x, &s, t)))
		return -EDOM;
	j.data = x->names.data;
	j.mem = s.mem;
	j.fresh = now->last;
	memcpy(j.thread, now->thread, sizeof(j.thread));
	memcpy(j.own, now->own, sizeof(j.own));
	take_names(x, &s, t, &j, numbers[t]);
	ret = s.nevents ? take_events(x, &s, t, &j) : 1;
	memset(j.data, 0, KL_VM_DATA_MAX);
	if (s.change != KL_NO_CHANGE) {
		const struct kl_piece_info *info = &x->known.pieces.info[now->thread[t]];

		for (i = 1; i <= s.nmem; i++) {
			j.mem_data[i] = data_number(now, info, t,
						    x->known.names[s.names + s.nshown + i - 1],
						    j.fresh);
			j.data[j.mem_data[i]] = i;
		}
		j.last = s.nmem;
		j.fresh += s.nfresh;
		if (ret > 0)
			ret = along(x, s.change, t, &j, numbers);
	} else {
		for (i = 1; i <= now->ndata; i++)
			j.data[i] = i;
		j.last = now->ndata;
	}
	if (ret > 0 && x->prog.merge)
		ret = drop_layers(x, &j);
	return ret > 0 ? join(x, &j) : ret;
}

int kl_ex_known_steps(struct kl_explorer *x, uint32_t at, unsigned int t, uint32_t set,
		      unsigned int *steps)
{
	const struct kl_known_steps *k = kl_steps_of(x, x->now.mem, x->now.thread[t]);
	unsigned int i, first, n;
	int64_t len;
	int ret = 0;

	if (!k)
		return -ENOMEM;
	if (k->machine)
		return KL_EX_MACHINE;
	*steps += k->made;
	if (k->dropped)
		kl_visited_head(&x->visited, at)->ends = true;
	first = k->first;
	n = k->n;
	for (i = first; i < first + n && !ret; i++) {
		x->set = set;
		len = follow(x, &x->known.step[i], t);
		if (!len || len == -EDOM)
			return KL_EX_MACHINE;
		if (len < 0)
			return len;
		x->transitions++;
		ret = kl_ex_wait(x, at, len);
	}
	return ret;
}
