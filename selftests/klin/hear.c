// SPDX-License-Identifier: GPL-2.0
/*
 * Takes the place of systemd's journal for klind.sh: prints each datagram that comes to a unix
 * socket, and an empty line after it, until it is killed.
 *
 *   hear PATH
 */
#include <error.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char buf[65536];
	ssize_t n;
	int fd;

	if (argc != 2 || strlen(argv[1]) >= sizeof(a.sun_path))
		error(2, 0, "expected the path of a socket");
	strcpy(a.sun_path, argv[1]);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)))
		error(1, errno, "%s", argv[1]);
	while ((n = recv(fd, buf, sizeof(buf) - 1, 0)) >= 0) {
		buf[n++] = '\n';
		if (write(STDOUT_FILENO, buf, n) != n)
			break;
	}
	error(1, errno, "%s", argv[1]);
	return 1;
}
