// SPDX-License-Identifier: GPL-2.0
/*
 * The form of Horn & Kroening's checker, for sets: a line for each event.
 *
 *	2 invokes add 23
 *	0 invokes contains 3
 *	2 returns true
 *
 * A call without a return is pending.  `contains' is klin's `has'.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "history/formats/form.h"
#include "history/formats/order.h"
#include "history/formats/pair_events.h"
#include "history/spell.h"

enum { ADD, REMOVE, CONTAINS, NMETHODS };

static const struct {
	const char *theirs, *ours;
} methods[NMETHODS] = {
	[ADD] = { "add", "add" }, [REMOVE] = { "remove", "remove" },
	[CONTAINS] = { "contains", "has" },
};

struct reader {
	struct kl_scan scan;
	struct kl_pairs pairs;
	uint16_t method[NMETHODS];
};

static bool is_events(const struct kl_head *head)
{
	const char *p = head->data;
	size_t n = kl_head_word(head, &p);

	if (!n || !kl_scan_digit(*p))
		return false;
	p += n;
	return kl_head_is(head, &p, "invokes") || kl_head_is(head, &p, "returns");
}

/* Return: the method named at @p.  The compiler compares names with literals as numbers. */
static inline unsigned int which_method(const char *p, size_t len)
{
	if (kl_scan_is(p, len, "add"))
		return ADD;
	if (kl_scan_is(p, len, "remove"))
		return REMOVE;
	return kl_scan_is(p, len, "contains") ? CONTAINS : NMETHODS;
}

static inline int scan_call(struct reader *r, const char **pp, const char *tok, uint64_t number)
{
	const char *p = kl_scan_skip(*pp);
	const size_t n = kl_scan_word(p);
	const unsigned int m = which_method(p, n);
	const char *digits;
	struct kl_process *process;
	struct kl_val key;
	uint64_t v;
	int ret;

	if (m == NMETHODS)
		return kl_scan_bad(&r->scan, p, "add, remove or contains");
	p = digits = kl_scan_skip(p + n);
	if (kl_scan_int64(&r->scan, &p, &v, "a number"))
		return -EINVAL;
	ret = kl_is_plain(digits, p - digits) ? 0 :
	      kl_history_spell_number(r->pairs.h, v, digits, p - digits);
	if (ret || kl_scan_eol(&r->scan, &p))
		return ret ?: -EINVAL;
	*pp = p;
	ret = kl_pairs_process(&r->pairs, number, &process);
	if (ret)
		return ret;
	key = kl_word(v);
	return kl_pairs_call(&r->pairs, tok, process,
			     &(struct kl_opsig){ .method = r->method[m], .nargs = 1, .nres = 1 },
			     &key);
}

static int scan_line(void *ctx, const char **pp)
{
	struct reader *r = ctx;
	const char *p = *pp, *tok = p;
	struct kl_process *process;
	uint64_t number;
	struct kl_val ok;
	size_t n;
	int ret;

	if (kl_scan_short(&r->scan, &p, &number, "a thread's number"))
		return -EINVAL;
	p = kl_scan_skip(p);
	n = kl_scan_word(p);
	if (kl_scan_is(p, n, "invokes")) {
		*pp = p + n;
		return scan_call(r, pp, tok, number);
	}
	if (!kl_scan_is(p, n, "returns"))
		return kl_scan_bad(&r->scan, p, "invokes or returns");
	p = kl_scan_skip(p + n);
	n = kl_scan_word(p);
	ok = kl_word(kl_scan_is(p, n, "true"));
	if (!ok.v && !kl_scan_is(p, n, "false"))
		return kl_scan_bad(&r->scan, p, "true or false");
	p += n;
	if (kl_scan_eol(&r->scan, &p))
		return -EINVAL;
	*pp = p;
	ret = kl_pairs_process(&r->pairs, number, &process);
	if (ret)
		return ret;
	/* After an error this is most often the return of the call in error. */
	if (!process->op && r->scan.errors)
		return -EINVAL;
	if (!process->op)
		return kl_scan_bad(&r->scan, tok, "a call before the return");
	return kl_pairs_return(&r->pairs, process, &ok);
}

static int read_events(struct kl_input *in, struct kl_history **out)
{
	struct reader r = { .scan.name = in->name };
	struct kl_history *h = kl_history_new();
	int64_t index = 0;
	size_t i;
	int ret;

	if (!h)
		return -ENOMEM;
	r.pairs.h = h;
	r.pairs.scan = &r.scan;
	r.scan.h = h;
	for (i = 0; i < NMETHODS && index >= 0; i++) {
		index = kl_history_method(h, methods[i].ours, strlen(methods[i].ours));
		r.method[i] = index;
		if (index >= 0 && (kl_history_spell_method(h, methods[i].ours, methods[i].theirs,
							   strlen(methods[i].theirs)) ||
				   kl_history_spell_result(h, methods[i].ours, 0, 1, "true", 4) ||
				   kl_history_spell_result(h, methods[i].ours, 0, 0, "false", 5)))
			index = -ENOMEM;
	}
	if (index >= 0)
		index = kl_history_object(h, 0);
	h->spec_path = strdup("set");
	ret = index < 0 ? index : h->spec_path ? 0 : -ENOMEM;
	if (!ret)
		ret = kl_scan_lines(&r.scan, in, scan_line, &r);
	if (!ret)
		ret = kl_pairs_end(&r.pairs);
	kl_pairs_free(&r.pairs);
	if (ret)
		kl_history_free(h);
	else
		*out = h;
	return ret;
}

/*
 * Return: the index of the operation's method in this form, or -EINVAL after a message if it has
 * none.
 */
static int find_method(const struct kl_history *h, const struct kl_op *op)
{
	const struct kl_opsig *s = kl_op_sig(h, op);
	const struct kl_val *res = kl_op_res(h, op);
	bool pending = op->flags & KL_OP_PENDING;
	char text[256];
	size_t i;

	for (i = 0; i < NMETHODS; i++)
		if (!strcmp(methods[i].ours, h->methods[s->method]))
			break;
	if (i < NMETHODS && s->nargs == 1 && kl_op_args(h, op)->tag == KL_WORD &&
	    (pending || (s->nres == 1 && res->tag == KL_WORD && res->v <= 1)))
		return i;
	kl_op_print(text, sizeof(text), h, op);
	kl_err("%s: the form events has only add, remove and has, with a number and a result that "
	       "is true or false", text);
	return -EINVAL;
}

static int write_events(const struct kl_history *h, FILE *f)
{
	uint64_t *events;
	size_t n, i;
	int ret;

	ret = kl_history_events(h, "events", &events, &n);
	if (ret)
		return ret;
	for (i = 0; i < n && ret >= 0; i++) {
		const struct kl_op *op = &h->ops[events[i] >> 1];

		ret = find_method(h, op);
		if (ret < 0)
			break;
		if (events[i] & 1)
			fprintf(f, "%" PRIu64 " returns %s\n", h->threads[op->thread],
				kl_op_res(h, op)->v ? "true" : "false");
		else
			fprintf(f, "%" PRIu64 " invokes %s %" PRId64 "\n", h->threads[op->thread],
				methods[ret].theirs, (int64_t)kl_op_args(h, op)->v);
	}
	free(events);
	if (ret >= 0)
		ret = kl_stream_err(f);
	return ret;
}

/* Find the argument in the line of a call, or the result in that of a return. */
static bool read_entry(const struct kl_history *h, const char *text, const char *end,
		       struct kl_entry *out)
{
	const char *const stop = rawmemchr(text, '\n'), *p = kl_scan_skip(text), *last = p;

	(void)h;
	*out = (struct kl_entry){ .len = stop - text };
	for (; p < stop; p = kl_scan_skip(p + kl_scan_word(p)))
		last = p;
	if (last < stop) {
		out->word[0] = (struct kl_piece){ last, kl_scan_word(last) };
		out->nwords = 1;
	}
	return stop < end;
}

const struct kl_form kl_form_events = {
	.name = "events",
	.rank = 60,
	.help = "Horn & Kroening's sets",
	.example = "2 invokes add 23",
	.is = is_events,
	.places = KL_PLACES_LINES,
	.read = read_events,
	.write = write_events,
	.entry = read_entry,
	.specs = { "set" },
};
KL_FORM(kl_form_events);
