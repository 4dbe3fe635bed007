// SPDX-License-Identifier: GPL-2.0
/*
 * The story of a litmus test's outcome, see litmus_story.h.  Nothing is claimed that a search did
 * not find: a fence forbids the outcome if all runs of the test with the fence lack it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tso/litmus/litmus_asm.h"
#include "tso/litmus/litmus_story.h"

#define ROUNDS_MAX	16	/* times that fences are added */

struct teller {
	struct kl_lit_story *s;
	const char *path, *text;
	const struct kl_litmus_options *o;
	struct kl_lit_change change;
};

/* Read the test with the changes, and search for the outcome. */
static int reach(struct teller *t, const struct kl_litmus_options *o, struct kl_lit_path *path)
{
	struct kl_litmus_result r = { 0 };
	struct kl_litmus *l = NULL;
	int ret = kl_litmus_parse_changed(t->path, t->text, &t->change, &l);

	if (!ret)
		ret = kl_litmus_reach(l, o, t->s->holds, path, &r);
	memcpy(t->s->why, r.why, sizeof(r.why));
	kl_litmus_result_free(&r);
	kl_litmus_free(l);
	return ret;
}

/* Return: 1 if the test with the changes has the outcome, 0 if not, or a negative errno. */
static int is_reached(struct teller *t)
{
	struct kl_lit_path path;
	struct kl_litmus_options o = *t->o;
	int ret;

	o.quiet = true;
	ret = reach(t, &o, &path);
	if (!ret)
		ret = path.n > 0;
	kl_lit_path_free(&path);
	return ret;
}

/* ---- fences and locks that forbid the outcome ---------------------------------------------- */

static void add(struct kl_lit_change *c, const struct kl_lit_step *step, bool lock)
{
	size_t i;

	for (i = 0; i < c->nmore; i++)
		if (c->more[i].at == step->cell && c->more[i].lock == lock)
			return;
	if (c->nmore < KL_LIT_BARRIERS)
		c->more[c->nmore++] = (struct kl_lit_place){ step->cell, step->thread, lock };
}

/*
 * Add fences before the loads of the cycle that a store waited for.  In a run without store buffers
 * add locks to instructions that load and store.
 */
static void add_more(struct kl_lit_change *c, const struct kl_lit_story *s)
{
	size_t i;

	for (i = 0; i < s->ncycle; i++)
		if (s->cycle[i].edge == KL_LIT_PO &&
		    kl_lit_waited(s, s->cycle[i].from, s->cycle[i].to))
			add(c, &s->steps[s->cycle[i].to], false);
	for (i = 1; i < s->nsteps && s->sc; i++)
		if (kl_lit_stores_after(s, i))
			add(c, &s->steps[i], true);
}

/* Leave out each fence or lock without which the outcome is not reached either. */
static int drop_more(struct teller *t)
{
	struct kl_lit_change *c = &t->change;
	size_t i = 0;
	int ret;

	while (i < c->nmore && c->nmore > 1) {
		const struct kl_lit_change all = *c;

		memmove(c->more + i, c->more + i + 1, (c->nmore - i - 1) * sizeof(c->more[0]));
		c->nmore--;
		ret = is_reached(t);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		*c = all;
		i++;
	}
	return 0;
}

/* Make the run of the changed test in @path, for its cycle. */
static int make_other(struct teller *t, const struct kl_lit_path *path,
		      const struct kl_litmus_options *o, struct kl_lit_story *other)
{
	int ret = kl_litmus_parse_changed(t->path, t->text, &t->change, &other->l);

	other->sc = o->sc;
	if (!ret)
		ret = kl_lit_make_steps(other, path, o);
	return ret || o->sc ? ret : kl_lit_find_cycle(other);
}

/*
 * Find fences or locks that forbid the outcome: those for the run, and, while a run of the test
 * with them has the outcome, those for that run.
 */
static int find_more(struct teller *t)
{
	struct kl_lit_story *s = t->s, *other = NULL;
	const struct kl_lit_story *now = s;
	struct kl_litmus_options o = *t->o;
	struct kl_lit_path path;
	unsigned int round;
	size_t had;
	int ret = 0;

	o.sc = s->sc;
	o.quiet = true;
	for (round = 0; round < ROUNDS_MAX; round++) {
		had = t->change.nmore;
		add_more(&t->change, now);
		if (t->change.nmore == had)
			break;
		kl_lit_story_free(other);
		now = other = calloc(1, sizeof(*other));
		if (!other)
			return -ENOMEM;
		ret = reach(t, &o, &path);
		if (!ret && path.n)
			ret = make_other(t, &path, &o, other);
		else if (!ret)
			ret = drop_more(t);
		kl_lit_path_free(&path);
		if (ret || !other->l)
			break;
	}
	if (!ret && other && !other->l && is_reached(t) == 0) {
		s->nmore = t->change.nmore;
		memcpy(s->more, t->change.more, sizeof(s->more));
	}
	kl_lit_story_free(other);
	t->change.nmore = 0;
	return ret;
}

/* Return: true if a search is incomplete, so that a change's effect is not known. */
static bool not_known(int err)
{
	return err == -ENOSPC || err == -ETIME || err == -E2BIG || err == -EINVAL;
}

/* Find fences and locks of the test without which the outcome is reached. */
static int find_needed(struct teller *t)
{
	struct kl_lit_story *s = t->s;
	size_t i;
	int ret;

	for (i = 0; i < s->l->nbarriers; i++) {
		t->change.weaken = true;
		t->change.weak = s->l->barrier[i].at;
		ret = is_reached(t);
		t->change.weaken = false;
		s->unknown |= not_known(ret);
		if (ret < 0 && !not_known(ret))
			return ret;
		if (ret > 0)
			s->vital[s->nvital++] = s->l->barrier[i];
	}
	return 0;
}

/* Look for the outcome with store buffers, which the search was without. */
static int find_with_buffers(struct teller *t)
{
	const struct kl_litmus_options *sc = t->o;
	struct kl_litmus_options o = *sc;
	int ret;

	o.sc = false;
	t->o = &o;
	ret = is_reached(t);
	t->o = sc;
	t->s->with_buffers = ret > 0;
	return ret > 0 || not_known(ret) ? 0 : ret;
}

/* ---- the order of instructions ------------------------------------------------------------- */

/* Is the instruction a move from or to memory? */
static bool moves(const struct kl_litmus *l, const struct kl_lit_place *p)
{
	const char *text;
	const size_t len = kl_lit_instruction(l, p->at, &text);

	return len > 4 && !strncasecmp(text, "mov", 3) && !memchr(text, ':', len) &&
	       (memchr(text, '[', len) || memchr(text, '(', len));
}

static bool is_fence(const struct kl_litmus *l, const struct kl_lit_place *p)
{
	const char *text;
	const size_t len = kl_lit_instruction(l, p->at, &text);

	return len == 6 && !strncasecmp(text + 1, "fence", 5);
}

/* Return: the registers that the instruction names, a bit for each. */
static uint32_t registers(const struct kl_litmus *l, const struct kl_lit_place *p)
{
	const char *text, *end;
	const size_t len = kl_lit_instruction(l, p->at, &text);
	uint32_t set = 0;
	unsigned int size;
	size_t n;
	int reg;

	for (end = text + len; text < end; text += n ? n : 1) {
		for (n = 0; text + n < end && isalnum((unsigned char)text[n]); n++)
			;
		reg = n ? kl_lit_register(l->x64, text, n, &size) : -1;
		if (reg >= 0)
			set |= 1u << reg;
	}
	return set;
}

/*
 * Find neighbours, but for fences, whose order forbids the outcome.  They share no register, so
 * that only the order of their accesses changes if they are swapped.
 */
static int find_orders(struct teller *t)
{
	struct kl_lit_story *s = t->s;
	const struct kl_litmus *l = s->l;
	size_t i, next;
	int ret;

	for (i = 0; i + 1 < l->ninsns && s->norders < KL_LIT_ORDERS; i++) {
		const struct kl_lit_place *a = &l->insn[i], *b;

		for (next = i + 1; next + 1 < l->ninsns && is_fence(l, &l->insn[next]); next++)
			;
		b = &l->insn[next];
		if (a->thread != b->thread || !moves(l, a) || !moves(l, b) ||
		    registers(l, a) & registers(l, b))
			continue;
		t->change.swaps = true;
		t->change.swap[0] = a->at;
		t->change.swap[1] = b->at;
		ret = is_reached(t);
		t->change.swaps = false;
		if (ret < 0 && !not_known(ret))
			return ret;
		if (ret <= 0)
			continue;
		s->order[s->norders][0] = *a;
		s->order[s->norders++][1] = *b;
	}
	return 0;
}

/* ---- threads that make no difference to one another ----------------------------------------- */

/* Search all runs of the test with the changes.  Return: as kl_litmus_run(). */
static int run_all(struct teller *t, struct kl_litmus_result *r)
{
	struct kl_litmus_options o = *t->o;
	struct kl_litmus *l = NULL;
	int ret = kl_litmus_parse_changed(t->path, t->text, &t->change, &l);

	o.quiet = true;
	memset(r, 0, sizeof(*r));
	if (!ret)
		ret = kl_litmus_run(l, &o, r);
	kl_litmus_free(l);
	return ret;
}

/* Does the thread have the same registers in both final states? */
static bool ends_same(const struct kl_litmus *l, unsigned int thread, const uint64_t *a,
		      const uint64_t *b)
{
	size_t i;

	for (i = 0; i < l->nitems; i++)
		if (l->items[i].thread == (int)thread && a[i] != b[i])
			return false;
	return true;
}

static int find_alone(struct teller *t)
{
	struct kl_litmus_result whole, part;
	struct kl_lit_story *s = t->s;
	unsigned int i;
	int ret = run_all(t, &whole);

	s->alone = !ret && whole.nstates == 1;
	for (i = 0; i < s->l->nthreads && s->alone && !ret; i++) {
		t->change.alone = true;
		t->change.thread = i;
		ret = run_all(t, &part);
		s->alone = !ret && part.nstates == 1 &&
			   ends_same(s->l, i, whole.states, part.states);
		kl_litmus_result_free(&part);
	}
	t->change.alone = false;
	kl_litmus_result_free(&whole);
	return not_known(ret) ? 0 : ret;
}

/* ---- the story ------------------------------------------------------------------------------ */

/* Search runs without store buffers, and then those with them. */
static int find_run(struct teller *t, struct kl_lit_path *path)
{
	struct kl_lit_story *s = t->s;
	struct kl_litmus_options o = *t->o;
	int ret;

	o.sc = s->sc = true;
	ret = reach(t, &o, path);
	s->sc_states = s->states = path->explored;
	if (!ret && !path->n && !t->o->sc) {
		kl_lit_path_free(path);
		o.sc = s->sc = false;
		ret = reach(t, &o, path);
		s->states = path->explored;
	}
	s->reached = !ret && path->n;
	if (s->reached) {
		memcpy(s->outcome, path->outcome, sizeof(s->outcome));
		ret = kl_lit_make_steps(s, path, &o);
	}
	return ret;
}

int kl_litmus_tell(const char *path, const char *text, const char *condition,
		   const struct kl_litmus_options *o, struct kl_lit_story **out)
{
	struct kl_lit_story *s = calloc(1, sizeof(*s));
	struct teller t = {
		.s = s, .path = path, .text = text, .o = o, .change.condition = condition,
	};
	struct kl_lit_path run = { 0 };
	int ret;

	*out = s;
	if (!s)
		return -ENOMEM;
	ret = kl_litmus_parse_changed(path, text, &t.change, &s->l);
	if (ret)
		return ret;
	s->asked = condition;
	s->holds = s->l->quantifier != KL_LIT_FORALL;
	ret = find_run(&t, &run);
	kl_lit_path_free(&run);
	if (!ret && s->reached && !s->sc)
		ret = kl_lit_find_cycle(s);
	if (!ret && s->reached)
		ret = find_more(&t);
	if (not_known(ret) && s->reached && s->nsteps)
		ret = 0;
	if (!ret && !s->reached && o->sc)
		ret = find_with_buffers(&t);
	if (!ret && !s->reached)
		ret = find_needed(&t);
	if (!ret && !s->reached && !s->nvital)
		ret = find_orders(&t);
	if (!ret && !s->reached && !s->nvital && !s->norders)
		ret = find_alone(&t);
	return ret;
}

size_t kl_lit_stores_after(const struct kl_lit_story *s, size_t load)
{
	const struct kl_lit_step *x = &s->steps[load], *y;
	size_t i;

	if (x->kind != KL_LIT_LOAD)
		return 0;
	for (i = load + 1; i < s->nsteps; i++) {
		y = &s->steps[i];
		if (y->thread == x->thread && y->kind != KL_LIT_FLUSH)
			return y->kind == KL_LIT_STORE && y->cell == x->cell &&
			       y->loc == x->loc ? i : 0;
	}
	return 0;
}

void kl_lit_story_free(struct kl_lit_story *s)
{
	if (!s)
		return;
	kl_litmus_free(s->l);
	free(s->steps);
	free(s->cycle);
	free(s);
}

size_t kl_lit_instruction(const struct kl_litmus *l, size_t at, const char **text)
{
	size_t len = strcspn(l->copy + at, "|;");

	*text = l->copy + at;
	kl_la_trim(text, &len);
	return len;
}

unsigned int kl_lit_line(const struct kl_litmus *l, size_t at)
{
	unsigned int line = 1;
	size_t i;

	for (i = 0; i < at; i++)
		line += l->copy[i] == '\n';
	return line;
}
