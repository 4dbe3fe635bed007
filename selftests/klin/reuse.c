// SPDX-License-Identifier: GPL-2.0
/*
 * Objects whose memory the kernel frees, for lives.sh.
 *
 * reuse eventfd N: makes N eventfds, one after the other.  Each is empty at first, which a read
 * shows, and is not when it is closed.  The kernel often gives the next one the same memory.
 *
 * reuse acl N FILE: gives FILE N access control lists, one after the other.  The kernel frees them
 * many at once, after a grace period.  Then the same again, a few times, in the same memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/posix_acl_xattr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SHRINKS	20	/* how often the kernel is asked to free what it can */
#define ROUNDS 4 /* of access control lists, with SHRINKS before each but the first */

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int eventfds(long n)
{
	uint64_t v;
	long i;

	for (i = 0; i < n; i++) {
		const int fd = eventfd(0, EFD_NONBLOCK);

		if (fd < 0)
			return fail("eventfd");
		if (read(fd, &v, sizeof(v)) != -1 || errno != EAGAIN) {
			fprintf(stderr, "a new eventfd is not empty\n");
			return 1;
		}
		v = i + 1;
		if (write(fd, &v, sizeof(v)) != sizeof(v))
			return fail("write");
		close(fd);
	}
	return 0;
}

/* Let the kernel free what waits for a grace period. */
static int shrink(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY), i;

	if (fd < 0)
		return fail("drop_caches");
	for (i = 0; i < SHRINKS; i++) {
		if (write(fd, "2", 1) != 1)
			return fail("drop_caches");
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0);
	}
	close(fd);
	return 0;
}

static int set_acls(long n, const char *file)
{
	/* Owner, a user by number, group, mask, others. */
	struct {
		struct posix_acl_xattr_header h;
		struct posix_acl_xattr_entry e[5];
	} acl = {
		.h = { POSIX_ACL_XATTR_VERSION },
		.e = {
			{ 0x01, 6, -1 }, { 0x02, 4, 0 }, { 0x04, 4, -1 }, { 0x10, 6, -1 },
			{ 0x20, 4, -1 },
		},
	};
	long i;

	for (i = 0; i < n; i++) {
		acl.e[1].e_id = 1000 + i;
		if (setxattr(file, "system.posix_acl_access", &acl, sizeof(acl), 0))
			return fail(file);
	}
	return 0;
}

static int acls(long n, const char *file)
{
	int err = set_acls(n, file), i;

	for (i = 1; i < ROUNDS && !err; i++)
		err = shrink() || set_acls(n, file);
	return err;
}

int main(int argc, char **argv)
{
	const long n = argc >= 3 ? atol(argv[2]) : 0;

	if (argc == 3 && !strcmp(argv[1], "eventfd"))
		return eventfds(n);
	if (argc == 4 && !strcmp(argv[1], "acl"))
		return acls(n, argv[3]);
	fprintf(stderr, "usage: reuse eventfd N | reuse acl N FILE\n");
	return 1;
}
