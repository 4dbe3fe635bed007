/* SPDX-License-Identifier: GPL-2.0 */
/* The options of klin-replay, which `klin replay' looks through for mistakes. */
#ifndef KLIN_REPLAY_OPTIONS_H
#define KLIN_REPLAY_OPTIONS_H

#include <argp.h>

#include "klin/input.h"

enum { OPT_TIME = 256, OPT_FROM, OPT_INDEPENDENT };

static const struct argp_option replay_options[] = {
	{ "history", 'h', "FILE", 0, "The history; default: the certificate's, or beside it", 0 },
	{ "spec", 's', "FILE", 0,
	  "Check that the certificate is about this specification, which "
	  "it carries; without it, about the one that the history names, if it names one",
	  0 },
	{ "from", OPT_FROM, "FORM", 0,
	  "The form of the history, as for `klin check --from'; "
	  "default: as its first bytes show",
	  0 },
	{ "independent", OPT_INDEPENDENT, "yes|no", 0, KLIN_INDEPENDENT, 0 },
	{ "time-limit", OPT_TIME, "SECONDS", 0,
	  "Stop after SECONDS; parts without an answer are "
	  "UNKNOWN",
	  0 },
	{ 0 }
};

#endif
