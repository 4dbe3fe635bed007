// SPDX-License-Identifier: GPL-2.0
/*
 * Many tasks that write to one eventfd and stay alive, for crowd.sh.
 *
 * crowd TASKS: half of the tasks write once as they start.  After all have started, the other
 * half writes twice, and then all write once more at the same time.  Each write adds 1, and
 * the value read at the end must be the number of writes.
 */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_barrier_t all_there;
static unsigned int ntasks;
static int fd;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void add_one(void)
{
	const uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		fail("write");
}

static void *run(void *arg)
{
	const unsigned int number = (uintptr_t)arg;

	if (number < ntasks / 2)
		add_one();
	pthread_barrier_wait(&all_there);
	if (number >= ntasks / 2) {
		add_one();
		add_one();
	}
	pthread_barrier_wait(&all_there);
	add_one();
	/* Stay alive, so that no slot becomes free. */
	pthread_barrier_wait(&all_there);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t sum, expected;
	pthread_attr_t attr;
	pthread_t *tasks;
	unsigned int i;
	int err;

	ntasks = argc == 2 ? atoi(argv[1]) : 0;
	if (!ntasks)
		return 2;
	fd = eventfd(0, 0);
	tasks = calloc(ntasks, sizeof(*tasks));
	if (fd < 0 || !tasks || pthread_barrier_init(&all_there, NULL, ntasks) ||
	    pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN))
		fail("crowd");
	for (i = 0; i < ntasks; i++) {
		err = pthread_create(&tasks[i], &attr, run, (void *)(uintptr_t)i);
		if (err) {
			fprintf(stderr, "task %u: %s\n", i, strerror(err));
			return 1;
		}
	}
	for (i = 0; i < ntasks; i++)
		pthread_join(tasks[i], NULL);
	expected = ntasks / 2 + 2 * (ntasks - ntasks / 2) + ntasks;
	if (read(fd, &sum, sizeof(sum)) != sizeof(sum) || sum != expected)
		fail("read");
	printf("%llu\n", (unsigned long long)expected);
	return 0;
}
