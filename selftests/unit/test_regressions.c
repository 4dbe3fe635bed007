// SPDX-License-Identifier: GPL-2.0
/*
 * Histories that an engine, the shrinker or the replayer once got wrong.  Each has the verdict
 * that follows from the definitions.  Every engine, the oracle and the whole check with its
 * certificate must agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"
#include "check/engines.h"
#include "replayed.h"
#include "tso/engine/tso.h"

#define REGISTER \
	"spec register { word v = 0;\n" \
	"method read() -> word { atomic { return v; } }\n" \
	"method write(word x) { atomic_flush { v = x; } }\n" \
	"method cas(word a, word b) -> bool { atomic_flush { " \
	"if (v == a) { v = b; return true; }\n" \
	"return false; } } }\n"
#define NO_WORD \
	"spec register { word v = empty;\n" \
	"method cas(word a, word b) -> bool { atomic_flush { " \
	"if (v == a) { v = b; return true; }\n" \
	"return false; } } }\n"
#define DELAYED \
	"spec register { word v = 0;\n" \
	"method read() -> word { atomic { return v; } }\n" \
	"method write(word x) { atomic { v = x; } }\n" \
	"method xchg(word x) -> word { atomic_flush { word t = v; v = x; return t; } } }\n"
#define FENCED \
	"spec cell { word v = 0;\n" \
	"method put(word x) { atomic { v = x; } }\n" \
	"method fput(word x) { fence; atomic { v = x; } }\n" \
	"method get() -> word { atomic { return v; } } }\n"
#define RANGE \
	"spec range { word low, high;\n" \
	"method set(word l, word h) { fence; atomic { low = l; high = h; } }\n" \
	"method may(word g) -> bool { atomic { return low <= g && g <= high; } } }\n"
#define PARTIAL \
	"spec partial { word x = 0, y = 0;\n" \
	"method set(word a, word b) { atomic_flush { x = a; y = b; } }\n" \
	"method setx(word a) { atomic_flush { x = a; } }\n" \
	"method get() -> (word a, word b) { atomic { return (x, y); } } }\n"
#define PARTIAL_TSO \
	"spec partial { word x = 0, y = 0;\n" \
	"method set(word a, word b) { atomic_flush { x = a; y = b; } }\n" \
	"method up() -> bool { atomic { if (x == 0) { x = 5; return true; } return false; } }\n" \
	"method get() -> (word a, word b) { atomic { return (x, y); } } }\n"
#define SET \
	"spec set { set<word> s = empty;\n" \
	"method insert(word k) -> bool { atomic_flush { return s.add(k); } }\n" \
	"method remove(word k) -> bool { atomic_flush { return s.remove(k); } } }\n"
#define QUEUE \
	"spec queue { queue<word> q = empty;\n" \
	"method enq(word v) { atomic_flush { q.push(v); } }\n" \
	"method peek() -> word { atomic { return q.front(); } }\n" \
	"method deq() -> word { atomic_flush { return q.pop(); } } }\n"
#define STACK \
	"spec stack { stack<word> s = empty;\n" \
	"method push(word v) { atomic_flush { s.push(v); } }\n" \
	"method pop() -> word { atomic_flush { return s.pop(); } } }\n"

static const struct known {
	const char *name, *spec, *history;
	enum kl_verdict verdict;
} known[] = {
	{
		"a read inside the clock's error of two writes of its thread", REGISTER,
		"# clock mono error 1000\n"
		"t1 @0 1000 1100 read -> 5\n"
		"t1 @0 1001 1002 write 0\n"
		"t1 @0 1010 1020 write 0\n"
		"t1 @0 1200 1300 write 5\n", KL_VIOLATION,
	}, {
		"a compare-and-swap of what was there first, which is no word", NO_WORD,
		"# first init\n"
		"t1 @0 1 2 cas 5 6 -> 1\n"
		"t1 @0 3 4 cas 6 7 -> 1\n", KL_VIOLATION,
	}, {
		"a return that the clock's error takes past the end of time", REGISTER,
		"# clock mono error 100\n"
		"t1 @0 10 20 write 1\n"
		"t2 @0 1000 18446744073709551600 read -> 7\n", KL_VIOLATION,
	}, {
		"the same with the right result", REGISTER,
		"# clock mono error 100\n"
		"t1 @0 10 20 write 1\n"
		"t2 @0 1000 18446744073709551600 read -> 1\n", KL_LINEARIZABLE,
	}, {
		"operations that end at time 0", REGISTER,
		"t1 @0 0 0 cas 0 1 -> 1\n"
		"t2 @0 1 9 read -> 5\n"
		"t3 @0 2 5 read -> 1\n", KL_VIOLATION,
	}, {
		"a write of a part hands the rest on", PARTIAL,
		"t1 @0 1 2 set 1 1\n"
		"t1 @0 3 4 setx 2\n"
		"t2 @0 5 6 get -> 2 1\n", KL_LINEARIZABLE,
	}, {
		"a write of a part, and a rest that nobody wrote", PARTIAL,
		"t1 @0 1 2 set 1 1\n"
		"t1 @0 3 4 setx 2\n"
		"t2 @0 5 6 get -> 2 3\n", KL_VIOLATION,
	}, {
		"an entry of a part leaves after a write of the whole", PARTIAL_TSO,
		"t1 @0 1 2 up -> 1\n"
		"t2 @0 3 4 set 1 1\n"
		"t2 @0 5 6 get -> 5 1\n", KL_LINEARIZABLE,
	}, {
		"the same, and then what nobody wrote", PARTIAL_TSO,
		"t1 @0 1 2 up -> 1\n"
		"t2 @0 3 4 set 1 1\n"
		"t2 @0 5 6 get -> 5 1\n"
		"t3 @0 7 8 get -> 6 1\n", KL_VIOLATION,
	}, {
		"a store that is late without a drain", DELAYED,
		"t1 @0 1 2 write 1\n"
		"t1 @0 3 4 read -> 1\n"
		"t2 @0 10 11 read -> 0\n"
		"t2 @0 12 13 read -> 1\n", KL_LINEARIZABLE,
	}, {
		"the drain after a read is one of the writes before it", DELAYED,
		"t1 @0 1 2 write 1\n"
		"t1 @0 3 4 read -> 1 drain=5\n"
		"t2 @0 10 11 read -> 0\n"
		"t2 @0 12 13 read -> 1\n", KL_VIOLATION,
	}, {
		"a drain inside a write is not one of that write", DELAYED,
		"t1 @0 1 8 write 1\n"
		"t1 @0 3 4 read -> 0 drain=5\n"
		"t2 @0 10 11 read -> 0\n"
		"t2 @0 12 13 read -> 1\n", KL_LINEARIZABLE,
	}, {
		"a thread that moved to a CPU whose clock is behind", REGISTER,
		"# clock mono error 10\n"
		"t1 @1 15 16 write 1 cpu=1\n"
		"t1 @1 11 12 read -> 1 cpu=0\n", KL_LINEARIZABLE,
	}, {
		"a thread that stayed where it was", REGISTER,
		"# clock mono error 10\n"
		"t1 @1 15 16 write 1 cpu=1\n"
		"t1 @1 11 12 read -> 1 cpu=1\n", KL_VIOLATION,
	}, {
		"nested at the tick of the outer call", REGISTER,
		"# clock tick\n"
		"t1 @1 5 7 write 1\n"
		"t1 @1 5 5 read -> 1\n", KL_LINEARIZABLE,
	}, {
		"nested, and all in one tick", REGISTER,
		"# clock tick\n"
		"t1 @1 5 5 read -> 1\n"
		"t1 @1 5 5 write 1\n", KL_LINEARIZABLE,
	}, {
		"a call at the tick of the return before it", REGISTER,
		"# clock tick\n"
		"t1 @1 3 5 read -> 1\n"
		"t1 @1 5 7 write 1\n", KL_VIOLATION,
	}, {
		"an exchange drains", DELAYED,
		"t1 @0 1 2 write 1\n"
		"t1 @0 3 4 xchg 2 -> 1\n"
		"t2 @0 10 11 read -> 1\n", KL_VIOLATION,
	}, {
		"a removal of a word that is not known may be one that never returned", SET,
		"# first init\n"
		"t1 @0 6 - insert 0\n"
		"t0 @0 13 14 insert 0 -> 0\n"
		"t0 @0 22 25 remove ? -> 1\n"
		"t0 @0 26 30 insert 1 -> 0\n", KL_VIOLATION,
	}, {
		"an addition of an unknown word that returns after what is wrong", STACK,
		"# clock mono error 3\n"
		"# first init\n"
		"# gap cpu 1 from 14 to 21 lost 1\n"
		"t2 @0 6 10 pop -> 2 cpu=2\n"
		"t1 @0 6 14 pop -> empty cpu=1\n"
		"t2 @0 12 20 push ? cpu=2\n"
		"t2 @0 13 17 push 1 cpu=2\n"
		"t2 @0 20 - push 2 cpu=2\n", KL_VIOLATION,
	}, {
		"a gap that ends while a barrier waits for the buffer", FENCED,
		"# gap cpu 1 from 30 to 40 lost 1 reason cut\n"
		"t0 @1 0 10 put 1 cpu=0\n"
		"t0 @1 20 100 fput 2 cpu=0\n"
		"t1 @1 50 55 get -> 5 cpu=1\n"
		"t1 @1 60 65 get -> 1 cpu=1\n", KL_UNKNOWN,
	}, {
		"entries that leave in a gap, in their order", FENCED,
		"# gap cpu 1 from 0 to 4 lost 1\n"
		"# gap cpu 0 from 7 to 11 lost 1 reason cut\n"
		"t1 @1 1 6 fput 0 cpu=1\n"
		"t0 @1 3 9 put 2 cpu=0\n"
		"t0 @1 11 16 fput 1 cpu=0 drain=24\n"
		"t0 @1 17 20 get -> 2 cpu=0\n"
		"t0 @1 23 24 get -> 1 cpu=0\n", KL_UNKNOWN,
	}, {
		"a value that its thread has read in its buffer, and another's in memory", FENCED,
		"t0 @1 2 - get -> ? cpu=0\n"
		"t1 @1 4 9 put 1 cpu=1\n"
		"t0 @1 5 8 put 0 cpu=0 drain=13\n"
		"t0 @1 9 - put 0 cpu=0\n"
		"t0 @1 16 19 get -> 0 cpu=0\n"
		"t0 @1 20 24 get -> 1 cpu=0\n", KL_LINEARIZABLE,
	}, {
		"a read that fits when a later write, at its call, has let go of what is not known",
		RANGE,
		"t0 @1 3 5 may 1 -> 0 cpu=0\n"
		"t0 @1 6 9 set 1 1 cpu=0 drain=9\n"
		"t1 @1 9 15 may 1 -> 1 cpu=1\n"
		"t0 @1 10 13 set 2 2 cpu=0\n", KL_LINEARIZABLE,
	}, {
		"a hidden removal that took another value than the next one, beside a gap", QUEUE,
		"# gap cpu 1 from 50 to 60 lost 1\n"
		"t0 @0 1 2 enq 0 cpu=0\n"
		"t0 @0 3 4 enq 1 cpu=0\n"
		"t0 @0 5 6 deq -> ? cpu=0\n"
		"t0 @0 7 8 deq -> 1 cpu=0\n"
		"t0 @0 70 71 enq 1 cpu=0\n"
		"t0 @0 72 73 deq -> 1 cpu=0\n", KL_UNKNOWN,
	}, {
		"hidden removals at both sides of a gap, and found empty although one value stays",
		QUEUE,
		"# gap from 13 to 15\n"
		"t0 @0 0 1 enq 10 cpu=0\n"
		"t2 @0 - 5 deq -> 10 cpu=2\n"
		"t1 @0 2 - enq 37 cpu=1\n"
		"t0 @0 3 7 enq 74 cpu=0\n"
		"t1 @0 9 10 enq 74 cpu=1\n"
		"t2 @0 9 - peek -> ? cpu=2\n"
		"t2 @0 10 13 deq -> ? cpu=2\n"
		"t2 @0 15 19 deq -> ? cpu=2\n"
		"t1 @0 17 18 deq -> empty cpu=1\n"
		"t1 @0 19 22 deq -> empty cpu=1\n"
		"t2 @0 22 26 deq -> 74 cpu=2\n"
		"t1 @0 25 26 enq 10 cpu=1\n", KL_VIOLATION,
	},
};

static void read_known(const struct known *k, struct kl_spec **spec, struct kl_history **h)
{
	char text[4096];
	int n = snprintf(text, sizeof(text), "# klin history 1\n# first init\n%s", k->history);

	assert_int_equal(kl_spec_parse("known.lin", k->spec, strlen(k->spec), spec), 0);
	assert_int_equal(kl_text_read("known.txt", text, n, h), 0);
}

static void check_with(const struct known *k, const struct kl_spec *spec,
		       const struct kl_history *h, const struct kl_engine *const *engines,
		       const char *who)
{
	const bool classical = kl_spec_flushes(spec);
	struct kl_options opt = {
		.engines = engines, .threads = 1, .max_shrink = 10, .classical = classical,
	};
	struct kl_replay replay;
	struct kl_report *r;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	if (r->verdict != k->verdict)
		fail_msg("%s: %s says %s, expected %s", k->name, who, kl_verdict_name(r->verdict),
			 kl_verdict_name(k->verdict));
	if (r->verdict == KL_VIOLATION &&
	    (!r->parts[0].cex || r->parts[0].cex->oracle != KL_VIOLATION))
		fail_msg("%s: %s: no counterexample that the oracle rejects", k->name, who);
	if (replay_report(r, classical, spec, h, &replay) || replay.open)
		fail_msg("%s: %s: the replayer rejects the certificate", k->name, who);
	kl_report_free(r);
}

static void check_known(const struct known *k)
{
	static const struct kl_engine *const sc[] = {
		&kl_frontier_engine, &kl_dfs_engine, &kl_wgl_engine, &kl_oracle_engine, NULL,
	};
	static const struct kl_engine *const tso[] = {
		&kl_tso_engine, &kl_tso_oracle_engine, NULL,
	};
	struct kl_history *h;
	struct kl_spec *spec;
	size_t i;

	read_known(k, &spec, &h);
	for (i = 0; kl_spec_flushes(spec) && sc[i]; i++)
		check_with(k, spec, h, (const struct kl_engine *const[]){ sc[i], NULL },
			   sc[i]->name);
	for (i = 0; !kl_spec_flushes(spec) && tso[i]; i++)
		check_with(k, spec, h, (const struct kl_engine *const[]){ tso[i], NULL },
			   tso[i]->name);
	check_with(k, spec, h, kl_engines(), "the portfolio");
	kl_history_free(h);
	kl_spec_free(spec);
}

static void test_known_verdicts(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		check_known(&known[i]);
}

/* An engine that answers VIOLATION to every history. */
static int lie(const struct kl_part *p, const struct kl_limits *lim, struct kl_answer *a)
{
	uint32_t i;

	a->engine = "liar";
	a->verdict = KL_VIOLATION;
	for (i = 0; i < p->nevents; i++)
		if (p->events[i].kind == KL_EV_RET)
			a->fail_event = i;
	return 0;
}

static void test_engine_and_oracle_disagree(void **state)
{
	static const struct kl_engine liar = { .name = "liar", .decide = lie };
	static const struct kl_engine *const engines[] = { &liar, NULL };
	const struct known k = {
		.spec = REGISTER, .history = "t1 @0 1 2 cas 0 1 -> 1\nt1 @0 3 4 read -> 1\n",
	};
	struct kl_options opt = {
		.engines = engines, .threads = 1, .max_shrink = 1, .classical = true,
	};
	struct kl_history *h;
	struct kl_report *r;
	struct kl_spec *spec;

	read_known(&k, &spec, &h);
	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	assert_int_equal(r->verdict, KL_UNKNOWN);
	assert_non_null(strstr(r->reason, "disagree"));
	assert_null(r->parts[0].cex);
	kl_report_free(r);
	kl_history_free(h);
	kl_spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_verdicts),
		cmocka_unit_test(test_engine_and_oracle_disagree),
	};

	return cmocka_run_group_tests_name("regressions", tests, NULL, NULL);
}
