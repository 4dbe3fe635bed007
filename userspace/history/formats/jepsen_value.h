/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Conversion of EDN values to those of Jepsen's structures.  Maps and log lines have the same
 * values and share this code.
 */
#ifndef KL_HISTORY_FORMATS_JEPSEN_VALUE_H
#define KL_HISTORY_FORMATS_JEPSEN_VALUE_H

#include "history/formats/edn.h"
#include "history/formats/jepsen.h"

/**
 * kl_jepsen_value_event() - process the next event, whose value is EDN
 * @j: the reader
 * @e: the scanner, whose last value is @v
 * @independent: true if values are [KEY VALUE]
 * @tok: the event, for messages
 * @number: number of the process
 * @type: type of the event
 * @f: name of the operation, a keyword
 * @v: value of the operation
 *
 * Return: 0, -EINVAL after a message, or another negative errno.
 */
int kl_jepsen_value_event(struct kl_jepsen *j, struct kl_edn *e, bool independent,
			  const char *tok, uint64_t number, enum kl_jepsen_type type,
			  const struct kl_edn_val *f, const struct kl_edn_val *v);

#endif
