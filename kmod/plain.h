/* SPDX-License-Identifier: GPL-2.0 */
/* klin.ko's own recording, without BPF. */
#ifndef KLIN_PLAIN_H
#define KLIN_PLAIN_H

#include <linux/fs.h>

/* Has mmap(), so create it with debugfs_create_file_unsafe(). */
extern const struct file_operations klin_plain_fops;

#endif
