// SPDX-License-Identifier: GPL-2.0
/*
 * Checks a stream of operations that is made while it is checked, and prints the cost:
 *
 *	online queue|set|pqueue|stack|register OPERATIONS [THREADS [SIZE]]
 *
 * The time is that of the check alone, without making the stream.  The memory is printed after
 * the first hundredth and at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "selftests/unit/stream.h"

#define BATCH	4096

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void on_violation(void *ctx, const struct kl_online_violation *v)
{
	fprintf(stderr, "online: violation at time %llu: %s\n", (unsigned long long)v->time,
		v->reason);
}

static int run(const struct kl_spec *spec, struct stream *s, uint64_t nops)
{
	static struct kl_online_op batch[BATCH];
	static struct kl_val vals[BATCH][2];
	const struct kl_online_opts opts = {
		.clock = KL_CLOCK_SEQ, .fresh = true, .max_shrink = 1, .violation = on_violation,
	};
	struct kl_online_stats st;
	struct kl_online *o;
	double spent = 0, start;
	uint64_t done, most = 0;
	struct rusage u, early = { 0 };
	unsigned int i, n;
	int ret = kl_online_new(spec, &opts, &o);

	for (done = 0; done < nops && !ret; done += n) {
		n = nops - done < BATCH ? nops - done : BATCH;
		for (i = 0; i < n; i++) {
			stream_next(s, &batch[i]);
			memcpy(vals[i], batch[i].vals, sizeof(vals[i]));
			batch[i].vals = vals[i];
		}
		start = cpu_seconds();
		for (i = 0; i < n && !ret; i++)
			ret = kl_online_add(o, &batch[i]);
		if (!ret)
			ret = kl_online_floor(o, stream_floor(s));
		spent += cpu_seconds() - start;
		if (!early.ru_maxrss && done >= nops / 100)
			getrusage(RUSAGE_SELF, &early);
	}
	for (i = 0; i < s->c.threads && !ret; i++)
		if (stream_pending(s, i, &batch[0]))
			ret = kl_online_add(o, &batch[0]);
	if (ret)
		return ret;
	start = cpu_seconds();
	ret = kl_online_floor(o, KL_TIME_MAX) ?: kl_online_end(o);
	spent += cpu_seconds() - start;
	kl_online_stats(o, &st);
	most = st.bytes;
	kl_online_free(o);
	getrusage(RUSAGE_SELF, &u);
	printf("%-8s %12llu operations  %s  %8.2f s  %6.2f million/s  %.1f MB resident, %.1f at "
	       "the end, %.1f kept\n", kl_spec_name(spec), (unsigned long long)st.ops,
	       kl_verdict_name(st.verdict), spent, st.ops / spent / 1e6, early.ru_maxrss / 1e3,
	       u.ru_maxrss / 1e3, most / 1e6);
	return ret;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "queue", "set", "pqueue", "stack", "register" };
	struct stream_config c = { .threads = 16, .size = 1000, .seed = 1 };
	struct kl_spec *spec;
	struct stream s;
	unsigned int i;
	uint64_t nops;
	int ret;

	for (i = 0; argc >= 3 && i < 5 && strcmp(argv[1], names[i]); i++)
		;
	nops = argc >= 3 ? strtoull(argv[2], NULL, 0) : 0;
	if (argc > 3)
		c.threads = strtoul(argv[3], NULL, 0);
	if (argc > 4)
		c.size = strtoul(argv[4], NULL, 0);
	if (argc < 3 || argc > 5 || i == 5 || !nops || !c.threads || c.threads > STREAM_THREADS ||
	    !c.size || c.size > 1u << 24) {
		fprintf(stderr, "usage: online queue|set|pqueue|stack|register OPERATIONS [THREADS "
			"(1-64) [SIZE]]\n");
		return 2;
	}
	c.type = i;
	/* By default each word is written once. */
	if (i == STREAM_REGISTER && argc < 5)
		c.size = 1;
	if (kl_spec_load(stream_spec(&c), &spec))
		return 2;
	ret = stream_init(&s, &c, spec);
	if (!ret)
		ret = run(spec, &s, nops);
	stream_free(&s);
	kl_spec_free(spec);
	if (ret)
		fprintf(stderr, "online: %s\n", strerror(-ret));
	return !!ret;
}
