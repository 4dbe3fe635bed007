/* SPDX-License-Identifier: GPL-2.0 */
/* Subjects of a counter that is used in all contexts; see counter.c. */
#ifndef KLIN_COUNTER_H
#define KLIN_COUNTER_H

#include "subject.h"

struct klin_counter;

u64 klin_counter_again(u64 *n, u64 by, u64 times, u64 first);
u64 klin_counter_inc(struct klin_counter *c, struct klin_worker *w, unsigned int depth);
u64 klin_counter_get(struct klin_counter *c, struct klin_worker *w, unsigned int depth);

#endif
