// SPDX-License-Identifier: GPL-2.0
/*
 * Check that an order keeps the order of each thread.  Inside the clock's error, and at equal
 * times, events do not show the order of a thread; see kl_op_before().
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/table.h"
#include "check/loglinear/loglinear.h"

/* The operations of one thread on one CPU, whose order is known. */
struct line {
	uint64_t latest;	/* the latest call so far */
	uint64_t lasting;	/* the same for operations whose call is before their return */
	uint32_t thread;
	uint16_t cpu;
};

struct lines {
	struct line *line;
	size_t n, cap;
	struct kl_table table;	/* by thread and CPU */
};

/* The line of an operation, made if it is new; NULL without memory. */
static struct line *find_line(struct lines *t, const struct kl_op *op)
{
	const uint32_t hash = kl_mix(op->thread, op->cpu);
	uint32_t i;
	size_t at;

	kl_table_for_each(&t->table, hash, at, i)
		if (t->line[i].thread == op->thread && t->line[i].cpu == op->cpu)
			return &t->line[i];
	if (kl_grow(t->line, t->cap, t->n + 1) || kl_table_add(&t->table, hash, t->n))
		return NULL;
	t->line[t->n] = (struct line){ .thread = op->thread, .cpu = op->cpu };
	return &t->line[t->n++];
}

int ll_keeps_thread_order(const struct loglinear *m)
{
	struct lines t = { .n = 0 };
	uint32_t i;
	int ret = -ENOMEM;

	for (i = 0; i < m->norder; i++) {
		const struct kl_op *op = ll_op_of(m, m->order[i].item);
		struct line *l = find_line(&t, op);

		if (!l)
			goto free;
		if (op->ret < l->latest || (op->ret == l->lasting && op->call < op->ret))
			break;
		if (op->flags & KL_OP_NOCALL)
			continue;
		l->latest = op->call > l->latest ? op->call : l->latest;
		if (op->call < op->ret && op->call > l->lasting)
			l->lasting = op->call;
	}
	ret = i == m->norder;
free:
	free(t.line);
	kl_table_free(&t.table);
	return ret;
}
