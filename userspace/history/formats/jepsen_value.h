/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of EDN as Jepsen's structures hold them: those of the maps of a history and those of
 * a log's lines are the same, and are read by the same code.
 */
#ifndef KL_HISTORY_FORMATS_JEPSEN_VALUE_H
#define KL_HISTORY_FORMATS_JEPSEN_VALUE_H

#include "history/formats/edn.h"
#include "history/formats/jepsen.h"

/**
 * kl_jepsen_value_event() - the next event, whose value is one of EDN
 * @j: the reader
 * @e: that of the value, which was the last that it read
 * @independent: values are [KEY VALUE]
 * @tok: the event, for messages
 * @number: of the process
 * @type: and its type
 * @f: the name of the operation, a keyword
 * @v: its value
 *
 * Return: 0, -EINVAL after a message, another negative errno.
 */
int kl_jepsen_value_event(struct kl_jepsen *j, struct kl_edn *e, bool independent,
			  const char *tok, uint64_t number, enum kl_jepsen_type type,
			  const struct kl_edn_val *f, const struct kl_edn_val *v);

#endif
