// SPDX-License-Identifier: GPL-2.0
/* Asks each reason of the registry for the story of a violation, see story.h. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/source.h"
#include "history/spell.h"
#include "story/ranges.h"
#include "story/reason.h"
#include "story/stores.h"

#define MAX_REASONS	64
#define OP_LOOKS 192 /* looks for reading an operation and splitting the history */

extern const struct kl_reason *const __start_kl_reason_list[];
extern const struct kl_reason *const __stop_kl_reason_list[];

static const struct kl_reason *sorted[MAX_REASONS + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare_reasons(const void *a, const void *b)
{
	const struct kl_reason *const *x = a, *const *y = b;

	if ((*x)->rank != (*y)->rank)
		return (*x)->rank < (*y)->rank ? -1 : 1;
	return strcmp((*x)->name, (*y)->name);
}

static void sort(void)
{
	const size_t n = __stop_kl_reason_list - __start_kl_reason_list;

	/* This is a developer's mistake, which every test shows. */
	if (n > MAX_REASONS)
		abort();
	memcpy(sorted, __start_kl_reason_list, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_reasons);
}

const struct kl_reason *const *kl_reasons(void)
{
	pthread_once(&once, sort);
	return sorted;
}

int kl_story_headline(struct kl_story *story, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&story->headline, fmt, ap);
	va_end(ap);
	if (n < 0)
		story->headline = NULL;
	return n < 0 ? -ENOMEM : 1;
}

int kl_story_neither(const struct kl_scene *s, uint32_t a, uint32_t b, struct kl_story *story)
{
	return kl_story_headline(story,
				 "%s and %s cannot both be right: neither can follow the "
				 "other, whatever came between",
				 kl_name_op(s, a).s, kl_name_op(s, b).s);
}

int kl_story_never(const struct kl_scene *s, uint32_t op, const char *right, struct kl_story *story)
{
	return kl_story_headline(story,
				 "%s is not possible in any order of the operations called before "
				 "%llu%s%s%s",
				 kl_name_op(s, op).s, (unsigned long long)s->h->ops[op].ret,
				 *right ? "; only " : "", right, *right ? " was right" : "");
}

int kl_story_fact(struct kl_story *story, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (story->nfacts == KL_STORY_FACTS)
		return 0;
	va_start(ap, fmt);
	n = vasprintf(&story->facts[story->nfacts], fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	story->nfacts++;
	return 0;
}

int kl_story_cast(struct kl_story *story, uint32_t op, const char *fmt, ...)
{
	va_list ap;
	size_t i;
	int n;

	for (i = 0; i < story->ncast; i++)
		if (story->cast[i].op == op)
			return 0;
	if (story->ncast == KL_STORY_CAST)
		return 0;
	va_start(ap, fmt);
	n = vasprintf(&story->cast[story->ncast].role, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	story->cast[story->ncast++].op = op;
	return 0;
}

int kl_story_inside(const struct kl_scene *s, struct kl_story *story, uint64_t value, uint32_t op)
{
	const struct kl_op *ops = s->h->ops;
	const struct kl_name v = kl_name_val(s, kl_word(value));
	const struct kl_deed *d;
	size_t i, n;
	int ret = 0;

	d = kl_scene_deeds(s, KL_ACT_ADD, value, &n);
	for (i = 0; i < n && !ret; i++)
		if (kl_scene_before(s, d[i].op, op))
			ret = kl_story_cast(story, d[i].op, "added %s", v.s);
	d = kl_scene_deeds(s, KL_ACT_REMOVE, value, &n);
	for (i = 0; i < n && !ret; i++)
		ret = kl_story_cast(story, d[i].op, "took %s%s", v.s,
				    kl_scene_before(s, op, d[i].op) ? " later" : "");
	if (ret)
		return ret;
	if (!n)
		return kl_story_fact(story, "No operation took %s", v.s);
	if (n > 1 || !kl_scene_before(s, op, d->op))
		return kl_story_fact(story, "Too few operations can have taken %s before", v.s);
	return kl_story_fact(story, "%s was called at %llu, after %s had returned at %llu",
			     kl_name_op(s, d->op).s, (unsigned long long)ops[d->op].call,
			     kl_name_op(s, op).s, (unsigned long long)ops[op].ret);
}

int kl_story_each(const struct kl_scene *s, enum kl_act act,
		  int (*look)(const struct kl_scene *s, const struct kl_deed *d,
			      struct kl_story *story),
		  struct kl_story *story)
{
	size_t n, i;
	const struct kl_deed *d = kl_scene_all(s, act, &n);
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		if (kl_scene_proves(s, d[i].op))
			ret = look(s, &d[i], story);
	return ret;
}

int kl_story_first_word(const struct kl_scene *s, struct kl_story *story, struct kl_name word)
{
	uint32_t i;

	for (i = 0; i < s->part->nops; i++) {
		const uint32_t op = kl_result_op(s->part, i);

		if (kl_source_is_first(s->h, op)) {
			word = kl_name_val(s, *kl_op_args(s->h, &s->h->ops[op]));
			break;
		}
	}
	return kl_story_fact(story, "The first value is %s", word.s);
}

struct kl_name kl_name_op(const struct kl_scene *s, uint32_t op)
{
	const struct kl_op *o = &s->h->ops[op];
	const bool lines = s->h->view.threadless && s->h->places;
	char thread[100];
	struct kl_name name;
	int n;

	kl_history_print_thread(thread, sizeof(thread), s->h, o->thread);
	if (lines)
		snprintf(thread, sizeof(thread), "line %u", s->h->places[op]);
	if (kl_source_is_first(s->h, op))
		n = snprintf(name.s, sizeof(name.s), "the first ");
	else
		n = snprintf(name.s, sizeof(name.s), "%s's ", thread);
	kl_op_print(name.s + n, sizeof(name.s) - n, s->h, o);
	return name;
}

struct kl_name kl_name_call(const struct kl_scene *s, uint32_t op)
{
	struct kl_name name = kl_name_op(s, op);
	char *results = strstr(name.s, ") -> ");

	if (results)
		results[1] = 0;
	return name;
}

struct kl_name kl_name_val(const struct kl_scene *s, struct kl_val v)
{
	struct kl_name name;

	kl_history_print_val(name.s, sizeof(name.s), s->h, v);
	return name;
}

struct kl_name kl_name_slot(const struct kl_scene *s, const struct kl_val *state, size_t i)
{
	struct kl_name name;

	kl_slot_print(name.s, sizeof(name.s), s->spec, s->h, state, i);
	return name;
}

struct kl_name kl_name_step(const struct kl_scene *s, uint64_t v)
{
	if (s->keyed && v == KL_STEP_ABSENT)
		return (struct kl_name){ "nothing" };
	return kl_name_val(s, kl_word(s->type.kind == KL_CONTAINER_SET ? s->key : v));
}

/* The failing operation stays first; the history's operations are sorted by call. */
static int compare_cast(const void *a, const void *b)
{
	const struct kl_part_played *x = a, *y = b;

	return x->op < y->op ? -1 : x->op > y->op;
}

/*
 * Put the names of structure, object and key before the headline: "map @1 key 3: ".  Return: 0 or
 * -ENOMEM.
 */
static int name_object(const struct kl_spec *spec, const struct kl_history *h,
		       const struct kl_part_result *p, struct kl_story *story)
{
	const char *symbol = kl_history_symbol(h, p->object);
	const char *slab = symbol ? NULL : kl_history_slab(h, p->object);
	const char *name = slab ? slab : symbol;
	char object[32] = "", key[80] = "", *whole;

	if (h->keyed)
		kl_history_print_val(key, sizeof(key), h, kl_word(p->object));
	else if (p->has_key)
		kl_history_print_val(key, sizeof(key), h, kl_word(p->key));
	if (!h->keyed)
		snprintf(object, sizeof(object), " @%llx", (unsigned long long)p->object);
	if (asprintf(&whole, "%s%s%s%s%s%s%s%s: %s", kl_spec_name(spec), object, name ? " (" : "",
		     slab ? "slab " : "", name ? name : "", name ? ")" : "", *key ? " key " : "",
		     key, story->headline) < 0)
		return -ENOMEM;
	free(story->headline);
	story->headline = whole;
	return 0;
}

static bool casts(const struct kl_story *story, uint32_t op)
{
	size_t i;

	for (i = 0; i < story->ncast && story->cast[i].op != op; i++)
		;
	return i < story->ncast;
}

/*
 * Say what would have been right, unless the reason did: of the failing operation if it has
 * results, of the one that ends the counterexample if the story tells of it, that the failing
 * operation could not take effect, or of the one that ends the counterexample, which the story then
 * tells of.  Return: 0 or -ENOMEM.
 */
static int allow(const struct kl_scene *s, struct kl_story *story)
{
	const uint32_t first = story->cast[0].op, last = kl_story_failing(s->part->cex);
	const bool has_results = kl_op_sig(s->h, &s->h->ops[first])->nres;
	int ret = 0;

	if (!story->allowed.sentence && has_results)
		ret = kl_story_allow(s, story, first);
	/* The counterexample may have forgotten the return of the operation. */
	if (!ret && !story->allowed.sentence && casts(story, last))
		ret = kl_story_allow(s, story, last);
	if (!ret && !story->allowed.sentence && !has_results)
		ret = kl_story_allow(s, story, first);
	/* The proof is about another operation, which joins the cast. */
	if (!ret && !story->allowed.sentence && last != KL_NO_OP)
		ret = kl_story_cast(story, last, "ends the counterexample");
	if (!ret && !story->allowed.sentence && last != KL_NO_OP && casts(story, last))
		ret = kl_story_allow(s, story, last);
	return ret;
}

/*
 * Three quarters of the looks are for reasons, and the rest is for what would have been right.  A
 * reason that finds nothing leaves a third of what is left to those after it.
 */
static void limit_reason(struct kl_scene_looks *l)
{
	const uint64_t most = l->all / 4 * 3;

	l->most = l->made < most ? l->made + (most - l->made) / 3 * 2 : l->made;
}

/* Does the story tell of an operation of the proof?  Any story will do where there is none. */
static bool tells_of_proof(const struct kl_scene *s, const struct kl_story *story)
{
	size_t i;

	for (i = 0; i < story->ncast; i++)
		if (kl_scene_proves(s, story->cast[i].op))
			return true;
	return !s->nproof;
}

static bool applies(const struct kl_scene *s, const struct kl_reason *r)
{
	return (!s->tso || r->tso) && (!s->part->ngaps || r->gaps) &&
	       (r->needs != KL_NEEDS_DEEDS || s->deeds) && (r->needs != KL_NEEDS_STEPS || s->steps);
}

/*
 * Ask each reason until one tells of the proof's operations.  Of those that tell of others, which
 * are wrong by themselves, the first is taken where only the longest orders tell of the proof.
 * Return: 1, 0 if no reason applies, or -ENOMEM.
 */
static int ask_reasons(const struct kl_scene *s, struct kl_story **out)
{
	struct kl_scene_looks *looks = s->looks;
	const struct kl_reason *const *r;
	struct kl_story *story = NULL;
	int ret = 0;

	for (r = kl_reasons(); !ret && *r && !(*out && (*r)->any); r++) {
		if (!applies(s, *r))
			continue;
		story = story ?: calloc(1, sizeof(*story));
		if (!story) {
			ret = -ENOMEM;
			break;
		}
		story->allowed.op = KL_NO_OP;
		limit_reason(looks);
		story->reason = (*r)->name;
		ret = (*r)->tell(s, story);
		if (!ret && looks->made > looks->most && looks->made - looks->most > looks->beyond)
			looks->beyond = looks->made - looks->most;
		if (ret <= 0 || tells_of_proof(s, story))
			continue;
		if (*out)
			kl_story_free(story);
		else
			*out = story;
		story = NULL;
		ret = 0;
	}
	if (ret > 0) {
		kl_story_free(*out);
		*out = story;
		return ret;
	}
	kl_story_free(story);
	return ret ?: *out != NULL;
}

int kl_story_tell(const struct kl_spec *spec, const struct kl_history *h,
		  const struct kl_part_result *p, struct kl_story **out)
{
	const uint64_t all = kl_scene_work(p) + (uint64_t)OP_LOOKS * p->nops + KL_STORY_LOOKS;
	struct kl_scene_looks looks = { .most = all, .all = all };
	struct kl_scene_memo memo = { .earlier = KL_NO_OP, .later = KL_NO_OP };
	struct kl_scene s = { .looks = &looks, .memo = &memo };
	struct kl_story *story = NULL;
	int ret;

	*out = NULL;
	if (p->selected)
		return 0;
	ret = kl_scene_set(&s, spec, h, p);
	if (ret)
		return ret;
	ret = ask_reasons(&s, &story);
	looks.most = all;
	if (ret > 0 && (kl_story_cast_writers(&s, story) || allow(&s, story)))
		ret = -ENOMEM;
	if (ret > 0 && name_object(spec, h, p, story))
		ret = -ENOMEM;
	kl_ranges_free(memo.ranges);
	kl_stores_free(memo.stores);
	free(memo.flows);
	kl_scene_free(&s);
	if (ret <= 0) {
		kl_story_free(story);
		return ret;
	}
	if (story->ncast > 2)
		qsort(story->cast + 1, story->ncast - 1, sizeof(*story->cast), compare_cast);
	story->looks = looks.made;
	story->most_looks = all;
	story->beyond = looks.beyond;
	*out = story;
	return 0;
}

void kl_story_free(struct kl_story *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->ncast; i++)
		free(s->cast[i].role);
	for (i = 0; i < s->nfacts; i++)
		free(s->facts[i]);
	kl_story_free_allowed(&s->allowed);
	for (i = 0; i < s->norders; i++) {
		free(s->orders[i].ops);
		free(s->orders[i].state);
		free(s->orders[i].sentence);
	}
	free(s->headline);
	free(s);
}
