// SPDX-License-Identifier: GPL-2.0
/*
 * The measured program of tools/bench-record.  One thread on CPU 0 calls a function of the
 * kernel very often, while the parent records it on another CPU, or on an idle CPU 0 if there
 * is no other.
 *
 *   calls eventfd|seqlock ROUNDS CALLS RESULT
 *
 * `eventfd' calls eventfd_write(), by write(2).  `seqlock' calls klin_seqlock_write() of
 * klin.ko, between two of its tracepoints, by its load.  The file RESULT receives a line:
 * nanoseconds per call in the best round and on average, the number of calls, their total
 * seconds, and the nanoseconds of CPU time that the parent used during the calls and in the
 * second after them.
 */
#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define CONTROL "/sys/kernel/debug/klin/"

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Return: the CPU time of all threads of a process, in ns. */
static uint64_t cpu_time(pid_t pid)
{
	unsigned long long ns;
	struct dirent *e;
	uint64_t sum = 0;
	char path[300];
	DIR *d;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, e->d_name);
		f = fopen(path, "r");
		if (f && fscanf(f, "%llu", &ns) == 1)
			sum += ns;
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return sum;
}

static uint64_t eventfd_round(uint64_t calls)
{
	uint64_t one = 1, start, i;
	int fd = eventfd(0, EFD_NONBLOCK);

	if (fd < 0)
		error(1, errno, "eventfd");
	start = now();
	for (i = 0; i < calls; i++)
		if (write(fd, &one, sizeof(one)) != sizeof(one))
			error(1, errno, "eventfd: write");
	start = now() - start;
	close(fd);
	return start;
}

/* Get the value of @name in klin.ko's status. */
static void status(const char *name, char *value, size_t size)
{
	FILE *f = fopen(CONTROL "status", "r");
	size_t len = strlen(name);
	char line[256];

	value[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, name, len) && line[len] == '=')
			snprintf(value, size, "%s", line + len + 1);
	}
	if (f)
		fclose(f);
}

static uint64_t seqlock_round(uint64_t calls)
{
	FILE *f = fopen(CONTROL "load", "w");
	char value[64];

	if (!f)
		error(1, errno, CONTROL "load");
	fprintf(f, "subject=seqlock threads=1 cpus=0 mix=0 delay=0 ops=%llu",
		(unsigned long long)calls);
	if (fclose(f))
		error(1, errno, CONTROL "load");
	do {
		usleep(5000);
		status("state", value, sizeof(value));
	} while (!strcmp(value, "running"));
	status("ns", value, sizeof(value));
	return strtoull(value, NULL, 10);
}

int main(int argc, char **argv)
{
	uint64_t best = UINT64_MAX, total = 0, reader, rounds, calls, i, ns;
	const struct sched_param none = { 0 };
	pid_t parent = getppid();
	cpu_set_t cpu;
	FILE *f;

	if (argc != 5 || (strcmp(argv[1], "eventfd") && strcmp(argv[1], "seqlock")))
		error(2, 0, "expected: eventfd|seqlock ROUNDS CALLS RESULT");
	rounds = strtoull(argv[2], NULL, 10);
	calls = strtoull(argv[3], NULL, 10);
	if (!rounds || !calls)
		error(2, 0, "expected numbers of rounds and calls, 1 or more");
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu))
		error(1, errno, "CPU 0");
	/*
	 * This process may have inherited the idle policy that an earlier run set for the parent.
	 */
	if (sysconf(_SC_NPROCESSORS_ONLN) == 1 &&
	    (sched_setscheduler(parent, SCHED_IDLE, &none) ||
	     sched_setscheduler(0, SCHED_OTHER, &none)))
		error(1, errno, "priority");
	reader = cpu_time(parent);
	for (i = 0; i < rounds; i++) {
		ns = argv[1][0] == 'e' ? eventfd_round(calls) : seqlock_round(calls);
		total += ns;
		if (ns < best)
			best = ns;
		usleep(200000);	/* lets the reader run */
	}
	sleep(1);
	reader = cpu_time(parent) - reader;
	f = fopen(argv[4], "w");
	if (!f)
		error(1, errno, "%s", argv[4]);
	fprintf(f, "%.1f %.1f %llu %.3f %llu\n", (double)best / calls,
		(double)total / (rounds * calls), (unsigned long long)(rounds * calls), total / 1e9,
		(unsigned long long)reader);
	if (fclose(f))
		error(1, errno, "%s", argv[4]);
	return 0;
}
