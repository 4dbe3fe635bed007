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
 *	t4 @0xffff8881 180 - read stack=1
 *
 * A line has thread, object, call, return, method, arguments, results and attributes.  A return
 * of `-' means a pending operation.  A call of `-' was not seen; a call of `>=100' was not seen
 * either, but is not before 100.  Every line ends with a newline, which no token contains, so the
 * scanner checks no other bound.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "history/batch.h"
#include "history/formats/form.h"
#include "history/index.h"
#include "history/internal.h"
#include "history/source.h"
#include "history/spell.h"
#include "history/text.h"

#define RECENT_BITS	6
#define MOST_SPELLINGS	(1u << 14)	/* of numbers */

struct kl_text_reader {
	struct kl_text_src src;
	struct kl_history *h;
	bool guess; /* there is a pending operation whose number of results is unknown */
	uint64_t last; /* in a stream: the call of the last operation */
	struct {
		/* characters of the last method name of this hash, if it is short */
		uint64_t chars;
		uint32_t n; /* number of these characters */
		uint32_t method; /* index of this method */
	} recent[1u << RECENT_BITS];
};

/* Get a value by its name, such as `empty'. */
static bool named_val(const char *p, size_t n, struct kl_val *v)
{
	switch (*p) {
	case '?':
		v->tag = KL_ANY;
		return n == 1;
	case 'a':
		v->tag = KL_ABSENT;
		return kl_scan_is(p, n, "absent");
	case 'e':
		v->tag = KL_EMPTY;
		return kl_scan_is(p, n, "empty");
	case 'f':
		v->tag = p[1] == 'u' ? KL_FULL : KL_WORD;
		return kl_scan_is(p, n, "full") || kl_scan_is(p, n, "false");
	case 't':
		v->v = 1;
		return kl_scan_is(p, n, "true");
	default:
		return false;
	}
}

/* Keep how a number is written, up to a bound: a stream may have any number of them. */
static int spell(struct kl_history *h, uint64_t v, const char *p, size_t len)
{
	return h && kl_history_nspellings(h) < MOST_SPELLINGS ?
	       kl_history_spell_number(h, v, p, len) : 0;
}

static int scan_val(struct kl_scan *s, const char **pp, struct kl_val *v)
{
	const char *p = *pp;
	size_t n;

	*v = (struct kl_val){ 0 };
	if (kl_scan_digit(*p) || (*p == '-' && kl_scan_digit(p[1])))
		return kl_scan_word64(s, pp, &v->v, KL_TEXT_VALUE) ?:
			       v->v > UINT32_MAX || p[1] == 'x' ?
			       spell(s->spelled, v->v, p, *pp - p) :
			       0;
	n = kl_scan_word(p);
	if (!named_val(p, n, v))
		return kl_scan_bad(s, p, kl_text_wanted ? kl_text_wanted(p, n) : KL_TEXT_VALUE);
	/* A truth value may also be written as a number. */
	if (v->tag == KL_WORD && s->spelled)
		s->spelled->respelled = true;
	*pp = p + n;
	return 0;
}

/* Move *pp behind @word, a literal of at most eight characters, if it is there. */
__attribute__((always_inline))
static inline bool scan_prefix(const char **pp, const char *word)
{
	if (__builtin_memcmp(*pp, word, __builtin_strlen(word)))
		return false;
	*pp += __builtin_strlen(word);
	return true;
}

/* The contents of an operation's line. */
struct line {
	struct kl_op op;
	uint64_t point, drain, stack;
	struct kl_opsig sig;
	bool arrow;
	struct kl_val vals[2 * KL_MAX_ARGS]; /* arguments, followed by results */
	uint32_t tags; /* union of the values' tags */
};

/* Read an attribute, NAME=NUMBER, behind the values. */
static int scan_attribute(struct kl_scan *s, const char **pp, struct line *l)
{
	const char *p = *pp, *tok = p;
	uint64_t v;

	if (scan_prefix(&p, "cpu=")) {
		if (kl_scan_short(s, &p, &v, "a CPU number"))
			return -EINVAL;
		if (v >= KL_NO_CPU)
			return kl_scan_bad(s, tok, "a CPU number below 65535");
		l->op.cpu = v;
	} else if (scan_prefix(&p, "drain=")) {
		if (kl_scan_u64(s, &p, &l->drain, "a time"))
			return -EINVAL;
		if (l->drain < l->op.call)
			return kl_scan_bad(s, tok, "a time not before the call");
	} else if (scan_prefix(&p, "point=")) {
		if (kl_scan_u64(s, &p, &l->point, "a time"))
			return -EINVAL;
	} else if (scan_prefix(&p, "stack=")) {
		if (kl_scan_short(s, &p, &l->stack, "the number of a stack"))
			return -EINVAL;
		if (l->stack > UINT32_MAX)
			return kl_scan_bad(s, tok, "the number of a stack, below 2^32");
	} else {
		return kl_scan_bad(s, tok, "cpu=NUMBER, drain=TIME, point=TIME or stack=NUMBER");
	}
	*pp = p;
	return 0;
}

static inline bool is_attribute(const char *p)
{
	if (*p < 'a' || *p > 'z')
		return false;
	/* Nearly all attributes are CPU numbers. */
	if (scan_prefix(&p, "cpu="))
		return true;
	while (kl_scan_name(*p))
		p++;
	return *p == '=' || (!kl_scan_end(*p) && memchr(p, '=', kl_scan_word(p)));
}

/* Read the rest of the line: arguments, `->' and results, attributes. */
static int scan_tail(struct kl_scan *s, const char **pp, struct line *l)
{
	const char *p = *pp;
	uint8_t *n = &l->sig.nargs;
	struct kl_val *v = l->vals;
	uint32_t seen = 0; /* a bit for the first letter of each attribute */

	l->point = l->drain = KL_TIME_MAX;
	l->stack = 0;
	l->arrow = false;
	l->tags = KL_WORD;
	for (;;) {
		p = kl_scan_skip(p);
		if (*p == '\n')
			break;
		if (p[0] == '-' && p[1] == '>' && kl_scan_end(p[2])) {
			if (l->arrow)
				return kl_scan_bad(s, p, "only one `->' in a line");
			l->arrow = true;
			n = &l->sig.nres;
			p += 2;
			continue;
		}
		if (is_attribute(p))
			break;
		if (*n == KL_MAX_ARGS)
			return kl_scan_bad(s, p, "at most 8 arguments and 8 results");
		if (scan_val(s, &p, v))
			return -EINVAL;
		l->tags |= v++->tag;
		++*n;
	}
	while (*p != '\n') {
		if (seen & 1u << (*p & 31))
			return kl_scan_bad(s, p, "each attribute once");
		seen |= 1u << (*p & 31);
		if (scan_attribute(s, &p, l))
			return -EINVAL;
		p = kl_scan_skip(p);
	}
	*pp = p;
	return 0;
}

static int scan_times(struct kl_scan *s, const char **pp, struct kl_op *op)
{
	const char *p = kl_scan_skip(*pp), *tok = p;

	if (*p == '-' && kl_scan_end(p[1])) {
		op->flags |= KL_OP_NOCALL;
		op->call = KL_TIME_MIN;
		p++;
	} else {
		if (p[0] == '>' && p[1] == '=') {
			op->flags |= KL_OP_NOCALL;
			p += 2;
		}
		if (kl_scan_u64(s, &p, &op->call, "the time of the call, or `-'"))
			return -EINVAL;
		if (op->call == KL_TIME_MAX)
			return kl_scan_bad(s, tok, "a time below 2^64 - 1");
	}
	p = kl_scan_skip(p);
	tok = p;
	if (*p == '-' && kl_scan_end(p[1])) {
		op->flags |= KL_OP_PENDING;
		op->ret = KL_TIME_MAX;
		p++;
	} else {
		if (kl_scan_u64(s, &p, &op->ret, "the time of the return, or `-'"))
			return -EINVAL;
		if (op->ret == KL_TIME_MAX)
			return kl_scan_bad(s, tok, "a time below 2^64 - 1, or `-'");
		if (op->ret < op->call)
			return kl_scan_bad(s, tok, "a return not before the call");
	}
	*pp = p;
	return 0;
}

/* Read a method at *pp, which moves behind it.  Return: its index, or a negative errno. */
static int64_t scan_method(struct kl_text_reader *r, const char **pp)
{
	const char *p = *pp;
	const size_t len = kl_scan_word(p);
	uint64_t chars = kl_scan_eight(p);
	int64_t method;
	size_t n, slot;

	if (len < sizeof(chars))
		chars &= (1ull << 8 * len) - 1;
	slot = chars * 0x9e3779b97f4a7c15ULL >> (64 - RECENT_BITS);
	if (r->recent[slot].n == len && r->recent[slot].chars == chars && len) {
		*pp = p + len;
		return r->recent[slot].method;
	}
	for (n = 0; kl_scan_name(p[n]); n++)
		;
	if (!n || n > KL_MAX_NAME || kl_scan_digit(*p) || n != len)
		return kl_scan_bad(&r->src.scan, p, "a method's name (letters, digits and _)");
	*pp = p + n;
	method = kl_history_method(r->h, p, n);
	if (method >= 0 && n <= sizeof(chars)) {
		r->recent[slot].chars = chars;
		r->recent[slot].n = n;
		r->recent[slot].method = method;
	}
	return method;
}

static inline int scan_id(struct kl_scan *s, const char **pp, char mark, const char *what,
			  uint64_t *raw)
{
	const char *p = *pp + 1;

	if (p[-1] != mark || !kl_scan_digit(*p))
		return kl_scan_bad(s, p - 1, what);
	if (kl_scan_short(s, &p, raw, what))
		return -EINVAL;
	*pp = p;
	return 0;
}

/* Add an operation, to the batch if it has returned, has few values and no further times. */
static int add_op(struct kl_text_reader *r, struct line *l)
{
	const bool told = l->point != KL_TIME_MAX || l->drain != KL_TIME_MAX || l->stack;
	const unsigned int n = l->sig.nargs + l->sig.nres;
	int ret;

	if (!told && !(l->op.flags & KL_OP_PENDING) && n <= KL_BATCH_VALS)
		return kl_batch_add(r->h, &l->op, l->sig, l->vals,
				    n && l->tags == KL_WORD);
	ret = kl_history_flush(r->h) ?:
	      kl_history_add(r->h, &l->op, &l->sig, l->vals, l->vals + l->sig.nargs);
	if (ret || !told)
		return ret;
	return kl_history_set_points(r->h, r->h->nops - 1, l->point, l->drain) ?:
	       kl_history_set_stack(r->h, r->h->nops - 1, l->stack);
}

static int scan_op(struct kl_text_reader *r, const char **pp)
{
	struct kl_scan *s = &r->src.scan;
	const char *p = *pp, *call;
	struct line l;
	uint64_t raw;
	int64_t i;
	int ret;

	l.op = (struct kl_op){ .cpu = KL_NO_CPU };
	l.sig = (struct kl_opsig){ 0 };

	if (scan_id(s, &p, 't', "a thread as in `t3', or `#'", &raw))
		return -EINVAL;
	i = kl_thread_index(r->h, raw);
	if (i < 0)
		return i;
	l.op.thread = i;
	p = kl_scan_skip(p);
	if (scan_id(s, &p, '@', "an object as in `@0xffff8881'", &raw))
		return -EINVAL;
	i = kl_object_index(r->h, raw);
	if (i < 0)
		return i;
	l.op.object = i;
	call = kl_scan_skip(p);
	if (scan_times(s, &p, &l.op))
		return -EINVAL;
	if (l.op.call < r->src.floor && !(l.op.flags & KL_OP_NOCALL))
		return kl_scan_bad(s, call, "a call not before the time of the last `# floor'");
	p = kl_scan_skip(p);
	i = scan_method(r, &p);
	if (i < 0)
		return i;
	l.sig.method = i;
	if (scan_tail(s, &p, &l))
		return -EINVAL;
	*pp = p;
	/* pending_results() takes the number of results from an operation that returned. */
	if ((l.op.flags & KL_OP_PENDING) && !l.arrow) {
		l.op.pad = 1;
		r->guess = true;
	}
	ret = kl_source_place(r->h, s->line);
	return ret ? ret : add_op(r, &l);
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
	for (i = 0; i < h->nops; i++) {
		const struct kl_opsig *s = kl_op_sig(h, &h->ops[i]);

		if (!(h->ops[i].flags & KL_OP_PENDING) && nres[s->method] < 0)
			nres[s->method] = s->nres;
	}
	for (i = 0; i < h->nops && !ret; i++) {
		struct kl_op *op = &h->ops[i];
		struct kl_opsig s = *kl_op_sig(h, op);
		int64_t sig;

		if (!op->pad)
			continue;
		op->pad = 0;
		if (nres[s.method] <= 0)
			continue;
		s.nres = nres[s.method];
		sig = kl_history_sig(h, &s, kl_op_args(h, op), NULL);
		if (sig < 0)
			ret = sig;
		else
			op->sig = sig;
	}
	free(nres);
	return ret;
}

/*
 * Check linearization points: an operation takes effect between its call and its return, or while
 * its stores are in a store buffer.  The clock of another CPU may have timed the point.
 */
static int check_points(const struct kl_history *h)
{
	uint64_t point, drain, last;
	size_t i;

	for (i = 0; h->points && i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i];

		point = kl_op_point(h, op);
		drain = kl_op_drain(h, op);
		last = h->memory.sc && drain == KL_TIME_MAX ? op->ret : kl_op_empty(h, op);
		if (point == KL_TIME_MAX || (kl_time_add(point, h->error) >= op->call &&
					     point <= kl_time_add(last, h->error)))
			continue;
		if (last == KL_TIME_MAX)
			kl_history_err(h, i, KL_AT_POINT, "'point=%" PRIu64 "': expected a time "
				       "not before the call, %" PRIu64, point, op->call);
		else
			kl_history_err(h, i, KL_AT_POINT, "'point=%" PRIu64 "': expected a time "
				       "from the call, %" PRIu64 ", to the %s, %" PRIu64
				       ", within the clock's error of %" PRIu64, point,
				       op->call, last == op->ret ? "return" : "drain", last,
				       h->error);
		return -EINVAL;
	}
	return 0;
}

static int finish(struct kl_text_reader *r, const struct kl_input *in)
{
	size_t a, b;
	int ret;

	kl_text_header_end(r->h, &r->src);
	ret = r->guess ? pending_results(r->h) : 0;
	if (!ret)
		ret = kl_source_note(r->h, in) ?: kl_history_finish(r->h);
	kl_form_set_memory(&kl_form_text, r->h);
	if (!ret)
		ret = check_points(r->h);
	if (ret)
		return ret;
	ret = kl_history_overlap(r->h, &a, &b);
	if (ret <= 0)
		return ret;
	kl_history_err(r->h, b, KL_AT_CALL,
		       "thread t%" PRIu64 " is called at %" PRIu64 " inside the operation of line %"
		       PRIu32 " and returns at %" PRIu64 ", after it (%" PRIu64
		       "): expected operations that follow each other or are nested",
		       r->h->threads[r->h->ops[b].thread], r->h->ops[b].call, r->h->places[a],
		       r->h->ops[b].ret, r->h->ops[a].ret);
	return -EINVAL;
}

static int scan_line(void *ctx, const char **pp)
{
	struct kl_text_reader *r = ctx;

	if (**pp == '#')
		return kl_text_header(r->h, &r->src, *pp + 1);
	if (r->src.ended)
		return kl_scan_bad_shown(&r->src.scan, *pp, "an operation behind the line `# end'");
	return scan_op(r, pp);
}

static int read_text(struct kl_input *in, struct kl_history **out)
{
	struct kl_text_reader r = { .src.scan.name = in->name };
	int ret = -ENOMEM;

	r.h = kl_history_new();
	if (!r.h)
		return ret;
	r.src.scan.h = r.src.scan.spelled = r.h;
	ret = kl_scan_lines(&r.src.scan, in, scan_line, &r);
	if (!ret)
		ret = finish(&r, in);
	else
		kl_text_header_end(r.h, &r.src);
	if (ret)
		kl_history_free(r.h);
	else
		*out = r.h;
	return ret;
}

struct kl_text_reader *kl_text_reader_new(const char *name)
{
	struct kl_text_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->src.scan.name = name;
	r->h = kl_history_new();
	if (!r->h) {
		free(r);
		return NULL;
	}
	r->src.scan.spelled = r->h;
	return r;
}

void kl_text_reader_free(struct kl_text_reader *r)
{
	if (!r)
		return;
	kl_text_reader_end(r);
	kl_history_free(r->h);
	free(r->src.spec_text);
	free(r->src.attached);
	free(r);
}

int kl_text_reader_lines(struct kl_text_reader *r, const char *p, const char *end)
{
	struct kl_input in;
	int ret = 0;

	kl_input_memory(&in, r->src.scan.name, p, end - p);
	if (!r->h->source)
		ret = kl_source_note(r->h, &in);
	if (ret)
		return ret;
	/* The caller keeps the lines until the next call. */
	r->h->source->text = p;
	r->h->source->len = end - p;
	r->h->source->first = r->src.scan.line + 1;
	ret = kl_scan_lines(&r->src.scan, &in, scan_line, r);
	/* The operations before an error are appended, too. */
	ret = kl_history_flush(r->h) ?: ret;
	kl_input_close(&in);
	if (!ret && r->h->nops) {
		r->last = r->h->ops[r->h->nops - 1].call;
		/* All header lines have been read. */
		kl_text_reader_end(r);
		ret = check_points(r->h);
	}
	return ret;
}

void kl_text_reader_end(struct kl_text_reader *r)
{
	if (!r->h->spec_text && !r->h->attached)
		kl_text_header_end(r->h, &r->src);
	kl_form_set_memory(&kl_form_text, r->h);
}

struct kl_history *kl_text_reader_history(struct kl_text_reader *r)
{
	return r->h;
}

int kl_text_reader_renew(struct kl_text_reader *r)
{
	const int ret = kl_history_renew(&r->h);

	r->src.scan.spelled = r->h;
	return ret;
}

uint64_t kl_text_reader_floor(const struct kl_text_reader *r, bool *sure)
{
	*sure = r->src.has_floor;
	return r->src.has_floor ? r->src.floor : r->last;
}

bool kl_text_reader_ended(const struct kl_text_reader *r)
{
	return r->src.ended;
}

/* Return: true if the file begins with "# klin", or with an operation. */
static bool is_text(const struct kl_head *head)
{
	const char *p = head->data, *q = head->first;
	size_t n = kl_head_word(head, &p);

	if (n > 1 && *p == 't' && kl_scan_digit(p[1]))
		return true;
	n = kl_head_word(head, &q);
	if (n != 1 || *q != '#')
		return false;
	q++;
	n = kl_head_word(head, &q);
	return n == 4 && !memcmp(q, "klin", 4);
}

const struct kl_form kl_form_text = {
	.name = "text", .rank = 20,
	.help = "klin's own: an operation a line",
	.example = "t3 @1 10 20 write 7",
	.is = is_text, .read = read_text, .write = kl_text_write,
};
KL_FORM(kl_form_text);
