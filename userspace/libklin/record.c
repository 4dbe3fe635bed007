// SPDX-License-Identifier: GPL-2.0
/* Recordings and the lanes of their threads, see klin/record.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "libklin/clock.h"
#include "libklin/recording.h"

/* Return: the most values that an operation of the specification has. */
static uint32_t most_values(const struct kl_spec *s)
{
	uint32_t i, most = 0;

	for (i = 0; i < kl_spec_nmethods(s); i++) {
		const struct kl_method *m = kl_spec_method(s, i);

		if (m->nparams + m->nresults > most)
			most = m->nparams + m->nresults;
	}
	return most;
}

static void begin_lane(struct klin_rec *rec, struct klin_lane *lane, enum klin_lane_clock clock)
{
	*lane = (struct klin_lane){
		.order = &rec->order,
		.room = most_values(rec->spec->s),
		.clock = clock,
		.rec = rec,
		.lost_from = UINT64_MAX,
	};
	lane->stride = sizeof(struct klin_slot) + lane->room * sizeof(uint64_t);
}

static struct klin_rec *open_rec(struct klin_spec *spec, enum klin_clock clock,
				 unsigned int threads, size_t operations)
{
	struct klin_rec *rec = aligned_alloc(REC_LINE, sizeof(*rec));

	if (!rec)
		return NULL;
	*rec = (struct klin_rec){
		.spec = spec,
		.threads = threads,
		.operations = operations,
		.order = 1,
		.undrained = clock == KLIN_CLOCK_PLAIN,
		.lanes = calloc(threads, sizeof(*rec->lanes)),
	};
	if (!rec->lanes || pthread_key_create(&rec->key, NULL)) {
		free(rec->lanes);
		free(rec);
		return NULL;
	}
	pthread_mutex_init(&rec->lock, NULL);
	lib_get(&spec->users);
	begin_lane(rec, &rec->none, lib_clock(clock));
	rec->began = rec_time(&rec->none);
	return rec;
}

struct klin_rec *klin_rec_open_spec(struct klin_spec *spec, enum klin_clock clock,
				    unsigned int threads, size_t operations)
{
	const size_t slot = sizeof(struct klin_slot) + most_values(spec->s) * sizeof(uint64_t);
	struct klin_rec *rec;

	lib_begin();
	if (clock > KLIN_CLOCK_LOCKED || !threads || !operations ||
	    operations > (SIZE_MAX / 4 - REC_LINE) / slot / threads) {
		kl_err("klin_rec_open: expected one of enum klin_clock, and at least one thread and "
		       "one operation, all of which fit the memory");
		return NULL;
	}
	rec = open_rec(spec, clock, threads, operations);
	if (!rec)
		lib_end(-ENOMEM, "klin_rec_open");
	return rec;
}

struct klin_rec *klin_rec_open(const char *path, enum klin_clock clock, unsigned int threads,
			       size_t operations)
{
	struct klin_rec *rec = NULL;
	struct klin_spec *spec;

	if (!klin_spec_load(path, &spec)) {
		rec = klin_rec_open_spec(spec, clock, threads, operations);
		klin_spec_free(spec);
	}
	return rec;
}

void rec_no_method(const struct klin_rec *rec, const char *name)
{
	const struct kl_spec *s = rec->spec->s;
	char list[512] = "", near[160];
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < kl_spec_nmethods(s) && len < sizeof(list); i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
				kl_spec_method(s, i)->name);
	kl_err("the specification '%s' has no method '%s', but %s%s", kl_spec_name(s), name, list,
	       kl_spec_near_method(s, name, near, sizeof(near)));
}

int klin_rec_method(const struct klin_rec *rec, const char *name)
{
	const int method = kl_spec_find_method(rec->spec->s, name);
	/* The name is kept for a message, and changes nothing that callers see. */
	struct klin_rec *r = (struct klin_rec *)rec;

	lib_begin();
	if (method >= 0)
		return method;
	rec_no_method(rec, name);
	pthread_mutex_lock(&r->lock);
	if (!r->no_method)
		r->no_method = strdup(name);
	pthread_mutex_unlock(&r->lock);
	return -1;
}

/* Make a lane, with its slots behind it, and touch all of its memory. */
static struct klin_lane *new_lane(struct klin_rec *rec)
{
	const size_t head = rec_round_up(sizeof(struct klin_lane));
	const size_t slots = rec->operations * rec->none.stride;
	char *at = aligned_alloc(REC_LINE, rec_round_up(head + slots));
	struct klin_lane *lane = (struct klin_lane *)at;

	if (!at)
		return NULL;
	memset(at, 0, head + slots);
	begin_lane(rec, lane, rec->none.clock);
	lane->at = at + head;
	lane->end = lane->at + slots;
	return lane;
}

struct klin_lane *klin_rec_thread(struct klin_rec *rec)
{
	struct klin_lane *lane = pthread_getspecific(rec->key);

	if (lane)
		return lane;
	pthread_mutex_lock(&rec->lock);
	lane = rec->nlanes < rec->threads ? new_lane(rec) : NULL;
	if (lane)
		rec->lanes[rec->nlanes++] = lane;
	pthread_mutex_unlock(&rec->lock);
	if (!lane || pthread_setspecific(rec->key, lane))
		return &rec->none;
	return lane;
}

/* Count a wrong call or return.  Keep the first one of the recording, for a message. */
static void misused(struct klin_lane *lane, const struct rec_misuse *misuse)
{
	struct klin_rec *rec = lane->rec;

	pthread_mutex_lock(&rec->lock);
	if (!rec->misuse.lane)
		rec->misuse = *misuse;
	pthread_mutex_unlock(&rec->lock);
	__atomic_fetch_add(&lane->wrong, 1, __ATOMIC_RELAXED);
}

/* Several threads may share the lane without a buffer. */
void klin_lane_lost(struct klin_lane *lane, unsigned int nargs)
{
	const uint64_t t = rec_time(lane);
	uint64_t from = __atomic_load_n(&lane->lost_from, __ATOMIC_RELAXED);

	while (t < from && !__atomic_compare_exchange_n(&lane->lost_from, &from, t, false,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	__atomic_fetch_add(&lane->lost, 1, __ATOMIC_SEQ_CST);
	if (nargs > lane->room) {
		/* Programs that were compiled with an older header do not tell the method. */
		const struct rec_misuse misuse = {
			.lane = lane,
			.method = (int)__atomic_load_n(&lane->given, __ATOMIC_RELAXED) - 1,
			.nargs = nargs,
		};

		misused(lane, &misuse);
	}
	if (lane != &lane->rec->none)
		lane->open = NULL;
}

/* The return of an operation that was lost is not wrong. */
void klin_lane_wrong(struct klin_lane *lane)
{
	const uint32_t given = __atomic_load_n(&lane->given, __ATOMIC_RELAXED);
	struct rec_misuse misuse = { .lane = lane, .method = -1 };

	if (!lane->open && __atomic_load_n(&lane->lost, __ATOMIC_RELAXED))
		return;
	if (lane->open) {
		misuse.method = lane->open->method;
		misuse.nargs = lane->open->nargs;
		misuse.nresults = given ? given - 1 : lane->room - misuse.nargs + 1;
	}
	misused(lane, &misuse);
}

void klin_rec_free(struct klin_rec *rec)
{
	unsigned int i;

	if (!rec)
		return;
	for (i = 0; i < rec->nlanes; i++)
		free(rec->lanes[i]);
	pthread_key_delete(rec->key);
	pthread_mutex_destroy(&rec->lock);
	klin_spec_free(rec->spec);
	free(rec->lanes);
	free(rec->no_method);
	free(rec);
}
