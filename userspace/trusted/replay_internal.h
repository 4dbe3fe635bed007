/* SPDX-License-Identifier: GPL-2.0 */
/* The state of the replayer, which the replay_*.c files share. */
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
	uint32_t op;		/* index of the operation, or number of the gap */
	uint8_t kind, buffered;
	/* this step is the first of its key, and begins in the first state */
	uint8_t first;
};

/* A set of machines; on sequential consistency their buffers are empty. */
struct set {
	struct kl_machine *m;
	uint64_t *hash;			/* hash of each machine, which decides most comparisons */
	size_t n, cap, chash;
};

struct replay {
	const char *path;
	char **lines;
	size_t nlines;
	unsigned int line;		/* number of the last line, from 1 */
	/* column for messages, from 1; 0: the whole line */
	unsigned int column;
	const struct kl_spec *spec;
	const struct kl_history *h;
	struct kl_run *run;
	int *map;			/* method of the history -> method of the spec */
	uint32_t *part;			/* operation -> partition */
	/* operations of partition k: ops[at[k]] to ops[at[k + 1] - 1] */
	uint32_t *ops;
	size_t *at, nparts;
	uint64_t *seen;		/* bit set of operations that an order has */
	uint64_t *drain;	/* operation -> time by which its entry must have left */
	struct token *tok;	/* steps of the current order */
	size_t ntok, ctok;
	struct kl_gap *gaps;		/* gaps of the current partition */
	size_t ngaps;
	struct set cur, next;		/* machines that are possible before and after a step */
	/* operation -> line: number of its program order (one thread on one CPU) */
	uint32_t *line_of;
	/* line -> the operation that returns first, among those of the line later in the order */
	uint32_t *line_op;
	uint32_t *thread_op;	/* thread -> the operation that left its last entry */
	bool classical, tso;
	bool unknown;		/* a part is claimed to be UNKNOWN */
	struct kl_looks looks;	/* looks of all work that is not linear in the certificate */
	bool over;		/* the bound of looks was reached, and reported */
	bool over_said;		/* the reason why this order is open was reported */
	struct kl_machine any;	/* a machine with unknown memory */
	struct kl_val *view;		/* memory as the current operation sees it */
	size_t cview;
	uint32_t thread, item;		/* of the current operation */
	const struct kl_machine *from;	/* the machine before the current operation */
	struct kl_replay *out;
};

/* Report a wrong claim: @what and @n.  Return: -EBADMSG. */
int kl_replay_wrong(const struct replay *r, const char *what, uint64_t n);
/* Report that the certificate is damaged.  Return: -EINVAL. */
int kl_replay_bad(const struct replay *r, const char *what);

/*
 * Count @more looks; 0 only checks the time.  At a bound, the first call prints a message.
 * From the current partition on, claims whose check takes looks are open then.
 * Return: 0, or -E2BIG at a bound.
 */
int kl_replay_look(struct replay *r, uint64_t more);

/* Get the key of an operation.  Return: false if it is unknown. */
bool kl_replay_key(const struct replay *r, uint32_t op, uint64_t *key);

/* replay_say.c.  Return: the column at which the current order names @op, or 0. */
unsigned int kl_replay_column(const struct replay *r, uint32_t op);
/*
 * Report that the specification does not allow @op, and which results are allowed.
 * Return: -EBADMSG.
 */
int kl_replay_not_allowed(struct replay *r, uint32_t op);

/* replay_order.c: replay the text after "order".  Return: 0, -EBADMSG, -EINVAL, -ENOMEM. */
int kl_replay_order(struct replay *r, uint32_t part, bool unknown, char *text);
/* Allocate memory for kl_replay_order(), once before the first order.  Return: 0 or -ENOMEM. */
int kl_replay_order_init(struct replay *r);
void kl_replay_order_free(struct replay *r);

/*
 * replay_times.c: check the gaps, the times and the drains of the current order, and begin with the
 * gaps.  Return: 0 or -EBADMSG.
 */
int kl_replay_number_gaps(struct replay *r);
int kl_replay_check_times(struct replay *r);
int kl_replay_check_drains(struct replay *r);

/* replay_cex.c: replay the text after "kept", for the partition of @ops. */
int kl_replay_violation(struct replay *r, const uint32_t *ops, size_t nops, bool forgot,
			uint64_t time, uint64_t end, char *text);

#endif
