// SPDX-License-Identifier: GPL-2.0
/*
 * klind has dropped its privileges: it can still report a violation, start threads and write files,
 * but it can start no program, open no internet socket and run no new code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "history_util.h"
#include "klind/confine.h"
#include "klind/reports.h"

#if __has_include(<seccomp.h>) && !defined(__SANITIZE_ADDRESS__)
#define FILTERED 1
#else
#define FILTERED 0
#endif

/* Run @fn in a process of its own.  Return: what it printed to standard error, then its status. */
static const char *in_child(int (*fn)(void))
{
	static char text[8192];
	FILE *f = tmpfile();
	int status;
	size_t n;
	pid_t pid;

	assert_non_null(f);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fileno(f), STDERR_FILENO);
		status = fn();
		fflush(stderr);
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 40, f);
	fclose(f);
	snprintf(text + n, 40, "status %#x", status);
	return text;
}

/* Return: true if a line of /proc/thread-self/status has this name and value. */
static bool status_is(const char *name, const char *value)
{
	FILE *f = fopen("/proc/thread-self/status", "re");
	char line[256];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		found |= !strncmp(line, name, strlen(name)) &&
			 !strncmp(line + strlen(name), ":\t", 2) &&
			 !strncmp(line + strlen(name) + 2, value, strlen(value)) &&
			 line[strlen(name) + 2 + strlen(value)] == '\n';
	if (f)
		fclose(f);
	return found;
}

static void *look(void *arg)
{
	bool *right = arg;

	*right = status_is("CapPrm", "0000000000000000") && status_is("NoNewPrivs", "1") &&
		 status_is("Seccomp", FILTERED ? "2" : "0");
	return NULL;
}

/* The thread and those that it starts have no privileges.  Return: 0 if so. */
static int drop(void)
{
	bool right[2] = { 0 };
	pthread_t t;

	if (klind_confine_prepare() || klind_confine())
		return 1;
	look(&right[0]);
	if (pthread_create(&t, NULL, look, &right[1]))
		return 2;
	pthread_join(t, NULL);
	klind_confine_free();
	return right[0] && right[1] ? 0 : 3;
}

static void test_privileges_are_dropped(void **state)
{
	assert_string_equal(in_child(drop), "status 0");
}

/* Each call fails with EPERM.  Return: 0, or the number of the first that does not. */
static int misuse(void)
{
	char *argv[] = { "true", NULL };
	void *at;
	long number;

	if (klind_confine_prepare() || klind_confine())
		return 1;
	if (fork() >= 0 || errno != EPERM)
		return 2;
	if (execv("/bin/true", argv) >= 0 || errno != EPERM)
		return 3;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM)
		return 4;
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at != MAP_FAILED || errno != EPERM)
		return 5;
	if (syscall(SYS_ptrace, 0, 0, 0, 0) >= 0 || errno != EPERM)
		return 6;
	if (syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0) >= 0 || errno != EPERM)
		return 7;
	/* The second time is not reported. */
	if (fork() >= 0)
		return 8;
	/* Nor are further numbers that no system call has. */
	for (number = 4000; number < 4003; number++)
		if (syscall(number) >= 0 || errno != EPERM)
			return 9;
	return 0;
}

static void test_denied_calls_are_reported(void **state)
{
	static const char *const calls[] = { "clone", "execve", "socket", "mmap", "ptrace", "?" };
	const char *at = FILTERED ? in_child(misuse) : "";
	char expected[80];
	size_t i;

	if (!FILTERED)
		skip();
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		snprintf(expected, sizeof(expected), "klin: warning: denied the system call %s (",
			 calls[i]);
		if (strncmp(at, expected, strlen(expected)))
			fail_msg("expected '%s' at '%s'", expected, at);
		at = strchr(at, '\n') + 1;
	}
	assert_string_equal(at, "status 0");
}

static const char wrong[] =
	"# klin history 1\n# clock mono error 0\n# first init\n# memory sc\n# spec register\n"
	"t0 @1 10 20 write 1\nt0 @1 30 40 read -> 2\n";

static unsigned int confined; /* number of calls of confine() */

static int confine(void)
{
	confined++;
	return klind_confine();
}

/* Write the report of a violation without privileges.  Return: 0 if it has all files. */
static int report(void)
{
	struct kl_spec *spec = shipped_spec("register");
	char dir[] = "/tmp/klin-test-XXXXXX", command[100];
	uint64_t written = 0, failed = 0, incomplete = 0;
	struct incident i = {
		.kind = INCIDENT_VIOLATION, .name = "reg", .spec = spec, .began = "",
		.written = &written, .failed = &failed, .incomplete = &incomplete,
	};
	struct kl_history *h;
	struct reporter *r;
	struct flight *f;

	if (kl_text_read("wrong", wrong, strlen(wrong), &h) || !mkdtemp(dir) ||
	    klind_confine_prepare() || reporter_new(dir, 10, 1 << 30, &r))
		return 1;
	reporter_drain(r);
	if (confined)
		return 5;
	reporter_confine(r, confine);
	reporter_drain(r);
	if (confined != 1)
		return 6;
	f = flight_new(spec, h, 1 << 22, 0);
	if (!f || flight_add(f, h))
		return 2;
	i.flight = flight_take(f, KL_TIME_MAX);
	i.window = flight_take(f, KL_TIME_MAX);
	if (reporter_submit(r, &i))
		return 3;
	reporter_free(r);
	flight_free(f);
	kl_history_free(h);
	kl_spec_free(spec);
	klind_confine_free();
	/* Only the reporter's thread is confined. */
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command) || written != 1 || failed || incomplete ? 4 : 0;
}

static void test_reports_are_written(void **state)
{
	assert_string_equal(in_child(report), "status 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_privileges_are_dropped),
		cmocka_unit_test(test_denied_calls_are_reported),
		cmocka_unit_test(test_reports_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
