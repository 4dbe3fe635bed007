/* SPDX-License-Identifier: GPL-2.0 */
/* Rounds of two threads, which show the effect of the store buffer on a lock. */
#ifndef KLIN_LITMUS_RUN_H
#define KLIN_LITMUS_RUN_H

#include <linux/types.h>

struct klin_complaint;
struct klin_rounds;
struct klin_team;
struct seq_file;
struct seq_operations;

struct klin_rounds *klin_rounds_create(char *settings, struct klin_complaint *c);
void klin_rounds_start(struct klin_rounds *rs);
struct klin_rounds *klin_rounds_get(struct klin_rounds *rs);
void klin_rounds_put(struct klin_rounds *rs);
struct klin_team *klin_rounds_team(struct klin_rounds *rs);
void klin_rounds_show(struct seq_file *s, struct klin_rounds *rs);

extern const struct seq_operations klin_rounds_seq_ops;

#endif
