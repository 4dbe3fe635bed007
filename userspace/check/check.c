// SPDX-License-Identifier: GPL-2.0
/*
 * Deciding a whole history: match it with its specification, split it
 * (Horn & Kroening, Algorithm 3), give the partitions to the engines in
 * parallel, shrink what is wrong, and add up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/limit.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/coverage.h"
#include "base/threads.h"
#include "check/portfolio.h"
#include "history/source.h"
#include "history/spell.h"
#include "spec/classify/container.h"

#define SMALL		64	/* largest partition whose operations are prefetched together */

static bool fits(const struct kl_spec *spec, const int *map, const struct kl_opsig *s)
{
	const struct kl_method *m = kl_spec_method(spec, map[s->method]);

	return s->nargs == m->nparams && s->nres == m->nresults;
}

/*
 * Report an operation whose number of arguments or results is not its method's.  Only operations
 * are checked, since a signature may have none.
 */
static int check_operations(const struct kl_spec *spec, const struct kl_history *h, const int *map)
{
	const struct kl_method *m;
	const struct kl_opsig *s;
	size_t i;

	for (i = 0; i < h->nops && fits(spec, map, kl_op_sig(h, &h->ops[i])); i++)
		;
	if (i == h->nops)
		return 0;
	s = kl_op_sig(h, &h->ops[i]);
	m = kl_spec_method(spec, map[s->method]);
	kl_history_err(
		h, i, KL_AT_METHOD,
		"the operation that thread %" PRIu64 " called at "
		"%" PRIu64 ": %s has %u argument%s and %u result%s, spec '%s' says %u and %u%s",
		h->threads[h->ops[i].thread], h->ops[i].call, m->name, s->nargs,
		s->nargs == 1 ? "" : "s", s->nres, s->nres == 1 ? "" : "s", kl_spec_name(spec),
		m->nparams, m->nresults,
		!s->nres && s->nargs == m->nparams + m->nresults ? "; write `->' before results" :
								   "");
	return -EINVAL;
}

/* Warn about an operation with a special value as an argument that its method does not expect. */
static void tell_special(const struct kl_spec *spec, const struct kl_history *h, const int *map)
{
	const struct kl_param *bad;
	const struct kl_method *m;
	char text[256];
	size_t i;

	for (i = 0; i < h->nops; i++) {
		bad = kl_spec_bad_argument(spec, map[kl_op_method(h, &h->ops[i])],
					   kl_op_args(h, &h->ops[i]));
		if (!bad)
			continue;
		kl_op_print(text, sizeof(text), h, &h->ops[i]);
		m = kl_spec_method(spec, map[kl_op_method(h, &h->ops[i])]);
		kl_history_err(h, i, KL_AT_VALUE + kl_method_value(m, bad),
			       "the operation that thread %" PRIu64 " called at %" PRIu64
			       ", `%s': '%s' is a special value, spec '%s' expects a %s",
			       h->threads[h->ops[i].thread], h->ops[i].call, text, bad->name,
			       kl_spec_name(spec), bad->type == KL_T_BOOL ? "bool" : "word");
		return;
	}
}

static const struct kl_param *bad_bool(const struct kl_spec *spec, const struct kl_history *h,
				       const int *map, const struct kl_opsig *s, uint64_t *is)
{
	return kl_spec_bad_bool(spec, map[s->method], h->vals + s->vals, s->nargs + s->nres, is);
}

/*
 * Refuse a bool other than 0 and 1: taking it for true would be a guess that a verdict rests on.
 * There are few signatures, so these are checked first; a signature may have no operation.
 */
static int check_bools(const struct kl_spec *spec, const struct kl_history *h, const int *map)
{
	const struct kl_param *bad = NULL;
	const struct kl_method *m;
	const struct kl_op *op;
	char text[256];
	uint64_t is;
	size_t i;

	for (i = 0; i < h->nopsigs && !bad; i++)
		bad = bad_bool(spec, h, map, &h->opsigs[i], &is);
	if (!bad)
		return 0;
	for (i = 0, bad = NULL; i < h->nops && !bad; i++)
		bad = bad_bool(spec, h, map, kl_op_sig(h, &h->ops[i]), &is);
	if (!bad)
		return 0;
	op = &h->ops[i - 1];
	m = kl_spec_method(spec, map[kl_op_method(h, op)]);
	kl_op_print(text, sizeof(text), h, op);
	kl_history_err(h, i - 1, KL_AT_VALUE + kl_method_value(m, bad),
		       "the operation that thread %" PRIu64 " called at %" PRIu64
		       ", `%s': '%s' is %" PRIu64 ", spec '%s' expects a bool; write 0 or 1",
		       h->threads[op->thread], op->call, text, bad->name, is, kl_spec_name(spec));
	return -EINVAL;
}

/*
 * Return: the index of the method's first operation, or KL_NO_OP.  Operations that have no place in
 * the input do not count.
 */
static size_t first_of(const struct kl_history *h, unsigned int method)
{
	size_t i;

	for (i = 0; i < h->nops; i++)
		if (kl_op_method(h, &h->ops[i]) == method &&
		    !(h->places && h->places[i] == KL_NO_PLACE))
			return i;
	return KL_NO_OP;
}

/* Write what to do about a method of the history that the specification lacks. */
static void tell_method(const struct kl_spec *spec, const char *name, char *buf, size_t size)
{
	size_t len, i;

	if (*kl_spec_near_method(spec, name, buf, size))
		return;
	len = snprintf(buf, size, "; it has");
	for (i = 0; i < kl_spec_nmethods(spec) && len < size; i++)
		len += snprintf(buf + len, size - len, "%s %s", i ? "," : "",
				kl_spec_method(spec, i)->name);
}

/* Map each method of the history to the spec's method. */
static int match_methods(const struct kl_spec *spec, const struct kl_history *h, int **out)
{
	static const char carries[] =
		"; omit SPEC.lin to use the specification that the history carries";
	int *map = calloc(h->nmethods + 1, sizeof(*map)), ret = 0;
	char meant[256];
	bool others = false;
	size_t i;

	if (!map)
		return -ENOMEM;
	for (i = 0; i < h->nmethods && !ret; i++) {
		map[i] = kl_spec_find_method(spec, h->methods[i]);
		if (map[i] < 0) {
			tell_method(spec, h->methods[i], meant, sizeof(meant));
			kl_history_err(h, first_of(h, i), KL_AT_METHOD,
				       "the history has method '%s', which spec '%s' does not%s%s",
				       h->methods[i], kl_spec_name(spec), meant,
				       h->spec_text ? carries : "");
			ret = -EINVAL;
		}
	}
	for (i = 0; i < h->nmethods && !ret; i++) {
		const struct kl_method *m = kl_spec_method(spec, map[i]);

		others |= h->arities[i] & ~kl_arity(m->nparams, m->nresults);
	}
	if (!ret && others)
		ret = check_operations(spec, h, map);
	if (!ret)
		ret = check_bools(spec, h, map);
	if (ret)
		free(map);
	else
		*out = map;
	return ret;
}

/*
 * Prefetch the operations of a small partition, which are scattered in the history.  Engines
 * prefetch ahead themselves, but a small partition ends before that helps.  Without inlining, the
 * compiler would drop the prefetches.
 */
__attribute__((always_inline))
static inline void fetch_small(const struct kl_job *j, const struct kl_split *s, size_t k)
{
	const struct kl_history *h = j->h;
	const size_t n = s->at[k + 1] - s->at[k];
	const uint32_t *ops;
	size_t i;

	if (!s->ops || n > SMALL)
		return;
	ops = s->ops + s->at[k];
	for (i = 0; i < n; i++)
		__builtin_prefetch(&h->ops[ops[i]]);
	for (i = 0; i < n; i++)
		__builtin_prefetch(kl_op_sig(h, &h->ops[ops[i]]));
	for (i = 0; i < n; i++)
		__builtin_prefetch(kl_op_args(h, &h->ops[ops[i]]));
}

static int check_part(struct kl_work *w, size_t k, uint64_t share, struct kl_part_result *r)
{
	const struct kl_part *used;
	int ret;

	fetch_small(w->j, w->s, k);
	w->most = share ? share + KL_OP_LOOKS * (uint64_t)r->nops : 0;
	ret = kl_work_decide(w, k, r, &used);
	if (ret || (!used && !r->answer.ngaps))
		return ret;
	r->ngaps = used ? used->ngaps : r->answer.ngaps;
	r->explained = r->answer.verdict == KL_LINEARIZABLE;
	if (r->explained && r->ngaps) {
		r->answer.verdict = KL_UNKNOWN;
		snprintf(r->answer.reason, sizeof(r->answer.reason),
			 "%u gap%s where operations were lost; the recorded operations have an "
			 "order",
			 r->ngaps, r->ngaps == 1 ? "" : "s");
	}
	return 0;
}

/* Return: the indices of all partitions, large ones first; NULL if memory is short. */
static uint32_t *large_first(const struct kl_split *s)
{
	struct kl_key *k = malloc(2 * (s->n + 1) * sizeof(*k));
	uint32_t *order = malloc((s->n + 1) * sizeof(*order));
	size_t i;

	for (i = 0; k && order && i < s->n; i++)
		k[i] = (struct kl_key){ .key = UINT64_MAX - (s->at[i + 1] - s->at[i]), .val = i };
	if (!k || !order) {
		free(order);
		order = NULL;
	} else {
		kl_sort_keys(k, s->n, k + s->n);
	}
	for (i = 0; order && i < s->n; i++)
		order[i] = k[i].val;
	free(k);
	return order;
}

static unsigned int most_threads(const struct kl_job *j)
{
	return j->opt->threads ?: kl_threads_most();
}

/* All partitions, which threads take one after the other. */
struct all_parts {
	struct kl_job j;
	const struct kl_split *s;
	struct kl_report *r;
	uint32_t *order;	/* partitions in the order in which threads take them */
	size_t n;		/* number of partitions to check, the first in @order */
	uint64_t share;		/* looks that each partition may take; 0: no bound */
	size_t taken;		/* entries of @order that threads have taken */
	bool again;		/* this pass checks only starved partitions, one after the other */
	bool over;		/* the time limit is over; no thread looks at the clock again */
	int err;		/* -ENOMEM ends all threads */
};

static void describe_part(const struct all_parts *a, size_t k, struct kl_part_result *pr)
{
	const struct kl_split *s = a->s;

	pr->object = s->object[k] == KL_ALL_OBJECTS ? 0 : a->j.h->objects[s->object[k]];
	pr->key = s->key[k];
	pr->has_key = s->by_key;
	pr->nops = s->at[k + 1] - s->at[k];
	pr->ops = s->ops ? s->ops + s->at[k] : NULL;
}

static void free_result(struct kl_part_result *pr)
{
	kl_answer_free(&pr->answer);
	kl_counterexample_free(pr->cex);
	while (pr->declined) {
		struct kl_declined *next = pr->declined->next;

		free(pr->declined);
		pr->declined = next;
	}
}

/* Leave a partition UNKNOWN, since a limit of the process was reached. */
static void leave_open(struct kl_part_result *pr, const char *reason)
{
	kl_answer_free(&pr->answer);
	pr->answer = (struct kl_answer){ .verdict = KL_UNKNOWN };
	pr->engine = NULL;
	pr->sc_violation = pr->explained = pr->stopped = false;
	snprintf(pr->answer.reason, sizeof(pr->answer.reason), "%s", reason);
}

/*
 * Decide partition @k.  If the memory limit is reached, the partition stays UNKNOWN, and the thread
 * goes on with a new interpreter and new tables, since other partitions may need less.
 *
 * Return: 0 or -ENOMEM.
 */
static int take_part(struct all_parts *a, struct kl_work *w, size_t k)
{
	struct kl_part_result *pr = &a->r->parts[k];
	char reason[sizeof(pr->answer.reason)];
	int ret = w->run ? 0 : -ENOMEM;

	describe_part(a, k, pr);
	/*
	 * The engines' own deadline is earlier, and easy partitions are still decided after it.
	 * Once the process's limit is over, all other partitions stay UNKNOWN.
	 */
	if (__atomic_load_n(&a->over, __ATOMIC_RELAXED) || kl_limit_look(NULL, 0)) {
		static const char reason[] = "time limit reached";

		__atomic_store_n(&a->over, true, __ATOMIC_RELAXED);
		pr->answer.verdict = KL_UNKNOWN;
		pr->answer.bound = KL_BOUND_TIME;
		memcpy(pr->answer.reason, reason, sizeof(reason));
		return 0;
	}
	pr->starved = false;
	if (!ret)
		ret = check_part(w, k, a->share, pr);
	if (ret != -ENOMEM || !kl_limit_met(ret))
		return ret;
	snprintf(reason, sizeof(reason), "%s ended", kl_limit_met(ret));
	leave_open(pr, reason);
	pr->starved = true;
	kl_work_free(w);
	kl_work_init(w, &a->j, a->s);
	return 0;
}

/* One thread of check_parts(), with an interpreter of its own. */
static void take_parts(void *arg)
{
	struct all_parts *a = arg;
	struct kl_work w;
	int ret = kl_work_init(&w, &a->j, a->s);
	size_t i;

	if (kl_limit_met(ret))
		ret = 0;
	while ((i = __atomic_fetch_add(&a->taken, 1, __ATOMIC_RELAXED)) < a->n) {
		struct kl_part_result *pr = &a->r->parts[a->order[i]];

		if (a->again && !pr->starved)
			continue;
		if (!ret && !__atomic_load_n(&a->err, __ATOMIC_RELAXED))
			ret = take_part(a, &w, a->order[i]);
		kl_history_spell_out(a->j.h, pr->answer.reason, sizeof(pr->answer.reason));
		if (a->j.lim.progress && !a->again)
			__atomic_fetch_add(&a->j.lim.progress->done, pr->nops, __ATOMIC_RELAXED);
		if (ret)
			__atomic_store_n(&a->err, ret, __ATOMIC_RELAXED);
	}
	kl_work_free(&w);
}

/* Keep only the partitions that the bound of work stopped; the next pass decides them anew. */
static void keep_stopped(struct all_parts *a)
{
	size_t i, n = 0;

	for (i = 0; i < a->n; i++) {
		struct kl_part_result *pr = &a->r->parts[a->order[i]];

		if (pr->stopped)
			a->order[n++] = a->order[i];
	}
	a->n = n;
}

static void forget_answers(struct all_parts *a)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		struct kl_part_result *pr = &a->r->parts[a->order[i]];

		if (a->j.lim.progress)
			__atomic_fetch_sub(&a->j.lim.progress->done, pr->nops, __ATOMIC_RELAXED);
		free_result(pr);
		memset(pr, 0, sizeof(*pr));
	}
}

/*
 * Check all partitions, in parallel.  The bound of work is shared among them.  A second pass
 * shares half of the bound among partitions whose share was too small, if that gives them more.
 * A partition's share does not depend on what others used, so the result does not depend on
 * threads.
 *
 * Return: 0 or -ENOMEM.
 */
static int check_parts(const struct kl_job *j, const struct kl_split *s, struct kl_report *r)
{
	const unsigned int most = most_threads(j);
	uint64_t work = j->opt->work;
	struct all_parts a = { .j = *j, .s = s, .r = r, .order = large_first(s), .n = s->n };

	if (!a.order)
		return -ENOMEM;
	a.share = work && a.n ? work / a.n + 1 : 0;
	for (;;) {
		const unsigned int threads = most < a.n ? most : a.n;

		a.taken = 0;
		a.j.lim.threads = threads > 1 ? most / threads : most;
		kl_threads_run(threads, take_parts, &a);
		/* A partition that ran out of memory beside others may end alone. */
		if (threads > 1 && kl_limit_met(-ENOMEM)) {
			a.again = true;
			a.taken = 0;
			take_parts(&a);
			a.again = false;
		}
		keep_stopped(&a);
		work /= 2;
		if (a.err || !a.n || work / a.n < 2 * a.share)
			break;
		a.share = work / a.n;
		forget_answers(&a);
	}
	free(a.order);
	return a.err;
}

/* The results of a million objects take hundreds of MB, so they are in zeroed huge pages. */
static size_t results_bytes(size_t nparts)
{
	return (nparts + 1) * sizeof(struct kl_part_result);
}

static void free_results(struct kl_report *r)
{
	size_t i;

	for (i = 0; i < r->nparts; i++)
		free_result(&r->parts[i]);
	kl_zero_unmap(r->parts, results_bytes(r->nparts));
	r->parts = NULL;
	r->nparts = 0;
}

static int check_split(const struct kl_job *j, bool by_object, struct kl_split *s,
		       struct kl_report *r)
{
	int ret = kl_split(j->spec, j->h, j->map, by_object, most_threads(j), s);

	if (!ret)
		ret = kl_limit_look(NULL, 0);
	if (ret)
		return ret;
	r->parts = kl_zero_map(results_bytes(s->n), results_bytes(s->n));
	if (!r->parts)
		return -ENOMEM;
	r->nparts = s->n;
	return check_parts(j, s, r);
}

/*
 * Return: true if the first engine decides keyed objects whole, where other engines need
 * a partition for each key.
 */
static bool takes_whole(const struct kl_job *j)
{
	struct kl_container c;

	kl_spec_container(j->spec, &c);
	return kl_container_keyed(&c) && j->engines[0]->whole &&
	       !j->opt->no_partition && kl_spec_partition(j->spec) == KL_PART_PARAM;
}

static void forget(struct kl_split *s, struct kl_report *r)
{
	free_results(r);
	kl_split_free(s);
}

/*
 * Let the first engine alone decide each object whole.
 *
 * Return: 1 if it decided everything, 0 if not, -ENOMEM.
 */
static int check_whole(const struct kl_job *j, struct kl_split *s, struct kl_report *r)
{
	const struct kl_engine *const monitor[] = { j->engines[0], NULL };
	const bool progress = j->lim.progress;
	struct kl_job whole = *j;
	/* With delayed writes a violation is not final, see ask() in portfolio.c. */
	const bool delayed = !kl_spec_flushes(j->spec) && !j->opt->classical;
	bool decided = true;
	size_t i;
	int ret;

	whole.engines = monitor;
	ret = check_split(&whole, true, s, r);
	for (i = 0; i < r->nparts; i++)
		decided &= r->parts[i].answer.verdict == KL_LINEARIZABLE ||
			   (r->parts[i].answer.verdict == KL_VIOLATION && !delayed);
	if (ret || decided)
		return ret ? ret : 1;
	forget(s, r);
	if (progress)
		__atomic_store_n(&j->lim.progress->done, 0, __ATOMIC_RELAXED);
	return 0;
}

/* Return: true if the partition has a write of the first state that its counterexample omits. */
static bool lacks_first(const struct kl_history *h, const struct kl_part_result *pr)
{
	const uint32_t first = pr->nops ? kl_result_op(pr, 0) : 0;
	size_t k;

	/* Operations are sorted by call, and that of the first state is before all. */
	if (!pr->nops || !kl_source_is_first(h, first))
		return false;
	for (k = 0; k < pr->cex->h->nops; k++)
		if (pr->cex->ops[k] == first)
			return false;
	return true;
}

/*
 * Make the counterexample of one partition.  If the engine gave a core, only the core is shrunk, by
 * the general engine.
 */
static int shrink_part(const struct kl_job *j, const struct kl_split *s, size_t k,
		       struct kl_part_result *pr)
{
	const bool core = pr->answer.ncore;
	const struct kl_engine *e = core || pr->engine->no_trials ? kl_engine_general() :
		pr->engine;
	struct kl_part p = { 0 };
	int ret;

	if (core)
		ret = kl_part_build(j->spec, j->h, j->map, pr->answer.core, pr->answer.ncore,
				    s->object[k], false, &p);
	else
		ret = kl_work_lay_out(j, s, k, e->tso, &p);
	if (!ret)
		ret = kl_shrink(&p, e, kl_engine_oracle(e->tso),
				pr->answer.fail_event, pr->answer.from_event, &j->lim, pr->work,
				&pr->cex);
	if (pr->cex)
		pr->cex->unset = lacks_first(j->h, pr);
	kl_part_free(&p);
	return ret;
}

/*
 * Make counterexamples for the first violations.  If shrinking fails, the verdict stands without
 * a counterexample, unless the oracle contradicts it.
 */
static int shrink_parts(const struct kl_job *j, const struct kl_split *s, struct kl_report *r)
{
	unsigned int left = j->opt->max_shrink;
	size_t k;
	int ret;

	for (k = 0; k < r->nparts && left; k++) {
		struct kl_part_result *pr = &r->parts[k];

		if (pr->answer.verdict != KL_VIOLATION)
			continue;
		left--;
		ret = shrink_part(j, s, k, pr);
		if (ret == -EBADMSG) {
			pr->answer.verdict = KL_UNKNOWN;
			snprintf(pr->answer.reason, sizeof(pr->answer.reason),
				 "a defect of klin: engine %s and the oracle disagree about a "
				 "counterexample", pr->engine->name);
			pr->defect = true;
		} else if (ret && ret != -EINVAL && !kl_limit_met(ret)) {
			return ret;
		}
	}
	return 0;
}

static void add_up(struct kl_report *r)
{
	const char *empty = r->nparts ? NULL : kl_history_why_empty(r->h);
	size_t i;

	for (i = 0; i < r->nparts; i++) {
		r->count[r->parts[i].answer.verdict]++;
		r->sc_violations += r->parts[i].sc_violation &&
				    r->parts[i].answer.verdict == KL_LINEARIZABLE;
	}
	r->verdict = r->count[KL_VIOLATION] ? KL_VIOLATION :
		     r->count[KL_UNKNOWN] ? KL_UNKNOWN : KL_LINEARIZABLE;
	if (empty) {
		r->verdict = KL_UNKNOWN;
		snprintf(r->reason, sizeof(r->reason), "%s", empty);
	}
	for (i = 0; i < r->nparts && r->verdict == KL_UNKNOWN && !r->suspected; i++) {
		if (r->parts[i].answer.verdict == KL_UNKNOWN) {
			snprintf(r->reason, sizeof(r->reason), "%s", r->parts[i].answer.reason);
			break;
		}
	}
}

void kl_warn_blocks(const struct kl_spec *spec)
{
	const struct kl_method *m;
	unsigned int i;

	kl_warn_suspicious(spec);
	for (i = 0; i < kl_spec_nmethods(spec); i++) {
		m = kl_spec_method(spec, i);
		if (m->nblocks > 1)
			kl_warn("spec '%s': method '%s' has up to %u atomic blocks on a path; a "
				"history that shows a state between them is reported as a "
				"violation",
				kl_spec_name(spec), m->name, m->nblocks);
	}
}

int kl_check(const struct kl_spec *spec, const struct kl_history *h,
	     const struct kl_options *opt, struct kl_report **out)
{
	const uint64_t start = kl_now_ns();
	uint64_t shrink;
	struct kl_job j = { .spec = spec, .h = h, .opt = opt };
	const struct kl_coverage *blind;
	struct kl_report *r = calloc(1, sizeof(*r));
	struct kl_split s = { 0 };
	int *map = NULL, ret;

	if (!r)
		return -ENOMEM;
	ret = match_methods(spec, h, &map);
	if (ret)
		goto out;
	j.map = map;
	j.engines = opt->engines ?: kl_engines();
	j.lim = (struct kl_limits){
		.bytes = opt->bytes,
		/* The last tenth of the time is for counterexamples. */
		.deadline_ns = opt->time_ns ? start + opt->time_ns / 10 * 9 : 0,
		.stop = opt->stop,
		.no_witness = opt->no_witness,
		.cache = opt->cache,
		.progress = opt->progress,
	};
	r->spec = spec;
	r->h = h;
	r->classical = opt->classical;
	r->memory_by = opt->memory_by;
	r->named = opt->engines && !opt->engines[1] ? opt->engines[0] : NULL;
	r->no_partition = opt->no_partition;
	r->work = opt->work;
	ret = takes_whole(&j) ? check_whole(&j, &s, r) : 0;
	if (!ret)
		ret = check_split(&j, opt->no_partition, &s, r);
	shrink = kl_now_ns();
	if (opt->time_ns)
		j.lim.deadline_ns = start + opt->time_ns;
	j.lim.cap = opt->work;
	ret = ret < 0 ? ret : 0;
	if (ret == -EINVAL)
		tell_special(spec, h, map);
	if (!ret)
		ret = shrink_parts(&j, &s, r);
	if (ret)
		goto out;
	blind = kl_coverage_harm(spec, h, opt->classical);
	if (blind)
		kl_report_suspect(r, blind);
	add_up(r);
	r->shrink_seconds = (kl_now_ns() - shrink) / 1e9;
	r->seconds = (kl_now_ns() - start) / 1e9;
	r->ops = s.ops;
	s.ops = NULL;
out:
	free(map);
	kl_split_free(&s);
	if (ret) {
		kl_report_free(r);
		return ret;
	}
	*out = r;
	return 0;
}

void kl_report_free(struct kl_report *r)
{
	if (r) {
		free_results(r);
		free(r->ops);
	}
	free(r);
}
