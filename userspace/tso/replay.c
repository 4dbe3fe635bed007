// SPDX-License-Identifier: GPL-2.0
/*
 * The replayer: checks what engines claim, without them.
 *
 * An order is right when each completed operation of the partition is in it
 * once, it contradicts no "happens before", and the specification, run in that
 * order, gives the results that were seen.  The specification may leave a
 * choice, so a set of states is carried along.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/cert.h"
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

bool kl_replay_same_part(const struct replay *r, const struct kl_op *a, const struct kl_op *b)
{
	int ka, kb;

	if (kl_spec_partition(r->spec) == KL_PART_NONE)
		return true;
	if (a->object != b->object || kl_spec_partition(r->spec) == KL_PART_OBJECT)
		return a->object == b->object;
	ka = kl_spec_method(r->spec, r->map[a->method])->part_param;
	kb = kl_spec_method(r->spec, r->map[b->method])->part_param;
	if (ka < 0 || kb < 0)
		return true;
	/* An unknown key may be any. */
	return kl_op_args(r->h, a)[ka].tag == KL_ANY || kl_op_args(r->h, b)[kb].tag == KL_ANY ||
	       kl_val_eq(kl_op_args(r->h, a)[ka], kl_op_args(r->h, b)[kb]);
}

/* What tells partitions apart: the object, and the key where each operation's is known. */
static uint64_t partition_of(const struct replay *r, const struct kl_op *op, bool by_key)
{
	int k = kl_spec_method(r->spec, r->map[op->method])->part_param;

	if (kl_spec_partition(r->spec) == KL_PART_NONE)
		return 0;
	return kl_mix(op->object, by_key ? kl_op_args(r->h, op)[k].v : 0);
}

static bool keys_known(const struct replay *r)
{
	size_t i;

	for (i = 0; i < r->h->nops; i++) {
		const struct kl_op *op = &r->h->ops[i];
		int k = kl_spec_method(r->spec, r->map[op->method])->part_param;

		if (k < 0 || kl_op_args(r->h, op)[k].tag != KL_WORD)
			return false;
	}
	return kl_spec_partition(r->spec) == KL_PART_PARAM;
}

/*
 * Is each completed operation in an order, and each partition in one?  An order
 * begins in the first state, so a partition in two would be no proof; one order
 * may be of several keys of an object, but not of several objects.
 */
static int check_complete(struct replay *r, bool violations)
{
	const bool none = kl_spec_partition(r->spec) == KL_PART_NONE, by_key = keys_known(r);
	struct kl_key *k = malloc(2 * (r->h->nops + 1) * sizeof(*k));
	uint32_t *first = calloc(r->nparts + 2, sizeof(*first));
	size_t i, n = 0;
	int ret = k && first ? 0 : -ENOMEM;

	for (i = 0; i < r->h->nops && !ret; i++) {
		const struct kl_op *op = &r->h->ops[i];
		const uint32_t part = r->part[i];

		if (!part) {
			if (op->ret != KL_TIME_MAX && !violations)
				ret = kl_replay_wrong(r, "in no order: completed operation", i);
			continue;
		}
		if (!first[part])
			first[part] = i + 1;
		else if (!none && r->h->ops[first[part] - 1].object != op->object)
			ret = kl_replay_wrong(r, "in the order of another object: operation", i);
		k[n].key = partition_of(r, op, by_key);
		k[n++].val = i;
	}
	if (!ret)
		kl_sort_keys(k, n, k + n);
	for (i = 1; i < n && !ret; i++)
		if (k[i - 1].key == k[i].key && r->part[k[i - 1].val] != r->part[k[i].val])
			ret = kl_replay_wrong(r, "a second order for the partition of operation",
					      k[i].val);
	free(first);
	free(k);
	return ret;
}

static int check_header(struct replay *r, char **lines, size_t n)
{
	unsigned long long nops, digest;
	int classical;

	r->line = 1;
	if (n < 4 || strcmp(lines[0], "klin-certificate 1"))
		return kl_replay_bad(r, "not a certificate: 'klin-certificate 1' expected");
	r->line = 3;
	if (sscanf(lines[2], "operations %llu digest %llx", &nops, &digest) != 2)
		return kl_replay_bad(r, "'operations N digest HEX' expected");
	if (nops != r->h->nops || digest != kl_history_digest(r->h))
		return kl_replay_bad(r, "this certificate is about another history");
	r->line = 4;
	if (sscanf(lines[3], "classical %d", &classical) != 1)
		return kl_replay_bad(r, "'classical 0' or 'classical 1' expected");
	r->classical = classical;
	return 0;
}

static int replay_lines(struct replay *r, char **lines, size_t n)
{
	unsigned long long time = 0, end = KL_TIME_MAX;
	bool violations = false;
	char verdict[32] = "", engine[32] = "";
	unsigned int nops;
	size_t i, ordered = 0;
	int ret = check_header(r, lines, n);

	for (i = 4; i < n && !ret; i++) {
		r->line = i + 1;
		if (!strncmp(lines[i], "part ", 5)) {
			if (sscanf(lines[i], "part %31s %u %31s", verdict, &nops, engine) != 3)
				return kl_replay_bad(r, "'part VERDICT OPERATIONS ENGINE' expected");
			r->nparts++;
			r->tso = !r->classical && !strncmp(engine, "tso", 3);
			/* What is claimed of nothing, or without proof, is open. */
			if (i + 1 == n || !strncmp(lines[i + 1], "part ", 5)) {
				if (!strcmp(verdict, "LINEARIZABLE")) {
					kl_replay_bad(r, "LINEARIZABLE without an order");
					return -EBADMSG;
				}
				violations = true;
				r->out->open++;
			}
		} else if (!strncmp(lines[i], "order", 5) && r->nparts) {
			ret = ordered == r->nparts ? kl_replay_bad(r, "a second order for this part") :
						     kl_replay_order(r, lines[i] + 5);
			ordered = r->nparts;
		} else if (!strncmp(lines[i], "cut ", 4)) {
			if (sscanf(lines[i], "cut %llu end %llu", &time, &end) != 2)
				ret = kl_replay_bad(r, "'cut TIME end TIME' expected");
		} else if (!strncmp(lines[i], "kept", 4) && r->nparts) {
			violations = true;
			ret = kl_replay_violation(r, time, end, lines[i] + 4);
		} else {
			ret = kl_replay_bad(r, "'part', 'order', 'cut' or 'kept' expected");
		}
	}
	return ret ? ret : check_complete(r, violations);
}

static int read_lines(const char *path, char **text, char ***lines, size_t *n)
{
	size_t len, cap = 0;
	char *s, *save = NULL;
	int ret = kl_read_file(path, text, &len);

	*lines = NULL;
	*n = 0;
	if (ret) {
		kl_err("%s: %s", path, strerror(-ret));
		return -EINVAL;
	}
	for (s = strtok_r(*text, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		if (kl_grow(*lines, cap, *n + 1))
			return -ENOMEM;
		(*lines)[(*n)++] = s;
	}
	return 0;
}

char *kl_cert_history(const char *path)
{
	char *text = NULL, **lines = NULL, *name = NULL;
	size_t n = 0;

	if (!read_lines(path, &text, &lines, &n)) {
		if (n > 1 && !strcmp(lines[0], "klin-certificate 1") &&
		    !strncmp(lines[1], "history ", 8))
			name = strdup(lines[1] + 8);
		else
			kl_err_at(path, 1, 0, "not a certificate: 'klin-certificate 1' and "
				  "'history PATH' expected");
	}
	free(lines);
	free(text);
	return name;
}

static int replay_init(struct replay *r)
{
	size_t i;

	r->run = kl_run_new(r->spec);
	r->map = calloc(r->h->nmethods + 1, sizeof(*r->map));
	r->part = calloc(r->h->nops + 1, sizeof(*r->part));
	if (!r->run || !r->map || !r->part)
		return -ENOMEM;
	for (i = 0; i < r->h->nmethods; i++) {
		r->map[i] = kl_spec_find_method(r->spec, r->h->methods[i]);
		if (r->map[i] < 0)
			return kl_replay_bad(r, "the history has a method that the spec does not");
	}
	for (i = 0; i < r->h->nops; i++) {
		const struct kl_op *op = &r->h->ops[i];
		const struct kl_method *m = kl_spec_method(r->spec, r->map[op->method]);

		if (op->nargs != m->nparams || op->nres != m->nresults)
			return kl_replay_bad(r, "an operation has other arguments than the spec says");
	}
	return kl_replay_order_init(r);
}

int kl_cert_replay(const char *path, const struct kl_spec *spec, const struct kl_history *h,
		   struct kl_replay *out)
{
	struct replay r = { .path = path, .spec = spec, .h = h, .out = out };
	char *text = NULL, **lines = NULL;
	size_t n;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = read_lines(path, &text, &lines, &n);
	if (!ret)
		ret = replay_init(&r);
	if (!ret)
		ret = replay_lines(&r, lines, n);
	kl_replay_order_free(&r);
	free(r.part);
	free(r.map);
	kl_run_free(r.run);
	free(lines);
	free(text);
	return ret;
}
