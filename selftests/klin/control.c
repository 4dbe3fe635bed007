// SPDX-License-Identifier: GPL-2.0
/*
 * The control files of klin.ko.  Wrong settings are refused with a reason in `error' and
 * change nothing.  Random settings from several tasks at once do no harm.
 *
 * KLIN_KO is the path of the module; the test loads the module unless it is loaded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest.h"

#define DIR "/sys/kernel/debug/klin/"
#define NOISE 2000	/* number of writes of each task */

static const struct {
	const char *file, *text;
	int err;
	const char *reason;	/* a part of the text that `error' must have */
} wrong[] = {
	{ "load", "", EINVAL, "subject=NAME is missing" },
	{ "load", "\n", EINVAL, "subject=NAME is missing" },
	{ "load", "subject=", EINVAL, "subject=: expected a value" },
	{ "load", "subject=nothing", EINVAL, "subject=nothing: unknown name" },
	{ "load", "subject=seqlock subject=spin", EINVAL, "subject= is given twice" },
	{ "load", "seqlock", EINVAL, "expected name=value" },
	{ "load", "=1", EINVAL, "unknown setting ''" },
	{ "load", "subject=seqlock Mix=1", EINVAL, "Mix" },
	{ "load", "subject=seqlock threads=0", EINVAL, "threads=0: expected a number from 1 to" },
	{ "load", "subject=seqlock threads=257", EINVAL, "threads=257: expected" },
	{ "load", "subject=seqlock mix=101", EINVAL, "mix=101: expected a number from 0 to 100" },
	{ "load", "subject=seqlock mix=-1", EINVAL, "mix=-1: expected" },
	{ "load", "subject=seqlock mix=+1", EINVAL, "mix=+1: expected" },
	{ "load", "subject=seqlock mix=0x10", EINVAL, "mix=0x10: expected" },
	{ "load", "subject=seqlock mix=1x", EINVAL, "mix=1x: expected" },
	{ "load", "subject=seqlock mix=", EINVAL, "mix=: expected" },
	{ "load", "subject=seqlock seed=18446744073709551616", EINVAL, "seed=184467440737095" },
	{ "load", "subject=seqlock rate=10000001", EINVAL, "rate=10000001: expected" },
	{ "load", "subject=seqlock duration=86400001", EINVAL, "duration=86400001: expected" },
	{ "load", "subject=seqlock delay=1000001", EINVAL, "delay=1000001: expected" },
	{ "load", "subject=seqlock work=1000001", EINVAL, "work=1000001: expected" },
	{ "load", "subject=seqlock cpus=x", EINVAL, "cpus" },
	{ "load", "subject=seqlock cpus=4000", EINVAL, "cpus" },
	{ "load", "subject=seqlock cpus=1-0", EINVAL, "cpus" },
	{ "load", "subject=seqlock cpus=", EINVAL, "cpus=: expected a value" },
	{ "load", "subject=seqlock threads=4 lossless=7", EINVAL, "lossless=7: expected" },
	{ "load", "subject=seqlock threads=4 ops=3", EINVAL, "ops=3: expected" },
	{ "load", "subject=seqlock paused=2", EINVAL, "paused=2: expected" },
	{ "load", "start", EINVAL, "there is no paused load" },
	{ "rounds", "", EINVAL, "variant" },
	{ "rounds", "variant=nothing", EINVAL, "nothing" },
	{ "rounds", "variant=seqlock rounds=0", EINVAL, "rounds=0: expected" },
	{ "rounds", "variant=seqlock rounds=10000001", EINVAL, "rounds=10000001: expected" },
	{ "rounds", "variant=seqlock cpus=0", EINVAL, "cpus" },
	{ "rounds", "variant=seqlock subject=spin", EINVAL, "unknown setting 'subject'" },
	{ "ack", "x", EINVAL, "expected a number" },
	{ "ack", "", EINVAL, "expected a number" },
};

static void read_file(const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), DIR "%s", name);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : read(fd, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* Return: 0 or the error number. */
static int write_file(const char *name, const char *text, size_t len)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), DIR "%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return errno;
	if (write(fd, text, len) < 0)
		err = errno;
	close(fd);
	return err;
}

static int write_text(const char *name, const char *text)
{
	return write_file(name, text, strlen(text));
}

static bool state_is(const char *state)
{
	char status[2048];

	read_file("status", status, sizeof(status));
	return !strncmp(status, "state=", 6) && !strncmp(status + 6, state, strlen(state));
}

static bool wait_for(const char *state)
{
	int i;

	/* Give up after ten minutes. */
	for (i = 0; i < 60000 && !state_is(state); i++)
		usleep(10000);
	return state_is(state);
}

/* Check that a write is refused with @err and @reason, and that the status is unchanged. */
static bool refused(const char *file, const char *text, size_t len, int err, const char *reason)
{
	char before[2048], after[2048], said[512];
	int got;

	read_file("status", before, sizeof(before));
	got = write_file(file, text, len);
	read_file("status", after, sizeof(after));
	read_file("error", said, sizeof(said));
	said[strcspn(said, "\n")] = '\0';
	if (got == err && strstr(said, reason) && !strcmp(before, after))
		return true;
	ksft_print_msg("%s: '%s': %s, '%s'; expected %s, '%s'%s\n", file, text,
		       got ? strerror(got) : "accepted", said, strerror(err), reason,
		       strcmp(before, after) ? "; the status has changed" : "");
	return false;
}

static void test_wrong_settings(void)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		ok &= refused(wrong[i].file, wrong[i].text, strlen(wrong[i].text), wrong[i].err,
			      wrong[i].reason);
	ksft_test_result(ok, "%zu wrong settings are refused with a reason\n", ARRAY_SIZE(wrong));
}

static void test_odd_writes(void)
{
	static const char zero[] = "subject=seqlock\0mix=1";
	char large[4096];
	bool ok;

	memset(large, 'x', sizeof(large));
	ok = refused("load", zero, sizeof(zero) - 1, EINVAL, "NUL byte");
	ok &= write_file("load", large, sizeof(large)) == E2BIG;
	ok &= write_file("rounds", large, 1025) == E2BIG;
	/* the longest write that is accepted */
	ok &= refused("load", large, 1024, EINVAL, "expected name=value");
	ok &= state_is("idle");
	ksft_test_result(ok, "a zero byte and too much text are refused\n");
}

static void test_error_is_cleared(void)
{
	char said[512];
	bool ok;

	write_text("load", "subject=nothing");
	ok = !write_text("load", "subject=seqlock ops=1000") && wait_for("done");
	read_file("error", said, sizeof(said));
	ksft_test_result(ok && !said[0], "accepted settings leave the file error empty\n");
}

static void test_busy(void)
{
	bool ok = !write_text("load", "subject=spin lossless=100 paused=1") && state_is("ready");

	ok &= refused("load", "subject=tas", 11, EBUSY, "are running");
	ok &= refused("rounds", "variant=seqlock", 15, EBUSY, "are running");
	ok &= !write_text("load", "start");
	ok &= write_text("load", "start") == EINVAL;
	ok &= !write_text("ack", "50");
	ok &= !write_text("load", "stop") && wait_for("done");
	ok &= !write_text("load", "stop");
	ksft_test_result(ok, "a running load is not replaced, and can be stopped\n");
}

/* The load stays within its window after any acknowledgement. */
static void test_window(void)
{
	char status[2048];
	uint64_t ops, now = 0;
	int tries = 6000;
	const char *at;
	bool ok;

	ok = !write_text("load", "subject=seqlock threads=2 lossless=1000");
	ok &= !write_text("ack", "5000");
	/*
	 * The load has reached the end of its window when the number of operations stops growing.
	 */
	do {
		ops = now;
		usleep(100000);
		read_file("status", status, sizeof(status));
		at = strstr(status, "\nops=");
		now = at ? strtoull(at + 5, NULL, 10) : 0;
	} while (tries-- && (now < 5000 || now != ops));
	/* Each thread checks the window at least every 250 operations, and may exceed it so far. */
	ok &= ops >= 5000 && ops <= 6000 + 2 * 250;
	ok &= !write_text("ack", "18446744073709551615");
	ok &= !write_text("load", "stop") && wait_for("done");
	ksft_print_msg("%llu operations, window 1000, 5000 acknowledged\n",
		       (unsigned long long)ops);
	ksft_test_result(ok, "the load waits for its reader\n");
}

/* Write random settings, right and wrong ones. */
static void random_settings(uint32_t *rng, char *text, size_t size)
{
	static const char *const words[] = {
		"subject=seqlock", "subject=spin", "subject=tas.plain", "subject=ticket",
		"variant=seqlock", "variant=trylock_mb", "rounds=1000", "threads=3", "threads=0",
		"rate=10", "rate=100000", "duration=5", "ops=10000", "lossless=10", "lossless=1000",
		"paused=1", "mix=0", "mix=100", "delay=1000000", "drain=1", "seed=7", "cpus=0",
		"cpus=1", "cpus=0-1", "work=1000", "start", "stop", "stop", "x", "=",
		"18446744073709551615", "5",
	};
	unsigned int n = 1 + rand_r(rng) % 4;
	size_t len = 0;

	text[0] = '\0';
	while (n--)
		len += snprintf(text + len, size - len, "%s ",
				words[rand_r(rng) % ARRAY_SIZE(words)]);
	text[len - 1] = '\0';
}

static void make_noise(uint32_t seed)
{
	static const char *const written[] = { "load", "rounds", "ack" };
	static const char *const read_only[] = {
		"status", "subjects", "methods", "error", "rounds_result",
	};
	char text[256], got[64];
	int i;

	for (i = 0; i < NOISE; i++) {
		random_settings(&seed, text, sizeof(text));
		write_text(written[rand_r(&seed) % ARRAY_SIZE(written)], text);
		read_file(read_only[rand_r(&seed) % ARRAY_SIZE(read_only)], got, sizeof(got));
	}
	_exit(0);
}

static void test_noise(void)
{
	pid_t pids[3];
	bool ok = true;
	size_t i;
	int status;

	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		if (!pids[i])
			make_noise(i + 1);
	}
	for (i = 0; i < ARRAY_SIZE(pids); i++)
		ok &= pids[i] > 0 && waitpid(pids[i], &status, 0) == pids[i] && !status;
	ok &= !write_text("load", "stop");
	ok &= !write_text("load", "subject=seqlock ops=1000") && wait_for("done");
	ksft_test_result(ok, "random settings from three tasks do no harm, %d each\n", NOISE);
}

static void need_module(void)
{
	const char *ko = getenv("KLIN_KO");
	int fd;

	if (geteuid())
		ksft_exit_skip("needs root\n");
	if (!access(DIR "status", R_OK))
		return;
	if (!ko) {
		if (system("modprobe -q klin"))
			ksft_exit_skip("no module klin: set KLIN_KO to the path of klin.ko\n");
	} else {
		fd = open(ko, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
			ksft_exit_skip("%s does not load: %s\n", ko, strerror(errno));
		close(fd);
	}
	if (access(DIR "status", R_OK))
		ksft_exit_skip("no " DIR "status: is debugfs mounted?\n");
}

int main(void)
{
	ksft_print_header();
	need_module();
	ksft_set_plan(6);
	write_text("load", "stop");
	test_wrong_settings();
	test_odd_writes();
	test_error_is_cleared();
	test_busy();
	test_window();
	test_noise();
	if (syscall(SYS_delete_module, "klin", 0))
		ksft_print_msg("the module does not unload: %s\n", strerror(errno));
	ksft_finished();
}
