// SPDX-License-Identifier: GPL-2.0
/*
 * A person asks first who wrote the value that was seen.  So the operations that may have left a
 * value that the failing operation saw join the cast, whether they explain it or not.
 *
 *	w(1) w(1) cas(1, 2) r->1 w(1)	the second w(1)
 *
 * Of these, one that certainly returned before another one was called, which returned before the
 * failing operation was called, is of no interest.  Neither are those that were called after the
 * failing operation had returned, unless there is no other.
 *
 * Where the steps of a word do not tell, an operation may have left a value if it has this
 * argument, and the argument flows into the state: that of a queue's size does not.
 *
 * In a file of Jepsen's a person may also find a writer that failed.  Then the story says so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/source.h"
#include "history/spell.h"
#include "story/reason.h"

#define MAX_WRITERS	3	/* of a value that the failing operation saw */

/* A search for operations that may have left @v before operation @op. */
struct wanted {
	uint32_t op;
	struct kl_val v;
	bool steps; /* the scene's steps tell; else the arguments do */
	uint32_t last;	/* the last writer that certainly took effect before @op, or KL_NO_OP */
	const struct kl_word_deed *step;	/* of the operation that match() returned last */
};

static const struct kl_method *method_of(const struct kl_scene *s, const struct kl_op *o)
{
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h, o)]);

	return m < 0 ? NULL : kl_spec_method(s->spec, m);
}

static const char *wrote(const struct kl_scene *s, const struct kl_word_deed *d)
{
	if (s->h->ops[d->op].flags & KL_OP_PENDING || d->maybe)
		return "may have left";
	if (s->keyed && d->step.after == KL_STEP_ABSENT)
		return "left";
	if (s->type.kind != KL_CONTAINER_SET)
		return "wrote";
	return d->step.after ? "added" : "removed";
}

int kl_story_cast_leaving(const struct kl_scene *s, const struct kl_word_deed *d,
			  struct kl_story *story)
{
	return kl_story_cast(story, d->op, "%s %s", wrote(s, d),
			     kl_name_step(s, d->step.after).s);
}

/* An argument that no state has by itself. */
#define MARK 0x7a3d5e1b9c48f026ull

static int note_mark(void *ctx, const struct kl_outcome *o)
{
	bool *flows = ctx;
	size_t i;

	for (i = 0; i < o->len && o->changed && !*flows; i++)
		*flows = kl_val_eq(o->state[i], kl_word(MARK));
	return *flows;
}

/*
 * May argument @k of a method be in the state after it?  The other arguments are 0, 1 or greater,
 * and the method begins in the first state.  The mark is no index, so an error shows an argument
 * that is one.  Return: 1 if so, 0 if not, -ENOMEM.
 */
static int flows(struct kl_run *run, const struct kl_val *first, size_t len, unsigned int m,
		 unsigned int nparams, unsigned int k)
{
	struct kl_val args[KL_MAX_ARGS];
	unsigned int round, i;
	bool found = false;
	int ret = 0;

	for (round = 0; round < 3 && !found && ret != -ENOMEM; round++) {
		const uint64_t other = round < 2 ? round : MARK + 1;

		for (i = 0; i < nparams; i++)
			args[i] = kl_word(i == k ? MARK : other);
		ret = kl_run_apply(run, first, len, m, args, NULL, note_mark, &found);
	}
	return ret == -ENOMEM ? ret : found;
}

/* Find out which arguments flow into the state.  Return: a bit for each, by method, or NULL. */
static uint8_t *find_flows(const struct kl_scene *s)
{
	const unsigned int n = kl_spec_nmethods(s->spec);
	uint8_t *bits = calloc(n + 1, sizeof(*bits));
	struct kl_run *run = kl_run_new(s->spec);
	const struct kl_val *init = NULL;
	struct kl_val *first = NULL;
	size_t len = 0;
	unsigned int m, k;
	int ret = -ENOMEM;

	if (run)
		init = kl_run_init(run, true, &len);
	if (init)
		first = malloc((len + 1) * sizeof(*first));
	if (first && bits) {
		memcpy(first, init, len * sizeof(*first));
		ret = 0;
	}
	for (m = 0; m < n && ret >= 0; m++) {
		const unsigned int nparams = kl_spec_method(s->spec, m)->nparams;

		for (k = 0; k < nparams && ret >= 0; k++) {
			ret = flows(run, first, len, m, nparams, k);
			bits[m] |= (ret > 0) << k;
		}
	}
	free(first);
	kl_run_free(run);
	if (ret >= 0)
		return bits;
	free(bits);
	return NULL;
}

/* May an operation have written the value: has it this argument, besides its key, and succeeded? */
static bool names_value(const struct kl_scene *s, const struct wanted *w, const struct kl_op *o)
{
	const int index = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h, o)]);
	const struct kl_method *m = method_of(s, o);
	int k;

	if (!m || m->pure)
		return false;
	if (m->nresults && m->results[0].type == KL_T_BOOL && !(o->flags & KL_OP_PENDING) &&
	    kl_val_eq(*kl_op_res(s->h, o), kl_word(0)))
		return false;
	for (k = 0; k < kl_op_sig(s->h, o)->nargs; k++)
		if (k != m->part_param && (s->memo->flows[index] >> k & 1) &&
		    kl_val_eq(kl_op_args(s->h, o)[k], w->v))
			return true;
	return false;
}

/* May the operation @o, which is not in the history, have left the value? */
static bool may_leave(const struct kl_scene *s, const struct wanted *w, const struct kl_op *o)
{
	const int m = kl_spec_find_method(s->spec, s->h->methods[kl_op_method(s->h, o)]);
	const struct kl_word_method *word = w->steps && !s->keyed && m >= 0 ?
					    kl_word_method(s->spec, m) : NULL;
	struct kl_word_step step;

	if (!names_value(s, w, o))
		return false;
	if (!word)
		return true;
	step = kl_word_step(word, kl_op_args(s->h, o), true);
	return kl_word_leaves(&step) && kl_val_eq(kl_word(step.after), w->v);
}

static size_t count(const struct kl_scene *s, const struct wanted *w)
{
	return w->steps ? s->nsteps : s->part->nops;
}

/* Return: operation number @i, by call, if it may have left the value; else KL_NO_OP. */
static uint32_t match(const struct kl_scene *s, struct wanted *w, size_t i)
{
	uint32_t op;

	if (w->steps) {
		w->step = &s->steps[i];
		op = w->step->op;
		return op != w->op && kl_word_leaves(&w->step->step) &&
		       kl_val_eq(kl_word(w->step->step.after), w->v) ? op : KL_NO_OP;
	}
	op = kl_result_op(s->part, i);
	return op != w->op && names_value(s, w, &s->h->ops[op]) ? op : KL_NO_OP;
}

static int cast(const struct kl_scene *s, const struct wanted *w, uint32_t op,
		struct kl_story *story)
{
	if (w->steps)
		return kl_story_cast_leaving(s, w->step, story);
	return kl_story_cast(story, op, "was called with %s", kl_name_val(s, w->v).s);
}

/* Cast the operations that may have left a value: the last ones.  Return: 0 or -ENOMEM. */
static int cast_wanted(const struct kl_scene *s, struct wanted *w, struct kl_story *story)
{
	const size_t had = story->ncast;
	size_t n = 0, i;
	uint32_t op;

	w->last = KL_NO_OP;
	if (kl_scene_over(s, 2 * count(s, w)))
		return 0;
	for (i = count(s, w); w->steps && i-- && w->last == KL_NO_OP;) {
		op = match(s, w, i);
		if (op == KL_NO_OP || w->step->maybe || s->h->ops[op].flags & KL_OP_PENDING ||
		    !kl_scene_before(s, op, w->op))
			continue;
		w->last = op;
		n++;
		if (cast(s, w, op, story))
			return -ENOMEM;
	}
	/* Some may be in the cast already, in another role. */
	for (i = count(s, w); i-- && story->ncast < had + MAX_WRITERS;) {
		op = match(s, w, i);
		if (op == KL_NO_OP || op == w->last || kl_scene_before(s, w->op, op) ||
		    (w->last != KL_NO_OP && kl_scene_before(s, op, w->last)))
			continue;
		n++;
		if (cast(s, w, op, story))
			return -ENOMEM;
	}
	for (i = 0; i < count(s, w) && !n; i++) {
		op = match(s, w, i);
		if (op == KL_NO_OP)
			continue;
		n++;
		if (cast(s, w, op, story))
			return -ENOMEM;
	}
	return 0;
}

/* Add a fact as the first one, which a story of few lines has room for. */
static int add_first_fact(struct kl_story *story, const char *text)
{
	const size_t n = story->nfacts;
	char *fact;

	if (kl_story_fact(story, "%s", text))
		return -ENOMEM;
	if (story->nfacts == n)
		return 0;
	fact = story->facts[n];
	memmove(story->facts + 1, story->facts, n * sizeof(*story->facts));
	story->facts[0] = fact;
	return 0;
}

/*
 * Say that an operation which names the value failed: the last one that was called before, unless
 * it ended before the last writer returned.  Return: 0 or -ENOMEM.
 */
static int tell_failed(const struct kl_scene *s, const struct wanted *w, struct kl_story *story)
{
	const struct kl_source *from = s->h->source;
	const struct kl_source_events *seen = kl_source_events(s->h, w->op);
	const struct kl_source_events *last = w->last == KL_NO_OP ? NULL :
					      kl_source_events(s->h, w->last);
	char thread[100], text[200], lines[50], fact[768];
	size_t i = seen && seen->ret_line ? from->nfailed : 0;


	while (i--) {
		const struct kl_source_failed *f = &from->failed[i];

		if (kl_scene_over(s, 1))
			return 0;
		if (f->call_line > seen->ret_line || (last && f->ret_line < last->ret_line) ||
		    f->op.object != s->h->ops[w->op].object || !may_leave(s, w, &f->op))
			continue;
		kl_history_print_thread(thread, sizeof(thread), s->h, f->op.thread);
		kl_op_print(text, sizeof(text), s->h, &f->op);
		snprintf(lines, sizeof(lines), f->ret_line == f->call_line ? "line %u" :
			 "lines %u and %u", f->call_line, f->ret_line);
		snprintf(fact, sizeof(fact), "The file says that %s's %s, %s, failed, so %s cannot "
			 "come from it", thread, text, lines, kl_name_val(s, w->v).s);
		return add_first_fact(story, fact);
	}
	return 0;
}

/* Find the word that operation @op found.  Return: false if the steps do not tell. */
static bool found_word(const struct kl_scene *s, uint32_t op, struct kl_val *v)
{
	size_t i;

	for (i = 0; i < s->nsteps && !kl_scene_over(s, 1); i++) {
		const struct kl_word_deed *d = &s->steps[i];

		if (d->op != op)
			continue;
		*v = kl_word(d->step.before);
		return d->step.kind == KL_WORD_SEES || d->step.kind == KL_WORD_MOVES;
	}
	return false;
}

static int cast_all(const struct kl_scene *s, struct wanted *w, struct kl_story *story)
{
	const struct kl_op *o = &s->h->ops[w->op];
	const struct kl_method *m = method_of(s, o);
	size_t k;

	w->steps = s->steps && s->type.kind != KL_CONTAINER_SET && found_word(s, w->op, &w->v);
	if (w->steps && s->keyed && w->v.v == KL_STEP_ABSENT)
		return 0;
	if (w->steps)
		return cast_wanted(s, w, story) ?: tell_failed(s, w, story);
	for (k = 0; m && k < m->nresults; k++) {
		w->v = kl_op_res(s->h, o)[k];
		if (w->v.tag == KL_WORD && m->results[k].type != KL_T_BOOL &&
		    (cast_wanted(s, w, story) || tell_failed(s, w, story)))
			return -ENOMEM;
	}
	return 0;
}

int kl_story_cast_writers(const struct kl_scene *s, struct kl_story *story)
{
	struct wanted w = { .op = story->cast[0].op };

	if (s->h->ops[w.op].flags & KL_OP_PENDING)
		return 0;
	if (!s->memo->flows)
		s->memo->flows = find_flows(s);
	return s->memo->flows ? cast_all(s, &w, story) : -ENOMEM;
}

int kl_story_cast_all(const struct kl_scene *s, struct kl_story *story, uint32_t e)
{
	size_t i;

	if (kl_story_cast_writers(s, story))
		return -ENOMEM;
	for (i = 0; i < story->ncast && kl_scene_proves(s, story->cast[i].op); i++)
		;
	/* With store buffers a story does not say why a writer's store does not matter. */
	if (i == story->ncast || s->tso)
		return 0;
	for (i = s->part->nops; i-- && story->ncast < KL_STORY_CAST;) {
		const uint32_t op = kl_result_op(s->part, i);

		if (!kl_scene_before(s, e, op) &&
		    kl_story_cast(story, op, "%s",
				  kl_scene_before(s, op, e) ? "returned before" : "overlaps"))
			return -ENOMEM;
	}
	return 0;
}
