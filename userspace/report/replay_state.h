/* SPDX-License-Identifier: GPL-2.0 */
/* Explains in a sentence why no further operation fits a longest order. */
#ifndef KL_REPORT_REPLAY_STATE_H
#define KL_REPORT_REPLAY_STATE_H

#include "check/check.h"

/**
 * kl_find_failing() - find the operation that a longest order cannot include
 * @spec: the specification
 * @c: the counterexample
 * @order: a longest order, as indices of operations in c->h
 * @n: number of operations in @order
 * @state: gets the state after @order as text; empty if the state is not known
 * @nstate: size of @state in bytes
 * @why: gets a sentence about the operation and the results that were allowed
 * @nwhy: size of @why in bytes
 * @bad: gets the operation, or KL_NO_OP if @order has all completed operations
 *
 * Return: 0 or -ENOMEM.
 */
int kl_find_failing(const struct kl_spec *spec, const struct kl_counterexample *c,
		    const uint32_t *order, size_t n, char *state, size_t nstate, char *why,
		    size_t nwhy, uint32_t *bad);

/*
 * Write the state after the first @n operations of @order as text; empty if the state is not
 * known.  Return: 0 or -ENOMEM.
 */
int kl_state_after(const struct kl_spec *spec, const struct kl_counterexample *c,
		   const uint32_t *order, size_t n, char *state, size_t nstate);

#endif
