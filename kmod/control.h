/* SPDX-License-Identifier: GPL-2.0 */
/* The files under debugfs klin/. */
#ifndef KLIN_CONTROL_H
#define KLIN_CONTROL_H

/* 0, or -EPERM: these files are for who may do everything, whatever their modes become. */
int klin_may_control(void);

int klin_control_init(void);
void klin_control_exit(void);

#endif
