// SPDX-License-Identifier: GPL-2.0
/*
 * Stories of violations with store buffers.  Small histories have the expected headline and fact,
 * and each has a correct twin.  In random histories the cast of each story is a violation by
 * itself, as the brute-force oracle confirms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "check/check.h"
#include "history_util.h"
#include "story/reason.h"
#include "story/waited.h"
#include "story_casts.h"

static const struct {
	const char *spec, *history, *twin, *headline, *fact;
} table[] = {
	{ "register", "t1 @1 0 10 write 1\nt1 @1 20 30 write 2 drain=35\nt2 @1 40 50 read -> 1\n",
	  "t1 @1 0 10 write 1\nt1 @1 20 30 write 2 drain=40\nt2 @1 40 50 read -> 1\n",
	  "t2's read() -> 1 saw x = 1, which t1's write(2) had overwritten: its store had left the "
	  "store buffer by 35",
	  "The drain after t1's write(2) was at 35" },
	{ "register", "t1 @1 0 10 write 1\nt1 @1 20 30 read -> 1 drain=35\nt2 @1 40 50 read -> 0\n",
	  "t1 @1 0 10 write 1\nt2 @1 12 15 read -> 0\nt1 @1 20 30 read -> 1 drain=35\n",
	  "t2's read() -> 0 saw x = 0, which t1's write(1) had overwritten: its store had left the "
	  "store buffer by 35",
	  "The drain after t1's read() -> 1 was at 35; t1's write(1) of the same thread had "
	  "returned at 10, before it was called" },
	{ "register", "t1 @1 0 10 write 1\nt1 @1 20 30 cas 7 8 -> 0\nt2 @1 40 50 read -> 0\n",
	  "t1 @1 0 10 write 1\nt3 @1 20 30 cas 7 8 -> 0\nt2 @1 40 50 read -> 0\n",
	  "t2's read() -> 0 saw x = 0, which t1's write(1) had overwritten: its store had left the "
	  "store buffer by 30",
	  "t1's cas(7, 8) -> 0 began with an empty store buffer, and returned at 30; t1's "
	  "write(1) of the same thread had returned at 10, before it was called" },
	{ "register", "t1 @1 0 10 cas 0 1 -> 1\nt2 @1 20 30 read -> 0\n",
	  "t1 @1 0 10 write 1\nt2 @1 20 30 read -> 0\n",
	  "t2's read() -> 0 saw x = 0, which t1's cas(0, 1) -> 1 had overwritten: its store had "
	  "left the store buffer by 10",
	  "t1's cas(0, 1) -> 1 leaves nothing in the store buffer, and returned at 10" },
	{ "register", "t1 @1 0 10 write 1\nt1 @1 20 30 read -> 0\n",
	  "t1 @1 0 10 write 1\nt2 @1 20 30 read -> 0\n",
	  "t1's read() -> 0 saw x = 0, which t1's write(1) of the same thread had overwritten by 10",
	  "A thread sees its own stores at once" },
	/* Two operations stored what was seen: each is told. */
	{ "register",
	  "t2 @1 4 5 write 3\nt1 @1 4 10 write 3\nt2 @1 6 7 cas 8 9 -> 0\n"
	  "t1 @1 11 13 write 5\nt1 @1 14 15 read -> 3\n",
	  "t2 @1 4 5 write 3\nt1 @1 4 10 write 3\nt1 @1 11 13 write 5\nt1 @1 14 15 read -> 3\n",
	  "t1's read() -> 3 saw x = 3, which t1's write(5) of the same thread had overwritten by "
	  "13",
	  "t2's cas(8, 9) -> 0 began with an empty store buffer, and returned at 7; t2's write(3) "
	  "of the same thread had returned at 5, before it was called" },
	{ "register", "t1 @1 0 60 write 1\nt2 @1 10 20 read -> 1\nt2 @1 30 40 read -> 0\n",
	  "t1 @1 0 60 write 1\nt2 @1 10 20 read -> 0\nt2 @1 30 40 read -> 1\n",
	  "t2's read() -> 0 saw x = 0, although t2's read() -> 1 of the same thread had seen "
	  "x = 1 by 20",
	  NULL },
	{ "register",
	  "t1 @1 0 10 write 1\nt1 @1 20 60 write 2\nt2 @1 30 40 read -> 2\n"
	  "t3 @1 50 55 read -> 1\n",
	  /* t2 sees its own store */
	  "t1 @1 0 10 write 1\nt2 @1 20 60 write 2\nt2 @1 70 80 read -> 2\n"
	  "t3 @1 90 95 read -> 1\n",
	  "t3's read() -> 1 saw x = 1, although t2's read() -> 2 had seen x = 2 in memory by 40",
	  "t1's write(1) and then t1's write(2) are of one thread, whose stores leave in order" },
	{ "register",
	  "t1 @1 0 10 write 1 drain=15\nt2 @1 20 30 write 2 drain=35\nt3 @1 40 50 read -> 1\n",
	  "t1 @1 0 10 write 1 drain=25\nt2 @1 20 30 write 2 drain=35\nt3 @1 40 50 read -> 1\n",
	  "t3's read() -> 1 saw x = 1, which t2's write(2) had overwritten: its store had left the "
	  "store buffer by 35",
	  "The drain after t1's write(1) was at 15" },
	{ "register", "t1 @1 20 30 write 2 drain=31\nt2 @1 40 50 cas 2 3 -> 0\n",
	  "t1 @1 20 30 write 2\nt2 @1 40 50 cas 2 3 -> 0\n",
	  "t2's cas(2, 3) -> 0 is wrong, since it found x = 2: the store of t1's write(2) had left "
	  "the store buffer by 31",
	  NULL },
	{ "register", "t1 @1 20 30 write 2\nt1 @1 40 50 cas 2 3 -> 0\n",
	  "t1 @1 20 30 write 3\nt1 @1 40 50 cas 2 3 -> 0\n",
	  "t1's cas(2, 3) -> 0 is wrong, since it found x = 2: t1's write(2) of the same thread had "
	  "stored by 30",
	  NULL },
	{ "fig5", "t1 @1 0 10 set_y 1\nt1 @1 20 30 write 1 1\nt2 @1 40 50 get_y -> 0\n",
	  "t1 @1 0 10 write 1 1\nt1 @1 20 30 set_y 1\nt2 @1 40 50 get_y -> 0\n",
	  "t2's get_y() -> 0 saw y = 0, which t1's set_y(1) had overwritten: its store had left "
	  "the store buffer by 30",
	  "t1's write(1, 1) began with an empty store buffer, and returned at 30; t1's set_y(1) of "
	  "the same thread had returned at 10, before it was called" },
	{ "spinlock", "t1 @1 0 10 lock\nt2 @1 20 30 lock\n",
	  "t1 @1 0 10 lock\nt1 @1 11 15 unlock\nt2 @1 20 30 lock\n",
	  "t2's lock() took hold while it was held: held = true while it ran", NULL },
	{ "spinlock", "t1 @1 0 10 lock\nt1 @1 11 15 unlock drain=16\nt2 @1 20 30 trylock -> 0\n",
	  "t1 @1 0 10 lock\nt1 @1 11 15 unlock\nt2 @1 20 30 trylock -> 0\n",
	  "t2's trylock() -> 0 failed, though it could have succeeded: held = false while it ran",
	  "The drain after t1's unlock() was at 16" },
	{ "spinlock", "t1 @1 0 20 lock\nt2 @1 10 30 lock\n",
	  "t1 @1 0 20 lock\nt2 @1 10 30 lock\nt3 @1 5 7 unlock\n",
	  "t1's lock() and t2's lock() both changed held = false",
	  "A locked instruction finds and changes memory" },
	{ "rwlock", "t1 @1 0 10 read_lock\nt2 @1 20 30 write_trylock -> 1\n",
	  "t1 @1 0 10 read_lock\nt1 @1 15 25 read_unlock\nt2 @1 20 30 write_trylock -> 1\n",
	  "t2's write_trylock() -> 1 took hold while it was held: readers = 1 while it ran", NULL },
	{ "rwlock", "t2 @1 20 30 write_trylock -> 0\nt1 @1 40 50 read_lock\n",
	  "t2 @1 20 30 write_trylock -> 0\nt1 @1 25 50 read_lock\n",
	  "t2's write_trylock() -> 0 failed, though it could have succeeded: readers = 0 and "
	  "writer = false while it ran",
	  NULL },
	{ "register", "t2 @1 20 30 read -> 1\nt1 @1 40 50 write 1\n",
	  "t2 @1 20 30 read -> 1\nt1 @1 25 50 write 1\n",
	  "t2's read() -> 1 saw 1 and returned at 30, before t1's write(1) was called at 40",
	  NULL },
	{ "register", "t2 @1 20 30 cas 0 3 -> 0\nt1 @1 40 50 write 2\n",
	  "t2 @1 20 30 cas 0 3 -> 0\nt1 @1 25 50 write 2\n",
	  "t2's cas(0, 3) -> 0 is wrong, since it found x = 0: no other value was stored before",
	  NULL },
	{ "rwlock", "t1 @1 0 20 write_lock\nt2 @1 10 30 read_lock\n",
	  "t1 @1 0 20 write_lock\nt2 @1 10 30 read_lock\nt1 @1 21 40 write_unlock\n",
	  "t1's write_lock() and t2's read_lock() cannot both be right: neither can follow the "
	  "other, whatever came between",
	  NULL },
	{ "spinlock", "t1 @1 0 20 lock\nt2 @1 10 30 lock\nt3 @1 40 50 unlock\n",
	  "t1 @1 0 20 lock\nt2 @1 10 30 lock\nt3 @1 25 50 unlock\n",
	  "t1's lock() and t2's lock() both changed held = false",
	  "No operation makes it held = false between them" },
	{ "ping_range", "t1 @1 0 10 set 1 2\nt1 @1 20 30 set 3 4\nt2 @1 40 50 get -> 1 4\n",
	  "t1 @1 0 10 set 1 2\nt2 @1 40 50 get -> 1 2\n",
	  "t2's get() -> (1, 4) is torn: low = 1 may come from t1's set(1, 2), high = 4 may come "
	  "from t1's set(3, 4)",
	  NULL },
	{ "array", "t1 @1 0 10 write 3 7 drain=12\nt2 @1 20 30 read 3 -> 0\n",
	  "t1 @1 0 10 write 2 7 drain=12\nt2 @1 20 30 read 3 -> 0\n",
	  "t2's read(3) -> 0 saw a[3] = 0, which t1's write(3, 7) had overwritten: its store had "
	  "left the store buffer by 12",
	  NULL },
	{ "seqlock", "t1 @1 0 10 write 1 1\nt1 @1 20 30 write 2 2\nt2 @1 40 50 read -> 0 0\n",
	  "t1 @1 0 10 write 1 1\nt1 @1 20 30 write 2 2\nt2 @1 40 50 read -> 1 1\n",
	  "t2's read() -> (0, 0) saw x1 = 0, which t1's write(1, 1) had overwritten: its store had "
	  "left the store buffer by 30",
	  "t1's write(2, 2) began with an empty store buffer, and returned at 30; t1's write(1, 1) "
	  "of the same thread had returned at 10, before it was called" },
};

/* Reasons that try all orders. */
struct row {
	const char *spec, *history, *twin, *headline, *fact;
};

static const struct row by_orders[] = {
	{ "register", "t1 @1 7 - fetch_add 2 -> ?\nt1 @1 12 13 cas 1 1 -> 1\n",
	  "t1 @1 7 - fetch_add 2 -> ?\nt1 @1 12 13 cas 2 1 -> 1\n",
	  "t1's cas(1, 1) -> 1 saw x = 1, which was not there: x = 0 or x = 2 while it ran", NULL },
	{ "register",
	  "t3 @1 8 - cas 0 0 -> ?\nt1 @1 9 11 write 3 drain=12\nt2 @1 21 25 cas 0 1 -> 1\n",
	  "t3 @1 8 - cas 0 0 -> ?\nt1 @1 9 11 write 3\nt2 @1 21 25 cas 0 1 -> 1\n",
	  "t2's cas(0, 1) -> 1 saw x = 0, which was gone: x = 3 while it ran",
	  "The drain after t1's write(3) was at 12" },
	{ "register", "t1 @1 2 - cas 3 4 -> ?\nt2 @1 14 18 cas 0 0 -> 0\n",
	  "t1 @1 2 - cas 3 4 -> ?\nt2 @1 14 18 cas 4 0 -> 0\n",
	  "t2's cas(0, 0) -> 0 is wrong, since x = 0 while it ran", NULL },
	{ "rwlock",
	  "t1 @1 0 2 read_trylock -> 1\nt2 @1 6 - write_lock\nt1 @1 11 17 read_trylock -> 0\n",
	  "t1 @1 0 2 read_trylock -> 1\nt1 @1 3 4 read_unlock\nt2 @1 6 - write_lock\n"
	  "t1 @1 11 17 read_trylock -> 0\n",
	  "t1's read_trylock() -> 0 failed, though it could have succeeded: writer = false while "
	  "it ran",
	  NULL },
	{ "fig5", "t1 @1 0 10 write 1 1\nt1 @1 20 30 write 2 2\nt2 @1 25 40 read -> 1 2\n",
	  "t1 @1 0 10 write 1 1\nt1 @1 20 30 write 2 2\nt2 @1 25 40 read -> 1 1\n",
	  "t2's read() -> (1, 2) saw x1 = 1, x2 = 2, which were never there together: x1 = 0, "
	  "x2 = 0 or x1 = 1, x2 = 1 or x1 = 2, x2 = 2 while it ran",
	  NULL },
	{ "bpf_lpm", "t1 @1 0 10 update 0 2\nt2 @1 20 30 lookup -> 3\n",
	  "t1 @1 0 10 update 0 2\nt2 @1 20 30 lookup -> 2\n",
	  "t2's lookup() -> 3 saw 3, which no operation wrote before: it could only see 0 or 2",
	  NULL },
	{ "bpf_lpm",
	  "t1 @1 0 10 update 1 3\nt1 @1 20 30 update 1 2 drain=32\nt2 @1 40 50 lookup -> 3\n",
	  "t1 @1 0 10 update 1 3\nt1 @1 20 30 update 1 2\nt2 @1 40 50 lookup -> 3\n",
	  "t2's lookup() -> 3 saw 3, which was gone: it could only see 2",
	  "The drain after t1's update(1, 2) was at 32" },
	{ "bpf_lpm",
	  "t1 @1 0 10 update 0 3\nt1 @1 20 30 update 1 2 drain=32\nt2 @1 40 50 lookup -> 3\n",
	  "t1 @1 0 10 update 0 3\nt1 @1 20 30 update 1 2\nt2 @1 40 50 lookup -> 3\n",
	  "t2's lookup() -> 3 saw 3, though it could only see 2", NULL },
	{ "ping_range", "t1 @1 2 9 may 6 -> 1\nt2 @1 4 10 may 6 -> 0\n",
	  "t1 @1 2 9 may 6 -> 1\nt2 @1 4 10 may 7 -> 0\n",
	  "t1's may(6) -> 1 and t2's may(6) -> 0 cannot both be right: neither can follow the "
	  "other, whatever came between",
	  NULL },
	{ "ping_range", "t2 @1 7 14 may 1 -> 0\nt2 @1 16 20 get -> 1 1\n",
	  "t2 @1 7 14 may 2 -> 0\nt2 @1 16 20 get -> 1 1\n",
	  "t2's get() -> (1, 1) is not possible after t2's may(1) -> 0, which had returned at 14, "
	  "with nothing between",
	  NULL },
};

static struct kl_report *check_text(const struct kl_spec *spec, const char *ops,
				    struct kl_history **h)
{
	const struct kl_options opt = { .max_shrink = 1, .threads = 1 };
	struct kl_report *r;
	char text[1024];

	snprintf(text, sizeof(text), "# klin history 1\n# first init\n# memory tso\n%s", ops);
	assert_int_equal(kl_text_read("table", text, strlen(text), h), 0);
	assert_int_equal(kl_check(spec, *h, &opt, &r), 0);
	return r;
}

static bool has_fact(const struct kl_story *s, const char *fact)
{
	size_t i;

	for (i = 0; i < s->nfacts && strcmp(s->facts[i], fact); i++)
		;
	return i < s->nfacts;
}

static void look_at_row(const struct row *row)
{
	struct kl_spec *spec = shipped_spec(row->spec);
	struct kl_history *h;
	struct kl_report *r = check_text(spec, row->history, &h);
	struct kl_story *s;

	assert_int_equal(r->verdict, KL_VIOLATION);
	assert_int_equal(kl_story_tell(spec, h, &r->parts[0], &s), 0);
	assert_non_null(s);
	assert_string_equal(strstr(s->headline, ": ") + 2, row->headline);
	if (row->fact && !has_fact(s, row->fact))
		fail_msg("`%s': the first fact is `%s'", s->headline, s->facts[0]);
	kl_story_free(s);
	kl_report_free(r);
	kl_history_free(h);
	r = check_text(spec, row->twin, &h);
	if (r->verdict != KL_LINEARIZABLE)
		fail_msg("%s: %s", kl_verdict_name(r->verdict), row->twin);
	kl_report_free(r);
	kl_history_free(h);
	kl_spec_free(spec);
}

static void test_sentences(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++)
		look_at_row(&(struct row){ table[i].spec, table[i].history, table[i].twin,
					   table[i].headline, table[i].fact });
	for (i = 0; i < sizeof(by_orders) / sizeof(*by_orders); i++)
		look_at_row(&by_orders[i]);
}

/*
 * Stores of two threads to different words come together in memory, although no operation left
 * these words together.  So the first read is right, and the second one is wrong.
 */
static void test_partial_stores(void **state)
{
	static const char text[] =
		"spec two {\n"
		"	word a = 0, b = 0;\n"
		"	method put_a(word v) -> word other { atomic { a = v; return b; } }\n"
		"	method put_b(word v) -> word other { atomic { b = v; return a; } }\n"
		"	method read() -> (word x, word y) { atomic { return (a, b); } }\n"
		"}\n";
	struct kl_history *h;
	struct kl_report *r;
	struct kl_story *s;
	struct kl_spec *spec;

	assert_int_equal(kl_spec_parse("two.lin", text, strlen(text), &spec), 0);
	r = check_text(spec,
		       "t1 @1 0 10 put_a 1 -> 0 drain=12\nt2 @1 1 11 put_b 2 -> 0 drain=13\n"
		       "t3 @1 20 30 read -> 1 2\nt3 @1 40 50 read -> 0 0\n",
		       &h);
	assert_int_equal(r->verdict, KL_VIOLATION);
	assert_int_equal(kl_story_tell(spec, h, &r->parts[0], &s), 0);
	assert_non_null(s);
	assert_string_not_equal(s->reason, "torn");
	assert_int_equal(s->cast[0].op, 3);
	kl_story_free(s);
	kl_report_free(r);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* A history that only the store buffer explains: with the sentence, and without it in its twin. */
static void test_waited(void **state)
{
	static const char *const histories[] = {
		"t1 @1 0 10 write 1\nt2 @1 20 30 read -> 0\n",
		"t1 @1 0 10 write 1\nt2 @1 5 30 read -> 0\n",
	};
	struct kl_spec *spec = shipped_spec("register");
	size_t i;

	for (i = 0; i < 2; i++) {
		struct kl_history *h;
		struct kl_report *r = check_text(spec, histories[i], &h);
		struct kl_waited w;

		assert_int_equal(r->verdict, KL_LINEARIZABLE);
		assert_int_equal(kl_waited_find(spec, h, &r->parts[0], &w), 0);
		if (i)
			assert_null(w.sentence);
		else
			assert_string_equal(w.sentence, "Only the store buffer explains it: in the "
					    "order that was found, t2's read() -> 0 saw x = 0 while "
					    "the store of t1's write(1) was still in the buffer");
		free(w.sentence);
		kl_report_free(r);
		kl_history_free(h);
	}
	kl_spec_free(spec);
}

static const char *const reasons[] = {
	"store_left",	  "own_store",		"went_back",	 "never_written",     "torn",
	"never_possible", "two_holders",	"not_held",	 "failed_while_free", "wrong_count",
	"changed_twice",  "exclude_each_other", "wrong_state",	 "not_there",	      "overwritten",
	"cannot_follow",  "no_order",		"written_later",
};

#define NREASONS	(sizeof(reasons) / sizeof(*reasons))

static const char *const specs[] = {
	"register",   "seqlock", "fig5",   "spinlock",	"array",
	"ping_range", "pair",	 "rwlock", "fig5_lock", "port_range",
};

#define NSPECS	(sizeof(specs) / sizeof(*specs))

static void test_casts(void **state)
{
	story_casts_test(&(struct story_casts){
		.specs = specs,
		.nspecs = NSPECS,
		.reasons = reasons,
		.nreasons = NREASONS,
		.runs = 1500,
		.max_ops = 12,
		.tso = true,
	});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_partial_stores),
		cmocka_unit_test(test_waited),
		cmocka_unit_test(test_casts),
	};

	return cmocka_run_group_tests_name("story_buffers", tests, NULL, NULL);
}
