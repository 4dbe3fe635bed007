// SPDX-License-Identifier: GPL-2.0
/* Entries of no operation, and operations that failed, see others.h. */
#include <errno.h>

#include "history/source_text.h"
#include "report/json.h"
#include "report/others.h"

/* Read an entry again.  Return: whether that was possible. */
static bool read_entry(const struct kl_history *h, uint32_t at, uint32_t line,
		       struct kl_source_text *t)
{
	const int ret = kl_source_text_at(h, at, line, t);

	if (ret == -ENOMEM)
		kl_json_no_memory();
	return ret > 0;
}

static void add_piece(json_t *j, const char *name, const struct kl_piece *piece)
{
	if (piece->len)
		json_object_set_new(j, name, kl_json_bytes(piece->s, piece->len));
}

static json_t *other_json(const struct kl_history *h, const struct kl_source_other *o)
{
	struct kl_source_text t;
	json_t *j = json_object();

	json_object_set_new(j, "line", json_integer(o->line));
	json_object_set_new(j, "after", kl_json_number(o->after));
	if (!read_entry(h, o->at, o->line, &t))
		return j;
	add_piece(j, "process", &t.entry.process);
	add_piece(j, "type", &t.entry.type);
	add_piece(j, "f", &t.entry.f);
	add_piece(j, "value", &t.entry.value);
	kl_source_entry_json(j, KL_SOURCE_CALL, &t);
	return j;
}

static json_t *failed_json(const struct kl_history *h, const struct kl_source_failed *f)
{
	json_t *j = json_object();
	struct kl_source_text t;

	json_object_set_new(j, "thread", kl_thread_json(h, f->op.thread));
	json_object_set_new(j, "call", kl_json_number(f->op.call));
	json_object_set_new(j, "after", kl_json_number(f->op.ret));
	json_object_set_new(j, "line", json_integer(f->call_line));
	json_object_set_new(j, "return_line", json_integer(f->ret_line));
	if (read_entry(h, f->call_at, f->call_line, &t)) {
		add_piece(j, "f", &t.entry.f);
		add_piece(j, "value", &t.entry.value);
		kl_source_entry_json(j, KL_SOURCE_CALL, &t);
	}
	if (read_entry(h, f->ret_at, f->ret_line, &t))
		kl_source_entry_json(j, KL_SOURCE_RETURN, &t);
	return j;
}

void kl_add_others(json_t *j, const struct kl_history *h, size_t most)
{
	const struct kl_source *s = h->source;
	json_t *list;
	size_t i;

	if (s && s->nother) {
		list = json_array();
		for (i = 0; i < s->nother && i < most; i++)
			json_array_append_new(list, other_json(h, &s->other[i]));
		json_object_set_new(j, "other_entries", list);
		if (i < s->nother)
			json_object_set_new(j, "other_entries_not_listed",
					    json_integer(s->nother - i));
	}
	if (s && s->nfailed) {
		list = json_array();
		for (i = 0; i < s->nfailed && i < most; i++)
			json_array_append_new(list, failed_json(h, &s->failed[i]));
		json_object_set_new(j, "failed_operations", list);
		if (i < s->nfailed)
			json_object_set_new(j, "failed_operations_not_listed",
					    json_integer(s->nfailed - i));
	}
}
