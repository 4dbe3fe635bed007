/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's types, with the fields that the programs use; CO-RE finds the offsets. */
#ifndef KLIN_VMLINUX_MIN_H
#define KLIN_VMLINUX_MIN_H

#include <linux/types.h>

struct pt_regs {
	unsigned long di, si, dx, cx, r8, r9, ax, sp, bx, bp, r10, r11, r12, r13, r14, r15;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid;
	void *stack;
} __attribute__((preserve_access_index));

#endif
