/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engines by name, for engines that are built upon another, and for tests.  All else asks the
 * registry for what an engine can do, see engine.h.
 */
#ifndef KL_CHECK_ENGINES_H
#define KL_CHECK_ENGINES_H

#include "check/engine.h"

extern const struct kl_engine kl_wgl_engine, kl_dfs_engine, kl_frontier_engine,
			      kl_oracle_engine, kl_mono_engine, kl_points_engine,
			      kl_fifo_engine, kl_lifo_engine, kl_beam_engine, kl_ends_engine;

#endif
