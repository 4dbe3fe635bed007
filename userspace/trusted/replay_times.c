// SPDX-License-Identifier: GPL-2.0
/*
 * The times of an order.  The order contradicts neither "happens before" nor a drain, and has the
 * gaps of the history.
 */
#include <errno.h>

#include "check/part.h"
#include "trusted/replay_internal.h"

static void token_times(const struct replay *r, const struct token *t, uint64_t *call,
			uint64_t *ret)
{
	*call = t->kind == TOK_OP ? r->h->ops[t->op].call : r->gaps[t->op].from;
	*ret = t->kind == TOK_OP ? r->h->ops[t->op].ret : r->gaps[t->op].to;
}

/*
 * Check, from the order's end, that no operation happened before one that is earlier in the order.
 * Of the operations later in the order, the one that returned first stands for all.  Each line has
 * such an operation, too, for program order.
 */
int kl_replay_check_times(struct replay *r)
{
	const struct kl_op *ops = r->h->ops;
	uint64_t first = KL_TIME_MAX, call, end;
	size_t i;
	int ret = 0;

	for (i = r->ntok; i-- && !ret; ) {
		const uint32_t op = r->tok[i].op;
		uint32_t line;

		if (r->tok[i].kind == TOK_FLUSH)
			continue;
		token_times(r, &r->tok[i], &call, &end);
		if (first < KL_TIME_MAX - r->h->error && first + r->h->error < call) {
			r->column = r->tok[i].kind == TOK_OP ? kl_replay_column(r, op) : 0;
			ret = kl_replay_wrong(r, "out of order in time: step", i);
		}
		if (end < first)
			first = end;
		if (r->tok[i].kind != TOK_OP)
			continue;
		line = r->line_of[op];
		if (!ret && r->line_op[line] != KL_NO_OP &&
		    kl_op_before(r->h, &ops[r->line_op[line]], &ops[op])) {
			r->column = kl_replay_column(r, op);
			ret = kl_replay_wrong(r, "out of order in time: operation", op);
		}
		/*
		 * Of equal returns keep the first operation in the history, whose call is earliest:
		 * kl_op_before() orders equal times only if the call is before the return.
		 */
		if (r->line_op[line] == KL_NO_OP || end < ops[r->line_op[line]].ret ||
		    (end == ops[r->line_op[line]].ret && op < r->line_op[line]))
			r->line_op[line] = op;
	}
	for (i = 0; i < r->ntok; i++)
		if (r->tok[i].kind == TOK_OP)
			r->line_op[r->line_of[r->tok[i].op]] = KL_NO_OP;
	return ret;
}

/*
 * Note when each buffered entry must have left.  By an operation's drain, all entries have left
 * that its thread had in the buffer when the operation took effect.  Entries leave in order, so
 * the newest one stands for all.
 */
static void note_drains(struct replay *r)
{
	const struct kl_op *ops = r->h->ops;
	size_t i;

	for (i = 0; i < r->ntok; i++)
		if (r->tok[i].kind == TOK_OP)
			r->thread_op[ops[r->tok[i].op].thread] = KL_NO_OP;
	for (i = 0; i < r->ntok; i++) {
		const struct token *t = &r->tok[i];
		uint32_t *newest;

		if (t->kind != TOK_OP && t->kind != TOK_FLUSH)
			continue;
		newest = &r->thread_op[ops[t->op].thread];
		if (t->kind == TOK_FLUSH) {
			if (*newest == t->op)
				*newest = KL_NO_OP;
			continue;
		}
		if (t->buffered) {
			*newest = t->op;
			r->drain[t->op] = KL_TIME_MAX;
		}
		if (*newest != KL_NO_OP && kl_op_empty(r->h, &ops[t->op]) < r->drain[*newest])
			r->drain[*newest] = kl_op_empty(r->h, &ops[t->op]);
	}
}

/*
 * Check that an entry leaves by its drain: before any operation executes that was called after the
 * drain.  The check runs from the end of the order, and begins with the entries that never left.
 */
int kl_replay_check_drains(struct replay *r)
{
	uint64_t first = KL_TIME_MAX;
	size_t i;

	note_drains(r);
	for (i = 0; i < r->ntok; i++)
		if (r->tok[i].kind == TOK_OP && r->tok[i].buffered)
			r->seen[r->tok[i].op / 64] |= 1ull << r->tok[i].op % 64;
		else if (r->tok[i].kind == TOK_FLUSH)
			r->seen[r->tok[i].op / 64] &= ~(1ull << r->tok[i].op % 64);
	for (i = 0; i < r->ntok; i++) {
		const uint32_t op = r->tok[i].op;

		if (r->tok[i].kind != TOK_OP || !(r->seen[op / 64] >> op % 64 & 1))
			continue;
		r->seen[op / 64] &= ~(1ull << op % 64);
		if (r->drain[op] < first)
			first = r->drain[op];
	}
	for (i = r->ntok; i--; ) {
		const struct token *t = &r->tok[i];

		if (t->kind != TOK_FLUSH) {
			uint64_t call, ret;

			token_times(r, t, &call, &ret);
			if (first < KL_TIME_MAX - r->h->error && first + r->h->error < call)
				return kl_replay_wrong(r, "writes were still in a store buffer "
						       "after their drain: step", i);
		} else if (r->drain[t->op] < first) {
			first = r->drain[t->op];
		}
	}
	return 0;
}

/*
 * Gaps open and close in turn.  Only a gap without an end may stay open, or be absent from the
 * order.
 */
int kl_replay_number_gaps(struct replay *r)
{
	size_t n = 0, i;

	for (i = 0; i < r->ntok; i++) {
		struct token *t = &r->tok[i];

		if (t->kind != TOK_ENTER && t->kind != TOK_LEAVE)
			continue;
		if (n / 2 >= r->ngaps || (t->kind == TOK_LEAVE) != (n & 1))
			return kl_replay_wrong(r, "no gap in the history for step", i);
		t->op = n++ / 2;
	}
	if (r->ngaps && n < 2 * r->ngaps &&
	    (n < 2 * (r->ngaps - 1) || r->gaps[r->ngaps - 1].to != KL_TIME_MAX))
		return kl_replay_wrong(r, "gaps of the history that the order needs:", r->ngaps);
	return 0;
}
