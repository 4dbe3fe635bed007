// SPDX-License-Identifier: GPL-2.0
/*
 * The replayer: checks what engines claim, without them.
 *
 * It splits the history by itself; a certificate has to say something of each
 * partition, in order.  LINEARIZABLE comes with one order of the whole partition,
 * VIOLATION with a counterexample, UNKNOWN with an order where only gaps made it
 * unknown.  What is claimed without proof is counted as open.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/cert.h"
#include "check/check.h"
#include "tso/replay_internal.h"

int kl_replay_wrong(const struct replay *r, const char *what, uint64_t n)
{
	kl_err_at(r->path, r->line, 0, "%s %" PRIu64, what, n);
	return -EBADMSG;
}

int kl_replay_bad(const struct replay *r, const char *what)
{
	kl_err_at(r->path, r->line, 0, "%s", what);
	return -EINVAL;
}

int kl_replay_look(struct replay *r, uint64_t more)
{
	struct kl_looks *l = &r->looks;

	if (r->over)
		return -E2BIG;
	r->over = more ? kl_look(l, more) : kl_time_over(l->lim, l->reason, sizeof(l->reason));
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

/* Does each operation say which key it is about? */
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

/* Number the partitions by their first operations, and list each one's. */
static int number_parts(struct replay *r, const struct kl_key *k, bool by_key, bool none)
{
	const size_t n = r->h->nops;
	size_t i, first = 0;

	/* r->ops[i]: which operation stands first in the partition of operation i. */
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
	/* Stable: by object, then key, then index. */
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
	r->line++;
	return r->line <= r->nlines ? r->lines[r->line - 1] : "";
}

/* The next line if it begins with @word, the text after that. */
static char *line_with(struct replay *r, const char *word)
{
	const size_t len = strlen(word);

	if (r->line >= r->nlines || strncmp(r->lines[r->line], word, len))
		return NULL;
	return next_line(r) + len;
}

/* Those of version 1 have no N+K, and a digest of the whole history. */
static bool is_first_version(const char *line)
{
	return !strcmp(line, "klin-certificate 1");
}

static bool is_certificate(const char *line)
{
	return !strcmp(line, "klin-certificate 2") || is_first_version(line);
}

static int read_header(struct replay *r)
{
	unsigned long long nops, digest, nparts;
	unsigned int classical;
	char by[8];
	const char *first = next_line(r);
	const bool whole = is_first_version(first);
	int end = 0, ret;

	if (!is_certificate(first))
		return kl_replay_bad(r, "not a certificate: 'klin-certificate 2' expected");
	if (!line_with(r, "history "))
		return kl_replay_bad(r, "'history PATH' expected");
	if (sscanf(next_line(r), "operations %llu digest %16llx%n", &nops, &digest, &end) != 2)
		return kl_replay_bad(r, "'operations N digest HEX' expected");
	if (nops != r->h->nops || digest != kl_history_digest(r->h, whole))
		return kl_replay_bad(r, "this certificate is about another history");
	if (sscanf(next_line(r), "classical %u", &classical) != 1 || classical > 1)
		return kl_replay_bad(r, "'classical 0' or 'classical 1' expected");
	r->classical = classical;
	r->out->classical = classical;
	if (sscanf(next_line(r), "partitions %llu by %7s", &nparts, by) != 2 ||
	    (strcmp(by, "object") && strcmp(by, "key")))
		return kl_replay_bad(r, "'partitions N by object' or '... by key' expected");
	if (!strcmp(by, "key") && !keys_known(r))
		return kl_replay_wrong(r, "no partitions by key: operations without one "
				       "among", nops);
	ret = split(r, !strcmp(by, "key"));
	if (!ret && nparts != r->nparts)
		ret = kl_replay_wrong(r, "the number of the history's partitions is", r->nparts);
	return ret;
}

/* A VIOLATION may be one too many to have been made small: then it is open. */
static int replay_violation(struct replay *r, const uint32_t *ops, size_t n)
{
	unsigned long long time = 0, end;
	char *text = line_with(r, "cut ");
	bool forgot = true;

	if (!text) {
		r->out->open++;
		return 0;
	}
	if (!strncmp(text, "- ", 2)) {
		forgot = false;
		if (sscanf(text, "- end %llu", &end) != 1)
			return kl_replay_bad(r, "'cut TIME end TIME' or 'cut - end TIME' expected");
	} else if (sscanf(text, "%llu end %llu", &time, &end) != 2) {
		return kl_replay_bad(r, "'cut TIME end TIME' or 'cut - end TIME' expected");
	}
	text = line_with(r, "kept");
	if (!text) {
		r->line++;
		return kl_replay_bad(r, "'kept OPERATION...' expected");
	}
	return kl_replay_violation(r, ops, n, forgot, time, end, text);
}

static int replay_part(struct replay *r, uint32_t part)
{
	const uint32_t *ops = r->ops + r->at[part];
	const size_t n = r->at[part + 1] - r->at[part];
	char verdict[32] = "", engine[32] = "", *text = line_with(r, "part ");
	unsigned long long nops;

	if (!text || sscanf(text, "%31s %llu %31s", verdict, &nops, engine) != 3) {
		r->line += !text;
		return kl_replay_bad(r, "'part VERDICT OPERATIONS ENGINE' expected");
	}
	if (nops != n)
		return kl_replay_wrong(r, "operations of this partition in the history:", n);
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
	if (!strcmp(verdict, kl_verdict_name(KL_LINEARIZABLE)))
		return kl_replay_wrong(r, "LINEARIZABLE without an order: part", part);
	r->out->open++;
	return 0;
}

static int replay_lines(struct replay *r)
{
	uint32_t part;
	int ret = read_header(r);

	if (!ret)
		ret = kl_replay_order_init(r);
	for (part = 0; part < r->nparts && !ret; part++)
		ret = replay_part(r, part);
	/* As klin check has it: one violation decides, else one part that is not known. */
	if (!ret)
		r->out->unknown = !r->nparts || (r->unknown && !r->out->refuted);
	if (!ret && r->line < r->nlines) {
		r->line++;
		ret = kl_replay_bad(r, "nothing expected after the last part");
	}
	return ret;
}

static int read_lines(const char *path, char **text, char ***lines, size_t *n)
{
	size_t len, cap = 0;
	char *s, *end;
	int ret = kl_read_file(path, text, &len);

	*lines = NULL;
	*n = 0;
	if (ret) {
		if (ret != -ENOMEM)
			kl_err("%s: %s", path, strerror(-ret));
		return ret == -ENOMEM ? ret : -EINVAL;
	}
	for (s = *text; s < *text + len; s = end + 1) {
		end = memchr(s, '\n', *text + len - s);
		if (!end)
			end = *text + len;
		*end = 0;
		if (kl_grow(*lines, cap, *n + 1))
			return -ENOMEM;
		(*lines)[(*n)++] = s;
	}
	return 0;
}

int kl_cert_history(const char *path, char **name)
{
	char *text = NULL, **lines = NULL;
	size_t n = 0;
	int ret = read_lines(path, &text, &lines, &n);

	if (!ret && (n < 2 || !is_certificate(lines[0]) || strncmp(lines[1], "history ", 8))) {
		kl_err_at(path, 1, 0, "not a certificate: 'klin-certificate 2' and "
			  "'history PATH' expected");
		ret = -EINVAL;
	}
	if (!ret) {
		*name = strdup(lines[1] + 8);
		ret = *name ? 0 : -ENOMEM;
	}
	if (ret == -ENOMEM)
		kl_err("%s: out of memory", path);
	free(lines);
	free(text);
	return ret;
}

static int replay_init(struct replay *r)
{
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
		const struct kl_shape *s = kl_op_shape(r->h, op);
		const struct kl_method *m = kl_spec_method(r->spec, r->map[kl_op_method(r->h, op)]);

		if (s->nargs != m->nparams || s->nres != m->nresults)
			return kl_replay_bad(r, "an operation has other arguments than the spec "
					     "says");
	}
	return 0;
}

int kl_cert_replay(const char *path, const struct kl_spec *spec, const struct kl_history *h,
		   const struct kl_limits *lim, struct kl_replay *out)
{
	struct replay r = {
		.path = path, .spec = spec, .h = h, .looks = { .lim = lim }, .out = out,
	};
	char *text = NULL;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = read_lines(path, &text, &r.lines, &r.nlines);
	if (!ret)
		ret = replay_init(&r);
	if (!ret)
		ret = replay_lines(&r);
	kl_replay_order_free(&r);
	free(r.part);
	free(r.ops);
	free(r.at);
	free(r.map);
	kl_run_free(r.run);
	free(r.lines);
	free(text);
	return ret;
}
