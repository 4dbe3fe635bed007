/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flight recorder: keeps the last operations of a continuing recording in bounded memory, and
 * makes a history of them when a violation is found.
 *
 * This history begins with a gap for the forgotten operations, and ends at the floor: operations
 * that were called later are left out, and operations that returned later become pending.
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
	uint64_t ops, bytes; /* operations and bytes that are kept now */
	uint64_t forgotten; /* number of operations and gaps that were forgotten */
};

/**
 * flight_new() - make a flight recorder
 * @spec: the specification, which must outlive the recorder and all its shots
 * @h: a history, whose header is copied
 * @bytes: bound of the memory
 * @ns: operations that returned this long before the latest one are forgotten; 0: no such limit
 *
 * Return: NULL when out of memory.
 */
struct flight *flight_new(const struct kl_spec *spec, const struct kl_history *h, uint64_t bytes,
			  uint64_t ns);
void flight_free(struct flight *f);

/**
 * flight_add() - keep the operations and gaps of a history
 * @f: the recorder
 * @h: the history
 *
 * Return: 0; 1 if a coverage became harmful, so that flight_attached() should say it, too; -ENOMEM;
 * -EOVERFLOW.
 */
int flight_add(struct flight *f, const struct kl_history *h);

/* Replace the text that says how the probes are attached.  Return: 0 or -ENOMEM. */
int flight_attached(struct flight *f, const char *text);

/**
 * flight_take() - take a shot of the kept operations, without copying them
 * @f: the recorder
 * @floor: all operations that were not added yet are called at this time or later
 *
 * Return: the shot, which any thread may use and free; NULL when out of memory.
 */
struct flight_shot *flight_take(struct flight *f, uint64_t floor);
void flight_shot_free(struct flight_shot *s);

/**
 * flight_shot_history() - make a history of a shot
 * @s: the shot
 * @object: the only object of the history; NULL: all objects
 * @out: the history, finished
 *
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int flight_shot_history(const struct flight_shot *s, const uint64_t *object,
			struct kl_history **out);

void flight_stats(const struct flight *f, struct flight_stats *out);

#endif
