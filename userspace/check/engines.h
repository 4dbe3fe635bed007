/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engines by name, for engines that use another engine, and for tests.  All other code asks the
 * registry for capabilities, see engine.h.
 */
#ifndef KL_CHECK_ENGINES_H
#define KL_CHECK_ENGINES_H

#include "check/engine.h"

extern const struct kl_engine kl_wgl_engine, kl_dfs_engine, kl_frontier_engine, kl_oracle_engine,
	kl_loglinear_engine, kl_points_engine, kl_fifo_engine, kl_lifo_engine, kl_beam_engine,
	kl_unique_engine;

#endif
