/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why a verdict can be believed: who decided, whether the oracle agrees, and how to check it again.
 *
 *	log-linear decided, and the brute-force oracle agrees on the proof of 3 operations
 *	Check it again: klin check --certificate=klin.cert q.klh; klin replay klin.cert
 */
#ifndef KL_REPORT_TRUST_H
#define KL_REPORT_TRUST_H

#include <jansson.h>
#include <stdio.h>

#include "check/check.h"

/* Print the lines about a violated partition; @replay: the command, or NULL. */
void kl_print_trust(FILE *f, const struct kl_history *h, const struct kl_part_result *p,
		    const char *replay);

/* The same as JSON. */
json_t *kl_trust_json(const struct kl_history *h, const struct kl_part_result *p,
		      const char *replay);

#endif
