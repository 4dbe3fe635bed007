/* SPDX-License-Identifier: GPL-2.0 */
/* Saying in words why an order cannot go on. */
#ifndef KL_REPORT_REPLAY_STATE_H
#define KL_REPORT_REPLAY_STATE_H

#include "check/check.h"

/**
 * kl_find_failing() - the operation that a longest order cannot take in
 * @spec: the specification
 * @c: the counterexample
 * @order: a longest order, operations of c->h
 * @n: its length
 * @state: the state after it in words, empty if it cannot be told
 * @nstate: bytes of @state
 * @why: a sentence: what the operation did and what was allowed
 * @nwhy: bytes of @why
 *
 * @bad: the operation, KL_NO_OP if all of c->h are in the order
 *
 * Return: 0 or -ENOMEM.
 */
int kl_find_failing(const struct kl_spec *spec, const struct kl_counterexample *c,
		    const uint32_t *order, size_t n, char *state, size_t nstate, char *why,
		    size_t nwhy, uint32_t *bad);

/* The first @n of @order lead to this state, in words; empty if it cannot be told.  0 or -ENOMEM. */
int kl_state_after(const struct kl_spec *spec, const struct kl_counterexample *c,
		   const uint32_t *order, size_t n, char *state, size_t nstate);

#endif
