/* SPDX-License-Identifier: GPL-2.0 */
/* klin.ko's own recording. */
#ifndef KLIN_PLAIN_H
#define KLIN_PLAIN_H

#include <linux/fs.h>

/* Maps memory, so it is for debugfs_create_file_unsafe(). */
extern const struct file_operations klin_plain_fops;

#endif
