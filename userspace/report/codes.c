// SPDX-License-Identifier: GPL-2.0
/* Reasons and limits of a result by name, see codes.h. */
#include <string.h>

#include "report/codes.h"
#include "report/json_value.h"

/* Return: the member @name of a result, which is an array; it is made if it is missing. */
static json_t *list_of(json_t *j, const char *name)
{
	if (!json_object_get(j, name))
		json_object_set_new(j, name, json_array());
	return json_object_get(j, name);
}

/* Return: the text, or "" without memory. */
static const char *text_of(const json_t *j, const char *name)
{
	return json_string_value(json_object_get(j, name)) ?: "";
}

void kl_json_add_reason(json_t *j, const char *code, const char *sentence, size_t parts)
{
	json_t *list = list_of(j, "reasons"), *one;
	size_t i;

	json_array_foreach(list, i, one) {
		json_t *n = json_object_get(one, "partitions");

		if (strcmp(text_of(one, "code"), code))
			continue;
		if (n)
			json_integer_set(n, json_integer_value(n) + parts);
		return;
	}
	one = json_object();
	json_object_set_new(one, "code", json_string(code));
	json_object_set_new(one, "sentence", kl_json_text(sentence));
	if (parts)
		json_object_set_new(one, "partitions", json_integer(parts));
	json_array_append_new(list, one);
}

void kl_json_add_limit(json_t *j, const char *code)
{
	json_t *list = list_of(j, "limits_met"), *one;
	size_t i;

	json_array_foreach(list, i, one)
		if (!strcmp(json_string_value(one), code))
			return;
	json_array_append_new(list, json_string(code));
}

/* Add the reason of a violated partition, and the limit that ended shrinking. */
static void add_violation(json_t *j, const json_t *part)
{
	const json_t *story = json_object_get(part, "story");
	const char *ended = text_of(part, "shrinking_ended"), *said = text_of(part, "reason");

	if (story)
		kl_json_add_reason(j, text_of(story, "reason"), text_of(story, "headline"), 1);
	else
		kl_json_add_reason(j, "no_order",
				   *said ? said : "no order of the operations is right", 1);
	if (!strcmp(ended, "work"))
		kl_json_add_limit(j, "shrinking_work");
	else if (!strcmp(ended, "time"))
		kl_json_add_limit(j, "shrinking_time");
}

void kl_json_add_codes(json_t *j)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(j, "partitions"), i, one)
		if (!strcmp(text_of(one, "verdict"), "VIOLATION"))
			add_violation(j, one);
	json_array_foreach(json_object_get(j, "why_unknown"), i, one) {
		const char *cause = text_of(one, "cause"), *end = strchrnul(cause, '_');

		kl_json_add_reason(j, cause, text_of(one, "why"),
				   json_integer_value(json_object_get(one, "partitions")));
		if (!strcmp(end, "_limit") || !strcmp(cause, "interrupted"))
			kl_json_add_limit(j, cause);
	}
}
