/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the input has besides the history's operations: entries of no operation, as those of
 * Jepsen's nemesis, and operations that took no effect, as the file says.
 */
#ifndef KL_REPORT_OTHERS_H
#define KL_REPORT_OTHERS_H

#include <jansson.h>
#include <stddef.h>

#include "history/history.h"

#define KL_OTHERS_JSON 100 /* of each that `klin check --json' lists */

/*
 * Add the lists "other_entries" and "failed_operations" to @j, each of at most @most, and how many
 * they lack; or nothing, if there are none.  Missing memory is noted for kl_json_whole().
 */
void kl_add_others(json_t *j, const struct kl_history *h, size_t most);

#endif
