// SPDX-License-Identifier: GPL-2.0
/*
 * Gives the slot of a task back when the task ends.  It goes on for a while then, closes
 * its files and so on, and interrupts come in its name: what takes a slot there is given
 * back when nobody can know the task any longer.
 *
 * And tells when a CPU goes or comes, so that its ring is closed (see struct klin_home).
 */
#include "vmlinux-min.h"
#include <bpf/bpf_core_read.h>
#include "klin_event.h"

const volatile struct klin_small_conf conf = {};

#include "slots.h"

static __always_inline void release(__u32 tid)
{
	struct klin_slot *s = klin_slot(tid, conf.slot_mask, false);
	__u32 owner = 0, i;

	if (!s)
		return;
	/* Above the top may be what interrupts left. */
	for (i = 0; i < KLIN_DEPTH; i++)
		if (s->frames[i].open == KLIN_OPEN)
			owner = KLIN_SLOT_DEAD;
	s->owner = owner;
}

SEC("raw_tp/sched_process_exit")
int klin_task_exit(void *ctx)
{
	release(bpf_get_current_pid_tgid());
	return 0;
}

SEC("raw_tp/sched_process_free")
int klin_task_free(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (const void *)ctx->args[0];
	int tid = 0;

	/* Idle tasks, whose number is 0, do not end. */
	if (!bpf_core_read(&tid, sizeof(tid), &task->pid) && tid)
		release(tid);
	return 0;
}

/* On its way up or down; told before the CPU runs anything. */
SEC("raw_tp/cpuhp_enter")
int klin_cpu_moves(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = ctx->args[0];
	struct klin_home *home = bpf_map_lookup_elem(&homes, &cpu);

	if (home)
		__sync_fetch_and_add(&home->came, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
