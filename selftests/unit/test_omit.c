// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that counterexamples omit, by all rules at once.  For small random histories with
 * an order, no certificate shows a violation, whatever operations it keeps and wherever it
 * cuts and ends.  The test also checks the form N+K of orders.  KLIN_RUNS sets the number of
 * histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "check/explain/omit.h"
#include "check/check.h"
#include "check/engines.h"
#include "history_util.h"
#include "random_history.h"
#include "replayed.h"
#include "tso/engine/tso.h"

#define MOST	16	/* maximum number of operations */
#define TRIES	6	/* certificates for each history */

static const char *const texts[] = {
	"spec halves { word a = 0, b;\n"
	"method set_a(word x) { atomic_flush { a = x; } }\n"
	"method set_b(word x) { atomic { b = x; } }\n"
	"method set(word x, word y) { atomic { a = x; b = y; } }\n"
	"method wait(word x) { atomic { assume(a == x); b = x; } }\n"
	"method read() -> (word x, word y) { atomic { return (a, b); } } }\n",
	"spec cell { word v;\n"
	"method put(word x) { atomic { v = x; } }\n"
	"method xchg(word x) -> word { atomic_flush { word t = v; v = x; return t; } }\n"
	"method either_way(word x) { either { atomic { v = x; } } or { atomic { v = 0; } } }\n"
	"method get() -> word { atomic { return v; } } }\n",
	"spec strict { word v = 0;\n"
	"method put(word x) { atomic_flush { v = x; } }\n"
	"method cas(word a, word b) -> bool { atomic_flush { if (v == a) { v = b; return true; }\n"
	"return false; } }\n"
	"method wait(word x) { atomic_flush { assume(v == x); v = 0; } }\n"
	"method get() -> word { atomic { return v; } } }\n",
	"spec plain { word v;\n"
	"method put(word x) { atomic_flush { v = x; } }\n"
	"method get() -> word { atomic { return v; } } }\n",
	"spec keyed { word a[8] = 0, b[8];\n"
	"method set(word k, word x, word y) { atomic { a[k] = x; b[k] = y; } }\n"
	"method set_a(word k, word x) { atomic_flush { a[k] = x; } }\n"
	"method swap(word k, word x) -> word { atomic_flush { word t = b[k]; b[k] = x; a[k] = x;\n"
	"return t; } }\n"
	"method get(word k) -> (word x, word y) { atomic { return (a[k], b[k]); } }\n"
	"partition by k; }\n",
	"spec look { stack<word> s = empty;\n"
	"method push(word v) { atomic_flush { s.push(v); } }\n"
	"method pop() -> word { atomic_flush { return s.pop(); } }\n"
	"method top() -> word { atomic { return s.top(); } }\n"
	"method size() -> word { atomic { return s.size(); } } }\n",
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

static unsigned long runs(void)
{
	return wanted_runs(5000);
}

static uint32_t below(uint64_t *seed, uint32_t n)
{
	return kl_rand_below(seed, n);
}

/* The first @nfirst specifications are used more often: more omission rules apply to them. */
struct specs {
	struct kl_spec *s[128];
	size_t n, nfirst;
};

static bool has_rules(const struct kl_spec *spec)
{
	struct kl_container c;

	kl_spec_container(spec, &c);
	return c.kind != KL_CONTAINER_NONE;
}

static void load_specs(struct specs *l)
{
	size_t i;
	glob_t g;

	assert_int_equal(glob("specs/*.lin", 0, NULL, &g), 0);
	assert_true(g.gl_pathc > 20 && g.gl_pathc + N(texts) < N(l->s));
	for (l->n = 0; l->n < N(texts); l->n++)
		assert_int_equal(kl_spec_parse("test.lin", texts[l->n], strlen(texts[l->n]),
					       &l->s[l->n]), 0);
	l->nfirst = l->n;
	for (i = 0; i < g.gl_pathc; i++, l->n++) {
		assert_int_equal(kl_spec_load(g.gl_pathv[i], &l->s[l->n]), 0);
		if (has_rules(l->s[l->n])) {
			struct kl_spec *other = l->s[l->nfirst];

			l->s[l->nfirst++] = l->s[l->n];
			l->s[l->n] = other;
		}
	}
	globfree(&g);
}

static void free_specs(struct specs *l)
{
	while (l->n)
		kl_spec_free(l->s[--l->n]);
}

/* One replayed certificate. */
struct trial {
	const struct kl_spec *spec;
	const struct kl_history *h;
	bool classical;
	struct kl_limits lim;
	char text[1024];
	struct kl_replay out;
};

/* Drops the messages, which are many and expected. */
static int replay(struct trial *t, const char *part)
{
	char path[64], parts[sizeof(t->text) + 32];
	FILE *f;
	int ret, err = dup(2), null = open("/dev/null", O_WRONLY);

	snprintf(path, sizeof(path), "%s/klin-left-out-%d.cert",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	f = fopen(path, "w");
	assert_true(f && err >= 0 && null >= 0);
	snprintf(parts, sizeof(parts), "partitions 1 by object\n%s", part);
	write_certificate(f, t->spec, t->h, t->classical, parts);
	assert_int_equal(fclose(f), 0);
	fflush(stderr);
	dup2(null, 2);
	ret = replay_file(path, t->spec, t->h, &t->lim, &t->out);
	fflush(stderr);
	dup2(err, 2);
	close(null);
	close(err);
	unlink(path);
	return ret;
}

static void wrong(const struct trial *t, const char *what)
{
	fprintf(stderr, "%s, classical %d:\n%s\n%s", what, t->classical, t->text,
		kl_spec_text(t->spec));
	kl_text_write(t->h, stderr);
	fail();
}

static enum kl_verdict ask(const struct kl_spec *spec, const struct kl_history *h, bool tso)
{
	const struct kl_engine *const engines[] = {
		tso ? &kl_tso_oracle_engine : &kl_oracle_engine, NULL,
	};
	const struct kl_options opt = {
		.engines = engines, .threads = 1, .no_partition = true, .classical = !tso,
		.bytes = 64u << 20, .work = 750000000, .no_witness = true,
	};
	struct kl_report *r;
	enum kl_verdict v;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	v = r->count[KL_VIOLATION] ? KL_VIOLATION : KL_LINEARIZABLE;
	if (r->nparts && !r->count[KL_VIOLATION] && !r->count[KL_LINEARIZABLE] &&
	    !r->parts[0].explained)
		v = KL_UNKNOWN;
	kl_report_free(r);
	return v;
}

/* Return: a time of the history, a time next to one, or KL_TIME_MAX. */
static uint64_t some_time(const struct kl_history *h, uint64_t *seed)
{
	const struct kl_op *op = &h->ops[below(seed, h->nops)];
	uint64_t t = below(seed, 4) ? op->ret : op->call;

	switch (below(seed, 8)) {
	case 0:
		return t + (t < KL_TIME_MAX);
	case 1:
		return t - (t > 0);
	case 2:
		return kl_time_add(t, h->error);
	default:
		return t;
	}
}

/*
 * Keep some operations at random, mostly by their words.  Then repeatedly keep the operations that
 * may not be omitted if the kept ones stay, so that most certificates obey the rules.
 */
static size_t keep(const struct trial *t, struct kl_run *run, bool tso, uint64_t *seed, bool forgot,
		   uint64_t cut, uint64_t end, uint32_t *kept)
{
	const struct kl_history *h = t->h;
	const uint32_t words = below(seed, 16), part = 1 + below(seed, 8);
	uint32_t all[MOST], out[MOST], i;
	bool in[MOST] = { 0 }, again = true;
	enum kl_role role;
	struct kl_val v;
	size_t n = 0;
	struct kl_container c;

	kl_spec_container(t->spec, &c);
	for (i = 0; i < h->nops; i++) {
		all[i] = i;
		in[i] = below(seed, 10) < part;
		if (words && c.kind != KL_CONTAINER_NONE &&
		    kl_op_word(t->spec, h, &h->ops[i], &role, &v) && v.tag == KL_WORD)
			in[i] = words >> v.v % 4 & 1 && below(seed, 12);
		if (in[i])
			kept[n++] = i;
	}
	if (!forgot && !tso && n && below(seed, 2) &&
	    kl_count_cut(t->spec, h, all, h->nops, kept, n, end, below(seed, n), out, &n) > 0) {
		memcpy(kept, out, n * sizeof(*out));
		return n;
	}
	while (again && below(seed, 32)) {
		again = false;
		for (i = 0; i < h->nops; i++) {
			if (in[i] || (forgot && h->ops[i].ret <= cut) ||
			    h->ops[i].call > kl_time_add(end, h->error) ||
			    kl_may_omit(t->spec, run, h, i, kept, n, end, tso))
				continue;
			in[i] = again = true;
		}
		for (i = n = 0; i < h->nops; i++)
			if (in[i])
				kept[n++] = i;
	}
	return n;
}

/* Results for one history. */
struct count {
	unsigned long right, tried, refuted;
};

static void try_one(struct trial *t, struct kl_run *run, bool tso, bool right, uint64_t *seed,
		    struct count *count)
{
	const bool forgot = !below(seed, 3);
	const uint64_t cut = some_time(t->h, seed);
	const uint64_t end = below(seed, 3) ? some_time(t->h, seed) : KL_TIME_MAX - below(seed, 2);
	uint32_t kept[MOST];
	size_t n = keep(t, run, tso, seed, forgot, cut, end, kept), i, len;
	int ret;

	if (!n)
		return;
	len = snprintf(t->text, sizeof(t->text), "part VIOLATION %zu dfs\ncut ", t->h->nops);
	len += forgot ? snprintf(t->text + len, sizeof(t->text) - len, "%" PRIu64, cut) :
			snprintf(t->text + len, sizeof(t->text) - len, "-");
	len += snprintf(t->text + len, sizeof(t->text) - len, " end %" PRIu64 "\nkept", end);
	for (i = 0; i < n; i++)
		len += snprintf(t->text + len, sizeof(t->text) - len, " %u", kept[i]);
	ret = replay(t, t->text);
	assert_true(!ret || ret == -EBADMSG);
	if (right && !ret && t->out.refuted)
		wrong(t, "a violation of a history that has an order");
	count->refuted += !ret && t->out.refuted;
	count->tried += n < t->h->nops;
}

/*
 * An unknown key of a set may stand for a different key at each call, so the oracle may accept
 * wrong histories.
 */
static bool has_vague_key(const struct kl_spec *spec, const struct kl_history *h)
{
	struct kl_container c;
	enum kl_role role;
	struct kl_val v;
	size_t i;

	kl_spec_container(spec, &c);
	for (i = 0; kl_container_keyed(&c) && i < h->nops; i++)
		if (kl_op_word(spec, h, &h->ops[i], &role, &v) && role == KL_ROLE_ADD &&
		    v.tag == KL_ANY)
			return true;
	return false;
}

static void run_violations(bool on_buffers, uint64_t seed)
{
	struct count count = { 0 };
	unsigned long i, n = runs();
	struct specs specs;

	load_specs(&specs);
	for (i = 0; i < n; i++) {
		const size_t k = below(&seed, below(&seed, 8) ? specs.nfirst : specs.n);
		const struct kl_spec *spec = specs.s[k];
		const bool tso = on_buffers && !kl_spec_flushes(spec) && kl_spec_fixed_size(spec);
		/*
		 * From an unknown state the other specifications may have very many continuations.
		 */
		const bool few = k >= specs.nfirst;
		const struct random_config c = {
			.max_ops = 3 + below(&seed, few ? 4 : 9), .threads = 1 + below(&seed, 4),
			.values = 1 + below(&seed, 3), .tso = tso, .gaps = !below(&seed, 4),
			.overlap = !tso && !below(&seed, 3), .clocks = below(&seed, 2),
			.far = !below(&seed, 4), .unknown = !few && below(&seed, 2),
			.drains = tso && below(&seed, 2),
		};
		bool falsified, right;
		struct kl_history *h = random_history(spec, &c, &seed, &falsified);
		struct kl_run *run = kl_run_new(spec);
		struct trial t = { .spec = spec, .h = h, .classical = !on_buffers };
		unsigned int try;

		assert_non_null(run);
		/*
		 * Engines with store buffers support only containers whose operations write
		 * through.
		 */
		if (h->nops && (!on_buffers || tso || kl_spec_flushes(spec))) {
			right = !falsified || (!has_vague_key(spec, h) &&
					       ask(spec, h, tso) == KL_LINEARIZABLE);
			count.right += right;
			for (try = 0; try < TRIES; try++)
				try_one(&t, run, tso, right, &seed, &count);
		}
		kl_run_free(run);
		kl_history_free(h);
	}
	free_specs(&specs);
	printf("# %lu histories with an order; %lu certificates, %lu show a violation\n",
	       count.right, count.tried, count.refuted);
	assert_true(count.right > n / 4 && count.refuted > n / 20);
}

static void test_no_false_violation_sc(void **state)
{
	run_violations(false, 1);
}

static void test_no_false_violation_tso(void **state)
{
	run_violations(true, 2);
}

/* Write an order close to the order of calls, with N+K where possible (@runs) or without. */
static void print_order(char *text, size_t size, const uint32_t *op, size_t n, uint64_t *seed,
			bool runs)
{
	size_t len = snprintf(text, size, "part LINEARIZABLE %zu dfs\norder", n), i, k;

	for (i = 0; i < n; i += k + 1) {
		for (k = 0; runs && i + k + 1 < n && op[i + k + 1] == op[i] + k + 1 &&
		     below(seed, 8); k++)
			;
		len += snprintf(text + len, size - len, k ? " %u+%zu" : " %u", op[i], k);
	}
}

static void swap_ops(uint32_t *a, uint32_t *b)
{
	const uint32_t old = *a;

	*a = *b;
	*b = old;
}

/* N+K means the same as the written-out order, and K must be a number in range. */
static void test_order_runs_equal_written_orders(void **state)
{
	static const char *const bad[] = {
		"%u+%u", "%u+18446744073709551615", "%u+18446744073709551616", "%u+4294967296",
		"%u+", "%u+-1", "%u+1!", "~%u+1", "%u!+1",
	};
	unsigned long i, n = runs(), right = 0;
	uint64_t seed = 3;
	struct specs specs;
	char one[512], text[64];

	load_specs(&specs);
	for (i = 0; i < n; i++) {
		const struct kl_spec *spec = specs.s[below(&seed, specs.nfirst)];
		const struct random_config c = {
			.max_ops = 12, .threads = 1 + below(&seed, 3), .values = 2, .overlap = true,
		};
		bool falsified;
		struct kl_history *h = random_history(spec, &c, &seed, &falsified);
		struct trial t = { .spec = spec, .h = h, .classical = true };
		uint32_t op[MOST], k, from, to;
		int ret;

		for (k = 0; k < h->nops; k++)
			op[k] = k;
		for (k = h->nops ? below(&seed, 3) : 0; k; k--) {
			from = below(&seed, h->nops);
			to = below(&seed, h->nops);
			swap_ops(&op[from], &op[to]);
		}
		print_order(one, sizeof(one), op, h->nops, &seed, false);
		print_order(t.text, sizeof(t.text), op, h->nops, &seed, true);
		ret = h->nops ? replay(&t, one) : 0;
		if (h->nops && (replay(&t, t.text) != ret ||
				(!ret && ask(spec, h, false) == KL_VIOLATION)))
			wrong(&t, one);
		right += h->nops && !ret && strchr(t.text, '+');
		from = h->nops ? below(&seed, h->nops) : 0;
		snprintf(text, sizeof(text), bad[i % N(bad)], from, (unsigned int)h->nops - from);
		snprintf(one, sizeof(one), "part LINEARIZABLE %zu dfs\norder %s", h->nops, text);
		if (h->nops)
			assert_int_equal(replay(&t, one), -EINVAL);
		kl_history_free(h);
	}
	free_specs(&specs);
	printf("# %lu right orders with runs\n", right);
	assert_true(right > n / 20);
}

/*
 * The oracle may need forever for a certificate: overlapping writes, and reads that saw them
 * in an order that a search tries last.  Beyond the work limit the result stays open.
 */
static void test_oracle_work_limit(void **state)
{
	enum { WRITES = 30, READS = 60 };
	const uint64_t past = 1;
	struct specs specs;
	char text[8192];
	uint32_t i, op;
	size_t len, k;

	load_specs(&specs);
	len = snprintf(text, sizeof(text), "# klin history 1\n");
	for (i = 0; i < WRITES; i++)
		len += snprintf(text + len, sizeof(text) - len, "t%u @0 1 10000 put %u\n", i + 2,
				i);
	for (i = 0; i < READS; i++)
		len += snprintf(text + len, sizeof(text) - len, "t1 @0 %u %u get -> %u\n",
				10 * i + 10, 10 * i + 11, i < WRITES ? WRITES - 1 - i : 0);
	for (k = 0; k < 4; k++) {
		/* The registers with and without store buffers. */
		struct trial t = { .spec = specs.s[k % 2 ? 3 : 1], .classical = k < 2 };
		struct kl_history *h;

		assert_int_equal(kl_text_read("t", text, len, &h), 0);
		t.h = h;
		i = snprintf(t.text, sizeof(t.text), "part VIOLATION %zu dfs\n"
			     "cut - end 20000\nkept", h->nops);
		for (op = 0; op < h->nops; op++)
			i += snprintf(t.text + i, sizeof(t.text) - i, " %u", op);
		t.lim.work = 1000000;
		assert_int_equal(replay(&t, t.text), 0);
		assert_true(t.out.open == 1 && !t.out.refuted);
		t.lim = (struct kl_limits){ .deadline_ns = past };
		assert_int_equal(replay(&t, t.text), 0);
		assert_true(t.out.open == 1 && !t.out.refuted);
		kl_history_free(h);
	}
	free_specs(&specs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_false_violation_sc),
		cmocka_unit_test(test_no_false_violation_tso),
		cmocka_unit_test(test_order_runs_equal_written_orders),
		cmocka_unit_test(test_oracle_work_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
