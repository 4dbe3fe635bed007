// SPDX-License-Identifier: GPL-2.0
/* The operations that may be omitted, and the histories of counterexamples; see omit.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/explain/omit.h"
#include "history/spell.h"
#include "spec/classify/ends.h"
#include "spec/classify/container.h"

/* An operation of a counterexample. */
struct kept_op {
	struct kl_op op;	/* with the thread and object of the counterexample's history */
	uint64_t drain;		/* see kl_op_drain() */
	uint32_t orig;		/* its index in the whole history */
};

static const struct kl_method *method_of(const struct kl_cut *c, const struct kl_op *op)
{
	return kl_spec_method(c->spec,
			      kl_spec_find_method(c->spec, c->h->methods[kl_op_method(c->h, op)]));
}

static const struct kl_method *method_in(const struct kl_spec *spec, const struct kl_history *h,
					 const struct kl_op *op, unsigned int *index)
{
	*index = kl_spec_find_method(spec, h->methods[kl_op_method(h, op)]);
	return kl_spec_method(spec, *index);
}

/*
 * The single state to which an operation leads if it changes anything, from any state before.  With
 * a partition by key, only the slots of the operation's key count.
 */
struct overwrite {
	struct kl_val *state;
	size_t len, outcomes;
	size_t all;		/* number of slots that must get a value */
	bool known, changed;	/* @state is valid; some outcome changes the state */
};

static int on_overwrite(void *ctx, const struct kl_outcome *o)
{
	struct overwrite *w = ctx;
	size_t i;

	w->outcomes++;
	w->known = o->nwrote == w->all && o->len == w->len;
	for (i = 0; w->known && i < o->nwrote; i++)
		w->known = o->state[o->wrote[i]].tag != KL_ANY;
	if (w->known)
		memcpy(w->state, o->state, o->len * sizeof(*o->state));
	return 0;
}

/* As on_overwrite(), but outcomes that change nothing are ignored. */
static int on_change(void *ctx, const struct kl_outcome *o)
{
	struct overwrite *w = ctx;
	bool same = w->changed && o->len == w->len;
	size_t i;

	if (!o->changed)
		return 0;
	for (i = 0; same && i < o->len; i++)
		same = kl_val_eq(o->state[i], w->state[i]);
	if (same)
		return 0;
	/* The operation leads to two states. */
	if (w->changed) {
		w->known = false;
		return 1;
	}
	w->changed = true;
	return on_overwrite(w, o) ?: !w->known;
}

static int on_any(void *ctx, const struct kl_outcome *o)
{
	return 1;
}

/*
 * Return: true if the results are those in @want.  For unknown results a known one must tell it,
 * which is not the value, and differs in @not.
 */
static bool gave(const struct kl_end_method *e, const struct kl_val *res, const struct kl_val *want,
		 const struct kl_val * not )
{
	bool all = true, told = false;
	unsigned int i;

	for (i = 0; i < e->nresults && (res[i].tag == KL_ANY || kl_val_eq(res[i], want[i])); i++) {
		all &= res[i].tag != KL_ANY;
		told |= res[i].tag != KL_ANY && !kl_val_eq(want[i], not [i]) &&
			(i != e->value || e->act == KL_END_PUSH);
	}
	return i == e->nresults && (all || told);
}

/*
 * Return: true if the operation pushes, pops or looks at an end of a queue, stack or deque, see
 * ends.h.
 */
static bool at_end(const struct kl_spec *spec, const struct kl_history *h, const struct kl_op *op,
		   struct kl_end_method *e)
{
	struct kl_container c;
	unsigned int m;

	kl_spec_container(spec, &c);
	method_in(spec, h, op, &m);
	return (c.kind == KL_CONTAINER_QUEUE || c.kind == KL_CONTAINER_STACK ||
		c.kind == KL_CONTAINER_DEQUE) && kl_spec_end_method(spec, m, e) &&
	       (e->replaces < 0 || kl_val_eq(kl_op_args(h, op)[e->replaces], kl_word(0)));
}

static bool found_full(const struct kl_spec *spec, const struct kl_history *h,
		       const struct kl_op *op)
{
	struct kl_end_method e;

	return op->ret != KL_TIME_MAX && at_end(spec, h, op, &e) && e.bounded &&
	       gave(&e, kl_op_res(h, op), e.other, e.done);
}

/*
 * Return: true if the container never holds more values than fit.  Then there is also room with
 * fewer values.
 */
static bool keeps_bound(const struct kl_spec *spec, const struct kl_history *h,
			const struct kl_end_method *e)
{
	struct kl_container c;

	kl_spec_container(spec, &c);
	return e->most < 0 && c.init && h->fresh && !h->ngaps;
}

/*
 * kl_op_word() for an operation at an end, see at_end().  The results of an operation that returned
 * after @end are not used.
 */
static bool word_at_end(const struct kl_spec *spec, const struct kl_history *h,
			const struct kl_op *op, uint64_t end, enum kl_role *role,
			struct kl_val *word)
{
	static const enum kl_role roles[] = {
		[KL_END_PUSH] = KL_ROLE_ADD, [KL_END_POP] = KL_ROLE_REMOVE,
		[KL_END_LOOK] = KL_ROLE_PEEK,
	};
	const struct kl_val *res = kl_op_res(h, op);
	struct kl_end_method e;

	if (!at_end(spec, h, op, &e) || (e.bounded && !keeps_bound(spec, h, &e)))
		return false;
	*role = roles[e.act];
	*word = e.act == KL_END_PUSH ? kl_op_args(h, op)[e.value] : res[e.value];
	if (op->ret == KL_TIME_MAX || op->ret > end)
		return true;
	if (e.act == KL_END_PUSH)
		return gave(&e, res, e.done, e.other);
	if (gave(&e, res, e.other, e.done))
		*word = kl_special(KL_EMPTY);
	return true;
}

static bool word_until(const struct kl_spec *spec, const struct kl_history *h,
		       const struct kl_op *op, uint64_t end, enum kl_role *role,
		       struct kl_val *word)
{
	unsigned int m;
	const struct kl_method *method = method_in(spec, h, op, &m);

	*role = kl_spec_role(spec, m);
	if (*role == KL_ROLE_OTHER)
		return word_at_end(spec, h, op, end, role, word);
	*word = method->nparams ? kl_op_args(h, op)[0] : kl_op_res(h, op)[0];
	return true;
}

bool kl_op_word(const struct kl_spec *spec, const struct kl_history *h, const struct kl_op *op,
		enum kl_role *role, struct kl_val *word)
{
	return word_until(spec, h, op, KL_TIME_MAX, role, word);
}

/* Return: true if the result of an addition or a removal shows that it changed nothing. */
static bool changed_nothing(const struct kl_history *h, const struct kl_op *op, enum kl_role role)
{
	const struct kl_val *res = kl_op_res(h, op);

	return (role == KL_ROLE_ADD || role == KL_ROLE_REMOVE) && kl_op_sig(h, op)->nres &&
	       op->ret != KL_TIME_MAX && res->tag == KL_WORD && !res->v;
}

bool kl_word_leaves_no_trace(const struct kl_spec *spec, const struct kl_history *h,
			     uint64_t word, uint32_t op, const uint32_t *kept, size_t n,
			     uint64_t end)
{
	const struct kl_val v = kl_word(word);
	struct kl_container c;
	struct kl_val other;
	enum kl_role role;
	size_t i;

	kl_spec_container(spec, &c);
	for (i = 0; i < n; i++) {
		const struct kl_op *o = &h->ops[kept[i]];

		if (kept[i] == op)
			continue;
		if (!word_until(spec, h, o, end, &role, &other))
			return false;
		/* A peek with an unknown result fits everything, unless its argument is a key. */
		if (other.tag == KL_ANY && role == KL_ROLE_PEEK && !kl_container_keyed(&c))
			continue;
		/*
		 * A pending operation need not have taken effect, so it is omitted with its word.
		 */
		if (o->ret != KL_TIME_MAX && o->ret <= end &&
		    (other.tag == KL_ANY || kl_val_eq(v, other)))
			return false;
	}
	return true;
}

/*
 * Return: true if operation @op of a container may be omitted, because it changed nothing, or
 * because no other operation of its word is kept.
 */
static bool no_trace_in_container(const struct kl_spec *spec, const struct kl_history *h,
				  uint32_t op, const uint32_t *kept, size_t n, uint64_t end)
{
	struct kl_container c;
	struct kl_val word;
	enum kl_role role;

	kl_spec_container(spec, &c);
	if (c.kind == KL_CONTAINER_NONE || !kl_op_word(spec, h, &h->ops[op], &role, &word))
		return false;
	/* The operation found nothing to remove, or the set had the added word already. */
	if ((word.tag == KL_EMPTY && role == KL_ROLE_REMOVE) ||
	    (kl_container_keyed(&c) && changed_nothing(h, &h->ops[op], role)))
		return true;
	return word.tag == KL_WORD &&
	       kl_word_leaves_no_trace(spec, h, word.v, op, kept, n, end);
}

int kl_may_omit(const struct kl_spec *spec, struct kl_run *run, const struct kl_history *h,
		uint32_t op, const uint32_t *kept, size_t n, uint64_t end, bool tso)
{
	const struct kl_op *o = &h->ops[op];
	struct overwrite w = { 0 };
	unsigned int m;
	const struct kl_method *method = method_in(spec, h, o, &m);
	const struct kl_val *any;
	struct kl_val *before, *after;
	size_t i;
	int ret;

	if (method->pure)
		return 1;
	if (!tso && (no_trace_in_container(spec, h, op, kept, n, end) || found_full(spec, h, o)))
		return 1;
	if ((tso && !method->blind) || !kl_spec_fixed_size(spec))
		return 0;
	any = kl_run_init(run, false, &w.len);
	before = malloc(3 * (w.len + 1) * sizeof(*before));
	if (!any || !before) {
		free(before);
		return -ENOMEM;
	}
	memcpy(before, any, w.len * sizeof(*any));
	w.all = kl_spec_key_slots(spec) ?: w.len;
	w.state = before + w.len;
	after = w.state + w.len;
	ret = kl_run_apply(run, before, w.len, m, kl_op_args(h, o), kl_op_res(h, o),
			   tso ? on_overwrite : on_change, &w);
	if (!ret && !tso && !w.changed) {
		free(before);
		return 1;
	}
	if (ret >= 0)
		ret = !ret && w.known && (!tso || w.outcomes == 1);
	for (i = 0; i < n && ret == 1; i++) {
		const struct kl_op *k = &h->ops[kept[i]];
		const struct kl_method *km = method_in(spec, h, k, &m);
		int seen;

		if (kept[i] == op)
			continue;
		/* A blind operation that writes only part of the state passes the rest on. */
		if (km->blind) {
			struct overwrite full = { .state = after, .len = w.len, .all = w.all };

			ret = kl_run_apply(run, before, w.len, m, kl_op_args(h, k), kl_op_res(h, k),
					   on_overwrite, &full);
			if (!ret)
				ret = full.outcomes == 1 && full.known;
			continue;
		}
		if (tso && !km->pure && !km->flush) {
			ret = 0;
			break;
		}
		seen = kl_run_apply(run, w.state, w.len, m, kl_op_args(h, k), kl_op_res(h, k),
				    on_any, NULL);
		ret = seen < 0 ? seen : !seen;
	}
	free(before);
	return ret == -ENOMEM ? ret : ret == 1;
}

int kl_op_impossible(const struct kl_spec *spec, struct kl_run *run, const struct kl_history *h,
		     uint32_t op, uint64_t end)
{
	const struct kl_op *o = &h->ops[op];
	const struct kl_val *init;
	struct kl_val *any;
	unsigned int m;
	size_t len;
	int ret;

	if (o->ret == KL_TIME_MAX || o->ret > end)
		return 0;
	init = kl_run_init(run, false, &len);
	any = malloc((len + 1) * sizeof(*any));
	if (!init || !any) {
		free(any);
		return -ENOMEM;
	}
	memcpy(any, init, len * sizeof(*any));
	method_in(spec, h, o, &m);
	ret = kl_run_apply(run, any, len, m, kl_op_args(h, o), kl_op_res(h, o), on_any, NULL);
	free(any);
	return ret == -ENOMEM ? ret : !ret;
}

int kl_cut_init(struct kl_cut *c, const struct kl_spec *spec, const struct kl_history *h,
		const uint32_t *ops, size_t n, bool forgot, uint64_t time, uint64_t end)
{
	size_t i;

	*c = (struct kl_cut){
		.spec = spec, .h = h, .forgot = forgot, .time = time, .end = end,
	};
	c->drained = calloc(h->nthreads + 1, sizeof(*c->drained));
	if (!c->drained)
		return -ENOMEM;
	for (i = 0; i < n && forgot; i++) {
		const struct kl_op *op = &h->ops[ops[i]];

		if (op->ret <= time && c->drained[op->thread] < kl_op_empty(h, op) &&
		    !method_of(c, op)->pure)
			c->drained[op->thread] = kl_op_empty(h, op);
	}
	return 0;
}

void kl_cut_free(struct kl_cut *c)
{
	free(c->drained);
	c->drained = NULL;
}

/*
 * Return: the time by which all stores of forgotten operations have left the store buffers.  For
 * each thread it is c->drained, or an earlier drain by a kept operation of the thread that was
 * called after the cut.
 */
static uint64_t drained_by(const struct kl_cut *c, const struct kept_op *k, size_t n)
{
	uint64_t end = c->time, t;
	size_t thread, i;

	for (thread = 0; thread < c->h->nthreads; thread++) {
		t = c->drained[thread];
		for (i = 0; i < n && t > end; i++) {
			const struct kl_op *op = &c->h->ops[k[i].orig];

			if (op->thread != thread || op->ret > c->end || op->call <= c->time)
				continue;
			if (kl_op_empty(c->h, op) < t)
				t = kl_op_empty(c->h, op);
			if (op->ret < t && method_of(c, op)->barrier_always)
				t = op->ret;
		}
		if (t > end)
			end = t;
	}
	return end;
}

static int by_call(const void *a, const void *b)
{
	const struct kept_op *x = a, *y = b;

	if (x->op.call != y->op.call)
		return x->op.call < y->op.call ? -1 : 1;
	if (x->op.ret != y->op.ret)
		return x->op.ret < y->op.ret ? -1 : 1;
	return x->orig < y->orig ? -1 : 1;
}

static int add_op(struct kl_history *h, const struct kl_history *whole, struct kept_op *k)
{
	const struct kl_op *from = &whole->ops[k->orig];
	struct kl_opsig s = *kl_op_sig(whole, from);
	const char *name = whole->methods[s.method];
	int64_t object = kl_history_object(h, whole->objects[from->object]);
	int64_t thread = kl_history_thread(h, whole->threads[from->thread]);
	int64_t method = kl_history_method(h, name, strlen(name));
	int ret;

	if (object < 0 || thread < 0 || method < 0)
		return -ENOMEM;
	k->op.object = object;
	k->op.thread = thread;
	s.method = method;
	ret = kl_history_add(h, &k->op, &s, kl_op_args(whole, from), kl_op_res(whole, from));
	return ret ?: kl_history_set_points(h, h->nops - 1, kl_op_point(whole, from), k->drain);
}

static int add_gaps(struct kl_history *h, const struct kl_cut *c, const struct kept_op *k,
		    size_t n, bool tso)
{
	const uint32_t object = c->h->ops[k[0].orig].object;
	struct kl_gap cut = {
		.to = tso ? drained_by(c, k, n) : c->time,
		.object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU, .reason = KL_GAP_CUT,
	};
	size_t i;
	int ret = 0;

	for (i = 0; i < c->h->ngaps && !ret; i++) {
		struct kl_gap g = c->h->gaps[i];

		if (c->forgot && g.to <= c->time && !tso)
			continue;
		if (g.object != KL_ALL_OBJECTS && g.object != object &&
		    kl_spec_partition(c->spec) != KL_PART_NONE)
			continue;
		g.object = KL_ALL_OBJECTS;
		ret = kl_history_add_gap(h, &g);
	}
	return ret || !c->forgot ? ret : kl_history_add_gap(h, &cut);
}

int kl_cut_history(const struct kl_cut *c, const uint32_t *kept, size_t n, bool tso,
		   struct kl_history **out, uint32_t *order)
{
	struct kl_history *h = kl_history_new();
	struct kept_op *k = calloc(n + 1, sizeof(*k));
	size_t i;
	int ret = -ENOMEM;

	if (!h || !k)
		goto err;
	h->clock = c->h->clock;
	h->error = c->h->error;
	h->ncpus = c->h->ncpus;
	h->fresh = c->h->fresh && !c->forgot;
	kl_history_share_spellings(h, c->h);
	h->memory = c->h->memory;
	if (kl_history_copy_coverage(h, c->h))
		goto err;
	for (i = 0; i < n; i++) {
		k[i].op = c->h->ops[kept[i]];
		k[i].drain = kl_op_drain(c->h, &c->h->ops[kept[i]]);
		k[i].orig = kept[i];
		if (k[i].op.ret > c->end) {
			k[i].op.ret = KL_TIME_MAX;
			k[i].op.flags |= KL_OP_PENDING;
		}
		if (k[i].drain > c->end)
			k[i].drain = KL_TIME_MAX;
	}
	qsort(k, n, sizeof(*k), by_call);
	for (i = 0, ret = 0; i < n && !ret; i++) {
		ret = add_op(h, c->h, &k[i]);
		order[i] = k[i].orig;
	}
	if (!ret && n)
		ret = add_gaps(h, c, k, n, tso);
	if (!ret)
		ret = kl_history_finish(h);
	if (ret)
		goto err;
	free(k);
	*out = h;
	return 0;
err:
	free(k);
	kl_history_free(h);
	return ret;
}
