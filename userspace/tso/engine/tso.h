/* SPDX-License-Identifier: GPL-2.0 */
/* Checking recorded histories on the x86-TSO machine. */
#ifndef KL_TSO_ENGINE_TSO_H
#define KL_TSO_ENGINE_TSO_H

#include "check/check.h"

/*
 * Linearizability on TSO (Burckhardt et al., Definitions 1 and 2) for recorded
 * histories: each operation executes at a point of [call, return]; what an
 * `atomic` block wrote waits in its thread's store buffer as one entry, first
 * in, first out, and reaches memory at a point of [execution, drain].  A read
 * takes its thread's newest entry, else memory.
 *
 * Of a drain only what the engine can be sure of is used: what was in its
 * thread's buffer when the operation executed has left by then.
 *
 * A thread, not a CPU, owns a buffer here: a thread that moves to another CPU
 * has been through a context switch, which drains; so has whoever runs after it
 * on the old one.  Buffers by thread only accept more.
 */
extern const struct kl_engine kl_tso_engine;

/* The same by its definition, trying all orders of executions and flushes. */
extern const struct kl_engine kl_tso_oracle_engine;

#endif
