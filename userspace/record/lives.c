// SPDX-License-Identifier: GPL-2.0
/*
 * The lives of objects.  An object is known by its address.  When its memory is freed and used
 * again, the address names another object: each time from one free to the next is a life, with an
 * object of its own in the history.  The first life has the address as its object.
 *
 * An operation belongs to the life in which its object was fetched: at its call, at its return, or
 * at a place between them.  Where the clocks' error leaves that open, it is a gap of these lives.
 * Few operations last beyond the end of their object's life: one that frees the object itself, or
 * one on memory whose type stays (SLAB_TYPESAFE_BY_RCU).  They may have taken effect in the next
 * life, so they are pending in their own life, and gaps in the lives that they meet.
 *
 * bpf/free.bpf.c sees the frees of slab objects.  Nothing is concluded about an object that its
 * table has no room for.  It does not see when other memory changes its use (see specs/README).
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "history/spell.h"
#include "record/recorder.h"

/* Objects of later lives are numbers from here on, which are no addresses. */
#define LATER_LIVES	(1ULL << 62)

/* Addresses whose lives a followed recording remembers. */
#define MOST_HOMES	(1U << 20)

int kl_lives_open(struct kl_recorder *r)
{
	r->lives.living_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "klin_living", 4,
					    sizeof(struct klin_bucket), KLIN_BUCKETS, NULL);
	if (r->lives.living_fd < 0)
		return r->lives.living_fd;
	r->lives.blocks_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "klin_blocks", 4,
					    sizeof(struct klin_blocks), 1, NULL);
	return r->lives.blocks_fd < 0 ? r->lives.blocks_fd : 0;
}

void kl_lives_close(struct kl_recorder *r)
{
	size_t i;

	if (r->lives.living_fd >= 0)
		close(r->lives.living_fd);
	if (r->lives.blocks_fd >= 0)
		close(r->lives.blocks_fd);
	for (i = 0; i < r->lives.n; i++)
		free(r->lives.home[i].life);
	free(r->lives.home);
	free(r->lives.unreported);
	free(r->lives.over);
	kl_table_free(&r->lives.table);
}

static uint32_t hash_of(uint64_t addr)
{
	return kl_mix(addr, 0);
}

/* Return: the address in the list, or NULL. */
static struct kl_home *find_home(const struct kl_recorder *r, uint64_t addr)
{
	size_t at;
	uint32_t i;

	if (!r->lives.n)
		return NULL;
	kl_table_for_each(&r->lives.table, hash_of(addr), at, i)
		if (r->lives.home[i].addr == addr)
			return &r->lives.home[i];
	return NULL;
}

static int add_home(struct kl_recorder *r, uint64_t addr, struct kl_home **out)
{
	int err = kl_grow(r->lives.home, r->lives.cap, r->lives.n + 1) ?:
		  kl_table_add(&r->lives.table, hash_of(addr), r->lives.n);

	if (err)
		return err;
	*out = &r->lives.home[r->lives.n++];
	**out = (struct kl_home){ .addr = addr };
	return 0;
}

/* Add a life to those of its address, in order of time. */
static int add_life(struct kl_home *home, const struct kl_life *life)
{
	int err = kl_grow(home->life, home->cap, home->n + 1);
	size_t i;

	if (err)
		return err;
	for (i = home->n++; i && home->life[i - 1].time > life->time; i--)
		home->life[i] = home->life[i - 1];
	home->life[i] = *life;
	return 0;
}

/* The memory of the object at @addr was freed. */
static int add_free(struct kl_recorder *r, uint64_t addr, const struct klin_event *ev)
{
	const struct kl_life life = {
		.time = ev->ret,
		.cpu = ev->cpu_ret,
		.first = KL_TIME_MAX,
		.unwatched = ev->flags & KLIN_F_UNWATCHED,
	};
	struct kl_home *home = find_home(r, addr);
	int err = home ? 0 : add_home(r, addr, &home);

	if (!err)
		err = add_life(home, &life);
	if (err || home->listed)
		return err;
	err = kl_grow(r->lives.unreported, r->lives.cunreported, r->lives.nunreported + 1);
	if (!err)
		r->lives.unreported[r->lives.nunreported++] = home - r->lives.home;
	home->listed = !err;
	return err;
}

int kl_lives_freed(struct kl_recorder *r, const struct klin_event *ev)
{
	const uint32_t n = ev->probe < KLIN_MAX_VALS ? ev->probe : KLIN_MAX_VALS;
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < n; i++)
		err = add_free(r, ev->val[i], ev);
	r->lives.count += n;
	return err;
}

/* The time in which the object of an operation was fetched. */
struct fetch {
	uint64_t from, to;
	bool same_clock;	/* by the clock of the operation's CPU, as given */
};

/*
 * An object that was fetched at the return may have been found at any time in the operation, and
 * freed since.
 */
static struct fetch when_fetched(const struct kl_recorder *r, const struct kl_op *op)
{
	const bool other = op->pad & KL_LIFE_OTHER_CPU;
	/* If the task has moved, the clock's error was subtracted from the call. */
	struct fetch f = { op->call, other ? kl_time_add(op->call, r->h->error) : op->call,
			   !other };

	if (op->pad & KL_LIFE_AT_POINT) {
		f.from = f.to = kl_op_point(r->h, op);
	} else if (op->pad & KL_LIFE_AT_RETURN) {
		f.from = op->flags & KL_OP_NOCALL ? op->ret : op->call;
		f.to = op->ret;
	}
	/* An operation that returned after the end is pending. */
	if (f.from == KL_TIME_MAX)
		f.from = r->end;
	if (f.to == KL_TIME_MAX)
		f.to = r->end;
	return f;
}

/* Return: true if the life certainly began before @time. */
static bool before(const struct kl_recorder *r, const struct kl_life *l, uint16_t cpu, bool same,
		   uint64_t time)
{
	return same && l->cpu == cpu ? l->time < time : kl_time_add(l->time, r->h->error) < time;
}

/* Return: true if the life certainly began after @time. */
static bool after(const struct kl_recorder *r, const struct kl_life *l, uint16_t cpu, bool same,
		  uint64_t time)
{
	return same && l->cpu == cpu ? l->time > time : l->time > kl_time_add(time, r->h->error);
}

/* Name the object of a later life, and if its begin is not known, make it a gap. */
static int begin_object(struct kl_recorder *r, uint64_t addr, const struct kl_life *l,
			uint32_t object)
{
	const struct kl_gap gap = {
		.from = l->time,
		.to = KL_TIME_MAX,
		.object = object,
		.cpu = KL_NO_CPU,
		.reason = KL_GAP_MISSED,
	};
	const char *slab = kl_history_slab(r->h, addr);
	char name[160];
	int n = l->unwatched ? kl_history_add_gap(r->h, &gap) : 0;

	if (n || r->names >= KL_NAMES_MAX)
		return n;
	r->names++;
	n = snprintf(name, sizeof(name), "%s at 0x%" PRIx64 ", used again", slab ? slab : "memory",
		     addr);
	return kl_history_spell_kind(r->h, KL_SPELLED_SLAB, l->object, name, n);
}

/* Return: the number of an object, in the history, for a later life at @addr; or an error. */
static int64_t object_of(struct kl_recorder *r, uint64_t addr, struct kl_life *l)
{
	const size_t before = r->h->nobjects;
	int64_t object;

	if (l->object)
		return kl_history_object(r->h, l->object);
	do {
		l->object = LATER_LIVES + r->lives.next++;
		object = kl_history_object(r->h, l->object);
	} while (object >= 0 && r->h->nobjects == before);
	return object < 0 ? object : begin_object(r, addr, l, object) ?: object;
}

/*
 * An operation that may have taken effect in several lives at its object's address: in number
 * @least to number @most, or, if it @lasts, in those that begin before its return.
 */
struct across {
	struct kl_op op;
	uint64_t addr;
	uint32_t least, most;
	bool lasts;
};

struct all_across {
	struct across *a;
	size_t n, cap;
};

/* Return: the number of lives that began before @time by any clock. */
static uint32_t clearly_before(const struct kl_recorder *r, const struct kl_home *home,
			       uint64_t time)
{
	uint32_t lo = 0, hi = home->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (kl_time_add(home->life[mid].time, r->h->error) < time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Find the life of an operation: number 0 is the first one, and number i begins with
 * home->life[i - 1].  Unless *least is the same as *most, it may be any of them.
 */
static void find_life(const struct kl_recorder *r, const struct kl_home *home,
		      const struct kl_op *op, uint32_t *least, uint32_t *most)
{
	const struct fetch f = when_fetched(r, op);

	for (*least = clearly_before(r, home, f.from); *least < home->n; (*least)++)
		if (!before(r, &home->life[*least], op->cpu, f.same_clock, f.from))
			break;
	for (*most = *least; *most < home->n; (*most)++)
		if (after(r, &home->life[*most], op->cpu, f.same_clock, f.to))
			break;
}

/*
 * Find the lives at an address.  If some were forgotten, an address that is not known begins a life
 * that is not the first.  *home is NULL if there is only one life.
 */
static int find_lives(struct kl_recorder *r, uint64_t addr, struct kl_home **home)
{
	const struct kl_life life = {
		.time = KL_TIME_MIN,
		.cpu = KL_NO_CPU,
		.first = KL_TIME_MAX,
		.reported = true,
	};
	int err;

	*home = find_home(r, addr);
	if (*home || !r->lives.forgot || addr < KLIN_KERNEL_FROM || addr >= KLIN_IMAGE_FROM)
		return 0;
	err = add_home(r, addr, home);
	return err ? err : add_life(*home, &life);
}

/* Give an operation the object of its life. */
static int assign(struct kl_recorder *r, struct kl_op *op, struct all_across *all)
{
	struct across a = { .op = *op, .addr = r->h->objects[op->object] };
	struct kl_home *home;
	struct kl_life *life;
	int64_t object;
	int err = find_lives(r, a.addr, &home);

	if (err || !home)
		return err;
	find_life(r, home, op, &a.least, &a.most);
	a.lasts = a.least == a.most && a.most < home->n &&
		  !after(r, &home->life[a.most], op->cpu, true, op->ret);
	life = a.most ? &home->life[a.most - 1] : NULL;
	object = life ? object_of(r, a.addr, life) : op->object;
	if (object < 0)
		return object;
	op->object = object;
	if (a.least == a.most && life && op->call < life->first)
		life->first = op->call;
	if (a.least == a.most && !a.lasts)
		return 0;
	err = kl_grow(all->a, all->cap, all->n + 1) ?: kl_op_make_pending(r->h, op);
	if (!err)
		all->a[all->n++] = a;
	return err;
}

/*
 * Make a gap of the operation in a life, or in the first one (NULL).  Operations that follow are
 * called at @floor or later.
 */
static int add_gap(struct kl_recorder *r, const struct across *a, struct kl_life *life,
		   uint64_t floor)
{
	const uint64_t last = kl_time_add(a->op.ret, r->h->error);
	struct kl_gap gap = {
		.from = a->op.flags & KL_OP_NOCALL ? KL_TIME_MIN : a->op.call, .to = a->op.ret,
		.lost = 1, .cpu = a->op.cpu, .reason = KL_GAP_MISSED,
	};
	int64_t object;

	/* A life without operations, or whose operations are all later, needs no gap. */
	if (life && !life->object && (floor == KL_TIME_MAX || (a->lasts && floor > last)))
		return 0;
	if (life && a->lasts && life->first > last && floor > last)
		return 0;
	object = life ? object_of(r, a->addr, life) : kl_history_object(r->h, a->addr);
	if (object < 0)
		return object;
	gap.object = object;
	return kl_history_add_gap(r->h, &gap);
}

static int add_gaps(struct kl_recorder *r, const struct all_across *all, uint64_t floor)
{
	int err = 0;
	size_t i;

	for (i = 0; i < all->n; i++) {
		const struct across *a = &all->a[i];
		struct kl_home *home = find_home(r, a->addr);
		const uint32_t from = a->lasts ? a->most + 1 : a->least;
		const uint32_t to = a->lasts ? home->n : a->most;
		uint32_t k;

		for (k = from; !err && k <= to; k++)
			err = add_gap(r, a, k ? &home->life[k - 1] : NULL, floor);
	}
	return err;
}

/* Nothing is known of objects whose memory is not watched. */
static int add_unwatched(struct kl_recorder *r, uint64_t from, uint64_t to,
			 const uint8_t *unwatched, size_t nobjects)
{
	struct kl_gap gap = {
		.from = from, .to = to, .cpu = KL_NO_CPU, .reason = KL_GAP_MISSED,
	};
	int err = 0;
	size_t i;

	for (i = 0; i < nobjects && !err; i++) {
		gap.object = i;
		if (unwatched[i])
			err = kl_history_add_gap(r->h, &gap);
	}
	return err;
}

/* Copy gaps of objects whose address has later lives to these. */
static int copy_gaps(struct kl_recorder *r)
{
	const size_t n = r->h->ngaps;
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++) {
		struct kl_gap gap = r->h->gaps[i];
		const struct kl_home *home = NULL;
		int64_t object;
		uint32_t k;

		if (gap.object != KL_ALL_OBJECTS)
			home = find_home(r, r->h->objects[gap.object]);
		for (k = 0; home && k < home->n && !err; k++) {
			if (!home->life[k].object)
				continue;
			object = kl_history_object(r->h, home->life[k].object);
			if (object < 0)
				return object;
			gap.object = object;
			err = kl_history_add_gap(r->h, &gap);
		}
	}
	return err;
}

int kl_lives_assign(struct kl_recorder *r, size_t nops, uint64_t from, uint64_t to, uint64_t floor)
{
	/* Where the specification does not tell objects apart, lives do not matter. */
	const bool apart = !r->opts.spec || kl_spec_partition(r->opts.spec) != KL_PART_NONE;
	const size_t nobjects = r->h->nobjects;
	uint8_t *unwatched = calloc(nobjects + 1, 1);
	struct all_across all = { 0 };
	int err = unwatched ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < nops && !err; i++) {
		struct kl_op *op = &r->h->ops[i];

		if (apart && op->pad & KL_LIFE_UNWATCHED)
			unwatched[op->object] = 1;
		if (apart && r->lives.count)
			err = assign(r, op, &all);
		op->pad = 0;
	}
	if (!err)
		err = add_unwatched(r, from, to, unwatched, nobjects);
	if (!err)
		err = copy_gaps(r) ?: add_gaps(r, &all, floor);
	free(all.a);
	free(unwatched);
	return err;
}

/* Note that the life before @i of an address is over. */
static int note_over(struct kl_recorder *r, struct kl_home *home, uint32_t i)
{
	const uint64_t object = i ? home->life[i - 1].object : home->addr;
	int err = kl_grow(r->lives.over, r->lives.cover, r->lives.nover + 1);

	home->life[i].reported = true;
	/* A life without operations has no object. */
	if (!err && object)
		r->lives.over[r->lives.nover++] = object;
	return err;
}

/* Note the lives of an address that were over before @floor, and forget them. */
static int end_lives(struct kl_recorder *r, struct kl_home *home, uint64_t floor)
{
	uint32_t i, old = 0;
	int err = 0;

	for (i = 0; i < home->n && !err; i++) {
		if (kl_time_add(home->life[i].time, r->h->error) >= floor)
			break;
		if (!home->life[i].reported)
			err = note_over(r, home, i);
		old = i;
	}
	home->listed = i < home->n;
	home->n -= old;
	memmove(home->life, home->life + old, home->n * sizeof(*home->life));
	return err;
}

/* Forget every second address, except those whose lives are still of use. */
static int forget_homes(struct kl_recorder *r, uint64_t floor)
{
	const struct kl_gap gap = {
		.from = floor, .to = floor, .object = KL_ALL_OBJECTS, .cpu = KL_NO_CPU,
		.reason = KL_GAP_MISSED,
	};
	size_t i, n = 0;

	kl_table_clear(&r->lives.table);
	r->lives.nunreported = 0;
	for (i = 0; i < r->lives.n; i++) {
		struct kl_home home = r->lives.home[i];

		if (i & 1 && !home.listed) {
			free(home.life);
			continue;
		}
		if (home.listed)
			r->lives.unreported[r->lives.nunreported++] = n;
		kl_table_put(&r->lives.table, hash_of(home.addr), n);
		r->lives.home[n++] = home;
	}
	r->lives.n = n;
	r->lives.forgot = true;
	/* An object that is still in use gets a new number; its state is not the first one. */
	return r->opts.fresh ? kl_history_add_gap(r->h, &gap) : 0;
}

int kl_lives_forget(struct kl_recorder *r, uint64_t floor)
{
	size_t i, n = 0;
	int err = 0;

	r->lives.nover = 0;
	for (i = 0; i < r->lives.nunreported && !err; i++) {
		struct kl_home *home = &r->lives.home[r->lives.unreported[i]];

		err = end_lives(r, home, floor);
		if (home->listed)
			r->lives.unreported[n++] = r->lives.unreported[i];
	}
	if (err)
		return err;
	r->lives.nunreported = n;
	return r->lives.n > MOST_HOMES ? forget_homes(r, floor) : 0;
}
