/* SPDX-License-Identifier: GPL-2.0 */
/* The replayer from within: orders, counterexamples and the certificate around them. */
#ifndef KL_TSO_REPLAY_INTERNAL_H
#define KL_TSO_REPLAY_INTERNAL_H

#include "history/history.h"
#include "spec/spec.h"
#include "tso/machine.h"
#include "tso/replay.h"

/* A token of an order. */
enum { TOK_OP, TOK_FLUSH, TOK_ENTER, TOK_LEAVE };

struct token {
	uint32_t op;
	uint8_t kind, buffered;
};

/* A set of machines; on sequential consistency their buffers are empty. */
struct set {
	struct kl_machine *m;
	size_t n, cap;
};

struct replay {
	const char *path;
	unsigned int line;
	const struct kl_spec *spec;
	const struct kl_history *h;
	struct kl_run *run;
	int *map;			/* method of the history -> of the spec */
	uint32_t *part;			/* operation -> part + 1 */
	struct token *tok;
	size_t ntok, ctok;
	struct set cur, next;
	uint64_t *thread_ret;		/* by thread: earliest return of what comes later */
	uint32_t *thread_op;
	bool classical, tso;
	size_t nparts;
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
/* Are two operations of one partition, by the spec's own word? */
bool kl_replay_same_part(const struct replay *r, const struct kl_op *a, const struct kl_op *b);

/* replay_order.c: the text after "order"; 0, -EBADMSG, -EINVAL, -ENOMEM. */
int kl_replay_order(struct replay *r, char *text);
/* Room for orders: to be called before the first, and after the last. */
int kl_replay_order_init(struct replay *r);
void kl_replay_order_free(struct replay *r);

/* replay_cex.c: the text after "kept". */
int kl_replay_violation(struct replay *r, uint64_t time, uint64_t end, char *text);

#endif
