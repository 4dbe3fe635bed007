/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures and functions that the files of libklin share.
 *
 * Objects are counted: a result needs its specification and its history.  The lock of a history is
 * held while any function uses the history, because a check may complete its operations.
 */
#ifndef KL_LIBKLIN_INTERNAL_H
#define KL_LIBKLIN_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "check/check.h"
#include "history/history.h"
#include "libklin/include/klin/klin.h"
#include "spec/spec.h"

struct klin_spec {
	unsigned int users;
	struct kl_spec *s;
};

struct klin_history {
	unsigned int users;
	pthread_mutex_t lock;
	struct kl_history *h;
	char *path; /* the file that it was read from, or NULL */
	bool whole; /* no operation may be added, since kl_history_finish() was called */
};

/* Begin a function that may fail: forget this thread's messages. */
void lib_begin(void);
/*
 * End it.  If @err is an error without a message, "@what: strerror(-@err)" becomes the message.
 * Return: @err.
 */
int lib_end(int err, const char *what);

/* Return: a new object with one user, which takes @s or @h over; NULL without memory. */
struct klin_spec *lib_spec(struct kl_spec *s);
struct klin_history *lib_history(struct kl_history *h);

static inline void lib_get(unsigned int *users)
{
	__atomic_fetch_add(users, 1, __ATOMIC_RELAXED);
}

/* Return: true if nobody uses the object any more. */
static inline bool lib_put(unsigned int *users)
{
	return __atomic_fetch_sub(users, 1, __ATOMIC_ACQ_REL) == 1;
}

/* Sort the operations, if that was not done.  The caller holds the lock.  Return: 0 or -ENOMEM. */
int lib_history_finish(struct klin_history *h);

#endif
