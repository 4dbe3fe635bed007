// SPDX-License-Identifier: GPL-2.0
/*
 * Many rounds of a litmus test (litmus_round.c), by two threads.
 *
 * A round has no time stamp, no tracepoint and no locked instruction except the lock's own,
 * since each of them drains the store buffer.  Each round has an object of its own: the
 * threads walk through an array of cells, and renew all cells at its end.
 */
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "delay.h"
#include "handover.h"
#include "option.h"
#include "rng.h"
#include "litmus_round.h"
#include "litmus_run.h"
#include "team.h"

#define CELLS 128
#define AHEADS 4096	/* pages: more than a cache holds */
#define ROUNDS_MAX 10000000
#define ALONE_BATCHES 64
#define ALONE_ROUNDS 16

struct settings {
	const char *variant;
	const char *cpus;
	u64 rounds;
	u64 duration;	/* ms, 0: no limit */
	u64 seed;
	/* upper bound of the random delay of each thread's start, in turns of an empty loop */
	u64 skew;
	u64 ahead;	/* number of uncached lines that are stored to first, see litmus_round.c */
};

#define NUMBER(field, lo, hi) KLIN_OPTION_NUMBER(struct settings, field, lo, hi)
#define WORD(field) KLIN_OPTION_WORD(struct settings, field)

static const struct klin_option options[] = {
	WORD(variant),
	WORD(cpus),
	NUMBER(rounds, 1, ROUNDS_MAX),
	NUMBER(duration, 0, 86400000),
	NUMBER(seed, 0, U64_MAX),
	NUMBER(skew, 0, 100000),
	NUMBER(ahead, 0, KLIN_AHEAD_MAX),
};

/**
 * struct klin_rounds - one run
 * @team: its two threads
 * @ref: a reference of control.c, and one for each open result file
 * @variant: the steps of a round
 * @rounds: number of rounds
 * @duration: time limit in milliseconds after the start, 0 for none
 * @skew: upper bound of the delay of a thread's start, in turns of an empty loop
 * @ahead: number of lines that a thread stores to first
 * @rng: for each thread, the state of the generator for the skew
 * @at: the barrier: for each thread, the number of the last meeting that it has
 *	reached
 * @finished: number of rounds whose results are complete
 * @alone: duration in ns of thread 0's part of a round while thread 1 is idle
 * @outcome: number of finished rounds for each result, indexed by the result's bits
 * @cells: CELLS of them
 * @memory: for each thread, AHEADS pages to store to, in turn
 * @result: for each thread, a byte for each round
 */
struct klin_rounds {
	struct klin_team team;
	struct kref ref;
	const struct klin_variant *variant;
	u32 rounds;
	u32 duration;
	u32 skew;
	u32 ahead;
	u64 rng[2];
	struct {
		u32 n;
	} ____cacheline_aligned_in_smp at[2];
	u32 finished ____cacheline_aligned_in_smp;
	u32 alone;
	u32 outcome[8];
	struct klin_cell *cells;
	struct klin_ahead *memory[2];
	u8 *result[2];
};

/* Reach meeting @n.  The other thread sees this thread's earlier stores once it sees @n. */
static void come(struct klin_rounds *rs, unsigned int me, u32 n)
{
	smp_store_release(&rs->at[me].n, n);	/* pairs with await_other() */
}

/*
 * Wait until the other thread reaches meeting @n.  The fast path has no cpu_relax(): under TCG
 * it leaves the translated code, and the threads would start far apart.
 *
 * Preemption must be enabled: the stopper of the other CPU (stop_machine()) may have preempted
 * the other thread, and it waits for the stopper of this CPU.
 *
 * Return: false if the run is being stopped.
 */
static bool await_other(struct klin_rounds *rs, unsigned int me, u32 n)
{
	unsigned int turns = 0;

	while (smp_load_acquire(&rs->at[!me].n) < n) {	/* pairs with come() */
		if (++turns < 5000)
			continue;
		cpu_relax();
		if (READ_ONCE(rs->team.stop))
			return false;
		if (turns % 512 == 0)
			klin_nap();
	}
	return true;
}

static bool meet(struct klin_rounds *rs, unsigned int me, u32 n)
{
	come(rs, me, n);
	return await_other(rs, me, n);
}

static void make_cells_new(struct klin_rounds *rs)
{
	unsigned int i;

	for (i = 0; i < CELLS; i++)
		klin_cell_renew(&rs->cells[i]);
}

/* Count the results of the last batch, while both threads are between two batches. */
static void count_batch(struct klin_rounds *rs, u32 end)
{
	u32 r;

	for (r = rs->finished; r < end; r++) {
		u8 bits = rs->result[0][r] | rs->result[1][r];

		WRITE_ONCE(rs->outcome[bits], rs->outcome[bits] + 1);
	}
	smp_store_release(&rs->finished, end);	/* pairs with rounds_finished() */
}

/* Return: the number of rounds whose results can be read. */
static u32 rounds_finished(const struct klin_rounds *rs)
{
	return smp_load_acquire(&rs->finished);	/* pairs with count_batch() */
}

/* Bring the data of the round into this CPU's cache. */
static void warm(const struct klin_cell *c, const struct klin_ahead *ahead)
{
	klin_cell_warm(c);
	(void)READ_ONCE(ahead->first.word);
}

/*
 * Replaces two meetings for thread 0, which holds the lock at the start.  It takes the lock
 * after thread 1 has come, and waits only briefly for thread 1 to come again with a warm
 * cache.
 */
static bool meet_with_lock(struct klin_rounds *rs, struct klin_cell *c,
			   const struct klin_ahead *ahead, u32 n)
{
	unsigned int turns = 0;

	if (!await_other(rs, 0, n))
		return false;
	klin_handover_lock(klin_cell_spinlock(c));
	warm(c, ahead);
	come(rs, 0, n);
	while (smp_load_acquire(&rs->at[1].n) == n && ++turns < 5000)	/* pairs with come() */
		;
	return true;
}

/*
 * Start a round in both threads at about the same time.  Return: false if the run is being
 * stopped.
 */
static bool get_ready(struct klin_rounds *rs, unsigned int me, struct klin_cell *c,
		      const struct klin_ahead *ahead, u32 *meeting)
{
	u32 n = ++*meeting;

	*meeting += rs->variant->trylock;
	if (rs->variant->trylock && me == 0)
		return meet_with_lock(rs, c, ahead, n);
	warm(c, ahead);
	if (!meet(rs, me, n))
		return false;
	if (rs->variant->trylock) {
		warm(c, ahead);
		come(rs, me, n + 1);
	}
	return true;
}

/* Run the rounds of one batch.  Return: false if the run is being stopped. */
static bool run_batch(struct klin_rounds *rs, unsigned int me, u32 from, u32 to, u32 *meeting)
{
	const struct klin_variant *v = rs->variant;
	u32 r;

	for (r = from; r < to; r++) {
		struct klin_cell *c = &rs->cells[r - from];
		struct klin_ahead *ahead = &rs->memory[me][r % AHEADS];
		u32 skew = klin_rng_below(&rs->rng[me], rs->skew + 1);
		u8 result;

		if (!get_ready(rs, me, c, ahead, meeting))
			return false;
		klin_turns(skew);
		result = v->round[me](c, ahead, rs->ahead);
		smp_mb();	/* empties the store buffer between rounds */
		rs->result[me][r] = result;
		if (v->trylock && me == 1 && result)
			klin_handover_unlock(klin_cell_spinlock(c));
	}
	return true;
}

/*
 * Measure thread 0's part of a round, which a recorder makes longer.  Takes the best of
 * several batches after all rounds, so that neither thread 1 nor a time stamp disturbs the
 * measurement.
 */
static void time_alone(struct klin_rounds *rs)
{
	unsigned int i, j;
	u64 ns, best = U64_MAX;

	if (rs->variant->trylock)
		return;
	for (i = 0; i < ALONE_BATCHES; i++) {
		ns = ktime_get_ns();
		for (j = 0; j < ALONE_ROUNDS; j++)
			rs->variant->round[0](&rs->cells[0],
					      &rs->memory[0][(i * ALONE_ROUNDS + j) % AHEADS],
					      rs->ahead);
		best = min(best, ktime_get_ns() - ns);
	}
	WRITE_ONCE(rs->alone, best / ALONE_ROUNDS);
}

static void rounds_body(struct klin_team *team, unsigned int me)
{
	struct klin_rounds *rs = container_of(team, struct klin_rounds, team);
	u32 meeting = 0;
	u32 from;

	for (from = 0; from < rs->rounds && !READ_ONCE(team->stop); from += CELLS) {
		if (me == 0)
			make_cells_new(rs);
		cond_resched_tasks_rcu_qs();
		if (!meet(rs, me, ++meeting))
			return;
		if (!run_batch(rs, me, from, min(from + CELLS, rs->rounds), &meeting))
			return;
		if (!meet(rs, me, ++meeting))
			return;
		if (me == 0)
			count_batch(rs, min(from + CELLS, rs->rounds));
	}
	if (me == 0)
		time_alone(rs);
}

static int check_settings(const struct settings *set, cpumask_t *cpus,
			  const struct klin_variant **variant, struct klin_complaint *c)
{
	int err;

	*variant = set->variant ? klin_variant_find(set->variant) : NULL;
	if (!*variant)
		return klin_complain(c, "variant=%.40s: expected "
				     "{seqlock|trylock|mntput|futex|probed}[_mb], "
				     "probed_wait{3|30|300} or hidden",
				     set->variant ?: "");
	err = klin_team_cpus(set->cpus, cpus, c);
	if (err)
		return err;
	if (cpumask_weight(cpus) < 2)
		return klin_complain(c, "cpus=%*pbl: expected two CPUs or more",
				     cpumask_pr_args(cpus));
	return 0;
}

static void rounds_free(struct klin_rounds *rs)
{
	vfree(rs->memory[1]);
	vfree(rs->memory[0]);
	vfree(rs->result[1]);
	vfree(rs->result[0]);
	vfree(rs->cells);
	kfree(rs);
}

/**
 * klin_rounds_create() - create a run whose threads wait for klin_rounds_start()
 * @settings: words "name=value"; the text is changed
 * @c: receives the complaint
 *
 * Return: the run with one reference, -EINVAL with @c filled, or another error such as
 * -ENOMEM.
 */
struct klin_rounds *klin_rounds_create(char *settings, struct klin_complaint *c)
{
	struct settings set = { .rounds = 100000, .seed = 1, .skew = 160, .ahead = 8 };
	struct klin_rounds *rs;
	cpumask_var_t cpus;
	int err;

	if (!alloc_cpumask_var(&cpus, GFP_KERNEL))
		return ERR_PTR(-ENOMEM);
	rs = kzalloc(sizeof(*rs), GFP_KERNEL);
	if (!rs) {
		err = -ENOMEM;
		goto err_cpus;
	}

	err = klin_options_parse(settings, options, ARRAY_SIZE(options), &set, c);
	if (err)
		goto err_free;
	err = check_settings(&set, cpus, &rs->variant, c);
	if (err)
		goto err_free;

	kref_init(&rs->ref);
	rs->rounds = set.rounds;
	rs->duration = set.duration;
	rs->skew = set.skew;
	rs->ahead = set.ahead;
	rs->rng[0] = klin_rng_seed(set.seed, 0);
	rs->rng[1] = klin_rng_seed(set.seed, 1);

	err = -ENOMEM;
	rs->cells = vzalloc(array_size(CELLS, sizeof(*rs->cells)));
	rs->memory[0] = vzalloc(array_size(AHEADS, sizeof(*rs->memory[0])));
	rs->memory[1] = vzalloc(array_size(AHEADS, sizeof(*rs->memory[1])));
	rs->result[0] = vzalloc(rs->rounds);
	rs->result[1] = vzalloc(rs->rounds);
	if (!rs->cells || !rs->memory[0] || !rs->memory[1] || !rs->result[0] || !rs->result[1])
		goto err_free;
	err = klin_team_create(&rs->team, 2, cpus, rounds_body);
	if (err)
		goto err_free;
	free_cpumask_var(cpus);
	return rs;

err_free:
	rounds_free(rs);
err_cpus:
	free_cpumask_var(cpus);
	return ERR_PTR(err);
}

/**
 * klin_rounds_start() - start the threads of a run
 * @rs: a run that has not started yet
 */
void klin_rounds_start(struct klin_rounds *rs)
{
	klin_team_start(&rs->team, rs->duration);
}

static void rounds_release(struct kref *ref)
{
	rounds_free(container_of(ref, struct klin_rounds, ref));
}

/**
 * klin_rounds_get() - take a reference, which keeps the results of a run
 * @rs: a run that cannot go away during the call
 *
 * Return: @rs.
 */
struct klin_rounds *klin_rounds_get(struct klin_rounds *rs)
{
	kref_get(&rs->ref);
	return rs;
}

/**
 * klin_rounds_put() - drop a reference; the last one frees the run
 * @rs: the run.  control.c stops the run's team before it drops its own reference
 */
void klin_rounds_put(struct klin_rounds *rs)
{
	kref_put(&rs->ref, rounds_release);
}

/**
 * klin_rounds_team() - the threads of a run
 * @rs: the run
 *
 * Return: its team.
 */
struct klin_team *klin_rounds_team(struct klin_rounds *rs)
{
	return &rs->team;
}

/* Prints b (bit 0), then a1 and a2, or ok: the order of litmus_round.c. */
static void show_bits(struct seq_file *s, const struct klin_rounds *rs, unsigned int bits,
		      const char *between)
{
	seq_printf(s, "%u%s%u", bits & 1, between, bits >> 1 & 1);
	if (!rs->variant->two)
		seq_printf(s, "%s%u", between, bits >> 2);
}

/**
 * klin_rounds_show() - write the state of a run as lines "key=value"
 * @s: the file being read
 * @rs: the run
 *
 * The name of an outcome is b a1 a2, or b ok, without the spaces.  Sequential consistency
 * forbids only the outcome of all zeros (non_sc).
 */
void klin_rounds_show(struct seq_file *s, struct klin_rounds *rs)
{
	unsigned int bits;

	seq_printf(s, "variant=%s\n", rs->variant->name);
	seq_printf(s, "rounds=%u\n", rounds_finished(rs));
	seq_printf(s, "non_sc=%u\n", READ_ONCE(rs->outcome[0]));
	seq_printf(s, "alone_ns=%u\n", READ_ONCE(rs->alone));
	for (bits = 0; bits < (rs->variant->two ? 4 : 8); bits++) {
		seq_puts(s, "outcome.");
		show_bits(s, rs, bits, "");
		seq_printf(s, "=%u\n", READ_ONCE(rs->outcome[bits]));
	}
}

/* The result file has a line for each round: "ROUND b a1 a2" or "ROUND b ok". */

static void *seq_at(struct seq_file *s, loff_t pos)
{
	struct klin_rounds *rs = s->private;

	if (!rs || pos >= rounds_finished(rs))
		return NULL;
	return (void *)(uintptr_t)(pos + 1);
}

static void *rounds_seq_start(struct seq_file *s, loff_t *pos)
{
	return seq_at(s, *pos);
}

static void *rounds_seq_next(struct seq_file *s, void *v, loff_t *pos)
{
	return seq_at(s, ++*pos);
}

static void rounds_seq_stop(struct seq_file *s, void *v)
{
}

static int rounds_seq_show(struct seq_file *s, void *v)
{
	const struct klin_rounds *rs = s->private;
	u32 r = (uintptr_t)v - 1;

	seq_printf(s, "%u ", r);
	show_bits(s, rs, rs->result[0][r] | rs->result[1][r], " ");
	seq_putc(s, '\n');
	return 0;
}

const struct seq_operations klin_rounds_seq_ops = {
	.start = rounds_seq_start,
	.next = rounds_seq_next,
	.stop = rounds_seq_stop,
	.show = rounds_seq_show,
};
