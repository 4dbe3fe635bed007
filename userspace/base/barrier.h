/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the threads of a team wait for one another, often and not for long: looking for a
 * while before they sleep, as waking one costs more than the work between two barriers
 * may be apart.
 */
#ifndef KL_BASE_BARRIER_H
#define KL_BASE_BARRIER_H

#include <pthread.h>
#include <stdint.h>

struct kl_barrier {
	uint32_t team, arrived, turn;
	pthread_mutex_t lock;
	pthread_cond_t all;
};

/* For @team threads. */
void kl_barrier_init(struct kl_barrier *b, uint32_t team);
void kl_barrier_free(struct kl_barrier *b);
/* Wait until all of the team have come here; what they wrote before is seen behind it. */
void kl_barrier_wait(struct kl_barrier *b);

#endif
