// SPDX-License-Identifier: GPL-2.0
/* klind's answers to `klin top', see wire.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "check/engine.h"
#include "report/envelope.h"
#include "report/json_value.h"
#include "top/text.h"
#include "top/wire.h"

/* The members of a structure that are counts, for the writer and the reader. */
static const struct {
	const char *name;
	size_t at;	/* offset of a uint64_t in struct top_counts */
} counts[] = {
#define COUNT(_name, _member) { _name, offsetof(struct top_counts, _member) }
	COUNT("at", at),
	COUNT("recorded", recorded),
	COUNT("checked", checked),
	COUNT("lost", lost),
	COUNT("missed", missed),
	COUNT("gaps", gaps),
	COUNT("violations", violations),
	COUNT("linearizable", linearizable),
	COUNT("violated", violated),
	COUNT("unknown", unknown),
	COUNT("waiting", waiting),
	COUNT("lag", lag_ns),
	COUNT("bytes", bytes),
#undef COUNT
};

#define COUNTS	(sizeof(counts) / sizeof(*counts))

json_t *top_rows_json(const struct top_row *rows, size_t n)
{
	json_t *j = kl_json_envelope("top", NULL), *list = json_array(), *s;
	size_t i, k;

	for (i = 0; i < n && i < TOP_ROWS; i++) {
		s = json_object();
		json_object_set_new(s, "name", kl_json_text(rows[i].name));
		json_object_set_new(s, "watched", json_boolean(rows[i].up));
		json_object_set_new(s, "verdict", json_string(kl_verdict_name(rows[i].verdict)));
		if (*rows[i].reason)
			json_object_set_new(s, "reason", kl_json_text(rows[i].reason));
		for (k = 0; k < COUNTS; k++)
			json_object_set_new(s, counts[k].name, kl_json_number(*(const uint64_t *)
					    ((const char *)&rows[i].c + counts[k].at)));
		json_array_append_new(list, s);
	}
	json_object_set_new(j, "structures", list);
	json_object_set_new(j, "not_listed", kl_json_number(n - i));
	return j;
}

json_t *top_story_json(const char *name, const char *story)
{
	json_t *j = kl_json_envelope("top_story", NULL);

	json_object_set_new(j, "name", kl_json_text(name));
	json_object_set_new(j, "story", story ? kl_json_text(story) : json_null());
	return j;
}

/* Return: 0, or -EPROTO if @j is not a number as kl_json_number() makes it. */
static int read_number(const json_t *j, uint64_t *v)
{
	const char *end;

	if (json_is_integer(j) && json_integer_value(j) >= 0) {
		*v = json_integer_value(j);
		return 0;
	}
	end = json_is_string(j) ? kl_digits(json_string_value(j), v) : NULL;
	return end && !*end ? 0 : -EPROTO;
}

static int read_verdict(const json_t *j, enum kl_verdict *v)
{
	static const enum kl_verdict all[] = { KL_LINEARIZABLE, KL_VIOLATION, KL_UNKNOWN };
	const char *s = json_string_value(j);
	size_t i;

	for (i = 0; s && i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(s, kl_verdict_name(all[i]))) {
			*v = all[i];
			return 0;
		}
	return -EPROTO;
}

static int read_row(const json_t *j, struct top_row *r)
{
	const char *name = json_string_value(json_object_get(j, "name"));
	const json_t *reason = json_object_get(j, "reason");
	const json_t *up = json_object_get(j, "watched");
	size_t i;

	if (!name || !*name || !json_is_boolean(up) || (reason && !json_is_string(reason)) ||
	    read_verdict(json_object_get(j, "verdict"), &r->verdict))
		return -EPROTO;
	r->up = json_is_true(up);
	top_text_clean(r->name, sizeof(r->name), name, 0);
	if (reason)
		top_text_clean(r->reason, sizeof(r->reason), json_string_value(reason), 0);
	for (i = 0; i < COUNTS; i++)
		if (read_number(json_object_get(j, counts[i].name),
				(uint64_t *)((char *)&r->c + counts[i].at)))
			return -EPROTO;
	return 0;
}

/* Read an answer of this kind.  Return: the object, or NULL. */
static json_t *read_answer(const char *text, size_t len, const char *kind)
{
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *is = json_string_value(json_object_get(j, "kind"));

	if (is && !strcmp(is, kind))
		return j;
	json_decref(j);
	return NULL;
}

int top_rows_read(const char *text, size_t len, struct top_row **rows, size_t *n, uint64_t *more)
{
	json_t *j = read_answer(text, len, "top");
	const json_t *list = json_object_get(j, "structures");
	const size_t all = json_array_size(list);
	struct top_row *r = NULL;
	int err = -EPROTO;
	size_t i;

	*n = all < TOP_ROWS ? all : TOP_ROWS;
	if (!json_is_array(list) || read_number(json_object_get(j, "not_listed"), more))
		goto out;
	*more += all - *n;
	r = calloc(*n + 1, sizeof(*r));
	err = r ? 0 : -ENOMEM;
	for (i = 0; !err && i < *n; i++)
		err = read_row(json_array_get(list, i), &r[i]);
out:
	json_decref(j);
	if (err) {
		free(r);
		return err;
	}
	*rows = r;
	return 0;
}

int top_story_read(const char *text, size_t len, char story[TOP_STORY])
{
	json_t *j = read_answer(text, len, "top_story");
	const json_t *s = json_object_get(j, "story");
	const int err = json_is_null(s) || json_is_string(s) ? 0 : -EPROTO;

	*story = '\0';
	if (json_is_string(s))
		top_text_clean(story, TOP_STORY, json_string_value(s), 1);
	json_decref(j);
	return err;
}
