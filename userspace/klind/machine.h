/* SPDX-License-Identifier: GPL-2.0 */
/* A report describes the machine beyond its name and its kernel's release. */
#ifndef KLIND_MACHINE_H
#define KLIND_MACHINE_H

#include <jansson.h>

/* Return: the kernel's version, the boot and the processors; null for what cannot be read. */
json_t *klind_machine_json(void);

#endif
