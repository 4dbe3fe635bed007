// SPDX-License-Identifier: GPL-2.0
/*
 * The form of LiMo and Violin, of stacks and queues: a line for each event.
 *
 *	# @object atomic-stack
 *	[1] call push(a)
 *	[2] call pop
 *	[1] return
 *	[2] return a
 *
 * The number is that of a thread or of the operation.  Values are numbers or
 * words; a removal that returns `empty', or nothing, found nothing, but one that
 * is called with a value as in pop(a) returns that.  Lines of `#' are comments but
 * for the one of the type.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "history/form.h"
#include "history/pair.h"
#include "history/words.h"

static const struct limo_type {
	const char *name, *put, *take, *spec;
	const char *expected;	/* their names, for messages */
} types[] = {
	{ "stack", "push", "pop", "stack", "push and pop, add and rem or remove, put and get" },
	{ "queue", "enq", "deq", "queue", "enq and deq, enqueue and dequeue, add and rem or "
	  "remove, put and get, push and pop" },
};

static bool is_any(const char *p, size_t n, const char *const *names)
{
	for (; *names; names++)
		if (kl_scan_is(p, n, *names))
			return true;
	return false;
}

struct reader {
	struct kl_scan scan;
	struct kl_pairs pairs;
	struct kl_words words;
	const struct limo_type *type;
	uint16_t put, take;
};

static bool is_limo(const struct kl_head *head)
{
	const char *p = head->data;
	size_t n;

	/* A line of comment is all that there may be. */
	for (n = 0; head->first + n < head->data; n++)
		if (head->first[n] == '@' && head->data - head->first - n > 8 &&
		    !memcmp(head->first + n, "@object ", 8))
			return true;
	n = kl_head_word(head, &p);
	if (n < 3 || *p != '[' || !kl_scan_digit(p[1]) || p[n - 1] != ']')
		return false;
	p += n;
	return kl_head_is(head, &p, "call") || kl_head_is(head, &p, "return");
}

static int scan_header(struct reader *r, const char *p)
{
	static const char prefix[] = "atomic-";
	int64_t put, take;
	size_t n, i;

	p = kl_scan_skip(p + 1);
	n = kl_scan_word(p);
	if (!kl_scan_is(p, n, "@object") || r->type)
		return 0;
	p = kl_scan_skip(p + n);
	n = kl_scan_word(p);
	if (n > sizeof(prefix) - 1 && !memcmp(p, prefix, sizeof(prefix) - 1)) {
		p += sizeof(prefix) - 1;
		n -= sizeof(prefix) - 1;
	}
	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (kl_scan_is(p, n, types[i].name))
			break;
	if (i == sizeof(types) / sizeof(*types))
		return kl_scan_stop(&r->scan, p, "atomic-stack or atomic-queue");
	r->type = &types[i];
	r->pairs.h->declared = true;
	put = kl_history_method(r->pairs.h, r->type->put, strlen(r->type->put));
	take = kl_history_method(r->pairs.h, r->type->take, strlen(r->type->take));
	if (put < 0 || take < 0)
		return put < 0 ? put : take;
	r->put = put;
	r->take = take;
	r->pairs.h->spec_path = strdup(r->type->spec);
	return r->pairs.h->spec_path ? 0 : -ENOMEM;
}

/* What most values are: a number, which ends with the word. */
static bool scan_number(const char **pp, bool in, struct kl_val *v)
{
	const char *p = *pp + in;
	uint64_t word;
	size_t n = kl_words_number(p, SIZE_MAX, &word);

	p += n;
	if (!n || (in && *p++ != ')') || !kl_scan_end(*p))
		return false;
	*v = kl_word(word);
	*pp = p;
	return true;
}

/* A value with or without parentheses around it; none is 1, with *pp moved behind it. */
static int scan_value(struct reader *r, const char **pp, struct kl_val *v)
{
	const char *p = kl_scan_skip(*pp);
	bool in = *p == '(';
	size_t n;

	*pp = p;
	if (scan_number(pp, in, v))
		return 0;
	n = kl_scan_word(p);
	*pp = p + n;
	if (in && n > 1 && p[n - 1] == ')') {
		p++;
		n -= 2;
	} else if (in) {
		return kl_scan_bad(&r->scan, p, "a value in parentheses, without blanks");
	}
	if (!n)
		return 1;
	*v = (struct kl_val){ 0 };
	return kl_words_get(&r->words, p, n, &v->v);
}

static int scan_call(struct reader *r, const char **pp, const char *tok, uint64_t id)
{
	/* Violin names the same methods in several ways, of stacks and of queues. */
	static const char *const stack_puts[] = { "push", "add", "put", NULL };
	static const char *const stack_takes[] = { "pop", "rem", "remove", "get", NULL };
	static const char *const queue_puts[] = { "enq", "enqueue", "add", "put", "push", NULL };
	static const char *const queue_takes[] = {
		"deq", "dequeue", "rem", "remove", "get", "pop", NULL,
	};
	const bool stack = r->type && *r->type->put == 'p';
	const char *const *const puts = stack ? stack_puts : queue_puts;
	const char *const *const takes = stack ? stack_takes : queue_takes;
	const char *p = kl_scan_skip(*pp);
	size_t n = 0;
	struct kl_process *process;
	struct kl_shape s = { 0 };
	struct kl_val v;
	bool told;
	int ret;

	if (!r->type)
		return kl_scan_stop(&r->scan, tok,
				    "a line `# @object atomic-stack' (or -queue) before");
	while (!kl_scan_end(p[n]) && p[n] != '(')
		n++;
	if (is_any(p, n, puts)) {
		s.nargs = 1;
		s.method = r->put;
	} else if (is_any(p, n, takes)) {
		s.nres = 1;
		s.method = r->take;
	} else {
		return kl_scan_bad(&r->scan, p, r->type->expected);
	}
	p += n;
	ret = scan_value(r, &p, &v);
	if (ret < 0)
		return ret;
	if (ret == 1 && s.nargs)
		return kl_scan_bad(&r->scan, p, "a value");
	told = ret == 0 && s.nres;
	if (kl_scan_eol(&r->scan, &p))
		return -EINVAL;
	*pp = p;
	ret = kl_pairs_process(&r->pairs, id, &process);
	if (ret)
		return ret;
	ret = kl_pairs_call(&r->pairs, tok, process, &s, &v);
	/* What it will return, if it does. */
	if (!ret && s.nres)
		process->vals[s.nargs] = told ? v : kl_special(KL_EMPTY);
	return ret;
}

static int scan_return(struct reader *r, const char **pp, const char *tok, uint64_t id)
{
	const char *p = kl_scan_skip(*pp), *value = p;
	struct kl_process *process;
	struct kl_val v;
	bool takes;
	int ret;

	ret = kl_pairs_process(&r->pairs, id, &process);
	if (ret)
		return ret;
	if (!process->op)
		return kl_scan_bad(&r->scan, tok, "a call before the return");
	takes = process->shape.method == r->take;
	ret = scan_value(r, &p, &v);
	if (ret < 0)
		return ret;
	if (ret == 0 && !takes)
		return kl_scan_bad(&r->scan, value, "the end of the line: it adds a value");
	if (kl_scan_eol(&r->scan, &p))
		return -EINVAL;
	*pp = p;
	if (ret == 1 && takes && process->vals[0].tag == KL_WORD)
		v = process->vals[0];
	else if (ret == 1 || kl_scan_past(value, "empty") || kl_scan_past(value, "Empty"))
		v = kl_special(KL_EMPTY);
	return kl_pairs_return(&r->pairs, process, &v);
}

static int scan_line(void *ctx, const char **pp)
{
	struct reader *r = ctx;
	const char *p = *pp, *tok = p, *rest;
	uint64_t id = 0;

	if (*p == '#')
		return scan_header(r, p);
	if (*p == '[')
		for (p++; kl_scan_digit(*p); p++)
			id = id * 10 + (*p - '0');
	if (*p != ']' || (size_t)(p - tok) - 2 >= 18 || !kl_scan_end(p[1]))
		return kl_scan_bad(&r->scan, tok, "a thread as in `[3]', or `#'");
	p = kl_scan_skip(p + 1);
	rest = kl_scan_past(p, "call");
	if (rest) {
		*pp = rest;
		return scan_call(r, pp, tok, id);
	}
	rest = kl_scan_past(p, "return");
	if (rest) {
		*pp = rest;
		return scan_return(r, pp, tok, id);
	}
	return kl_scan_bad(&r->scan, p, "call or return");
}

static int read_limo(struct kl_input *in, struct kl_history **out)
{
	struct reader r = { .scan.name = in->name };
	struct kl_history *h = kl_history_new();
	int64_t index;
	int ret;

	if (!h)
		return -ENOMEM;
	r.pairs.h = h;
	r.pairs.scan = &r.scan;
	r.scan.h = h;
	index = kl_history_object(h, 0);
	ret = index < 0 ? index : kl_scan_lines(&r.scan, in, scan_line, &r);
	if (!ret)
		ret = kl_pairs_end(&r.pairs);
	kl_pairs_free(&r.pairs);
	kl_words_free(&r.words);
	if (ret)
		kl_history_free(h);
	else
		*out = h;
	return ret;
}

const struct kl_form kl_form_limo = {
	.name = "limo", .example = "# @object atomic-stack",
	.is = is_limo, .read = read_limo,
};
