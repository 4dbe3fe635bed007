/* SPDX-License-Identifier: GPL-2.0 */
/* All tasks of the machine, as /proc lists them. */
#ifndef KL_RECORD_TASKS_H
#define KL_RECORD_TASKS_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * kl_tasks_each() - call a function for each task
 * @fn: gets @ctx, the process and the task; a result other than 0 ends the walk
 * @ctx: argument of @fn
 *
 * Processes that end during the walk are skipped.
 *
 * Return: 0, or the last result of @fn.
 */
int kl_tasks_each(int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx);

/* bytes of a task's name with its final '\0'; kernel threads have long names */
#define KL_COMM_MAX	32

/**
 * kl_task_comm() - read the name of a task
 * @tid: the task
 * @comm: room for KL_COMM_MAX bytes; gets the name, cut if it is longer, or "?" without one
 *
 * Return: true, or false if the task has ended or /proc cannot be read.
 */
bool kl_task_comm(pid_t tid, char *comm);

#endif
