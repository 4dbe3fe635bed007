// SPDX-License-Identifier: GPL-2.0
/* The story of a run that ends badly, see run_end.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "report/json_value.h"
#include "report/run_end.h"
#include "report/words.h"
#include "tso/machine/vm.h"

#define CAST_MAX	12
#define FACTS_MAX	8
#define TOLD_MAX	3	/* threads that wait in a headline; others have a fact */

/* An access that has a part in the story. */
struct part {
	uint32_t access;
	const char *role;
};

struct end_story {
	struct kl_explorer *x;
	const struct kl_run_accesses *a;
	const struct kl_explore_end *ends;
	unsigned int nends;
	char *headline, *facts[FACTS_MAX];
	size_t nfacts;
	struct part cast[CAST_MAX];
	size_t ncast;
	int err;
};

/* ---- parts of sentences --------------------------------------------------------------------- */

static void put_place(FILE *f, const struct end_story *s, uint32_t addr)
{
	char text[64] = "?";

	kl_explore_place(s->x, addr, text, sizeof(text));
	fputs(text, f);
}

static void put_value(FILE *f, const struct end_story *s, uint64_t val)
{
	char text[64] = "?";

	kl_explore_value(s->x, val, text, sizeof(text));
	fputs(text, f);
}

static void add_part(struct end_story *s, uint32_t access, const char *role)
{
	size_t i;

	for (i = 0; i < s->ncast; i++)
		if (s->cast[i].access == access)
			return;
	if (access != KL_RUN_NONE && s->ncast < CAST_MAX)
		s->cast[s->ncast++] = (struct part){ access, role };
}

static void put_line(FILE *f, unsigned int line)
{
	if (line)
		fprintf(f, " (line %u)", line);
}

/* Return: true if the run ends badly for threads that wait or loop, and the thread has ended. */
static bool has_ended(const struct end_story *s, unsigned int thread)
{
	unsigned int i;

	for (i = 0; i < s->nends; i++)
		if (s->ends[i].kind == KL_EX_FAILS || s->ends[i].thread == (int)thread)
			return false;
	return true;
}

/* Print ", as T0 had stored it at step 5 (line 9)", about the word at @addr. */
static void put_source(FILE *f, struct end_story *s, uint32_t addr, uint32_t store, int reader)
{
	const struct kl_run_access *w;

	if (store == KL_RUN_NONE) {
		fputs(kl_explore_in_object(s->x, addr) ? ", to which no step had stored" :
		      ", as in the first state", f);
		return;
	}
	w = &s->a->all[store];
	add_part(s, store, w->left > w->step ? "store, which was in the buffer first" : "store");
	fprintf(f, ", as T%u%s had stored it at step %u", w->thread,
		(int)w->thread == reader ? " itself" :
		has_ended(s, w->thread) ? ", which has ended," : "", w->step);
	put_line(f, w->line);
}

/* Print ", while T0's store x = 1 of step 3 was still in T0's buffer". */
static void put_missed(FILE *f, struct end_story *s, uint32_t store)
{
	const struct kl_run_access *w;

	if (store == KL_RUN_NONE)
		return;
	w = &s->a->all[store];
	add_part(s, store, "store, which was in the buffer");
	fprintf(f, ", while T%u's store ", w->thread);
	put_place(f, s, w->addr);
	fputs(" = ", f);
	put_value(f, s, w->val);
	fprintf(f, " of step %u was still in T%u's buffer", w->step, w->thread);
}

/* Print a load: "x, which T1 loaded as 0 at step 4, as in the first state", or "x is 1, as ...". */
static void put_use(FILE *f, struct end_story *s, const struct kl_explore_end *e,
		    const struct kl_explore_use *u)
{
	const struct kl_run_access *load = u->after ? NULL : &s->a->all[u->load];

	put_place(f, s, load ? load->addr : u->addr);
	if (!load) {
		fputs(e->kind == KL_EX_FAILS ? ", which is " : " is ", f);
		put_value(f, s, u->val);
		put_source(f, s, u->addr,
			   kl_run_source(s->a, e->thread < 0 ? 0 : e->thread, u->addr), e->thread);
		return;
	}
	add_part(s, u->load, "load");
	fprintf(f, ", which T%u loaded as ", load->thread);
	put_value(f, s, load->val);
	fprintf(f, " at step %u", load->step);
	put_line(f, load->line);
	put_source(f, s, load->addr, load->from, load->thread);
	put_missed(f, s, load->missed);
}

static void put_uses(FILE *f, struct end_story *s, const struct kl_explore_end *e)
{
	unsigned int i;

	for (i = 0; i < e->nuses; i++) {
		fputs(i ? ", and " : "", f);
		put_use(f, s, e, &e->use[i]);
	}
}

/* Return: the words before the loads of the value on which an instruction fails, or NULL. */
static const char *failing(const struct kl_explore_end *e)
{
	switch ((int)e->op) {
	case KL_I_READ:
	case KL_I_WRITE:
	case KL_I_FIELD:
		return e->copy ? "the pointer is " : "the pointer comes from ";
	case KL_I_LOADX:
	case KL_I_STOREX:
	case KL_I_ADDRX:
		return e->copy ? "the index is " : "the index comes from ";
	case KL_I_DIV:
	case KL_I_MOD:
		return e->copy ? "the divisor is " : "the divisor comes from ";
	case KL_I_ASSERT:
		return "it rests on ";
	default:
		return NULL;
	}
}

static bool has_index(const struct kl_explore_end *e)
{
	return e->op == KL_I_LOADX || e->op == KL_I_STOREX || e->op == KL_I_ADDRX;
}

static void put_failure(FILE *f, struct end_story *s, const struct kl_explore_end *e)
{
	if (e->thread >= 0)
		fprintf(f, "T%u fails", e->thread);
	else
		fputs("the check of the final state fails", f);
	if (e->line)
		fprintf(f, " at line %u", e->line);
	fprintf(f, ": %s", e->what);
	if (has_index(e)) {
		fputs(": the index is ", f);
		put_value(f, s, e->value);
	}
	if (!failing(e) || !e->nuses)
		return;
	fprintf(f, "%s%s", has_index(e) ? "; " : ": ", failing(e));
	put_uses(f, s, e);
}

/* Print "T0 waits at line 12: l is 1, as T1 had stored it at step 5 (line 9)". */
static void put_wait(FILE *f, struct end_story *s, const struct kl_explore_end *e)
{
	fprintf(f, "T%u %s", e->thread, e->kind == KL_EX_WAITS ? "waits" : "goes on for ever");
	if (e->line)
		fprintf(f, " at line %u", e->line);
	if (!e->nuses)
		return;
	fputs(": ", f);
	put_uses(f, s, e);
}

/* ---- the story ------------------------------------------------------------------------------ */

static void add_fact(struct end_story *s, struct kl_memstream *m)
{
	char *text;
	int ret = kl_memstream_close(m, &text, NULL);

	if (ret)
		s->err = ret;
	else if (s->nfacts < FACTS_MAX)
		s->facts[s->nfacts++] = text;
	else
		free(text);
}

/* Add a fact for the threads that the headline leaves out. */
static void add_others(struct end_story *s)
{
	struct kl_memstream m;
	unsigned int i;

	for (i = TOLD_MAX; i < s->nends && !s->err; i++) {
		s->err = kl_memstream_open(&m);
		if (s->err)
			return;
		put_wait(m.f, s, &s->ends[i]);
		add_fact(s, &m);
	}
}

/* Add @addr to the first @n of @list, unless it is there.  Return: the new number. */
static unsigned int add_once(uint32_t *list, unsigned int n, uint32_t addr)
{
	unsigned int i;

	for (i = 0; i < n && list[i] != addr; i++)
		;
	list[i] = addr;
	return i < n ? n : n + 1;
}

/* Add a fact on the variables that threads look at, and to which no thread stores any more. */
static void add_later(struct end_story *s)
{
	uint32_t addr[KL_VM_THREADS * KL_EX_USES + 1];
	unsigned int i, k, n = 0, kept = 0;
	struct kl_memstream m;
	uint64_t states = 0, all = 0;

	for (i = 0; i < s->nends; i++)
		for (k = 0; k < s->ends[i].nuses; k++)
			n = add_once(addr, n, s->ends[i].use[k].addr);
	for (i = 0; i < n; i++) {
		if (kl_explore_stores_later(s->x, addr[i], &states))
			continue;
		addr[kept++] = addr[i];
		all = states;
	}
	s->err = kept ? kl_memstream_open(&m) : 0;
	if (s->err || !kept)
		return;
	fputs("No thread stores to ", m.f);
	for (i = 0; i < kept; i++) {
		fputs(!i ? "" : i + 1 < kept ? ", " : " or ", m.f);
		put_place(m.f, s, addr[i]);
	}
	fprintf(m.f, " any more: all states from there on were searched, %llu in number",
		(unsigned long long)all);
	add_fact(s, &m);
}

static void add_stuck(struct end_story *s)
{
	struct kl_memstream m;

	s->err = kl_memstream_open(&m);
	if (s->err)
		return;
	fputs("All threads that have not ended wait, and no store is in a buffer: nothing changes any "
	      "more", m.f);
	add_fact(s, &m);
}

/* Tell the story; free_end() it.  Return: 0 or a negative errno. */
static int tell(struct end_story *s, struct kl_explorer *x, const struct kl_run_accesses *a)
{
	const enum kl_explore_verdict v = kl_explore_found(x);
	struct kl_memstream m;
	unsigned int i;

	*s = (struct end_story){ .x = x, .a = a };
	s->nends = kl_explore_ends(x, &s->ends);
	if (!s->nends || a->cut)
		return 0;
	s->err = kl_memstream_open(&m);
	if (s->err)
		return s->err;
	if (s->ends[0].kind == KL_EX_FAILS) {
		put_failure(m.f, s, &s->ends[0]);
	} else {
		fputs(v == KL_EX_DEADLOCK ? "deadlock: " : "no run ends from here on: ", m.f);
		for (i = 0; i < s->nends && i < TOLD_MAX; i++) {
			fputs(i ? "; " : "", m.f);
			put_wait(m.f, s, &s->ends[i]);
		}
	}
	s->err = kl_memstream_close(&m, &s->headline, NULL);
	if (!s->err)
		add_others(s);
	if (v == KL_EX_DEADLOCK && !s->err)
		add_stuck(s);
	if (v == KL_EX_ENDLESS && !s->err)
		add_later(s);
	return s->err;
}

static void free_end(struct end_story *s)
{
	free(s->headline);
	while (s->nfacts)
		free(s->facts[--s->nfacts]);
}

/* ---- output -------------------------------------------------------------------------------- */

static void print_part(FILE *f, const struct end_story *s, const struct part *p)
{
	const struct kl_run_access *a = &s->a->all[p->access];
	char place[64] = "?", value[64] = "?", what[140];

	kl_explore_place(s->x, a->addr, place, sizeof(place));
	kl_explore_value(s->x, a->val, value, sizeof(value));
	snprintf(what, sizeof(what), "%s %s %s", place, a->write ? "=" : "is", value);
	fprintf(f, "  T%u  %-24s  step %u", a->thread, what, a->step);
	if (a->write && a->left > a->step)
		fprintf(f, ", left the buffer at step %u", a->left);
	else if (a->write && !a->left)
		fputs(", did not leave the buffer", f);
	put_line(f, a->line);
	fputc('\n', f);
}

int kl_run_end_print(FILE *f, struct kl_explorer *x, const struct kl_run_accesses *a)
{
	struct end_story s;
	size_t i;
	int ret = tell(&s, x, a);

	if (s.headline && !ret) {
		fputc('\n', f);
		kl_put_sentence(f, "What is wrong:", s.headline);
		if (s.ncast)
			fputc('\n', f);
		for (i = 0; i < s.ncast; i++)
			print_part(f, &s, &s.cast[i]);
		fputc('\n', f);
		for (i = 0; i < s.nfacts; i++)
			kl_put_sentence(f, "  ", s.facts[i]);
		if (s.nfacts)
			fputc('\n', f);
	}
	free_end(&s);
	return ret;
}

static json_t *part_json(const struct end_story *s, const struct part *p)
{
	const struct kl_run_access *a = &s->a->all[p->access];
	char place[64] = "?", value[64] = "?";
	json_t *j = json_object();

	kl_explore_place(s->x, a->addr, place, sizeof(place));
	kl_explore_value(s->x, a->val, value, sizeof(value));
	json_object_set_new(j, "thread", json_integer(a->thread));
	json_object_set_new(j, "step", json_integer(a->step));
	json_object_set_new(j, "line", json_integer(a->line));
	json_object_set_new(j, "kind", json_string(a->write ? "store" : "load"));
	json_object_set_new(j, "place", kl_json_text(place));
	json_object_set_new(j, "value", kl_json_text(value));
	if (a->write)
		json_object_set_new(j, "left", a->left ? json_integer(a->left) : json_null());
	json_object_set_new(j, "role", json_string(p->role));
	return j;
}

int kl_run_end_add(json_t *j, struct kl_explorer *x, const struct kl_run_accesses *a)
{
	json_t *story, *cast = json_array(), *facts = json_array();
	struct end_story s;
	size_t i;
	int ret = tell(&s, x, a);

	for (i = 0; i < s.ncast; i++)
		json_array_append_new(cast, part_json(&s, &s.cast[i]));
	for (i = 0; i < s.nfacts; i++)
		json_array_append_new(facts, kl_json_text(s.facts[i]));
	if (s.headline && !ret) {
		story = json_object();
		json_object_set_new(story, "headline", kl_json_text(s.headline));
		json_object_set(story, "cast", cast);
		json_object_set(story, "facts", facts);
		json_object_set_new(j, "run_story", story);
	}
	json_decref(cast);
	json_decref(facts);
	free_end(&s);
	return ret;
}
