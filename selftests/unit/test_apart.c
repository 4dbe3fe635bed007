// SPDX-License-Identifier: GPL-2.0
/* Recordings whose reads and writes meet on no object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "check/apart.h"
#include "history_util.h"

static int apart(const char *type, const char *ops)
{
	struct kl_spec *spec = shipped_spec(type);
	struct kl_history *h;
	char text[400];
	int n = snprintf(text, sizeof(text), "# klin history 1\n# spec %s\n%s", type, ops), ret;

	assert_int_equal(kl_text_read("apart", text, n, &h), 0);
	ret = kl_reads_apart(spec, h);
	kl_history_free(h);
	kl_spec_free(spec);
	return ret;
}

static void test_reads_apart(void **state)
{
	/* A probe clause of read takes another structure for the object. */
	assert_int_equal(apart("register", "t1 @1 10 20 write 1\nt2 @2 30 40 read -> 1\n"
					   "t1 @3 50 60 write 1\nt2 @2 70 80 read -> 1\n"), 1);
	/* One object that both use shows that they mean the same structure. */
	assert_int_equal(apart("register", "t1 @1 10 20 write 1\nt2 @2 30 40 read -> 1\n"
					   "t1 @1 50 60 read -> 1\n"), 0);
	assert_int_equal(apart("register", "t1 @2 10 20 read -> 1\nt2 @3 30 40 read -> 1\n"), 0);
	assert_int_equal(apart("register", "t1 @2 10 20 write 1\n"), 0);
	assert_int_equal(apart("register", ""), 0);
	/* A counter whose reads were not recorded. */
	assert_int_equal(apart("counter", "t1 @1 10 20 inc -> 0\nt1 @2 30 40 inc -> 0\n"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_apart),
	};

	return cmocka_run_group_tests_name("apart", tests, NULL, NULL);
}
