// SPDX-License-Identifier: GPL-2.0
/* Gives the slot of a task back when the task ends. */
#include "vmlinux-min.h"
#include "klin_event.h"

const volatile struct klin_small_conf conf = {};

#include "slots.h"

SEC("raw_tp/sched_process_exit")
int klin_task_exit(void *ctx)
{
	__u32 owner = 0, i;
	struct klin_slot *s;

	s = klin_slot(bpf_get_current_pid_tgid(), conf.slot_mask, false);
	if (!s)
		return 0;
	/* Above the top may be what interrupts left. */
	for (i = 0; i < KLIN_DEPTH; i++)
		if (s->frames[i].open == KLIN_OPEN)
			owner = KLIN_SLOT_DEAD;
	s->owner = owner;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
