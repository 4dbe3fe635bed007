/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REPLAYED_H
#define REPLAYED_H

#include <stdbool.h>

#include "check/cert.h"
#include "tso/replay.h"

/* Write the certificate of a report and replay it; what kl_cert_replay() returns. */
int replay_report(const struct kl_report *r, bool classical, const struct kl_spec *spec,
		  const struct kl_history *h, struct kl_replay *replay);

#endif
