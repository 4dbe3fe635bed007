// SPDX-License-Identifier: GPL-2.0
/*
 * Turns lost and missed operations into gaps.
 *
 * Lost: the event did not fit its buffer; the program knows the operation's interval.  Missed: a
 * program did not run, because it was running on that CPU already (an interrupt hit it).  Only a
 * count in the kernel shows misses, so klin reads it often, to bound their time.  A missed call
 * shows as a return without a call.  Without such a return the operation may be open until the end
 * (see loss_bounds.c).
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "record/recorder.h"

#define POLL_NS 50000000ULL	/* nanoseconds between two reads of the kernel's counts */

/*
 * Return: the number of calls that found no place in a slot.  Set *@displaced if an open operation
 * lost its place to a nested call.
 */
static uint64_t sum_missed(const struct kl_recorder *r, const struct kl_group *g, bool *displaced)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < KLIN_SIDES * r->ncpus; i++) {
		sum += *(volatile __u64 *)&g->cpus[i].missed;
		*displaced |= *(volatile __u64 *)&g->cpus[i].displaced;
	}
	return sum;
}

static uint64_t sum_runs(const struct kl_recorder *r, const struct kl_group *g, unsigned int side)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < r->ncpus; i++)
		sum += *(volatile __u64 *)&g->cpus[KLIN_SIDES * i + side].runs;
	return sum;
}

static int read_info(const struct kl_prog *p, struct bpf_prog_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, len);
	return bpf_obj_get_info_by_fd(bpf_program__fd(p->prog), info, &len);
}

/*
 * Note that the count of a program cannot be read.  It is one miss, whose time has no end: later
 * readings could not tell when the runs were missed, so there are none.  Return: the misses.
 */
static uint64_t unreadable(struct kl_recorder *r, struct kl_prog *p, int err)
{
	if (!r->misses_unread)
		kl_warn("the kernel's counts of missed probes cannot be read any more: %s: klin "
			"concludes nothing from what it records from now on; record again",
			strerror(-err));
	r->misses_unread = true;
	p->unread = p->clean = true;
	return p->misses + 1;
}

/*
 * Return: the number of times that the kernel hit a probe and did not run the program.  Hits and
 * runs cannot be read at the same time, and runs between the two reads hide misses or look like
 * misses.  So runs are read before and after the hits.  Hits less the later runs is a lower bound
 * of the misses, hits less the earlier runs an upper bound.  If the upper bound shows no new
 * misses, all misses up to this time are accounted for.
 */
static uint64_t prog_misses(struct kl_recorder *r, const struct kl_group *g, struct kl_prog *p,
			    unsigned int side)
{
	uint64_t hits, misses, runs, most, before = p->deficit;
	struct bpf_prog_info info;
	int err;

	p->clean = true;
	if (p->unread)
		return p->misses;
	if (p->by_module)
		return p->module_fd ? kl_kprobe_module_misses(p) : p->misses;
	if (!p->event[0]) {
		err = read_info(p, &info);
		return err ? unreadable(r, p, err) : info.recursion_misses;
	}
	p->clean = false;
	runs = sum_runs(r, g, side);
	if (!kl_kprobe_profile(r->kernel, p->event, &hits, &misses))
		return unreadable(r, p, -EACCES);
	most = misses + (hits > runs ? hits - runs : 0);
	runs = sum_runs(r, g, side);
	p->deficit = hits > runs ? hits - runs : 0;
	/*
	 * A hit whose program has not run yet looks like a miss, but only at this reading.  A miss
	 * raises the deficit at the next reading, too.
	 */
	misses += p->deficit < before ? p->deficit : before;
	if (misses < p->misses)
		misses = p->misses;
	p->clean = most <= misses;
	return misses;
}

int kl_recorder_readable(const struct kl_recorder *r)
{
	struct bpf_prog_info info;
	uint64_t hits, misses;
	unsigned int i, j;
	int err = 0;

	for (i = 0; !err && i < r->ngroups; i++)
		for (j = 0; !err && j < r->groups[i].nprogs; j++) {
			const struct kl_prog *p = &r->groups[i].progs[j];

			if (p->by_module)
				continue;
			if (!p->event[0])
				err = read_info(p, &info);
			else if (!kl_kprobe_profile(r->kernel, p->event, &hits, &misses))
				err = -EACCES;
		}
	return err;
}

/* Return: the time up to which all misses are accounted for. */
static uint64_t told_until(const struct kl_recorder *r, const struct kl_group *g)
{
	const uint64_t clean = g->clean ? g->clean : r->begin;

	return clean < r->polled_before ? clean : r->polled_before;
}

uint64_t kl_losses_told(const struct kl_recorder *r)
{
	uint64_t least = r->polled_before, told;
	unsigned int i;

	/* Misses that are ignored make no gap, so the time need not wait for their counts. */
	for (i = 0; !r->ignore_misses && i < r->ngroups; i++) {
		told = told_until(r, &r->groups[i]);
		least = told < least ? told : least;
	}
	return least;
}

/* Return: the number of frees that klin_free_twin saw alone. */
static uint64_t sum_covered(const struct kl_recorder *r, const struct kl_group *g)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < r->ncpus; i++)
		sum += *(volatile __u64 *)&g->cpus[KLIN_SIDES * i + KLIN_AT_FREE_TWIN].covered -
		       *(volatile __u64 *)&g->cpus[KLIN_SIDES * i + KLIN_AT_FREE].covered;
	return sum;
}

/*
 * Count the frees that neither klin_free nor its twin saw, when the counts of misses were just
 * read.  The number is exact, at the latest at the next reading.  klin_alloc is only a second net,
 * so its misses do not count.  Return: true if there may be new ones.
 */
static bool unseen_frees(const struct kl_recorder *r, struct kl_group *g)
{
	const uint64_t covered = sum_covered(r, g), missed = g->progs[0].misses;
	const uint64_t unseen = missed > covered ? missed - covered : 0;
	const bool more = unseen > g->unseen;

	if (more)
		g->unseen = unseen;
	return more || g->progs[0].unread;
}

/**
 * kl_losses_poll() - read the counts of misses
 * @r: the recorder
 * @last: read the counts now; else only if the last read was POLL_NS ago
 */
void kl_losses_poll(struct kl_recorder *r, bool last)
{
	uint64_t now = kl_now_ns(), first = kl_times_first(r), missed;
	unsigned int i, j;

	if (!last && now - r->looked < POLL_NS)
		return;
	/* Once kernel code is preemptible, a miss may be on any object and must not be ignored. */
	if (r->ignore_misses || last)
		kl_look_at_preemption(r);
	for (i = 0; i < r->ngroups; i++) {
		struct kl_group *g = &r->groups[i];
		bool more = false, clean = true;

		for (j = 0; j < g->nprogs; j++) {
			missed = prog_misses(r, g, &g->progs[j], j);
			more |= missed > g->progs[j].misses || g->progs[j].unread;
			g->progs[j].misses = missed;
			clean &= g->progs[j].clean;
		}
		if (g->twins)
			more = unseen_frees(r, g);
		/* Unlike a missed run, a call that found no slot may be on any object. */
		missed = sum_missed(r, g, &r->displaced);
		more = (more && !r->ignore_misses) || missed > g->crowded;
		g->crowded = missed;
		if (more) {
			if (!g->miss_from)
				g->miss_from = told_until(r, g);
			g->miss_to = kl_times_last(r);
		}
		if (clean)
			g->clean = first;
	}
	kl_times_look(r);
	r->err = kl_changes_look(r) ?: r->err;
	r->looked = now;
	r->polled_before = r->polled;
	r->polled = first;
	if (!last)
		kl_reader_look(r);
}

static int add_losses(struct kl_recorder *r, const struct klin_cpu *c, uint16_t cpu,
		      uint32_t object)
{
	uint32_t i, n = c->nlosses < KLIN_LOSSES ? c->nlosses : KLIN_LOSSES;
	int err = 0;

	for (i = 0; !err && i < n; i++) {
		const struct klin_loss *l = &c->losses[i];
		struct kl_gap gap = {
			.from = l->from, .to = l->to, .lost = l->count, .object = object,
			.cpu = cpu, .reason = KL_GAP_LOST,
		};

		if (kl_time_add(gap.to, r->h->error) < r->start)
			continue;
		err = kl_history_add_gap(r->h, &gap);
	}
	return err;
}

static int add_misses(struct kl_recorder *r, struct kl_group *g, uint32_t object,
		      struct kl_record_stats *stats)
{
	struct kl_gap gap = { .object = object, .cpu = KL_NO_CPU, .reason = KL_GAP_MISSED };
	uint64_t total = g->crowded;
	unsigned int j;
	int cpu;

	for (j = 0; j < g->nprogs; j++) {
		kl_debug("program '%s' of clause group %td missed %llu runs",
			 bpf_program__name(g->progs[j].prog), g - r->groups,
			 (unsigned long long)g->progs[j].misses);
		if (r->ignore_misses)
			stats->ignored += kl_missed_by(g, j);
		else
			total += kl_missed_by(g, j);
	}
	stats->missed += total;
	for (cpu = 0; cpu < r->ncpus; cpu++)
		stats->missed_calls += g->cpus[KLIN_SIDES * cpu + KLIN_AT_CALL].missed;
	if (!r->ignore_misses)
		stats->missed_calls += kl_missed_by(g, 0);
	if (!kl_missed_span(r, g, &gap.from, &gap.to) ||
	    kl_time_add(gap.to, r->h->error) < r->start)
		return 0;
	return kl_history_add_gap(r->h, &gap);
}

void kl_losses_counts(const struct kl_recorder *r, uint64_t *written, uint64_t *lost)
{
	unsigned int i;
	int j;

	*written = *lost = 0;
	for (i = 0; i < r->ngroups; i++) {
		for (j = 0; j < KLIN_SIDES * r->ncpus; j++) {
			*written += *(volatile __u64 *)&r->groups[i].cpus[j].events;
			*lost += *(volatile __u64 *)&r->groups[i].cpus[j].lost;
		}
	}
}

/**
 * kl_losses_unaccounted() - compare the programs' counts with the events that were read
 * @r: the recorder, detached, with everything read
 *
 * Return: the number of events that were written, but neither read nor lost.  If it is not 0, the
 * function has printed a message, and the whole recording is a gap.
 */
uint64_t kl_losses_unaccounted(const struct kl_recorder *r)
{
	uint64_t written, lost;

	kl_losses_counts(r, &written, &lost);
	if (written == r->received + lost)
		return 0;
	kl_warn("the event counts do not add up (%llu written, %llu read, %llu lost): the whole "
		"recording is a gap; record again", (unsigned long long)written,
		(unsigned long long)r->received, (unsigned long long)lost);
	return written - r->received - lost;
}

/**
 * kl_losses_finish() - turn losses and misses into gaps
 * @r: the recorder, detached, with everything read
 * @stats: gets lost, lent, missed, missed_calls, ignored and unaccounted; nocall grows by the lost
 *	operations whose calls were not seen
 */
int kl_losses_finish(struct kl_recorder *r, struct kl_record_stats *stats)
{
	struct kl_gap all = {
		.from = KL_TIME_MIN, .to = r->end, .cpu = KL_NO_CPU, .reason = KL_GAP_LOST,
	};
	uint32_t object = KL_ALL_OBJECTS;
	unsigned int i;
	int j, err = 0;

	/* With one object, only this object has gaps, if it is in the history. */
	if (r->opts.one_object && r->h->nobjects == 1)
		object = 0;
	for (i = 0; !err && i < r->ngroups; i++) {
		struct kl_group *g = &r->groups[i];

		for (j = 0; !err && j < KLIN_SIDES * r->ncpus; j++) {
			stats->lost += g->cpus[j].lost;
			stats->nocall += g->cpus[j].lost_nocall;
			stats->lent += g->cpus[j].lent;
			err = add_losses(r, &g->cpus[j], j / KLIN_SIDES, object);
		}
		if (!err)
			err = add_misses(r, g, object, stats);
	}
	if (err)
		return err;
	stats->unaccounted = kl_losses_unaccounted(r);
	all.object = object;
	if (!stats->unaccounted && !r->clock_changed && !r->clocks_unknown) {
		if (!r->module_gone || r->module_seen > r->end)
			return 0;
		all.from = r->module_seen;
		all.reason = KL_GAP_MISSED;
	}
	return kl_history_add_gap(r->h, &all);
}
