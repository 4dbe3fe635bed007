/* SPDX-License-Identifier: GPL-2.0 */
/* The files under debugfs klin/. */
#ifndef KLIN_CONTROL_H
#define KLIN_CONTROL_H

/* Return: 0, or -EPERM if the task lacks the capability, whatever the modes of the files allow. */
int klin_may_control(void);

int klin_control_init(void);
void klin_control_exit(void);

#endif
