// SPDX-License-Identifier: GPL-2.0
/* The order of a run's calls and returns, see run_order.h. */
#include "base/memstream.h"
#include "report/run_order.h"

void kl_run_last_add(struct kl_run_last *l, const struct kl_explore_step *step)
{
	unsigned int i;

	for (i = 0; i < step->nevents; i++) {
		const struct kl_vm_event *e = &step->events[i];

		if (e->kind == KL_VM_EVENT_CALL) {
			l->call[e->thread].method = e->method;
			l->call[e->thread].called = step->number;
			l->call[e->thread].inside = true;
		} else if (e->kind == KL_VM_EVENT_FLUSH_CALL) {
			/* Calls leave in their order, so the last one to leave is the newest. */
			l->call[e->thread].left = step->number;
			l->call[e->thread].inside = false;
		} else if (e->kind == KL_VM_EVENT_RET) {
			l->thread = e->thread;
			l->returned = true;
		}
	}
}

static void put_order(FILE *f, const struct kl_history *h, const struct kl_part_result *p)
{
	const char *before = "the calls and returns alone have an order: ";
	char text[256];
	uint32_t op;
	size_t i;

	for (i = 0; i < p->answer.nsteps; i++) {
		op = kl_result_op(p, p->answer.steps[i].item);
		if (op == KL_NO_OP || p->answer.steps[i].flags & KL_STEP_FLUSH)
			continue;
		kl_op_print(text, sizeof(text), h, &h->ops[op]);
		fprintf(f, "%s%s", before, text);
		before = ", ";
	}
}

/* The specification's step may only drain the buffer once the call is no longer in it. */
static void put_call(FILE *f, const struct kl_explorer *x, const struct kl_run_last *l)
{
	const unsigned int t = l->thread, called = l->call[t].called, left = l->call[t].left;
	const struct kl_method *m = kl_spec_method(kl_explore_spec(x), l->call[t].method);

	if (!l->returned || l->call[t].inside || left <= called || !m->barrier)
		return;
	fprintf(f, "; but the call of t%u's %s() was in T%u's store buffer from step %u to step %u, "
		"and a step of the specification that drains the buffer (atomic_flush) comes after "
		"that", t, m->name, t, called, left);
}

int kl_run_order(const struct kl_explorer *x, const struct kl_report *r,
		 const struct kl_run_last *last, char **sentence)
{
	struct kl_memstream m;
	int ret;

	*sentence = NULL;
	if (r->nparts != 1 || r->parts[0].answer.verdict != KL_LINEARIZABLE)
		return 0;
	ret = kl_memstream_open(&m);
	if (ret)
		return ret;
	put_order(m.f, r->h, &r->parts[0]);
	put_call(m.f, x, last);
	return kl_memstream_close(&m, sentence, NULL);
}
