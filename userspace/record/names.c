// SPDX-License-Identifier: GPL-2.0
/*
 * Names for people: of threads, as /proc has them when klin first sees an operation of the thread,
 * or as they were when it ended; and of objects, the variable of the kernel or the slab cache.  No
 * verdict depends on them.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "history/spell.h"
#include "record/recorder.h"
#include "record/tasks.h"

/* Get the name of a task that has ended, from bpf/task.bpf.c. */
static bool ended_comm(const struct kl_recorder *r, uint32_t tid, char *comm)
{
	struct klin_comm name;
	int fd = r->task_obj ? bpf_object__find_map_fd_by_name(r->task_obj, "comms") : -1;

	if (fd < 0 || bpf_map_lookup_elem(fd, &tid, &name))
		return false;
	snprintf(comm, KL_COMM_MAX, "%.*s", (int)sizeof(name.s), name.s);
	return *comm;
}

int kl_name_thread(struct kl_recorder *r, uint64_t tid)
{
	char comm[KL_COMM_MAX], *p;

	if (r->names >= KL_NAMES_MAX || !tid ||
	    (!kl_task_comm(tid, comm) && !ended_comm(r, tid, comm)))
		return 0;
	/* Anyone may name a thread, and a terminal would obey control characters. */
	for (p = comm; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	r->names++;
	return kl_history_spell_kind(r->h, KL_SPELLED_THREAD, tid, comm, strlen(comm));
}

int kl_name_object(struct kl_recorder *r, uint64_t addr)
{
	const bool image = addr >= KLIN_IMAGE_FROM;
	const char *name;
	char slab[128];

	if (r->names >= KL_NAMES_MAX)
		return 0;
	name = image ? kl_kernel_variable(r->kernel, addr) :
	       kl_slab_name(r, addr, slab, sizeof(slab)) ? slab : NULL;
	if (!name)
		return 0;
	r->names++;
	return kl_history_spell_kind(r->h, image ? KL_SPELLED_WORD : KL_SPELLED_SLAB, addr, name,
				     strlen(name));
}
