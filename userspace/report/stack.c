// SPDX-License-Identifier: GPL-2.0
/* Kernel stacks of operations, see stack.h. */
#include <string.h>

#include "history/spell.h"
#include "report/json.h"
#include "report/stack.h"
#include "report/words.h"

static const char *stack_of(const struct kl_history *h, const struct kl_op *op)
{
	const uint32_t stack = kl_op_stack(h, op);

	return stack ? kl_history_spelled(h, KL_SPELLED_STACK, stack) : NULL;
}

/* Move *@text behind its first frame.  Return: the length of the frame, or 0 at the end. */
static size_t next_frame(const char **text)
{
	const size_t len = strcspn(*text, ";");

	*text += len + strspn(*text + len, "; ");
	return len;
}

static void print_frames(FILE *f, const char *text)
{
	const char *frame = text;
	size_t len;

	while ((len = next_frame(&text))) {
		fprintf(f, "    %.*s\n", (int)len, frame);
		frame = text;
	}
}

void kl_print_stacks(FILE *f, const struct kl_history *h, const struct kl_story *s)
{
	char who[64], what[256], line[2048];
	size_t i, j, len;

	for (i = 0; i < s->ncast; i++) {
		const char *text = stack_of(h, &h->ops[s->cast[i].op]);

		/* The spelling of a number is one string. */
		for (j = 0; j < i && stack_of(h, &h->ops[s->cast[j].op]) != text; j++)
			;
		if (!text || j < i)
			continue;
		len = snprintf(line, sizeof(line), "Kernel stack at the call of");
		for (; j < s->ncast && len < sizeof(line); j++) {
			const struct kl_op *op = &h->ops[s->cast[j].op];

			if (stack_of(h, op) != text)
				continue;
			kl_history_print_thread(who, sizeof(who), h, op->thread);
			kl_op_print(what, sizeof(what), h, op);
			len += snprintf(line + len, sizeof(line) - len, "%s %s's %s", j > i ? "," : "",
					who, what);
		}
		if (len < sizeof(line))
			snprintf(line + len, sizeof(line) - len, ":");
		fputs("  ", f);
		kl_put_words(f, line, 2, 2, KL_REPORT_WIDTH);
		print_frames(f, text);
		fputc('\n', f);
	}
}

json_t *kl_stack_frames(const char *text)
{
	const char *frame = text;
	json_t *list = json_array();
	size_t len;

	while ((len = next_frame(&text))) {
		json_array_append_new(list, json_stringn(frame, len));
		frame = text;
	}
	return list;
}

json_t *kl_stack_json(const struct kl_history *h, const struct kl_op *op)
{
	const char *text = stack_of(h, op);

	return text ? kl_stack_frames(text) : NULL;
}
