/* SPDX-License-Identifier: GPL-2.0 */
/* All tasks of the machine, as /proc lists them. */
#ifndef KL_RECORD_TASKS_H
#define KL_RECORD_TASKS_H

#include <sys/types.h>

/**
 * kl_tasks_each() - call a function for each task
 * @fn: gets @ctx, the process and the task; other than 0 ends the walk
 * @ctx: for @fn
 *
 * A process that ends meanwhile is passed over.
 *
 * Return: 0, or what @fn returned last.
 */
int kl_tasks_each(int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx);

#endif
