// SPDX-License-Identifier: GPL-2.0
/* Entries of operations in the file, see texts.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/source.h"
#include "page/choose.h"
#include "page/texts.h"
#include "report/json.h"

struct texts {
	const struct kl_page *p;
	json_t *list;
	size_t n, bytes;
	bool *done; /* by operation */
};

/* Return: the bytes of the entries in @source, or 0 if it has none. */
static size_t bytes_of(const json_t *source)
{
	return json_string_length(json_object_get(source, "text")) +
	       json_string_length(json_object_get(source, "return_text"));
}

/* Make a time a text: JavaScript rounds numbers from 2^53 on. */
static void set_exact(json_t *source, const char *name)
{
	const json_t *time = json_object_get(source, name);
	char text[24];

	if (!json_is_integer(time))
		return;
	snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(time));
	json_object_set_new(source, name, json_string(text));
}

/* Add the entries of an operation, unless they need more room than there is. */
static void add_op(struct texts *t, uint32_t id)
{
	json_t *source = json_object();
	size_t bytes;

	kl_source_text_json(source, t->p->h, id);
	bytes = bytes_of(source);
	if (!bytes || (t->p->texts && bytes > t->p->texts - t->bytes)) {
		json_decref(source);
		return;
	}
	set_exact(source, "time");
	set_exact(source, "return_time");
	json_object_set_new(source, "id", json_integer(id));
	json_array_append_new(t->list, source);
	t->bytes += bytes;
	t->done[id] = true;
	t->n++;
}

/* Add @chosen operations (NULL: all) that the page holds. */
static void add_ops(struct texts *t, const bool *kept, const bool *chosen)
{
	size_t i;

	for (i = 0; i < t->p->h->nops; i++)
		if (!t->done[i] && (!kept || kept[i]) && (!chosen || chosen[i]))
			add_op(t, i);
}

/* Return: about the number of operations whose entries have room; 0: all. */
static size_t guess(const struct kl_page *p)
{
	const struct kl_source *s = p->h->source;
	const size_t size = s->text ? s->len : s->id.size;
	const size_t each = size / p->h->nops + 1;

	return !p->texts || size <= p->texts ? 0 : p->texts / each + 1;
}

static size_t count(const struct kl_history *h, const bool *kept)
{
	size_t n = 0, i;

	for (i = 0; i < h->nops; i++)
		n += (!kept || kept[i]) && !kl_source_is_first(h, i);
	return n;
}

static int add_all(struct texts *t, const bool *kept)
{
	const struct kl_page *p = t->p;
	bool *chosen;
	int ret;

	/* With room for one operation, those are chosen that the result names. */
	ret = kl_page_choose(p->h, p->r, p->result, p->found, 1, &chosen);
	if (ret)
		return ret;
	if (chosen)
		add_ops(t, kept, chosen);
	free(chosen);
	ret = kl_page_choose(p->h, p->r, p->result, p->found, guess(p), &chosen);
	if (ret)
		return ret;
	add_ops(t, kept, chosen);
	free(chosen);
	return 0;
}

json_t *kl_page_texts(const struct kl_page *p, const bool *kept)
{
	struct texts t = { .p = p };
	json_t *j;

	if (!p->h->source || !p->h->nops)
		return NULL;
	t.list = json_array();
	t.done = calloc(p->h->nops, sizeof(*t.done));
	if (!t.done || add_all(&t, kept))
		kl_json_no_memory();
	free(t.done);
	if (!t.n) {
		json_decref(t.list);
		return NULL;
	}
	j = json_object();
	json_object_set_new(j, "list", t.list);
	json_object_set_new(j, "left", json_integer(count(p->h, kept) - t.n));
	return j;
}
