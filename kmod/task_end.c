// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a task, from the kernel's tracepoint sched_process_free.  The tracepoint is not
 * exported by name, so the module searches for it.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "task_end.h"

static void is_it(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "sched_process_free"))
		*(struct tracepoint **)found = tp;
}

static struct tracepoint *find(void)
{
	struct tracepoint *tp = NULL;

	for_each_kernel_tracepoint(is_it, &tp);
	return tp;
}

/**
 * klin_task_end_register() - call a function when a task has ended
 * @fn: called with @data and the task, from RCU's callbacks; no code runs in the task
 *	any longer
 * @data: for @fn
 *
 * Return: 0 or a negative errno.
 */
int klin_task_end_register(void (*fn)(void *data, struct task_struct *task), void *data)
{
	struct tracepoint *tp = find();

	return tp ? tracepoint_probe_register(tp, fn, data) : -ENOENT;
}

/**
 * klin_task_end_unregister() - undo klin_task_end_register()
 * @fn: as given there
 * @data: as given there
 *
 * @fn may still run until tracepoint_synchronize_unregister() returns.
 */
void klin_task_end_unregister(void (*fn)(void *data, struct task_struct *task), void *data)
{
	tracepoint_probe_unregister(find(), fn, data);
}
