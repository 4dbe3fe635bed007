// SPDX-License-Identifier: GPL-2.0
/* Report klind's state to systemd, see notify.h. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "klind/notify.h"

void klind_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	socklen_t len;
	int fd;

	if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof(a.sun_path))
		return;
	memcpy(a.sun_path, path, strlen(path));
	len = offsetof(struct sockaddr_un, sun_path) + strlen(path);
	/* An abstract socket: its name begins with a NUL byte. */
	if (*path == '@')
		a.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&a, len) < 0)
		kl_warn("cannot report klind's state to NOTIFY_SOCKET %s: %m", path);
	if (fd >= 0)
		close(fd);
}
