// SPDX-License-Identifier: GPL-2.0
/*
 * Objects whose memory the kernel frees and uses again, for lives.sh.
 *
 * reuse N: makes N eventfds, one after the other.  Each is empty at first, which a read shows, and
 * is not when it is closed.  The kernel often gives the next one the same memory.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const long n = argc == 2 ? atol(argv[1]) : 0;
	uint64_t v;
	long i;

	for (i = 0; i < n; i++) {
		const int fd = eventfd(0, EFD_NONBLOCK);

		if (fd < 0) {
			perror("eventfd");
			return 1;
		}
		if (read(fd, &v, sizeof(v)) != -1 || errno != EAGAIN) {
			fprintf(stderr, "a new eventfd is not empty\n");
			return 1;
		}
		v = i + 1;
		if (write(fd, &v, sizeof(v)) != sizeof(v)) {
			perror("write");
			return 1;
		}
		close(fd);
	}
	return 0;
}
