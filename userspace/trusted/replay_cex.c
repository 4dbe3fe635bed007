// SPDX-License-Identifier: GPL-2.0
/*
 * Replaying a violation: what is left out may be left out, and the brute-force
 * oracle finds no order of what is kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "check/explain/omit.h"
#include "check/engines.h"
#include "trusted/replay_internal.h"
#include "tso/engine/tso.h"

#define MAX_KEPT	4000	/* operations of a counterexample */
#define TRACE_LOOKS	20	/* to see whether one leaves a trace in another */

static bool is_pure(const struct replay *r, const struct kl_op *op)
{
	return kl_spec_method(r->spec, r->map[kl_op_method(r->h, op)])->pure;
}

/* Is one of the kept operations, which returned, wrong by itself? */
static int any_impossible(struct replay *r, const uint32_t *kept, size_t n, uint64_t end)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = kl_replay_look(r, TRACE_LOOKS) ?:
		      kl_op_impossible(r->spec, r->run, r->h, kept[i], end);
	return ret;
}

/*
 * Does all that is kept and returned by the end come before operation @op for certain?  Then
 * @op is behind the end, although the clock alone may not tell it from the last return.
 */
static bool is_behind(const struct replay *r, uint32_t op, const uint32_t *kept, size_t n,
		      uint64_t end)
{
	const struct kl_op *ops = r->h->ops;
	size_t i;

	for (i = 0; i < n; i++)
		if (ops[kept[i]].ret <= end && !kl_op_before(r->h, &ops[kept[i]], &ops[op]))
			return false;
	return true;
}

/*
 * May all that is not kept be left out?  That is: it ended by the cut, or it was
 * called after the end, or it leaves no trace in what is kept, or that is wrong by itself.
 */
static int check_left_out(struct replay *r, const uint32_t *part, size_t npart,
			  const uint32_t *kept, size_t n, const struct kl_cut *cut, bool tso)
{
	const uint64_t end = kl_time_add(cut->end, r->h->error);
	const int alone = any_impossible(r, kept, n, cut->end);
	int ret, count = tso || cut->forgot ? 0 : -1;
	size_t i, k;

	if (alone < 0)
		return alone;
	for (i = k = 0; i < npart; i++) {
		const struct kl_op *op = &r->h->ops[part[i]];

		if (k < n && kept[k] == part[i]) {
			k++;
			continue;
		}
		if (alone || (cut->forgot && op->ret <= cut->time) || op->call > end ||
		    (op->call >= cut->end && is_behind(r, part[i], kept, n, cut->end)))
			continue;
		ret = kl_replay_look(r, is_pure(r, op) ? 1 : TRACE_LOOKS * (n + 1));
		if (ret)
			return ret;
		ret = kl_leaves_no_trace(r->spec, r->run, r->h, part[i], kept, n,
					 cut->end, tso);
		if (!ret && count < 0)
			count = kl_count_kept(r->spec, r->h, part, npart, kept, n, cut->end);
		ret = ret ? ret : count;
		if (ret <= 0)
			return ret ? ret : kl_replay_wrong(r, "left out although it may matter: "
							   "operation", part[i]);
	}
	return k < n ? kl_replay_wrong(r, "of another partition: operation", kept[k]) : 0;
}

static int ask_oracle(struct replay *r, const struct kl_cut *cut, const uint32_t *kept, size_t n,
		      bool tso)
{
	const struct kl_engine *oracle = tso ? &kl_tso_oracle_engine : &kl_oracle_engine;
	struct kl_limits lim = *r->looks.lim;
	struct kl_answer a = { 0 };
	struct kl_history *h = NULL;
	uint32_t order[MAX_KEPT];
	int ret;

	ret = kl_cut_history(cut, kept, n, tso, &h, order);
	if (ret)
		return ret;
	/* At least one look, since 0 is no bound. */
	if (lim.work)
		lim.work -= r->looks.n < lim.work ? r->looks.n : lim.work - 1;
	ret = kl_decide_history(r->spec, h, oracle, &lim, &a, NULL);
	kl_history_free(h);
	kl_answer_free(&a);
	if (ret)
		return ret;
	kl_replay_look(r, a.work);
	if (a.verdict == KL_LINEARIZABLE)
		return kl_replay_wrong(r, "the oracle finds an order for the counterexample of "
				       "part",
				       r->part[kept[0]]);
	if (a.verdict == KL_UNKNOWN && !r->over)
		kl_warn_at(r->path, r->line, 0, "%s", a.reason);
	r->out->refuted += a.verdict == KL_VIOLATION;
	r->out->open += a.verdict == KL_UNKNOWN;
	return 0;
}

/* A counterexample: the operations kept are wrong by themselves. */
int kl_replay_violation(struct replay *r, const uint32_t *ops, size_t nops, bool forgot,
			uint64_t time, uint64_t end, char *text)
{
	/* Whatever engine said so: a write that is delayed is one for the oracle, too. */
	const bool tso = !r->classical && !kl_spec_flushes(r->spec);
	uint32_t kept[MAX_KEPT];
	char *word, *save = NULL, *stop;
	struct kl_cut cut = { 0 };
	size_t n = 0;
	int ret;

	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		unsigned long op = strtoul(word, &stop, 10);

		r->column = word - r->lines[r->line - 1] + 1;
		if (*stop || op >= r->h->nops || (n && op <= kept[n - 1]))
			return kl_replay_bad(r, "kept operations are numbers in ascending order");
		if (n == MAX_KEPT) {
			kl_warn_at(r->path, r->line, 0, "too many operations for the oracle");
			r->out->open++;
			return 0;
		}
		kept[n++] = op;
	}
	r->column = 0;
	if (!n)
		return kl_replay_bad(r, "a violation keeps at least one operation");
	ret = kl_replay_look(r, r->h->nthreads) ?:
	      kl_cut_init(&cut, r->spec, r->h, ops, nops, forgot, time, end);
	if (!ret)
		ret = check_left_out(r, ops, nops, kept, n, &cut, tso);
	if (!ret)
		ret = ask_oracle(r, &cut, kept, n, tso);
	kl_cut_free(&cut);
	if (ret == -E2BIG) {
		r->out->open++;
		ret = 0;
	}
	return ret;
}
