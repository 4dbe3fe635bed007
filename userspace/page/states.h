/* SPDX-License-Identifier: GPL-2.0 */
/* The states after the steps of an order. */
#ifndef KL_PAGE_STATES_H
#define KL_PAGE_STATES_H

#include <jansson.h>

#include "history/history.h"
#include "spec/spec.h"

/**
 * kl_page_states() - compute the state before all steps of an order and after each
 * @spec: the specification
 * @h: the history
 * @order: the operations in order, as indices in @h
 * @n: number of operations
 *
 * If an operation has several outcomes, the first one that agrees with its results is followed.
 * The states are then one of several explanations.
 *
 * Return: a JSON array of @n + 1 texts; an empty one if the states followed so come to no end, or
 * their work reaches a bound.  Parts may be missing after kl_json_no_memory().
 */
json_t *kl_page_states(const struct kl_spec *spec, const struct kl_history *h,
		       const uint32_t *order, size_t n);

#endif
