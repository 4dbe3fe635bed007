// SPDX-License-Identifier: GPL-2.0
/*
 * The online monitor of registers against all orders of small histories, right and wrong ones,
 * with pending operations, ties, unknown first states and equal words.  Each prefix is
 * checked, since the monitor must report a violation at the event that causes it.  KLIN_RUNS
 * sets the number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "check/online/online.h"
#include "history_util.h"
#include "tso/engine/tso.h"

#define MAX	10
#define ANY	UINT64_MAX	/* a read with unknown result */

static const char plain[] =
	"spec plain { word x = 0; method read() -> word v { atomic { return x; } }"
	" method write(word v) { atomic { x = v; } } }";

struct op {
	uint64_t call, ret;	/* ret is KL_TIME_MAX if pending */
	uint64_t word;
	bool write;
};

struct config {
	unsigned int ops;
	unsigned int words;	/* number of words written; 0: each is different */
	unsigned int span;	/* number of times */
	bool fresh;
	bool pending;
};

struct history {
	struct config c;
	struct op op[MAX];
	unsigned int n;
	uint64_t gap[2];	/* begin and end of the gap; 0: none */
};

static unsigned long runs(void)
{
	return wanted_runs(10000);
}

/*
 * Return: true if there is an order of all operations that returned by @time, which may also
 * have operations in progress.
 */
static bool right(const struct history *h, uint64_t time)
{
	uint16_t before[MAX] = { 0 }, must = 0;
	unsigned int i, k, mask, first, n = h->n;
	/*
	 * For each set of operations in effect: bit i if i may be the last write, bit n if there is
	 * none.
	 */
	static uint16_t last[1 << MAX];

	for (i = 0; i < n; i++) {
		if (h->op[i].ret <= time)
			must |= 1 << i;
		for (k = 0; k < n; k++)
			if (h->op[k].ret < h->op[i].call)
				before[i] |= 1 << k;
	}
	for (first = 0; first <= n; first++) {
		/* The first value, if unknown, is a value that some read saw. */
		uint64_t word = 0;

		if (h->c.fresh ? first > 0 : first < n && h->op[first].write)
			continue;
		if (!h->c.fresh)
			word = first < n ? h->op[first].word : ANY - 1;
		memset(last, 0, sizeof(last[0]) << n);
		last[0] = 1 << n;
		for (mask = 0; mask < 1u << n; mask++) {
			if (!last[mask])
				continue;
			if ((mask & must) == must)
				return true;
			for (i = 0; i < n; i++) {
				const struct op *op = &h->op[i];

				if (mask & 1 << i || before[i] & ~mask || op->call > time)
					continue;
				if (op->write) {
					last[mask | 1 << i] |= 1 << i;
					continue;
				}
				for (k = 0; k <= n; k++)
					if (last[mask] & 1 << k &&
					    (op->word == ANY || !(must & 1 << i) ||
					     op->word == (k < n ? h->op[k].word : word)))
						last[mask | 1 << i] |= 1 << k;
			}
		}
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Return: the first time at which there is no order, or KL_TIME_MAX. */
static uint64_t first_wrong(const struct history *h)
{
	uint64_t times[MAX];
	unsigned int i, n = 0, low = 0, high;

	if (right(h, KL_TIME_MAX - 1))
		return KL_TIME_MAX;
	for (i = 0; i < h->n; i++)
		if (h->op[i].ret != KL_TIME_MAX)
			times[n++] = h->op[i].ret;
	qsort(times, n, sizeof(*times), by_number);
	for (high = n - 1; low < high; ) {
		const unsigned int mid = (low + high) / 2;

		if (right(h, times[mid]))
			low = mid + 1;
		else
			high = mid;
	}
	return times[low];
}

/* Make operations at random times.  A read returns the value at its point, or another one. */
static void make(struct history *h, const struct config *c, uint64_t *seed)
{
	uint64_t point[MAX], word = c->fresh ? 0 : kl_rand_below(seed, 3);
	bool done[MAX] = { false };
	unsigned int i, k, longest;

	*h = (struct history){ .c = *c };
	h->n = 2 + kl_rand_below(seed, c->ops - 1);
	for (i = 0; i < h->n; i++) {
		struct op *op = &h->op[i];

		op->call = kl_rand_below(seed, c->span);
		longest = c->span / (1 + kl_rand_below(seed, 8));
		op->ret = op->call + kl_rand_below(seed, 1 + longest);
		point[i] = op->call + kl_rand_below(seed, op->ret - op->call + 1);
		op->write = kl_rand_below(seed, 5) < 2;
		op->word = c->words ? kl_rand_below(seed, c->words) : i + 1;
	}
	for (k = 0; k < h->n; k++) {
		unsigned int at = MAX;

		for (i = 0; i < h->n; i++)
			if (!done[i] && (at == MAX || point[i] < point[at]))
				at = i;
		done[at] = true;
		if (h->op[at].write)
			word = h->op[at].word;
		else
			h->op[at].word = word;
	}
	for (i = 0; i < h->n; i++) {
		if (c->pending && !kl_rand_below(seed, 6))
			h->op[i].ret = KL_TIME_MAX;
		if (!h->op[i].write && !kl_rand_below(seed, 30))
			h->op[i].word = ANY;
	}
	/* Change some results in most histories. */
	for (k = kl_rand_below(seed, 8); k > 1; k--) {
		i = kl_rand_below(seed, h->n);
		if (!h->op[i].write)
			h->op[i].word = h->op[kl_rand_below(seed, h->n)].word;
	}
}

struct seen {
	unsigned int n;
	uint64_t time;
	char reason[160];
};

static void on_violation(void *ctx, const struct kl_online_violation *v)
{
	struct seen *s = ctx;

	if (!s->n++) {
		s->time = v->time;
		snprintf(s->reason, sizeof(s->reason), "%s by %s", v->reason, v->engine);
	}
}

static enum kl_verdict follow(const struct kl_spec *spec, const struct history *h,
			      uint32_t window, uint32_t both, enum kl_clock clock,
			      struct seen *seen, char *reason)
{
	const struct kl_online_opts opts = {
		.clock = clock, .fresh = h->c.fresh, .classical = true,
		.window = window, .both = both,
		.look_work = 1500000000, .violation = on_violation, .ctx = seen,
	};
	const int methods[2] = {
		kl_spec_find_method(spec, "read"), kl_spec_find_method(spec, "write"),
	};
	struct kl_online_stats st;
	struct kl_online *o;
	unsigned int i;

	memset(seen, 0, sizeof(*seen));
	assert_int_equal(kl_online_new(spec, &opts, &o), 0);
	for (i = 0; i < h->n; i++) {
		const struct op *op = &h->op[i];
		const struct kl_val v = op->word == ANY || (!op->write && op->ret == KL_TIME_MAX) ?
					kl_special(KL_ANY) : kl_word(op->word);
		const struct kl_online_op a = {
			.call = op->call, .ret = op->ret, .drain = op->ret, .thread = i,
			.cpu = KL_NO_CPU, .flags = op->ret == KL_TIME_MAX ? KL_OP_PENDING : 0,
			.vals = &v, .method = methods[op->write],
		};

		assert_int_equal(kl_online_add(o, &a), 0);
	}
	if (h->gap[1])
		assert_int_equal(kl_online_gap(o, h->gap[0], h->gap[1], 0, true), 0);
	assert_int_equal(kl_online_floor(o, KL_TIME_MAX), 0);
	assert_int_equal(kl_online_end(o), 0);
	kl_online_stats(o, &st);
	snprintf(reason, 160, "%s", st.reason);
	kl_online_free(o);
	return st.verdict;
}

static size_t print(const struct history *h, char *text, size_t size)
{
	size_t len = snprintf(text, size, "# klin history 1\n# clock seq\n# first %s\n",
			      h->c.fresh ? "init" : "any");
	unsigned int i;

	if (h->gap[1])
		len += snprintf(text + len, size - len, "# gap from %llu to %llu lost 1\n",
				(unsigned long long)h->gap[0], (unsigned long long)h->gap[1]);
	for (i = 0; i < h->n; i++) {
		const struct op *op = &h->op[i];
		char ret[24] = "-", word[24] = "?";

		if (op->ret != KL_TIME_MAX)
			snprintf(ret, sizeof(ret), "%llu", (unsigned long long)op->ret);
		if (op->word != ANY)
			snprintf(word, sizeof(word), "%llu", (unsigned long long)op->word);
		len += snprintf(text + len, size - len, "t%u @0 %llu %s %s%s%s\n", i,
				(unsigned long long)op->call, ret,
				op->write ? "write " : "read",
				op->write || op->ret != KL_TIME_MAX ? op->write ? "" : " -> " : "",
				op->write || op->ret != KL_TIME_MAX ? word : "");
	}
	return len;
}

static void show(const struct history *h, uint64_t wrong, enum kl_verdict v, const struct seen *s,
		 const char *reason)
{
	char text[2048];

	print(h, text, sizeof(text));
	print_error("wrong at %llu; online %s (%s)", (unsigned long long)wrong, kl_verdict_name(v),
		    reason);
	if (s->n)
		print_error(" at %llu: %s", (unsigned long long)s->time, s->reason);
	print_error("\n%s", text);
	fail();
}

static enum kl_verdict offline(const struct kl_spec *spec, const struct history *h)
{
	const struct kl_options opt = { .classical = true,
					.no_witness = true, .threads = 1 };
	struct kl_history *read;
	struct kl_report *report;
	enum kl_verdict v;
	char text[2048];

	assert_int_equal(kl_text_read("t", text, print(h, text, sizeof(text)), &read), 0);
	assert_int_equal(kl_check(spec, read, &opt, &report), 0);
	v = report->verdict;
	kl_report_free(report);
	kl_history_free(read);
	return v;
}

static struct kl_spec *load(void)
{
	struct kl_spec *spec = NULL;

	assert_int_equal(kl_spec_parse("plain.lin", plain, sizeof(plain) - 1, &spec), 0);
	return spec;
}

static void run_all(bool fresh, unsigned int words, enum kl_clock clock, unsigned long n)
{
	struct kl_spec *spec = load();
	unsigned long i, wrongs = 0, unknown = 0;
	uint64_t seed = 1 + fresh + 2 * words;

	for (i = 0; i < n; i++) {
		const struct config c = {
			.ops = 3 + i % (MAX - 2), .span = 4 + kl_rand_below(&seed, 40),
			.fresh = fresh, .words = words, .pending = i & 1,
		};
		/* Every other pair has no window, so that the monitor must decide by itself. */
		const uint32_t window = i & 2 ? 1 : 0;
		struct history h;
		struct seen seen;
		enum kl_verdict v;
		uint64_t wrong;
		bool late;
		char reason[160];

		make(&h, &c, &seed);
		wrong = first_wrong(&h);
		v = follow(spec, &h, window, 1, clock, &seen, reason);
		wrongs += wrong != KL_TIME_MAX;
		unknown += v == KL_UNKNOWN;
		if (v == KL_UNKNOWN && window)
			continue;
		/* The report may come later if the monitor had to restart. */
		late = seen.n && (fresh && !strstr(seen.reason, "offline") ? seen.time != wrong :
				  seen.time < wrong);
		if (v != (wrong == KL_TIME_MAX ? KL_LINEARIZABLE : KL_VIOLATION) || late)
			show(&h, wrong, v, &seen, reason);
	}
	print_message("%s, %u words%s: %lu of %lu wrong, %lu UNKNOWN\n", fresh ? "fresh" : "any",
		      words, clock == KL_CLOCK_SEQ ? "" : ", ties", wrongs, n, unknown);
	assert_true(wrongs >= n / 20 && wrongs <= n - n / 4);
	kl_spec_free(spec);
}

static void test_known_first_value(void **state)
{
	run_all(true, 0, KL_CLOCK_SEQ, runs());
}

static void test_unknown_first_value(void **state)
{
	run_all(false, 0, KL_CLOCK_SEQ, runs());
}

static void test_equal_words(void **state)
{
	run_all(true, 4, KL_CLOCK_SEQ, runs() / 2);
	run_all(false, 4, KL_CLOCK_SEQ, runs() / 2);
}

/*
 * A pending write has taken effect, and the monitor has forgotten its value.  A later read of the
 * value is still a violation.
 */
static void test_pending_write_forgotten(void **state)
{
	static const struct history h = {
		.c = { .fresh = true }, .n = 7,
		.op = {
			{ 0, KL_TIME_MAX, 2, true }, { 21, 22, 2, false }, { 23, 24, 0, false },
			{ 24, 24, 0, true }, { 24, 27, 0, false }, { 28, 34, 2, false },
			{ 31, 31, 0, true },
		},
	};
	struct kl_spec *spec = load();
	struct seen seen;
	char reason[160];

	assert_int_equal(first_wrong(&h), 34);
	assert_int_equal(follow(spec, &h, 1, 1, KL_CLOCK_SEQ, &seen, reason), KL_VIOLATION);
	assert_int_equal(seen.time, 34);
	kl_spec_free(spec);
}

static void test_ties(void **state)
{
	run_all(true, 0, KL_CLOCK_MONO, runs() / 2);
	run_all(false, 6, KL_CLOCK_MONO, runs() / 2);
}

/*
 * Some operations of right histories are lost: no violation is reported.  A falsified result
 * after the gap is reported only if the offline check finds it, too.
 */
static void test_no_false_alarm_after_gaps(void **state)
{
	struct kl_spec *spec = load();
	const unsigned long n = runs();
	unsigned long i, found = 0;
	uint64_t seed = 5;

	for (i = 0; i < n; i++) {
		const struct config c = {
			.ops = MAX, .span = 4 + kl_rand_below(&seed, 60), .fresh = i & 2,
			.words = i % 3 ? 0 : 2 + kl_rand_below(&seed, 6), .pending = i & 1,
		};
		struct history h;
		struct seen seen;
		unsigned int from, to;
		enum kl_verdict v;
		char reason[160];

		make(&h, &c, &seed);
		h.gap[0] = kl_rand_below(&seed, c.span);
		h.gap[1] = h.gap[0] + 1 + kl_rand_below(&seed, c.span / 2);
		for (from = to = 0; from < h.n; from++)
			if (h.op[from].call < h.gap[0] || h.op[from].ret > h.gap[1])
				h.op[to++] = h.op[from];
		h.n = to;
		v = follow(spec, &h, i & 4 ? 1 : 0, i & 8 ? 1 : 0,
			   i & 16 ? KL_CLOCK_SEQ : KL_CLOCK_MONO, &seen, reason);
		if (v != KL_VIOLATION)
			continue;
		found++;
		if (offline(spec, &h) != KL_VIOLATION)
			show(&h, 0, v, &seen, reason);
	}
	print_message("gaps: %lu of %lu found\n", found, n);
	assert_true(found >= n / 100);
	kl_spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_first_value),
		cmocka_unit_test(test_unknown_first_value),
		cmocka_unit_test(test_equal_words),
		cmocka_unit_test(test_pending_write_forgotten),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_no_false_alarm_after_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
