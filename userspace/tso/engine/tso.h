/* SPDX-License-Identifier: GPL-2.0 */
/* The engine `tso': checks recorded histories on the x86-TSO machine. */
#ifndef KL_TSO_ENGINE_TSO_H
#define KL_TSO_ENGINE_TSO_H

#include "check/check.h"

/*
 * Linearizability on TSO (Burckhardt et al., Definitions 1 and 2) for recorded histories.  Each
 * operation executes at a point of [call, return].  The stores of an `atomic' block form one entry
 * of its thread's FIFO store buffer.  The entry reaches memory at a point of [execution, drain].  A
 * read takes the thread's newest entry for the word, else memory.
 *
 * The drain of an operation is a time by which its thread's buffer has emptied.  The engine uses
 * only this: entries that were in the buffer when the operation executed have left by its drain.
 *
 * Buffers belong to threads, not to CPUs.  A thread that moves to another CPU goes through a
 * context switch, which drains the buffer.  Buffers by thread can only accept more histories.
 */
extern const struct kl_engine kl_tso_engine;

/*
 * An oracle for the engine: it follows the definition, and tries all orders of steps and flushes.
 */
extern const struct kl_engine kl_tso_oracle_engine;

#endif
