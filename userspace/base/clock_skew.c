// SPDX-License-Identifier: GPL-2.0
/*
 * The error of the monotonic clock between CPUs, see clock_skew.h.
 *
 * Two threads on two CPUs pass a cache line to and fro.  In each exchange the first thread reads
 * t1, then the other reads t2, then the first reads t3.  So the other clock is ahead by at least
 * t2 - t3 and at most t2 - t1.  Over many rounds this interval shrinks; the larger absolute value
 * of its ends is the error.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock_skew.h"
#include "base/err.h"
#include "base/file.h"
#include "base/now.h"

#define ROUNDS 4000
#define ALL_PAIRS 16 /* maximal number of CPUs that are compared in all pairs */
#define BUDGET_NS 200000000ULL /* time for all pairs, if exchanges are fast */
/* time for all pairs, if CPUs seldom run together, as virtual CPUs do */
#define PATIENCE_NS 3000000000ULL
#define GOOD_NS 1000

struct pair {
	_Alignas(64) _Atomic uint32_t turn; /* even: the first thread's turn; odd: the other's */
	_Alignas(64) uint64_t t2;
	_Atomic bool stop;
	int cpu;
	int err;
};

static int bind(int cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int err = 0;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(CPU_ALLOC_SIZE(cpu + 1), set);
	CPU_SET_S(cpu, CPU_ALLOC_SIZE(cpu + 1), set);
	if (sched_setaffinity(0, CPU_ALLOC_SIZE(cpu + 1), set))
		err = -errno;
	CPU_FREE(set);
	return err;
}

/* Wait for the turn, and yield now and then, since other tasks may need the CPUs. */
static bool await(struct pair *p, uint32_t parity)
{
	unsigned int n = 0;

	while ((atomic_load_explicit(&p->turn, memory_order_acquire) & 1) != parity) {
		if (atomic_load_explicit(&p->stop, memory_order_relaxed))
			return false;
		if (!(++n % 20000))
			sched_yield();
	}
	return true;
}

/* Raise the thread's priority, so that a running load disturbs it less; this may fail. */
static void go_first(bool on)
{
	struct sched_param param = { .sched_priority = on };

	sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param);
}

static void *answer(void *arg)
{
	struct pair *p = arg;

	go_first(true);
	p->err = bind(p->cpu);
	if (p->err) {
		atomic_store(&p->stop, true);
		return NULL;
	}
	while (await(p, 1)) {
		p->t2 = kl_now_ns();
		atomic_fetch_add_explicit(&p->turn, 1, memory_order_release);
	}
	return NULL;
}

/*
 * Measure the error between CPUs @a and @b, and raise *@error to it.  The measurement ends at the
 * time @until or, as long as it is not precise, at the time @patience.  The caller runs on @a
 * afterwards.
 */
static int measure(int a, int b, uint64_t until, uint64_t patience, uint64_t *error)
{
	struct pair p = { .cpu = b };
	int64_t low = -(int64_t)PATIENCE_NS, high = PATIENCE_NS;
	unsigned int i;
	pthread_t t;
	int err;

	err = bind(a);
	if (err)
		return err;
	err = -pthread_create(&t, NULL, answer, &p);
	if (err)
		return err;
	for (i = 0; i < ROUNDS || high - low > 2 * GOOD_NS; i++) {
		uint64_t t1 = kl_now_ns(), t3;

		/*
		 * An exchange during which a thread did not run is useless, so wait for better
		 * exchanges.
		 */
		if (i >= 100 && t1 > (high - low > 2 * GOOD_NS ? patience : until))
			break;
		atomic_fetch_add_explicit(&p.turn, 1, memory_order_release);
		if (!await(&p, 0))
			break;
		t3 = kl_now_ns();
		if ((int64_t)(p.t2 - t3) > low)
			low = p.t2 - t3;
		if ((int64_t)(p.t2 - t1) < high)
			high = p.t2 - t1;
	}
	atomic_store(&p.stop, true);
	pthread_join(t, NULL);
	if (p.err)
		return p.err;
	kl_debug("clock of CPU %d minus clock of CPU %d: %lld to %lld ns after %u exchanges", b, a,
		 (long long)low, (long long)high, i);
	if (high < -low)
		high = -low;
	if (high > (int64_t)*error)
		*error = high;
	return 0;
}

/*
 * List the CPUs to which the thread can move.  CPUs outside its affinity are listed, too, since
 * recorded code runs on all CPUs.  The clocks of CPUs outside its cpuset stay unknown.
 */
static unsigned int find_cpus(int *cpus, unsigned int max)
{
	unsigned int n = 0, i;

	for (i = 0; i < max; i++)
		if (!bind(i))
			cpus[n++] = i;
	return n;
}

int kl_clock_error(uint64_t *error, unsigned int *compared)
{
	uint64_t start = kl_now_ns(), spent;
	unsigned int n, i, j, pairs, done = 0;
	cpu_set_t *old;
	size_t size = CPU_ALLOC_SIZE(4096);
	int *cpus, err = 0;

	*error = 0;
	old = CPU_ALLOC(4096);
	cpus = calloc(4096, sizeof(*cpus));
	if (!old || !cpus) {
		err = -ENOMEM;
		goto out;
	}
	if (sched_getaffinity(0, size, old)) {
		err = -errno;
		goto out;
	}
	n = find_cpus(cpus, 4096);
	*compared = n;
	if (!n) {
		err = -EPERM;
		goto out;
	}
	go_first(true);
	pairs = n <= ALL_PAIRS ? n * (n - 1) / 2 : n - 1;
	for (i = 0; !err && i + 1 < n && (n <= ALL_PAIRS || !i); i++) {
		for (j = i + 1; !err && j < n; j++, done++) {
			spent = BUDGET_NS * (done + 1) / pairs;
			err = measure(cpus[i], cpus[j], start + spent,
				      start + PATIENCE_NS * (done + 1) / pairs, error);
		}
	}
	/* Two CPUs differ at most by the sum of their differences to the first CPU. */
	if (n > ALL_PAIRS)
		*error *= 2;
	sched_setaffinity(0, size, old);
	go_first(false);
out:
	CPU_FREE(old);
	free(cpus);
	return err;
}

int kl_clock_check(void)
{
	static const char path[] = "/proc/self/timens_offsets", key[] = "monotonic";
	long long seconds = 0, ns = 0;
	char *text, *at;
	size_t len;

	/* Kernels without time namespaces have no such file. */
	if (kl_read_file(path, &text, &len))
		return 0;
	at = strstr(text, key);
	if (at && sscanf(at + strlen(key), "%lld %lld", &seconds, &ns) != 2)
		seconds = ns = 0;
	free(text);
	if (!seconds && !ns)
		return 0;
	kl_err("klin runs in a time namespace, where the monotonic clock differs from the "
	       "kernel's: run klin outside");
	return -EPERM;
}

const char *kl_clock_source(char *buf, size_t size)
{
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

	snprintf(buf, size, "unknown");
	if (!f)
		return buf;
	if (fgets(buf, size, f))
		buf[strcspn(buf, "\n")] = '\0';
	fclose(f);
	return buf;
}
