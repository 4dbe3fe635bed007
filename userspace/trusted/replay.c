// SPDX-License-Identifier: GPL-2.0
/*
 * The replayer: it checks the claims of engines, without the engines.
 *
 * It splits the history by itself, and a certificate must have a claim for each partition, in
 * order.  LINEARIZABLE comes with an order of the whole partition, VIOLATION with a
 * counterexample, and UNKNOWN with an order if only gaps made the partition unknown.  A claim
 * without proof is open.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/sort.h"
#include "check/check.h"
#include "trusted/replay_internal.h"

int kl_replay_wrong(const struct replay *r, const char *what, uint64_t n)
{
	char text[200];

	snprintf(text, sizeof(text), "%s %" PRIu64, what, n);
	kl_cert_err(r->path, r->lines, r->line, r->column, text);
	return -EBADMSG;
}

int kl_replay_bad(const struct replay *r, const char *what)
{
	kl_cert_err(r->path, r->lines, r->line, r->column, what);
	return -EINVAL;
}

int kl_replay_look(struct replay *r, uint64_t more)
{
	struct kl_looks *l = &r->looks;

	if (r->over)
		return -E2BIG;
	r->over = more ? kl_look(l, more) : kl_looks_over(l);
	if (r->over)
		kl_warn_at(r->path, r->line, 0, "%s", l->reason);
	return r->over ? -E2BIG : 0;
}

bool kl_replay_key(const struct replay *r, uint32_t op, uint64_t *key)
{
	const struct kl_op *o = &r->h->ops[op];

	return kl_method_key(kl_spec_method(r->spec, r->map[kl_op_method(r->h, o)]),
			     kl_op_args(r->h, o), key);
}

/* Return: true if the specification is partitioned by key, and each operation's key is known. */
static bool keys_known(const struct replay *r)
{
	uint64_t key;
	size_t i;

	for (i = 0; i < r->h->nops; i++)
		if (!kl_replay_key(r, i, &key))
			return false;
	return kl_spec_partition(r->spec) == KL_PART_PARAM;
}

static uint64_t key_of(const struct replay *r, uint32_t i)
{
	uint64_t key = 0;

	kl_replay_key(r, i, &key);
	return key;
}

/* Number the partitions by their first operations, and list each partition's operations. */
static int number_parts(struct replay *r, const struct kl_key *k, bool by_key, bool none)
{
	const size_t n = r->h->nops;
	size_t i, first = 0;

	/* r->ops[i]: the first operation of the partition of operation i. */
	for (i = 0; i < n; i++) {
		const uint32_t op = k[i].val, before = i ? k[i - 1].val : op;

		if (i && !none && (r->h->ops[op].object != r->h->ops[before].object ||
				   (by_key && key_of(r, op) != key_of(r, before))))
			first = i;
		r->ops[op] = k[first].val;
	}
	for (i = 0; i < n; i++)
		r->part[i] = r->ops[i] == i ? r->nparts++ : r->part[r->ops[i]];
	r->at = calloc(r->nparts + 2, sizeof(*r->at));
	if (!r->at)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		r->at[r->part[i] + 2]++;
	for (i = 2; i < r->nparts + 2; i++)
		r->at[i] += r->at[i - 1];
	for (i = 0; i < n; i++)
		r->ops[r->at[r->part[i] + 1]++] = i;
	return 0;
}

static int split(struct replay *r, bool by_key)
{
	const bool none = kl_spec_partition(r->spec) == KL_PART_NONE;
	const size_t n = r->h->nops;
	struct kl_key *k = malloc(2 * (n + 1) * sizeof(*k));
	size_t i;
	int ret = -ENOMEM;

	r->part = calloc(n + 1, sizeof(*r->part));
	r->ops = calloc(n + 1, sizeof(*r->ops));
	if (!k || !r->part || !r->ops)
		goto out;
	for (i = 0; i < n; i++)
		k[i] = (struct kl_key){ .key = by_key ? key_of(r, i) : 0, .val = i };
	/* The sort is stable: by object, then key, then index. */
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i++)
		k[i].key = none ? 0 : r->h->ops[k[i].val].object;
	kl_sort_keys(k, n, k + n);
	ret = number_parts(r, k, by_key, none);
out:
	free(k);
	return ret;
}

static char *next_line(struct replay *r)
{
	r->column = 0;
	r->line++;
	return r->line <= r->nlines ? r->lines[r->line - 1] : "";
}

/* Take the next line if it begins with @word.  Return: the text after the word, or NULL. */
static char *line_with(struct replay *r, const char *word)
{
	const size_t len = strlen(word);

	if (r->line >= r->nlines || strncmp(r->lines[r->line], word, len))
		return NULL;
	return next_line(r) + len;
}

/* A header that contradicts the history is damage, since it claims no verdict. */
static __attribute__((format(printf, 3, 4))) int bad_header(const struct kl_cert *c,
							    unsigned int line, const char *fmt, ...)
{
	char what[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	kl_cert_err(c->path, c->lines, line, 1, what);
	return -EINVAL;
}

static int check_header(struct replay *r, const struct kl_cert *c)
{
	const struct kl_history *h = r->h;
	int ret = kl_cert_check_spec(c, r->spec, "the specification");

	if (ret)
		return ret;
	if (strcmp(c->history_sha256, *h->sha256 ? h->sha256 : "-"))
		return bad_header(c, 3,
				  "the certificate is about a history with sha256 %.*s, but "
				  "this history has %.*s; give the right history with --history",
				  KL_SHA256_SHORT, c->history_sha256, KL_SHA256_SHORT,
				  *h->sha256 ? h->sha256 : "-");
	if (c->nops != h->nops)
		return bad_header(
			c, 4, "the header is damaged: the history has %zu operations, not %" PRIu64,
			h->nops, c->nops);
	if (c->fresh != h->fresh)
		return bad_header(c, 6, "the header is damaged: the history's first state is '%s'",
				  h->fresh ? "init" : "any");
	if (c->by_key && !keys_known(r))
		return bad_header(
			c, 7,
			"the header is damaged: no partitions by key: some operations have none");
	ret = split(r, c->by_key);
	if (!ret && c->nparts != r->nparts)
		return bad_header(
			c, 7, "the header is damaged: the history has %zu partitions, not %" PRIu64,
			r->nparts, c->nparts);
	return ret;
}

/* Replay a VIOLATION.  Only the first violations have counterexamples; others are open. */
static int replay_violation(struct replay *r, const uint32_t *ops, size_t n)
{
	uint64_t time = 0, end = 0;
	char *text = line_with(r, "cut ");
	const char *stop;
	bool forgot;

	if (!text) {
		r->out->open++;
		return 0;
	}
	forgot = *text != '-';
	stop = forgot ? kl_digits(text, &time) : text + 1;
	stop = stop ? kl_digits_after(stop, " end ", &end) : NULL;
	if (!stop || *stop)
		return kl_replay_bad(r, "'cut TIME end TIME' or 'cut - end TIME' expected");
	text = line_with(r, "kept");
	if (!text) {
		r->line++;
		return kl_replay_bad(r, "'kept OPERATION...' expected");
	}
	return kl_replay_violation(r, ops, n, forgot, time, end, text);
}

/* Parse "VERDICT OPERATIONS ENGINE".  Return: the engine, or NULL if this is something else. */
static const char *read_claim(const char *text, char verdict[32], uint64_t *nops)
{
	const size_t len = strcspn(text, " ");
	const char *end = len < 32 && text[len] ? kl_digits(text + len + 1, nops) : NULL;

	if (!end || *end != ' ' || !end[1] || strchr(end + 1, ' '))
		return NULL;
	memcpy(verdict, text, len);
	verdict[len] = 0;
	return end + 1;
}

static int replay_part(struct replay *r, uint32_t part)
{
	const uint32_t *ops = r->ops + r->at[part];
	const size_t n = r->at[part + 1] - r->at[part];
	uint64_t nops = 0;
	char verdict[32] = "", *text = line_with(r, "part ");
	const char *engine = text ? read_claim(text, verdict, &nops) : NULL;

	if (!engine) {
		r->line += !text;
		return kl_replay_bad(r, "'part VERDICT OPERATIONS ENGINE' expected");
	}
	if (nops != n)
		return kl_replay_bad(r, "the number of operations differs from the history's in "
					"this partition");
	if (!strcmp(verdict, kl_verdict_name(KL_VIOLATION)))
		return replay_violation(r, ops, n);
	if (strcmp(verdict, kl_verdict_name(KL_LINEARIZABLE)) &&
	    strcmp(verdict, kl_verdict_name(KL_UNKNOWN)))
		return kl_replay_bad(r, "LINEARIZABLE, VIOLATION or UNKNOWN expected");
	r->unknown |= !strcmp(verdict, kl_verdict_name(KL_UNKNOWN));
	r->tso = !r->classical && kl_spec_fixed_size(r->spec) && !strncmp(engine, "tso", 3);
	text = line_with(r, "order");
	if (text)
		return kl_replay_order(r, part, !strcmp(verdict, kl_verdict_name(KL_UNKNOWN)),
				       text);
	if (r->line < r->nlines && strncmp(r->lines[r->line], "part ", 5)) {
		r->line++;
		return kl_replay_bad(r, "'order OPERATION...' or the next part expected");
	}
	if (!strcmp(verdict, kl_verdict_name(KL_LINEARIZABLE)))
		return kl_replay_wrong(r, "LINEARIZABLE without an order: part", part);
	r->out->open++;
	return 0;
}

static int replay_lines(struct replay *r, const struct kl_cert *c)
{
	uint32_t part;
	int ret = check_header(r, c);

	if (!ret)
		ret = kl_replay_order_init(r);
	for (part = 0; part < r->nparts && !ret; part++)
		ret = replay_part(r, part);
	/* As in klin check, a violation decides; without one, an unknown part does. */
	if (!ret)
		r->out->unknown = r->nparts ? r->unknown && !r->out->refuted :
				  kl_history_why_empty(r->h) != NULL;
	if (!ret && r->line < r->nlines) {
		r->line++;
		ret = kl_replay_bad(r, "'order' is for LINEARIZABLE, 'cut', 'kept' for VIOLATION");
	}
	return ret;
}

static int replay_init(struct replay *r)
{
	uint64_t is;
	size_t i;

	r->run = kl_run_new(r->spec);
	r->map = calloc(r->h->nmethods + 1, sizeof(*r->map));
	if (!r->run || !r->map)
		return -ENOMEM;
	kl_run_set_slow(r->run, true);
	kl_run_set_exact(r->run, true);
	for (i = 0; i < r->h->nmethods; i++) {
		r->map[i] = kl_spec_find_method(r->spec, r->h->methods[i]);
		if (r->map[i] < 0)
			return kl_replay_bad(r, "the history has a method that the spec does not");
	}
	for (i = 0; i < r->h->nops; i++) {
		const struct kl_op *op = &r->h->ops[i];
		const struct kl_opsig *s = kl_op_sig(r->h, op);
		const struct kl_method *m = kl_spec_method(r->spec, r->map[kl_op_method(r->h, op)]);

		if (s->nargs != m->nparams || s->nres != m->nresults)
			return kl_replay_bad(r, "an operation's arguments do not fit the spec");
		if (kl_spec_bad_bool(r->spec, r->map[s->method], r->h->vals + s->vals,
				     s->nargs + s->nres, &is))
			return kl_replay_bad(r, "a bool of the history is neither 0 nor 1");
	}
	return 0;
}

int kl_cert_replay(struct kl_cert *c, const struct kl_spec *spec, const struct kl_history *h,
		   const struct kl_limits *lim, struct kl_replay *out)
{
	struct replay r = {
		.path = c->path, .lines = c->lines, .nlines = c->nlines, .line = c->nheader,
		.spec = spec, .h = h, .classical = c->classical, .looks = { .lim = lim },
		.out = out,
	};
	int ret;

	memset(out, 0, sizeof(*out));
	ret = replay_init(&r);
	if (!ret)
		ret = replay_lines(&r, c);
	kl_replay_order_free(&r);
	free(r.part);
	free(r.ops);
	free(r.at);
	free(r.map);
	kl_run_free(r.run);
	return ret;
}
