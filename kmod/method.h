/* SPDX-License-Identifier: GPL-2.0 */
/* The registered methods, for debugfs. */
#ifndef KLIN_METHOD_H
#define KLIN_METHOD_H

struct seq_file;

int klin_methods_show(struct seq_file *s, void *unused);

#endif
