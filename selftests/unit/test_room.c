// SPDX-License-Identifier: GPL-2.0
/* Resource limits for machines with many CPUs, tested without such a machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/resource.h>

#include "record/recorder.h"

#define GIB	(1ull << 18)	/* in pages */

/* The buffers of all CPUs fit into an eighth of the memory if possible. */
static void test_buffers_fit_an_eighth(void **state)
{
	static const struct {
		unsigned int ncpus;
		uint64_t memory;
		unsigned int pages;
	} cases[] = {
		{ 1, GIB, 1024 },
		{ 2, 2 * GIB, 1024 },
		{ 8, 2 * GIB, 1024 },
		{ 64, 2 * GIB, 1024 },
		{ 65, 2 * GIB, 512 },
		{ 256, 2 * GIB, 256 },
		{ 256, 8 * GIB, 1024 },
		{ 256, GIB / 16, 16 },
		{ 8192, 64 * GIB, 256 },
		{ 8192, GIB, 16 },
	};
	unsigned int i, ncpus;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(kl_room_pages(cases[i].ncpus, cases[i].memory), cases[i].pages);
	for (ncpus = 1; ncpus <= 8192; ncpus++) {
		const uint64_t pages = kl_room_pages(ncpus, 16 * GIB);

		assert_true(pages >= 16 && !(pages & (pages - 1)));
		assert_true(pages == 16 || pages * ncpus <= 2 * GIB);
		/* The size is not smaller than that requires. */
		assert_true(pages == 1024 || 2 * pages * ncpus > 2 * GIB);
	}
}

/* The soft limit is raised for 256 CPUs, and commands that klin runs get the old limit. */
static void test_file_limit_256_cpus(void **state)
{
	struct kl_recorder r = { .ncpus = 256, .nclauses = 10 };
	const uint64_t need = kl_room_fds(r.ncpus, r.nclauses);
	struct rlimit before, few, now;

	/* For each CPU a perf buffer, its epoll instance, a tick event and its link. */
	assert_true(need >= 4 * 256 + 10);
	assert_true(kl_room_fds(257, 10) > need && kl_room_fds(256, 11) > need);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	if (before.rlim_max < need)
		skip();
	few = (struct rlimit){ 64, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(kl_room_make(&r), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
	assert_int_equal(now.rlim_cur, need);
	assert_int_equal(now.rlim_max, before.rlim_max);
	assert_in_range(r.opts.pages, 16, 1024);
	kl_room_restore();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
	assert_int_equal(now.rlim_cur, 64);
	setrlimit(RLIMIT_NOFILE, &before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buffers_fit_an_eighth),
		cmocka_unit_test(test_file_limit_256_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
