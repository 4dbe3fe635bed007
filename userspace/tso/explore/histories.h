/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The histories of an implementation, in place of a specification's sets: each
 * state is explored beside the history that led to it.
 *
 * Of two histories whose threads do the same, one is harder to explain if every
 * call and flush(call) in it comes after at least the returns and flush(ret)s
 * that it comes after in the other (Burckhardt et al., Definition 1: the easier
 * one is linearized by the harder).  With each history an implementation has the
 * easier ones too (Lemma 7), so that the hardest ones say which all are.  For a
 * thread's own events the same holds: its marker, once it is the oldest, can be
 * flushed before the thread returns as well as after.
 */
#ifndef KL_TSO_EXPLORE_HISTORIES_H
#define KL_TSO_EXPLORE_HISTORIES_H

#include <stdio.h>

#include "tso/machine/vm.h"

struct kl_histories;

int kl_histories_new(const struct kl_vm_prog *prog, struct kl_histories **out);
void kl_histories_free(struct kl_histories *h);
/* The history without events; a negative errno. */
int64_t kl_histories_first(struct kl_histories *h);
/* The history @id after an event: its number or a negative errno. */
int64_t kl_histories_step(struct kl_histories *h, uint32_t id, const struct kl_vm_event *e);
int64_t kl_histories_rename(struct kl_histories *h, uint32_t id, const struct kl_vm_names *names);
/* Data values in it, a bit for each number. */
uint64_t kl_histories_data(const struct kl_histories *h, uint32_t id);
/* Is @a as hard to explain as @b, or harder? */
bool kl_histories_harder(const struct kl_histories *h, uint32_t a, uint32_t b);
size_t kl_histories_bytes(const struct kl_histories *h);
/* A run ends with it. */
int kl_histories_end(struct kl_histories *h, uint32_t id);
/**
 * kl_histories_print() - the hardest histories of runs that have ended
 * @h: the histories
 * @f: where to; a line for each, the same whatever the names of threads of the
 *	same code and of data were, in alphabetical order
 *
 * Return: how many there are, or a negative errno.
 */
int64_t kl_histories_print(struct kl_histories *h, FILE *f);

#endif
