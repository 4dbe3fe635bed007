/* SPDX-License-Identifier: GPL-2.0 */
/* Probes where BPF alone cannot attach. */
#ifndef KLIN_MODULE_KPROBES_H
#define KLIN_MODULE_KPROBES_H

#include <linux/fs.h>

extern const struct file_operations klin_probes_fops;

#endif
