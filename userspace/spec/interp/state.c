// SPDX-License-Identifier: GPL-2.0
/* Makes the first state of a specification, and prints states. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "spec/interp/run.h"

#define SHORT	4	/* elements of an array that are all listed */

const struct kl_val *kl_run_init(struct kl_run *r, bool fresh, size_t *len)
{
	const struct kl_spec *s = r->s;
	uint64_t unknowns = 0;
	size_t n = 0, i;
	unsigned int j;

	if (kl_grow(r->out, r->cout, s->nslots + s->nconts + 1))
		return NULL;
	for (i = 0; i < s->nvars; i++) {
		const struct kl_var *v = &s->vars[i];

		for (j = 0; !v->cont && j < v->len; j++) {
			struct kl_val unknown = { .v = unknowns, .tag = KL_ANY };

			r->out[n++] = fresh && v->has_init ? v->init : unknown;
			unknowns += !(fresh && v->has_init);
		}
	}
	for (i = 0; i < s->nconts; i++)
		r->out[n++] = kl_special(fresh && s->conts[i]->has_init ? KL_WORD : KL_ANY);
	*len = n;
	return r->out;
}

/* Text in a buffer; text that does not fit is cut off, but counted in @len. */
struct text {
	const struct kl_history *h; /* spells the words, or NULL */
	char *buf;
	size_t size, len;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->len < t->size ? t->buf + t->len : NULL,
		      t->len < t->size ? t->size - t->len : 0, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += n;
}

static void put_val(struct text *t, enum kl_type_kind type, struct kl_val v)
{
	const bool room = t->len < t->size;

	if (v.tag > KL_ABSENT)
		put(t, "#%" PRIu32, v.tag);
	else if (v.tag == KL_WORD && type == KL_T_BOOL)
		put(t, "%s", v.v ? "true" : "false");
	else
		t->len += kl_history_print_val(room ? t->buf + t->len : NULL,
					       room ? t->size - t->len : 0, t->h, v);
}

static void put_entry(struct text *t, const struct kl_var *v, const struct kl_val *e)
{
	switch (v->cont) {
	case KL_C_MAP:
		put_val(t, v->key, e[0]);
		put(t, ": ");
		put_val(t, v->type, e[1]);
		break;
	case KL_C_SET:
		put(t, "%s", e[1].tag == KL_ABSENT ? "not " : "");
		put_val(t, v->type, e[0]);
		break;
	case KL_C_BAG:
		put_val(t, v->type, e[0]);
		put(t, " x%" PRIu64 "%s", e[1].v, e[1].tag == KL_ANY ? "+" : "");
		break;
	default:
		put_val(t, v->type, e[0]);
	}
}

/*
 * Print a container.  "..." marks the position of unlisted entries.  In a stack and a queue this is
 * before the listed entries, in a queue with a known front after the front.  In other containers it
 * is the end, except for a deque, where a KL_REST entry marks it.
 */
static size_t put_container(struct text *t, const struct kl_var *v, const struct kl_val *state,
			    size_t len)
{
	unsigned int stride = kl_cont_stride(v->cont);
	bool seen = v->cont == KL_C_QUEUE && len > 2 && state[0].v > 1 && state[2].tag == KL_REST;
	bool list = stride == 1;
	bool first_end = (v->cont == KL_C_QUEUE && !seen) || v->cont == KL_C_STACK;
	bool unknown = state[0].tag == KL_ANY;
	const char *sep = "";
	size_t i;

	put(t, "%s", list ? "[" : "{");
	if (unknown && first_end) {
		put(t, "...");
		sep = ", ";
	}
	for (i = 0; i < state[0].v && (i + 1) * stride < len; i++) {
		put(t, "%s", sep);
		if (state[1 + i * stride].tag == KL_REST)
			put(t, "...");
		else
			put_entry(t, v, state + 1 + i * stride);
		sep = ", ";
	}
	if (unknown && !first_end && !seen && (v->cont != KL_C_DEQUE || !i))
		put(t, "%s...", sep);
	put(t, "%s", list ? "]" : "}");
	return 1 + i * stride;
}

/*
 * Find the value of more than half of the elements, by Boyer and Moore's vote.  Return: the index
 * of one of these elements, or @len if no value has so many.
 */
static unsigned int find_common(const struct kl_val *v, unsigned int len)
{
	unsigned int best = 0, lead = 0, n = 0, i;

	for (i = 0; i < len; i++) {
		best = lead ? best : i;
		lead += kl_val_eq(v[i], v[best]) ? 1 : -1;
	}
	for (i = 0; i < len; i++)
		n += kl_val_eq(v[i], v[best]);
	return 2 * n > len ? best : len;
}

/* A long array is printed with only the elements that differ from most: "[3: 7, others 0]". */
static void put_scalar(struct text *t, const struct kl_var *v, const struct kl_val *state)
{
	const unsigned int common = v->len > SHORT ? find_common(state, v->len) : v->len;
	const char *sep = "";
	unsigned int i;

	if (!v->is_array) {
		put_val(t, v->type, state[0]);
		return;
	}
	put(t, "[");
	for (i = 0; i < v->len; i++) {
		if (common < v->len && kl_val_eq(state[i], state[common]))
			continue;
		put(t, "%s", sep);
		if (common < v->len)
			put(t, "%u: ", i);
		put_val(t, v->type, state[i]);
		sep = ", ";
	}
	if (common < v->len) {
		put(t, *sep ? ", others " : "all ");
		put_val(t, v->type, state[common]);
	}
	put(t, "]");
}

void kl_slot_print(char *buf, size_t size, const struct kl_spec *s, const struct kl_history *h,
		   const struct kl_val *state, size_t slot)
{
	struct text t = { .h = h, .buf = buf, .size = size };
	const struct kl_var *v = s->vars;

	while (v->cont || slot >= (size_t)v->slot + v->len)
		v++;
	put(&t, "%s", v->name);
	if (v->is_array)
		put(&t, "[%zu]", slot - v->slot);
	put(&t, " = ");
	put_val(&t, v->type, state[slot]);
}

int kl_state_print(char *buf, size_t size, const struct kl_spec *s, const struct kl_history *h,
		   const struct kl_val *state, size_t len)
{
	struct text t = { .h = h, .buf = buf, .size = size };
	size_t i, at = s->nslots;

	if (size)
		buf[0] = 0;
	for (i = 0; i < s->nvars; i++) {
		const struct kl_var *v = &s->vars[i];

		if (v->cont ? at >= len : v->slot + v->len > len)
			break;
		put(&t, "%s%s = ", i ? ", " : "", v->name);
		if (v->cont)
			at += put_container(&t, v, state + at, len - at);
		else
			put_scalar(&t, v, state + v->slot);
	}
	return t.len;
}
