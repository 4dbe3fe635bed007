// SPDX-License-Identifier: GPL-2.0
/* Diagrams, compared with their expected text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "history_util.h"
#include "report/diagram.h"

/* Draw the diagram of all operations of a text history. */
static char *draw(const char *text, struct kl_diagram_opts *o)
{
	uint32_t ops[KL_DIAGRAM_OPS + 10];
	struct kl_history *h;
	char *out = NULL;
	size_t n, len;
	FILE *f;

	assert_int_equal(kl_text_read("t", text, strlen(text), &h), 0);
	assert_true(h->nops <= KL_DIAGRAM_OPS + 10);
	for (n = 0; n < h->nops; n++)
		ops[n] = n;
	f = open_memstream(&out, &len);
	assert_non_null(f);
	if (o && o->utf8 == KL_DIAGRAM_AUTO)
		o->utf8 = KL_DIAGRAM_OFF;
	assert_int_equal(kl_diagram(f, h, ops, n, o), 0);
	fclose(f);
	kl_history_free(h);
	return out;
}

static void expect(const char *text, struct kl_diagram_opts *o, const char *picture)
{
	char *out = draw(text, o);

	assert_string_equal(out, picture);
	free(out);
}

#define SEQLOCK						\
	"# clock mono error 120\n# first init\n"	\
	"t3 @1 100 400 write 1 2 cpu=0 drain=900\n"	\
	"t4 @1 200 600 read -> 1 0 cpu=1\n"		\
	"t5 @1 500 - write 3 4 cpu=2\n"

static void test_longest_order(void **state)
{
	static const uint32_t order[] = { 0 };
	struct kl_diagram_bad bad = { .op = 1, .text = "half of write(1, 2)" };
	struct kl_diagram_order ord = { .ops = order, .n = 1, .state = "x1 = 1, x2 = 2" };
	struct kl_diagram_opts o = {
		.width = 80, .bad = &bad, .nbad = 1, .orders = &ord, .norders = 1,
		.why = "No order of the operations called before read() returned lets it "
			"see (1, 0).",
	};

	expect(SEQLOCK, &o,
	       "  times in ns, clock error 120 (nearer events have no order); to scale\n"
	       "\n"
	       "  t3  |-write(1, 2)-|\n"
	       "  t4       |=read() -> (1, 0)=|\n"
	       "                    ^ half of write(1, 2)\n"
	       "  t5                     |-write(3, 4)-...\n"
	       "\n"
	       "  The longest possible order:\n"
	       "    write(1, 2)\n"
	       "    then x1 = 1, x2 = 2\n"
	       "\n"
	       "  No order of the operations called before read() returned lets it see (1, 0).\n");
}

static void test_stores_utf8(void **state)
{
	static const bool stores[] = { true, false };
	struct kl_diagram_bad bad = { .op = 1 };
	struct kl_diagram_opts o = {
		.width = 80, .bad = &bad, .nbad = 1, .stores = stores, .utf8 = KL_DIAGRAM_ON,
	};

	expect(SEQLOCK, &o,
	       "  times in ns, clock error 120 (nearer events have no order); to scale\n"
	       "  ░: stores may still wait in the store buffer\n"
	       "\n"
	       "  t3 cpu0  ├─write(1, 2)─┤░░░░░░░░░░░░░░░░░░░░░░░░\n"
	       "  t4 cpu1       ┣━read() -> (1, 0)━┫\n"
	       "                         ▲ no order explains this\n"
	       "  t5 cpu2                     ├───────write(3, 4)───────┄┄┄\n");
}

/* The diagram has an unseen call, a gap, a shared bar, nested operations, and a second band. */
static void test_gap_nesting_and_bands(void **state)
{
	struct kl_diagram_opts o = { .width = 80 };

	expect("# clock seq\n# gap from 450 to 600 lost 3\n"
	       "t3 @1 100 400 write 1 2\nt3 @1 500 650 write 3 4\nt3 @1 510 520 read -> 1 2\n"
	       "t4 @1 200 600 read -> 1 2\nt4 @1 600 700 read -> 1 0\n"
	       "t5 @1 - 300 read -> 0 0\nt5 @1 800 - write 7 7\n", &o,
	       "  times are counts of one atomic counter; not to scale\n"
	       "\n"
	       "  t5   ...-read() -> (0, 0)-|\n"
	       "  t3     |----write(1, 2)-----|   |------write(3, 4)-------|\n"
	       "                                    |-read() -> (1, 2)-|\n"
	       "  t4       |--------------read() -> (1, 2)---------------|-read() -> (1, 0)-|\n"
	       "  gap                           |#########3 lost#########|\n"
	       "\n"
	       "  t5     |-write(7, 7)-...\n");
}

static void test_numbered_list(void **state)
{
	static const uint32_t order[] = { 0, 1, 2 };
	struct kl_diagram_bad bad = { .op = 3, .text = "stale" };
	struct kl_diagram_order ord = { .ops = order, .n = 3 };
	struct kl_diagram_opts o = {
		.width = 60, .bad = &bad, .nbad = 1, .orders = &ord, .norders = 1,
	};

	expect("t1003 @1 84123000100 84123000400 cas 0xffff888112345678 0xffff888112345680 "
	       "-> 1 cpu=0\n"
	       "t1004 @1 84123000200 84123000600 cas 0xffff888112345680 0xffff888112345690 "
	       "-> 1 cpu=1\n"
	       "t1005 @1 84123000300 84123000700 read -> 0xffff888112345690\n"
	       "t1005 @1 84123000700 84123000900 read -> 0xffff888112345678\n"
	       "t1003 @1 84123000950 - write 0xffff888112345678\n", &o,
	       "  times in ns, clock error 0; not to scale\n"
	       "\n"
	       "  t1003  |--1--|         |-5-...\n"
	       "  t1004    |--2--|\n"
	       "  t1005      |--3--|=4=|\n"
	       "                     ^ stale\n"
	       "\n"
	       "     thread  cpu         call       return  operation\n"
	       "  1  t1003     0  84123000100  84123000400  "
	       "cas(0xffff888112345678, 0xffff888112345680) -> 1\n"
	       "  2  t1004     1  84123000200  84123000600  "
	       "cas(0xffff888112345680, 0xffff888112345690) -> 1\n"
	       "  3  t1005     -  84123000300  84123000700  read() -> 0xffff888112345690\n"
	       "  4  t1005     -  84123000700  84123000900  read() -> 0xffff888112345678   <--\n"
	       "  5  t1003     -  84123000950            -  write(0xffff888112345678)\n"
	       "\n"
	       "  The longest possible order:\n"
	       "    1; 2; 3\n");
}

/* Operations of length zero, and several at the same time. */
static void test_zero_length_ops(void **state)
{
	struct kl_diagram_opts o = { .width = 80 };

	expect("t1 @1 5 5 lock\nt2 @1 5 5 unlock\nt1 @1 5 6 trylock -> 0\n", &o,
	       "  times in ns, clock error 0; not to scale\n"
	       "\n"
	       "  t1  |--lock()--|\n"
	       "      |-trylock() -> 0-|\n"
	       "  t2  |-unlock()-|\n");
}

/* Values spelled in UTF-8 take a column for each character; also invalid UTF-8. */
static void test_spelled_values(void **state)
{
	struct kl_diagram_bad bad = { .op = 1 };
	struct kl_diagram_opts o = { .width = 80, .bad = &bad, .nbad = 1 };
	char text[512], *out;
	int i;

	expect("# spelling 0x4000000000000000 \"é€\"\n# spelling 0x4000000000000001 \"\xe9\"\n"
	       "t1 @1 5 8 write 0x4000000000000000\nt2 @1 6 9 read -> 0x4000000000000001\n", &o,
	       "  times in ns, clock error 0; to scale\n"
	       "\n"
	       "  t1  |--write(\"é€\")--|\n"
	       "  t2       |=read() -> \"?\"=|\n"
	       "                   ^ no order explains this\n");
	/* Long spellings are cut between characters, at any end of the buffer. */
	for (i = 0; i < 4; i++) {
		int n = sprintf(text, "# spelling 0x4000000000000000 \"%.*s", i, "abc");

		while (n < 300)
			n += sprintf(text + n, "€");
		strcpy(text + n, "\"\nt1 @1 5 8 write 0x4000000000000000\n");
		out = draw(text, &o);
		assert_null(strchr(out, '?'));
		free(out);
	}
}

static void test_colours(void **state)
{
	struct kl_diagram_bad bad = { .op = 0 };
	struct kl_diagram_opts o = {
		.width = 80, .colour = KL_DIAGRAM_ON, .bad = &bad, .nbad = 1,
	};

	expect("t1 @1 5 6 m\nt2 @1 5 7 m\n", &o,
	       "  times in ns, clock error 0; to scale\n"
	       "\n"
	       "  t1  \033[1;31m|=m()=|\033[0m\n"
	       "         \033[1;31m^ no order explains this\033[0m\n"
	       "  t2  \033[36m|---\033[0mm()\033[36m----|\033[0m\n");
}

/* Times that are too near for the width, or mean nothing, have no scale. */
static void test_no_scale(void **state)
{
	struct kl_diagram_opts o = { .width = 60 };

	expect("# first init\nt1 @1 0 100 a 1\nt2 @1 200 400 b 2\n", &o,
	       "  times in ns, clock error 0; to scale\n\n"
	       "  t1  |-a(1)-|\n"
	       "  t2               |----b(2)----|\n");
	expect("# first init\nt1 @1 0 100 a 1\nt2 @1 102 4000 b 2\n", &o,
	       "  times in ns, clock error 0; not to scale\n\n"
	       "  t1  |-a(1)-|\n"
	       "  t2           |-b(2)-|\n");
	expect("# clock seq\n# first init\nt1 @1 0 100 a 1\nt2 @1 200 400 b 2\n", &o,
	       "  times are counts of one atomic counter; not to scale\n\n"
	       "  t1  |-a(1)-|\n"
	       "  t2           |-b(2)-|\n");
}

/* Operations around the others are drawn with dots, unless that leaves no scale or no room. */
static void test_around(void **state)
{
	static const char text[] = "# first init\nt1 @1 10 110 a 1\nt2 @1 60 260 b 2\n"
				   "t3 @1 61 66 c 3\n";
	static const uint32_t ops[] = { 0 }, wide[] = { 1 }, narrow[] = { 1, 2 };
	static const struct { const uint32_t *around; size_t n; const char *picture; } cases[] = {
		{ wide, 1,
		  "  times in ns, clock error 0; to scale\n"
		  "  dotted: other operations that overlap the one that is wrong\n\n"
		  "  t1  |-a(1)-|\n"
		  "  t2     |....b(2).....|\n" },
		{ narrow, 2,
		  "  times in ns, clock error 0; to scale\n\n"
		  "  t1  |-a(1)-|\n" },
	};
	struct kl_history *h;
	size_t i, len;

	assert_int_equal(kl_text_read("t", text, strlen(text), &h), 0);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct kl_diagram_opts o = {
			.width = 60, .utf8 = KL_DIAGRAM_OFF,
			.around = cases[i].around, .naround = cases[i].n,
		};
		char *out = NULL;
		FILE *f = open_memstream(&out, &len);

		assert_non_null(f);
		assert_int_equal(kl_diagram(f, h, ops, 1, &o), 0);
		fclose(f);
		assert_string_equal(out, cases[i].picture);
		free(out);
	}
	kl_history_free(h);
}

static void test_too_many_ops(void **state)
{
	struct kl_diagram_opts o = { .width = 80 };
	char text[4096], *p = text, *out;
	int i;

	for (i = 0; i < KL_DIAGRAM_OPS + 6; i++)
		p += sprintf(p, "t1 @1 %d %d m\n", 10 * i, 10 * i + 5);
	out = draw(text, &o);
	assert_non_null(strstr(out, "  the first 64 operations; 6 more are not shown\n"));
	free(out);
}

/* For random histories, no line is wider than the limit, and each label appears. */
static void test_random_width_and_labels(void **state)
{
	static const bool stores[] = { true, true, false, true };
	uint64_t seed;

	for (seed = 0; seed < 1000; seed++) {
		struct kl_history *h = history_random(seed);
		struct kl_diagram_bad bad = {
			.op = h->nops / 2, .text = "some long words of no use",
		};
		struct kl_diagram_opts o = {
			.width = 40 + seed % 90, .bad = &bad, .nbad = h->nops > 0,
			.utf8 = KL_DIAGRAM_OFF, .stores = seed & 1 ? stores : NULL,
		};
		uint32_t ops[64];
		char *out = NULL, *line, *end, label[1024];
		bool listed;
		size_t n, len;
		FILE *f = open_memstream(&out, &len);

		for (n = 0; n < h->nops && n < 20; n++)
			ops[n] = n;
		assert_int_equal(kl_diagram(f, h, ops, n, &o), 0);
		fclose(f);
		end = strstr(out, "\n\n");
		assert_non_null(end);
		listed = strstr(out, "  operation\n");
		for (line = end + 2; *line && !strstr(line, "  operation\n") == !listed;
		     line = end + 1) {
			end = strchr(line, '\n');
			/* The list of operations below the diagram may be wider. */
			if (listed && strstr(line, "  operation\n") < end)
				break;
			assert_true((size_t)(end - line) <= o.width);
		}
		while (n--) {
			kl_op_print(label, 158, h, &h->ops[n]);
			assert_non_null(strstr(out, label));
		}
		free(out);
		kl_history_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longest_order),
		cmocka_unit_test(test_stores_utf8),
		cmocka_unit_test(test_gap_nesting_and_bands),
		cmocka_unit_test(test_numbered_list),
		cmocka_unit_test(test_zero_length_ops),
		cmocka_unit_test(test_spelled_values),
		cmocka_unit_test(test_colours),
		cmocka_unit_test(test_no_scale),
		cmocka_unit_test(test_around),
		cmocka_unit_test(test_too_many_ops),
		cmocka_unit_test(test_random_width_and_labels),
	};

	return cmocka_run_group_tests_name("diagram", tests, NULL, NULL);
}
