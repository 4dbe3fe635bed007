// SPDX-License-Identifier: GPL-2.0
/*
 * What a recording did not see, and when it may have happened.  Where two answers
 * are possible it is the one that allows more: a gap that is too long hides
 * something, one that is too short accuses a correct kernel.
 *
 * Nothing here needs a kernel, so unit tests can call it.
 */
#include "record/recorder.h"

/**
 * kl_missed_by() - the operations that a program may have missed
 * @g: the group
 * @prog: which of its programs
 */
uint64_t kl_missed_by(const struct kl_group *g, unsigned int prog)
{
	return g->progs[prog].misses * (g->two ? 2 : 1);
}

/* Clauses of which a return without a call says the same. */
static bool alike(const struct kl_clause *a, const struct kl_clause *b)
{
	return a->group == b->group && !a->found.target->object == !b->found.target->object;
}

/* An operation's clause; NULL if several clauses record this method that are not alike. */
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
 * When an operation that was under way before the recording may return at the
 * latest, without a call like one whose call was missed.
 */
static uint64_t old_until(const struct kl_recorder *r, const struct kl_clause *c, bool object_known)
{
	/* A fresh object is younger than the probes, so nothing on it is old. */
	if (r->opts.fresh)
		return object_known && (r->opts.one_object || r->opts.pid) &&
		       (c->tracepoint || c->found.target->object) ? KL_TIME_MIN : KL_TIME_MAX;
	/* Stacks do not tell who sleeps between two tracepoints. */
	if (c->tracepoint || r->nblocked)
		return KL_TIME_MAX;
	return r->blocked_until > r->settled ? r->blocked_until : r->settled;
}

/*
 * Did a return without a call come from a call in the time of the misses, for certain?  One
 * that lost its place to calls inside it was seen, perhaps long before.
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
 * kl_op_from() - when an operation whose call was not seen was called at the earliest
 * @r: the recorder
 * @op: the operation
 *
 * A call that was missed was missed at the first miss or later; where that is not
 * certain it was under way from the beginning.
 */
uint64_t kl_op_from(const struct kl_recorder *r, const struct kl_op *op)
{
	const struct kl_clause *c = clause_of(r, op);

	return c && !c->tracepoint && call_missed(r, c, true, op->ret) ?
	       r->groups[c->group].miss_from : KL_TIME_MIN;
}

/* The same for one of which so little is known that it becomes a gap. */
uint64_t kl_unknown_from(const struct kl_recorder *r, const struct kl_unknown *u)
{
	if (!u->nocall)
		return u->from;
	return !r->clauses[u->clause].tracepoint && unknown_missed(r, u) ?
	       r->groups[r->clauses[u->clause].group].miss_from : KL_TIME_MIN;
}

/*
 * Until when it may have taken effect.  A function that was under way when the recording
 * began is not seen to return, but has ended when the rest of these have.
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
 * @r: the recorder, with everything read; the groups' ended are set
 *
 * An operation that was under way when the recording began returns without a call
 * too, and stands for no miss.  One that is followed waits for its turn for some rounds,
 * and is counted in the first.
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
 * kl_missed_span() - when operations may have run that a group's programs missed
 * @r: the recorder; kl_count_ended() was called
 * @g: the group
 * @from: the earliest time
 * @to: the latest: the end, unless each missed call is known to have returned
 *
 * Return: false if none were missed.
 */
bool kl_missed_span(const struct kl_recorder *r, const struct kl_group *g, uint64_t *from,
		    uint64_t *to)
{
	uint64_t calls = g->crowded + (r->ignore_misses ? 0 : kl_missed_by(g, 0));

	if (!g->miss_from)
		return false;
	/* An operation whose place was missed lies in a call that may have been long. */
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
 * kl_slot_span() - which frames of a slot may be open, while its task goes on
 * @s: the slot
 * @base: the first of them, modulo KLIN_DEPTH
 * @top: behind the last: at most KLIN_DEPTH after @base
 *
 * The two are not read at one time.  The base rises, so with an old one there may seem to
 * be more frames than there are; and where an interrupt had left it above the top, it comes
 * back (bpf/slots.h).  Then all of them are meant.
 */
void kl_slot_span(const volatile struct klin_slot *s, uint32_t *base, uint32_t *top)
{
	*base = s->base;
	*top = s->top;
	if (*top - *base > KLIN_DEPTH || s->base != *base)
		*base = *top - KLIN_DEPTH;
}

/* May the operation write? */
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

/* May something in [from, to] have been under way during the cut? */
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
 * kl_quiet() - was nothing being written while all CPUs drained?
 * @r: the recorder; kl_count_ended() was called
 * @cut: when they did
 *
 * What was lost, missed or seen in part may have been a write.  But an operation of which
 * neither call nor return was seen stays in the history, whose engines let it take effect
 * before, at or after any time, and its store wait in the buffer.
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
