// SPDX-License-Identifier: GPL-2.0
/* The story of a violation, see story.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "history/source.h"
#include "history/spell.h"
#include "report/entries.h"
#include "report/json.h"
#include "report/stack.h"
#include "report/story.h"
#include "report/trust.h"
#include "report/words.h"
#include "story/story.h"

/* An operation of the cast as text. */
struct row {
	char who[48], what[256], when[48], where[96];
};

/* Write the line of an operation, and the line of its return.  Return: the length. */
static size_t put_place(char *text, size_t size, const struct kl_source_events *e,
			unsigned int line)
{
	const bool two = e && e->ret_line && e->ret_line != line;
	size_t len = snprintf(text, size, two ? "lines %u and %u" : "line %u", line,
			      two ? e->ret_line : 0);

	if (e && e->call_index && e->ret_index)
		len += snprintf(text + len, size - len, ", :index %u and %u", e->call_index - 1,
				e->ret_index - 1);
	else if (e && e->call_index)
		len += snprintf(text + len, size - len, ", :index %u", e->call_index - 1);
	return len;
}

static void make_row(struct row *row, const struct kl_history *h, uint32_t i)
{
	const struct kl_op *op = &h->ops[i];
	const char *comm = kl_history_spelled(h, KL_SPELLED_THREAD, h->threads[op->thread]);
	/* Lines stand beside them, so a bare number would be taken for a line. */
	const bool events = h->view.times == KL_TIMES_EVENTS;
	size_t len = 0, col;
	const unsigned int line = kl_source_find(h, i, &col);

	if (kl_source_is_first(h, i))
		strcpy(row->who, "first");
	else
		kl_history_print_thread(row->who, sizeof(row->who), h, op->thread);
	kl_op_print(row->what, sizeof(row->what), h, op);
	if (kl_source_is_first(h, i))
		strcpy(row->when, "before all");
	else if (op->flags & KL_OP_PENDING)
		snprintf(row->when, sizeof(row->when), "from %s%" PRIu64, events ? "event " : "",
			 op->call);
	else
		snprintf(row->when, sizeof(row->when), "%s%" PRIu64 "-%" PRIu64,
			 events ? "events " : "", op->call, op->ret);
	*row->where = 0;
	if (line)
		len = put_place(row->where, sizeof(row->where), kl_source_events(h, i), line);
	if (comm)
		len += snprintf(row->where + len, sizeof(row->where) - len, "%s%.63s",
				len ? ", " : "", comm);
	if (op->cpu != KL_NO_CPU && (comm || !line))
		snprintf(row->where + len, sizeof(row->where) - len, "%sCPU %u", len ? ", " : "",
			 op->cpu);
}

static void print_rows(FILE *f, const struct kl_history *h, const struct kl_story *s)
{
	struct row rows[KL_STORY_CAST];
	int who = 0, what = 0, role = 0, when = 0;
	size_t i;

#define WIDEN(width, text) do {					\
	if ((int)strlen(text) > (width))			\
		(width) = strlen(text);				\
} while (0)
	for (i = 0; i < s->ncast; i++) {
		make_row(&rows[i], h, s->cast[i].op);
		WIDEN(who, rows[i].who);
		WIDEN(what, rows[i].what);
		WIDEN(role, s->cast[i].role);
		WIDEN(when, rows[i].when);
	}
#undef WIDEN
	for (i = 0; i < s->ncast; i++)
		fprintf(f, "  %-*s  %-*s  %-*s  %-*s%s%s\n", who, rows[i].who, what, rows[i].what,
			role, s->cast[i].role, *rows[i].where ? when : 0, rows[i].when,
			*rows[i].where ? "  " : "", rows[i].where);
}

void kl_print_cast(FILE *f, const struct kl_history *h, const struct kl_story *s)
{
	fputc('\n', f);
	kl_put_sentence(f, "What is wrong:", s->headline);
	fputc('\n', f);
	print_rows(f, h, s);
	fputc('\n', f);
}

int kl_print_story(FILE *f, const struct kl_spec *spec, const struct kl_history *h,
		   const struct kl_part_result *p, const char *replay)
{
	struct kl_story *s;
	size_t i;
	int ret = kl_story_tell(spec, h, p, &s);

	if (ret)
		return ret;
	if (!s) {
		if (p->answer.ncore && *p->answer.reason)
			fprintf(f, "\nWhat is wrong: %s.\n", p->answer.reason);
		return 0;
	}
	kl_print_cast(f, h, s);
	for (i = 0; i < s->nfacts; i++)
		kl_put_sentence(f, "  ", s->facts[i]);
	for (i = 0; i < s->norders; i++)
		kl_put_sentence(f, "  ", s->orders[i].sentence);
	if (s->allowed.sentence)
		kl_put_sentence(f, "  ", s->allowed.sentence);
	fputc('\n', f);
	ret = kl_print_entries(f, h, s);
	kl_print_stacks(f, h, s);
	kl_print_trust(f, h, p, replay);
	kl_story_free(s);
	return ret;
}

static json_t *texts_json(char *const *texts, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, kl_json_text(texts[i]));
	return list;
}

static json_t *allowed_json(const struct kl_allowed *a)
{
	json_t *j = json_object();

	json_object_set_new(j, "operation", json_integer(a->op));
	json_object_set_new(j, "results", texts_json(a->results, a->n));
	json_object_set_new(j, "states", texts_json(a->states, a->n));
	json_object_set_new(j, "all", json_boolean(a->all));
	json_object_set_new(j, "exact", json_boolean(a->exact));
	json_object_set_new(j, "sentence", kl_json_text(a->sentence));
	return j;
}

static json_t *order_json(const struct kl_story_order *o)
{
	json_t *j = json_object(), *ops = json_array();
	size_t i;

	for (i = 0; i < o->nops; i++)
		json_array_append_new(ops, json_integer(o->ops[i]));
	json_object_set_new(j, "operations", ops);
	json_object_set_new(j, "state", *o->state ? kl_json_text(o->state) : json_null());
	json_object_set_new(j, "stopped_by", o->stopped_by == KL_NO_OP ? json_null() :
			    json_integer(o->stopped_by));
	json_object_set_new(j, "sentence", kl_json_text(o->sentence));
	return j;
}

void kl_add_story(json_t *j, const struct kl_spec *spec, const struct kl_history *h,
		  const struct kl_part_result *p, const char *replay)
{
	json_t *story, *cast, *orders, *one;
	struct kl_story *s;
	size_t i;

	if (kl_story_tell(spec, h, p, &s))
		kl_json_no_memory();
	if (!s)
		return;
	story = json_object();
	cast = json_array();
	orders = json_array();
	json_object_set_new(story, "reason", json_string(s->reason));
	json_object_set_new(story, "headline", kl_json_text(s->headline));
	for (i = 0; i < s->ncast; i++) {
		const uint32_t op = s->cast[i].op;

		one = kl_op_json_placed(h, op, h, &h->ops[op]);
		json_object_set_new(one, "role", kl_json_text(s->cast[i].role));
		json_array_append_new(cast, one);
	}
	for (i = 0; i < s->norders; i++)
		json_array_append_new(orders, order_json(&s->orders[i]));
	json_object_set_new(story, "cast", cast);
	json_object_set_new(story, "facts", texts_json(s->facts, s->nfacts));
	json_object_set_new(story, "orders", orders);
	if (s->allowed.sentence)
		json_object_set_new(story, "allowed", allowed_json(&s->allowed));
	json_object_set_new(story, "trust", kl_trust_json(h, p, replay));
	json_object_set_new(j, "story", story);
	kl_story_free(s);
}
