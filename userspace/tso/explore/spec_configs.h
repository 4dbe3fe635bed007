/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The specification beside an implementation: the set of configurations of the specification's
 * machine that the history so far allows (Burckhardt et al., Definitions 1 and 2).  By Lemma 7 the
 * implementation is linearizable for a client if and only if this set is never empty.
 *
 * Configurations and sets have numbers, and steps between sets are remembered, so that most steps
 * are one look-up.
 */
#ifndef KL_TSO_EXPLORE_SPEC_CONFIGS_H
#define KL_TSO_EXPLORE_SPEC_CONFIGS_H

#include "base/intern.h"
#include "spec/spec.h"
#include "tso/machine/vm.h"

struct kl_abstract;

/* @sc: the machine is sequentially consistent: stores go to memory at once. */
int kl_abstract_new(const struct kl_spec *spec, unsigned int nthreads, bool sc,
		    struct kl_abstract **out);
void kl_abstract_free(struct kl_abstract *a);
/* Bound the memory of the sets; without a call there is no bound. */
void kl_abstract_limit(struct kl_abstract *a, size_t bytes);

/*
 * Make the set of the first configuration, closed under internal steps.
 * Return: as kl_abstract_step().
 */
int64_t kl_abstract_first(struct kl_abstract *a);

/**
 * kl_abstract_step() - find the set after an event
 * @a: the sets
 * @set: the set before
 * @e: the event
 *
 * Return: the number of the set after the event; 0 for the empty set, which is a violation; -ENOSPC
 * at the bound of memory, which the choices of one step may already reach; -E2BIG if something is
 * too large, see kl_abstract_error(); -EINVAL after a message; another negative errno.
 */
int64_t kl_abstract_step(struct kl_abstract *a, uint32_t set, const struct kl_vm_event *e);
const char *kl_abstract_error(const struct kl_abstract *a);

/**
 * kl_abstract_drains() - check whether a return fails because a store buffer is not empty
 * @a: the sets
 * @set: the set before the return
 * @e: the return
 *
 * Return: true if in some configuration of @set a step of the method fails only because it
 * drains the buffer.  If the step is the method's last, it must also have the results of @e.
 */
bool kl_abstract_drains(struct kl_abstract *a, uint32_t set, const struct kl_vm_event *e);

/*
 * Return: the threads whose oldest layer is complete and empty in all configurations of a set, a
 * bit for each.
 */
uint32_t kl_abstract_empty_layers(const struct kl_abstract *a, uint32_t set);
/* Return: the data values that some configuration of a set has, a bit for each. */
uint64_t kl_abstract_data(const struct kl_abstract *a, uint32_t set);
/* Rename the data and the threads of a set.  Return: the new number, or a negative errno. */
int64_t kl_abstract_rename(struct kl_abstract *a, uint32_t set, const struct kl_vm_names *names);
/* Return: true if every configuration of @set is also in @other. */
bool kl_abstract_within(const struct kl_abstract *a, uint32_t set, uint32_t other);
size_t kl_abstract_nsets(const struct kl_abstract *a);
size_t kl_abstract_nconfigs(const struct kl_abstract *a);
size_t kl_abstract_bytes(const struct kl_abstract *a);

/**
 * kl_abstract_result() - list the results that the specification allows for a call
 * @a: the sets
 * @set: the set
 * @t: the thread of the call
 * @at: position of the iteration, 0 at first; several configurations may have the same results
 * @val: gets the results
 *
 * Return: the number of results, or -1 if no further configuration has any.
 */
int kl_abstract_result(const struct kl_abstract *a, uint32_t set, unsigned int t, size_t *at,
		       uint64_t val[KL_MAX_ARGS]);

#endif
