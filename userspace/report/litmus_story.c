// SPDX-License-Identifier: GPL-2.0
/* The story of a litmus test's outcome, see litmus_story.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "report/json_value.h"
#include "report/litmus_result.h"
#include "report/litmus_story.h"
#include "report/run_columns.h"
#include "report/words.h"

#define SEEN_MAX	4	/* loads in a headline */

static const char *const kinds[] = {
	[KL_LIT_LOAD] = "load", [KL_LIT_STORE] = "store", [KL_LIT_LOCKED] = "locked",
	[KL_LIT_FENCE] = "fence", [KL_LIT_FLUSH] = "flush",
};

static const char *const edges[] = {
	[KL_LIT_PO] = "po", [KL_LIT_RF] = "rf", [KL_LIT_CO] = "co", [KL_LIT_FR] = "fr",
};

typedef void (*put_fn)(FILE *f, const struct kl_lit_story *s, size_t i);

/* Return: what @put prints, to be freed by free(), or NULL when out of memory. */
static char *text_of(put_fn put, const struct kl_lit_story *s, size_t i)
{
	struct kl_memstream m;
	char *text = NULL;

	if (kl_memstream_open(&m))
		return NULL;
	put(m.f, s, i);
	kl_memstream_close(&m, &text, NULL);
	return text;
}

/* Return: what @put prints as JSON. */
static json_t *text_json(put_fn put, const struct kl_lit_story *s, size_t i)
{
	char *text = text_of(put, s, i);
	json_t *j = text ? kl_json_text(text) : NULL;

	if (!text)
		kl_json_no_memory();
	free(text);
	return j;
}

/* ---- steps --------------------------------------------------------------------------------- */

static void put_name(FILE *f, const struct kl_lit_story *s, size_t i)
{
	fputs(s->l->locs[s->steps[i].loc].name, f);
}

static void put_stored(FILE *f, const struct kl_lit_story *s, size_t i)
{
	char buf[32];

	fputs(kl_litmus_word(s->l, s->steps[i].loc, s->steps[i].stored, buf), f);
}

static void put_loaded(FILE *f, const struct kl_lit_story *s, size_t i)
{
	char buf[32];

	fputs(kl_litmus_word(s->l, s->steps[i].loc, s->steps[i].loaded, buf), f);
}

/* Print the accesses of a step: "x = 1", "x is 0", or "x is 0, then = 1". */
static void put_access(FILE *f, const struct kl_lit_story *s, size_t i)
{
	const struct kl_lit_step *step = &s->steps[i];

	if (step->kind == KL_LIT_FENCE) {
		fputs("fence", f);
		return;
	}
	put_name(f, s, i);
	if (step->kind == KL_LIT_LOAD || step->kind == KL_LIT_LOCKED) {
		fputs(" is ", f);
		put_loaded(f, s, i);
	}
	if (step->kind == KL_LIT_LOCKED && !step->stores)
		return;
	if (step->kind != KL_LIT_LOAD) {
		fputs(step->kind == KL_LIT_LOCKED ? ", then = " : " = ", f);
		put_stored(f, s, i);
	}
}

static void put_step(FILE *f, const struct kl_lit_story *s, size_t i)
{
	const struct kl_lit_step *step = &s->steps[i];
	const char *insn;
	const size_t len = kl_lit_instruction(s->l, step->cell, &insn);

	put_access(f, s, i);
	if (step->kind == KL_LIT_FLUSH) {
		fprintf(f, " of step %zu reaches memory", step->from);
		return;
	}
	if (step->kind == KL_LIT_STORE && step->left != i)
		fputs(" to the buffer", f);
	else if (step->own)
		fputs(" (own buffer)", f);
	else if (step->kind == KL_LIT_LOCKED)
		fputs(" (locked)", f);
	fprintf(f, " [%.*s]", (int)len, insn);
}

/* ---- sentences ----------------------------------------------------------------------------- */

static void put_outcome(FILE *f, const struct kl_lit_story *s)
{
	char buf[32];
	size_t i;

	for (i = 0; i < s->l->nitems; i++) {
		fputs(i ? "; " : "", f);
		kl_litmus_print_item(f, s->l, i);
		fprintf(f, "=%s", kl_litmus_value(s->l, i, s->outcome[i], buf));
	}
}

/* Print "P0's 'MOV EAX,[y]' (line 8)". */
static void put_place(FILE *f, const struct kl_lit_story *s, const struct kl_lit_place *p)
{
	const char *insn;
	const size_t len = kl_lit_instruction(s->l, p->at, &insn);

	fprintf(f, "P%u's '%.*s' (line %u)", p->thread, (int)len, insn,
		kl_lit_line(s->l, p->at));
}

/* Return: true if the @i-th edge of the cycle is a store that waited while its thread loaded. */
static bool has_waited(const struct kl_lit_story *s, size_t i)
{
	const struct kl_lit_link *k = &s->cycle[i];

	return k->edge == KL_LIT_PO && kl_lit_waited(s, k->from, k->to);
}

/* Print "P0 loaded y while its store x = 1 was still in its buffer". */
static void put_waited(FILE *f, const struct kl_lit_story *s, size_t i)
{
	const struct kl_lit_link *k = &s->cycle[i];

	fprintf(f, "P%u loaded ", s->steps[k->to].thread);
	put_name(f, s, k->to);
	fputs(" while its store ", f);
	put_access(f, s, k->from);
	fputs(" was still in its buffer", f);
}

/* The same with the steps. */
static void put_cast(FILE *f, const struct kl_lit_story *s, size_t i)
{
	const struct kl_lit_link *k = &s->cycle[i];

	fprintf(f, "P%u's store ", s->steps[k->from].thread);
	put_access(f, s, k->from);
	fprintf(f, " at step %zu was still in P%u's buffer when P%u loaded ", k->from,
		s->steps[k->from].thread, s->steps[k->from].thread);
	put_name(f, s, k->to);
	fprintf(f, " at step %zu; it left at step %zu", k->to, s->steps[k->from].left);
}

/* Print "P0's store x = 1". */
static void put_store(FILE *f, const struct kl_lit_story *s, size_t i)
{
	fprintf(f, "P%u's store ", s->steps[i].thread);
	put_name(f, s, i);
	fputs(" = ", f);
	put_stored(f, s, i);
}

/* Return: the first store of another thread to the place of step @i after it, or 0. */
static size_t store_after(const struct kl_lit_story *s, size_t i)
{
	size_t k;

	for (k = i + 1; k < s->nsteps; k++)
		if ((s->steps[k].kind == KL_LIT_STORE || s->steps[k].stores) &&
		    s->steps[k].loc == s->steps[i].loc &&
		    s->steps[k].thread != s->steps[i].thread)
			return k;
	return 0;
}

/*
 * In a run without store buffers, print what a load tells about the order of the threads.
 * Return: false if it tells nothing.
 */
static bool put_seen(FILE *f, const struct kl_lit_story *s, size_t i, const char *before)
{
	const struct kl_lit_step *step = &s->steps[i];
	const size_t next = store_after(s, i), last = kl_lit_stores_after(s, i);
	const bool other = step->from && s->steps[step->from].thread != step->thread;
	const struct kl_lit_place p = { .at = step->cell, .thread = step->thread };

	if ((step->kind != KL_LIT_LOAD && step->kind != KL_LIT_LOCKED) || !(other || next))
		return false;
	fputs(before, f);
	if (next && next < last) {
		put_store(f, s, next);
		fputs(" came between the load and the store of ", f);
		put_place(f, s, &p);
		return true;
	}
	fprintf(f, "P%u loaded ", step->thread);
	put_name(f, s, i);
	fputs(other ? " after " : " before ", f);
	put_store(f, s, other ? step->from : next);
	return true;
}

/* Print why the outcome is reached without store buffers. */
static void put_order(FILE *f, const struct kl_lit_story *s)
{
	size_t i, n = 0;

	fputs("without any store in a buffer", f);
	for (i = 1; i < s->nsteps && n < SEEN_MAX; i++)
		n += put_seen(f, s, i, n ? ", and " : ": ");
}

static void put_reached(FILE *f, const struct kl_lit_story *s)
{
	const bool forbidden = !s->asked && s->l->quantifier != KL_LIT_EXISTS;
	bool any = false;
	size_t i;

	fprintf(f, "%s %s end with ", s->l->name, forbidden ? "must not" : "can");
	put_outcome(f, s);
	fputs(forbidden ? ", but can, " : ", ", f);
	if (s->sc) {
		put_order(f, s);
		return;
	}
	fputs("because of store buffers: ", f);
	for (i = 0; i < s->ncycle; i++) {
		if (!has_waited(s, i))
			continue;
		fputs(any ? ", and " : "", f);
		any = true;
		put_waited(f, s, i);
	}
	if (!any)
		fputs("no run without them does", f);
}

static void put_headline(FILE *f, const struct kl_lit_story *s, size_t i)
{
	(void)i;
	if (s->reached) {
		put_reached(f, s);
		return;
	}
	fprintf(f, "%s %s ends with ", s->l->name, s->holds ? "never" : "always");
	kl_litmus_print_condition(f, s->l);
	fprintf(f, ": %s final state of any run%s%s has it, and all %llu states were searched",
		s->holds ? "no" : "every", s->sc ? " without store buffers" : "",
		s->l->filter >= 0 ? " that the test's filter accepts" : "",
		(unsigned long long)s->states);
}

static void put_edge(FILE *f, const struct kl_lit_story *s, size_t i)
{
	const struct kl_lit_link *k = &s->cycle[i];

	switch (k->edge) {
	case KL_LIT_PO:
		fprintf(f, "P%u's program order", s->steps[k->from].thread);
		break;
	case KL_LIT_RF:
		fputs("the load read this store", f);
		break;
	case KL_LIT_CO:
		fputs("it reached memory first", f);
		break;
	default:
		fputs("the load read what was there before the store", f);
	}
}

static void put_sc(FILE *f, const struct kl_lit_story *s, size_t i)
{
	(void)i;
	fprintf(f, "Without store buffers no run ends so: all %llu states were searched",
		(unsigned long long)s->sc_states);
}

/* Print what separates the @i-th part of @n from the one before it. */
static void put_part(FILE *f, size_t i, size_t n)
{
	fputs(!i ? "" : i + 1 < n ? ", " : " and ", f);
}

static void put_more(FILE *f, const struct kl_lit_story *s, size_t i)
{
	for (i = 0; i < s->nmore; i++) {
		put_part(f, i, s->nmore);
		if (s->more[i].lock)
			fprintf(f, "%s lock of ", i ? "a" : "A");
		else
			fprintf(f, "%s fence (MFENCE) before ", i ? "a" : "A");
		put_place(f, s, &s->more[i]);
	}
	fputs(s->nmore > 1 ? " forbid it; without any one of them it can still end so" :
			     " forbids it", f);
}

static void put_needed(FILE *f, const struct kl_lit_story *s, size_t i)
{
	const size_t n = s->nvital;

	if (!n)
		fputs("None of the test's fences and locks is needed for this by itself", f);
	for (i = 0; i < n; i++) {
		put_part(f, i, n);
		if (s->vital[i].lock)
			fprintf(f, "%s lock of ", i ? "the" : "The");
		put_place(f, s, &s->vital[i]);
	}
	if (n)
		fprintf(f, " %s needed for this: without %s a run ends otherwise",
			n > 1 ? "are" : "is", n > 1 ? "any one of them" : "it");
}

static void put_with_buffers(FILE *f, const struct kl_lit_story *s, size_t i)
{
	(void)s;
	(void)i;
	fputs("With store buffers a run ends otherwise", f);
}

static void put_orders(FILE *f, const struct kl_lit_story *s, size_t i)
{
	const size_t n = s->norders;

	for (i = 0; i < n; i++) {
		put_part(f, i, n);
		fputs(i ? "the order of " : "The order of ", f);
		put_place(f, s, &s->order[i][0]);
		fputs(" and ", f);
		put_place(f, s, &s->order[i][1]);
	}
	fprintf(f, " forbid%s it: with %s swapped, a run ends otherwise", n > 1 ? "" : "s",
		n > 1 ? "any one of these pairs" : "these two");
}

static void put_alone(FILE *f, const struct kl_lit_story *s, size_t i)
{
	(void)i;
	fputs("There is one final state only: ", f);
	fputs(s->l->nthreads == 1 ?
		      "the test has one thread, which loads what it has stored itself or what was there "
		      "at first" :
		      "each thread ends with the same registers when it runs alone, so no other thread's "
		      "stores make a difference to it",
	      f);
}

/* Return: the function that prints the fact, or NULL after the last one. */
static put_fn fact(const struct kl_lit_story *s, size_t i)
{
	put_fn facts[6];
	size_t n = 0;

	if (s->reached && !s->sc)
		facts[n++] = put_sc;
	if (s->nmore)
		facts[n++] = put_more;
	/* If there are too many fences and locks, only the first ones were left out in turn. */
	if (!s->reached && (s->nvital || (s->l->nbarriers && !s->unknown &&
					   s->l->nbarriers < KL_LIT_BARRIERS)))
		facts[n++] = put_needed;
	if (s->norders)
		facts[n++] = put_orders;
	if (s->alone)
		facts[n++] = put_alone;
	if (s->with_buffers)
		facts[n++] = put_with_buffers;
	return i < n ? facts[i] : NULL;
}

/* ---- output -------------------------------------------------------------------------------- */

static int put_sentence(FILE *f, const char *before, put_fn put, const struct kl_lit_story *s,
			size_t i)
{
	char *text = text_of(put, s, i);

	if (!text)
		return -ENOMEM;
	kl_put_sentence(f, before, text);
	free(text);
	return 0;
}

static int print_run(FILE *f, const struct kl_lit_story *s)
{
	char *what;
	size_t i;

	fputc('\n', f);
	kl_print_heads(f, s->l->nthreads, 'P');
	for (i = 1; i < s->nsteps; i++) {
		what = text_of(put_step, s, i);
		if (!what)
			return -ENOMEM;
		kl_print_row(f, s->l->nthreads, 'P', i, s->steps[i].thread, what);
		free(what);
	}
	return 0;
}

static int print_cycle(FILE *f, const struct kl_lit_story *s)
{
	int width = 0, n;
	char *from, *to;
	size_t i;

	fputs("\n  Without store buffers each step would come before the next, in a circle:\n", f);
	for (i = 0; i < s->ncycle; i++) {
		from = text_of(put_access, s, s->cycle[i].from);
		n = from ? (int)strlen(from) : 0;
		width = n > width ? n : width;
		free(from);
	}
	for (i = 0; i < s->ncycle; i++) {
		const struct kl_lit_link *k = &s->cycle[i];

		from = text_of(put_access, s, k->from);
		to = text_of(put_edge, s, i);
		if (from && to)
			fprintf(f, "%4zu  P%u %-*s  %s to %zu  %s\n", k->from,
				s->steps[k->from].thread, width, from, edges[k->edge], k->to, to);
		free(from);
		free(to);
		if (!from || !to)
			return -ENOMEM;
	}
	return 0;
}

int kl_lit_story_print(FILE *f, const struct kl_lit_story *s)
{
	size_t i;
	int ret = put_sentence(f, "What happened:", put_headline, s, 0);

	if (s->reached && !ret)
		ret = print_run(f, s);
	if (s->ncycle && !ret)
		ret = print_cycle(f, s);
	if (s->ncycle || fact(s, 0))
		fputc('\n', f);
	for (i = 0; i < s->ncycle && !ret; i++)
		if (has_waited(s, i))
			ret = put_sentence(f, "  ", put_cast, s, i);
	for (i = 0; fact(s, i) && !ret; i++)
		ret = put_sentence(f, "  ", fact(s, i), s, 0);
	fputc('\n', f);
	return ret;
}

static json_t *step_json(const struct kl_lit_story *s, size_t i)
{
	const struct kl_lit_step *step = &s->steps[i];
	const bool loads = step->kind == KL_LIT_LOAD || step->kind == KL_LIT_LOCKED;
	const bool stores = step->kind == KL_LIT_STORE || step->stores;
	json_t *j = json_object();
	const char *insn;
	const size_t len = kl_lit_instruction(s->l, step->cell, &insn);

	json_object_set_new(j, "step", json_integer(i));
	json_object_set_new(j, "thread", json_integer(step->thread));
	json_object_set_new(j, "kind", json_string(kinds[step->kind]));
	if (step->kind != KL_LIT_FENCE)
		json_object_set_new(j, "place", text_json(put_name, s, i));
	if (loads)
		json_object_set_new(j, "loaded", text_json(put_loaded, s, i));
	if (loads)
		json_object_set_new(j, "own", json_boolean(step->own));
	if (stores || step->kind == KL_LIT_FLUSH)
		json_object_set_new(j, "stored", text_json(put_stored, s, i));
	if (loads || step->kind == KL_LIT_FLUSH)
		json_object_set_new(j, "from", json_integer(step->from));
	if (stores)
		json_object_set_new(j, "left", json_integer(step->left));
	json_object_set_new(j, "instruction", json_stringn(insn, len));
	json_object_set_new(j, "line", json_integer(kl_lit_line(s->l, step->cell)));
	json_object_set_new(j, "what", text_json(put_step, s, i));
	return j;
}

static json_t *cast_json(const struct kl_lit_story *s, size_t i)
{
	const struct kl_lit_link *k = &s->cycle[i];
	json_t *j = json_object();

	json_object_set_new(j, "thread", json_integer(s->steps[k->from].thread));
	json_object_set_new(j, "place", text_json(put_name, s, k->from));
	json_object_set_new(j, "value", text_json(put_stored, s, k->from));
	json_object_set_new(j, "stored", json_integer(k->from));
	json_object_set_new(j, "loaded", json_integer(k->to));
	json_object_set_new(j, "left", json_integer(s->steps[k->from].left));
	json_object_set_new(j, "sentence", text_json(put_cast, s, i));
	return j;
}

static json_t *link_json(const struct kl_lit_story *s, size_t i)
{
	json_t *j = json_object();

	json_object_set_new(j, "from", json_integer(s->cycle[i].from));
	json_object_set_new(j, "edge", json_string(edges[s->cycle[i].edge]));
	json_object_set_new(j, "to", json_integer(s->cycle[i].to));
	json_object_set_new(j, "sentence", text_json(put_edge, s, i));
	return j;
}

static json_t *places_json(const struct kl_lit_story *s, const struct kl_lit_place *p, size_t n,
			   const char *kind)
{
	json_t *list = json_array();
	const char *insn;
	size_t i, len;

	for (i = 0; i < n; i++) {
		json_t *j = json_object();

		len = kl_lit_instruction(s->l, p[i].at, &insn);
		json_object_set_new(j, "thread", json_integer(p[i].thread));
		json_object_set_new(j, "instruction", json_stringn(insn, len));
		json_object_set_new(j, "line", json_integer(kl_lit_line(s->l, p[i].at)));
		json_object_set_new(j, "kind", json_string(kind ? kind : p[i].lock ? "lock" : "fence"));
		json_array_append_new(list, j);
	}
	return list;
}

static void put_item(FILE *f, const struct kl_lit_story *s, size_t i)
{
	kl_litmus_print_item(f, s->l, i);
}

static void put_condition(FILE *f, const struct kl_lit_story *s, size_t i)
{
	(void)i;
	kl_litmus_print_condition(f, s->l);
}

static json_t *outcome_json(const struct kl_lit_story *s)
{
	json_t *j = json_object();
	char buf[32], *name;
	size_t i;

	for (i = 0; i < s->l->nitems; i++) {
		name = text_of(put_item, s, i);
		if (name)
			json_object_set_new(j, name, kl_json_text(
				kl_litmus_value(s->l, i, s->outcome[i], buf)));
		else
			kl_json_no_memory();
		free(name);
	}
	return j;
}

json_t *kl_lit_story_json(const struct kl_lit_story *s)
{
	json_t *j = json_object(), *run = json_array(), *cycle = json_array();
	json_t *cast = json_array(), *facts = json_array(), *orders = json_array();
	size_t i;

	json_object_set_new(j, "headline", text_json(put_headline, s, 0));
	json_object_set_new(j, "condition", text_json(put_condition, s, 0));
	json_object_set_new(j, "holds", json_boolean(s->holds));
	json_object_set_new(j, "outcome", s->reached ? outcome_json(s) : json_null());
	json_object_set_new(j, "memory", json_string(s->sc ? "sc" : "tso"));
	json_object_set_new(j, "states", json_integer(s->states));
	for (i = 1; i < s->nsteps; i++)
		json_array_append_new(run, step_json(s, i));
	for (i = 0; i < s->ncycle; i++) {
		json_array_append_new(cycle, link_json(s, i));
		if (has_waited(s, i))
			json_array_append_new(cast, cast_json(s, i));
	}
	for (i = 0; fact(s, i); i++)
		json_array_append_new(facts, text_json(fact(s, i), s, 0));
	json_object_set_new(j, "cast", cast);
	json_object_set_new(j, "run", run);
	json_object_set_new(j, "cycle", cycle);
	json_object_set_new(j, "facts", facts);
	json_object_set_new(j, "forbidden_by", places_json(s, s->more, s->nmore, NULL));
	for (i = 0; i < s->norders; i++)
		json_array_append_new(orders, places_json(s, s->order[i], 2, "access"));
	json_object_set_new(j, "orders", orders);
	json_object_set_new(j, "alone", json_boolean(s->alone));
	json_object_set_new(j, "needed", places_json(s, s->vital, s->nvital, NULL));
	return j;
}
