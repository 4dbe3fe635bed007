// SPDX-License-Identifier: GPL-2.0
/*
 * Final states of a client, see outcomes.h.  With the specification, the client runs on the
 * machine, and the library is the set of configurations that the history so far allows.  A call
 * waits until some configuration has a result, and takes each possible result (Lemma 8: runs of
 * both sides with the same history make a run of the whole).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tso/explore/explore_internal.h"
#include "tso/explore/outcomes.h"

struct search {
	struct kl_explorer *x;
	struct kl_outcomes *r;
	struct kl_intern seen;
	uint8_t *with;			/* enum kl_outcome_with of each number in @seen */
	size_t cwith;
	enum kl_outcome_with now;
	/* The code, followed by stubs of the methods. */
	uint32_t *code, *line;
};

/* ---- the client's variables --------------------------------------------------- */

static int add_shared(struct kl_outcomes *r, const struct kl_spec *spec, const struct kl_shared *v)
{
	struct kl_outcome_var *to;
	unsigned int i;

	if (v->of_methods && v->of_client) {
		kl_err("%s:%u: '%s' is used by methods and by the client: outcomes then depend on "
		       "the implementation", spec->path, v->f.pos.line, v->f.name);
		return -EINVAL;
	}
	if (!v->of_client || v->f.type >= KL_IT_PTR || v->f.type == KL_IT_LOCK)
		return 0;
	for (i = 0; i < v->len; i++) {
		to = &r->vars[r->nvars++];
		*to = (struct kl_outcome_var){ .thread = -1, .at = v->slot + i };
		if (v->is_array)
			snprintf(to->name, sizeof(to->name), "%s[%u]", v->f.name, i);
		else
			snprintf(to->name, sizeof(to->name), "%s", v->f.name);
	}
	return 0;
}

static int find_vars(struct kl_outcomes *r, const struct kl_spec *spec)
{
	const struct kl_impl *im = spec->impl;
	size_t i;
	int ret = 0;

	r->vars = calloc(im->nslots + im->nclient_vars + 1, sizeof(*r->vars));
	if (!r->vars)
		return -ENOMEM;
	for (i = 0; i < im->nvars && !ret; i++)
		ret = add_shared(r, spec, &im->vars[i]);
	for (i = 0; i < im->nclient_vars; i++) {
		const struct kl_client_var *v = &im->client_vars[i];
		struct kl_outcome_var *to = &r->vars[r->nvars++];

		*to = (struct kl_outcome_var){ .thread = v->t, .at = v->reg };
		if (v->of > 1)
			snprintf(to->name, sizeof(to->name), "%s%u.%s", v->thread, v->number,
				 v->name);
		else
			snprintf(to->name, sizeof(to->name), "%s.%s", v->thread, v->name);
	}
	return ret;
}

/* ---- the program -------------------------------------------------------------------- */

/* Make each method a stub: a return of the results in its registers. */
static int set_stubs(struct search *s)
{
	struct kl_vm_prog *p = &s->x->prog;
	const size_t nmethods = s->x->spec->impl->nmethods, n = p->ncode + nmethods;
	size_t i;

	if (n > KL_VM_CODE_MAX) {
		kl_err("%s: the client's threads are too long: more than %d words of code",
		       s->x->spec->path, KL_VM_CODE_MAX);
		return -EINVAL;
	}
	s->code = calloc(n, sizeof(*s->code));
	s->line = calloc(n, sizeof(*s->line));
	if (!s->code || !s->line)
		return -ENOMEM;
	memcpy(s->code, p->code, p->ncode * sizeof(*s->code));
	memcpy(s->line, p->line, p->ncode * sizeof(*s->line));
	for (i = 0; i < nmethods; i++) {
		s->code[p->ncode + i] = kl_insn(KL_I_RETURN, s->x->methods[i].nresults, 0, 0);
		s->x->methods[i].start = p->ncode + i;
	}
	p->code = s->code;
	p->line = s->line;
	p->ncode = n;
	if (p->nregs[1] < KL_MAX_ARGS)
		p->nregs[1] = KL_MAX_ARGS;
	return 0;
}

/* The threads' variables are outcomes, so they are live at the end. */
static int set_live(struct search *s)
{
	struct kl_explorer *x = s->x;
	uint32_t *scratch = calloc(x->prog.ncode, sizeof(*scratch));
	uint64_t at_end = 0;
	size_t i;

	free(x->live);
	x->live = calloc(x->prog.ncode, sizeof(*x->live));
	if (!x->live || !scratch) {
		free(scratch);
		return -ENOMEM;
	}
	for (i = 0; i < s->r->nvars; i++)
		if (s->r->vars[i].thread >= 0)
			at_end |= 1ULL << s->r->vars[i].at;
	kl_vm_live(&x->prog, x->spec->impl->nmethods, x->live, at_end, scratch);
	x->prog.live = x->live;
	free(scratch);
	return 0;
}

/* ---- the search --------------------------------------------------------------------- */

static int add_outcome(struct search *s)
{
	const struct kl_outcomes *r = s->r;
	const size_t old = s->cwith;
	uint64_t vals[KL_IMPL_SLOTS + KL_IMPL_THREADS * KL_VM_REGS];
	int64_t id;
	size_t i;
	int ret;

	for (i = 0; i < r->nvars; i++)
		vals[i] = r->vars[i].thread < 0 ? s->x->before.mem[r->vars[i].at] :
			  s->x->before.thread[r->vars[i].thread].reg[0][r->vars[i].at];
	id = kl_intern(&s->seen, vals, r->nvars);
	if (id < 0)
		return id;
	ret = kl_grow(s->with, s->cwith, id + 1);
	if (ret)
		return ret;
	if (s->cwith > old)
		memset(s->with + old, 0, (s->cwith - old) * sizeof(*s->with));
	s->with[id] |= s->now;
	return 0;
}

/*
 * Add the state in x->vm.  If the client runs with the specification, add it only if the
 * specification allows its history.  Return: 0 or a negative errno.
 */
static int reached(struct search *s, uint32_t from)
{
	struct kl_explorer *x = s->x;
	struct kl_vm_names names;
	int64_t set = x->set;
	unsigned int i;
	size_t len;
	int ret;

	for (i = 0; i < x->vm.nev && x->abs; i++) {
		set = kl_abstract_step(x->abs, set, &x->vm.ev[i]);
		if (set <= 0)
			return set;
	}
	x->vm.nev = 0;
	len = kl_vm_pack(&x->vm, x->packed, &names);
	ret = kl_visited_add(&x->visited, kl_visited_hash(&x->visited, x->packed, len), x->packed,
			     len, set, from);
	return ret < 0 ? ret : 0;
}

static int step(struct search *s, uint32_t from, unsigned int t)
{
	struct kl_explorer *x = s->x;

	switch (kl_vm_step(&x->vm, t)) {
	case KL_VM_OK:
		return reached(s, from);
	case KL_VM_FAULT:
		if (x->vm.limit) {
			snprintf(s->r->limit, sizeof(s->r->limit), "thread %u: %s", t, x->vm.error);
			return -E2BIG;
		}
		kl_err("%s: the client fails with the %s: %s", x->spec->path,
		       x->abs ? "specification" : "implementation", x->vm.error);
		return -EINVAL;
	default:
		return 0;
	}
}

static int expand_thread(struct search *s, uint32_t from, unsigned int t)
{
	struct kl_explorer *x = s->x;
	const uint32_t set = x->set;
	uint64_t val[KL_MAX_ARGS];
	size_t at = 0;
	int n, ret = 0;

	x->vm.nchoice = 0;
	if (x->abs && x->before.thread[t].method >= 0) {
		while (!ret && (n = kl_abstract_result(x->abs, set, t, &at, val)) >= 0) {
			kl_vm_copy(&x->vm, &x->before);
			x->set = set;
			memcpy(x->vm.thread[t].reg[1], val, n * sizeof(*val));
			ret = step(s, from, t);
		}
	} else {
		do {
			kl_vm_copy(&x->vm, &x->before);
			x->set = set;
			ret = step(s, from, t);
		} while (!ret && kl_vm_next_choice(&x->vm));
	}
	kl_vm_copy(&x->vm, &x->before);
	x->set = set;
	return ret || !kl_vm_flush(&x->vm, t) ? ret : reached(s, from);
}

static int expand(struct search *s, uint32_t at)
{
	struct kl_explorer *x = s->x;
	unsigned int t, open = 0;
	int ret = 0;

	x->set = kl_visited_head(&x->visited, at)->tag;
	kl_vm_unpack(&x->before, kl_visited_state(&x->visited, at));
	if (kl_growth_samples(&x->growth))
		kl_ex_growth_note(x, &x->before);
	for (t = 0; t < x->prog.nthreads && !ret; t++) {
		const uint32_t set = x->set;

		open += !x->before.thread[t].done || x->before.thread[t].nbuf;
		ret = expand_thread(s, at, t);
		x->set = set;
	}
	x->expanded++;
	if (x->o.progress && !(x->expanded & 1023)) {
		x->o.progress->states = x->visited.n;
		x->o.progress->expanded = x->expanded;
	}
	if (!(x->expanded & 15) && x->abs &&
	    kl_visited_bytes(&x->visited) + kl_abstract_bytes(x->abs) > x->o.memory)
		return -ENOSPC;
	if (!ret && !(x->expanded & 15) && kl_ex_stops(x))
		return -ETIME;
	return ret || open ? ret : add_outcome(s);
}

static int search(struct search *s)
{
	struct kl_explorer *x = s->x;
	uint32_t at, level = 0;
	int ret;

	ret = kl_visited_init(&x->visited, x->o.memory);
	if (!ret)
		ret = kl_ex_growth_init(x);
	if (!ret && x->abs)
		ret = kl_ex_first(x);
	else if (!ret)
		ret = kl_ex_first_state(x);
	if (!ret)
		ret = reached(s, KL_NO_STATE);
	for (at = 0; !ret && kl_visited_has(&x->visited, at);
	     at = kl_visited_next(&x->visited, at)) {
		if (at >= level) {
			level = x->visited.used / 4;
			kl_growth_level(&x->growth);
		}
		ret = expand(s, at);
	}
	s->r->states += x->visited.n;
	if (ret == -ENOSPC || ret == -ETIME)
		snprintf(s->r->grown, sizeof(s->r->grown), "%s", kl_explore_grown(x));
	if (ret == -ETIME)
		snprintf(s->r->limit, sizeof(s->r->limit), "%s", x->message);
	else if (ret == -E2BIG && !s->r->limit[0])
		snprintf(s->r->limit, sizeof(s->r->limit), "%s", x->abs && *kl_abstract_error(x->abs) ?
			 kl_abstract_error(x->abs) : "a state is too large");
	return ret;
}

/* Find the final states of the client, with the implementation or with the specification. */
static int run(struct search *s, struct kl_spec *spec, const struct kl_explore_options *o,
	       enum kl_outcome_with with)
{
	struct kl_explorer *x = calloc(1, sizeof(*x));
	int ret;

	if (!x)
		return -ENOMEM;
	s->x = x;
	s->now = with;
	x->spec = spec;
	x->o = *o;
	x->o.sc |= with == KL_WITH_SC;
	/* Outcomes distinguish threads.  With the specification, each marker leaves by itself. */
	x->o.no_symmetry = x->o.no_facts = true;
	x->o.no_merge = with == KL_WITH_SPEC;
	ret = kl_ex_program(x);
	if (!ret && !s->r->vars)
		ret = find_vars(s->r, spec);
	if (!ret && with == KL_WITH_SPEC)
		ret = set_stubs(s);
	if (!ret)
		ret = set_live(s);
	if (!ret && with == KL_WITH_SPEC)
		ret = kl_abstract_new(spec, x->prog.nthreads, x->prog.sc, &x->abs);
	if (!ret)
		ret = search(s);
	kl_explorer_free(x);
	free(s->code);
	free(s->line);
	s->code = s->line = NULL;
	return ret;
}

/* ---- the result ----------------------------------------------------------------------- */

static int by_values(const void *a, const void *b, void *arg)
{
	const struct search *s = arg;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const uint64_t *v, *w;
	size_t i, n;

	v = kl_intern_get(&s->seen, x, &n);
	w = kl_intern_get(&s->seen, y, &n);
	for (i = 0; i < n; i++)
		if (v[i] != w[i])
			return v[i] < w[i] ? -1 : 1;
	return 0;
}

static int collect(struct search *s)
{
	struct kl_outcomes *r = s->r;
	uint32_t *order;
	size_t i, n;

	r->n = s->seen.n;
	r->vals = calloc(r->n * r->nvars + 1, sizeof(*r->vals));
	r->with = calloc(r->n + 1, sizeof(*r->with));
	order = calloc(r->n + 1, sizeof(*order));
	if (!r->vals || !r->with || !order) {
		free(order);
		return -ENOMEM;
	}
	for (i = 0; i < r->n; i++)
		order[i] = i;
	qsort_r(order, r->n, sizeof(*order), by_values, s);
	for (i = 0; i < r->n; i++) {
		if (r->nvars)
			memcpy(r->vals + i * r->nvars, kl_intern_get(&s->seen, order[i], &n),
			       r->nvars * sizeof(*r->vals));
		r->with[i] = s->with[order[i]];
	}
	free(order);
	return 0;
}

int kl_explore_outcomes(struct kl_spec *spec, const struct kl_explore_options *o,
			struct kl_outcomes **out)
{
	struct search s = { .r = calloc(1, sizeof(*s.r)) };
	int ret = 0;

	*out = s.r;
	if (!s.r)
		return -ENOMEM;
	if (!spec->impl || !spec->impl->nthreads) {
		kl_err("%s: --outcomes needs threads 'thread NAME { }', but the file has "
		       "none", spec->path);
		return -EINVAL;
	}
	ret = kl_ex_check(spec, o);
	if (!ret)
		ret = run(&s, spec, o, KL_WITH_IMPL);
	if (!ret)
		ret = run(&s, spec, o, KL_WITH_SPEC);
	if (!ret && !o->sc)
		ret = run(&s, spec, o, KL_WITH_SC);
	if (!ret)
		ret = collect(&s);
	kl_intern_free(&s.seen);
	free(s.with);
	return ret;
}

void kl_outcomes_free(struct kl_outcomes *r)
{
	if (!r)
		return;
	free(r->vars);
	free(r->vals);
	free(r->with);
	free(r);
}

size_t kl_outcomes_wrong(const struct kl_outcomes *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		n += (r->with[i] & (KL_WITH_IMPL | KL_WITH_SPEC)) == KL_WITH_IMPL;
	return n;
}
