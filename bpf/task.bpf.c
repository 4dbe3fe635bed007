// SPDX-License-Identifier: GPL-2.0
/* Gives the slot of a task back when the task ends. */
#include "vmlinux-min.h"
#include "slots.h"

const volatile __u32 slot_mask = 0;

SEC("raw_tp/sched_process_exit")
int klin_task_exit(void *ctx)
{
	struct klin_slot *s;

	s = klin_slot(bpf_get_current_pid_tgid(), slot_mask, false);
	if (s)
		s->owner = s->top == s->base ? 0 : KLIN_SLOT_DEAD;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
