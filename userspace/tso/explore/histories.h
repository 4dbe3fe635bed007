/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The histories of an implementation, in place of a specification's sets: each state is explored
 * together with the history that led to it.
 *
 * Take two histories with the same operations.  One is harder to explain if each call and
 * flush(call) comes after all returns and flush(ret)s that it comes after in the other
 * (Burckhardt et al., Definition 1: the easier one is linearized by the harder).  An
 * implementation with a history also has the easier ones (Lemma 7), so the hardest histories
 * determine all.  The same holds for a thread's own events: its marker, once it is the oldest
 * entry, may be flushed before or after the thread's return.
 */
#ifndef KL_TSO_EXPLORE_HISTORIES_H
#define KL_TSO_EXPLORE_HISTORIES_H

#include <stdio.h>

#include "tso/machine/vm.h"

struct kl_histories;

int kl_histories_new(const struct kl_vm_prog *prog, struct kl_histories **out);
void kl_histories_free(struct kl_histories *h);
/* Make the history without events.  Return: its number, or a negative errno. */
int64_t kl_histories_first(struct kl_histories *h);
/* Add an event to the history @id.  Return: the new number, or a negative errno. */
int64_t kl_histories_step(struct kl_histories *h, uint32_t id, const struct kl_vm_event *e);
/* Rename the threads and the data of a history.  Return: the new number, or a negative errno. */
int64_t kl_histories_rename(struct kl_histories *h, uint32_t id, const struct kl_vm_names *names);
/* Return: the data values of a history, a bit for each number. */
uint64_t kl_histories_data(const struct kl_histories *h, uint32_t id);
/* Return: true if @a has the operations of @b, and is at least as hard to explain. */
bool kl_histories_harder(const struct kl_histories *h, uint32_t a, uint32_t b);
size_t kl_histories_bytes(const struct kl_histories *h);
/* Note that a run ends with this history.  Return: 0 or -ENOMEM. */
int kl_histories_end(struct kl_histories *h, uint32_t id);
/**
 * kl_histories_print() - print the hardest histories of runs that have ended
 * @h: the histories
 * @f: gets a line for each, in alphabetical order; the lines do not depend on the names of
 *	data, nor of threads with the same code
 *
 * Return: the number of lines, or a negative errno.
 */
int64_t kl_histories_print(struct kl_histories *h, FILE *f);

#endif
