// SPDX-License-Identifier: GPL-2.0
/*
 * The text form of a history, one operation a line:
 *
 *	# klin history 1
 *	# clock mono error 120
 *	# first init
 *	# gap cpu 1 from 100 to 220 lost 17
 *	t3 @0xffff8881 100 150 write 1 2
 *	t4 @0xffff8881 120 170 read -> 1 2 cpu=1 drain=300 point=140
 *	t4 @0xffff8881 180 - read
 *
 * thread, object, call, return, method, arguments, results, attributes.  A
 * return of `-' is pending; a call of `-' was not seen, `>=100' was not seen but
 * is not before 100.  The scanner relies on every line ending in a newline,
 * which no token contains, and needs no other bound.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "history/internal.h"
#include "history/text.h"

#define MAX_ERRORS	20

struct reader {
	struct kl_text_src src;
	struct kl_history *h;
	uint32_t *lines;	/* line of each operation */
	size_t clines;
};

/* The token at @p as a message quotes it. */
static const char *quote(char *buf, size_t size, const char *p)
{
	size_t n = 0;

	if (*p == '\n' || *p == '\r')
		return "the end of the line";
	buf[n++] = '\'';
	while (!kl_text_end(*p) && n < size - 5) {
		buf[n++] = isprint((unsigned char)*p) ? *p : '?';
		p++;
	}
	if (!kl_text_end(*p)) {
		memcpy(buf + n, "...", 3);
		n += 3;
	}
	buf[n++] = '\'';
	buf[n] = 0;
	return buf;
}

int kl_text_bad(struct kl_text_src *s, const char *tok, const char *expected)
{
	char buf[48];

	s->errors++;
	kl_err_at(s->name, s->line, 0, "%s: expected %s", quote(buf, sizeof(buf), tok), expected);
	return -EINVAL;
}

int kl_text_number(struct kl_text_src *s, const char **pp, uint64_t *out, const char *what)
{
	const char *p = *pp, *start = p;
	uint64_t v = 0, old;
	unsigned int d;

	if (p[0] == '0' && (p[1] | 0x20) == 'x') {
		p += 2;
		for (start = p; ; p++) {
			if ((unsigned int)(*p - '0') < 10)
				d = *p - '0';
			else if ((unsigned int)((*p | 0x20) - 'a') < 6)
				d = (*p | 0x20) - 'a' + 10;
			else
				break;
			if (v >> 60)
				return kl_text_bad(s, *pp, "a number below 2^64");
			v = v << 4 | d;
		}
	} else {
		for (; (d = (unsigned int)(*p - '0')) < 10; p++) {
			old = v;
			v = v * 10 + d;
			if (old > UINT64_MAX / 10 || v < d)
				return kl_text_bad(s, *pp, "a number below 2^64");
		}
	}
	if (p == start || !kl_text_end(*p))
		return kl_text_bad(s, *pp, what);
	*pp = p;
	*out = v;
	return 0;
}

/* Tokens end in a newline at the latest, hence one character at a time. */
static size_t word_len(const char *p)
{
	const char *start = p;

	while (!kl_text_end(*p))
		p++;
	return p - start;
}

static int scan_val(struct kl_text_src *s, const char **pp, struct kl_val *v)
{
	static const struct {
		const char *word;
		struct kl_val val;
	} named[] = {
		{ "?", { .tag = KL_ANY } }, { "true", { .v = 1 } }, { "false", { .v = 0 } },
		{ "empty", { .tag = KL_EMPTY } }, { "full", { .tag = KL_FULL } },
		{ "absent", { .tag = KL_ABSENT } },
	};
	const char *p = *pp;
	uint64_t w;
	size_t i, n;

	if ((unsigned int)(*p - '0') < 10) {
		*v = (struct kl_val){ 0 };
		return kl_text_number(s, pp, &v->v, KL_TEXT_VALUE);
	}
	if (*p == '-' && (unsigned int)(p[1] - '0') < 10) {
		const char *q = p + 1;

		if (kl_text_number(s, &q, &w, KL_TEXT_VALUE))
			return -EINVAL;
		if (w > (uint64_t)1 << 63)
			return kl_text_bad(s, p, "a number not below -2^63");
		*v = kl_word(-w);
		*pp = q;
		return 0;
	}
	n = word_len(p);
	for (i = 0; i < sizeof(named) / sizeof(*named); i++) {
		if (n == strlen(named[i].word) && !memcmp(p, named[i].word, n)) {
			*v = named[i].val;
			*pp = p + n;
			return 0;
		}
	}
	return kl_text_bad(s, p, KL_TEXT_VALUE);
}

/* NAME=NUMBER behind the values. */
static int scan_attribute(struct kl_text_src *s, const char **pp, struct kl_op *op)
{
	const char *p = *pp, *tok = p;
	uint64_t v;

	/* Not memcmp(): the line may end before the keyword would. */
	if (!strncmp(p, "cpu=", 4)) {
		p += 4;
		if (kl_text_number(s, &p, &v, "a CPU number"))
			return -EINVAL;
		if (v >= KL_NO_CPU)
			return kl_text_bad(s, tok, "a CPU number below 65535");
		op->cpu = v;
	} else if (!strncmp(p, "drain=", 6)) {
		p += 6;
		if (kl_text_number(s, &p, &op->drain, "a time"))
			return -EINVAL;
		if (op->drain < op->call)
			return kl_text_bad(s, tok, "a time not before the call");
	} else if (!strncmp(p, "point=", 6)) {
		p += 6;
		if (kl_text_number(s, &p, &op->point, "a time"))
			return -EINVAL;
	} else {
		return kl_text_bad(s, tok, "cpu=NUMBER, drain=TIME or point=TIME");
	}
	*pp = p;
	return 0;
}

/* Arguments, `->' and results, attributes: all that is left of the line. */
static int scan_tail(struct kl_text_src *s, const char *p, struct kl_op *op, struct kl_val *args,
		     struct kl_val *res, bool *arrow)
{
	uint8_t *n = &op->nargs;
	struct kl_val *v = args;

	*arrow = false;
	for (;;) {
		p = kl_text_skip(p);
		if (*p == '\n')
			return 0;
		if (p[0] == '-' && p[1] == '>' && kl_text_end(p[2])) {
			if (*arrow)
				return kl_text_bad(s, p, "one `->' in a line");
			*arrow = true;
			n = &op->nres;
			v = res;
			p += 2;
			continue;
		}
		if (*p >= 'a' && *p <= 'z' && memchr(p, '=', word_len(p)))
			break;
		if (*n == KL_MAX_ARGS)
			return kl_text_bad(s, p, "at most 8 arguments and 8 results");
		if (scan_val(s, &p, v++))
			return -EINVAL;
		++*n;
	}
	do {
		if (scan_attribute(s, &p, op))
			return -EINVAL;
		p = kl_text_skip(p);
	} while (*p != '\n');
	return 0;
}

static int scan_times(struct kl_text_src *s, const char **pp, struct kl_op *op)
{
	const char *p = kl_text_skip(*pp), *tok = p;

	if (*p == '-' && kl_text_end(p[1])) {
		op->flags |= KL_OP_NOCALL;
		op->call = KL_TIME_MIN;
		p++;
	} else {
		if (p[0] == '>' && p[1] == '=') {
			op->flags |= KL_OP_NOCALL;
			p += 2;
		}
		if (kl_text_number(s, &p, &op->call, "the time of the call, or `-'"))
			return -EINVAL;
		if (op->call == KL_TIME_MAX)
			return kl_text_bad(s, tok, "a time below 2^64 - 1");
	}
	p = kl_text_skip(p);
	tok = p;
	if (*p == '-' && kl_text_end(p[1])) {
		op->flags |= KL_OP_PENDING;
		op->ret = KL_TIME_MAX;
		p++;
	} else {
		if (kl_text_number(s, &p, &op->ret, "the time of the return, or `-'"))
			return -EINVAL;
		if (op->ret == KL_TIME_MAX)
			return kl_text_bad(s, tok, "a time below 2^64 - 1, or `-'");
		if (op->ret < op->call)
			return kl_text_bad(s, tok, "a return not before the call");
	}
	*pp = p;
	return 0;
}

/* The length of the method's name, 0 if it is none. */
static size_t name_len(const char *p)
{
	size_t n = 0;

	if ((unsigned int)(*p - '0') < 10)
		return 0;
	while ((unsigned int)((p[n] | 0x20) - 'a') < 26 || (unsigned int)(p[n] - '0') < 10 ||
	       p[n] == '_')
		n++;
	return kl_text_end(p[n]) && n <= KL_MAX_NAME ? n : 0;
}

static int64_t scan_id(struct reader *r, const char **pp, char mark, const char *what,
		       int64_t (*index)(struct kl_history *h, uint64_t raw))
{
	const char *p = *pp, *tok = p;
	uint64_t raw;

	if (*p != mark || (unsigned int)(p[1] - '0') >= 10)
		return kl_text_bad(&r->src, p, what);
	p++;
	if (kl_text_number(&r->src, &p, &raw, what)) {
		*pp = tok;
		return -EINVAL;
	}
	*pp = p;
	return index(r->h, raw);
}

static int scan_op(struct reader *r, const char *p)
{
	struct kl_op op = {
		.point = KL_TIME_MAX, .drain = KL_TIME_MAX, .cpu = KL_NO_CPU,
	};
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	bool arrow;
	int64_t i;
	size_t n;
	int ret;

	i = scan_id(r, &p, 't', "a thread as in `t3', or `#'", kl_history_thread);
	if (i < 0)
		return i;
	op.thread = i;
	p = kl_text_skip(p);
	i = scan_id(r, &p, '@', "an object as in `@0xffff8881'", kl_history_object);
	if (i < 0)
		return i;
	op.object = i;
	if (scan_times(&r->src, &p, &op))
		return -EINVAL;
	p = kl_text_skip(p);
	n = name_len(p);
	if (!n)
		return kl_text_bad(&r->src, p, "a method's name (letters, digits and _)");
	i = kl_history_method(r->h, p, n);
	if (i < 0)
		return i;
	op.method = i;
	if (scan_tail(&r->src, p + n, &op, args, res, &arrow))
		return -EINVAL;
	/* How many results it would have is told by one that returned: see pending_results(). */
	if ((op.flags & KL_OP_PENDING) && !arrow)
		op.pad[0] = 1;
	ret = kl_grow(r->lines, r->clines, r->h->nops + 1);
	if (!ret)
		ret = kl_history_add(r->h, &op, args, res);
	if (!ret)
		r->lines[r->h->nops - 1] = r->src.line;
	return ret;
}

static int pending_results(struct kl_history *h)
{
	int16_t *nres;
	size_t i;
	int ret = 0;

	nres = malloc((h->nmethods + 1) * sizeof(*nres));
	if (!nres)
		return -ENOMEM;
	for (i = 0; i < h->nmethods; i++)
		nres[i] = -1;
	for (i = 0; i < h->nops; i++)
		if (!(h->ops[i].flags & KL_OP_PENDING) && nres[h->ops[i].method] < 0)
			nres[h->ops[i].method] = h->ops[i].nres;
	for (i = 0; i < h->nops; i++) {
		struct kl_op *op = &h->ops[i];
		unsigned int n, j;

		if (!op->pad[0])
			continue;
		op->pad[0] = 0;
		if (nres[op->method] <= 0)
			continue;
		n = op->nargs + nres[op->method];
		if (h->nvals + n > UINT32_MAX) {
			ret = -EOVERFLOW;
			break;
		}
		ret = kl_grow(h->vals, h->cvals, h->nvals + n);
		if (ret)
			break;
		for (j = 0; j < op->nargs; j++)
			h->vals[h->nvals + j] = h->vals[op->vals + j];
		for (; j < n; j++)
			h->vals[h->nvals + j] = kl_special(KL_ANY);
		op->vals = h->nvals;
		op->nres = nres[op->method];
		h->nvals += n;
	}
	free(nres);
	return ret;
}

static int finish(struct reader *r)
{
	size_t a, b;
	int ret;

	kl_text_header_end(r->h, &r->src);
	ret = pending_results(r->h);
	if (!ret)
		ret = kl_history_sort(r->h, r->lines);
	if (ret)
		return ret;
	ret = kl_history_overlap(r->h, &a, &b);
	if (ret <= 0)
		return ret;
	kl_err_at(r->src.name, r->lines[b], 0,
		  "thread t%" PRIu64 " is called at %" PRIu64 " inside the operation of line %"
		  PRIu32 " and returns at %" PRIu64 ", after it (%" PRIu64
		  "): expected one after the other or one inside the other",
		  r->h->threads[r->h->ops[b].thread], r->h->ops[b].call, r->lines[a],
		  r->h->ops[b].ret, r->h->ops[a].ret);
	return -EINVAL;
}

/* Whole lines in [p, end). */
static int scan_lines(struct reader *r, const char *p, const char *end)
{
	int ret;

	while (p < end) {
		const char *q = kl_text_skip(p);

		r->src.line++;
		ret = 0;
		if (*q == '#')
			ret = kl_text_header(r->h, &r->src, q + 1);
		else if (*q != '\n')
			ret = scan_op(r, q);
		if (ret && ret != -EINVAL)
			return ret;
		if (r->src.errors >= MAX_ERRORS) {
			kl_err_at(r->src.name, r->src.line, 0, "too many errors, giving up");
			return -EINVAL;
		}
		p = (const char *)memchr(q, '\n', end - q) + 1;
	}
	return 0;
}

/* Then it is no text, and scanners of strings would see less than there is. */
static int zero_byte(const char *name, const char *text, const char *at)
{
	unsigned int line = 1;
	const char *p;

	for (p = text; (p = memchr(p, '\n', at - p)); p++)
		line++;
	kl_err_at(name, line, 0, "a zero byte: expected text, or a .klh file");
	return -EINVAL;
}

int kl_text_read(const char *name, const char *text, size_t len, struct kl_history **out)
{
	struct reader r = { .src.name = name };
	const char *zero;
	size_t whole = len;
	char *last = NULL;
	int ret = -ENOMEM;

	zero = memchr(text, 0, len);
	if (zero)
		return zero_byte(name, text, zero);
	r.h = kl_history_new();
	if (!r.h)
		return ret;
	while (whole && text[whole - 1] != '\n')
		whole--;
	ret = scan_lines(&r, text, text + whole);
	if (!ret && whole < len) {
		/* The last line has no newline: give it one. */
		last = malloc(len - whole + 1);
		if (!last) {
			ret = -ENOMEM;
			goto err;
		}
		memcpy(last, text + whole, len - whole);
		last[len - whole] = '\n';
		ret = scan_lines(&r, last, last + (len - whole) + 1);
	}
	if (!ret && r.src.errors)
		ret = -EINVAL;
	if (!ret)
		ret = finish(&r);
	if (ret)
		goto err;
	free(last);
	free(r.lines);
	*out = r.h;
	return 0;
err:
	if (ret != -EINVAL)
		kl_err_at(name, 0, 0, "%s", strerror(-ret));
	kl_text_header_end(r.h, &r.src);
	free(last);
	free(r.lines);
	kl_history_free(r.h);
	return ret;
}
