/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The specification beside an implementation: all configurations of the
 * specification's machine that the history so far allows (Burckhardt et al.,
 * Definitions 1 and 2).  By their Lemma 7 the implementation is linearizable for
 * a client exactly if this set is never empty.
 *
 * Configurations, sets and the step from a set to the next are numbered and
 * remembered, so that most steps are one look-up.
 */
#ifndef KL_TSO_EXPLORE_SPEC_CONFIGS_H
#define KL_TSO_EXPLORE_SPEC_CONFIGS_H

#include "base/intern.h"
#include "spec/spec.h"
#include "tso/machine/vm.h"

struct kl_abstract;

/* @sc: on a sequentially consistent machine; stores go to memory at once. */
int kl_abstract_new(const struct kl_spec *spec, unsigned int nthreads, bool sc,
		    struct kl_abstract **out);
void kl_abstract_free(struct kl_abstract *a);
/* It may take so many bytes; at first it may take any. */
void kl_abstract_limit(struct kl_abstract *a, size_t bytes);

/* The set of the first configuration alone, closed; as kl_abstract_step(). */
int64_t kl_abstract_first(struct kl_abstract *a);

/**
 * kl_abstract_step() - the set after an event
 * @a: the sets
 * @set: the set before
 * @e: the event
 *
 * Return: the number of the set after; 0 is the empty one: a violation.
 * -ENOSPC at the bound on memory, which one step of the specification may reach by its choices;
 * -E2BIG when something is too large, kl_abstract_error() says what; -EINVAL after a message;
 * another negative errno.
 */
int64_t kl_abstract_step(struct kl_abstract *a, uint32_t set, const struct kl_vm_event *e);
const char *kl_abstract_error(const struct kl_abstract *a);

/**
 * kl_abstract_drains() - does a return fail at a store buffer that is not empty?
 * @a: the sets
 * @set: the set before the return
 * @e: the return
 *
 * Return: true if a step of the specification's method, with this result or not its last
 * one, is refused in some configuration of @set only since it drains the buffer.
 */
bool kl_abstract_drains(struct kl_abstract *a, uint32_t set, const struct kl_vm_event *e);

/* Threads whose oldest layer is complete and empty in all configurations, a bit for each. */
uint32_t kl_abstract_empty_layers(const struct kl_abstract *a, uint32_t set);
/* Data values that some configuration has, a bit for each number. */
uint64_t kl_abstract_data(const struct kl_abstract *a, uint32_t set);
/* The set with other names for its data and its threads; a negative errno. */
int64_t kl_abstract_rename(struct kl_abstract *a, uint32_t set, const struct kl_vm_names *names);
/* Is every configuration of @set in @other too?  Then @other explains whatever @set does. */
bool kl_abstract_within(const struct kl_abstract *a, uint32_t set, uint32_t other);
size_t kl_abstract_nsets(const struct kl_abstract *a);
size_t kl_abstract_nconfigs(const struct kl_abstract *a);
size_t kl_abstract_bytes(const struct kl_abstract *a);

/**
 * kl_abstract_result() - what the specification would let a call return
 * @a: the sets
 * @set: the set
 * @t: the thread whose call it is
 * @at: where to go on, 0 at first; several configurations may have the same results
 * @val: the results
 *
 * Return: how many results; -1 if there are no more configurations in which it could
 * return.
 */
int kl_abstract_result(const struct kl_abstract *a, uint32_t set, unsigned int t, size_t *at,
		       uint64_t val[KL_MAX_ARGS]);

#endif
