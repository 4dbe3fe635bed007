/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Orders with the state after each step: the longest ones of a counterexample, and the one that
 * explains a partition.
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
 * reaching memory, and "7?" an operation before its return, whose results are open.  "states" has the state before all steps and the state after each; it is empty
 * if an order does not determine the states.  "state" is the one after all steps, if it is known.
 * "stopped_by" is the operation that cannot come
 * next, or null; "sentence" says why.
 *
 * Return: a JSON array; parts may be missing after kl_json_no_memory(), see kl_json_whole().
 */
json_t *kl_page_orders(const struct kl_spec *spec, const struct kl_counterexample *c);

/**
 * kl_page_witness() - make the order that shows a partition to be linearizable
 * @spec: the specification
 * @h: the history
 * @p: the partition, whose answer has the order
 *
 * Return: an object with "operations" and "states" as of kl_page_orders().
 */
json_t *kl_page_witness(const struct kl_spec *spec, const struct kl_history *h,
			const struct kl_part_result *p);

/**
 * kl_page_prefix() - make an order of all that goes well in a violated partition
 * @r: the check of the history
 * @p: the partition
 *
 * Return: an object as of kl_page_witness(), in which "stopped_by" is the operation that returns
 * next and that no order has, too; NULL if none was found, see kl_prefix_find().
 */
json_t *kl_page_prefix(const struct kl_report *r, const struct kl_part_result *p);

#endif
