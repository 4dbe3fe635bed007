/* SPDX-License-Identifier: GPL-2.0 */
/* The replayer from within: orders, counterexamples and the certificate around them. */
#ifndef KL_TRUSTED_REPLAY_INTERNAL_H
#define KL_TRUSTED_REPLAY_INTERNAL_H

#include "check/check.h"
#include "history/history.h"
#include "spec/spec.h"
#include "tso/machine/machine.h"
#include "trusted/replay.h"

/* A token of an order. */
enum { TOK_OP, TOK_FLUSH, TOK_ENTER, TOK_LEAVE };

struct token {
	uint32_t op;			/* or the number of the gap */
	uint8_t kind, buffered;
	uint8_t first;			/* of its key: the state is the first one again */
};

/* A set of machines; on sequential consistency their buffers are empty. */
struct set {
	struct kl_machine *m;
	uint64_t *hash;			/* of each: most comparisons end there */
	size_t n, cap, chash;
};

struct replay {
	const char *path;
	char **lines;
	size_t nlines;
	unsigned int line;		/* the one read last, from 1 */
	unsigned int column;		/* in it, of what a message is about, from 1; 0: all of it */
	const struct kl_spec *spec;
	const struct kl_history *h;
	struct kl_run *run;
	int *map;			/* method of the history -> of the spec */
	uint32_t *part;			/* operation -> partition */
	uint32_t *ops;			/* of partition k: ops[at[k]] to ops[at[k + 1]] */
	size_t *at, nparts;
	uint64_t *seen;			/* bitset: operations that an order has */
	uint64_t *drain;		/* operation -> when its entry has to have left */
	struct token *tok;
	size_t ntok, ctok;
	struct kl_gap *gaps;		/* of the partition under way */
	size_t ngaps;
	struct set cur, next;
	uint32_t *line_of;		/* operation -> its thread's operations on one CPU */
	uint32_t *line_op;		/* of what comes later there, what returned first */
	uint32_t *thread_op;		/* the entry that a thread left last */
	bool classical, tso;
	bool unknown;			/* a part is claimed to be */
	struct kl_looks looks;		/* of all that is not linear */
	bool over;			/* they were too many: said once */
	bool over_said;			/* why this order is open */
	struct kl_machine any;		/* memory of which nothing is known */
	struct kl_val *view;
	size_t cview;
	uint32_t thread, item;		/* of the operation under way */
	const struct kl_machine *from;
	struct kl_replay *out;
};

/* Say which claim is wrong (-EBADMSG), or what cannot be read (-EINVAL). */
int kl_replay_wrong(const struct replay *r, const char *what, uint64_t n);
int kl_replay_bad(const struct replay *r, const char *what);

/*
 * Count @more looks; none: is the time over?  -E2BIG, after a message the first time: this
 * partition is open, and whatever else takes looks.
 */
int kl_replay_look(struct replay *r, uint64_t more);

/* The key that an operation says it is about; false if it does not. */
bool kl_replay_key(const struct replay *r, uint32_t op, uint64_t *key);

/* replay_say.c: where an order names an operation, which it has to do; 0 if it does not. */
unsigned int kl_replay_column(const struct replay *r, uint32_t op);
/* Say that the specification does not allow @op, in which state, and what it allows: -EBADMSG. */
int kl_replay_not_allowed(struct replay *r, uint32_t op);

/* replay_order.c: the text after "order"; 0, -EBADMSG, -EINVAL, -ENOMEM. */
int kl_replay_order(struct replay *r, uint32_t part, bool unknown, char *text);
/* Room for orders: to be called before the first, and after the last. */
int kl_replay_order_init(struct replay *r);
void kl_replay_order_free(struct replay *r);

/* replay_times.c: 0 or -EBADMSG; gaps are numbered first. */
int kl_replay_number_gaps(struct replay *r);
int kl_replay_check_times(struct replay *r);
int kl_replay_check_drains(struct replay *r);

/* replay_cex.c: the text after "kept", about the partition of @ops. */
int kl_replay_violation(struct replay *r, const uint32_t *ops, size_t nops, bool forgot,
			uint64_t time, uint64_t end, char *text);

#endif
