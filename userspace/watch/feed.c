// SPDX-License-Identifier: GPL-2.0
/* Passes histories to the online check, see feed.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "check/coverage.h"
#include "history/source.h"
#include "history/spell.h"
#include "watch/feed.h"
#include "watch/shed.h"

#define INSIDE_BYTES	160	/* approximate size of a value in a container's monitor */
#define PENDING		16384	/* maximal number of pending operations that are kept */

static const char forgotten[] = "memory limit reached; earlier operations were forgotten";
static const char blind[] = "the coverage of a probe became unknown; the check started again";

/* A pending operation, which the new check needs after a renewal. */
struct pending {
	struct kl_online_op op;
	struct kl_val vals[2 * KL_MAX_ARGS];
};

struct feed {
	const struct kl_spec *spec;
	struct feed_opts opts;
	struct kl_online_opts online;
	struct kl_online *o;
	int *map;		/* for each method of the history, its index in the spec */
	size_t nmap;
	uint64_t newest, floor; /* the latest return, and the last floor */
	struct pending *pending;
	size_t npending, cpending;
	/* pending operations were dropped, so after a renewal nothing can be decided */
	bool too_many;
	struct kl_online_stats before;	/* sums of the checks before the last renewal */
	bool renewed;
	bool joint;		/* all objects are one partition */
	struct kl_history *head;	/* the history's header with its coverage */
};

struct feed *feed_new(const struct kl_spec *spec, const struct kl_history *h,
		      const struct feed_opts *opts)
{
	struct feed *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->spec = spec;
	f->opts = *opts;
	f->joint = kl_spec_partition(spec) == KL_PART_NONE;
	f->head = kl_history_new();
	if (!f->head || kl_history_copy_coverage(f->head, h))
		goto err;
	kl_history_share_spellings(f->head, h);
	if (kl_source_share_name(f->head, h))
		goto err;
	f->online = (struct kl_online_opts){
		.clock = h->clock,
		.error = h->error,
		.fresh = h->fresh,
		.classical = opts->classical,
		.max_shrink = opts->show,
		.histories = opts->histories,
		.names = f->head,
		.suspect = kl_coverage_harm(spec, f->head, opts->classical),
		.empty = kl_history_why_empty(h),
		.bytes = opts->bytes,
		.stop = opts->stop,
		.violation = opts->violation,
		.ctx = opts->ctx,
	};
	if (!kl_online_new(spec, &f->online, &f->o))
		return f;
err:
	kl_history_free(f->head);
	free(f);
	return NULL;
}

void feed_free(struct feed *f)
{
	if (!f)
		return;
	kl_online_free(f->o);
	free(f->pending);
	free(f->map);
	kl_history_free(f->head);
	free(f);
}

/* Find the spec's method for each new method of the history. */
static int match_methods(struct feed *f, const struct kl_history *h)
{
	static const char carries[] =
		"; omit SPEC.lin to use the specification that the history carries";
	char near[128];
	size_t i;
	int *map;

	if (f->nmap >= h->nmethods)
		return 0;
	map = realloc(f->map, h->nmethods * sizeof(*map));
	if (!map)
		return -ENOMEM;
	f->map = map;
	for (; f->nmap < h->nmethods; f->nmap++) {
		map[f->nmap] = kl_spec_find_method(f->spec, h->methods[f->nmap]);
		if (map[f->nmap] >= 0)
			continue;
		for (i = 0; i < h->nops && kl_op_method(h, &h->ops[i]) != f->nmap; i++)
			;
		kl_history_err(h, i < h->nops ? i : KL_NO_OP, KL_AT_METHOD,
			       "the history has method '%s', which spec '%s' does not%s%s",
			       h->methods[f->nmap], kl_spec_name(f->spec),
			       kl_spec_near_method(f->spec, h->methods[f->nmap], near,
						   sizeof(near)),
			       h->spec_text ? carries : "");
		return -EINVAL;
	}
	return 0;
}

static int keep_pending(struct feed *f, const struct kl_online_op *op, unsigned int nvals)
{
	struct pending *p;
	int ret;

	f->too_many |= f->npending == PENDING;
	if (f->too_many)
		return 0;
	ret = kl_grow(f->pending, f->cpending, f->npending + 1);
	if (ret)
		return ret;
	p = &f->pending[f->npending++];
	p->op = *op;
	memcpy(p->vals, op->vals, nvals * sizeof(*op->vals));
	return 0;
}

/* Return: the operation's line in the input, or 0. */
static uint32_t line_of(const struct kl_history *h, const struct kl_op *op)
{
	const uint32_t place = h->source && h->places ? h->places[op - h->ops] : KL_NO_PLACE;

	return place < KL_FIRST_PLACE && h->source->places != KL_PLACES_OFFSETS ? place : 0;
}

static int add_op(struct feed *f, const struct kl_history *h, const struct kl_op *op)
{
	const struct kl_opsig *sig = kl_op_sig(h, op);
	const struct kl_method *m = kl_spec_method(f->spec, f->map[sig->method]);
	const bool pending = op->flags & KL_OP_PENDING;
	const struct kl_param *bad;
	struct kl_val vals[2 * KL_MAX_ARGS];
	const struct kl_online_op a = {
		.call = op->call,
		.ret = op->ret,
		.drain = kl_op_drain(h, op),
		.cpu = op->cpu,
		.thread = h->threads[op->thread],
		.object = h->objects[op->object],
		.flags = op->flags,
		.vals = vals,
		.method = f->map[sig->method],
		.stack = kl_op_stack(h, op),
		.place = line_of(h, op),
	};
	unsigned int i;
	uint64_t is;
	int ret = 0;

	if (sig->nargs != m->nparams || (!pending && sig->nres != m->nresults)) {
		kl_history_err(h, op - h->ops, KL_AT_METHOD,
			       "the operation called at %" PRIu64 ": %s has %u arguments and %u "
			       "results, spec '%s' says %u and %u", op->call, m->name, sig->nargs,
			       sig->nres, kl_spec_name(f->spec), m->nparams, m->nresults);
		return -EINVAL;
	}
	bad = kl_spec_bad_argument(f->spec, a.method, kl_op_args(h, op));
	if (bad) {
		kl_history_err(h, op - h->ops, KL_AT_VALUE + kl_method_value(m, bad),
			       "the operation called at %" PRIu64 ": '%s' of %s is a special "
			       "value, spec '%s' expects a %s", op->call, bad->name, m->name,
			       kl_spec_name(f->spec), bad->type == KL_T_BOOL ? "bool" : "word");
		return -EINVAL;
	}
	bad = kl_spec_bad_bool(f->spec, a.method, kl_op_args(h, op),
			       sig->nargs + (pending ? 0 : sig->nres), &is);
	if (bad) {
		kl_history_err(h, op - h->ops, KL_AT_VALUE + kl_method_value(m, bad),
			       "the operation called at %" PRIu64 ": '%s' of %s is %" PRIu64
			       ", spec '%s' expects a bool; write 0 or 1", op->call, bad->name,
			       m->name, is, kl_spec_name(f->spec));
		return -EINVAL;
	}
	if (!pending && op->ret > f->newest)
		f->newest = op->ret;
	/* A late operation concerns verdicts from before its object was dropped, so pass it on. */
	if (f->opts.shed && shed_op(f->opts.shed, f->joint ? 0 : a.object, op->ret,
				    pending || op->call < f->floor, &ret))
		return ret;
	for (i = 0; i < m->nparams + m->nresults; i++)
		vals[i] = i < m->nparams || !pending ? kl_op_args(h, op)[i] : kl_special(KL_ANY);
	if (pending)
		ret = keep_pending(f, &a, i);
	return ret ? ret : kl_online_add(f->o, &a);
}

int feed_floor(struct feed *f, uint64_t floor)
{
	if (floor > f->floor)
		f->floor = floor;
	return kl_online_floor(f->o, floor);
}

static int by_word(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Forget the pending operations of objects that are over. */
static int drop_pending(struct feed *f, const uint64_t *objects, size_t n)
{
	uint64_t *sorted = malloc(n * sizeof(*sorted));
	size_t i, k = 0;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, objects, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_word);
	for (i = 0; i < f->npending; i++)
		if (!bsearch(&f->pending[i].op.object, sorted, n, sizeof(*sorted), by_word))
			f->pending[k++] = f->pending[i];
	f->npending = k;
	free(sorted);
	return 0;
}

int feed_over(struct feed *f, const uint64_t *objects, size_t n)
{
	int ret = n && f->npending && !f->joint ? drop_pending(f, objects, n) : 0;
	size_t i;

	for (i = 0; i < n && !ret; i++)
		ret = kl_online_over(f->o, objects[i]);
	return ret;
}

int feed_end(struct feed *f)
{
	return kl_online_end(f->o);
}

uint64_t feed_newest(const struct feed *f)
{
	return f->newest;
}

int feed_drop(struct feed *f, uint64_t object, const char *why)
{
	return kl_online_drop(f->o, object, why);
}

void feed_resume(struct feed *f, uint64_t object, uint64_t until)
{
	kl_online_resume(f->o, object, until);
}

/*
 * Start a new check from unknown states at the floor.  Later operations are called at the floor or
 * later.  Operations that the old check had not followed yet returned by the newest return, so a
 * gap until then covers them.
 */
static int begin_anew(struct feed *f, struct kl_online *o)
{
	const uint64_t to = f->too_many ? KL_TIME_MAX :
			    f->newest > f->floor ? f->newest : f->floor;
	size_t i;
	int ret = kl_online_floor(o, f->floor);

	if (!ret)
		ret = kl_online_gap(o, f->floor, to, 0, true);
	for (i = 0; i < f->npending && !ret; i++) {
		struct kl_online_op op = f->pending[i].op;

		op.vals = f->pending[i].vals;
		/*
		 * The operation may have taken effect before the floor; the unknown states cover
		 * this.
		 */
		if (op.call < f->floor)
			op.call = f->floor;
		ret = kl_online_add(o, &op);
	}
	if (!ret && f->opts.shed)
		ret = shed_drop_again(f->opts.shed, f);
	return ret;
}

/*
 * Add the counts of @s to @to.  The first reason of UNKNOWN stays, but a suspected violation is a
 * stronger reason than lost knowledge.
 */
static void add_stats(struct kl_online_stats *to, const struct kl_online_stats *s)
{
	const bool stronger = to->verdict == KL_UNKNOWN && !to->suspected && s->suspected;

	to->ops += s->ops;
	to->events += s->events;
	to->gaps += s->gaps;
	to->late += s->late;
	to->violations += s->violations;
	to->suspected += s->suspected;
	if (s->verdict == KL_VIOLATION || to->verdict == KL_LINEARIZABLE || stronger) {
		to->verdict = s->verdict;
		memcpy(to->reason, s->reason, sizeof(to->reason));
	}
}

static int renew(struct feed *f, const char *why)
{
	struct kl_online_stats before = f->before, s;
	struct kl_online *o, *old = f->o;
	int ret;

	kl_online_stats(old, &s);
	/* Pending operations are passed to the new check again, so they would count twice. */
	s.ops -= f->npending;
	if (f->renewed)
		add_stats(&before, &s);
	else
		before = s;
	if (before.verdict == KL_LINEARIZABLE) {
		before.verdict = KL_UNKNOWN;
		snprintf(before.reason, sizeof(before.reason), "%s", why);
	}
	f->online.fresh = false;
	ret = kl_online_new(f->spec, &f->online, &o);
	if (ret)
		return ret;
	f->o = o;
	ret = begin_anew(f, o);
	if (ret) {
		f->o = old;
		kl_online_free(o);
		return ret;
	}
	kl_online_free(old);
	f->before = before;
	f->renewed = true;
	return 0;
}

int feed_renew(struct feed *f)
{
	return renew(f, forgotten);
}

/* If a probe's coverage became unknown, violations are only suspected from now on. */
static int look_at_coverage(struct feed *f, const struct kl_history *h)
{
	int ret = kl_coverage_follow(f->spec, f->head, h, f->online.classical);

	if (ret <= 0)
		return ret;
	f->online.suspect = kl_coverage_harm(f->spec, f->head, f->online.classical);
	return renew(f, blind);
}

/* Reports of violations take their names from the header. */
static void renew_names(struct feed *f, const struct kl_history *h)
{
	if (f->head->spellings == h->spellings)
		return;
	kl_history_free_spellings(f->head);
	kl_history_share_spellings(f->head, h);
}

void feed_release(struct feed *f)
{
	kl_history_free_spellings(f->head);
}

int feed_add(struct feed *f, const struct kl_history *h)
{
	size_t i;
	int ret = match_methods(f, h) ?: look_at_coverage(f, h);

	renew_names(f, h);
	for (i = 0; i < h->ngaps && !ret; i++) {
		const struct kl_gap *g = &h->gaps[i];
		const bool all = g->object == KL_ALL_OBJECTS;

		ret = kl_online_gap(f->o, g->from, g->to, all ? 0 : h->objects[g->object], all);
	}
	for (i = 0; i < h->nops && !ret; i++)
		ret = add_op(f, h, &h->ops[i]);
	return ret;
}

void feed_stats(const struct feed *f, struct kl_online_stats *s)
{
	struct kl_online_stats sum = f->before;

	kl_online_stats(f->o, s);
	s->bytes += s->inside * INSIDE_BYTES;
	if (!f->renewed)
		return;
	add_stats(&sum, s);
	s->ops = sum.ops;
	s->events = sum.events;
	s->gaps = sum.gaps;
	s->late = sum.late;
	s->violations = sum.violations;
	s->suspected = sum.suspected;
	s->verdict = sum.verdict;
	memcpy(s->reason, sum.reason, sizeof(s->reason));
}
