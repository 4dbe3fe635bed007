// SPDX-License-Identifier: GPL-2.0
/*
 * A process with threads that are in the kernel while klin attaches, for settle.sh.
 *
 * sleeper mutex|unix|random asleep|awake FILE prints "ready" and waits until FILE exists.
 * With "asleep", threads are inside the system call before that; with "awake", none is.  The
 * thread of "random" computes instead of sleeping: in the kernel, or with "awake" in user
 * space.  The process prints "left" when no thread is inside any longer.  It makes more calls
 * after FILE is removed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PART	(2 << 20)
#define NPARTS	1000	/* enough work for the kernel until a signal comes */
#define MOMENT	1000	/* microseconds between two checks */

static int kmsg, sockets[2];
static atomic_int tid, ndone;
static volatile unsigned char part[PART];
static atomic_bool go;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *read_kmsg(void *unused)
{
	char buf[8192];

	tid = gettid();
	if (read(kmsg, buf, sizeof(buf)) <= 0)
		fail("/proc/kmsg");
	ndone++;
	return unused;
}

static void *receive(void *unused)
{
	uint64_t v;

	tid = gettid();
	if (recv(sockets[0], &v, sizeof(v), 0) != sizeof(v))
		fail("recv");
	ndone++;
	return unused;
}

/*
 * Get the last CPU nearly alone: a thread that is preempted has a stack that can be read.
 * (SCHED_FIFO would keep the kernel's threads from their work for too long.)
 */
static void have_a_cpu(void)
{
	cpu_set_t last;

	CPU_ZERO(&last);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
	if (sched_setaffinity(0, sizeof(last), &last) || setpriority(PRIO_PROCESS, 0, -20))
		fail("a CPU of its own");
}

/* Make one long call with many parts, which are all the same memory. */
static void *read_random(void *unused)
{
	struct iovec parts[NPARTS];
	int fd = open("/dev/urandom", O_RDONLY), i;

	have_a_cpu();
	for (i = 0; i < NPARTS; i++)
		parts[i] = (struct iovec){ (void *)part, PART };
	if (fd < 0 || readv(fd, parts, NPARTS) <= 0)
		fail("/dev/urandom");
	close(fd);
	return unused;
}

static void *compute(void *unused)
{
	have_a_cpu();
	part[0] = 1;
	while (!go)
		;
	return unused;
}

static void ignore(int sig)
{
	(void)sig;
}

static void say(const char *line)
{
	int fd = open("/dev/kmsg", O_WRONLY);

	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		fail("/dev/kmsg");
	close(fd);
}

/* Return: true if the thread sleeps in this system call. */
static bool is_asleep_in(pid_t thread, long call)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", thread);
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	/* For other states the text is "running". */
	return text[0] >= '0' && text[0] <= '9' && atol(text) == call;
}

/* Start a thread and wait until it sleeps in the call, or computes. */
static pthread_t start(void *(*fn)(void *), long call)
{
	pthread_t t;

	tid = 0;
	if (pthread_create(&t, NULL, fn, NULL))
		fail("pthread_create");
	while (call < 0 ? !part[0] : !tid || !is_asleep_in(tid, call))
		usleep(MOMENT);
	return t;
}

/* The reader holds the mutex of the file's position; the second thread waits for that mutex. */
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

static void wait_for_first(void)
{
	while (!ndone)
		usleep(MOMENT);
}

/* Make all threads leave. */
static void leave_kmsg(pthread_t *t)
{
	say("klin: one for the first reader\n");
	wait_for_first();
	say("klin: one for the second reader\n");
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
}

static void leave_sockets(pthread_t *t)
{
	send_one(1);
	pthread_join(t[0], NULL);
}

static void leave_random(pthread_t *t)
{
	go = true;
	pthread_kill(t[0], SIGUSR1);
	pthread_join(t[0], NULL);
}

static void use_kmsg(void)
{
	say("klin: one more\n");
	read_kmsg(NULL);
}

/* The sleeper took the first message, so a message sent now must be the only one. */
static void use_sockets(void)
{
	uint64_t v;

	send_one(2);
	if (recv(sockets[0], &v, sizeof(v), MSG_DONTWAIT) != sizeof(v) || v != 2)
		fail("recv");
	if (recv(sockets[0], &v, sizeof(v), MSG_DONTWAIT) >= 0)
		fail("recv");
}

static void use_random(void)
{
	char buf[8];
	int i, fd = open("/dev/urandom", O_RDONLY);

	for (i = 0; i < 5; i++)
		if (read(fd, buf, sizeof(buf)) != sizeof(buf))
			fail("/dev/urandom");
	close(fd);
}

static const struct {
	const char *name;
	/* for "awake": code that runs outside the kernel, or NULL */
	void *(*fn)(void *), *(*outside)(void *);
	long call;
	unsigned int n;
	void (*leave)(pthread_t *t), (*use)(void);
} kinds[] = {
	{ "mutex", read_kmsg, NULL, SYS_read, 2, leave_kmsg, use_kmsg },
	{ "unix", receive, NULL, SYS_recvfrom, 1, leave_sockets, use_sockets },
	{ "random", read_random, compute, -1, 1, leave_random, use_random },
};

int main(int argc, char **argv)
{
	const struct sigaction sa = { .sa_handler = ignore };
	unsigned int i, k;
	pthread_t t[2];
	bool awake;

	if (argc != 4)
		return 2;
	for (k = 0; strcmp(kinds[k].name, argv[1]); k++)
		if (k + 1 == sizeof(kinds) / sizeof(*kinds))
			return 2;
	awake = !strcmp(argv[2], "awake");
	sigaction(SIGUSR1, &sa, NULL);
	if (k == 0)
		open_kmsg();
	else if (k == 1 && socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets))
		fail("socketpair");
	ndone = 0;
	for (i = 0; i < kinds[k].n && (!awake || kinds[k].outside); i++)
		t[i] = start(awake ? kinds[k].outside : kinds[k].fn, kinds[k].call);
	puts("ready");
	fflush(stdout);
	while (access(argv[3], F_OK))
		usleep(MOMENT);
	for (i = 0; i < kinds[k].n && awake && !kinds[k].outside; i++)
		t[i] = start(kinds[k].fn, kinds[k].call);
	kinds[k].leave(t);
	puts("left");
	fflush(stdout);
	while (!access(argv[3], F_OK))
		usleep(MOMENT);
	kinds[k].use();
	return 0;
}
