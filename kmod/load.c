// SPDX-License-Identifier: GPL-2.0
/*
 * The load: threads bound to CPUs call the operations of one fresh object.
 *
 * The load can wait for its reader ("lossless"): the threads pause while they are more than a
 * given number of operations ahead of the reader's acknowledgement.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "delay.h"
#include "load.h"
#include "option.h"
#include "rng.h"
#include "subject.h"
#include "team.h"

#define BATCH 64	/* steps between two expensive checks */

struct settings {
	const char *subject;
	const char *cpus;
	u64 threads;	/* 0: one for each CPU */
	u64 mix;	/* percentage of reads, or of trylocks among all attempts to take a lock */
	u64 rate;	/* operations a second by each thread, 0: no limit */
	u64 duration;	/* ms, 0: no limit */
	u64 ops;	/* total of all threads, 0: no limit */
	u64 seed;
	u64 delay;	/* ns in the critical windows */
	u64 work;	/* ns between operations */
	u64 drain;	/* operations between two drains of a thread's store buffer, 0: never */
	u64 lossless;	/* operations that the reader may lag behind, 0: no limit */
	u64 paused;	/* 1: create the object, but wait for "start" */
};

#define NUMBER(field, lo, hi) KLIN_OPTION_NUMBER(struct settings, field, lo, hi)
#define WORD(field) KLIN_OPTION_WORD(struct settings, field)

static const struct klin_option options[] = {
	WORD(subject),
	WORD(cpus),
	NUMBER(threads, 1, KLIN_TEAM_MAX),
	NUMBER(mix, 0, 100),
	NUMBER(rate, 0, 10000000),
	NUMBER(duration, 0, 86400000),
	NUMBER(ops, 0, 1ULL << 40),
	NUMBER(seed, 0, U64_MAX),
	NUMBER(delay, 0, 1000000),
	NUMBER(work, 0, 1000000),
	NUMBER(drain, 0, 1000000000),
	NUMBER(lossless, 0, 1ULL << 40),
	NUMBER(paused, 0, 1),
};

/**
 * struct klin_load - one run
 * @team: its threads
 * @set: its settings; the strings in it are no longer valid
 * @group: the subject's group
 * @object: the object that the threads work on
 * @workers: one for each thread
 * @nworkers: number of threads
 * @quota: number of operations of each thread
 * @work_turns: turns of an empty loop between operations
 * @look_every: number of steps between two checks of the reader's lag
 * @acked: number of operations that the reader has acknowledged
 */
struct klin_load {
	struct klin_team team;
	struct settings set;
	const struct klin_group *group;
	struct klin_object *object;
	struct klin_worker *workers;
	unsigned int nworkers;
	u64 quota;
	u32 work_turns;
	u32 look_every;
	u64 acked;
};

static u64 produced(const struct klin_load *load)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < load->nworkers; i++)
		sum += READ_ONCE(load->workers[i].ops);
	for (i = 0; i < load->object->nothers; i++)
		sum += READ_ONCE(load->object->others[i].ops);
	return sum;
}

static bool reader_follows(const struct klin_load *load)
{
	return READ_ONCE(load->acked) + load->set.lossless >= produced(load);
}

static void wait_for_reader(struct klin_load *load, struct klin_worker *w)
{
	if (reader_follows(load))
		return;
	WRITE_ONCE(w->stalls, w->stalls + 1);
	wait_event_idle(load->team.wait, reader_follows(load) || READ_ONCE(load->team.stop));
}

/* Sleep until @due or until the load is stopped; each sleep is short enough to notice a stop. */
static void keep_rate(struct klin_load *load, u64 due)
{
	while (!READ_ONCE(load->team.stop)) {
		s64 left = due - ktime_get_ns();
		ktime_t nap;

		if (left <= 0)
			return;
		nap = min_t(s64, left, 100 * NSEC_PER_MSEC);
		set_current_state(TASK_IDLE);
		schedule_hrtimeout(&nap, HRTIMER_MODE_REL);
	}
}

static void drain(void)
{
	preempt_disable();
	smp_mb();	/* drains the store buffer; no order is needed */
	klin_drain(smp_processor_id());
	preempt_enable();
}

static void load_body(struct klin_team *team, unsigned int index)
{
	struct klin_load *load = container_of(team, struct klin_load, team);
	const struct settings *set = &load->set;
	struct klin_worker *w = &load->workers[index];
	u64 gap = set->rate ? NSEC_PER_SEC / set->rate : 0;
	u64 due = ktime_get_ns();
	u64 next_drain = set->drain;
	u64 step = 0;

	while (!READ_ONCE(team->stop) && w->ops < load->quota) {
		u64 before = w->ops;

		load->group->step(load->object, w);

		if (load->work_turns)
			klin_turns_about(load->work_turns);
		if (set->drain && w->ops >= next_drain) {
			drain();
			next_drain = w->ops + set->drain;
		}
		if (++step % BATCH == 0)
			cond_resched_tasks_rcu_qs();
		if (set->lossless && step % load->look_every == 0)
			wait_for_reader(load, w);
		if (gap) {
			due += gap * (w->ops - before);
			keep_rate(load, due);
			/* missed operations are dropped, not made up in a burst */
			due = max(due, ktime_get_ns() - min_t(u64, gap, NSEC_PER_MSEC));
		}
	}
	if (load->group->quiesce)
		load->group->quiesce(load->object);
	drain();
}

static int check_settings(struct klin_load *load, struct klin_complaint *c, cpumask_t *cpus,
			  const struct klin_subject **subject)
{
	struct settings *set = &load->set;
	int err;

	if (!set->subject)
		return klin_complain(c, "subject=NAME is missing: the file `subjects' lists "
				     "the names");
	*subject = klin_subject_find(set->subject, &load->group);
	if (!*subject)
		return klin_complain(c, "subject=%.40s: unknown name: the file `subjects' lists "
				     "them", set->subject);
	err = klin_team_cpus(set->cpus, cpus, c);
	if (err)
		return err;
	if (!set->threads)
		set->threads = min_t(u64, cpumask_weight(cpus), KLIN_TEAM_MAX);
	if (set->lossless && set->lossless < 2 * set->threads)
		return klin_complain(c, "lossless=%llu: expected 0, or %llu (2 per thread) or more",
				     set->lossless, 2 * set->threads);
	if (set->ops && set->ops < set->threads)
		return klin_complain(c, "ops=%llu: expected 0, or %llu (1 per thread) or more",
				     set->ops, set->threads);
	return 0;
}

static void set_up_workers(struct klin_load *load)
{
	unsigned int i;

	for (i = 0; i < load->nworkers; i++) {
		struct klin_worker *w = &load->workers[i];

		w->rng = klin_rng_seed(load->set.seed, i);
		w->index = i;
		w->workers = load->nworkers;
		w->mix = load->set.mix;
	}
}

/**
 * klin_load_create() - create a load whose threads wait for klin_load_start()
 * @settings: words "name=value"; the text is changed
 * @c: receives the complaint
 *
 * Return: the load, -EINVAL with @c filled, or another error such as -ENOMEM.
 */
struct klin_load *klin_load_create(char *settings, struct klin_complaint *c)
{
	const struct klin_subject *subject;
	struct klin_load *load;
	cpumask_var_t cpus;
	int err;

	load = kzalloc(sizeof(*load), GFP_KERNEL);
	if (!load)
		return ERR_PTR(-ENOMEM);
	if (!alloc_cpumask_var(&cpus, GFP_KERNEL)) {
		err = -ENOMEM;
		goto err_free;
	}

	load->set.mix = 50;
	load->set.seed = 1;
	load->set.delay = 200;
	err = klin_options_parse(settings, options, ARRAY_SIZE(options), &load->set, c);
	if (err)
		goto err_cpus;
	err = check_settings(load, c, cpus, &subject);
	if (err)
		goto err_cpus;

	load->nworkers = load->set.threads;
	load->quota = load->set.ops ? DIV_ROUND_UP_ULL(load->set.ops, load->nworkers) : U64_MAX;
	load->work_turns = klin_delay_turns(load->set.work);
	/*
	 * A step is at most two operations, so between two checks all threads together get only a
	 * little further ahead than `lossless' allows.
	 */
	load->look_every = clamp_t(u64, load->set.lossless / (4 * load->nworkers), 1, BATCH);

	err = -ENOMEM;
	load->workers = kcalloc(load->nworkers, sizeof(*load->workers), GFP_KERNEL);
	if (!load->workers)
		goto err_cpus;
	set_up_workers(load);
	load->object = load->group->create(subject);
	if (!load->object)
		goto err_workers;
	load->object->subject = subject;
	load->object->window = klin_delay_turns(load->set.delay);
	load->object->stop = &load->team.stop;

	err = klin_team_create(&load->team, load->nworkers, cpus, load_body);
	if (err)
		goto err_object;
	load->set.subject = NULL;
	load->set.cpus = NULL;
	free_cpumask_var(cpus);
	return load;

err_object:
	load->group->destroy(load->object);
err_workers:
	kfree(load->workers);
err_cpus:
	free_cpumask_var(cpus);
err_free:
	kfree(load);
	return ERR_PTR(err);
}

/**
 * klin_load_start() - start the threads of a load
 * @load: a load that has not started yet
 */
void klin_load_start(struct klin_load *load)
{
	klin_team_start(&load->team, load->set.duration);
}

/**
 * klin_load_destroy() - stop a load, wait for its threads, and free it
 * @load: the load
 */
void klin_load_destroy(struct klin_load *load)
{
	klin_team_stop(&load->team);
	load->group->destroy(load->object);
	kfree(load->workers);
	kfree(load);
}

/**
 * klin_load_ack() - record the reader's progress
 * @load: the load
 * @ops: total number of operations of this load that the reader has processed
 */
void klin_load_ack(struct klin_load *load, u64 ops)
{
	WRITE_ONCE(load->acked, ops);
	wake_up_all(&load->team.wait);
}

/**
 * klin_load_team() - the threads of a load
 * @load: the load
 *
 * Return: its team.
 */
struct klin_team *klin_load_team(struct klin_load *load)
{
	return &load->team;
}

/**
 * klin_load_paused() - check whether the settings ask for a manual start
 * @load: the load
 *
 * Return: true for "paused=1".
 */
bool klin_load_paused(const struct klin_load *load)
{
	return load->set.paused;
}

/**
 * klin_load_show_addresses() - write the address of the object as lines "key=value"
 * @s: the file being read; its opener may see kernel addresses
 * @load: the load
 */
void klin_load_show_addresses(struct seq_file *s, const struct klin_load *load)
{
	const void *lock = load->group->lock ? load->group->lock(load->object) : NULL;

	seq_printf(s, "object=0x%lx\n", (unsigned long)load->object);
	seq_printf(s, "lock=0x%lx\n", (unsigned long)lock);
}

/**
 * klin_load_show() - write the state of a load as lines "key=value"
 * @s: the file being read
 * @load: the load
 */
void klin_load_show(struct seq_file *s, const struct klin_load *load)
{
	u64 truth = 0, pending = 0, stalls = 0;
	unsigned int i, m;

	seq_printf(s, "subject=%s\n", load->object->subject->name);
	seq_printf(s, "threads=%u\n", load->nworkers);
	seq_printf(s, "ops=%llu\n", produced(load));
	seq_printf(s, "acked=%llu\n", READ_ONCE(load->acked));
	for (m = 0; m < load->group->nmethods; m++) {
		u64 sum = 0;

		for (i = 0; i < load->nworkers; i++)
			sum += READ_ONCE(load->workers[i].count[m]);
		for (i = 0; i < load->object->nothers; i++)
			sum += READ_ONCE(load->object->others[i].count[m]);
		seq_printf(s, "%s=%llu\n", load->group->methods[m]->name, sum);
	}
	for (i = 0; i < load->nworkers; i++) {
		truth += READ_ONCE(load->workers[i].truth);
		pending += READ_ONCE(load->workers[i].pending);
		stalls += READ_ONCE(load->workers[i].stalls);
	}
	for (i = 0; i < load->object->nothers; i++)
		truth += READ_ONCE(load->object->others[i].truth);
	seq_printf(s, "interrupts=%d\n", !!load->object->nothers);
	seq_printf(s, "truth=%llu\npending=%llu\nstalls=%llu\n", truth, pending, stalls);
}
