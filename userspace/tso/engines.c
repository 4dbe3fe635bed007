// SPDX-License-Identifier: GPL-2.0
/* The engines, in the order in which they are asked. */
#include "tso/tso.h"

const struct kl_engine *const kl_engines[] = {
	&kl_mono_engine,
	&kl_points_engine,
	&kl_fifo_engine,
	&kl_frontier_engine,
	&kl_lifo_engine,
	&kl_dfs_engine,
	&kl_beam_engine,
	&kl_tso_engine,
	NULL,
};
