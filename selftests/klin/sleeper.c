// SPDX-License-Identifier: GPL-2.0
/*
 * A process with threads that are asleep in the kernel while klin attaches, for settle.sh.
 *
 * sleeper mutex|unix asleep|awake FILE: it says "ready", and goes on when there is FILE.
 * Of those that are awake nothing is under way until then.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int kmsg, sockets[2];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *read_kmsg(void *unused)
{
	char buf[8192];

	if (read(kmsg, buf, sizeof(buf)) <= 0)
		fail("/proc/kmsg");
	return unused;
}

static void *receive(void *unused)
{
	uint64_t v;

	if (recv(sockets[0], &v, sizeof(v), 0) != sizeof(v))
		fail("recv");
	return unused;
}

static void say(const char *line)
{
	int fd = open("/dev/kmsg", O_WRONLY);

	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		fail("/dev/kmsg");
	close(fd);
	usleep(100000);
}

static pthread_t start(void *(*fn)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, NULL))
		fail("pthread_create");
	usleep(200000);
	return t;
}

/* The one that reads has the file's position locked; the other waits for that mutex. */
static void open_kmsg(void)
{
	struct pollfd p = { .events = POLLIN };

	p.fd = kmsg = open("/proc/kmsg", O_RDONLY);
	if (kmsg < 0)
		fail("/proc/kmsg");
	while (poll(&p, 1, 0) > 0)
		read_kmsg(NULL);
}

static void send_one(uint64_t v)
{
	if (send(sockets[1], &v, sizeof(v), 0) != sizeof(v))
		fail("send");
}

/* The one that sleeps takes the first; what it took is not there for the next. */
static void use_sockets(void)
{
	uint64_t v;

	send_one(1);
	usleep(200000);
	send_one(2);
	if (recv(sockets[0], &v, sizeof(v), MSG_DONTWAIT) != sizeof(v) || v != 2)
		fail("recv");
	if (recv(sockets[0], &v, sizeof(v), MSG_DONTWAIT) >= 0)
		fail("recv");
}

int main(int argc, char **argv)
{
	bool mutex, awake;
	pthread_t t[2];
	unsigned int i, n;

	if (argc != 4)
		return 2;
	mutex = !strcmp(argv[1], "mutex");
	awake = !strcmp(argv[2], "awake");
	n = mutex ? 2 : 1;
	if (mutex)
		open_kmsg();
	else if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets))
		fail("socketpair");
	for (i = 0; !awake && i < n; i++)
		t[i] = start(mutex ? read_kmsg : receive);
	puts("ready");
	fflush(stdout);
	while (access(argv[3], F_OK))
		usleep(10000);
	for (i = 0; awake && i < n; i++)
		t[i] = start(mutex ? read_kmsg : receive);
	if (mutex) {
		say("klin: one for the first reader\n");
		say("klin: one for the second reader\n");
	} else {
		use_sockets();
	}
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
