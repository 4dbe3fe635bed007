// SPDX-License-Identifier: GPL-2.0
/*
 * The interpreter's entry points.  They find all outcomes of an operation: they execute its paths
 * one by one, and enumerate the choices like an odometer.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/interp/run.h"

#define PRESETS_MAX	4096
/* Work is counted in instructions. */
#define APPLY_WORK	16		/* fixed work of a call */
#define OVER_WORK	(1u << 16)	/* work between two calls of kl_run.over() */
#define VALUE_WORK	2		/* work for a value or an unknown of the next state */
#define SMALL_STATE	64		/* values of a state that cost no work of their own */

/* Return: the number of values that count as work when a state of @values values is copied. */
static uint64_t beyond_small(uint64_t values)
{
	return values > SMALL_STATE ? values - SMALL_STATE : 0;
}

struct kl_run *kl_run_new(const struct kl_spec *s)
{
	struct kl_run *r = calloc(1, sizeof(*r));
	size_t n = s->nslots + 1;

	if (!r)
		return NULL;
	r->s = s;
	if (kl_dom_reset(r))
		goto err;
	r->slots = calloc(n, sizeof(*r->slots));
	r->wrote = calloc(n, sizeof(*r->wrote));
	r->mark = calloc(n, sizeof(*r->mark));
	r->conts = calloc(s->nconts + 1, sizeof(*r->conts));
	r->cont_at = calloc(s->nconts + 1, sizeof(*r->cont_at));
	r->out_at = calloc(s->nconts + 1, sizeof(*r->out_at));
	if (r->slots && r->wrote && r->mark && r->conts && r->cont_at && r->out_at)
		return r;
err:
	kl_run_free(r);
	return NULL;
}

void kl_run_free(struct kl_run *r)
{
	unsigned int i;

	if (!r)
		return;
	for (i = 0; r->conts && i < r->s->nconts; i++)
		free(r->conts[i].e);
	free(r->slots);
	free(r->wrote);
	free(r->mark);
	free(r->conts);
	free(r->cont_at);
	free(r->out_at);
	free(r->presets);
	free(r->sym);
	free(r->def);
	free(r->dom);
	free(r->ranges);
	free(r->names);
	free(r->choice);
	free(r->out);
	free(r->rename);
	free(r->bound_out);
	free(r->seen);
	free(r->table);
	free(r);
}

void kl_run_set_raw(struct kl_run *r, bool raw)
{
	r->raw = raw;
	r->raw_first = 0;
}

void kl_run_set_fresh(struct kl_run *r, uint64_t first)
{
	r->raw_first = first;
}

void kl_run_set_steps(struct kl_run *r, bool steps)
{
	r->stepwise = steps;
}

void kl_run_set_slow(struct kl_run *r, bool slow)
{
	r->slow = slow;
}

void kl_run_set_exact(struct kl_run *r, bool exact)
{
	r->exact = exact;
}

const char *kl_run_error(const struct kl_run *r)
{
	return r->error;
}

void kl_run_set_bound(struct kl_run *r, uint64_t work, bool (*over)(void *ctx), void *ctx)
{
	r->next_most = work;
	r->next_over = over;
	r->over_ctx = ctx;
}

uint64_t kl_run_work(const struct kl_run *r)
{
	return r->work;
}

uint64_t kl_run_total(const struct kl_run *r)
{
	return r->total + r->work;
}

int kl_run_fail(struct kl_run *r, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->error, sizeof(r->error), fmt, ap);
	va_end(ap);
	return err;
}

int kl_run_fault(struct kl_run *r, const char *fmt, ...)
{
	char msg[100];
	va_list ap;

	/* Real states have no errors, so the path guessed a wrong state. */
	if (r->guessed || r->preset)
		return KL_DROP;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return kl_run_fail(r, -E2BIG, "'%s': %s", r->m->pub.name, msg);
}

int kl_run_choose(struct kl_run *r, uint64_t n)
{
	int ret;

	if (n == 1)
		return 0;
	if (r->at_choice < r->nchoice)
		return r->choice[r->at_choice++].taken;
	if (n > KL_PATHS_MAX)
		return kl_run_fail(r, -E2BIG, "more than %u choices", KL_PATHS_MAX);
	ret = kl_grow(r->choice, r->cchoice, r->nchoice + 1);
	if (ret)
		return ret;
	r->choice[r->nchoice++] = (struct kl_choice){ .n = n };
	r->at_choice++;
	return 0;
}

int kl_run_guess(struct kl_run *r, uint64_t n)
{
	r->guessed = true;
	return kl_run_choose(r, n);
}

/* Advance to the next vector of choices.  Return: false if there is none. */
static bool next_choice(struct kl_run *r)
{
	while (r->nchoice) {
		struct kl_choice *c = &r->choice[r->nchoice - 1];

		if (++c->taken < c->n)
			return true;
		r->nchoice--;
	}
	return false;
}

/* ---- before the paths ---- */

static int bad_state(struct kl_run *r)
{
	return kl_run_fail(r, -EINVAL, "not a state of '%s'", r->s->name);
}

static void count_unknown(struct kl_run *r, struct kl_val v)
{
	if (v.tag == KL_ANY && v.v >= r->nstate)
		r->nstate = v.v + 1;
}

static void count_all(struct kl_run *r, const struct kl_val *v, size_t n, size_t step)
{
	uint32_t tags = 0;
	size_t i;

	/* Fast case: all are words. */
	for (i = 0; i < n; i++)
		tags |= v[i].tag;
	for (i = 0; tags && i < n; i += step)
		count_unknown(r, v[i]);
}

static int scan_containers(struct kl_run *r)
{
	size_t at = r->s->nslots, i, n;

	for (i = 0; i < r->s->nconts; i++) {
		enum kl_cont_kind kind = r->s->conts[i]->cont;
		unsigned int stride = kl_cont_stride(kind);

		if (at >= r->in_len || r->in[at].v > (r->in_len - at - 1) / stride)
			return bad_state(r);
		r->cont_at[i] = at;
		r->known &= r->in[at].tag == KL_WORD;
		n = r->in[at].v * stride;
		count_all(r, &r->in[at + 1], n, kind == KL_C_BAG ? 2 : 1);
		at += n + 1;
	}
	return kl_notes_scan(r, at) ? bad_state(r) : 0;
}

static int scan_state(struct kl_run *r)
{
	const size_t n = r->s->nslots;
	int ret = 0;

	r->nstate = 0;
	r->notes = n;
	r->known = true;
	if (r->in_len < n)
		return bad_state(r);
	count_all(r, r->in, n, 1);
	if (r->s->nconts)
		ret = scan_containers(r);
	else if (r->in_len != n && kl_notes_scan(r, n))
		ret = bad_state(r);
	if (!ret && r->raw && r->raw_first > r->nstate)
		r->nstate = r->raw_first;
	if (!ret && r->nstate > KL_SYMS_MAX)
		ret = bad_state(r);
	return ret;
}

static int scan_args(struct kl_run *r)
{
	const struct kl_method *m = &r->m->pub;
	unsigned int i;

	r->nbase = r->nstate;
	for (i = 0; i < m->nparams && !r->before; i++) {
		if (r->args[i].tag == KL_ANY)
			r->nbase++;
		else if (r->args[i].tag != KL_WORD && !r->s->specials)
			return kl_run_fail(r, -EINVAL,
					   "argument '%s' of '%s' is a special value (empty, full, "
					   "absent), expected a %s",
					   m->params[i].name, m->name,
					   m->params[i].type == KL_T_BOOL ? "bool" : "word");
	}
	return 0;
}

static int first_preset(struct kl_run *r)
{
	uint64_t i;
	int ret;

	r->npresets = 1;
	r->preset = 0;
	if (!r->nbase)
		return 0;
	ret = kl_grow(r->presets, r->cpresets, r->nbase);
	if (!ret)
		ret = kl_sym_reserve(r, r->nbase);
	for (i = 0; i < r->nbase && !ret; i++)
		r->presets[i] = (struct kl_val){ .v = i, .tag = KL_ANY };
	return ret;
}

/* ---- one path ---- */

static void start_locals(struct kl_run *r)
{
	const struct kl_method *m = &r->m->pub;
	uint64_t sym = r->nstate;
	unsigned int i;

	/* Locals are part of a step's outcome, so they must not keep values of other paths. */
	if (r->stepwise)
		memset(r->reg, 0, r->m->nlocals * sizeof(*r->reg));
	if (r->before) {
		memcpy(r->reg, r->before->locals, r->before->nlocals * sizeof(*r->reg));
		return;
	}
	for (i = 0; i < m->nparams; i++) {
		r->reg[i] = r->args[i];
		if (r->args[i].tag == KL_ANY)
			r->reg[i].v = sym++;
		else if (r->m->has_bool && m->params[i].type == KL_T_BOOL)
			r->reg[i].v = !!r->args[i].v;
	}
}

/* Return: 0, KL_DROP if the preset contradicts the notes of the state, or a negative errno. */
static int start_path(struct kl_run *r)
{
	uint64_t k;
	unsigned int i;

	if (!++r->path) {
		memset(r->mark, 0, (r->s->nslots + 1) * sizeof(*r->mark));
		r->path = 1;
	}
	for (i = 0; i < r->s->nslots; i++)
		r->slots[i] = r->in[i];
	for (i = 0; i < r->s->nconts; i++)
		r->conts[i].loaded = false;
	for (i = 0; i < r->s->nconts && !r->known; i++)
		r->conts[i].rest = r->conts[i].floor = kl_special(KL_REST);
	r->nsym = r->nbase;
	for (k = 0; k < r->nbase; k++) {
		kl_sym_reset(r, k);
		r->sym[k] = r->presets[r->preset * r->nbase + k];
	}
	start_locals(r);
	r->nrelations = r->nopaque = r->nxor = 0;
	r->at_choice = 0;
	r->nwrote = 0;
	r->barrier = false;
	r->through = false;
	r->entered = false;
	r->next_at = 0;
	r->cont_changed = false;
	r->bound = r->preset;
	r->guessed = false;
	r->widened = false;
	r->lost = false;
	r->steps = 0;
	r->nranges = 1;
	return r->notes < r->in_len ? kl_notes_load(r) : 0;
}

/* Require that the results equal the observed ones. */
static int match_results(struct kl_run *r)
{
	const struct kl_method *m = &r->m->pub;
	unsigned int i;
	int ret;

	for (i = 0; r->res && i < m->nresults; i++) {
		struct kl_val v = r->res[i];

		if (v.tag == KL_ANY)
			continue;
		if (r->m->has_bool && m->results[i].type == KL_T_BOOL && v.tag == KL_WORD)
			v.v = !!v.v;
		ret = kl_sym_unify(r, r->results[i], v);
		if (ret)
			return ret;
	}
	for (i = 0; i < m->nresults; i++)
		r->results[i] = kl_sym_get(r, r->results[i]);
	return 0;
}

/*
 * A path may drop a constraint between unknowns, and learn the value of one of them later.  Then
 * the outcome is not reported.  Instead a new preset is added, and all paths are executed again
 * with this value known from the start, so that no constraint is dropped.
 */
static int add_preset(struct kl_run *r, bool *again)
{
	const size_t n = r->nbase;
	struct kl_val *preset;
	size_t i;
	int ret;

	*again = false;
	if (!r->widened || !n ||
	    !memcmp(r->sym, r->presets + r->preset * n, n * sizeof(*r->sym)))
		return 0;
	*again = true;
	ret = kl_grow(r->presets, r->cpresets, (r->npresets + 1) * n);
	if (ret)
		return ret;
	preset = r->presets + r->npresets * n;
	for (i = 0; i < n; i++)
		preset[i] = kl_sym_follow(r, (struct kl_val){ .v = i, .tag = KL_ANY });
	for (i = 0; i < r->npresets; i++)
		if (!memcmp(r->presets + i * n, preset, n * sizeof(*preset)))
			return 0;
	if (r->npresets == PRESETS_MAX)
		return kl_run_fail(r, -E2BIG, "too many cases of unknown values");
	r->npresets++;
	return 0;
}

static void sort_wrote(struct kl_run *r)
{
	size_t i, j;

	for (i = 1; i < r->nwrote; i++) {
		uint32_t slot = r->wrote[i];

		for (j = i; j && r->wrote[j - 1] > slot; j--)
			r->wrote[j] = r->wrote[j - 1];
		r->wrote[j] = slot;
	}
}

/* Report the outcome of the path if it is new; @stop is set to the result of @fn. */
static int report_outcome(struct kl_run *r, kl_outcome_fn fn, void *ctx, int *stop)
{
	struct kl_outcome o;
	bool only = !r->nchoice && r->npresets == 1, new = true;
	uint64_t i;
	int ret;

	ret = kl_run_canon(r);
	if (ret)
		return ret;
	r->copied += VALUE_WORK * beyond_small(r->nout + r->nsym);
	r->work += VALUE_WORK * beyond_small(r->nout + r->nsym);
	sort_wrote(r);
	o = (struct kl_outcome){
		.state = r->next, .len = r->nout, .notes = r->notes_out, .results = r->results,
		.barrier = r->barrier, .through = r->through,
		.wrote = r->wrote, .nwrote = r->nwrote,
		.changed = r->nwrote || r->cont_changed, .at = r->next_at,
		.locals = r->reg, .nlocals = r->next_at ? r->m->nlocals : 0,
	};
	if (r->raw && r->nstate) {
		ret = kl_grow(r->bound_out, r->cbound_out, r->nstate);
		if (ret)
			return ret;
		for (i = 0; i < r->nstate; i++)
			r->bound_out[i] = kl_sym_follow(r,
							(struct kl_val){ .v = i, .tag = KL_ANY });
		o.bound = r->bound_out;
		o.nbound = r->nstate;
	}
	if (!only)
		ret = kl_outcome_new(r, &o, &new);
	if (!ret && new)
		*stop = fn(ctx, &o);
	return ret;
}

/* Charge a path for its instructions, its unknowns and relations, and the copy of the state. */
static void charge_path(struct kl_run *r)
{
	r->insns += r->steps + r->nsym + (uint64_t)r->nrelations * r->nrelations;
	r->work = r->insns + r->copied + (uint64_t)r->npaths * beyond_small(r->s->nslots);
}

/* Return: true if the bound on work is exceeded, or over() ends the call. */
static bool over_bound(struct kl_run *r)
{
	if (r->most && r->work > r->most)
		return true;
	if (!r->over || r->work - r->asked < OVER_WORK)
		return false;
	r->asked = r->work;
	return r->over(r->over_ctx);
}

/* Return: 0, KL_DROP if the path has no outcome, or a negative errno. */
static int do_path(struct kl_run *r, kl_outcome_fn fn, void *ctx, int *stop)
{
	bool again = false;
	int ret;

	if (++r->npaths > KL_PATHS_MAX)
		return kl_run_fail(r, -E2BIG, "'%s' has more than %u paths", r->m->pub.name,
				   KL_PATHS_MAX);
	ret = start_path(r) ?: kl_run_exec(r);
	charge_path(r);
	if (r->insns > KL_WORK_MAX)
		return kl_run_fail(r, -E2BIG, "'%s' takes too many steps", r->m->pub.name);
	if (over_bound(r))
		return -EDQUOT;
	if (!ret && r->next_at)
		memset(r->results, 0, sizeof(r->results));
	else if (!ret)
		ret = match_results(r);
	if (!ret)
		ret = add_preset(r, &again);
	if (ret || again)
		return ret;
	return report_outcome(r, fn, ctx, stop);
}

static int apply(struct kl_run *r, const struct kl_val *state, size_t len, unsigned int method,
		 kl_outcome_fn fn, void *ctx)
{
	int ret, stop = 0;

	r->m = &r->s->methods[method];
	r->in = state;
	r->in_len = len;
	r->total += r->work + APPLY_WORK;
	r->work = r->insns = r->copied = r->asked = 0;
	r->most = r->next_most;
	r->over = r->next_over;
	r->next_most = 0;
	r->next_over = NULL;
	if (r->m->fast_path && !r->slow && !r->raw && !r->stepwise && !r->before &&
	    kl_run_fast_path(r, fn, ctx, &ret))
		return ret;
	r->npaths = 0;
	ret = scan_state(r);
	if (!ret)
		ret = scan_args(r);
	if (!ret)
		ret = first_preset(r);
	if (ret)
		return ret;
	kl_outcome_reset(r);
	for (; r->preset < r->npresets; r->preset++) {
		r->nchoice = 0;
		do {
			ret = do_path(r, fn, ctx, &stop);
			if (ret < 0)
				return ret;
			if (stop)
				return stop;
		} while (next_choice(r));
	}
	return 0;
}

int kl_run_apply(struct kl_run *r, const struct kl_val *state, size_t len, unsigned int method,
		 const struct kl_val *args, const struct kl_val *res, kl_outcome_fn fn, void *ctx)
{
	r->args = args;
	r->res = res;
	r->before = NULL;
	return apply(r, state, len, method, fn, ctx);
}

int kl_run_resume(struct kl_run *r, const struct kl_val *state, size_t len, unsigned int method,
		  const struct kl_outcome *before, kl_outcome_fn fn, void *ctx)
{
	r->res = NULL;
	r->before = before;
	return apply(r, state, len, method, fn, ctx);
}
