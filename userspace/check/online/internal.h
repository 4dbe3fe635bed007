/* SPDX-License-Identifier: GPL-2.0 */
/* Internal interfaces of the online check. */
#ifndef KL_CHECK_ONLINE_INTERNAL_H
#define KL_CHECK_ONLINE_INTERNAL_H

#include "base/table.h"
#include "check/general/configs.h"
#include "check/online/heap.h"
#include "check/online/online.h"
#include "check/online/words.h"
#include "check/general/spec_stepper.h"
#include "spec/classify/container.h"

#define ON_NONE		UINT32_MAX
/* maximal number of open operations of a partition with a frontier */
#define ON_SLOTS	64
#define ON_CONFIGS	20000	/* maximal number of configurations at one event */

/* The effect of an operation on a container. */
enum on_kind {
	ON_ADD, ON_REMOVE, ON_PEEK,
	ON_EMPTY,	/* a removal or peek that found the container empty */
	ON_WILD,	/* a pending removal */
	ON_NOTHING,	/* a peek that is pending or has an unknown result */
	ON_OTHER,	/* none of these */
};

/* An operation, from kl_online_add() until nothing refers to it. */
struct on_op {
	uint64_t call, ret, drain;	/* ret is KL_TIME_MAX if it is pending */
	uint64_t thread;
	uint64_t word;		/* the word that it adds, removes or peeks at: up to ON_PEEK */
	uint32_t part;		/* index of its partition */
	uint32_t sig;		/* signature for the frontier, or ON_NONE if it does not need one */
	uint32_t refs;		/* number of references to this struct */
	uint32_t at;		/* index among its partition's open operations */
	/* index of its struct use or doing in on_part.mon; or of the next free struct on_op */
	uint32_t value;
	uint32_t value2;	/* the same in on_part.strict */
	uint32_t gen;		/* number of times that this struct was reused */
	uint32_t place;		/* its line in the input, or 0 */
	uint16_t cpu, method;
	uint16_t stack; /* number of its call's stack; 0: none, or a larger number */
	uint8_t flags;		/* enum kl_op_flags */
	uint8_t kind, slot;
	bool is_pred : 1;	/* other operations may have to wait for this one */
	bool old : 1;		/* it was open when its partition was started again */
	bool ended : 1;		/* it has returned in on_part.strict */
	/* pqueue: a peek that has had its slot, in on_part.mon; in on_part.strict */
	bool timed : 1, timed2 : 1;
	/* its word had several uses at the time, which are forgotten; see lifetimes.h */
	bool crowd : 1;
};

/* An operation that is kept, for an offline check. */
struct on_kept {
	uint64_t call, ret, drain, thread;
	uint64_t what;		/* its signature if on_has_sig(), else its word */
	uint32_t place;
	uint16_t cpu, method, stack;
	uint8_t flags, kind;
};

/* An open operation of a frontier, by slot. */
struct live_open {
	uint64_t preds;		/* mask of the slots of its predecessors */
	uint32_t op;
	/* slot of the last operation of this signature that returns no later, or ON_SLOTS */
	uint8_t twin;
	/*
	 * @free: it changes no state.  @over: it overwrites the state, without a look at it.
	 * @ghost: it may have taken effect in a gap, see online_frontier.c.  @alone: it is no
	 * ghost, has no predecessor, and can be none.
	 */
	bool free, over, ghost, alone;
};

/* The configurations of a partition.  A partition with a single state has no struct live. */
struct live {
	struct kl_configs c;
	struct kl_config_set cur;
	uint64_t free, over;	/* masks of slots, see struct kl_configs */
	uint64_t used, ghosts;	/* masks of all slots in use, and of those of ghosts */
	struct live_open open[ON_SLOTS];
	struct live *next;	/* in the pool */
};

enum part_mode {
	PART_FOLLOWED,
	PART_GAP,	/* not followed: operations are being lost, or too many are open */
	PART_KEPT,	/* its operations are kept for an offline check */
};

struct on_part {
	/* Fields that each operation needs come first. */
	uint64_t object, key;
	/* the frontier's only state while @live is NULL; then at most open[0] is open */
	uint32_t state;
	uint32_t nopen;
	uint32_t *open;		/* its open operations */
	struct live *live;
	struct on_kept *ring;	/* its last operations; at_ring: index of the oldest one */
	uint32_t nring, at_ring, cring, copen;
	uint64_t nops;		/* number of operations that were announced */
	/*
	 * Monitors, or NULL.  @mon finds violations: it delays returns by the clock's error.
	 * @strict confirms an order: it takes times as exact, and keeps the order of each thread.
	 */
	void *mon, *strict;
	uint32_t starts;	/* number of times that monitors were started */
	uint64_t evicted;	/* operations that ended by this time may be missing in the ring */
	/* when @nops exceeds this, the monitor goes on without the frontier */
	uint64_t alone;
	uint8_t mode;		/* enum part_mode */
	bool front;		/* the frontier follows it */
	bool lacks;		/* operations were dropped from the ring */
	bool forgot;		/* the partition was started again in an unknown state */
	bool lost;		/* operations were lost in a gap that has begun */
	bool gapped;		/* operations were or will be lost in a gap */
	bool over;		/* no operation will be added */
	bool free;		/* the struct has no partition; @sibling is the next such struct */
	uint32_t waiting;	/* number of operations that were added, and not yet called */

	uint64_t began;		/* operations before this time are forgotten */
	/* PART_KEPT: when @nops reaches next_look, check offline, and again look_after later */
	uint64_t next_look, look_after;
	uint64_t wrong;		/* time of the last violation, plus 1; 0 if none */
	const char *why;	/* the reason of UNKNOWN, or NULL */
	uint32_t gaps;		/* number of open gaps */
	uint32_t sibling;	/* the next partition of the same object, or ON_NONE */
};

/* The verdicts on partitions that are over and forgotten. */
struct on_retired {
	size_t count[3], n;
	const char *why;	/* the reason of UNKNOWN of the first one, or NULL */
	enum kl_unknown_cause cause;
};

struct on_gap {
	uint64_t from, to;	/* @to includes the clock's error */
	uint32_t object;	/* number of the object, ON_NONE for all; or the next free gap */
	bool open;		/* it has begun, and not ended */
};

struct on_object {
	uint64_t id;
	uint32_t first, last;	/* its first and last partition, or ON_NONE */
	uint32_t gaps_open;	/* number of open gaps of this object alone */
	uint32_t ngaps; /* number of its structs on_gap */
	uint32_t dropped;	/* the gap that ends when the object is resumed, or ON_NONE */
	uint64_t dropped_at;	/* the time when it was dropped last */
	bool gapped, begun;	/* operations were or will be lost; they were, by now */
};

/*
 * The last four operations of a thread.  By the clock's error they may seem to overlap the thread's
 * next operation, although they precede it.
 */
struct on_thread {
	uint64_t id;
	uint32_t op[4], gen[4];	/* operations, and their on_op.gen */
	uint32_t n;		/* number of operations; from 4 on, 4 + index of the oldest */
};

/* An entry of kl_online.quick: a signature with at most two values. */
struct on_sig {
	uint64_t v[2];
	uint32_t key;		/* method, tags and whether it is pending; 0: free */
	uint32_t sig;
};

/* The last two steps of a signature; to[] is ON_NONE if from[] does not allow the operation. */
struct on_step {
	uint32_t from[2], to[2];
};

struct kl_online {
	const struct kl_spec *spec;
	struct kl_online_opts opts;
	struct kl_container c;
	enum kl_role *roles;	/* of each method */
	/*
	 * @flushes: store buffers make no difference, see kl_spec_flushes().  @monitored: there is
	 * a monitor for the spec.  @ties: times may be equal, or have an error.
	 */
	bool flushes, monitored, ties;
	bool both;		/* a register, which a monitor, the frontier or both follow */

	struct on_op *ops;
	size_t nops, cops;
	uint32_t free_op;

	/* watermark.c: calls in [head, announced) are announced and sorted; later ones are not. */
	uint32_t *wait;
	size_t head, announced, tail, cwait;
	bool unsorted;		/* some calls from @announced on are out of order */
	struct kl_key *keys;	/* room for sorting */
	size_t ckeys;
	struct on_heap ends;	/* open operations, by on_end_key() */
	/* @floor: see online.h; @now: time of the last event; @newest: latest time of all added */
	uint64_t floor, now, newest, events;
	struct on_thread *threads;
	size_t nthreads, cthreads;

	/* objects.c */
	struct on_object *objects;
	size_t nobjects, cobjects;
	uint32_t free_object, free_part;
	struct on_retired retired;
	struct on_words object_at;
	struct on_gap *gaps;
	size_t ngaps, cgaps;
	uint32_t free_gap;
	uint32_t gaps_open;	/* number of open gaps of all objects */
	struct on_heap gap_times;	/* begins and ends of gaps */
	bool gapped, begun;	/* the same as in struct on_object, for all objects */
	struct on_part *parts;
	size_t nparts, cparts;
	struct kl_table part_at; /* partitions by object and key */
	uint32_t last_part;	/* the partition that was found last */
	uint32_t most;		/* maximal number of operations that a partition keeps */

	/* online_frontier.c */
	struct kl_part fake;	/* a partition whose items are signatures */
	struct kl_history *opsigs;
	struct kl_stepper sim;
	size_t cnature;
	bool have_sim;
	struct kl_config_set next, seen;
	uint64_t *tmp;
	uint32_t *succ;
	size_t csucc;
	struct on_sig *quick;	/* signatures with few values, by hash */
	size_t nquick, cquick;
	struct on_step *steps;	/* the last steps of each signature */
	size_t csteps;
	size_t limit_sigs;
	uint64_t limit_states;
	struct live *pool;
	char reason[160];
	bool hidden;

	/*
	 * Numbers of: operations added; of these, below the floor; gaps; violations; of these, some
	 * that are withdrawn because operations proved to be missing; values in all containers.
	 */
	uint64_t total, late, ngaps_told, violations, doubted, inside;
	char *reasons[16];	/* copies of reasons, for on_part.why */
	char suspect[160];	/* reason of suspected violations */
	unsigned int shown;	/* number of violations that got a counterexample */
	int err;
};

/* Return: the time by which the operation has certainly returned, despite the clock's error. */
static inline uint64_t on_end_key(const struct kl_online *o, const struct on_op *op)
{
	return kl_time_add(op->ret, o->opts.error);
}

static inline struct on_op *on_op(struct kl_online *o, uint32_t i)
{
	return &o->ops[i];
}

/* Return: true if operations of this kind always have a signature. */
static inline bool on_has_sig(const struct kl_online *o, uint8_t kind)
{
	return !o->monitored || kind == ON_OTHER;
}

/* Return: true if @a and @b are operations of one thread in this order, see kl_op_before(). */
static inline bool on_before(const struct on_op *a, const struct on_op *b)
{
	return a->thread == b->thread && a->cpu == b->cpu && a->ret != KL_TIME_MAX &&
	       !(b->flags & KL_OP_NOCALL) &&
	       (a->ret < b->call || (a->ret == b->call && a->call < a->ret && b->call < b->ret));
}

/* Drop a reference to an operation; the last one frees it. */
static inline void on_op_put(struct kl_online *o, uint32_t i)
{
	struct on_op *op = on_op(o, i);

	if (--op->refs)
		return;
	op->gen++;
	op->value = o->free_op;
	o->free_op = i;
}

/* watermark.c: let an operation wait for the floor.  Return: 0, or -ENOMEM. */
int on_order_add(struct kl_online *o, uint32_t op);
/* Follow time up to the floor.  Return: 0, or -ENOMEM. */
int on_order_run(struct kl_online *o);
void on_order_free(struct kl_online *o);

/* online.c: get the verdict on a partition, and why it is UNKNOWN. */
enum kl_verdict on_part_verdict(struct kl_online *o, const struct on_part *p, const char **why,
				enum kl_unknown_cause *cause);

/* objects.c: find the partition of an object's key, or make it.  Return: 0, or -ENOMEM. */
int on_part_find(struct kl_online *o, uint64_t object, uint64_t key, uint32_t *part);
/* Forget an object that is over, once all its operations were followed.  Return: 0, or -ENOMEM. */
int on_object_retire(struct kl_online *o, uint64_t object);
/* Process the next begin or end of a gap. */
int on_gap_follow(struct kl_online *o);
void on_objects_free(struct kl_online *o);

/* part.c: events of partitions, in order of time.  Return: 0, or -ENOMEM. */
/* Begin a partition; @known: no operation was lost before. */
int on_part_begin(struct kl_online *o, struct on_part *p, bool known);
int on_part_announce(struct kl_online *o, uint32_t op);
int on_part_call(struct kl_online *o, uint32_t op);
int on_part_return(struct kl_online *o, uint32_t op);
/* A gap of the partition begins; @endless: it never ends. */
int on_part_gap(struct kl_online *o, struct on_part *p, bool endless);
/* A gap of the partition ends. */
int on_part_gap_over(struct kl_online *o, struct on_part *p);
int on_part_end(struct kl_online *o, struct on_part *p);
void on_part_free(struct kl_online *o, struct on_part *p);
/* Operations after @from were missing after all, so the partition becomes UNKNOWN. */
void on_part_doubt(struct kl_online *o, struct on_part *p, uint64_t from, const char *why);

/* window.c: the kept operations of a partition, and their offline check. */
struct on_window {
	struct kl_history *h;
	struct kl_report *report;
};

/* There is one more partition: adjust the number of operations that each keeps. */
void on_window_share(struct kl_online *o);
/* Return: true if the window is full, so that the next operation replaces the oldest one. */
bool on_window_full(const struct kl_online *o, const struct on_part *p);
/* Forget all kept operations. */
void on_window_clear(const struct kl_online *o, struct on_part *p);
int on_window_put(struct kl_online *o, struct on_part *p, const struct on_op *op);
/*
 * Check the operations that were called by @time, or only those of @core if it is not NULL.
 * Operations that return after @time are pending.  Return: 0, or -ENOMEM; the caller frees @w by
 * on_window_free() in any case.
 */
int on_window_check(struct kl_online *o, const struct on_part *p, uint64_t time,
		    const uint32_t *core, size_t ncore, bool shrink, struct on_window *w);
void on_window_free(struct on_window *w);

/*
 * Monitors.  Functions return 0, 1 for a violation, -EDQUOT with o->reason if the monitor cannot go
 * on, or -ENOMEM.
 */
struct on_monitor {
	void *(*new)(struct kl_online *o, bool strict, int begin);	/* enum on_begin */
	void (*free)(struct kl_online *o, void *mon);
	int (*announce)(struct kl_online *o, void *mon, uint32_t op);
	int (*call)(struct kl_online *o, void *mon, uint32_t op);
	int (*ret)(struct kl_online *o, void *mon, uint32_t op);
	/* After a violation: get the core, the operations that have no order by themselves. */
	int (*core)(struct kl_online *o, void *mon, const uint32_t **ops, size_t *n);
	/*
	 * A general engine found an order of the core, so a guess of the monitor may be wrong.
	 * Return: 1 if the monitor can go on, 0 if not, -ENOMEM.
	 */
	int (*doubt)(struct kl_online *o, void *mon);
};

extern const struct on_monitor on_queue, on_pqueue, on_stack, on_register;

/* online_frontier.c: the same functions for the frontier. */
int live_init(struct kl_online *o);
void live_exit(struct kl_online *o);
int live_call(struct kl_online *o, struct on_part *p, uint32_t op);
int live_return(struct kl_online *o, struct on_part *p, uint32_t op);
/* Begin again in an unknown state, in which open operations may have taken effect. */
int live_restart(struct kl_online *o, struct on_part *p);
/* Forget the configurations and the open operations. */
void live_drop(struct kl_online *o, struct on_part *p);
/* Return: 1 if the operation is possible in some state, 0 if not, or a negative errno. */
int live_possible(struct kl_online *o, uint32_t op);
/* Return: true if the states of all configurations are lost, see kl_state_lost(). */
bool live_lost(struct kl_online *o, const struct on_part *p);
/* A possible configuration: the state, and a bit for each operation that took effect. */
struct live_config {
	uint64_t done;
	uint32_t state;
};
/*
 * Begin with the @n configurations @c, whose bits stand for the open operations @ops.  The open
 * operation @but is left out, since its live_call() follows.  Return: 0, or a negative errno.
 */
int live_begin(struct kl_online *o, struct on_part *p, uint32_t but, const uint32_t *ops,
	       unsigned int nops, const struct live_config *c, size_t n);

/*
 * register_front.c: let the frontier go on from the monitor's state; the monitor does not change.
 * Return: 0, -EDQUOT if it cannot, -ENOMEM.
 */
int on_register_front(struct kl_online *o, struct on_part *p, void *mon);

/* tables.c: the frontier's states and signatures. */
int live_tables_init(struct kl_online *o);
void live_tables_free(struct kl_online *o);
int live_sig(struct kl_online *o, const struct kl_online_op *op, uint32_t *sig);
/* Make signatures for a register's operations, since the frontier follows it from now on. */
int on_sigs(struct kl_online *o, const struct on_part *p);
int on_sig(struct kl_online *o, struct on_op *op);
/* Keep only states that are still in use. */
int live_collect(struct kl_online *o);

#endif
