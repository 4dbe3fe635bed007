// SPDX-License-Identifier: GPL-2.0
/*
 * The counts of missed probes, with a kernel and a clock that the test replaces.  A count that
 * cannot be read is one miss, and a gap until the end of the recording.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <bpf/bpf.h>
#include <cmocka.h>

#include "base/err.h"
#include "record/recorder.h"

static uint64_t now;			/* the time of the recording's clock */
static int unreadable;			/* the error of reading a count, or 0 */
static uint64_t missed;			/* the kernel's count of missed runs */
/* the same of each of three programs in turn, or NULL; number of counts that were read */
static const uint64_t *each;
static unsigned int nread;
static unsigned int warnings;

/* These functions replace libbpf's and those of the recorder's other files. */
int bpf_obj_get_info_by_fd(int fd, void *info, uint32_t *len)
{
	((struct bpf_prog_info *)info)->recursion_misses = each ? each[nread++ % 3] : missed;
	return unreadable;
}

bool kl_kprobe_profile(const struct kl_kernel *k, const char *event, uint64_t *hits,
		       uint64_t *misses)
{
	*hits = 0;
	*misses = missed;
	return !unreadable;
}

uint64_t kl_kprobe_module_misses(const struct kl_prog *p)
{
	return p->misses;
}

uint64_t kl_times_first(const struct kl_recorder *r)
{
	return now;
}

uint64_t kl_times_last(const struct kl_recorder *r)
{
	return now;
}

void kl_times_look(struct kl_recorder *r)
{
}

void kl_look_at_preemption(struct kl_recorder *r)
{
}

int kl_changes_look(struct kl_recorder *r)
{
	return 0;
}

void kl_reader_look(struct kl_recorder *r)
{
}

static void count_warnings(enum kl_level level, const char *line)
{
	warnings += level == KL_LOG_WARN;
}

/* Read the counts at @time.  Return: true if the group has a gap then, [*from, *to]. */
static bool gap_at(struct kl_recorder *r, uint64_t time, uint64_t *from, uint64_t *to)
{
	now = time;
	r->looked = 0;
	kl_losses_poll(r, false);
	r->end = time;
	kl_count_ended(r);
	return kl_missed_span(r, r->groups, from, to);
}

/* @event: the kprobe's event whose counts are read, or "" for a program of fentry */
static void check_unreadable(const char *event)
{
	struct kl_group g = { .nprogs = 2 };
	struct kl_recorder r = { .groups = &g, .ngroups = 1, .begin = 100 };
	uint64_t from, to, time;

	r.polled = r.polled_before = 100;
	r.h = kl_history_new();
	assert_non_null(r.h);
	strcpy(g.progs[0].event, event);
	strcpy(g.progs[1].event, event);
	unreadable = missed = warnings = 0;
	kl_log_sink = count_warnings;
	for (time = 200; time <= 400; time += 100)
		assert_false(gap_at(&r, time, &from, &to));
	unreadable = -EPERM;
	for (; time <= 800; time += 100) {
		assert_true(gap_at(&r, time, &from, &to));
		/* The reading before the last one that succeeded began at 300. */
		assert_int_equal(from, 300);
		assert_int_equal(to, time);
		assert_int_equal(kl_missed_by(&g, 0), 1);
		assert_int_equal(kl_missed_by(&g, 1), 1);
	}
	/* Runs that were missed meanwhile may be counted later, when nobody knows their times. */
	unreadable = 0;
	missed = 1;
	assert_true(gap_at(&r, time, &from, &to));
	assert_int_equal(from, 300);
	assert_int_equal(to, time);
	assert_int_equal(g.miss_to, time);
	assert_int_equal(kl_missed_by(&g, 1), 1);
	assert_int_equal(warnings, 1);
	/* Operations before the gap can be judged, and the floor does not stand still. */
	assert_true(kl_losses_told(&r) > 300);
	kl_log_sink = NULL;
	kl_history_free(r.h);
}

static void test_unreadable_count(void **state)
{
	check_unreadable("");
	check_unreadable("klin_1");
}

/* Misses that are counted make a gap until the reading that showed them. */
static void test_counted_misses(void **state)
{
	struct kl_group g = { .nprogs = 2 };
	struct kl_recorder r = { .groups = &g, .ngroups = 1, .begin = 100 };
	uint64_t from, to;

	r.polled = r.polled_before = 100;
	r.h = kl_history_new();
	assert_non_null(r.h);
	unreadable = missed = 0;
	assert_false(gap_at(&r, 200, &from, &to));
	assert_false(gap_at(&r, 300, &from, &to));
	missed = 2;
	assert_true(gap_at(&r, 400, &from, &to));
	assert_int_equal(from, 200);
	assert_true(gap_at(&r, 500, &from, &to));
	assert_int_equal(g.miss_to, 400);
	assert_int_equal(kl_missed_by(&g, 0), 2);
	kl_history_free(r.h);
}

/*
 * Programs that see frees: what klin_free or its twin missed alone is no miss, and this is exact.
 */
static void test_twins(void **state)
{
	static const struct {
		uint64_t missed[3], covered, unseen;
	} steps[] = {
		{ { 0, 0, 0 }, 0, 0 },
		/* Each twin missed some that the other one saw. */
		{ { 7, 9, 0 }, 7, 0 },
		{ { 20, 11, 0 }, 20, 0 },
		/* The twin saw one that is not among the misses that were read. */
		{ { 21, 11, 0 }, 22, 0 },
		/* One of three was seen by neither. */
		{ { 25, 14, 0 }, 24, 1 },
		{ { 26, 14, 0 }, 25, 1 },
		/* Misses of klin_alloc do not count. */
		{ { 26, 14, 2 }, 25, 1 },
	};
	struct klin_cpu cpus[KLIN_SIDES] = { 0 };
	struct kl_group g = { .nprogs = 3, .twins = true, .cpus = cpus };
	struct kl_recorder r = { .groups = &g, .ngroups = 1, .begin = 100, .ncpus = 1 };
	uint64_t from, to;
	size_t i;

	r.polled = r.polled_before = 100;
	r.h = kl_history_new();
	assert_non_null(r.h);
	unreadable = nread = 0;
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		const uint64_t before = g.unseen;
		bool gap;

		each = steps[i].missed;
		cpus[KLIN_AT_FREE_TWIN].covered = steps[i].covered;
		gap = gap_at(&r, 200 + 100 * i, &from, &to);
		assert_int_equal(g.unseen, steps[i].unseen);
		assert_int_equal(gap, steps[i].unseen > 0);
		assert_int_equal(kl_missed_by(&g, 0), 0);
		assert_int_equal(kl_missed_by(&g, 1), steps[i].unseen);
		if (g.unseen > before)
			assert_int_equal(to, 200 + 100 * i);
	}
	each = NULL;
	kl_history_free(r.h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unreadable_count),
		cmocka_unit_test(test_counted_misses),
		cmocka_unit_test(test_twins),
	};

	return cmocka_run_group_tests_name("losses", tests, NULL, NULL);
}
