// SPDX-License-Identifier: GPL-2.0
/* The story of a run, see run_story.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "report/json.h"
#include "report/run_story.h"
#include "report/story.h"
#include "report/words.h"

#define RUN_WORK	(1u << 28)	/* bound of the check, which is small for a client's run */

/* A step, for finding a store and its load. */
struct run_step {
	unsigned int thread;
	char *what;
};

/* A store in a buffer and the load that missed it.  Numbers are steps. */
struct stale {
	char place[64], value[32];
	unsigned int writer, reader, stored, loaded, left;	/* @left: 0 if it did not leave */
};

struct run_story {
	const struct kl_spec *spec;
	struct kl_history *h;
	struct kl_report *r;
	struct stale stale;
	bool has_stale;
	struct run_step *steps;		/* while the run is made */
	size_t nsteps;
	int err;
};

static void note_step(void *ctx, const struct kl_explore_step *from)
{
	struct run_story *s = ctx;
	struct run_step *steps;

	if (s->err)
		return;
	steps = reallocarray(s->steps, s->nsteps + 1, sizeof(*steps));
	if (!steps) {
		s->err = -ENOMEM;
		return;
	}
	s->steps = steps;
	steps[s->nsteps] = (struct run_step){ from->thread, strdup(from->what) };
	if (!steps[s->nsteps++].what)
		s->err = -ENOMEM;
}

/* ---- the store in the buffer --------------------------------------------------------------- */

/*
 * Count a thread's accesses such as "x = 1 to the buffer" in a step.  Those of other threads than the
 * one that makes the step begin with "T1: ".
 */
static unsigned int count_access(const struct run_step *step, unsigned int thread,
				 const char *access)
{
	const char *at = step->what;
	unsigned int n = 0;
	char other[8];

	for (; (at = strstr(at, access)); at += strlen(access)) {
		const size_t before = at - step->what;
		const size_t len = snprintf(other, sizeof(other), "T%u: ", thread);

		if (before && at[-1] != ' ')
			continue;
		if (before >= 2 && at[-2] == ':')
			n += before >= len && !memcmp(at - len, other, len);
		else
			n += step->thread == thread;
	}
	return n;
}

static unsigned int count_text(const struct run_step *step, const char *text)
{
	const char *at = step->what;
	unsigned int n = 0;

	for (; (at = strstr(at, text)); at += strlen(text))
		n++;
	return n;
}

/*
 * Read a load "PLACE is VALUE (stale: T0's buffer has VALUE)", whose mark "(stale" is at @mark.
 * Return: true if the store in the buffer has another value.
 */
static bool read_load(const struct run_step *step, const char *mark, struct stale *st)
{
	const char *from = mark, *is = NULL;
	char value[32];
	int len = 0;

	if (sscanf(mark, "(stale: T%u's buffer has %31[^)]", &st->writer, st->value) != 2)
		return false;
	while (from > step->what && from[-1] != ',' && from[-1] != ';')
		from--;
	from += *from == ' ';
	if (sscanf(from, "T%u: %n", &st->reader, &len) == 1 && len)
		from += len;
	else
		st->reader = step->thread;
	is = strstr(from, " is ");
	if (!is || is > mark || is - from >= (long)sizeof(st->place) ||
	    sscanf(is, " is %31s", value) != 1 || !strcmp(value, st->value))
		return false;
	memcpy(st->place, from, is - from);
	st->place[is - from] = 0;
	return true;
}

/* Read the last stale load of a step.  Return: true if it has one. */
static bool read_stale(const struct run_step *step, struct stale *st)
{
	const char *at = step->what;
	struct stale one;
	bool any = false;

	for (; (at = strstr(at, "(stale: T")); at++) {
		one = (struct stale){ 0 };
		if (!read_load(step, at, &one))
			continue;
		*st = one;
		any = true;
	}
	return any;
}

/*
 * Find the last stale load of the run, the store that it missed, and the store's flush.  The store
 * is the newest one of its buffer to that place, so it is the thread's last store before the load.
 */
static void find_stale(struct run_story *s)
{
	char stored[128], left[160];
	struct stale *st = &s->stale;
	unsigned int inside = 0;
	size_t i;

	for (i = s->nsteps; i && !read_stale(&s->steps[i - 1], st); i--)
		;
	if (!i)
		return;
	st->loaded = i - 1;
	snprintf(stored, sizeof(stored), "%s = %s to the buffer", st->place, st->value);
	snprintf(left, sizeof(left), "T%u's buffer: %s = %s reaches memory", st->writer, st->place,
		 st->value);
	/* Stores of the same value leave in their order, so count those that are inside. */
	for (i = 0; i < st->loaded; i++) {
		const unsigned int n = count_access(&s->steps[i], st->writer, stored);

		if (n)
			st->stored = i;
		inside += n - count_text(&s->steps[i], left);
	}
	if (!inside || !st->stored)
		return;
	s->has_stale = true;
	for (i = st->loaded + 1; i < s->nsteps; i++) {
		const unsigned int n = count_text(&s->steps[i], left);

		if (n >= inside) {
			st->left = i;
			return;
		}
		inside -= n;
	}
}

static void put_stale(const struct stale *st, char *buf, size_t size)
{
	size_t n = snprintf(buf, size,
			    "T%u's store %s = %s at step %u was still in T%u's buffer when T%u loaded "
			    "%s at step %u; it ", st->writer, st->place, st->value, st->stored,
			    st->writer, st->reader, st->place, st->loaded);

	if (n >= size)
		return;
	if (st->left)
		snprintf(buf + n, size - n, "left at step %u", st->left);
	else
		snprintf(buf + n, size - n, "had not left by the end of the run");
}

static int check_history(struct run_story *s, bool sc)
{
	const struct kl_options opt = {
		.classical = sc, .no_witness = true, .max_shrink = 1, .threads = 1,
		.work = RUN_WORK, .bytes = 1ull << 28, .cache = 1u << 16,
	};

	return kl_check(s->spec, s->h, &opt, &s->r);
}

static void forget_run(struct run_story *s)
{
	while (s->nsteps)
		free(s->steps[--s->nsteps].what);
	free(s->steps);
	s->steps = NULL;
}

/*
 * Tell the story of a run; free_story() it, also after an error.  Return: 0 or a negative errno.
 */
static int make_story(struct run_story *s, struct kl_explorer *x, bool sc)
{
	int ret;

	*s = (struct run_story){ .spec = kl_explore_spec(x) };
	ret = kl_explore_history(x, sc, note_step, s, &s->h);
	if (s->err)
		ret = s->err;
	else if (ret != -ESTALE)
		find_stale(s);
	if (!ret)
		ret = check_history(s, sc);
	forget_run(s);
	/* The run stands without a story. */
	return ret == -ENOTSUP || ret == -ESTALE || ret == -EINVAL ? 0 : ret;
}

static void free_story(struct run_story *s)
{
	kl_report_free(s->r);
	kl_history_free(s->h);
}

/* ---- output -------------------------------------------------------------------------------- */

/* Return: the violated partition, or NULL. */
static const struct kl_part_result *violated(const struct run_story *s)
{
	size_t i;

	for (i = 0; s->r && i < s->r->nparts; i++)
		if (s->r->parts[i].answer.verdict == KL_VIOLATION)
			return &s->r->parts[i];
	return NULL;
}

int kl_run_story_print(FILE *f, struct kl_explorer *x, bool sc)
{
	const struct kl_part_result *p;
	struct run_story s;
	char text[320];
	int ret = make_story(&s, x, sc);

	p = violated(&s);
	if (p && !ret)
		ret = kl_print_story(f, s.spec, s.h, p, NULL);
	if (s.has_stale && !ret) {
		put_stale(&s.stale, text, sizeof(text));
		kl_put_sentence(f, "  ", text);
	}
	if (p && !ret)
		fputs("  Times are numbers of the run's steps.\n", f);
	if ((p || s.has_stale) && !ret)
		fputc('\n', f);
	free_story(&s);
	return ret;
}

static json_t *stale_json(const struct stale *st)
{
	json_t *j = json_object();
	char text[320];

	put_stale(st, text, sizeof(text));
	json_object_set_new(j, "place", kl_json_text(st->place));
	json_object_set_new(j, "value", kl_json_text(st->value));
	json_object_set_new(j, "writer", json_integer(st->writer));
	json_object_set_new(j, "stored", json_integer(st->stored));
	json_object_set_new(j, "reader", json_integer(st->reader));
	json_object_set_new(j, "loaded", json_integer(st->loaded));
	json_object_set_new(j, "left", st->left ? json_integer(st->left) : json_null());
	json_object_set_new(j, "sentence", kl_json_text(text));
	return j;
}

int kl_run_story_add(json_t *j, struct kl_explorer *x, bool sc)
{
	const struct kl_part_result *p;
	struct run_story s;
	int ret = make_story(&s, x, sc);

	p = violated(&s);
	if (p && !ret)
		kl_add_story(j, s.spec, s.h, p, NULL);
	if (s.has_stale && !ret)
		json_object_set_new(j, "store_buffer", stale_json(&s.stale));
	free_story(&s);
	return ret;
}
