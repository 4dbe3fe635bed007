/* SPDX-License-Identifier: GPL-2.0 */
/* Recording by klin.ko, with plain stores; used if the option @plain of a recorder is set. */
#ifndef KL_RECORD_PLAIN_H
#define KL_RECORD_PLAIN_H

#include "record/recorder.h"

/* Check that klin.ko can record the clause's target.  Return: 0, or -EINVAL after a message. */
int kl_plain_check(const struct kl_recorder *r, const struct kl_clause *c);

/**
 * kl_plain_open() - let klin.ko allocate memory, and map it
 * @r: the recorder, with its number of slots
 *
 * Return: 0, or a negative errno after a message.
 */
int kl_plain_open(struct kl_recorder *r);
void kl_plain_close(struct kl_recorder *r);

/* Return: the memory in which klin.ko reads the counters of the clocks tick and epoch. */
struct klin_time *kl_plain_times(const struct kl_recorder *r);

/* Begin recording; @g gets the counts.  Return: 0, or a negative errno without a message. */
int kl_plain_attach(struct kl_recorder *r, struct kl_group *g, const struct klin_tp_conf *conf);
/* End recording. */
void kl_plain_detach(struct kl_recorder *r);

/* Read new events.  Return: 0, or a negative errno after a message. */
int kl_plain_consume(struct kl_recorder *r);

#endif
