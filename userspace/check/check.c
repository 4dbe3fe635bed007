// SPDX-License-Identifier: GPL-2.0
/*
 * Deciding a whole history: match it with its specification, split it
 * (Horn & Kroening, Algorithm 3), give the partitions to the engines in
 * parallel, shrink what is wrong, and add up.
 */
#include <errno.h>
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sort.h"
#include "check/check.h"
#include "check/sim.h"
#include "check/split.h"
#include "spec/container.h"

/*
 * Configurations that an engine may make before the next has its turn: some to
 * begin with, and some for each operation that it has placed.
 */
#define FIRST_WORK	1000
#define FIRST_EACH	4
#define MORE_WORK	4	/* times as many in the next round */
#define NEAR_LEAST	1024	/* events; it takes no longer to look at all of fewer */
#define SMALL		64	/* operations of a partition that are fetched together */

const char *kl_verdict_name(enum kl_verdict v)
{
	static const char *const names[] = { "LINEARIZABLE", "VIOLATION", "UNKNOWN" };

	return names[v];
}

void kl_answer_free(struct kl_answer *a)
{
	free(a->steps);
	free(a->core);
	a->steps = NULL;
	a->core = NULL;
	a->nsteps = a->ncore = 0;
}

static bool fits(const struct kl_spec *spec, const int *map, const struct kl_shape *s)
{
	const struct kl_method *m = kl_spec_method(spec, map[s->method]);

	return s->nargs == m->nparams && s->nres == m->nresults;
}

/* Say which operation has another shape than its method; a shape may be no operation's. */
static int check_operations(const struct kl_spec *spec, const struct kl_history *h, const int *map)
{
	const struct kl_method *m;
	const struct kl_shape *s;
	size_t i;

	for (i = 0; i < h->nops && fits(spec, map, kl_op_shape(h, &h->ops[i])); i++)
		;
	if (i == h->nops)
		return 0;
	s = kl_op_shape(h, &h->ops[i]);
	m = kl_spec_method(spec, map[s->method]);
	kl_err("the operation that thread %" PRIu64 " called at %" PRIu64 ": %s has %u arguments "
	       "and %u results, spec '%s' says %u and %u", h->threads[h->ops[i].thread],
	       h->ops[i].call, m->name, s->nargs, s->nres, kl_spec_name(spec), m->nparams,
	       m->nresults);
	return -EINVAL;
}

/* Say which operation has a special value as an argument, if one does that must not. */
static void tell_special(const struct kl_spec *spec, const struct kl_history *h, const int *map)
{
	const struct kl_param *bad;
	char text[256];
	size_t i;

	for (i = 0; i < h->nops; i++) {
		bad = kl_spec_bad_argument(spec, map[kl_op_method(h, &h->ops[i])],
					   kl_op_args(h, &h->ops[i]));
		if (!bad)
			continue;
		kl_op_print(text, sizeof(text), h, &h->ops[i]);
		kl_err("the operation that thread %" PRIu64 " called at %" PRIu64 ", `%s': '%s' is "
		       "a special value, spec '%s' expects a %s", h->threads[h->ops[i].thread],
		       h->ops[i].call, text, bad->name, kl_spec_name(spec),
		       bad->type == KL_T_BOOL ? "bool" : "word");
		return;
	}
}

/* Which method of the spec each method of the history is. */
static int match_methods(const struct kl_spec *spec, const struct kl_history *h, int **out)
{
	int *map = calloc(h->nmethods + 1, sizeof(*map)), ret = 0;
	bool others = false;
	size_t i;

	if (!map)
		return -ENOMEM;
	for (i = 0; i < h->nmethods && !ret; i++) {
		map[i] = kl_spec_find_method(spec, h->methods[i]);
		if (map[i] < 0) {
			kl_err("the history has method '%s', which spec '%s' does "
			       "not", h->methods[i],
			       kl_spec_name(spec));
			ret = -EINVAL;
		}
	}
	for (i = 0; i < h->nmethods && !ret; i++) {
		const struct kl_method *m = kl_spec_method(spec, map[i]);

		others |= h->arities[i] & ~kl_arity(m->nparams, m->nresults);
	}
	if (!ret && others)
		ret = check_operations(spec, h, map);
	if (ret)
		free(map);
	else
		*out = map;
	return ret;
}

struct job {
	const struct kl_spec *spec;
	const struct kl_history *h;
	const struct kl_options *opt;
	const struct kl_engine *const *engines;
	const int *map;
	struct kl_limits lim;
};

static struct kl_slice slice_of(const struct job *j, const struct kl_split *s, size_t k)
{
	struct kl_slice slice = {
		.spec = j->spec, .h = j->h, .methods = j->map,
		.ops = s->ops ? s->ops + s->at[k] : NULL, .nops = s->at[k + 1] - s->at[k],
		.object = s->object[k],
	};
	size_t i;

	for (i = 0; i < j->h->ngaps; i++)
		slice.ngaps += slice.object == KL_ALL_OBJECTS ||
			       j->h->gaps[i].object == KL_ALL_OBJECTS ||
			       j->h->gaps[i].object == slice.object;
	return slice;
}

/* Lay out partition @k, for engines that know store buffers or do not. */
static int build(const struct job *j, const struct kl_split *s, size_t k, bool tso,
		 struct kl_part *p)
{
	return kl_part_build(j->spec, j->h, j->map, s->ops ? s->ops + s->at[k] : NULL,
			     s->at[k + 1] - s->at[k], s->object[k], tso, p);
}

/* A partition as it is checked; laid out for TSO only if it comes to that. */
struct work {
	const struct job *j;
	const struct kl_split *s;
	size_t k;
	struct kl_run *run;
	struct kl_memo_room room;
	struct kl_part p, ptso;
	bool have_p, have_ptso;		/* laid out for partition @k; if not, room to use again */
	uint32_t near;			/* item whose return some engine did not come past, */
	uint32_t looked[2];		/* and the last one around which one of each kind looked */
};

static int lay_out(struct work *w, bool tso, const struct kl_part **out)
{
	struct kl_part *p = tso ? &w->ptso : &w->p;
	bool *have = tso ? &w->have_ptso : &w->have_p;
	int ret = *have ? 0 : build(w->j, w->s, w->k, tso, p);

	if (ret)
		return ret;
	p->run = w->run;
	p->room = &w->room;
	*have = true;
	*out = p;
	return 0;
}

/* The return that no order came past may be one that no order can. */
static void note_near(struct work *w, const struct kl_part *p, const struct kl_answer *a)
{
	if (p && !a->ncore && a->fail_event && p->nevents >= NEAR_LEAST &&
	    p->items[p->events[a->fail_event].item].kind == KL_ITEM_OP)
		w->near = p->events[a->fail_event].item;
}

/*
 * Ask an engine that would have to look at everything only about what is around that
 * return: most violations need little of what was before.
 */
static int ask_near(struct work *w, const struct kl_engine *e, const struct kl_part *p,
		    struct kl_answer *a)
{
	const uint32_t near = w->near;
	int ret;

	if (near == KL_NO_OP || near == w->looked[e->tso] || (e != &kl_frontier_engine && !e->tso))
		return 0;
	w->looked[e->tso] = near;
	ret = kl_violation_near(p, e, p->items[near].ret_ev, &w->j->lim);
	if (ret <= 0)
		return ret;
	a->verdict = KL_VIOLATION;
	a->engine = e->name;
	a->fail_event = p->items[near].ret_ev;
	return 1;
}

/*
 * Ask the engines once.  A violation on sequential consistency of a spec that
 * delays its writes is not one yet: the engine that knows store buffers has the
 * last word.
 */
static int ask_one(struct work *w, const struct kl_engine *e, const struct kl_limits *lim,
		   const struct kl_part **used, struct kl_answer *a)
{
	const struct kl_slice s = slice_of(w->j, w->s, w->k);
	int ret;

	if (e->decide_ops)
		return e->decide_ops(&s, lim, a);
	ret = lay_out(w, e->tso, used);
	if (ret == -EOVERFLOW) {
		snprintf(a->reason, sizeof(a->reason),
			 "more operations, gaps or overlaps of threads than a partition can have");
		return 0;
	}
	if (!ret)
		ret = ask_near(w, e, *used, a);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = e->decide(*used, e->tso ? &w->j->lim : lim, a);
	if (!ret && (a->verdict == KL_VIOLATION || a->more_work))
		note_near(w, *used, a);
	return ret;
}

static int ask(struct work *w, struct kl_part_result *r, const struct kl_part **used,
	       const struct kl_limits *lim, uint32_t *declined, bool *more_work)
{
	const struct job *j = w->j;
	const bool delayed = !kl_spec_flushes(j->spec) && !j->opt->classical;
	char *why;
	size_t i;
	int ret;

	*more_work = false;
	for (i = 0; j->engines[i]; i++) {
		const struct kl_engine *e = j->engines[i];
		struct kl_answer a = { .verdict = KL_UNKNOWN };

		/* The first is asked in any case: it may be the only one. */
		if ((i && e->tso != r->sc_violation) || (*declined >> i & 1))
			continue;
		ret = ask_one(w, e, lim, used, &a);
		if (ret)
			return ret;
		*more_work |= a.more_work;
		if (a.verdict == KL_UNKNOWN && !a.more_work)
			*declined |= 1u << i;
		if (e == &kl_mono_engine || e == &kl_ends_engine) {
			why = r->declined[e == &kl_ends_engine];
			memcpy(why, a.reason, sizeof(a.reason));
			/* It may have asked for more work, and had it. */
			if (a.verdict != KL_UNKNOWN)
				*why = '\0';
		}
		/* Another engine would come to the same, or look for very long. */
		if (a.lost) {
			*more_work = false;
			a.progress = 0;
		} else if (a.progress < r->answer.progress) {
			a.progress = r->answer.progress;
		}
		kl_answer_free(&r->answer);
		r->answer = a;
		r->engine = e;
		if (a.lost)
			break;
		if (a.verdict == KL_UNKNOWN)
			continue;
		if (a.verdict == KL_LINEARIZABLE || e->tso || !delayed)
			break;
		r->sc_violation = true;
		r->answer.verdict = KL_UNKNOWN;
		snprintf(r->answer.reason, sizeof(r->answer.reason),
			 "no order on sequential consistency; store buffers not checked");
	}
	return 0;
}

/*
 * No history should be slow because the wrong engine was asked first: each gets
 * so much work, then the next its turn, then each several times as much.  Which
 * one a history is hard for shows early: work is allowed for as far as it came.
 * It is counted, not timed, so that the same history always has the same answer.
 */
static int decide(struct work *w, struct kl_part_result *r, const struct kl_part **used)
{
	const struct job *j = w->j;
	struct kl_limits lim = j->lim;
	uint32_t declined = 0;	/* engines that gave up and not for work */
	bool more_work;
	int ret;

	r->answer.verdict = KL_UNKNOWN;
	snprintf(r->answer.reason, sizeof(r->answer.reason), "no engine for this spec");
	if (j->engines[0] && j->engines[1]) {
		lim.work = FIRST_WORK;
		lim.each = FIRST_EACH;
	}
	do {
		ret = ask(w, r, used, &lim, &declined, &more_work);
		lim.work *= MORE_WORK;
		lim.each *= MORE_WORK;
	} while (!ret && r->answer.verdict == KL_UNKNOWN && more_work && !r->sc_violation);
	if (!ret && r->answer.verdict == KL_UNKNOWN && r->answer.progress) {
		size_t len = strlen(r->answer.reason);

		snprintf(r->answer.reason + len, sizeof(r->answer.reason) - len,
			 " after about %llu of %u operations",
			 (unsigned long long)r->answer.progress, r->nops);
	}
	return ret;
}

/*
 * The operations of a partition lie apart.  Engines fetch what comes next, but a small one is
 * at its end before that helps.  Not inlined, this would be taken for nothing.
 */
__attribute__((always_inline))
static inline void fetch_small(const struct job *j, const struct kl_split *s, size_t k)
{
	const struct kl_history *h = j->h;
	const size_t n = s->at[k + 1] - s->at[k];
	const uint32_t *ops = s->ops + s->at[k];
	size_t i;

	if (!s->ops || n > SMALL)
		return;
	for (i = 0; i < n; i++)
		__builtin_prefetch(&h->ops[ops[i]]);
	for (i = 0; i < n; i++)
		__builtin_prefetch(kl_op_shape(h, &h->ops[ops[i]]));
	for (i = 0; i < n; i++)
		__builtin_prefetch(kl_op_args(h, &h->ops[ops[i]]));
}

static int check_part(struct work *w, size_t k, struct kl_part_result *r)
{
	const struct kl_part *used = NULL;
	int ret;

	fetch_small(w->j, w->s, k);
	w->k = k;
	w->near = w->looked[0] = w->looked[1] = KL_NO_OP;
	w->have_p = w->have_ptso = false;
	ret = decide(w, r, &used);
	if (ret || (!used && !r->answer.ngaps))
		return ret;
	r->ngaps = used ? used->ngaps : r->answer.ngaps;
	r->explained = r->answer.verdict == KL_LINEARIZABLE;
	if (r->explained && r->ngaps) {
		r->answer.verdict = KL_UNKNOWN;
		snprintf(r->answer.reason, sizeof(r->answer.reason),
			 "%u gap%s where operations were lost; what was recorded has an order",
			 r->ngaps, r->ngaps == 1 ? "" : "s");
	}
	return 0;
}

/* Partitions in the order in which they are checked: large ones first. */
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

static int most_threads(const struct job *j)
{
	return j->opt->threads ? (int)j->opt->threads : omp_get_max_threads();
}

/*
 * Check all partitions, in parallel; each thread has an interpreter of its own.
 *
 * Return: 0 or -ENOMEM.
 */
static int check_parts(const struct job *j, const struct kl_split *s, struct kl_report *r)
{
	const int most = most_threads(j);
	const int threads = (size_t)most < s->n ? most : (int)s->n;
	uint32_t *order = large_first(s);
	struct job each = *j;
	int err = order ? 0 : -ENOMEM;

	each.lim.threads = threads > 1 ? most / threads : most;
#pragma omp parallel num_threads(threads > 1 ? threads : 1)
	{
		struct work w = { .j = &each, .s = s, .run = kl_run_new(j->spec) };
		int one = order && w.run ? 0 : -ENOMEM;
		size_t i;

#pragma omp for schedule(dynamic, 1)
		for (i = 0; i < s->n; i++) {
			const size_t k = order ? order[i] : i;
			struct kl_part_result *pr = &r->parts[k];

			pr->object = s->object[k] == KL_ALL_OBJECTS ? 0 :
				     j->h->objects[s->object[k]];
			pr->key = s->key[k];
			pr->has_key = s->by_key;
			pr->nops = s->at[k + 1] - s->at[k];
			pr->ops = s->ops ? s->ops + s->at[k] : NULL;
			if (!one && !__atomic_load_n(&err, __ATOMIC_RELAXED))
				one = check_part(&w, k, pr);
			if (j->lim.progress)
				__atomic_fetch_add(&j->lim.progress->done, pr->nops,
						   __ATOMIC_RELAXED);
			if (one)
				__atomic_store_n(&err, one, __ATOMIC_RELAXED);
		}
		kl_part_free(&w.p);
		kl_part_free(&w.ptso);
		free(w.room.entries);
		kl_run_free(w.run);
	}
	free(order);
	return err;
}

static int check_split(const struct job *j, bool by_object, struct kl_split *s,
		       struct kl_report *r)
{
	int ret = kl_split(j->spec, j->h, j->map, by_object, most_threads(j), s);

	if (ret)
		return ret;
	r->parts = calloc(s->n + 1, sizeof(*r->parts));
	if (!r->parts)
		return -ENOMEM;
	r->nparts = s->n;
	return check_parts(j, s, r);
}

/* Is there a monitor that needs no partition by key where others do? */
static bool takes_whole(const struct job *j)
{
	struct kl_container c;

	kl_spec_container(j->spec, &c);
	return kl_container_keyed(&c) && j->engines[0] == &kl_mono_engine &&
	       !j->opt->no_partition && kl_spec_partition(j->spec) == KL_PART_PARAM;
}

static void forget(struct kl_split *s, struct kl_report *r)
{
	size_t i;

	for (i = 0; i < r->nparts; i++)
		kl_answer_free(&r->parts[i].answer);
	free(r->parts);
	r->parts = NULL;
	r->nparts = 0;
	kl_split_free(s);
}

/* Ask that monitor alone.  1: it has decided all; 0: it has not. */
static int check_whole(const struct job *j, struct kl_split *s, struct kl_report *r)
{
	static const struct kl_engine *const mono[] = { &kl_mono_engine, NULL };
	const bool progress = j->lim.progress;
	struct job whole = *j;
	/* See ask(): there a violation is not the last word. */
	const bool delayed = !kl_spec_flushes(j->spec) && !j->opt->classical;
	bool decided = true;
	size_t i;
	int ret;

	whole.engines = mono;
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

/*
 * The counterexample of one partition.  What a monitor found wrong by itself is
 * all that is looked at; it takes a general engine to make that smaller.
 */
static int shrink_part(const struct job *j, const struct kl_split *s, size_t k,
		       struct kl_part_result *pr)
{
	const bool core = pr->answer.ncore;
	const struct kl_engine *e = core || pr->engine == &kl_ends_engine ? &kl_frontier_engine :
				    pr->engine;
	struct kl_part p = { 0 };
	int ret;

	if (core)
		ret = kl_part_build(j->spec, j->h, j->map, pr->answer.core, pr->answer.ncore,
				    s->object[k], false, &p);
	else
		ret = build(j, s, k, e->tso, &p);
	if (!ret)
		ret = kl_shrink(&p, e, e->tso ? j->opt->tso_oracle : &kl_oracle_engine,
				pr->answer.fail_event, pr->answer.from_event, &j->lim, &pr->cex);
	kl_part_free(&p);
	return ret;
}

/*
 * Counterexamples for the first violations.  When one cannot be made small the
 * verdict stands without it, but not against the oracle.
 */
static int shrink_parts(const struct job *j, const struct kl_split *s, struct kl_report *r)
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
		} else if (ret && ret != -EINVAL) {
			return ret;
		}
	}
	return 0;
}

static void add_up(struct kl_report *r)
{
	size_t i;

	for (i = 0; i < r->nparts; i++) {
		r->count[r->parts[i].answer.verdict]++;
		r->sc_violations += r->parts[i].sc_violation &&
				    r->parts[i].answer.verdict == KL_LINEARIZABLE;
	}
	r->verdict = r->count[KL_VIOLATION] ? KL_VIOLATION :
		     r->count[KL_UNKNOWN] ? KL_UNKNOWN : KL_LINEARIZABLE;
	/* Nothing was looked at. */
	if (!r->nparts) {
		r->verdict = KL_UNKNOWN;
		snprintf(r->reason, sizeof(r->reason), "%s", r->h->ngaps ?
			 "no operations; some were lost" : "no operations");
	}
	for (i = 0; i < r->nparts && r->verdict == KL_UNKNOWN; i++) {
		if (r->parts[i].answer.verdict == KL_UNKNOWN) {
			snprintf(r->reason, sizeof(r->reason), "%s", r->parts[i].answer.reason);
			break;
		}
	}
}

int kl_check(const struct kl_spec *spec, const struct kl_history *h,
	     const struct kl_options *opt, struct kl_report **out)
{
	static const struct kl_engine *const classical[] = { KL_CLASSICAL_ENGINES, NULL };
	const uint64_t start = kl_now_ns();
	uint64_t shrink;
	struct job j = { .spec = spec, .h = h, .opt = opt };
	struct kl_report *r = calloc(1, sizeof(*r));
	struct kl_split s = { 0 };
	int *map = NULL, ret;

	if (!r)
		return -ENOMEM;
	ret = match_methods(spec, h, &map);
	if (ret)
		goto out;
	j.map = map;
	j.engines = opt->engines ? opt->engines : classical;
	j.lim = (struct kl_limits){
		.bytes = opt->bytes,
		.deadline_ns = opt->time_ns ? start + opt->time_ns : 0,
		.stop = opt->stop,
		.no_witness = opt->no_witness,
		.cache = opt->cache,
		.progress = opt->progress,
	};
	r->spec = spec;
	r->h = h;
	ret = takes_whole(&j) ? check_whole(&j, &s, r) : 0;
	if (!ret)
		ret = check_split(&j, opt->no_partition, &s, r);
	shrink = kl_now_ns();
	ret = ret < 0 ? ret : 0;
	if (ret == -EINVAL)
		tell_special(spec, h, map);
	if (!ret)
		ret = shrink_parts(&j, &s, r);
	if (ret)
		goto out;
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
	size_t i;

	for (i = 0; r && r->parts && i < r->nparts; i++) {
		kl_answer_free(&r->parts[i].answer);
		kl_counterexample_free(r->parts[i].cex);
	}
	if (r) {
		free(r->parts);
		free(r->ops);
	}
	free(r);
}
