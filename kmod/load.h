/* SPDX-License-Identifier: GPL-2.0 */
/* A load: threads that call the operations of one fresh object. */
#ifndef KLIN_LOAD_H
#define KLIN_LOAD_H

#include <linux/types.h>

struct klin_complaint;
struct klin_load;
struct klin_team;
struct seq_file;

struct klin_load *klin_load_create(char *settings, struct klin_complaint *c);
void klin_load_start(struct klin_load *load);
void klin_load_destroy(struct klin_load *load);
void klin_load_ack(struct klin_load *load, u64 ops);
struct klin_team *klin_load_team(struct klin_load *load);
bool klin_load_paused(const struct klin_load *load);
void klin_load_show(struct seq_file *s, const struct klin_load *load);
void klin_load_show_addresses(struct seq_file *s, const struct klin_load *load);

#endif
