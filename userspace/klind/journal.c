// SPDX-License-Identifier: GPL-2.0
/*
 * klind's messages in systemd's journal, see journal.h.
 *
 * The journal's native protocol is stable and small (https://systemd.io/JOURNAL_NATIVE_PROTOCOL): a
 * datagram has a line NAME=VALUE for each field.  libsystemd, which speaks it, too, has no static
 * library, and the static klind of tools/bundle needs one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memstream.h"
#include "base/version.h"
#include "klind/journal.h"

/* klind.catalog has these numbers, too.  They must not change: others search for them. */
static const char *const ids[] = {
	[KLIND_START] = "d4525b9d198f4b8f8b048a9ac687fdd8",
	[KLIND_STOP] = "a9fd8c531b634f32b2b7ab6b29a493f8",
	[KLIND_VIOLATION] = "5fedbaba673d4eb4a1ed9a9e7447ddd8",
	[KLIND_UNKNOWN] = "f5e22ebce10c4ed683d8464bdf745104",
	[KLIND_LOST] = "7cdb1355f98c4b18be02da7053639db3",
	[KLIND_OVERLOAD] = "28865af934084c48832b3a0dc9e7656f",
	[KLIND_REPORT] = "52f0f10b97cb434a801ebdcae6d3fcb7",
	[KLIND_END] = "8d94d85918f14308a53fffff343d0584",
};

static const int priorities[] = {	/* see syslog(3) */
	[KL_LOG_ERR] = 3, [KL_LOG_WARN] = 4, [KL_LOG_INFO] = 6, [KL_LOG_DEBUG] = 7,
};

static struct {
	struct sockaddr_un address;
	int fd;
} journal = { .fd = -1 };

/* The fields of the message that this thread prints now, or NULL. */
static _Thread_local const struct klind_entry *entry;

/* Add a field; a value of several lines follows its length, as little-endian 64 bits. */
static void add_field(FILE *f, const char *name, const char *value)
{
	uint64_t len = value ? strlen(value) : 0;

	if (!value)
		return;
	if (!strchr(value, '\n')) {
		fprintf(f, "%s=%s\n", name, value);
		return;
	}
	len = htole64(len);
	fprintf(f, "%s\n", name);
	fwrite(&len, sizeof(len), 1, f);
	fprintf(f, "%s\n", value);
}

static void add_number(FILE *f, const char *name, const char *format, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), format, number);
	add_field(f, name, text);
}

static void add_entry(FILE *f, const struct klind_entry *e)
{
	add_field(f, "MESSAGE_ID", ids[e->event]);
	add_field(f, "KLIN_SPEC", e->spec);
	add_field(f, "KLIN_VERDICT", e->verdict);
	if (e->has_object)
		add_number(f, "KLIN_OBJECT", "0x%" PRIx64, e->object);
	if (e->has_key)
		add_number(f, "KLIN_KEY", "%" PRIu64, e->key);
	add_field(f, "KLIN_REASON", e->reason);
	add_field(f, "KLIN_ENGINE", e->engine);
	add_field(f, "KLIN_REPORT", e->report);
}

/* Send a message with its fields.  Return: true if the journal's socket has taken it. */
static bool send_entry(int priority, const char *line)
{
	struct iovec part;
	struct msghdr m = {
		.msg_name = &journal.address, .msg_namelen = sizeof(journal.address),
		.msg_iov = &part, .msg_iovlen = 1,
	};
	struct kl_memstream s;
	char *text = NULL;
	bool sent;

	if (journal.fd < 0 || kl_memstream_open(&s))
		return false;
	add_field(s.f, "MESSAGE", line);
	fprintf(s.f, "PRIORITY=%d\n", priority);
	add_field(s.f, "SYSLOG_IDENTIFIER", kl_log_name);
	add_field(s.f, "KLIN_VERSION", KLIN_VERSION);
	if (entry)
		add_entry(s.f, entry);
	if (kl_memstream_close(&s, &text, &part.iov_len))
		return false;
	part.iov_base = text;
	sent = sendmsg(journal.fd, &m, MSG_NOSIGNAL) >= 0;
	free(text);
	return sent;
}

/* Pass a message on to the journal, which shows klind's name before each. */
static void to_journal(enum kl_level level, const char *line)
{
	const size_t name = strlen(kl_log_name);

	if (!strncmp(line, kl_log_name, name) && !strncmp(line + name, ": ", 2))
		line += name + 2;
	if (!send_entry(priorities[level], line))
		fprintf(stderr, "<%d>%s\n", priorities[level], line);
}

static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uint64_t dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%" SCNu64 ":%" SCNu64, &dev, &ino) == 2 &&
	       !fstat(fd, &st) && st.st_dev == dev && st.st_ino == ino;
}

bool klind_journal_open(const char *path)
{
	if (!is_journal(STDERR_FILENO))
		return false;
	journal.address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(journal.address.sun_path, sizeof(journal.address.sun_path), "%s", path);
	journal.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	kl_log_sink = to_journal;
	return true;
}

void klind_journal_close(void)
{
	if (journal.fd >= 0)
		close(journal.fd);
	journal.fd = -1;
}

void klind_log(enum kl_level level, const struct klind_entry *e, const char *fmt, ...)
{
	char text[2000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	entry = e;
	if (level == KL_LOG_ERR)
		kl_err("%s", text);
	else if (level == KL_LOG_WARN)
		kl_warn("%s", text);
	else
		kl_info("%s", text);
	entry = NULL;
}
