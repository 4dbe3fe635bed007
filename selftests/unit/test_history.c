// SPDX-License-Identifier: GPL-2.0
/* Histories in memory, and their text form. */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/hash.h"
#include "history/spell.h"
#include "history_util.h"

static struct kl_history *read_text(const char *text)
{
	struct kl_history *h = NULL;

	assert_int_equal(kl_text_read("t", text, strlen(text), &h), 0);
	return h;
}

static void test_name_indices(void **state)
{
	struct kl_history *h = kl_history_new();
	char name[16];
	uint64_t i;

	for (i = 0; i < 5000; i++) {
		assert_int_equal(kl_history_object(h, i * i), i);
		assert_int_equal(kl_history_thread(h, ~i), i);
		snprintf(name, sizeof(name), "m%d", (int)i);
		assert_int_equal(kl_history_method(h, name, strlen(name)), i);
	}
	for (i = 0; i < 5000; i++) {
		assert_int_equal(kl_history_object(h, i * i), i);
		assert_int_equal(kl_history_thread(h, ~i), i);
		snprintf(name, sizeof(name), "m%d", (int)i);
		assert_int_equal(kl_history_method(h, name, strlen(name)), i);
		assert_string_equal(h->methods[i], name);
	}
	/* The length limits a name, not the bytes that follow it. */
	assert_int_equal(kl_history_method(h, "m12", 2), 1);
	assert_int_equal(kl_history_method(h, "", 0), -EINVAL);
	assert_int_equal(kl_history_method(h, "1m", 2), -EINVAL);
	assert_int_equal(kl_history_method(h, "a b", 3), -EINVAL);
	for (i = 5000; i < UINT16_MAX; i++) {
		snprintf(name, sizeof(name), "m%d", (int)i);
		assert_int_equal(kl_history_method(h, name, strlen(name)), i);
	}
	assert_int_equal(kl_history_method(h, "one_more", 8), -EOVERFLOW);
	kl_history_free(h);
}

static void test_add_rejects_bad_ops(void **state)
{
	struct kl_history *h = kl_history_new();
	struct kl_gap g = { .from = 2, .to = 1, .object = KL_ALL_OBJECTS };
	struct kl_op op = { .call = 5, .ret = 4 };
	struct kl_opsig s = { 0 };
	struct kl_val v[9] = { { 0 } };

	assert_int_equal(kl_history_method(h, "m", 1), 0);
	assert_int_equal(kl_history_object(h, 7), 0);
	assert_int_equal(kl_history_thread(h, 7), 0);
	assert_int_equal(kl_history_add(h, &op, &s, v, v), -EINVAL);
	op.ret = 5;
	op.object = 1;
	assert_int_equal(kl_history_add(h, &op, &s, v, v), -EINVAL);
	op.object = 0;
	op.thread = 1;
	assert_int_equal(kl_history_add(h, &op, &s, v, v), -EINVAL);
	op.thread = 0;
	s.method = 1;
	assert_int_equal(kl_history_add(h, &op, &s, v, v), -EINVAL);
	s.method = 0;
	s.nargs = KL_MAX_ARGS + 1;
	assert_int_equal(kl_history_add(h, &op, &s, v, v), -EINVAL);
	s.nargs = 0;
	op.ret = KL_TIME_MAX;
	assert_int_equal(kl_history_add(h, &op, &s, v, v), -EINVAL);
	op.flags = KL_OP_PENDING;
	op.call = KL_TIME_MAX;
	assert_int_equal(kl_history_add(h, &op, &s, v, v), -EINVAL);
	assert_int_equal(h->nops, 0);
	op.call = 5;
	s.nres = 1;
	assert_int_equal(kl_history_add(h, &op, &s, v, v), 0);
	assert_int_equal(kl_op_res(h, h->ops)[0].tag, KL_ANY);
	assert_int_equal(kl_history_add_gap(h, &g), -EINVAL);
	g.to = 2;
	g.object = 1;
	assert_int_equal(kl_history_add_gap(h, &g), -EINVAL);
	assert_int_equal(h->ngaps, 0);
	kl_history_free(h);
}

static bool with_points, with_drains;

/* The linearization point of the operation with value @i. */
static uint64_t point_of(uint64_t i)
{
	return with_points && i % 3 ? i * 7 : KL_TIME_MAX;
}

static uint64_t drain_of(const struct kl_op *op, uint64_t i)
{
	if (op->flags & KL_OP_PENDING || i % 4 == 0)
		return KL_TIME_MAX;
	return i % 4 == 1 ? op->ret : with_drains ? op->ret + i : KL_TIME_MAX;
}

static void check_told(const struct kl_history *h)
{
	size_t i;

	for (i = 0; i < h->nops; i++) {
		const struct kl_op *op = &h->ops[i];
		const uint64_t v = kl_op_args(h, op)->v;

		assert_int_equal(kl_op_point(h, op), point_of(v));
		assert_int_equal(kl_op_drain(h, op), drain_of(op, v));
		assert_true(kl_op_empty(h, op) >= op->ret);
	}
	assert_true(with_points || !h->points);
	assert_true(with_drains || !h->drains);
}

/* Return: a history with operations of all kinds; some of them are removed again. */
static struct kl_history *told_history(uint64_t *s)
{
	static const struct kl_opsig sig = { .nargs = 1 };
	const uint64_t nops = kl_rand_below(s, 300), range = 1 + kl_rand_below(s, 1000);
	struct kl_history *h = kl_history_new();
	uint64_t i;

	/*
	 * Points and drains are at any time, so the error must be large for the reader to accept
	 * them.
	 */
	h->error = 1u << 20;
	kl_history_method(h, "m", 1);
	kl_history_object(h, 0);
	for (i = 0; i < nops; i++) {
		const struct kl_val v = kl_word(i);
		struct kl_op op = {
			.call = kl_rand_below(s, range), .cpu = KL_NO_CPU,
			.thread = kl_history_thread(h, i),
		};

		op.ret = op.call + kl_rand_below(s, range);
		op.flags = !kl_rand_below(s, 9) ? KL_OP_PENDING : i % 4 == 1 ? KL_OP_DRAINED : 0;
		assert_int_equal(kl_history_add(h, &op, &sig, &v, NULL), 0);
		/* An operation without point and drain must not inherit a removed operation's. */
		if (i % 4 > 1 || point_of(i) != KL_TIME_MAX || kl_rand_below(s, 2))
			assert_int_equal(kl_history_set_points(h, h->nops - 1, point_of(i),
						       drain_of(&h->ops[h->nops - 1], i)), 0);
		if (!kl_rand_below(s, 10))
			h->nops -= kl_rand_below(s, 3) % h->nops;
	}
	return h;
}

/*
 * Linearization points and drain times stay with their operations through all changes, and in
 * text.  Half of the histories have no points, half no drain times.
 */
static void test_points_and_drains_stay(void **state)
{
	uint64_t s = 3, round, i, n;
	size_t len;
	char *text;

	for (round = 0; round < 400; round++) {
		struct kl_history *h, *copy;

		with_points = round & 1;
		with_drains = round & 2;
		h = told_history(&s);
		check_told(h);
		for (i = 0; i < 20 && h->nops; i++)
			kl_history_swap(h, kl_rand_below(&s, h->nops), kl_rand_below(&s, h->nops));
		check_told(h);
		for (i = n = 0; i < h->nops; i++)
			if (kl_rand_below(&s, 8))
				kl_history_move(h, n++, i);
		h->nops = n;
		check_told(h);
		kl_history_drop(h, h->nops ? kl_rand_below(&s, h->nops) / 4 : 0);
		check_told(h);
		assert_int_equal(kl_history_renew(&h), 0);
		check_told(h);
		assert_int_equal(kl_history_finish(h), 0);
		check_told(h);
		text = history_text(h, &len);
		copy = read_text(text);
		free(text);
		assert_int_equal(copy->nops, h->nops);
		check_told(copy);
		kl_history_free(copy);
		for (i = 0; i < h->nops; i++) {
			assert_int_equal(kl_op_make_pending(h, &h->ops[i]), 0);
			assert_int_equal(kl_op_empty(h, &h->ops[i]), KL_TIME_MAX);
		}
		kl_history_free(h);
	}
}

/* Sorts by call, then return, then order of addition; values stay with their operations. */
static void test_finish_sorts(void **state)
{
	uint64_t s = 7, round, i;

	for (round = 0; round < 200; round++) {
		struct kl_history *h = kl_history_new();
		uint64_t n = kl_rand_below(&s, 50), range = 1 + kl_rand_below(&s, 20);

		kl_history_method(h, "m", 1);
		kl_history_object(h, 0);
		kl_history_thread(h, 0);
		for (i = 0; i < n; i++) {
			struct kl_op op = { .call = kl_rand_below(&s, range) };
			const struct kl_opsig sig = { .nargs = 1 };
			struct kl_val v = kl_word(i);

			op.ret = op.call + kl_rand_below(&s, range);
			if (round & 1)
				op.call += UINT64_MAX / 2, op.ret += UINT64_MAX / 2;
			assert_int_equal(kl_history_add(h, &op, &sig, &v, NULL), 0);
		}
		assert_int_equal(kl_history_finish(h), 0);
		for (i = 1; i < n; i++) {
			const struct kl_op *a = &h->ops[i - 1], *b = &h->ops[i];

			assert_true(a->call <= b->call);
			if (a->call == b->call)
				assert_true(a->ret <= b->ret);
			if (a->call == b->call && a->ret == b->ret)
				assert_true(kl_op_args(h, a)->v < kl_op_args(h, b)->v);
		}
		kl_history_free(h);
	}
}

static void test_text_is_read(void **state)
{
	struct kl_history *h = read_text(
		"# klin history 1\n# clock tick error 0x10\n# first init\n# cpus 4\r\n"
		"# release  6.1.0-56-amd64 \n# spec specs/s.lin\n# anything else is a comment\n"
		"#gap from here is one too\n"
		"# gap cpu 1 from 100 to 220 lost 17\n"
		"# gap from 300 to - object 0xffff8881 reason missed\n"
		"\n  t3\t@0xffff8881 100 150 write 1 -2 \r\n"
		"t4 @5 120 170 read -> 0xff empty cpu=1 drain=300 point=140\n"
		"t4 @5 180 - read\n"
		"t5 @5 - 190 all true false full absent ? -9223372036854775808\n"
		"t6 @5 >=7 190 none");
	const struct kl_op *op;

	assert_int_equal(h->clock, KL_CLOCK_TICK);
	assert_int_equal(h->error, 16);
	assert_true(h->fresh);
	assert_int_equal(h->ncpus, 4);
	assert_string_equal(h->release, "6.1.0-56-amd64");
	assert_string_equal(h->spec_path, "specs/s.lin");
	assert_int_equal(h->ngaps, 2);
	assert_int_equal(h->gaps[0].cpu, 1);
	assert_int_equal(h->gaps[0].lost, 17);
	assert_int_equal(h->gaps[0].object, KL_ALL_OBJECTS);
	assert_int_equal(h->gaps[1].to, KL_TIME_MAX);
	assert_int_equal(h->objects[h->gaps[1].object], 0xffff8881);
	assert_int_equal(h->gaps[1].reason, KL_GAP_MISSED);
	assert_int_equal(h->nops, 5);
	op = &h->ops[0];
	assert_int_equal(op->call, KL_TIME_MIN);
	assert_int_equal(op->flags, KL_OP_NOCALL);
	assert_int_equal(kl_op_sig(h, op)->nargs, 6);
	assert_int_equal(kl_op_args(h, op)[0].v, 1);
	assert_int_equal(kl_op_args(h, op)[2].tag, KL_FULL);
	assert_int_equal(kl_op_args(h, op)[4].tag, KL_ANY);
	assert_int_equal(kl_op_args(h, op)[5].v, 1ULL << 63);
	op = &h->ops[1];
	assert_int_equal(op->call, 7);
	assert_int_equal(op->flags, KL_OP_NOCALL);
	op = &h->ops[2];
	assert_int_equal(h->threads[op->thread], 3);
	assert_int_equal(kl_op_args(h, op)[1].v, -2);
	assert_int_equal(op->cpu, KL_NO_CPU);
	assert_int_equal(kl_op_drain(h, op), KL_TIME_MAX);
	op = &h->ops[3];
	assert_int_equal(op->cpu, 1);
	assert_int_equal(kl_op_drain(h, op), 300);
	assert_int_equal(kl_op_point(h, op), 140);
	assert_int_equal(kl_op_res(h, op)[1].tag, KL_EMPTY);
	/* The pending operation gets as many results as the one that returned. */
	op = &h->ops[4];
	assert_int_equal(op->flags, KL_OP_PENDING);
	assert_int_equal(op->ret, KL_TIME_MAX);
	assert_int_equal(kl_op_sig(h, op)->nres, 2);
	assert_int_equal(kl_op_res(h, op)[1].tag, KL_ANY);
	assert_int_equal(op->pad, 0);
	kl_history_free(h);
}

static void test_text_errors(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "x", "t:1: error: 'x': expected a thread as in `t3', or `#'" },
		{ "t3", "t:1: error: the end of the line: expected an object as in `@0xffff8881'" },
		{ "t3 3", "t:1: error: '3': expected an object as in `@0xffff8881'" },
		{ "tx @3", "t:1: error: 'tx': expected a thread as in `t3', or `#'" },
		{ "t3 @3 5x 6 m", "t:1: error: '5x': expected the time of the call, or `-'" },
		{ "t3 @3 5",
		  "t:1: error: the end of the line: expected the time of the return, or `-'" },
		{ "t3 @3 5 4 m", "t:1: error: '4': expected a return not before the call" },
		{ "t3 @3 5 18446744073709551615 m",
		  "t:1: error: '18446744073709551615': expected a time below 2^64 - 1, or `-'" },
		{ "t3 @3 5 18446744073709551616 m",
		  "t:1: error: '18446744073709551616': expected a number below 2^64" },
		{ "t3 @0x10000000000000000 5 6 m",
		  "t:1: error: '0x10000000000000000': expected a number below 2^64" },
		{ "t3 @3 5 6",
		  "t:1: error: the end of the line: expected a method's name (letters, digits and _)" },
		{ "t3 @3 5 6 3m",
		  "t:1: error: '3m': expected a method's name (letters, digits and _)" },
		{ "t3 @3 5 6 m(1)",
		  "t:1: error: 'm(1)': expected a method's name (letters, digits and _)" },
		{ "t3 @3 5 6 m nought",
		  "t:1: error: 'nought': expected a number, true, false, empty, full, "
		  "absent or `?'" },
		{ "t3 @3 5 6 m 1 -> 2 -> 3", "t:1: error: '->': expected only one `->' in a line" },
		{ "t3 @3 5 6 m 1 2 3 4 5 6 7 8 9",
		  "t:1: error: '9': expected at most 8 arguments and 8 results" },
		{ "t3 @3 5 6 m -9223372036854775809",
		  "t:1: error: '-9223372036854775809': expected a number not below -2^63" },
		{ "t3 @3 5 6 m cpu=65535",
		  "t:1: error: 'cpu=65535': expected a CPU number below 65535" },
		{ "t3 @3 5 6 m drain=4",
		  "t:1: error: 'drain=4': expected a time not before the call" },
		{ "t3 @3 5 6 m where=4",
		  "t:1: error: 'where=4': expected cpu=NUMBER, drain=TIME, point=TIME or stack=NUMBER" },
		{ "t3 @3 5 6 m cpu=1 point=5 cpu=1",
		  "t:1: error: 'cpu=1': expected each attribute once" },
		{ "t3 @3 5 6 m cpu 1",
		  "t:1: error: 'cpu': expected a number, true, false, empty, full, absent or `?'; "
		  "attributes have no blanks, as in cpu=3" },
		{ "t3 @3 5 6 m cpu=1 7",
		  "t:1: error: '7': expected cpu=NUMBER, drain=TIME, point=TIME or stack=NUMBER" },
		{ "# klin history 2",
		  "t:1: error: '2': expected version 1, the only one this klin reads" },
		{ "# klin spec 1", "t:1: error: 'spec': expected `history'" },
		{ "# clock sun", "t:1: error: 'sun': expected mono, seq, tick or epoch" },
		{ "# clock mono 12", "t:1: error: '12': expected `error' and a number, or "
				     "the end of the line" },
		{ "# first last", "t:1: error: 'last': expected init or any" },
		{ "# first init\n# first any",
		  "t:2: error: 'any': this contradicts line 1; remove one of them" },
		{ "# memory tso\n# memory sc",
		  "t:2: error: 'sc': this contradicts line 1; remove one of them" },
		{ "# clock seq\n# clock seq\n# clock mono",
		  "t:3: error: 'mono': this contradicts line 2; remove one of them" },
		{ "# cpus 65535", "t:1: error: '65535': expected fewer than 65535 CPUs" },
		{ "# gap from 5 to 4",
		  "t:1: error: 'from': expected a gap that ends after it begins" },
		{ "# end\nt3 @3 5 6 m", "t:2: error: 't3': an operation behind the line `# end'" },
		{ "# floor 50\nt3 @3 - 6 m\nt3 @3 >=7 8 m\nt3 @3 50 60 m\nt3 @3 49 60 m",
		  "t:5: error: '49': expected a call not before the time of the last `# floor'" },
		{ "t3\u00a0@3 5 6 m",
		  "t:1: error: '3\u00a0@3': expected a thread as in `t3', or `#'; the word has a "
		  "blank that does not break: write a blank" },
		{ "t3 @3 5 6 m \u22121",
		  "t:1: error: '\u22121': expected a number, true, false, empty, full, absent or `?'; the "
		  "word has a minus sign of typography: write `-'" },
		{ "# end 7", "t:1: error: '7': expected the end of the line" },
		{ "# gap between 5",
		  "t:1: error: 'between': expected cpu, from, to, lost, object or reason" },
		{ "# gap reason rain", "t:1: error: 'rain': expected lost, missed or cut" },
		{ "\n\nt1 @1 10 20 a\nt2 @1 15 25 a\nt1 @1 15 25 a",
		  "t:5:7: error: thread t1 is called at 15 inside the operation of line 3 and "
		  "returns at 25, after it (20): expected operations that follow each other or are "
		  "nested\n  t1 @1 15 25 a\n        ^" },
	};
	char expected[512];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kl_history *h = NULL;

		history_log_start();
		assert_int_equal(kl_text_read("t", cases[i].text, strlen(cases[i].text), &h),
				 -EINVAL);
		history_log_stop();
		assert_null(h);
		history_log_place(cases[i].text);
		snprintf(expected, sizeof(expected), "%s\n", cases[i].message);
		assert_string_equal(history_log, expected);
	}
}

/* A comment that differs from a header line by a typing error is refused. */
static void test_text_typos_refused(void **state)
{
	static const struct {
		const char *line, *word;	/* word: the intended word */
		unsigned int col;
	} cases[] = {
		{ "# frist init", "first", 3 }, { "# firts any", "first", 3 },
		{ "# First init", "first", 3 }, { "# first: init", "first", 3 },
		{ "#first init", "first", 2 }, { "  #  fisrt any", "first", 6 },
		{ "# gapp from", "gap", 3 }, { "# gapp from 1 to 2", "gap", 3 },
		{ "# gaps cpu 1 lost 7", "gap", 3 }, { "# agp reason lost", "gap", 3 },
		{ "#gap from 5 to 8", "gap", 2 }, { "# clcok mono error 5", "clock", 3 },
		{ "# clocks tick", "clock", 3 }, { "# cups 4", "cpus", 3 },
		{ "# relaese 6.1.0-13-amd64", "release", 3 }, { "# sepc register", "spec", 3 },
		{ "# spce specs/register.lin", "spec", 3 },
		{ "# covrage read whole", "coverage", 3 },
		{ "# objcts keys", "objects", 3 },
		{ "# speling 0x4000000000000000 nil", "spelling", 3 },
		{ "# flor 5", "floor", 3 }, { "# klni history 1", "klin", 3 },
		{ "# edn", "end", 3 }, { "# End", "end", 3 }, { "#end", "end", 2 },
		{ "# end.", "end", 3 },
		{ "# end:", "end", 3 }, { "  # edn \r", "end", 5 }, { "# edn 7", "end", 3 },
		{ "# atached write w  fentry+fexit, store", "attached", 3 },
		{ "# attahced write w  klin:w  tracepoints, store", "attached", 3 },
		{ "#attached write w  kprobe+kretprobe of klin.ko, store", "attached", 2 },
		{ "# attached: klin.ko rounds, variant seqlock: plain stores", "attached", 3 },
		/*
		 * A character other than a blank between words, or a word that does not belong
		 * there.
		 */
		{ "# memory=tso", "memory", 3 }, { "# memory = tso", "memory", 3 },
		{ "# memory:sc", "memory", 3 }, { "# memory-model tso", "memory", 3 },
		{ "# memory model tso", "memory", 3 }, { "# memory_model=tso", "memory", 3 },
		{ "# first=init", "first", 3 }, { "# first_init", "first", 3 },
		{ "# first state init", "first", 3 }, { "# gap from=5 to=8", "gap", 3 },
		{ "# gap from:5 to:8", "gap", 3 }, { "#gap:from=5", "gap", 2 },
		{ "# clock=mono error 5", "clock", 3 }, { "# clokc=mono", "clock", 3 },
		{ "# cpus=4", "cpus", 3 }, { "# spec=register.lin", "spec", 3 },
		{ "# objects=keys", "objects", 3 }, { "# floor=5", "floor", 3 },
	};
	char text[128], expected[128];
	struct kl_history *h = NULL;
	size_t i, len;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *typo = cases[i].line + cases[i].col - 1;

		len = snprintf(text, sizeof(text), "%s\nt1 @1 1 2 a\n", cases[i].line);
		history_log_start();
		assert_int_equal(kl_text_read("t", text, len, &h), -EINVAL);
		history_log_stop();
		snprintf(expected, sizeof(expected), "t:1:%u: error: '%.*s': did you mean `# %s'?",
			 cases[i].col, (int)strcspn(typo, " "), typo, cases[i].word);
		if (strncmp(history_log, expected, strlen(expected)))
			fail_msg("%s: %s", cases[i].line, history_log);
	}
}

/* The name of a file may have blanks. */
static void test_text_name_with_blanks(void **state)
{
	struct kl_history *h = read_text("# spec my own.lin \r\n");

	assert_string_equal(h->spec_path, "my own.lin");
	kl_history_free(h);
	h = read_text("# spec my own/spec\n");
	assert_string_equal(h->spec_path, "my own/spec");
	kl_history_free(h);
}

/* Prose is not a header, whatever it begins with. */
static void test_text_prose_is_no_header(void **state)
{
	static const char *const lines[] = {
		"# first we write 1", "# first and foremost", "# first unit test",
		"# the first init", "# the gap", "# lost and found", "# gap between the writes",
		"# gap to the right", "# map from 1 to 2", "#gap from here is one too",
		"# clock runs backwards here, so wait", "# lock seq", "# cpus are four", "# cpu 4",
		"# cpu 4 writes", "# sped up", "# specs below", "# spec is foo",
		"# coverage is good here", "# objects are 3", "# spelling of words",
		"# sampling 5 points", "# release the lock", "# release lock",
		"# floor of the queue", "# door 5", "# end of phase one",
		"# and", "# klin is a checker", "# ended", "#", "##", "# ", "## frist init",
		"#! frist init", "# first: the writes", "# first-come", "# gap: nothing is here",
		"# gap-free from here", "# memory = 4 GiB", "# memory model of x86", "# clock=fast",
		"# end phase", "# end 2 of them", "# ending", "# ends", "# --- end ---",
		"# --- first init ---", "# end-to-end", "# the end", "# send", "# the_end",
		"# attached is a picture of the set-up", "# attached to two tracepoints",
		"# attach a kprobe, then a load", "# detached the kprobe", "# attached: a picture",
		"# attach", "# a=b", "# spec: a page of its own", "# first state of all",
		"# memory-mapped",
	};
	char text[128];
	size_t i, len;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct kl_history *h = NULL;

		len = snprintf(text, sizeof(text), "%s\nt1 @1 1 2 a\n", lines[i]);
		history_log_start();
		if (kl_text_read("t", text, len, &h))
			fail_msg("%s: %s", lines[i], history_log);
		history_log_stop();
		assert_int_equal(h->ngaps, 0);
		kl_history_free(h);
	}
}

/* The header says how functions are attached; an older form of this line is read, too. */
static void test_text_attached_lines(void **state)
{
	static const char *const first[] = {
		"read       vfs_read  fentry+fexit, store buffer not drained",
		"read       f [m]  kprobe+kretprobe, DRAINS the store buffer (fentry: too many)",
		"is         f  kprobe+kretprobe of klin.ko, DRAINS the store buffer",
		"put        inlined put_item at f+0x24  kprobe, DRAINS the store buffer; from "
		"f()'s",
		"write      klin:w  tracepoints, store buffer not drained",
		"write      klin:w  klin.ko's own recording by plain stores, store buffer not "
		"drained",
		"klin.ko rounds, variant seqlock: plain stores into its own memory, no probe",
	};
	static const char rest[] = "read       coverage whole: no call passes by\n"
				   "preemption: full\n\n"
				   "clock: monotonic, error 7 ns between CPUs\n";
	char text[512], *p;
	size_t i, n, at;

	for (i = 0; i < sizeof(first) / sizeof(*first); i++) {
		struct kl_history *h = kl_history_new(), *back;

		snprintf(text, sizeof(text), "%s\n%s", first[i], rest);
		h->attached = strdup(text);
		p = history_text(h, &n);
		back = read_text(p);
		assert_string_equal(back->attached, text);
		free(p);
		/* Prose after the header is kept; prose before it is not taken for the header. */
		at = snprintf(text, sizeof(text),
			      "# attached is a picture\n# attached %s\n", first[i]);
		assert_true(at < sizeof(text));
		kl_history_free(back);
		back = read_text(text);
		snprintf(text, sizeof(text), "%s\n", first[i]);
		assert_string_equal(back->attached, text);
		kl_history_free(back);
		kl_history_free(h);
	}
}

static void test_text_many_errors(void **state)
{
	struct kl_history *h = NULL;
	char text[200], *p;
	unsigned int lines = 0;

	memset(text, 'x', sizeof(text));
	for (p = text + 1; p < text + sizeof(text); p += 2)
		*p = '\n';
	history_log_start();
	assert_int_equal(kl_text_read("t", text, sizeof(text), &h), -EINVAL);
	history_log_stop();
	for (p = history_log; *p; p++)
		lines += *p == '\n';
	/* 20 errors with source lines and carets, and the final message. */
	assert_int_equal(lines, 20 * 3 + 1);
	assert_non_null(strstr(history_log, "t:20: error: too many errors, giving up\n"));
}

/*
 * Nested and sequential operations of a thread are accepted, as are overlaps within the
 * clock's error.
 */
static void test_text_ops_of_one_thread(void **state)
{
	kl_history_free(read_text("t1 @1 10 50 a\nt1 @1 20 30 a\nt1 @1 30 50 a\nt1 @1 50 50 a\n"
				  "t1 @1 10 60 a\nt1 @1 60 70 a\n"));
	kl_history_free(read_text("t1 @1 10 20 a\nt1 @1 15 25 a\n# clock mono error 5\n"));
	kl_history_free(read_text("t1 @1 10 20 a\nt1 @1 15 - a\nt1 @1 - 18 a\n"));
}

/* A point lies between call and return, or later while a store may wait in a store buffer. */
static void test_text_points_in_range(void **state)
{
	static const struct {
		const char *lines;
		unsigned int col;	/* column of the error in the last line, 0: none */
	} cases[] = {
		{ "t1 @1 10 20 a point=10\nt1 @1 10 20 a point=20 cpu=1", 0 },
		{ "t1 @1 10 20 a -> 3 cpu=1 point=9", 26 },
		{ "t1 @1 10 20 a point=21", 15 },
		{ "# memory sc\nt1 @1 10 20 a point=21", 15 },
		{ "# memory tso\nt1 @1 10 20 a point=21", 0 },
		{ "t1 @1 10 20 a point=9\n# memory tso", 15 },
		{ "t1 @1 10 20 a drain=20 point=21\n# memory tso", 24 },
		{ "t1 @1 10 20 a drain=30 point=30\n# memory tso", 0 },
		{ "t1 @1 10 20 a drain=30 point=31", 24 },
		{ "t1 @1 10 20 a point=25\n# clock mono error 5", 0 },
		{ "t1 @1 10 20 a point=26\n# clock mono error 5", 15 },
		{ "t1 @1 10 20 a point=4\n# clock mono error 5", 15 },
		{ "t1 @1 10 - a point=10\nt2 @1 10 - a point=99", 0 },
		{ "t1 @1 10 - a point=9", 14 },
		{ "t1 @1 - 20 a point=0", 0 },
		{ "t1 @1 >=10 20 a point=9", 17 },
	};
	struct kl_history *h = NULL;
	char expected[64];
	size_t i;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		history_log_start();
		ret = kl_text_read("t", cases[i].lines, strlen(cases[i].lines), &h);
		history_log_stop();
		if (!ret)
			kl_history_free(h);
		snprintf(expected, sizeof(expected), ":%u: error: 'point=", cases[i].col);
		if (cases[i].col ? ret != -EINVAL || !strstr(history_log, expected) : ret)
			fail_msg("%s: %s", cases[i].lines, history_log);
	}
}

static void test_round_trip(void **state)
{
	uint64_t seed;

	for (seed = 0; seed < 2000; seed++) {
		struct kl_history *h = history_random(seed), *back = NULL;
		size_t len, len2;
		char *text, *text2;

		/*
		 * The error is large, so the reader accepts overlaps of a thread's operations.
		 */
		h->error = 1u << 30;
		text = history_text(h, &len);
		assert_int_equal(kl_text_read("t", text, len, &back), 0);
		text2 = history_text(back, &len2);
		assert_string_equal(text, text2);
		free(text);
		free(text2);
		kl_history_free(h);
		kl_history_free(back);
	}
}

static void test_operation_is_printed(void **state)
{
	struct kl_history *h = read_text("t1 @1 1 2 cas -1 -4096 -> true\n"
					 "t1 @1 3 4 read -> 1 0x100000000\n"
					 "t1 @1 5 - read");
	char buf[64];

	assert_int_equal(kl_op_print(buf, sizeof(buf), h, &h->ops[0]), 19);
	assert_string_equal(buf, "cas(-1, -4096) -> 1");
	kl_op_print(buf, sizeof(buf), h, &h->ops[1]);
	assert_string_equal(buf, "read() -> (1, 0x100000000)");
	kl_op_print(buf, sizeof(buf), h, &h->ops[2]);
	assert_string_equal(buf, "read()");
	/* The text is cut, but the full length is returned. */
	assert_int_equal(kl_op_print(buf, 6, h, &h->ops[0]), 19);
	assert_string_equal(buf, "cas(-");
	kl_history_free(h);
}

/*
 * Spellings are printed, and copied with a history; changes of a copy do not change the
 * original.
 */
static void test_spellings(void **state)
{
	static const char text[] =
		"# klin history 1\n# clock mono error 0\n# first any\n# memory sc\n# objects keys\n"
		"# spelling 0x4000000000000000 \"7\"\n# spelling 0x4000000000000001 [1 2]\n"
		"t1 @7 1 2 cas 0x4000000000000000 7 -> 0x4000000000000001\n";
	char path[] = "/tmp/klin-spelling-XXXXXX", buf[64], *got;
	struct kl_history *h = read_text(text), *copy, *packed;
	const int fd = mkstemp(path);
	uint64_t word;
	size_t n;

	assert_true(fd >= 0 && !close(fd));
	assert_true(h->keyed);
	assert_int_equal(kl_op_print(buf, sizeof(buf), h, &h->ops[0]), 20);
	assert_string_equal(buf, "cas(\"7\", 7) -> [1 2]");
	assert_int_equal(kl_klh_write(h, path), 0);
	assert_int_equal(kl_history_read(path, &packed), 0);
	assert_same_history(h, packed);
	unlink(path);
	copy = kl_history_new();
	kl_history_share_spellings(copy, h);
	assert_int_equal(kl_history_renew(&h), 0);
	for (word = 1; word < 1000; word++)
		assert_int_equal(kl_history_spell(copy, word << 3, "more", 4), 0);
	assert_int_equal(kl_history_spell(copy, 8, "other", 5), 0);
	assert_string_equal(kl_history_spelling(copy, 8), "more");
	assert_string_equal(kl_history_spelling(copy, 0x4000000000000001), "[1 2]");
	assert_null(kl_history_spelling(h, 8));
	assert_null(kl_history_spelling(copy, 9));
	kl_history_free(copy);
	got = history_text(h, &n);
	assert_string_equal(got, text);
	free(got);
	/* Only whole words are replaced; other numbers, and a spelling that does not fit, stay. */
	strcpy(buf, "8 4611686018427387904 0x4000000000000001, 4611686018427387907");
	kl_history_spell_out(h, buf, sizeof(buf));
	assert_string_equal(buf, "8 \"7\" [1 2], 0x4000000000000003");
	kl_history_free(h);
	kl_history_free(packed);
}

/*
 * The reader decides whether a history may be from a machine that is not x86.  An old history
 * without `# memory' that klin wrote counts as a recording.
 */
static void test_memory_model(void **state)
{
	static const struct { const char *lines; bool sc, told; } cases[] = {
		{ "", true, false },
		{ "# first init\n# clock mono error 200\n# cpus 2\n# spec register\n",
		  true, false },
		{ "# memory tso\n", false, true },
		{ "# memory sc\n# release 6.1.0-56-amd64\n# attached write w  kprobe, x\n",
		  true, true },
		{ "# attached write w  fentry+fexit, store\n# memory sc\n", true, true },
		{ "# release 6.1.0-56-amd64\n# attached write w  fentry+fexit, store\n",
		  false, false },
		{ "# attached write w  fentry+fexit, store\n# release 6.1.0-56-amd64\n",
		  false, false },
		{ "# coverage write whole\n", false, false },
		{ "# spec r.lin\n# | spec r {\n", false, false },
		/* lines that prose may have */
		{ "# release 2.3\n", true, false },
		{ "# attached to the list\n", true, false },
		{ "# release 6.1.0-56-amd64\n# attached is a picture of it\n", true, false },
		{ "# | x | y |\n", true, false },
	};
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kl_history *h;

		snprintf(text, sizeof(text), "# klin history 1\n%st1 @1 1 2 write 3\n",
			 cases[i].lines);
		h = read_text(text);
		assert_int_equal(h->memory.sc, cases[i].sc);
		assert_int_equal(h->memory.told, cases[i].told);
		kl_history_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name_indices),
		cmocka_unit_test(test_add_rejects_bad_ops),
		cmocka_unit_test(test_points_and_drains_stay),
		cmocka_unit_test(test_finish_sorts),
		cmocka_unit_test(test_text_is_read),
		cmocka_unit_test(test_text_errors),
		cmocka_unit_test(test_text_typos_refused),
		cmocka_unit_test(test_text_name_with_blanks),
		cmocka_unit_test(test_text_prose_is_no_header),
		cmocka_unit_test(test_text_attached_lines),
		cmocka_unit_test(test_text_many_errors),
		cmocka_unit_test(test_text_ops_of_one_thread),
		cmocka_unit_test(test_text_points_in_range),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_operation_is_printed),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_memory_model),
	};

	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
