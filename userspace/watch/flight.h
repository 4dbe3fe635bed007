/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flight recorder: the last operations of a recording that goes on, in memory that
 * has a bound, to be made a history of when something has happened.
 *
 * That history begins with a gap over all that was forgotten, and ends at the floor: what
 * is called later is left out, and what returns later is pending.
 */
#ifndef KL_WATCH_FLIGHT_H
#define KL_WATCH_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "history/history.h"
#include "spec/spec.h"

struct flight;
struct flight_shot;

struct flight_stats {
	uint64_t ops, bytes;	/* kept now */
	uint64_t forgotten;	/* operations */
};

/**
 * flight_new() - begin
 * @spec: the specification; must live longer, also than all shots
 * @h: what the history says about itself is taken from it
 * @bytes: bound of the memory
 * @ns: operations that returned so long before the latest one are forgotten; 0: none are
 *
 * Return: NULL when out of memory.
 */
struct flight *flight_new(const struct kl_spec *spec, const struct kl_history *h, uint64_t bytes,
			  uint64_t ns);
void flight_free(struct flight *f);

/* Keep the operations and gaps of @h.  0, -ENOMEM, -EOVERFLOW. */
int flight_add(struct flight *f, const struct kl_history *h);

/**
 * flight_take() - what is kept, without copying it
 * @f: the recorder
 * @floor: every operation that was not added yet is called at that time or later
 *
 * Return: to be used and freed by any thread; NULL when out of memory.
 */
struct flight_shot *flight_take(struct flight *f, uint64_t floor);
void flight_shot_free(struct flight_shot *s);

/**
 * flight_shot_history() - make a history of it
 * @s: the shot
 * @object: that object alone; NULL: all
 * @out: the history, finished
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int flight_shot_history(const struct flight_shot *s, const uint64_t *object,
			struct kl_history **out);

void flight_stats(const struct flight *f, struct flight_stats *out);

#endif
