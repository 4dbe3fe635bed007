// SPDX-License-Identifier: GPL-2.0
/*
 * klind's messages in the journal: a socket of this test takes the place of systemd's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/version.h"
#include "klind/journal.h"

static struct {
	char dir[32];
	char path[64];		/* of the socket */
	FILE *stream;		/* what the test takes for the journal's stream */
	int fd, stderr_was;
} stand_in;

/* Let standard error be a file, and JOURNAL_STREAM name it; listen in the journal's place. */
static int begin(void **state)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct stat st;
	char name[64];

	strcpy(stand_in.dir, "/tmp/klin-test-XXXXXX");
	assert_non_null(mkdtemp(stand_in.dir));
	snprintf(stand_in.path, sizeof(stand_in.path), "%s/socket", stand_in.dir);
	strcpy(a.sun_path, stand_in.path);
	stand_in.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(stand_in.fd, (struct sockaddr *)&a, sizeof(a)), 0);
	stand_in.stream = tmpfile();
	assert_non_null(stand_in.stream);
	fflush(stderr);
	stand_in.stderr_was = dup(STDERR_FILENO);
	dup2(fileno(stand_in.stream), STDERR_FILENO);
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(name, sizeof(name), "%lu:%lu", st.st_dev, st.st_ino);
	setenv("JOURNAL_STREAM", name, 1);
	kl_log_name = "klind";
	kl_log_level = KL_LOG_INFO;
	return 0;
}

static int end(void **state)
{
	klind_journal_close();
	kl_log_sink = NULL;
	kl_log_name = "klin";
	kl_log_level = KL_LOG_WARN;
	unsetenv("JOURNAL_STREAM");
	fflush(stderr);
	dup2(stand_in.stderr_was, STDERR_FILENO);
	close(stand_in.stderr_was);
	fclose(stand_in.stream);
	close(stand_in.fd);
	unlink(stand_in.path);
	return rmdir(stand_in.dir);
}

/* Return: the next datagram as text, or "none". */
static const char *heard(size_t *len)
{
	static char text[8192];
	ssize_t n = recv(stand_in.fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return "none";
	text[n] = '\0';
	if (len)
		*len = n;
	return text;
}

static const char *printed(void)
{
	static char text[4096];
	size_t n;

	fflush(stderr);
	rewind(stand_in.stream);
	n = fread(text, 1, sizeof(text) - 1, stand_in.stream);
	text[n] = '\0';
	return text;
}

static void test_messages_have_fields(void **state)
{
	const struct klind_entry e = {
		.event = KLIND_VIOLATION, .spec = "queue", .verdict = "VIOLATION",
		.reason = "no order", .engine = "fifo", .report = "/r/x", .has_object = true,
		.object = 0xffff88801234, .has_key = true, .key = 7,
	};

	assert_true(klind_journal_open(stand_in.path));
	klind_log(KL_LOG_WARN, &e, "%s: %d%%", "queue", 5);
	assert_string_equal(heard(NULL),
			    "MESSAGE=warning: queue: 5%\nPRIORITY=4\nSYSLOG_IDENTIFIER=klind\n"
			    "KLIN_VERSION=" KLIN_VERSION "\n"
			    "MESSAGE_ID=5fedbaba673d4eb4a1ed9a9e7447ddd8\nKLIN_SPEC=queue\n"
			    "KLIN_VERDICT=VIOLATION\nKLIN_OBJECT=0xffff88801234\nKLIN_KEY=7\n"
			    "KLIN_REASON=no order\nKLIN_ENGINE=fifo\nKLIN_REPORT=/r/x\n");
	/* Other messages have the fields that all have. */
	kl_err("lost");
	assert_string_equal(heard(NULL), "MESSAGE=lost\nPRIORITY=3\nSYSLOG_IDENTIFIER=klind\n"
			    "KLIN_VERSION=" KLIN_VERSION "\n");
	kl_err_at("klind.conf", 3, 0, "bad");
	assert_string_equal(heard(NULL), "MESSAGE=klind.conf:3: error: bad\nPRIORITY=3\n"
			    "SYSLOG_IDENTIFIER=klind\nKLIN_VERSION=" KLIN_VERSION "\n");
	assert_string_equal(printed(), "");
}

/* A value of several lines comes after its length, so that it can forge no field. */
static void test_lines_of_a_value(void **state)
{
	static const char expected[] = "KLIN_REASON\n\x0f\0\0\0\0\0\0\0one\nKLIN_SPEC=x\n";
	const struct klind_entry e = { .event = KLIND_UNKNOWN, .reason = "one\nKLIN_SPEC=x" };
	const char *text;
	size_t len = 0;

	assert_true(klind_journal_open(stand_in.path));
	klind_log(KL_LOG_WARN, &e, "unknown");
	text = heard(&len);
	assert_non_null(memmem(text, len, expected, sizeof(expected) - 1));
}

/* Without the socket the journal's stream gets lines that begin with a level. */
static void test_lines_without_a_socket(void **state)
{
	assert_true(klind_journal_open("/nonexistent/socket"));
	klind_log(KL_LOG_INFO, &(struct klind_entry){ .event = KLIND_STOP }, "ended");
	kl_warn("slow");
	assert_string_equal(printed(), "<6>ended\n<4>warning: slow\n");
	assert_string_equal(heard(NULL), "none");
}

/* JOURNAL_STREAM of another file, as after a redirection: plain lines. */
static void test_another_stream(void **state)
{
	setenv("JOURNAL_STREAM", "1:1", 1);
	assert_false(klind_journal_open(stand_in.path));
	kl_warn("slow");
	assert_string_equal(printed(), "klind: warning: slow\n");
	assert_string_equal(heard(NULL), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_messages_have_fields, begin, end),
		cmocka_unit_test_setup_teardown(test_lines_of_a_value, begin, end),
		cmocka_unit_test_setup_teardown(test_lines_without_a_socket, begin, end),
		cmocka_unit_test_setup_teardown(test_another_stream, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
