/* SPDX-License-Identifier: GPL-2.0 */
/* The result of a check. */
#ifndef KL_LIBKLIN_RESULT_H
#define KL_LIBKLIN_RESULT_H

#include "libklin/internal.h"

struct klin_result {
	struct klin_spec *spec;
	struct klin_history *history;
	struct kl_report *report;
	char *headline; /* NULL if the history is linearizable */
	bool ordered; /* the report has an order for each linearizable partition */
};

#endif
