/* SPDX-License-Identifier: GPL-2.0 */
/* The online check from within. */
#ifndef KL_CHECK_ONLINE_INTERNAL_H
#define KL_CHECK_ONLINE_INTERNAL_H

#include "check/general/configs.h"
#include "check/online/heap.h"
#include "check/online/online.h"
#include "check/online/words.h"
#include "check/general/spec_stepper.h"
#include "spec/classify/container.h"

#define ON_NONE		UINT32_MAX
#define ON_SLOTS	64	/* operations under way at once in a partition with a frontier */
#define ON_CONFIGS	20000	/* configurations at one event */

/* What an operation does to a container. */
enum on_kind {
	ON_ADD, ON_REMOVE, ON_PEEK,
	ON_EMPTY,	/* found it empty */
	ON_WILD,	/* pending: it may have removed something */
	ON_NOTHING,	/* pending, or of unknown result, and changes nothing */
	ON_OTHER,	/* none of these */
};

struct on_op {
	uint64_t call, ret, drain;
	uint64_t thread;
	uint64_t word;		/* of a container's */
	uint32_t part;
	uint32_t shape;		/* for the frontier, ON_NONE if it need not know it */
	uint32_t refs;
	uint32_t at;		/* index among the open ones of its partition */
	uint32_t value;		/* that it is of, by certain order; or next free */
	uint32_t value2;	/* and by strict order */
	uint32_t gen;		/* times that this place was given away */
	uint16_t cpu, method;
	uint8_t flags;		/* enum kl_op_flags */
	uint8_t kind, slot;
	bool is_pred : 1;	/* others may have to wait for it */
	bool old : 1;		/* under way when its partition was started again */
	bool ended : 1;		/* has returned in the monitor of strict order */
	bool timed : 1, timed2 : 1;	/* pqueue: a peek that had its time, in either order */
	bool crowd : 1;		/* others of its word at that time are forgotten, see lifetimes.h */
};

/* An operation that is kept, to be checked offline. */
struct on_kept {
	uint64_t call, ret, drain, thread;
	uint64_t what;		/* its word, or its shape */
	uint16_t cpu, method;
	uint8_t flags, kind;
};

/* An operation under way, in a frontier: by slot. */
struct live_open {
	uint64_t preds;		/* slots */
	uint32_t op;
	uint8_t twin;		/* slot of an equal one that returns before, or ON_SLOTS */
	bool free, over, ghost, alone;
};

/* The configurations of a partition.  Not there while one state says it all. */
struct live {
	struct kl_configs c;
	struct kl_config_set cur;
	uint64_t free, over;	/* masks of slots */
	uint64_t used, ghosts;
	struct live_open open[ON_SLOTS];
	struct live *next;	/* in the pool */
};

enum part_mode {
	PART_FOLLOWED,
	PART_GAP,	/* operations are being lost */
	PART_KEPT,	/* its operations are kept, and checked offline */
};

struct on_part {
	/* What each operation needs comes first. */
	uint64_t object, key;
	uint32_t state;		/* without @live: at most open[0] is under way */
	uint32_t nopen;
	uint32_t *open;		/* operations */
	struct live *live;
	struct on_kept *ring;	/* its last operations */
	uint32_t nring, at_ring, cring, copen;
	uint64_t nops;
	void *mon, *strict;	/* of a container: by certain and by strict order */
	uint32_t starts;	/* of them */
	uint64_t evicted;	/* what was over by then may be missing in the ring */
	uint64_t alone;		/* operations from which on its monitor needs no frontier */
	uint8_t mode;
	bool front;		/* the frontier follows it */
	bool lacks;		/* something is missing in the ring */
	bool forgot;		/* it was started again in an unknown state */
	bool lost;		/* and operations were lost by then */
	bool gapped;		/* operations were, or will be, lost */

	uint64_t began;		/* all before is forgotten */
	uint64_t next_look, look_after;
	uint64_t wrong;		/* time of the last violation, plus 1; 0 if none */
	const char *why;	/* it is UNKNOWN */
	uint32_t gaps;		/* that are open */
	uint32_t sibling;	/* the next partition of that object, or ON_NONE */
};

struct on_gap {
	uint64_t from, to;	/* to: with the error */
	uint32_t object;	/* its number, ON_NONE: all; or the next free */
	bool open;
};

struct on_object {
	uint64_t id;
	uint32_t first, last;	/* of its partitions, or ON_NONE */
	uint32_t gaps_open;	/* on it alone */
	uint32_t dropped;	/* the gap that ends when it is resumed, or ON_NONE */
	uint64_t dropped_at;	/* for the last time */
	bool gapped, begun;	/* operations were or will be lost on it; have been by now */
};

/* The last operations of a thread, to find those that come too close after it. */
struct on_thread {
	uint64_t id;
	uint32_t op[4], gen[4];
	uint32_t n;
};

struct on_shape {
	uint64_t v[2];
	uint32_t key;		/* method, tags, whether it is pending; 0: none */
	uint32_t shape;
};

/* Where a shape led from two states; to ON_NONE: it was not possible. */
struct on_step {
	uint32_t from[2], to[2];
};

struct kl_online {
	const struct kl_spec *spec;
	struct kl_online_opts opts;
	struct kl_container c;
	enum kl_role *roles;
	bool flushes, monitored, ties;
	bool both;		/* a register: by a monitor, the frontier, or both */

	struct on_op *ops;
	size_t nops, cops;
	uint32_t free_op;

	/* watermark.c: known in [head, announced), sorted; all others may still have to be. */
	uint32_t *wait;
	size_t head, announced, tail, cwait;
	bool unsorted;
	struct kl_key *keys;
	size_t ckeys;
	struct on_heap ends;
	uint64_t floor, now, newest, events;
	struct on_thread *threads;
	size_t nthreads, cthreads;

	/* objects.c */
	struct on_object *objects;
	size_t cobjects;
	struct on_words object_at;
	struct on_gap *gaps;
	size_t ngaps, cgaps;
	uint32_t free_gap;
	uint32_t gaps_open;	/* on all objects */
	struct on_heap gap_times;	/* of their beginnings and ends */
	bool gapped, begun;	/* something was or will be lost on all objects; has been by now */
	struct on_part *parts;
	size_t nparts, cparts;
	uint32_t *table;
	size_t size;
	uint32_t last_part;
	uint32_t most;		/* operations that a partition may keep */

	/* online_frontier.c */
	struct kl_part fake;	/* items are shapes */
	struct kl_history *shapes;
	struct kl_sim sim;
	size_t cnature;
	bool have_sim;
	struct kl_config_set next, seen;
	uint64_t *tmp;
	uint32_t *succ;
	size_t csucc;
	struct on_shape *quick;	/* shapes of few values, by hash */
	size_t nquick, cquick;
	struct on_step *steps;	/* by shape: its last steps */
	size_t csteps;
	size_t limit_shapes;
	uint64_t limit_states;
	struct live *pool;
	char reason[160];
	bool hidden;

	uint64_t total, late, ngaps_told, violations, doubted, inside;
	char *reasons[16];	/* of partitions */
	char suspect[160];	/* of suspected violations */
	unsigned int shown;
	int err;
};

static inline uint64_t on_end_key(const struct kl_online *o, const struct on_op *op)
{
	return kl_time_add(op->ret, o->opts.error);
}

static inline struct on_op *on_op(struct kl_online *o, uint32_t i)
{
	return &o->ops[i];
}

/* Are its values kept as a shape? */
static inline bool on_has_shape(const struct kl_online *o, uint8_t kind)
{
	return !o->monitored || kind == ON_OTHER;
}

/* A happens before B for certain, see kl_op_before(); of one thread. */
static inline bool on_before(const struct on_op *a, const struct on_op *b)
{
	return a->thread == b->thread && a->cpu == b->cpu && a->ret != KL_TIME_MAX &&
	       !(b->flags & KL_OP_NOCALL) &&
	       (a->ret < b->call || (a->ret == b->call && a->call < a->ret && b->call < b->ret));
}

/* One reference less; the last gives its place away. */
static inline void on_op_put(struct kl_online *o, uint32_t i)
{
	struct on_op *op = on_op(o, i);

	if (--op->refs)
		return;
	op->gen++;
	op->value = o->free_op;
	o->free_op = i;
}

/* watermark.c */
int on_order_add(struct kl_online *o, uint32_t op);
int on_order_run(struct kl_online *o);
void on_order_free(struct kl_online *o);

/* objects.c */
int on_part_find(struct kl_online *o, uint64_t object, uint64_t key, uint32_t *part);
/* A gap begins or ends, the next one. */
int on_gap_follow(struct kl_online *o);
void on_objects_free(struct kl_online *o);

/* part.c: what happens to partitions, in order of time. */
/* A new one; @known: nothing was lost on it before. */
int on_part_begin(struct kl_online *o, struct on_part *p, bool known);
int on_part_announce(struct kl_online *o, uint32_t op);
int on_part_call(struct kl_online *o, uint32_t op);
int on_part_return(struct kl_online *o, uint32_t op);
/* Something is lost on it from now on, for ever if @endless; no longer. */
int on_part_gap(struct kl_online *o, struct on_part *p, bool endless);
int on_part_gap_over(struct kl_online *o, struct on_part *p);
int on_part_end(struct kl_online *o, struct on_part *p);
void on_part_free(struct kl_online *o, struct on_part *p);
/* Something of [from, ...) was missing after all: what was said of it is not certain. */
void on_part_doubt(struct kl_online *o, struct on_part *p, uint64_t from, const char *why);

/* window.c: what is kept of a partition, and checking it offline. */
struct on_window {
	struct kl_history *h;
	struct kl_report *report;
};

/* There is one more partition: how many operations may each keep? */
void on_window_share(struct kl_online *o);
/* Would another operation push one out? */
bool on_window_full(const struct kl_online *o, const struct on_part *p);
/* Forget them all. */
void on_window_clear(const struct kl_online *o, struct on_part *p);
int on_window_put(struct kl_online *o, struct on_part *p, const struct on_op *op);
/*
 * Check the operations called by @time, those that return after it as pending; those
 * of @core alone unless that is NULL.  0 or -ENOMEM; on_window_free() @w in any case.
 */
int on_window_check(struct kl_online *o, const struct on_part *p, uint64_t time,
		    const uint32_t *core, size_t ncore, bool shrink, struct on_window *w);
void on_window_free(struct on_window *w);

/*
 * Monitors.  Functions return 0, 1: a violation, -EDQUOT: it cannot go on, with
 * o->reason; -ENOMEM.
 */
struct on_monitor {
	void *(*new)(struct kl_online *o, bool strict, int begin);	/* enum on_begin */
	void (*free)(struct kl_online *o, void *mon);
	int (*announce)(struct kl_online *o, void *mon, uint32_t op);
	int (*call)(struct kl_online *o, void *mon, uint32_t op);
	int (*ret)(struct kl_online *o, void *mon, uint32_t op);
	/* After a violation: the operations that are wrong by themselves; -ENOMEM. */
	int (*core)(struct kl_online *o, void *mon, const uint32_t **ops, size_t *n);
	/* They are not, perhaps because of a guess.  1: it goes on; 0: it cannot; -ENOMEM. */
	int (*doubt)(struct kl_online *o, void *mon);
};

extern const struct on_monitor on_queue, on_pqueue, on_stack, on_register;

/* online_frontier.c: the same for the frontier. */
int live_init(struct kl_online *o);
void live_exit(struct kl_online *o);
int live_call(struct kl_online *o, struct on_part *p, uint32_t op);
int live_return(struct kl_online *o, struct on_part *p, uint32_t op);
/* The state is unknown; what is under way may have taken effect. */
int live_restart(struct kl_online *o, struct on_part *p);
/* The same, and what is under way is no longer followed. */
void live_drop(struct kl_online *o, struct on_part *p);
/* Is it possible in some state at all? */
int live_possible(struct kl_online *o, uint32_t op);
/* Is all that is possible lost, see kl_state_lost()? */
bool live_lost(struct kl_online *o, const struct on_part *p);
/* All that may be so now: the state, and which of some operations have taken effect, by bits. */
struct live_config {
	uint64_t done;
	uint32_t state;
};
int live_begin(struct kl_online *o, struct on_part *p, uint32_t but, const uint32_t *ops,
	       unsigned int nops, const struct live_config *c, size_t n);

/*
 * register_front.c: the frontier goes on from where the monitor is, which stays as it is.
 * 0, -EDQUOT: it cannot; -ENOMEM.
 */
int on_register_front(struct kl_online *o, struct on_part *p, void *mon);

/* tables.c: its states and shapes. */
int live_tables_init(struct kl_online *o);
void live_tables_free(struct kl_online *o);
int live_shape(struct kl_online *o, const struct kl_online_op *op, uint32_t *shape);
/* Shapes of a register's operations that are known, as the frontier follows it from now on. */
int on_shapes(struct kl_online *o, const struct on_part *p);
int on_shape(struct kl_online *o, struct on_op *op);
/* Keep only states that something is in. */
int live_collect(struct kl_online *o);

#endif
