// SPDX-License-Identifier: GPL-2.0
/* Why a verdict is UNKNOWN: each cause has its sentences, and each partition has a cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check/check.h"
#include "generate/generate.h"
#include "history_util.h"
#include "story/unknown.h"

static const struct {
	const char *spec, *history, *code, *why, *advice;
} table[] = {
	{ "queue",
	  "# gap cpu 1 from 5 to 30 lost 3\nt1 @1 0 10 enq 1\nt2 @1 20 30 deq -> 1\n", "gaps",
	  "The recorded operations have an order, but 3 operations were lost on CPU 1 in 1 gap, "
	  "from 5 to 30.  Lost operations may forbid the order",
	  "Record without losses; lines `# gap' of the history say where they are" },
	{ "queue",
	  "# attached kprobe deq\n# gap from 5 to 30 reason missed\n"
	  "# gap from 40 to -\nt2 @1 20 30 deq -> empty\n", "gaps",
	  "The recorded operations have an order, but operations may have been lost in 2 gaps, "
	  "from 5 to the end: the buffer had no room.  Lost operations may forbid the order",
	  "Record with larger buffers (--buffer=PAGES) or fewer events (--object, --sample)" },
	{ "queue",
	  "# attached kprobe deq\n# gap object 0x1 from 5 to 30 lost 1 reason missed\n"
	  "# gap object 0x2 from 5 to 60\nt2 @1 20 30 deq -> empty\n", "gaps",
	  "The recorded operations have an order, but 1 operation was lost in 1 gap, from 5 to 30: "
	  "no probe saw them.  Lost operations may forbid the order",
	  "Record so that no call is missed: without --pid and --cpu, and with --attach=fentry if "
	  "kprobes missed calls; klin record prints the cause" },
	{ "queue",
	  "# gap from 5 to 30 reason cut\nt2 @1 20 30 deq -> empty\n", "gaps",
	  "The recorded operations have an order, but operations may have been lost in 1 gap, from "
	  "5 to 30: the history was cut out of a longer one.  Lost operations may forbid the order",
	  "Check the whole history" },
	{ "queue",
	  "# release 6.1.0-9-amd64\n# coverage enq unknown \"inlined\"\nt2 @1 20 30 deq -> 1\n",
	  "coverage",
	  "What was recorded has no order.  But some calls of enq may have passed without a probe "
	  "(inlined), and such a call may explain it",
	  "Record with debugging information (--debug=FILE; Debian: linux-image-6.1.0-9-amd64-dbg), "
	  "or assert `coverage asserted \"REASON\"' in the probe clause if no call is missed" },
	{ "queue", "# attached kprobe deq\n", "nothing_recorded", "No operations were recorded",
	  "Use the structure while recording, for example by --load" },
	{ "queue", "# gap from 5 to 30\n", "nothing_recorded", "No operations; some were lost",
	  "Record with larger buffers (--buffer=PAGES) or fewer events (--object, --sample)" },
};

static struct kl_history *read_text(const char *body)
{
	struct kl_history *h;
	char text[1024];

	snprintf(text, sizeof(text), "# klin history 1\n# first init\n# memory sc\n%s", body);
	assert_int_equal(kl_text_read("table", text, strlen(text), &h), 0);
	return h;
}

static void test_sentences(void **state)
{
	size_t i, n;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct kl_options opt = { .classical = true, .max_shrink = 1, .threads = 1 };
		struct kl_history *h = read_text(table[i].history);
		struct kl_spec *spec = shipped_spec(table[i].spec);
		struct kl_unknown u[KL_UNKNOWN_CAUSES];
		struct kl_report *r;

		assert_int_equal(kl_check(spec, h, &opt, &r), 0);
		assert_int_equal(r->verdict, KL_UNKNOWN);
		assert_int_equal(kl_unknown_explain(r, u, &n), 0);
		assert_int_equal(n, 1);
		assert_string_equal(kl_unknown_codes[u->cause], table[i].code);
		assert_string_equal(u->why, table[i].why);
		assert_string_equal(u->advice, table[i].advice);
		kl_unknown_free(u, n);
		kl_report_free(r);
		kl_history_free(h);
		kl_spec_free(spec);
	}
}

/* Decide random histories with few looks by @e, or by all engines if it is NULL. */
static void decide_some(const char *name, const struct kl_engine *e, size_t found[])
{
	const struct kl_engine *engines[] = { e, NULL };
	const struct kl_options opt = {
		.classical = true, .threads = 1, .work = 1, .engines = e ? engines : NULL,
	};
	struct kl_spec *spec = shipped_spec(name);
	unsigned int i;
	size_t n, k;

	for (i = 0; i < 6; i++) {
		const struct kl_gen_config c = {
			.spec = spec, .ops = 400, .seed = i + 1, .threads = 16, .objects = 2,
			.keys = 3, .delay = 100, .pending = 5, .any = i % 2,
		};
		struct kl_unknown u[KL_UNKNOWN_CAUSES];
		struct kl_history *h;
		struct kl_report *r;
		size_t parts = 0;

		assert_int_equal(kl_gen(&c, &h), 0);
		assert_int_equal(kl_check(spec, h, &opt, &r), 0);
		assert_int_equal(kl_unknown_explain(r, u, &n), 0);
		for (k = 0; k < n; k++) {
			parts += u[k].parts;
			found[u[k].cause]++;
			if (e && u[k].cause == KL_UNKNOWN_WORK) {
				assert_non_null(u[k].progress);
				assert_non_null(strstr(u[k].advice, e->name));
			}
		}
		assert_int_equal(parts, r->count[KL_UNKNOWN]);
		kl_unknown_free(u, n);
		kl_report_free(r);
		kl_history_free(h);
	}
	kl_spec_free(spec);
}

/* Every undecided partition is counted once, and the progress of a bounded search is told. */
static void test_each_partition_has_a_cause(void **state)
{
	static const char *const specs[] = { "queue", "pair", "bounded_queue", "stack" };
	static const char *const engines[] = { "wgl", "beam", "log-linear", "ends", NULL };
	size_t found[KL_UNKNOWN_CAUSES] = { 0 }, i, k;

	for (i = 0; i < sizeof(specs) / sizeof(*specs); i++)
		for (k = 0; k < sizeof(engines) / sizeof(*engines); k++)
			decide_some(specs[i], engines[k] ? kl_engine_find(engines[k]) : NULL,
				    found);
	assert_true(found[KL_UNKNOWN_WORK]);
	assert_true(found[KL_UNKNOWN_NO_ENGINE]);
}

/* Bounds other than work have causes of their own. */
static void test_bounds(void **state)
{
	static const volatile int stop = 1;
	struct kl_spec *spec = shipped_spec("pair");
	const struct kl_gen_config c = {
		.spec = spec, .ops = 20000, .seed = 1, .threads = 16, .objects = 1, .keys = 3,
		.delay = 100,
	};
	const struct kl_engine *engines[] = { kl_engine_find("wgl"), NULL };
	const struct {
		struct kl_options opt;
		enum kl_unknown_cause cause;
	} bounds[] = {
		{ { .stop = &stop }, KL_UNKNOWN_STOPPED },
		{ { .time_ns = 1 }, KL_UNKNOWN_TIME },
		{ { .bytes = 1 }, KL_UNKNOWN_MEMORY },
	};
	struct kl_unknown u[KL_UNKNOWN_CAUSES];
	struct kl_history *h;
	struct kl_report *r;
	size_t i, n;

	assert_int_equal(kl_gen(&c, &h), 0);
	for (i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		struct kl_options opt = bounds[i].opt;

		opt.classical = true;
		opt.threads = 1;
		opt.engines = engines;
		assert_int_equal(kl_check(spec, h, &opt, &r), 0);
		assert_int_equal(r->verdict, KL_UNKNOWN);
		assert_int_equal(kl_unknown_explain(r, u, &n), 0);
		assert_int_equal(n, 1);
		assert_int_equal(u->cause, bounds[i].cause);
		kl_unknown_free(u, n);
		kl_report_free(r);
	}
	kl_history_free(h);
	kl_spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_each_partition_has_a_cause),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
