/* SPDX-License-Identifier: GPL-2.0 */
/* klin.ko's own recording by plain stores; r->opts.plain. */
#ifndef KL_RECORD_PLAIN_H
#define KL_RECORD_PLAIN_H

#include "record/recorder.h"

/* Does the clause's target announce itself?  A message if not. */
int kl_plain_check(const struct kl_recorder *r, const struct kl_clause *c);

/**
 * kl_plain_open() - have klin.ko make the memory, and map it
 * @r: the recorder; its slots are set
 *
 * Return: 0, or a negative errno after a message.
 */
int kl_plain_open(struct kl_recorder *r);
void kl_plain_close(struct kl_recorder *r);

/* Where it reads ticks and epochs. */
struct klin_time *kl_plain_times(const struct kl_recorder *r);

/* Begin; @g gets the counts.  0 or a negative errno, without a message. */
int kl_plain_attach(struct kl_recorder *r, struct kl_group *g, const struct klin_tp_conf *conf);
/* What was written until now is all. */
void kl_plain_detach(struct kl_recorder *r);

/* Read what has come; 0 or a negative errno after a message. */
int kl_plain_consume(struct kl_recorder *r);

#endif
