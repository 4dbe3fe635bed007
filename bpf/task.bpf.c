// SPDX-License-Identifier: GPL-2.0
/*
 * Gives a task's slot back when the task ends, and keeps its name.  An ending task still closes its
 * files, and interrupts hit it.  A slot that is claimed in that time is given back when the task is
 * freed.
 *
 * This object also notes when a CPU goes offline or comes online, which closes the CPU's ring
 * (see struct klin_home).
 */
#include "vmlinux-min.h"
#include <bpf/bpf_core_read.h>
#include "klin_event.h"

const volatile struct klin_small_conf conf = {};

#include "slots.h"

/* Names of tasks that have ended: user space may read their operations later. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct klin_comm);
} comms SEC(".maps");

/* Return the new owner of a slot whose task has ended. */
static __always_inline __u32 last_owner(const struct klin_slot *s)
{
	__u32 i;

	/* Interrupts may have left open frames above the top. */
	for (i = 0; i < KLIN_DEPTH; i++)
		if (s->frames[i].open == KLIN_OPEN)
			return KLIN_SLOT_DEAD;
	return 0;
}

/* Release all slots of the task; an interrupt may have claimed a second, see klin_find_slot(). */
static __noinline int release(__u32 tid)
{
	const __u32 mask = conf.slot_mask;
	struct klin_slot *s;
	__u64 word;
	__u32 i;

	for (i = 0; i < KLIN_TRIES; i++) {
		s = klin_slot_at(KLIN_KEPT_AT(tid, mask, i));
		if (s && s->owner == tid)
			s->owner = last_owner(s);
	}
	for (i = 0; i < KLIN_LENT_TRIES; i++) {
		s = klin_slot_at(KLIN_LENT_AT(tid, mask, i));
		if (!s)
			continue;
		word = *(volatile __u64 *)&s->word;
		/*
		 * If an interrupt has changed the word since it was read, klin_task_free()
		 * releases the slot.  A program that holds the slot now runs on another CPU: in
		 * the task's last interrupt, or for a new task with the same number.  That
		 * program gives the slot back.
		 */
		if ((__u32)word == tid && !KLIN_HOLDS(word))
			__sync_val_compare_and_swap(&s->word, word, (__u64)last_owner(s));
	}
	return 0;
}

SEC("raw_tp/sched_process_exit")
int klin_task_exit(void *ctx)
{
	const __u32 tid = bpf_get_current_pid_tgid();
	struct klin_comm comm = {};

	bpf_get_current_comm(comm.s, sizeof(comm.s));
	bpf_map_update_elem(&comms, &tid, &comm, BPF_ANY);
	release(tid);
	return 0;
}

SEC("raw_tp/sched_process_free")
int klin_task_free(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (const void *)ctx->args[0];
	int tid = 0;

	/* Idle tasks have the number 0 and do not end. */
	if (!bpf_core_read(&tid, sizeof(tid), &task->pid) && tid)
		release(tid);
	return 0;
}

/* The CPU comes online or goes offline; this runs before the CPU runs anything else. */
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
