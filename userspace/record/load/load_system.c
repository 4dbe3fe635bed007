// SPDX-License-Identifier: GPL-2.0
/*
 * Loads on state of the whole system: the clock, and the range of groups that may ping.  They
 * restore what they change.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "record/load/load_user.h"

static const char clock_help[] = "threads that read the monotonic clock in the kernel, while one "
				 "adjusts its rate and sets the time of day";

static struct timex kept_timex;
static struct timespec kept_offset;	/* offset of the time of day to the monotonic clock */

static struct timespec diff(struct timespec a, struct timespec b)
{
	a.tv_sec -= b.tv_sec;
	a.tv_nsec -= b.tv_nsec;
	if (a.tv_nsec < 0) {
		a.tv_nsec += 1000000000;
		a.tv_sec--;
	}
	return a;
}

static int clock_keep(void)
{
	struct timespec mono, real;

	if (adjtimex(&kept_timex) < 0 || clock_gettime(CLOCK_REALTIME, &real) ||
	    clock_gettime(CLOCK_MONOTONIC, &mono))
		return -errno;
	kept_offset = diff(real, mono);
	return 0;
}

static int set_time(int64_t ahead)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += kept_offset.tv_sec + ahead;
	t.tv_nsec += kept_offset.tv_nsec;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return clock_settime(CLOCK_REALTIME, &t) ? -errno : 0;
}

static int clock_undo(void)
{
	struct timex t = {
		.modes = ADJ_FREQUENCY | ADJ_TICK, .freq = kept_timex.freq, .tick = kept_timex.tick,
	};
	int err = set_time(0);

	return adjtimex(&t) < 0 ? -errno : err;
}

static int clock_setup(const uint64_t *number, void **priv)
{
	*priv = NULL;
	return 0;
}

static int clock_step(struct kl_user_task *t)
{
	struct timex x = { .modes = ADJ_FREQUENCY | ADJ_TICK };
	struct timespec ts;

	if (t->index)
		return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts) ? -errno : 1;
	usleep(500);
	if (kl_user_below(t, 2))
		return set_time(kl_user_below(t, 7) - 3);
	x.freq = ((int64_t)kl_user_below(t, 1000) - 500) << 16;
	x.tick = 9000 + kl_user_below(t, 2000);
	return adjtimex(&x) < 0 ? -errno : 0;
}

static const struct kl_user_kind clock_kind = {
	.name = "clock", .tasks = 4, .setup = clock_setup, .step = clock_step,
	.keep = clock_keep, .undo = clock_undo,
};
KL_USER_LOAD(clock);

#define PING_RANGE "/proc/sys/net/ipv4/ping_group_range"

static const char ping_range_help[] = "threads that set the range of groups that may ping, and "
				      "others that read it and open ping sockets";

static char kept_range[64];

static int ping_range_keep(void)
{
	int fd = open(PING_RANGE, O_RDWR | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (read(fd, kept_range, sizeof(kept_range) - 1) <= 0)
		err = -EIO;
	close(fd);
	return err;
}

static int write_range(const char *text)
{
	int fd = open(PING_RANGE, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int ping_range_undo(void)
{
	return write_range(kept_range);
}

/* The kernel checks the task's group, and no other groups, when it opens a ping socket. */
static int ping_range_prepare(const uint64_t *number)
{
	return setgroups(0, NULL) ? -errno : 0;
}

static int ping_range_setup(const uint64_t *number, void **priv)
{
	*priv = NULL;
	return 0;
}

static int ping(struct kl_user_task *t)
{
	int fd;

	/* The system call changes this thread alone, unlike setegid(). */
	if (syscall(SYS_setresgid, -1, (int)kl_user_below(t, 40000), -1))
		return -errno;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
	if (fd < 0)
		return errno == EACCES ? 1 : -errno;
	close(fd);
	return 1;
}

/* Ranges differ for a long time, so that a torn range shows. */
static int ping_range_step(struct kl_user_task *t)
{
	char text[64];
	uint64_t n;
	int fd, err;

	if (t->index % 2 == 0) {
		n = kl_user_value(t) % 20000;
		snprintf(text, sizeof(text), "%llu %llu\n", (unsigned long long)n,
			 (unsigned long long)(20000 + (7 * n) % 20000));
		err = write_range(text);
		return err ? err : 1;
	}
	if (kl_user_below(t, 2))
		return ping(t);
	fd = open(PING_RANGE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = read(fd, text, sizeof(text)) < 0 ? -errno : 1;
	close(fd);
	return err;
}

static const struct kl_user_kind ping_range_kind = {
	.name = "ping_range", .tasks = 4, .shared = true, .prepare = ping_range_prepare,
	.setup = ping_range_setup, .step = ping_range_step, .keep = ping_range_keep,
	.undo = ping_range_undo,
};
KL_USER_LOAD(ping_range);
