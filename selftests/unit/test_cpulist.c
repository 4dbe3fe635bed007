// SPDX-License-Identifier: GPL-2.0
/* Lists of CPUs: what is written is read again, and what is no list is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "record/cpulist.h"

#define MAX 256

static void test_valid_lists(void **state)
{
	static const struct {
		const char *text, *printed;
		int err;
	} cases[] = {
		{ "0", "0", 0 }, { "0-3,6", "0-3,6", 0 }, { "6,0-3", "0-3,6", 0 },
		{ "1,2,3", "1-3", 0 }, { "0-255", "0-255", 0 }, { "63-64\n", "63-64", 0 },
		{ "", "", 0 }, { "\n", "", 0 }, { "7,7", "7", 0 },
		{ "256", "", -ERANGE }, { "0-256", "", -ERANGE }, { "3-1", NULL, -EINVAL },
		{ "1,", NULL, -EINVAL }, { ",1", NULL, -EINVAL }, { "1-", NULL, -EINVAL },
		{ "-1", NULL, -EINVAL }, { "a", NULL, -EINVAL }, { "1 2", NULL, -EINVAL },
		{ "1\n2", NULL, -EINVAL }, { "99999999999999999999", NULL, -EINVAL },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t cpus[MAX / 64] = { 0 };
		char *printed;
		size_t size;
		FILE *f;

		assert_int_equal(kl_cpulist_parse(cases[i].text, cpus, MAX), cases[i].err);
		if (cases[i].err)
			continue;
		f = open_memstream(&printed, &size);
		assert_non_null(f);
		kl_cpulist_print(cpus, MAX, f);
		assert_int_equal(fclose(f), 0);
		assert_string_equal(printed, cases[i].printed);
		free(printed);
	}
}

/* A kernel pads this where it may have eight CPUs and more. */
static void test_invalid_lists(void **state)
{
	assert_true(kl_cpulist_none("(null)\n"));
	assert_true(kl_cpulist_none("  (null)\n"));
	assert_false(kl_cpulist_none("1\n"));
	assert_false(kl_cpulist_none("\n"));
	assert_false(kl_cpulist_none(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid_lists),
		cmocka_unit_test(test_invalid_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
