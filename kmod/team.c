// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel threads bound to CPUs that start together and end together.
 *
 * A thread may end by itself.  Its task is kept until klin_team_stop() has waited for it, so
 * that no thread runs in the module's text when the module is removed.
 */
#include <linux/cpu.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "option.h"
#include "team.h"

struct klin_member {
	struct klin_team *team;
	struct task_struct *task;
};

/**
 * klin_team_cpus() - parse a list of CPUs into a mask
 * @list: such as "0-3,6", or NULL for all online CPUs
 * @cpus: the result
 * @c: receives the complaint
 *
 * Return: 0, or -EINVAL if @list is not a list or names a CPU that is not online.
 */
int klin_team_cpus(const char *list, cpumask_t *cpus, struct klin_complaint *c)
{
	if (!list) {
		cpumask_copy(cpus, cpu_online_mask);
		return 0;
	}
	if (cpulist_parse(list, cpus) || cpumask_empty(cpus))
		return klin_complain(c,
				     "cpus=%.40s: expected a list of CPUs such as 0-3,6; "
				     "CPUs %*pbl are online",
				     list, cpumask_pr_args(cpu_online_mask));
	if (!cpumask_subset(cpus, cpu_online_mask))
		return klin_complain(c, "cpus=%.40s: some are offline: expected CPUs of %*pbl",
				     list, cpumask_pr_args(cpu_online_mask));
	return 0;
}

static int member_main(void *data)
{
	struct klin_member *me = data;
	struct klin_team *team = me->team;

	wait_event_idle(team->wait, READ_ONCE(team->go) || READ_ONCE(team->stop));
	if (!READ_ONCE(team->stop))
		team->body(team, me - team->members);
	if (atomic_dec_and_test(&team->live))
		WRITE_ONCE(team->ended, ktime_get_ns());
	return 0;
}

static void deadline_passed(struct work_struct *work)
{
	struct klin_team *team = container_of(to_delayed_work(work), struct klin_team, deadline);

	WRITE_ONCE(team->stop, true);
	wake_up_all(&team->wait);
}

/**
 * klin_team_create() - create the threads, which wait for klin_team_start()
 * @team: to be initialized; its memory is the caller's, until klin_team_stop() returns
 * @n: number of threads, 1 to KLIN_TEAM_MAX
 * @cpus: the CPUs they are bound to, in turn
 * @body: the function that each thread runs
 *
 * Return: 0, or an error such as -ENOMEM, with nothing left to undo.
 */
int klin_team_create(struct klin_team *team, unsigned int n, const cpumask_t *cpus,
		     void (*body)(struct klin_team *team, unsigned int index))
{
	int cpu = -1;

	memset(team, 0, sizeof(*team));
	init_waitqueue_head(&team->wait);
	INIT_DELAYED_WORK(&team->deadline, deadline_passed);
	team->body = body;
	team->members = kcalloc(n, sizeof(*team->members), GFP_KERNEL);
	if (!team->members)
		return -ENOMEM;
	atomic_set(&team->live, n);

	for (; team->n < n; team->n++) {
		struct klin_member *m = &team->members[team->n];
		struct task_struct *task;

		cpu = cpumask_next(cpu, cpus);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpus);

		m->team = team;
		task = kthread_create_on_node(member_main, m, cpu_to_node(cpu), "klin/%u", team->n);
		if (IS_ERR(task)) {
			klin_team_stop(team);
			return PTR_ERR(task);
		}
		kthread_bind(task, cpu);
		get_task_struct(task);
		m->task = task;
	}
	for (n = 0; n < team->n; n++)
		wake_up_process(team->members[n].task);
	return 0;
}

/**
 * klin_team_start() - let the threads run
 * @team: a team that has been created and not started
 * @duration_ms: when to stop them, in milliseconds from now, 0 for never
 */
void klin_team_start(struct klin_team *team, u64 duration_ms)
{
	WRITE_ONCE(team->started, ktime_get_ns());
	WRITE_ONCE(team->go, true);
	wake_up_all(&team->wait);
	if (duration_ms)
		schedule_delayed_work(&team->deadline, msecs_to_jiffies(duration_ms));
}

/**
 * klin_team_stop() - stop the threads, wait for their end and free them
 * @team: a team that has been created; a second call does nothing
 */
void klin_team_stop(struct klin_team *team)
{
	unsigned int i;

	if (!team->members)
		return;

	cancel_delayed_work_sync(&team->deadline);
	WRITE_ONCE(team->stop, true);
	wake_up_all(&team->wait);
	for (i = 0; i < team->n; i++) {
		kthread_stop(team->members[i].task);
		put_task_struct(team->members[i].task);
	}
	if (!team->ended)
		team->ended = ktime_get_ns();
	kfree(team->members);
	team->members = NULL;
}

/**
 * klin_team_done() - check whether all threads have ended
 * @team: a team that has been created
 *
 * Return: true if they have.
 */
bool klin_team_done(const struct klin_team *team)
{
	return READ_ONCE(team->ended);
}

/**
 * klin_team_state() - describe the state in one word
 * @team: a team that has been created
 *
 * Return: "ready", "running" or "done".
 */
const char *klin_team_state(const struct klin_team *team)
{
	if (klin_team_done(team))
		return "done";
	return READ_ONCE(team->go) ? "running" : "ready";
}
