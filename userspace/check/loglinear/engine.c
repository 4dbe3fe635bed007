// SPDX-License-Identifier: GPL-2.0
/* The engine `log-linear': which monitor fits, and its answers held against the rest. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/explain/omit.h"
#include "check/engines.h"
#include "check/loglinear/register/zones.h"
#include "check/loglinear/positions.h"
#include "check/loglinear/loglinear.h"
#include "check/loglinear/register/rmw.h"

#define GIVE_WORK	(1u << 24)	/* operations looked at to give pending removals a value, */
#define GIVE_EACH	16		/* and more for each operation */
#define ROOM		8	/* behind an order, for what is written together */
#define CORE_WORK	(100000 * KL_CONFIG_LOOKS)	/* looks for a core, */
#define CORE_EACH	(100 * KL_CONFIG_LOOKS)	/* and more for each operation placed */

static void mono_free(struct mono *m)
{
	free(m->op);
	free(m->ev);
	free(m->call);
	free(m->ret);
	mono_free_peek_times(m);
	free(m->ins);
	free(m->v);
	free(m->words);
	free(m->word_of);
	free(m->wild);
	free(m->deadline);
	free(m->cut);
	free(m->core.words);
	free(m->order);
	free(m->first_peek);
	free(m->first_sight);
	free(m->peek);
	mono_places_free(m->places);
}

static void decline(struct kl_answer *a, const char *why)
{
	a->verdict = KL_UNKNOWN;
	snprintf(a->reason, sizeof(a->reason), "log-linear: %s", why);
}

/*
 * Operations that change nothing and saw what is not known: each before the first
 * that was called after its return.  All that returned before its call is earlier
 * still, or the order would be none.
 */
static int put_free(struct mono *m)
{
	const size_t n = m->nfree;
	struct kl_key *k = malloc(2 * (n + 1) * sizeof(*k));
	struct kl_step *order = kl_big_alloc(((size_t)m->nitems + 1) * sizeof(*order));
	size_t nk = 0, next = 0;
	uint32_t i, to = 0;

	if (!k || !order) {
		free(k);
		free(order);
		return -ENOMEM;
	}
	for (i = 0; i < m->nitems; i++)
		if (mono_kind(m->op[i]) == MONO_FREE)
			k[nk++] = (struct kl_key){ .key = mono_ret(m, i), .val = i };
	kl_sort_keys(k, nk, k + nk);
	for (i = 0; i < m->norder; i++) {
		while (next < nk && k[next].key <= mono_call(m, m->order[i].item))
			order[to++] = (struct kl_step){ .item = k[next++].val };
		order[to++] = m->order[i];
	}
	while (next < nk)
		order[to++] = (struct kl_step){ .item = k[next++].val };
	free(k);
	free(m->order);
	m->order = order;
	m->norder = to;
	return 0;
}

/* The latest calls, of operations that take time or not, of what one thread did on one CPU. */
struct line {
	uint64_t latest, lasting;
	uint32_t thread;
	uint16_t cpu;
	bool used;
};

struct lines {
	struct line *line;
	size_t mask, n;
};

static struct line *place_of(const struct lines *t, uint32_t thread, uint16_t cpu)
{
	size_t at = kl_mix(thread, cpu) & t->mask;

	while (t->line[at].used && (t->line[at].thread != thread || t->line[at].cpu != cpu))
		at = (at + 1) & t->mask;
	return &t->line[at];
}

static int grow_lines(struct lines *t)
{
	struct lines more = { .mask = t->mask ? 2 * t->mask + 1 : 63, .n = t->n };
	size_t i;

	more.line = calloc(more.mask + 1, sizeof(*more.line));
	if (!more.line)
		return -ENOMEM;
	for (i = 0; t->line && i <= t->mask; i++)
		if (t->line[i].used)
			*place_of(&more, t->line[i].thread, t->line[i].cpu) = t->line[i];
	free(t->line);
	*t = more;
	return 0;
}

static struct line *find_line(struct lines *t, const struct kl_op *op)
{
	struct line *l;

	if (2 * t->n >= t->mask && grow_lines(t))
		return NULL;
	l = place_of(t, op->thread, op->cpu);
	t->n += !l->used;
	l->used = true;
	l->thread = op->thread;
	l->cpu = op->cpu;
	return l;
}

/*
 * The order of each thread, which the events do not show: none may come after one of
 * the same line that was called when it had returned, see kl_op_before().  1, 0 or
 * -ENOMEM.
 */
int mono_keeps_lines(const struct mono *m)
{
	struct lines t = { 0 };
	uint32_t i;

	for (i = 0; i < m->norder; i++) {
		const struct kl_op *op = mono_op_of(m, m->order[i].item);
		struct line *l = find_line(&t, op);

		if (!l) {
			free(t.line);
			return -ENOMEM;
		}
		if (op->ret < l->latest || (op->ret == l->lasting && op->call < op->ret))
			break;
		if (op->flags & KL_OP_NOCALL)
			continue;
		l->latest = op->call > l->latest ? op->call : l->latest;
		if (op->call < op->ret && op->call > l->lasting)
			l->lasting = op->call;
	}
	free(t.line);
	return i == m->norder;
}

/* Is the order one of all operations, in time?  1, 0 or -ENOMEM. */
static int in_time(struct mono *m)
{
	/* Of more than is certain no less than that, but for equal times of a thread. */
	const uint64_t error = m->strict ? 0 : m->s->h->error;
	uint64_t latest = 0;
	uint32_t i, left = 0;

	for (i = 0; i < m->nitems; i++)
		left += mono_kind(m->op[i]) < MONO_OUT;
	if (left != m->norder)
		return 0;
	for (i = 0; i < m->norder; i++) {
		const struct kl_op *op = mono_op_of(m, m->order[i].item);

		if (kl_time_add(op->ret, error) < latest)
			return 0;
		latest = op->call > latest ? op->call : latest;
	}
	return m->ties || error ? mono_keeps_lines(m) : 1;
}

static int linearizable(struct mono *m, const struct mono_type *t, struct kl_answer *a)
{
	int ret;

	a->verdict = KL_LINEARIZABLE;
	if (!m->ordered)
		return 0;
	m->norder = 0;
	m->order = kl_big_alloc(((size_t)m->nitems + ROOM) * sizeof(*m->order));
	ret = m->order ? t->order(m) : -ENOMEM;
	if (!ret && m->nfree)
		ret = mono_times(m) ?: put_free(m);
	if (!ret)
		ret = in_time(m);
	if (ret < 0)
		return ret;
	if (!ret) {
		decline(a, "no order found that keeps the order of each thread");
		return 0;
	}
	if (m->lim->no_witness)
		return 0;
	a->steps = m->order;
	a->nsteps = m->norder;
	m->order = NULL;
	return 0;
}

/* The operations of the core: all of its words, whichever use; and what is not known. */
static uint32_t *core_ops(const struct mono *m, uint32_t *count)
{
	uint8_t *in = calloc((size_t)m->nwords + 1, 1);
	uint32_t *ops = malloc(((size_t)m->nitems + 1) * sizeof(*ops)), i, n = 0;

	if (!in || !ops) {
		free(in);
		free(ops);
		return NULL;
	}
	for (i = 0; i < m->core.n; i++)
		in[m->core.words[i]] = 1;
	for (i = 0; i < m->nitems; i++) {
		const enum mono_kind k = mono_kind(m->op[i]);

		if (k == MONO_WILD || i == m->core.item ||
		    (m->nwild && mono_pending(m, i)) ||
		    ((k <= MONO_PEEK || k == MONO_OUT) && in[mono_word_of(m, m->op[i] & MONO_VALUE)]))
			ops[n++] = mono_index(m, i);
	}
	free(in);
	*count = n;
	return ops;
}

int mono_ask_general(const struct kl_slice *s, const struct kl_limits *limits,
		     const struct kl_answer *core, struct kl_answer *a)
{
	struct kl_limits lim = *limits;
	struct kl_part part = { 0 };
	int ret = kl_part_build(s->spec, s->h, s->methods, core->core, core->ncore, s->object,
				false, &part);

	lim.no_witness = true;
	lim.progress = NULL;
	if (!ret)
		ret = kl_frontier_engine.decide(&part, &lim, a);
	kl_part_free(&part);
	return ret == -EOVERFLOW ? 0 : ret;
}

int mono_confirm(const struct kl_slice *s, const struct kl_limits *limits, struct kl_answer *a)
{
	struct kl_answer general = { .verdict = KL_UNKNOWN };
	struct kl_limits lim = *limits;
	int ret;

	lim.work = CORE_WORK;
	lim.each = CORE_EACH;
	ret = mono_ask_general(s, &lim, a, &general);
	if (!ret && general.verdict == KL_VIOLATION) {
		a->verdict = KL_VIOLATION;
		a->fail_event = general.fail_event;
	} else {
		free(a->core);
		a->core = NULL;
		a->ncore = 0;
		decline(a, general.verdict == KL_LINEARIZABLE ?
			"what comes first, or belongs together, is not certain" :
			"what breaks a condition is too much to confirm");
	}
	kl_answer_free(&general);
	return ret;
}

/*
 * The values of the core by themselves have no order, so says the monitor; if the
 * general engine says so too, the whole history has none: take all operations of
 * all other words out of an order, and those that found it empty, and the rest is
 * an order (Proposition 4.3).  A removal whose result is not known may have been of
 * one of them: pending, it need not have taken effect.
 */
static int confirm(struct mono *m, struct kl_answer *a)
{
	uint32_t n = 0;

	/* Of more than is certain there may be no order. */
	if (m->strict)
		return 0;
	if (m->nunknown) {
		decline(a, "removals whose results are not known");
		return 0;
	}
	a->core = core_ops(m, &n);
	a->ncore = n;
	if (!a->core)
		return -ENOMEM;
	snprintf(a->reason, sizeof(a->reason), "%s", m->core.why);
	return mono_confirm(m->s, m->lim, a);
}

static int run(struct mono *m, const struct mono_type *t, struct kl_answer *a)
{
	uint64_t given = 0;
	int ret;

	if (m->again) {
		ret = mono_rename(m);
		if (ret)
			return ret;
		mono_gather(m);
		snprintf(a->reason, sizeof(a->reason), "%u uses of %u values, told apart by when they "
			 "were added and removed", m->nvalues, m->nwords);
	}
	if (m->nunknown) {
		ret = mono_guess_unknown(m);
		if (ret == -EAGAIN)
			decline(a, "many removals whose results are not known");
		if (ret)
			return ret == -EAGAIN ? 0 : ret;
		mono_gather(m);
	}
	ret = m->nwild ? mono_give_wild(m) : 0;
	if (ret)
		return ret;
	for (;;) {
		ret = mono_standard(m);
		if (ret > 0)
			ret = t->decide(m);
		if (ret < 0)
			return ret;
		if (ret)
			return linearizable(m, t, a);
		given += m->nitems;
		ret = m->nwild && given < GIVE_WORK + GIVE_EACH * (uint64_t)m->nitems ?
		      mono_give_more(m) : 0;
		if (ret <= 0)
			return ret < 0 ? ret : confirm(m, a);
	}
}

/* @strict: see timeline.c; cleared if that was all there is to know. */
static int run_on(const struct kl_slice *s, const struct kl_limits *lim, bool *strict,
		  const struct mono_type *t, const struct kl_container *c, struct kl_answer *a)
{
	struct mono m = {
		.s = s, .lim = lim, .c = *c, .strict = *strict,
		.phases = c->kind == KL_CONTAINER_STACK || c->kind == KL_CONTAINER_PQUEUE,
	};
	char why[120];
	int ret = mono_timeline(&m, why, sizeof(why));

	m.hidden = !m.strict;
	if (!m.ties && !s->h->error)
		m.strict = m.hidden = false;
	m.ordered = m.hidden || !lim->no_witness;
	*strict = m.strict;
	if (ret > 0)
		ret = run(&m, t, a);
	else if (!ret)
		decline(a, why);
	mono_free(&m);
	return ret;
}

uint8_t *mono_roles(const struct kl_slice *s)
{
	uint8_t *roles = calloc(s->h->nmethods + 1, sizeof(*roles));
	size_t i;

	for (i = 0; roles && i < s->h->nmethods; i++)
		roles[i] = s->methods[i] < 0 ? KL_ROLE_OTHER :
			   kl_spec_role(s->spec, s->methods[i]);
	return roles;
}

static bool is_other(const struct kl_slice *s, uint16_t method)
{
	return s->methods[method] < 0 ||
	       kl_spec_role(s->spec, s->methods[method]) == KL_ROLE_OTHER;
}

/* Has it operations that are not those of a container?  Other objects' do not matter. */
static bool has_others(const struct kl_slice *s)
{
	const struct kl_history *h = s->h;
	bool others = false;
	size_t i;

	/* Most methods that are only named have no shape. */
	for (i = 0; i < h->nmethods; i++)
		others |= h->arities[i] && is_other(s, i);
	for (i = 0; others && i < s->nops; i++)
		if (is_other(s, kl_op_method(h, &h->ops[s->ops ? s->ops[i] : i])))
			return true;
	return false;
}

/* What the operations that there are use a deque as: what was lost may have been others. */
static int find_deque(const struct kl_slice *s, struct kl_container *c)
{
	bool *used = calloc(kl_spec_nmethods(s->spec) + 1, sizeof(*used));
	size_t i;

	if (!used)
		return -ENOMEM;
	for (i = 0; i < s->nops; i++) {
		const int m = s->methods[kl_op_method(s->h, &s->h->ops[s->ops ? s->ops[i] : i])];

		if (m >= 0)
			used[m] = true;
	}
	if (!s->ngaps)
		c->kind = kl_spec_deque_used(s->spec, used);
	free(used);
	return 0;
}

static int mono_decide(const struct kl_slice *s, const struct kl_limits *lim, struct kl_answer *a)
{
	static const struct mono_type *const types[] = {
		[KL_CONTAINER_QUEUE] = &mono_queue, [KL_CONTAINER_STACK] = &mono_stack,
		[KL_CONTAINER_PQUEUE] = &mono_pqueue, [KL_CONTAINER_REGISTER] = &mono_register,
	};
	struct kl_container c;
	bool strict = true, keyed;
	int ret;

	a->engine = "log-linear";
	a->configs = a->work = s->nops;
	kl_spec_container(s->spec, &c);
	/*
	 * Bounded ones are others, by their pushes that may find it full.  That counts what is
	 * inside: it ties the places of as many values together as there is room for, of all
	 * of which some have to be added and not removed yet, whichever.  So the conditions
	 * here, of two values or of some that cover a time, do not tell whether there is an
	 * order, and values cannot be taken out of one.  We know of none that do, nor of deques
	 * to which is added at both ends, or from both of which is removed: for all of these
	 * there is the engine `ends'.
	 */
	ret = c.kind == KL_CONTAINER_DEQUE ? find_deque(s, &c) : 0;
	if (ret)
		return ret;
	keyed = kl_container_keyed(&c);
	if (!keyed && (c.kind >= sizeof(types) / sizeof(*types) || !types[c.kind])) {
		decline(a, "the specification is no container that there is a monitor for");
		return 0;
	}
	if (s->nops > MONO_VALUE) {
		decline(a, "more operations than it has numbers for");
		return 0;
	}
	if (s->ngaps && keyed) {
		decline(a, "operations were lost");
		return 0;
	}
	if (s->ngaps)
		return mono_gaps(s, lim, a);
	if (keyed)
		return mono_set(s, lim, &c, a);
	if (c.kind == KL_CONTAINER_REGISTER && has_others(s))
		return mono_moves(s, lim, &c, a);
	ret = c.kind == KL_CONTAINER_REGISTER ? mono_blocks(s, lim, &c, a) : 0;
	if (ret || a->verdict == KL_LINEARIZABLE)
		return ret;
	/* First an order of more than is certain; then, if that says nothing, of what is. */
	ret = run_on(s, lim, &strict, types[c.kind], &c, a);
	if (!ret && strict && a->verdict == KL_UNKNOWN) {
		strict = false;
		ret = run_on(s, lim, &strict, types[c.kind], &c, a);
	}
	return ret;
}

const struct kl_engine kl_mono_engine = {
	.name = "log-linear",
	.help = "containers and registers whose values tell operations apart",
	.rank = 10,
	.whole = true, .explains = true,
	.decide_ops = mono_decide,
};
KL_ENGINE(kl_mono_engine);
