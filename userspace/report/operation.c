// SPDX-License-Identifier: GPL-2.0
/* An operation as JSON, see json.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "history/source_text.h"
#include "history/spell.h"
#include "history/string_pool.h"
#include "report/json.h"
#include "report/stack.h"

json_t *kl_word_json(const struct kl_history *h, uint64_t word)
{
	const char *spelling = kl_history_spelling(h, word);
	char decimal[24];

	if (!spelling)
		return kl_json_number(word);
	/* A number that is written otherwise, such as 0x1f, stays a text. */
	snprintf(decimal, sizeof(decimal), "%lld", (long long)word);
	return strcmp(decimal, spelling) ? kl_json_text(spelling) : json_integer((int64_t)word);
}

/* A value: null if it is not known, a number, or a text as in the input. */
static json_t *value_json(const struct kl_history *h, struct kl_val v)
{
	char text[32];

	if (v.tag == KL_ANY)
		return json_null();
	if (v.tag == KL_WORD && kl_history_spelling(h, v.v))
		return kl_word_json(h, v.v);
	if (h->view.complements)
		v.v = ~v.v;
	kl_val_print(text, sizeof(text), v);
	if (v.tag != KL_WORD)
		return json_string(text);
	/* A word that texts show as a negative number, such as -EINVAL, is one here. */
	return *text == '-' ? json_integer((int64_t)v.v) : kl_json_number(v.v);
}

static json_t *values_json(const struct kl_history *h, const struct kl_val *v, unsigned int n)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, value_json(h, v[i]));
	return list;
}

json_t *kl_thread_json(const struct kl_history *h, uint32_t thread)
{
	const char *spelling = kl_history_spelling(h, h->threads[thread]);

	if (h->view.threadless)
		return json_null();
	return spelling && h->threads[thread] >= KL_WORDS_FIRST ? kl_json_text(spelling) :
		kl_json_number(h->threads[thread]);
}

json_t *kl_op_json(const struct kl_history *h, const struct kl_op *op)
{
	const struct kl_opsig *s = kl_op_sig(h, op);
	const char *const string = kl_op_appended(h, op);
	const char *comm = kl_history_spelled(h, KL_SPELLED_THREAD, h->threads[op->thread]);
	char text[512];
	json_t *j = json_object(), *arguments;

	kl_op_print(text, sizeof(text), h, op);
	json_object_set_new(j, "thread", kl_thread_json(h, op->thread));
	json_object_set_new(j, "method", kl_json_text(string ? "append" : h->methods[s->method]));
	arguments = values_json(h, kl_op_args(h, op), string ? 1 : s->nargs);
	if (string)
		json_array_append_new(arguments, kl_json_text(string));
	json_object_set_new(j, "arguments", arguments);
	json_object_set_new(j, "results", op->flags & KL_OP_PENDING ? json_null() :
			    values_json(h, kl_op_res(h, op), s->nres));
	json_object_set_new(j, "text", kl_json_text(text));
	json_object_set_new(j, "call", kl_json_number(op->call));
	json_object_set_new(j, "return",
			    op->ret == KL_TIME_MAX ? json_null() : kl_json_number(op->ret));
	if (comm)
		json_object_set_new(j, "comm", kl_json_text(comm));
	if (op->cpu != KL_NO_CPU)
		json_object_set_new(j, "cpu", json_integer(op->cpu));
	return j;
}

void kl_source_entry_json(json_t *j, enum kl_source_half half, const struct kl_source_text *t)
{
	static const char *const names[2][3] = {
		[KL_SOURCE_CALL] = { "text", "text_cut", "time" },
		[KL_SOURCE_RETURN] = { "return_text", "return_text_cut", "return_time" },
	};

	json_object_set_new(j, names[half][0], kl_json_bytes(t->text, t->len));
	if (t->cut)
		json_object_set_new(j, names[half][1], json_true());
	if (t->entry.timed)
		json_object_set_new(j, names[half][2], kl_json_number(t->entry.time));
}

void kl_source_text_json(json_t *source, const struct kl_history *h, uint32_t id)
{
	const struct kl_source_events *events = kl_source_events(h, id);
	struct kl_source_text t;
	unsigned int half;
	int ret;

	if (events && events->call_index)
		json_object_set_new(source, "index", json_integer(events->call_index - 1));
	if (events && events->ret_line)
		json_object_set_new(source, "return_line", json_integer(events->ret_line));
	if (events && events->ret_index)
		json_object_set_new(source, "return_index", json_integer(events->ret_index - 1));
	if (events && events->end_line)
		json_object_set_new(source, "end_line", json_integer(events->end_line));
	for (half = KL_SOURCE_CALL; half <= KL_SOURCE_RETURN; half++) {
		ret = kl_source_text(h, id, half, &t);
		if (ret == -ENOMEM)
			kl_json_no_memory();
		if (ret > 0)
			kl_source_entry_json(source, half, &t);
	}
}

json_t *kl_op_json_placed(const struct kl_history *whole, uint32_t id, const struct kl_history *h,
			  const struct kl_op *op)
{
	json_t *j = json_object(), *source, *rest = kl_op_json(h, op);
	size_t col;
	const unsigned int line = kl_source_find(whole, id, &col);
	json_t *stack = kl_stack_json(whole, &whole->ops[id]);

	json_object_set_new(j, "id", json_integer(id));
	json_object_update(j, rest);
	if (stack)
		json_object_set_new(j, "stack", stack);
	/* The first state has no thread. */
	if (kl_source_is_first(whole, id))
		json_object_set_new(j, "thread", json_null());
	json_decref(rest);
	if (!line)
		return j;
	source = json_object();
	if (whole->source->name)
		json_object_set_new(source, "file", kl_json_text(whole->source->name));
	json_object_set_new(source, "line", json_integer(line));
	if (col)
		json_object_set_new(source, "column", json_integer(col));
	kl_source_text_json(source, whole, id);
	json_object_set_new(j, "source", source);
	return j;
}
