// SPDX-License-Identifier: GPL-2.0
/*
 * A load on the kernel's range of local ports.  Some processes write the range through its
 * sysctl.  Others read it, through the sysctl and by letting the kernel choose a port.  Ranges
 * are unique for a long time, and two successive ranges differ in size, so that a torn pair
 * shows.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "record/load/load.h"
#include "record/record.h"

#define SYSCTL "/proc/sys/net/ipv4/ip_local_port_range"
#define LOWEST 10000
#define RANGES 22000 /* number of ranges; range n is LOWEST + n .. LOWEST + RANGES + 2 * n */
#define MAX_TASKS 64

/* Shared with the children. */
struct shared {
	_Atomic uint64_t n; /* number of ranges that writers have taken */
	_Atomic bool go, stop;
	uint64_t writes[MAX_TASKS], reads[MAX_TASKS], binds[MAX_TASKS];
};

struct port_load {
	struct kl_load load;
	uint64_t readers, writers, seconds, ops, rate, until;
	struct shared *shared;
	pid_t children[MAX_TASKS];
	unsigned int nchildren;
	char original[64];
};

static bool running(struct shared *s)
{
	return !atomic_load_explicit(&s->stop, memory_order_relaxed);
}

static int write_next(int fd, struct shared *s)
{
	char text[32];
	int i, n;

	i = atomic_fetch_add_explicit(&s->n, 1, memory_order_relaxed) % RANGES;
	n = snprintf(text, sizeof(text), "%d %d\n", LOWEST + i,
		     LOWEST + RANGES + (2 * i) % (65536 - LOWEST - RANGES));
	return pwrite(fd, text, n, 0) == n ? 0 : -errno;
}

static int writer(const struct port_load *l, unsigned int i)
{
	uint64_t gap = l->rate ? 1000000000ULL / l->rate : 0, due = kl_now_ns();
	int fd = open(SYSCTL, O_WRONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;
	struct shared *s = l->shared;

	while (!err && running(s)) {
		err = write_next(fd, s);
		s->writes[i]++;
		if (!gap)
			continue;
		due += gap;
		if (due > kl_now_ns())
			usleep((due - kl_now_ns()) / 1000);
	}
	return err;
}

/* Bind a socket without a port: the kernel reads the range when it chooses one. */
static int choose_port(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) && errno != EADDRINUSE)
		err = -errno;
	close(fd);
	return err;
}

static int reader(const struct port_load *l, unsigned int i)
{
	int fd = open(SYSCTL, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;
	struct shared *s = l->shared;
	char text[64];

	while (!err && running(s)) {
		if (s->reads[i] % 16 == 15) {
			err = choose_port();
			s->binds[i]++;
		}
		if (pread(fd, text, sizeof(text), 0) < 0)
			err = -errno;
		s->reads[i]++;
	}
	return err;
}

static void child(const struct port_load *l, unsigned int i)
{
	int err;

	/* If klin is killed, its load ends, too. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	while (!atomic_load_explicit(&l->shared->go, memory_order_acquire) && running(l->shared))
		usleep(1000);
	err = i < l->writers ? writer(l, i) : reader(l, i);
	_exit(-err);
}

static void count(const struct port_load *l, uint64_t *writes, uint64_t *reads)
{
	unsigned int i;

	*writes = *reads = 0;
	for (i = 0; i < MAX_TASKS; i++) {
		*writes += __atomic_load_n(&l->shared->writes[i], __ATOMIC_RELAXED);
		*reads += __atomic_load_n(&l->shared->reads[i], __ATOMIC_RELAXED);
	}
}

static int port_start(struct kl_load *load)
{
	struct port_load *l = (struct port_load *)load;

	l->until = kl_now_ns() + l->seconds * 1000000000ULL;
	atomic_store_explicit(&l->shared->go, true, memory_order_release);
	return 0;
}

/* Return: true if there were at least @l->ops writes and as many reads. */
static bool did_share(const struct port_load *l)
{
	uint64_t writes, reads;

	count(l, &writes, &reads);
	return (!l->writers || writes >= l->ops) && (!l->readers || reads >= l->ops);
}

static int port_done(struct kl_load *load)
{
	struct port_load *l = (struct port_load *)load;
	int status;
	pid_t pid;

	pid = waitpid(-1, &status, WNOHANG);
	if (pid > 0) {
		kl_err("user:port_range: a process of the load ended early: %s", WIFEXITED(status) ?
		       strerror(WEXITSTATUS(status)) : "it was killed");
		return WIFEXITED(status) && WEXITSTATUS(status) ? -WEXITSTATUS(status) : -EIO;
	}
	return kl_now_ns() >= l->until || (l->ops && did_share(l));
}

static int restore(const struct port_load *l)
{
	int fd = open(SYSCTL, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0 || write(fd, l->original, strlen(l->original)) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static int port_stop(struct kl_load *load)
{
	struct port_load *l = (struct port_load *)load;
	unsigned int i;
	int err;

	atomic_store(&l->shared->stop, true);
	for (i = 0; i < l->nchildren; i++)
		while (waitpid(l->children[i], NULL, 0) < 0 && errno == EINTR)
			;
	l->nchildren = 0;
	err = l->original[0] ? restore(l) : 0;
	if (err)
		kl_err("user:port_range: cannot restore " SYSCTL " to '%s': %s", l->original,
		       strerror(-err));
	l->original[0] = '\0';
	return err;
}

static void port_report(struct kl_load *load, FILE *f)
{
	struct port_load *l = (struct port_load *)load;
	uint64_t writes, reads, binds = 0;
	unsigned int i;

	count(l, &writes, &reads);
	for (i = 0; i < MAX_TASKS; i++)
		binds += l->shared->binds[i];
	fprintf(f, "port_range: %llu writes and %llu reads; %llu ports bound; %llu writers and "
		"%llu readers\n", (unsigned long long)writes, (unsigned long long)reads,
		(unsigned long long)binds, (unsigned long long)l->writers,
		(unsigned long long)l->readers);
}

static void port_free(struct kl_load *load)
{
	struct port_load *l = (struct port_load *)load;

	if (l->shared) {
		port_stop(load);
		munmap(l->shared, sizeof(*l->shared));
	}
	free(l);
}

static int read_original(struct port_load *l)
{
	int fd = open(SYSCTL, O_RDWR | O_CLOEXEC), err = fd < 0 ? -errno : 0;
	ssize_t n = err ? 0 : read(fd, l->original, sizeof(l->original) - 1);

	if (n > 0)
		l->original[n] = '\0';
	else if (!err)
		err = n ? -errno : -EIO;
	if (fd >= 0)
		close(fd);
	if (err)
		kl_err("user:port_range: cannot read " SYSCTL ": %s", strerror(-err));
	return err;
}

static int port_open(const char *settings, struct kl_load **out);

static const struct kl_load_ops port_load = {
	.name = "user:port_range",
	.help = "processes that write and read the range of local ports, and bind ports; "
		"readers=2, writers=1, ops=0 (number of writes, and of reads; 0: no limit), "
		"seconds=5 (60 with ops), rate=0 (writes per second of each writer; 0: no limit)",
	.open = port_open, .start = port_start, .done = port_done, .stop = port_stop,
	.report = port_report, .free = port_free,
};
KL_LOAD(port_load);

static int parse(struct port_load *l, const char *settings)
{
	static const char *const names[] = { "readers", "writers", "seconds", "ops", "rate", NULL };
	int err = kl_load_check(settings, names);

	l->readers = 2;
	l->writers = 1;
	if (!err)
		err = kl_load_number(settings, "readers", 0, MAX_TASKS / 2, &l->readers);
	if (!err)
		err = kl_load_number(settings, "writers", 0, MAX_TASKS / 2, &l->writers);
	if (!err)
		err = kl_load_number(settings, "ops", 0, UINT32_MAX, &l->ops);
	l->seconds = l->ops ? 60 : 5;
	if (!err)
		err = kl_load_number(settings, "seconds", 1, 86400, &l->seconds);
	return err ? err : kl_load_number(settings, "rate", 0, 1000000, &l->rate);
}

static int port_open(const char *settings, struct kl_load **out)
{
	struct port_load *l = calloc(1, sizeof(*l));
	unsigned int i;
	int err;

	if (!l)
		return -ENOMEM;
	l->load.ops = &port_load;
	err = parse(l, settings);
	if (!err)
		err = read_original(l);
	if (err)
		goto err;
	l->shared = mmap(NULL, sizeof(*l->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->shared == MAP_FAILED) {
		l->shared = NULL;
		err = -ENOMEM;
		goto err;
	}
	for (i = 0; i < l->writers + l->readers; i++) {
		l->children[i] = fork();
		if (l->children[i] < 0) {
			err = -errno;
			kl_err("user:port_range: cannot create a process: %s", strerror(-err));
			goto err;
		}
		if (!l->children[i])
			child(l, i);
		l->nchildren++;
	}
	*out = &l->load;
	return 0;
err:
	port_free(&l->load);
	return err;
}
