// SPDX-License-Identifier: GPL-2.0
/* The story of a run, see run_story.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "report/json.h"
#include "report/run_accesses.h"
#include "report/run_end.h"
#include "report/run_order.h"
#include "report/run_story.h"
#include "report/story.h"
#include "report/words.h"

#define RUN_WORK	(1u << 28)	/* bound of the check, which is small for a client's run */

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
	struct kl_run_accesses accesses;
	struct kl_run_last last;
	char *order;		/* see kl_run_order(); may be NULL */
};

static void note_step(void *ctx, const struct kl_explore_step *step)
{
	struct run_story *s = ctx;

	kl_run_accesses_add(&s->accesses, step);
	kl_run_last_add(&s->last, step);
}

/* ---- the store in the buffer --------------------------------------------------------------- */

/* Find the last load of the run that missed a store in a buffer. */
static int find_stale(struct run_story *s, const struct kl_explorer *x)
{
	const struct kl_run_accesses *all = &s->accesses;
	const struct kl_run_access *load, *store;
	struct stale *st = &s->stale;
	size_t i;

	for (i = all->n; i && all->all[i - 1].missed == KL_RUN_NONE; i--)
		;
	if (!i || all->cut)
		return 0;
	load = &all->all[i - 1];
	store = &all->all[load->missed];
	*st = (struct stale){
		.writer = store->thread, .reader = load->thread, .stored = store->step,
		.loaded = load->step, .left = store->left,
	};
	s->has_stale = true;
	return kl_explore_place(x, load->addr, st->place, sizeof(st->place)) ?:
	       kl_explore_value(x, store->val, st->value, sizeof(st->value));
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

/* @sc: without store buffers; @witness: with an order.  Return: 0 or a negative errno. */
static int check_history(const struct run_story *s, bool sc, bool witness, struct kl_report **r)
{
	const struct kl_options opt = {
		.classical = sc,
		.no_witness = !witness,
		.max_shrink = 1,
		.threads = 1,
		.work = RUN_WORK,
		.bytes = 1ull << 28,
		.cache = 1u << 16,
	};

	return kl_check(s->spec, s->h, &opt, r);
}

/* Find the order that calls and returns have.  Return: 0 or a negative errno. */
static int find_order(struct run_story *s, const struct kl_explorer *x)
{
	struct kl_report *r;
	int ret = check_history(s, true, true, &r);

	if (ret)
		return ret;
	ret = kl_run_order(x, r, &s->last, &s->order);
	kl_report_free(r);
	return ret;
}

/*
 * Tell the story of a run; free_story() it, also after an error.  Return: 0 or a negative errno.
 */
static int make_story(struct run_story *s, struct kl_explorer *x, bool sc)
{
	int ret;

	*s = (struct run_story){ .spec = kl_explore_spec(x) };
	if (kl_explore_found(x) != KL_EX_NOT_LINEARIZABLE) {
		ret = kl_explore_run(x, note_step, s);
		/* The run stands without a story. */
		return s->accesses.err ?: ret == -ESTALE ? 0 : ret;
	}
	ret = kl_explore_history(x, sc, note_step, s, &s->h);
	if (s->accesses.err)
		ret = s->accesses.err;
	if (!ret || ret == -ENOTSUP)
		ret = find_stale(s, x) ?: ret;
	if (!ret)
		ret = check_history(s, sc, false, &s->r);
	/* A hint says what the store buffer has to do with it. */
	if (!ret && !sc && !*kl_explore_hint(x) && s->r->verdict == KL_LINEARIZABLE)
		ret = find_order(s, x);
	/* The run stands without a story. */
	return ret == -ENOTSUP || ret == -ESTALE || ret == -EINVAL ? 0 : ret;
}

static void free_story(struct run_story *s)
{
	free(s->order);
	kl_report_free(s->r);
	kl_history_free(s->h);
	kl_run_accesses_free(&s->accesses);
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
	if (!ret)
		ret = kl_run_end_print(f, x, &s.accesses);
	if (p && !ret)
		ret = kl_print_story(f, s.spec, s.h, p, NULL);
	if (s.order && !ret)
		kl_put_sentence(f, "Only with store buffers:", s.order);
	if (s.has_stale && !ret) {
		put_stale(&s.stale, text, sizeof(text));
		kl_put_sentence(f, "  ", text);
	}
	if (p && !ret)
		fputs("  Times are numbers of the run's steps.\n", f);
	if ((p || s.order || s.has_stale) && !ret)
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
	if (!ret)
		ret = kl_run_end_add(j, x, &s.accesses);
	if (p && !ret)
		kl_add_story(j, s.spec, s.h, p, NULL);
	if (s.order && !ret)
		json_object_set_new(j, "order_without_buffers", kl_json_text(s.order));
	if (s.has_stale && !ret)
		json_object_set_new(j, "store_buffer", stale_json(&s.stale));
	free_story(&s);
	return ret;
}
