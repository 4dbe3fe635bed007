// SPDX-License-Identifier: GPL-2.0
/*
 * Record a real concurrent set, as Horn & Kroening (2015, section 5.2) did:
 *
 *   record-set mutex|lockfree THREADS OPS KEYS SEED >HISTORY
 *
 * Each thread calls OPS operations with random keys below KEYS.  `mutex' is a sorted list
 * under one pthread mutex, `lockfree' the list of Harris ("A pragmatic implementation of
 * non-blocking linked-lists", DISC 2001).  Nodes come from an arena of each thread and are
 * never reused, so no address appears twice.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"

/* The lowest bit of @next is set if the node is removed. */
struct node {
	uint64_t key;
	_Atomic uintptr_t next;
};

struct op {
	uint64_t call, ret;
	uint8_t method, result;
	uint32_t key;
};

struct thread {
	pthread_t id;
	/* one node for each operation, since every one may be an addition */
	struct node *arena;
	struct op *ops;
	size_t nnodes;
	uint64_t seed;
};

enum { ADD, REMOVE, HAS };
static const char *const methods[] = { "add", "remove", "has" };

static struct node head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t go;
static unsigned long nthreads, nops, nkeys;
static bool lockfree;

static struct node *node_of(uintptr_t link)
{
	return (struct node *)(link & ~(uintptr_t)1);
}

/*
 * Return: the link to the first node with a key of at least @key; *@out receives the node, or
 * NULL.  Unlinks removed nodes on the way.
 */
static _Atomic uintptr_t *find(uint64_t key, struct node **out)
{
	_Atomic uintptr_t *link;
	struct node *n;
	uintptr_t next, seen;

again:
	link = &head.next;
	for (n = node_of(*link); n; n = node_of(next)) {
		next = n->next;
		if (next & 1) {
			seen = (uintptr_t)n;
			if (!atomic_compare_exchange_strong(link, &seen, next & ~(uintptr_t)1))
				goto again;
			continue;
		}
		if (n->key >= key)
			break;
		link = &n->next;
	}
	*out = n;
	return link;
}

static bool add(struct thread *t, uint64_t key)
{
	struct node *n = &t->arena[t->nnodes], *at;
	_Atomic uintptr_t *link;
	uintptr_t seen;

	n->key = key;
	do {
		link = find(key, &at);
		if (at && at->key == key)
			return false;
		n->next = seen = (uintptr_t)at;
	} while (!atomic_compare_exchange_strong(link, &seen, (uintptr_t)n));
	t->nnodes++;
	return true;
}

static bool remove_key(uint64_t key)
{
	struct node *n;
	uintptr_t next;

	do {
		find(key, &n);
		if (!n || n->key != key)
			return false;
		next = n->next & ~(uintptr_t)1;
	} while (!atomic_compare_exchange_strong(&n->next, &next, next | 1));
	find(key, &n);
	return true;
}

static bool has(uint64_t key)
{
	struct node *n = node_of(head.next);

	while (n && n->key < key)
		n = node_of(n->next);
	return n && n->key == key && !(n->next & 1);
}

static bool apply(struct thread *t, unsigned int method, uint64_t key)
{
	return method == ADD ? add(t, key) : method == REMOVE ? remove_key(key) : has(key);
}

/* A time stamp: earlier accesses cannot move behind it, nor later ones before it. */
static uint64_t stamp(void)
{
	struct timespec ts;

	atomic_thread_fence(memory_order_seq_cst);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	__builtin_ia32_lfence();
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void *run(void *arg)
{
	struct thread *t = arg;
	size_t i;

	pthread_barrier_wait(&go);
	for (i = 0; i < nops; i++) {
		struct op *op = &t->ops[i];

		op->method = kl_rand_below(&t->seed, 3);
		op->key = kl_rand_below(&t->seed, nkeys);
		op->call = stamp();
		if (!lockfree)
			pthread_mutex_lock(&lock);
		op->result = apply(t, op->method, op->key);
		if (!lockfree)
			pthread_mutex_unlock(&lock);
		op->ret = stamp();
	}
	return NULL;
}

/* Print by time of call, like klin's recordings. */
static void print(const struct thread *threads, size_t *done)
{
	unsigned long i, first;

	puts("# klin history 1\n# clock mono error 0\n# first init\n# memory tso");
	for (;;) {
		const struct op *op = NULL;

		for (i = 0, first = 0; i < nthreads; i++) {
			const struct op *o = &threads[i].ops[done[i]];

			if (done[i] == nops || (op && op->call <= o->call))
				continue;
			op = o;
			first = i;
		}
		if (!op)
			return;
		done[first]++;
		printf("t%lu @1 %llu %llu %s %u -> %u\n", first, (unsigned long long)op->call,
		       (unsigned long long)op->ret, methods[op->method], op->key, op->result);
	}
}

static unsigned long number(const char *name, const char *text, unsigned long max)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (!errno && end != text && !*end && *text != '-' && n && n <= max)
		return n;
	fprintf(stderr, "record-set: %s '%s': expected a number from 1 to %lu\n", name, text, max);
	exit(2);
}

int main(int argc, char **argv)
{
	struct thread *threads;
	unsigned long i, seed;
	size_t *done;
	int err = 0;

	if (argc != 6 || (strcmp(argv[1], "mutex") && strcmp(argv[1], "lockfree"))) {
		fprintf(stderr, "usage: record-set mutex|lockfree THREADS OPS KEYS SEED\n");
		return 2;
	}
	lockfree = !strcmp(argv[1], "lockfree");
	nthreads = number("THREADS", argv[2], 1024);
	nops = number("OPS", argv[3], 100000000);
	nkeys = number("KEYS", argv[4], 1 << 30);
	seed = number("SEED", argv[5], 1 << 30);
	threads = calloc(nthreads, sizeof(*threads));
	done = calloc(nthreads, sizeof(*done));
	if (!threads || !done || pthread_barrier_init(&go, NULL, nthreads))
		goto failed;
	for (i = 0; i < nthreads; i++) {
		threads[i].seed = seed * nthreads + i;
		threads[i].arena = calloc(nops, sizeof(*threads[i].arena));
		threads[i].ops = calloc(nops, sizeof(*threads[i].ops));
		if (!threads[i].arena || !threads[i].ops)
			goto failed;
	}
	for (i = 0; i < nthreads && !err; i++)
		err = pthread_create(&threads[i].id, NULL, run, &threads[i]);
	if (err)
		goto failed;
	for (i = 0; i < nthreads; i++)
		pthread_join(threads[i].id, NULL);
	print(threads, done);
	if (fflush(stdout) || ferror(stdout))
		goto failed;
	return 0;
failed:
	fprintf(stderr, "record-set: %s\n", strerror(err ? err : errno));
	return 1;
}
