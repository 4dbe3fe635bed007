// SPDX-License-Identifier: GPL-2.0
/* Prints values and operations for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "history/history.h"
#include "history/internal.h"
#include "history/spell.h"

#define MAX_ERRNO	4095

const char *const kl_clock_names[4] = {
	[KL_CLOCK_MONO] = "mono", [KL_CLOCK_SEQ] = "seq", [KL_CLOCK_TICK] = "tick",
	[KL_CLOCK_EPOCH] = "epoch",
};

const char *const kl_gap_reasons[3] = {
	[KL_GAP_LOST] = "lost", [KL_GAP_MISSED] = "missed", [KL_GAP_CUT] = "cut",
};

/* Return, as snprintf(): the length that the text has, or would have with enough room. */
int kl_val_print(char *buf, size_t size, struct kl_val v)
{
	switch (v.tag) {
	case KL_WORD:
		break;
	case KL_EMPTY:
		return snprintf(buf, size, "empty");
	case KL_FULL:
		return snprintf(buf, size, "full");
	case KL_ABSENT:
		return snprintf(buf, size, "absent");
	default:
		return snprintf(buf, size, "?");
	}
	/*
	 * Error numbers of the kernel are printed as negative numbers, and large words such as
	 * addresses in hexadecimal.
	 */
	if (v.v >= -(uint64_t)MAX_ERRNO)
		return snprintf(buf, size, "%" PRId64, (int64_t)v.v);
	return snprintf(buf, size, v.v >> 32 ? "0x%" PRIx64 : "%" PRIu64, v.v);
}

int kl_history_print_val(char *buf, size_t size, const struct kl_history *h, struct kl_val v)
{
	const char *spelling = v.tag == KL_WORD && h && h->spellings ?
		kl_history_spelling(h, v.v) : NULL;

	if (h && h->view.complements)
		v.v = ~v.v;
	return spelling ? snprintf(buf, size, "%s", spelling) : kl_val_print(buf, size, v);
}

struct out {
	char *buf;
	size_t size, len;
};

static void put(struct out *o, const char *s)
{
	const size_t len = strlen(s), room = o->len < o->size ? o->size - o->len : 0;
	const size_t n = len < room ? len : room - 1;

	if (room) {
		memcpy(o->buf + o->len, s, n);
		o->buf[o->len + n] = 0;
	}
	o->len += len;
}

int kl_op_print_val(char *buf, size_t size, const struct kl_history *h, const struct kl_op *op,
		    unsigned int i)
{
	const struct kl_opsig *s = kl_op_sig(h, op);
	const struct kl_val v = kl_op_args(h, op)[i];
	const char *const name = h->methods[s->method];
	const size_t at = op - h->ops;
	const char *said = NULL;
	char own[512];

	if (i >= s->nargs)
		said = kl_history_result_said(h, name, i - s->nargs, v);
	if (said)
		return snprintf(buf, size, "%s", said);
	if (h->own.print && v.tag == KL_WORD && op >= h->ops && at < h->nops &&
	    h->own.print(h->own.of, h->own.ops ? h->own.ops[at] : at, i, own, sizeof(own)))
		return snprintf(buf, size, "%s", own);
	return kl_history_print_val(buf, size, h, v);
}

/* Print the values [from, end) of an operation. */
static void put_vals(struct out *o, const struct kl_history *h, const struct kl_op *op,
		     unsigned int from, unsigned int end)
{
	unsigned int i;

	for (i = from; i < end; i++) {
		put(o, i > from ? ", " : "");
		o->len += kl_op_print_val(o->len < o->size ? o->buf + o->len : NULL,
					  o->len < o->size ? o->size - o->len : 0, h, op, i);
	}
}

const char *kl_op_appended(const struct kl_history *h, const struct kl_op *op)
{
	const struct kl_opsig *s = kl_op_sig(h, op);
	const struct kl_val *last = kl_op_args(h, op) + s->nargs - 1;
	const char *spelling;

	if (!h->spellings || s->nargs < 2 || last->tag != KL_WORD ||
	    strncmp(h->methods[s->method], "append", strlen("append")))
		return NULL;
	spelling = kl_history_spelling(h, last->v);
	return spelling && !strncmp(spelling, "...\"", 4) ? spelling + 3 : NULL;
}

int kl_op_print(char *buf, size_t size, const struct kl_history *h, const struct kl_op *op)
{
	const struct kl_opsig *s = kl_op_sig(h, op);
	const char *const string = kl_op_appended(h, op);
	struct out o = { .buf = buf, .size = size };

	if (size)
		*buf = 0;
	put(&o, string ? "append" : kl_history_method_said(h, s->method));
	put(&o, "(");
	put_vals(&o, h, op, 0, string ? 1 : s->nargs);
	put(&o, string ? ", " : "");
	put(&o, string ? string : "");
	put(&o, ")");
	if (s->nres && !(op->flags & KL_OP_PENDING)) {
		put(&o, s->nres > 1 ? " -> (" : " -> ");
		put_vals(&o, h, op, s->nargs, s->nargs + s->nres);
		put(&o, s->nres > 1 ? ")" : "");
	}
	return o.len;
}
