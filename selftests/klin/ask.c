// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the data that a unix socket sends, for klind.sh.  Replaces tools that a guest lacks.
 *
 *   ask PATH [REQUEST]
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
	char buf[4096];
	ssize_t n;
	int fd;

	if (argc < 2 || argc > 3 || strlen(argv[1]) >= sizeof(a.sun_path))
		error(2, 0, "expected the path of a socket, and maybe what to send");
	strcpy(a.sun_path, argv[1]);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof(a)))
		error(1, errno, "%s", argv[1]);
	if (argc > 2 && write(fd, argv[2], strlen(argv[2])) != (ssize_t)strlen(argv[2]))
		error(1, errno, "%s", argv[1]);
	shutdown(fd, SHUT_WR);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, n, stdout);
	if (n < 0)
		error(1, errno, "%s", argv[1]);
	return fflush(stdout) ? 1 : 0;
}
