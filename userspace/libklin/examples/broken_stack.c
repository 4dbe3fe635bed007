// SPDX-License-Identifier: GPL-2.0
/*
 * A stack whose pop() takes the top without a compare-and-swap, so two threads can take one value.
 * This happens seldom, so the threads wait for each other where it goes wrong.
 *
 *	$ ./broken_stack
 *	What is wrong: stack @0: t0's pop() -> 2 and t1's pop() -> 2 both took 2, which
 *	  was added once.
 *	$ klin replay stack.cert
 */
#define _POSIX_C_SOURCE 200809L /* with -std=c11, for barriers */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <klin/record.h>

struct node {
	uint64_t value;
	struct node *next;
};

static struct node *_Atomic top;
static pthread_barrier_t meet;

static void push(struct node *node)
{
	node->next = atomic_load(&top);
	while (!atomic_compare_exchange_weak(&top, &node->next, node))
		;
}

static struct node *pop(void)
{
	struct node *node = atomic_load(&top);

	pthread_barrier_wait(&meet);
	if (node)
		atomic_store(&top, node->next);
	return node;
}

static struct node nodes[2] = { { .value = 1 }, { .value = 2 } };

static void work(struct klin_rec *rec, struct klin_lane *lane, unsigned int thread)
{
	const int method_push = klin_rec_method(rec, "push");
	const int method_pop = klin_rec_method(rec, "pop");
	const struct node *node;
	unsigned int i;

	for (i = 0; thread == 0 && i < 2; i++) {
		klin_call1(lane, method_push, 0, nodes[i].value);
		push(&nodes[i]);
		klin_return(lane);
	}
	pthread_barrier_wait(&meet);
	klin_call(lane, method_pop, 0);
	node = pop();
	klin_return_value(lane, node ? klin_word(node->value) : klin_empty());
}

int main(void)
{
	struct klin_rec *rec = klin_rec_open("stack", KLIN_CLOCK_ORDER, 2, 10);
	struct klin_options options = KLIN_OPTIONS;
	struct klin_history *h;
	struct klin_result *r;
	enum klin_verdict verdict;

	options.certificate = 1;
	pthread_barrier_init(&meet, NULL, 2);
	if (klin_rec_run(rec, work) || klin_rec_history(rec, &h) ||
	    klin_check(NULL, h, &options, &r)) {
		fprintf(stderr, "%s\n", klin_error());
		return 2;
	}
	klin_result_print(r, KLIN_TEXT, stdout);
	/* The proof, and the history beside it. */
	klin_result_certificate(r, "stack.cert");
	verdict = klin_result_verdict(r);
	klin_result_free(r);
	klin_history_free(h);
	klin_rec_free(rec);
	pthread_barrier_destroy(&meet);
	return verdict != KLIN_VIOLATION;
}
