// SPDX-License-Identifier: GPL-2.0
/*
 * Replaying a violation.  The operations that the counterexample leaves out may be omitted, and
 * the brute-force oracle finds no order of the operations that are kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/err.h"
#include "base/mem.h"
#include "check/explain/omit.h"
#include "check/engines.h"
#include "trusted/replay_internal.h"
#include "tso/engine/tso.h"

#define TRACE_LOOKS	20	/* looks for comparing an omitted operation with a kept one */

static bool is_pure(const struct replay *r, const struct kl_op *op)
{
	return kl_spec_method(r->spec, r->map[kl_op_method(r->h, op)])->pure;
}

/*
 * Return: 1 if a kept operation has impossible results, see kl_op_impossible(); 0; negative errno.
 */
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
 * Return: true if all kept operations that returned by @end must take effect before operation @op.
 * Then @op is after the end, although the clock's error may hide that.
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
 * Check that all operations of the partition except the kept ones may be omitted.  Each of them
 * returned by the cut, was called after the end, or is one that kl_may_omit() or kl_count_kept()
 * allows.  If a kept operation has impossible results, all others may be omitted.
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
		ret = kl_may_omit(r->spec, r->run, r->h, part[i], kept, n, cut->end, tso);
		if (!ret && count < 0)
			count = kl_count_kept(r->spec, r->h, part, npart, kept, n, cut->end);
		ret = ret ? ret : count;
		if (ret <= 0)
			return ret ? ret : kl_replay_wrong(r,
					"the counterexample omits an operation that may matter: "
					"operation", part[i]);
	}
	return k < n ? kl_replay_wrong(r, "an operation of another partition: "
					  "operation", kept[k]) : 0;
}

static int ask_oracle(struct replay *r, const struct kl_cut *cut, const uint32_t *kept, size_t n,
		      bool tso)
{
	const struct kl_engine *oracle = tso ? &kl_tso_oracle_engine : &kl_oracle_engine;
	struct kl_limits lim = *r->looks.lim;
	struct kl_answer a = { 0 };
	struct kl_history *h = NULL;
	uint32_t *order = malloc(n * sizeof(*order));
	int ret;

	ret = order ? kl_cut_history(cut, kept, n, tso, &h, order) : -ENOMEM;
	free(order);
	if (ret)
		return ret;
	/* The bound is at least one look, since 0 means no bound. */
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

/* Check that the kept operations have no order, and that the others may be omitted. */
int kl_replay_violation(struct replay *r, const uint32_t *ops, size_t nops, bool forgot,
			uint64_t time, uint64_t end, char *text)
{
	/* Delayed writes matter to the oracle, whichever engine found the violation. */
	const bool tso = !r->classical && !kl_spec_flushes(r->spec);
	char *word, *save = NULL;
	uint32_t *kept = NULL;
	struct kl_cut cut = { 0 };
	size_t n = 0, size = 0;
	int ret = 0;

	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		uint64_t op = 0;
		const char *stop = kl_digits(word, &op);

		r->column = word - r->lines[r->line - 1] + 1;
		if (!stop || *stop || op >= r->h->nops || (n && op <= kept[n - 1])) {
			ret = kl_replay_bad(r, "kept operations are numbers of the history's "
					       "operations, in ascending order");
			goto out;
		}
		ret = kl_grow(kept, size, n + 1);
		if (ret)
			goto out;
		kept[n++] = op;
	}
	r->column = 0;
	if (!n) {
		ret = kl_replay_bad(r, "a violation keeps at least one operation");
		goto out;
	}
	ret = kl_replay_look(r, r->h->nthreads) ?:
	      kl_cut_init(&cut, r->spec, r->h, ops, nops, forgot, time, end);
	if (!ret)
		ret = check_left_out(r, ops, nops, kept, n, &cut, tso);
	if (!ret)
		ret = ask_oracle(r, &cut, kept, n, tso);
	if (ret == -E2BIG) {
		r->out->open++;
		ret = 0;
	}
out:
	kl_cut_free(&cut);
	free(kept);
	return ret;
}
