// SPDX-License-Identifier: GPL-2.0
/*
 * The states and signatures of all partitions that online_frontier.c follows, and the remembered
 * steps between states.  When the tables have grown, entries without references are dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/online/internal.h"

#define MEMO		(1u << 16)
#define FIRST_OPSIGS	(1u << 16)
#define FIRST_STATES	(8ull << 20)	/* bytes */

/* Forget all steps, since the states have changed their numbers. */
static void forget_steps(struct kl_online *o)
{
	kl_stepper_forget(&o->sim);
	memset(o->steps, 0xff, o->csteps * sizeof(*o->steps));
}

static int new_sigs(struct kl_online *o)
{
	unsigned int i;

	o->opsigs = kl_history_new();
	for (i = 0; o->opsigs && i < kl_spec_nmethods(o->spec); i++) {
		const char *name = kl_spec_method(o->spec, i)->name;

		if (kl_history_method(o->opsigs, name, strlen(name)) < 0)
			return -ENOMEM;
	}
	return o->opsigs ? 0 : -ENOMEM;
}

int live_tables_init(struct kl_online *o)
{
	struct kl_memo_entry *memo = calloc(MEMO, sizeof(*memo));
	int ret = memo ? new_sigs(o) : -ENOMEM;

	o->fake.spec = o->spec;
	o->fake.h = o->opsigs;
	o->fake.fresh = true;
	if (!ret)
		ret = kl_stepper_init(&o->sim, &o->fake, NULL, o->reason);
	if (ret) {
		free(memo);
		return ret;
	}
	o->have_sim = true;
	free(o->sim.memo.entries);
	o->sim.memo.entries = memo;
	o->sim.memo.mask = MEMO - 1;
	free(o->sim.nature);
	o->sim.nature = NULL;
	o->limit_sigs = FIRST_OPSIGS;
	o->limit_states = FIRST_STATES;
	return 0;
}

void live_tables_free(struct kl_online *o)
{
	if (o->have_sim)
		kl_stepper_free(&o->sim);
	kl_history_free(o->opsigs);
	free(o->fake.items);
	free(o->quick);
	free(o->steps);
}

/* Make the signature's item of o->fake, which the stepper reads. */
static int add_item(struct kl_online *o, uint32_t sig, uint16_t method)
{
	const struct kl_opsig *s = &o->opsigs->opsigs[sig];
	const size_t old = o->cnature;
	int ret = kl_grow(o->fake.items, o->fake.citems, (size_t)sig + 1) ?:
		  kl_grow(o->sim.nature, o->cnature, (size_t)sig + 1) ?:
		  kl_grow(o->steps, o->csteps, (size_t)sig + 1);

	if (ret)
		return ret;
	o->steps[sig] = (struct on_step){ .from = { ON_NONE, ON_NONE } };
	memset(o->sim.nature + old, 0, o->cnature - old);
	o->fake.items[sig] = (struct kl_item){
		.sig = sig, .vals = s->vals, .nargs = s->nargs, .method = method,
		.pure = kl_spec_method(o->spec, method)->pure,
	};
	o->fake.nitems = sig + 1;
	return 0;
}

static int intern_sig(struct kl_online *o, uint16_t method, const struct kl_val *vals,
			bool pending, uint32_t *sig)
{
	const struct kl_method *m = kl_spec_method(o->spec, method);
	const struct kl_opsig s = { .method = method, .nargs = m->nparams, .nres = m->nresults };
	int64_t id = kl_history_sig(o->opsigs, &s, vals, pending ? NULL : vals + s.nargs);

	if (id < 0)
		return id;
	*sig = id;
	return id < o->fake.nitems ? 0 : add_item(o, id, method);
}

/* Move a signature of @old to the new tables; *sig becomes its number there. */
static int move_sig(struct kl_online *o, const struct kl_history *old, uint32_t *map,
		      uint32_t *sig)
{
	const struct kl_opsig *s = &old->opsigs[*sig];
	int ret;

	if (map[*sig] == ON_NONE) {
		ret = intern_sig(o, s->method, old->vals + s->vals, false, &map[*sig]);
		if (ret)
			return ret;
	}
	*sig = map[*sig];
	return 0;
}

static int move_kept(struct kl_online *o, const struct kl_history *old, uint32_t *map,
		     struct on_part *p)
{
	uint32_t k, sig;
	int ret = 0;

	for (k = 0; k < p->nring && !ret; k++) {
		if (!on_has_sig(o, p->ring[k].kind))
			continue;
		sig = p->ring[k].what;
		ret = move_sig(o, old, map, &sig);
		p->ring[k].what = sig;
	}
	return ret;
}

static int collect_sigs(struct kl_online *o)
{
	struct kl_history *old = o->opsigs;
	uint32_t *map = malloc((old->nopsigs + 1) * sizeof(*map));
	size_t i;
	int ret = map ? new_sigs(o) : -ENOMEM;

	if (ret) {
		kl_history_free(o->opsigs == old ? NULL : o->opsigs);
		o->opsigs = old;
		free(map);
		return ret;
	}
	memset(map, 0xff, (old->nopsigs + 1) * sizeof(*map));
	o->fake.h = o->opsigs;
	o->fake.nitems = 0;
	memset(o->sim.nature, 0, o->cnature);
	memset(o->quick, 0, o->cquick * sizeof(*o->quick));
	o->nquick = 0;
	forget_steps(o);
	for (i = 0; i < o->nops && !ret; i++)
		if (o->ops[i].refs && o->ops[i].sig != ON_NONE)
			ret = move_sig(o, old, map, &o->ops[i].sig);
	for (i = 0; i < o->nparts && !ret; i++)
		ret = move_kept(o, old, map, &o->parts[i]);
	o->limit_sigs = 2 * o->opsigs->nopsigs + FIRST_OPSIGS;
	kl_history_free(old);
	free(map);
	return ret;
}

static inline size_t quick_home(const struct kl_online *o, const struct on_sig *q)
{
	return kl_mix(q->v[0], q->v[1] ^ (uint64_t)q->key << 32) & (o->cquick - 1);
}

static int grow_quick(struct kl_online *o)
{
	const size_t size = o->cquick ? 2 * o->cquick : 1024, old = o->cquick;
	struct on_sig *from = o->quick, *to = calloc(size, sizeof(*to));
	size_t i, at;

	if (!to)
		return -ENOMEM;
	o->cquick = size;
	for (i = 0; i < old; i++) {
		if (!from[i].key)
			continue;
		at = quick_home(o, &from[i]);
		while (to[at].key)
			at = (at + 1) & (size - 1);
		to[at] = from[i];
	}
	free(from);
	o->quick = to;
	return 0;
}

int live_sig(struct kl_online *o, const struct kl_online_op *op, uint32_t *sig)
{
	const struct kl_method *m = kl_spec_method(o->spec, op->method);
	const unsigned int n = m->nparams + m->nresults;
	const bool pending = op->flags & KL_OP_PENDING;
	struct on_sig q = { .key = 1 | pending << 1 | (uint32_t)op->method << 16 };
	unsigned int i;
	size_t at;
	int ret = o->opsigs->nopsigs > o->limit_sigs ? collect_sigs(o) : 0;

	if (ret)
		return ret;
	if (n > 2)
		return intern_sig(o, op->method, op->vals, pending, sig);
	for (i = 0; i < n; i++) {
		q.v[i] = op->vals[i].v;
		q.key |= op->vals[i].tag << (2 + 3 * i);
	}
	if (2 * (o->nquick + 1) > o->cquick && grow_quick(o))
		return -ENOMEM;
	for (at = quick_home(o, &q); o->quick[at].key; at = (at + 1) & (o->cquick - 1)) {
		const struct on_sig *r = &o->quick[at];

		if (r->key == q.key && r->v[0] == q.v[0] && r->v[1] == q.v[1]) {
			*sig = r->sig;
			return 0;
		}
	}
	ret = intern_sig(o, op->method, op->vals, pending, &q.sig);
	if (ret)
		return ret;
	o->quick[at] = q;
	o->nquick++;
	*sig = q.sig;
	return 0;
}

int on_sig(struct kl_online *o, struct on_op *op)
{
	const struct kl_val v = op->kind <= ON_PEEK ? kl_word(op->word) : kl_special(KL_ANY);
	const struct kl_online_op from = { .method = op->method, .flags = op->flags, .vals = &v };

	return op->sig == ON_NONE ? live_sig(o, &from, &op->sig) : 0;
}

int on_sigs(struct kl_online *o, const struct on_part *p)
{
	const uint32_t part = p - o->parts;
	size_t i;
	int ret = 0;

	for (i = 0; i < p->nopen && !ret; i++)
		ret = on_sig(o, on_op(o, p->open[i]));
	for (i = o->head; i < o->tail && !ret; i++)
		if (on_op(o, o->wait[i])->part == part)
			ret = on_sig(o, on_op(o, o->wait[i]));
	return ret;
}

/* Move a state of @old to the new table @to; *state becomes its number there. */
static int move_state(const struct kl_intern *old, struct kl_intern *to, uint32_t *map,
		      uint32_t *state)
{
	const uint64_t *w;
	int64_t id;
	size_t n;

	if (map[*state] == ON_NONE) {
		w = kl_intern_get(old, *state, &n);
		id = kl_intern(to, w, n);
		if (id < 0)
			return id;
		map[*state] = id;
	}
	*state = map[*state];
	return 0;
}

static int move_configs(struct live *l, const struct kl_intern *old, struct kl_intern *to,
			uint32_t *map)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < l->cur.n && !ret; i++) {
		uint64_t *rec = l->cur.rec + i * l->c.reclen;
		uint32_t state = kl_rec_state(&l->c, rec);

		ret = move_state(old, to, map, &state);
		kl_rec_set(&l->c, rec, state, 0);
	}
	return ret;
}

int live_collect(struct kl_online *o)
{
	struct kl_intern old = o->sim.states, to = { 0 };
	uint32_t *map = malloc((old.n + 1) * sizeof(*map)), mark = KL_STATE_GAP;
	size_t i;
	int ret = map ? 0 : -ENOMEM;

	if (ret)
		return ret;
	memset(map, 0xff, (old.n + 1) * sizeof(*map));
	ret = move_state(&old, &to, map, &mark) ?: move_state(&old, &to, map, &o->sim.any) ?:
	      move_state(&old, &to, map, &o->sim.first);
	for (i = 0; i < o->nparts && !ret; i++) {
		struct on_part *p = &o->parts[i];

		ret = p->live ? move_configs(p->live, &old, &to, map) :
		      p->front ? move_state(&old, &to, map, &p->state) : 0;
	}
	forget_steps(o);
	kl_intern_free(&o->sim.states);
	o->sim.states = to;
	o->limit_states = 2 * kl_intern_bytes(&to) + FIRST_STATES;
	free(map);
	return ret;
}
