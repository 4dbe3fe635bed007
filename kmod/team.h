/* SPDX-License-Identifier: GPL-2.0 */
/* A team: kernel threads bound to CPUs that start together and end together. */
#ifndef KLIN_TEAM_H
#define KLIN_TEAM_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#define KLIN_TEAM_MAX 256

struct task_struct;
struct klin_team;
struct klin_complaint;

/**
 * struct klin_team - kernel threads that start and end together
 * @stop: set once; every loop of the threads checks it
 * @wait: wait queue for the start; the body may use it, too
 * @body: function of each thread; @index counts from 0
 * @started: the time of the start by ktime_get_ns(), 0 before
 * @ended: the time when the last thread's body ended, 0 before
 */
struct klin_team {
	bool stop;
	wait_queue_head_t wait;
	void (*body)(struct klin_team *team, unsigned int index);
	u64 started, ended;
	/* private: */
	bool go;
	atomic_t live;
	unsigned int n;
	struct klin_member *members;
	struct delayed_work deadline;
};

int klin_team_cpus(const char *list, cpumask_t *cpus, struct klin_complaint *c);
int klin_team_create(struct klin_team *team, unsigned int n, const cpumask_t *cpus,
		     void (*body)(struct klin_team *team, unsigned int index));
void klin_team_start(struct klin_team *team, u64 duration_ms);
void klin_team_stop(struct klin_team *team);
const char *klin_team_state(const struct klin_team *team);
bool klin_team_done(const struct klin_team *team);

#endif
