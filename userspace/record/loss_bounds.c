// SPDX-License-Identifier: GPL-2.0
/*
 * Bounds of the times of operations that a recording did not see.  Where a bound is uncertain, the
 * wider one is taken.  A gap that is too long hides a violation; a gap that is too short accuses a
 * correct kernel.
 *
 * Nothing here needs a kernel, so unit tests can call it.
 */
#include "record/recorder.h"

/**
 * kl_missed_by() - count the operations that a program may have missed
 * @g: the group
 * @prog: index of the program in the group
 *
 * Return: the number of operations.
 */
uint64_t kl_missed_by(const struct kl_group *g, unsigned int prog)
{
	if (g->twins)
		return prog == 1 ? g->unseen : 0;
	return g->progs[prog].misses * (g->two ? 2 : 1);
}

/* Return: true if the same bounds hold for returns without a call of either clause. */
static bool alike(const struct kl_clause *a, const struct kl_clause *b)
{
	return a->group == b->group && !a->found.target->object == !b->found.target->object;
}

/* Return: a clause of the operation's method; NULL if the method's clauses are not alike. */
static const struct kl_clause *clause_of(const struct kl_recorder *r, const struct kl_op *op)
{
	const struct kl_clause *found = NULL;
	unsigned int i;

	for (i = 0; i < r->nclauses; i++) {
		const struct kl_clause *c = &r->clauses[i];

		if (c->history_method != kl_op_method(r->h, op))
			continue;
		if (found && !alike(found, c))
			return NULL;
		found = c;
	}
	return found;
}

/*
 * Return: the latest time at which an operation that was open before the recording may return.  Its
 * return has no call, like the return of an operation whose call was missed.  @object_known: the
 * operation's object is known.
 */
static uint64_t old_until(const struct kl_recorder *r, const struct kl_clause *c, bool object_known)
{
	/* A fresh object is younger than the probes, so none of its operations is older. */
	if (r->opts.fresh)
		return object_known && (r->opts.one_object || r->opts.pid) &&
		       (c->tracepoint || c->found.target->object) ? KL_TIME_MIN : KL_TIME_MAX;
	/* Stacks do not show which tasks sleep between two tracepoints. */
	if (c->tracepoint || r->nblocked)
		return KL_TIME_MAX;
	return r->blocked_until > r->settled ? r->blocked_until : r->settled;
}

/*
 * Return: true if a return without a call certainly belongs to a missed call.  It may not if a call
 * was displaced from a full slot: that call was seen, perhaps long before the first miss.
 */
static bool call_missed(const struct kl_recorder *r, const struct kl_clause *c, bool object_known,
			uint64_t ret)
{
	uint64_t from = r->groups[c->group].miss_from, old = old_until(r, c, object_known);

	return from && !r->displaced && ret >= kl_time_add(from, r->h->error) &&
	       ret > kl_time_add(old, r->h->error);
}

static bool unknown_missed(const struct kl_recorder *r, const struct kl_unknown *u)
{
	return call_missed(r, &r->clauses[u->clause], u->object != KL_ALL_OBJECTS, u->to);
}

/**
 * kl_op_from() - find the earliest time of a call that was not seen
 * @r: the recorder
 * @op: the operation
 *
 * A missed call was at the first miss or later.  If the call was perhaps not missed, the operation
 * may have been open from the start.
 *
 * Return: the time, in the history's clock.
 */
uint64_t kl_op_from(const struct kl_recorder *r, const struct kl_op *op)
{
	const struct kl_clause *c = clause_of(r, op);

	return c && !c->tracepoint && call_missed(r, c, true, op->ret) ?
	       r->groups[c->group].miss_from : KL_TIME_MIN;
}

/*
 * Return: the earliest time of the call of @u, an operation that becomes a gap.  A call that was
 * not seen has the bound of kl_op_from().
 */
uint64_t kl_unknown_from(const struct kl_recorder *r, const struct kl_unknown *u)
{
	if (!u->nocall)
		return u->from;
	return !r->clauses[u->clause].tracepoint && unknown_missed(r, u) ?
	       r->groups[r->clauses[u->clause].group].miss_from : KL_TIME_MIN;
}

/*
 * Return: the latest time at which the operation may have taken effect.  The return of a function
 * that was open when the recording began is not seen, but old_until() bounds it.
 */
uint64_t kl_unknown_to(const struct kl_recorder *r, const struct kl_unknown *u)
{
	const struct kl_clause *c = &r->clauses[u->clause];
	const struct kl_group *g = &r->groups[c->group];
	uint64_t old = old_until(r, c, u->object != KL_ALL_OBJECTS);

	if (!u->hit || u->hit > old || old == KL_TIME_MAX || g->crowded || g->progs[0].misses)
		return u->to;
	return old < u->to ? old : u->to;
}

/**
 * kl_count_ended() - count the missed calls that have returned for certain
 * @r: the recorder, with everything read; the function sets @ended of all groups
 *
 * An operation that was open when the recording began returns without a call, too, and is no miss.
 * In a followed recording an operation may wait for several rounds; it is counted in the first.
 */
void kl_count_ended(struct kl_recorder *r)
{
	unsigned int g;
	size_t i;

	for (g = 0; g < r->ngroups; g++)
		r->groups[g].ended = 0;
	for (i = r->follow.counted; i < r->h->nops; i++) {
		const struct kl_op *op = &r->h->ops[i];
		const struct kl_clause *c;

		if (!(op->flags & KL_OP_NOCALL) || op->ret > r->end)
			continue;
		c = clause_of(r, op);
		if (c && call_missed(r, c, true, op->ret))
			r->groups[c->group].ended++;
	}
	for (i = 0; i < r->nunknown; i++) {
		const struct kl_unknown *u = &r->unknown[i];

		if (u->nocall && u->to <= r->end && unknown_missed(r, u))
			r->groups[r->clauses[u->clause].group].ended++;
	}
}

/**
 * kl_missed_span() - find the times at which operations that a group missed may have run
 * @r: the recorder; kl_count_ended() was called
 * @g: the group
 * @from: gets the earliest time
 * @to: gets the latest time: the recording's end, unless each missed call is known to have returned
 *
 * Return: true, or false if the group missed no operation.
 */
bool kl_missed_span(const struct kl_recorder *r, const struct kl_group *g, uint64_t *from,
		    uint64_t *to)
{
	uint64_t calls = g->crowded + (r->ignore_misses ? 0 : kl_missed_by(g, 0));

	if (!g->miss_from)
		return false;
	/* A missed execution of a place may be inside a long call. */
	if (g->place && g->progs[2].misses) {
		*from = KL_TIME_MIN;
		*to = r->end;
		return true;
	}
	*from = g->miss_from;
	*to = calls > g->ended ? r->end : g->miss_to;
	if (*to < *from)
		*to = *from;
	return true;
}

/**
 * kl_slot_span() - find the frames of a slot that may be open while its task runs
 * @s: the slot
 * @base: gets the first frame, modulo KLIN_DEPTH
 * @top: gets the end of the frames, at most KLIN_DEPTH after @base
 *
 * The slot's base and top are not read at the same time.  The base rises, so an old base gives too
 * many frames.  If an interrupt has left the base above the top, the base goes back later
 * (bpf/slots.h); then the span has all frames.
 */
void kl_slot_span(const volatile struct klin_slot *s, uint32_t *base, uint32_t *top)
{
	*base = s->base;
	*top = s->top;
	if (*top - *base > KLIN_DEPTH || s->base != *base)
		*base = *top - KLIN_DEPTH;
}

/* Return: true if the operation may write. */
bool kl_op_writes(const struct kl_recorder *r, const struct kl_op *op)
{
	unsigned int i;

	for (i = 0; i < r->nclauses; i++)
		if (r->clauses[i].history_method == kl_op_method(r->h, op))
			return !r->clauses[i].method->pure;
	return true;
}

static bool group_writes(const struct kl_recorder *r, unsigned int group)
{
	unsigned int i;

	for (i = 0; i < r->nclauses; i++)
		if (r->clauses[i].group == group && !r->clauses[i].method->pure)
			return true;
	return false;
}

/* Return: true if an operation in [from, to] may have been open during the cut. */
static bool meets(const struct kl_recorder *r, const struct kl_cut *cut, uint64_t from, uint64_t to)
{
	return from <= kl_time_add(cut->to, r->h->error) &&
	       kl_time_add(to, r->h->error) >= cut->from;
}

static bool lost_meets(const struct kl_recorder *r, const struct kl_cut *cut,
		       const struct klin_cpu *c)
{
	uint32_t i, n = c->nlosses < KLIN_LOSSES ? c->nlosses : KLIN_LOSSES;

	for (i = 0; i < n; i++)
		if (meets(r, cut, c->losses[i].from, c->losses[i].to))
			return true;
	return false;
}

/**
 * kl_quiet() - check that no operation wrote while all CPUs drained
 * @r: the recorder; kl_count_ended() was called
 * @cut: the period in which all CPUs drained
 *
 * Lost, missed and partly seen operations may have been writes.  An operation with neither call nor
 * return does not count.  It stays in the history, where engines let it take effect at any time,
 * and let its stores wait in the buffer.
 *
 * Return: true if no operation wrote.
 */
bool kl_quiet(const struct kl_recorder *r, const struct kl_cut *cut)
{
	const struct kl_history *h = r->h;
	uint64_t from, to;
	unsigned int g;
	size_t i;
	int j;

	for (i = 0; i < h->nops; i++)
		if ((h->ops[i].flags & KL_OP_UNSEEN) != KL_OP_UNSEEN &&
		    meets(r, cut, h->ops[i].call, h->ops[i].ret) && kl_op_writes(r, &h->ops[i]))
			return false;
	for (i = 0; i < r->nunknown; i++)
		if (!r->clauses[r->unknown[i].clause].method->pure &&
		    meets(r, cut, kl_unknown_from(r, &r->unknown[i]), r->unknown[i].to))
			return false;
	for (g = 0; g < r->ngroups; g++) {
		if (!group_writes(r, g))
			continue;
		if (kl_missed_span(r, &r->groups[g], &from, &to) && meets(r, cut, from, to))
			return false;
		for (j = 0; j < KLIN_SIDES * r->ncpus; j++)
			if (lost_meets(r, cut, &r->groups[g].cpus[j]))
				return false;
	}
	return true;
}
