/* SPDX-License-Identifier: GPL-2.0 */
/* The end of tasks. */
#ifndef KLIN_TASK_END_H
#define KLIN_TASK_END_H

struct task_struct;

int klin_task_end_register(void (*fn)(void *data, struct task_struct *task), void *data);
void klin_task_end_unregister(void (*fn)(void *data, struct task_struct *task), void *data);

#endif
