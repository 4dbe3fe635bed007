// SPDX-License-Identifier: GPL-2.0
/* The engines, in the order in which they are asked. */
#include "tso/tso.h"

const struct kl_engine *const kl_engines[] = { KL_CLASSICAL_ENGINES, &kl_tso_engine, NULL };
