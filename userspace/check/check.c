// SPDX-License-Identifier: GPL-2.0
/*
 * Deciding a whole history: match it with its specification, split it
 * (Horn & Kroening, Algorithm 3), give the partitions to the engines in
 * parallel, shrink what is wrong, and add up.
 */
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "check/check.h"

/* Configurations that an engine may look at before the next has its turn. */
#define FIRST_WORK	100000
#define EACH_WORK	16	/* more for each operation */
#define MORE_WORK	8	/* times as many in the next round */

const char *kl_verdict_name(enum kl_verdict v)
{
	static const char *const names[] = { "LINEARIZABLE", "VIOLATION", "UNKNOWN" };

	return names[v];
}

void kl_answer_free(struct kl_answer *a)
{
	free(a->steps);
	a->steps = NULL;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Which method of the spec each method of the history is. */
static int match_methods(const struct kl_spec *spec, const struct kl_history *h, int **out)
{
	int *map = calloc(h->nmethods + 1, sizeof(*map));
	size_t i;

	if (!map)
		return -ENOMEM;
	for (i = 0; i < h->nmethods; i++) {
		map[i] = kl_spec_find_method(spec, h->methods[i]);
		if (map[i] < 0) {
			kl_err("the history has method '%s', which spec '%s' does not", h->methods[i],
			       kl_spec_name(spec));
			free(map);
			return -EINVAL;
		}
	}
	for (i = 0; i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i];
		const struct kl_method *m = kl_spec_method(spec, map[op->method]);

		if (op->nargs == m->nparams && op->nres == m->nresults)
			continue;
		kl_err("operation %zu of the history: %s has %u arguments and %u results, "
		       "spec '%s' says %u and %u", i, m->name, op->nargs, op->nres,
		       kl_spec_name(spec), m->nparams, m->nresults);
		free(map);
		return -EINVAL;
	}
	*out = map;
	return 0;
}

/* The partitions: operations' indices, those of one partition together. */
struct split {
	uint32_t *ops;
	size_t *at;
	uint32_t *object;	/* index, or KL_ALL_OBJECTS */
	uint64_t *key;
	size_t n;
	bool by_key;
};

static void split_free(struct split *s)
{
	free(s->ops);
	free(s->at);
	free(s->object);
	free(s->key);
}

/* Can each operation's key be told? */
static bool keys_known(const struct kl_spec *spec, const struct kl_history *h, const int *map)
{
	size_t i;

	for (i = 0; i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i];
		int k = kl_spec_method(spec, map[op->method])->part_param;

		if (k < 0 || kl_op_args(h, op)[k].tag != KL_WORD)
			return false;
	}
	return true;
}

/* Number the operations' partitions in order of first appearance. */
static int number_partitions(const struct kl_spec *spec, const struct kl_history *h,
			     const int *map, struct split *s, uint32_t *part)
{
	const bool none = kl_spec_partition(spec) == KL_PART_NONE;
	size_t size = 64, at, i, cap_o = 0, cap_k = 0, old;
	uint32_t *table = calloc(size, sizeof(*table)), *grown;
	int ret = -ENOMEM;

	for (i = 0; table && i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i];
		uint32_t object = none ? KL_ALL_OBJECTS : op->object;
		uint64_t key = 0;

		if (s->by_key)
			key = kl_op_args(h, op)[kl_spec_method(spec, map[op->method])->part_param].v;
		at = kl_mix(object, key) & (size - 1);
		for (; table[at]; at = (at + 1) & (size - 1))
			if (s->object[table[at] - 1] == object && s->key[table[at] - 1] == key)
				break;
		if (table[at]) {
			part[i] = table[at] - 1;
			continue;
		}
		ret = kl_grow(s->object, cap_o, s->n + 1) ?: kl_grow(s->key, cap_k, s->n + 1);
		if (ret)
			goto out;
		s->object[s->n] = object;
		s->key[s->n] = key;
		part[i] = s->n;
		table[at] = ++s->n;
		if (2 * s->n < size)
			continue;
		grown = calloc(size * 2, sizeof(*grown));
		ret = -ENOMEM;
		if (!grown)
			goto out;
		size *= 2;
		for (old = 0; old < s->n; old++) {
			at = kl_mix(s->object[old], s->key[old]) & (size - 1);
			while (grown[at])
				at = (at + 1) & (size - 1);
			grown[at] = old + 1;
		}
		free(table);
		table = grown;
	}
	ret = table ? 0 : -ENOMEM;
out:
	free(table);
	return ret;
}

static int split_history(const struct kl_spec *spec, const struct kl_history *h, const int *map,
			 const struct kl_options *opt, struct split *s)
{
	uint32_t *part = malloc((h->nops + 1) * sizeof(*part));
	size_t i, k;
	int ret = -ENOMEM;

	memset(s, 0, sizeof(*s));
	s->by_key = kl_spec_partition(spec) == KL_PART_PARAM && !opt->no_partition &&
		    keys_known(spec, h, map);
	if (!part)
		goto out;
	ret = number_partitions(spec, h, map, s, part);
	if (ret)
		goto out;
	s->ops = malloc((h->nops + 1) * sizeof(*s->ops));
	s->at = calloc(s->n + 2, sizeof(*s->at));
	ret = -ENOMEM;
	if (!s->ops || !s->at)
		goto out;
	for (i = 0; i < h->nops; i++)
		s->at[part[i] + 2]++;
	for (k = 2; k < s->n + 2; k++)
		s->at[k] += s->at[k - 1];
	for (i = 0; i < h->nops; i++)
		s->ops[s->at[part[i] + 1]++] = i;
	ret = 0;
out:
	free(part);
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

/* Lay out partition @k, for engines that know store buffers or do not. */
static int build(const struct job *j, const struct split *s, size_t k, bool tso,
		 struct kl_part *p)
{
	return kl_part_build(j->spec, j->h, j->map, s->ops + s->at[k], s->at[k + 1] - s->at[k],
			     s->object[k], tso, p);
}

/* A partition as it is checked; laid out for TSO only if it comes to that. */
struct work {
	const struct job *j;
	const struct split *s;
	size_t k;
	struct kl_run *run;
	struct kl_part p, ptso;
	bool have_p, have_ptso;
};

static int lay_out(struct work *w, bool tso, const struct kl_part **out)
{
	struct kl_part *p = tso ? &w->ptso : &w->p;
	bool *have = tso ? &w->have_ptso : &w->have_p;
	int ret = *have ? 0 : build(w->j, w->s, w->k, tso, p);

	if (ret)
		return ret;
	p->run = w->run;
	*have = true;
	*out = p;
	return 0;
}

/*
 * Ask the engines once.  A violation on sequential consistency of a spec that
 * delays its writes is not one yet: the engine that knows store buffers has the
 * last word.
 */
static int ask(struct work *w, struct kl_part_result *r, const struct kl_part **used,
	       const struct kl_limits *lim, bool *more_work)
{
	const struct job *j = w->j;
	const bool delayed = !kl_spec_flushes(j->spec) && !j->opt->classical;
	size_t i;
	int ret;

	*more_work = false;
	for (i = 0; j->engines[i]; i++) {
		const struct kl_engine *e = j->engines[i];
		struct kl_answer a = { .verdict = KL_UNKNOWN };

		/* The first is asked in any case: it may be the only one. */
		if (i && e->tso != r->sc_violation)
			continue;
		ret = lay_out(w, e->tso, used);
		if (ret == -EOVERFLOW) {
			snprintf(r->answer.reason, sizeof(r->answer.reason),
				 "more operations, gaps or overlaps of threads than a partition can have");
			continue;
		}
		if (!ret)
			ret = e->decide(*used, e->tso ? &j->lim : lim, &a);
		if (ret)
			return ret;
		kl_answer_free(&r->answer);
		r->answer = a;
		r->engine = e;
		*more_work |= a.more_work;
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
 * so much work, then the next its turn, then each several times as much.  Work is
 * counted, not timed, so that the same history always has the same answer.
 */
static int decide(struct work *w, struct kl_part_result *r, const struct kl_part **used)
{
	const struct job *j = w->j;
	struct kl_limits lim = j->lim;
	bool more_work;
	int ret;

	r->answer.verdict = KL_UNKNOWN;
	snprintf(r->answer.reason, sizeof(r->answer.reason), "no engine for this spec");
	if (j->engines[0] && j->engines[1])
		lim.work = FIRST_WORK + EACH_WORK * (w->s->at[w->k + 1] - w->s->at[w->k]);
	do {
		ret = ask(w, r, used, &lim, &more_work);
		lim.work *= MORE_WORK;
	} while (!ret && r->answer.verdict == KL_UNKNOWN && more_work && !r->sc_violation);
	return ret;
}

static int check_part(const struct job *j, const struct split *s, size_t k, struct kl_run *run,
		      struct kl_part_result *r)
{
	struct work w = { .j = j, .s = s, .k = k, .run = run };
	const struct kl_part *used = NULL;
	uint32_t i;
	int ret;

	ret = decide(&w, r, &used);
	if (ret || !used)
		goto out;
	r->ngaps = used->ngaps;
	r->ops = malloc(((size_t)used->nitems + 1) * sizeof(*r->ops));
	r->nitems = used->nitems;
	ret = r->ops ? 0 : -ENOMEM;
	for (i = 0; !ret && i < used->nitems; i++)
		r->ops[i] = used->items[i].op;
	r->explained = r->answer.verdict == KL_LINEARIZABLE;
	if (!ret && r->explained && r->ngaps) {
		r->answer.verdict = KL_UNKNOWN;
		snprintf(r->answer.reason, sizeof(r->answer.reason),
			 "%u gap%s where operations were lost; what was recorded has an order",
			 r->ngaps, r->ngaps == 1 ? "" : "s");
	}
out:
	kl_part_free(&w.p);
	kl_part_free(&w.ptso);
	return ret;
}

/*
 * Check all partitions, in parallel; each thread has an interpreter of its own.
 *
 * Return: 0 or -ENOMEM.
 */
static int check_parts(const struct job *j, const struct split *s, struct kl_report *r)
{
	const int threads = j->opt->threads ? (int)j->opt->threads : omp_get_max_threads();
	int err = 0;

#pragma omp parallel num_threads(threads)
	{
		struct kl_run *run = kl_run_new(j->spec);
		size_t k;
		int one = run ? 0 : -ENOMEM;

#pragma omp for schedule(dynamic, 16)
		for (k = 0; k < s->n; k++) {
			struct kl_part_result *pr = &r->parts[k];

			pr->object = s->object[k] == KL_ALL_OBJECTS ? 0 :
				     j->h->objects[s->object[k]];
			pr->key = s->key[k];
			pr->has_key = s->by_key;
			pr->nops = s->at[k + 1] - s->at[k];
			if (!one && !__atomic_load_n(&err, __ATOMIC_RELAXED))
				one = check_part(j, s, k, run, pr);
			if (one)
				__atomic_store_n(&err, one, __ATOMIC_RELAXED);
		}
		kl_run_free(run);
	}
	return err;
}

/*
 * Counterexamples for the first violations.  When one cannot be made small the
 * verdict stands without it, but not against the oracle.
 */
static int shrink_parts(const struct job *j, const struct split *s, struct kl_report *r)
{
	unsigned int left = j->opt->max_shrink;
	size_t k;
	int ret;

	for (k = 0; k < r->nparts && left; k++) {
		struct kl_part_result *pr = &r->parts[k];
		struct kl_part p;

		if (pr->answer.verdict != KL_VIOLATION)
			continue;
		left--;
		ret = build(j, s, k, pr->engine->tso, &p);
		if (ret)
			return ret;
		ret = kl_shrink(&p, pr->engine,
				pr->engine->tso ? j->opt->tso_oracle : &kl_oracle_engine,
				pr->answer.fail_event, &j->lim, &pr->cex);
		kl_part_free(&p);
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
	static const struct kl_engine *const classical[] = {
		&kl_frontier_engine, &kl_wgl_engine, NULL,
	};
	const uint64_t start = now_ns();
	struct job j = { .spec = spec, .h = h, .opt = opt };
	struct kl_report *r = calloc(1, sizeof(*r));
	struct split s = { 0 };
	int *map = NULL, ret;

	if (!r)
		return -ENOMEM;
	ret = match_methods(spec, h, &map);
	if (!ret)
		ret = split_history(spec, h, map, opt, &s);
	if (ret)
		goto out;
	j.map = map;
	j.engines = opt->engines ? opt->engines : classical;
	j.lim = (struct kl_limits){
		.bytes = opt->bytes,
		.deadline_ns = opt->time_ns ? start + opt->time_ns : 0,
		.stop = opt->stop,
	};
	r->spec = spec;
	r->h = h;
	r->nparts = s.n;
	r->parts = calloc(s.n + 1, sizeof(*r->parts));
	if (!r->parts) {
		ret = -ENOMEM;
		goto out;
	}
	ret = check_parts(&j, &s, r);
	if (!ret)
		ret = shrink_parts(&j, &s, r);
	if (ret)
		goto out;
	add_up(r);
	r->seconds = (now_ns() - start) / 1e9;
out:
	free(map);
	split_free(&s);
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
		free(r->parts[i].ops);
	}
	if (r)
		free(r->parts);
	free(r);
}
