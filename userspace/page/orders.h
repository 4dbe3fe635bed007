/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The longest orders of a counterexample, with the state after each step, for stepping through
 * them.
 */
#ifndef KL_PAGE_ORDERS_H
#define KL_PAGE_ORDERS_H

#include <jansson.h>

#include "check/check.h"

/**
 * kl_page_orders() - make the longest orders of a counterexample
 * @spec: the specification
 * @c: the counterexample
 *
 * Each order is an object: "operations" has steps as in a certificate, but as texts: "7" is
 * operation 7 of the history, "7!" the same with its store left in the buffer, "~7" that store
 * reaching memory.  "states" has the state before all steps and the state after each; it is empty
 * if an order does not determine the states.  "state" is the one after all steps, if it is known.
 * "stopped_by" is the operation that cannot come
 * next, or null; "sentence" says why.
 *
 * Return: a JSON array; parts may be missing after kl_json_no_memory(), see kl_json_whole().
 */
json_t *kl_page_orders(const struct kl_spec *spec, const struct kl_counterexample *c);

#endif
