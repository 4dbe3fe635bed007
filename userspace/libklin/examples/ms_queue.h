/* SPDX-License-Identifier: GPL-2.0 */
/* Michael and Scott's lock-free queue.  Nodes come from an array, and none is used again. */
#ifndef MS_QUEUE_H
#define MS_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MS_NODES 100000

struct ms_node {
	uint64_t value;
	struct ms_node *_Atomic next;
};

struct ms_queue {
	struct ms_node *_Atomic head, *_Atomic tail;
	atomic_uint used;
	struct ms_node nodes[MS_NODES];
};

static inline void ms_init(struct ms_queue *q)
{
	atomic_store(&q->used, 1);
	atomic_store(&q->nodes[0].next, NULL);
	atomic_store(&q->head, q->nodes);
	atomic_store(&q->tail, q->nodes);
}

static inline void ms_enq(struct ms_queue *q, uint64_t value)
{
	struct ms_node *node = &q->nodes[atomic_fetch_add(&q->used, 1)], *tail, *next;

	node->value = value;
	atomic_store(&node->next, NULL);
	for (;;) {
		tail = atomic_load(&q->tail);
		next = atomic_load(&tail->next);
		if (!next && atomic_compare_exchange_weak(&tail->next, &next, node))
			break;
		/* Help a thread that has added a node and not yet moved the tail. */
		if (next)
			atomic_compare_exchange_strong(&q->tail, &tail, next);
	}
	atomic_compare_exchange_strong(&q->tail, &tail, node);
}

/* Return: false if the queue is empty. */
static inline bool ms_deq(struct ms_queue *q, uint64_t *value)
{
	struct ms_node *head, *tail, *next;

	for (;;) {
		head = atomic_load(&q->head);
		tail = atomic_load(&q->tail);
		next = atomic_load(&head->next);
		if (head == tail && !next)
			return false;
		if (head == tail) {
			atomic_compare_exchange_strong(&q->tail, &tail, next);
			continue;
		}
		*value = next->value;
		if (atomic_compare_exchange_strong(&q->head, &head, next))
			return true;
	}
}

#endif
