// SPDX-License-Identifier: GPL-2.0
/* A barrier, see barrier.h. */
#include "base/barrier.h"

#define LOOKS	2000	/* before it sleeps: some tens of microseconds */

void kl_barrier_init(struct kl_barrier *b, uint32_t team)
{
	b->team = team;
	b->arrived = b->turn = 0;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->all, NULL);
}

void kl_barrier_free(struct kl_barrier *b)
{
	pthread_cond_destroy(&b->all);
	pthread_mutex_destroy(&b->lock);
}

static inline uint32_t turn_of(const struct kl_barrier *b)
{
	return __atomic_load_n(&b->turn, __ATOMIC_ACQUIRE);
}

static void open_barrier(struct kl_barrier *b, uint32_t turn)
{
	/* Before the others may come here again. */
	__atomic_store_n(&b->arrived, 0, __ATOMIC_RELAXED);
	/* With the lock, or one could go to sleep after it. */
	pthread_mutex_lock(&b->lock);
	__atomic_store_n(&b->turn, turn, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&b->lock);
	pthread_cond_broadcast(&b->all);
}

void kl_barrier_wait(struct kl_barrier *b)
{
	const uint32_t turn = turn_of(b);
	unsigned int i;

	if (b->team < 2)
		return;
	if (__atomic_add_fetch(&b->arrived, 1, __ATOMIC_ACQ_REL) == b->team) {
		open_barrier(b, turn + 1);
		return;
	}
	for (i = 0; i < LOOKS && turn_of(b) == turn; i++)
		__builtin_ia32_pause();
	if (turn_of(b) != turn)
		return;
	pthread_mutex_lock(&b->lock);
	while (turn_of(b) == turn)
		pthread_cond_wait(&b->all, &b->lock);
	pthread_mutex_unlock(&b->lock);
}
