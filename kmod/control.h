/* SPDX-License-Identifier: GPL-2.0 */
/* The files under debugfs klin/. */
#ifndef KLIN_CONTROL_H
#define KLIN_CONTROL_H

int klin_control_init(void);
void klin_control_exit(void);

#endif
