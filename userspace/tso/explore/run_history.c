// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer: the history of a run.  A time is the number of a step, so events of one step are
 * concurrent, which allows more orders than the run does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history/spell.h"
#include "history/string_pool.h"
#include "tso/explore/explore.h"
#include "tso/machine/vm.h"

/* An operation of the run, as far as the run has come. */
struct run_op {
	uint64_t call, ret, drain;	/* steps; KL_TIME_MAX: not yet */
	struct kl_vm_event called, returned;
};

struct run_history {
	struct kl_explorer *x;
	struct kl_history *h;
	struct run_op *ops;
	size_t nops;
	kl_explore_step_fn fn;
	void *ctx;
	int err;
};

static struct run_op *find_op(struct run_history *s, unsigned int thread, bool drained)
{
	size_t i;

	for (i = 0; i < s->nops; i++) {
		struct run_op *op = &s->ops[i];

		/* Operations of a thread return, and leave the buffer, in order of their calls. */
		if (op->called.thread == thread &&
		    (drained ? op->drain : op->ret) == KL_TIME_MAX)
			return op;
	}
	return NULL;
}

static int note_event(struct run_history *s, const struct kl_vm_event *e, uint64_t step)
{
	struct run_op *op;

	if (e->kind == KL_VM_EVENT_CALL) {
		op = reallocarray(s->ops, s->nops + 1, sizeof(*op));
		if (!op)
			return -ENOMEM;
		s->ops = op;
		s->ops[s->nops++] = (struct run_op){
			.call = step, .ret = KL_TIME_MAX, .drain = KL_TIME_MAX, .called = *e,
		};
		return 0;
	}
	op = find_op(s, e->thread, e->kind == KL_VM_EVENT_FLUSH_RET);
	if (op && e->kind == KL_VM_EVENT_RET) {
		op->ret = step;
		op->returned = *e;
	} else if (op && e->kind == KL_VM_EVENT_FLUSH_RET) {
		op->drain = step;
	}
	return 0;
}

static void note_step(void *ctx, const struct kl_explore_step *step)
{
	struct run_history *s = ctx;
	unsigned int i;

	for (i = 0; i < step->nevents && !s->err; i++)
		s->err = note_event(s, &step->events[i], step->number);
	s->fn(s->ctx, step);
}

/* Convert a value of the machine.  Return: 0, -ENOMEM, -EOVERFLOW, or -ENOTSUP for a pointer. */
static int get_value(struct kl_history *h, uint64_t v, struct kl_val *out)
{
	char text[32];

	if (kl_vm_is_ptr(v))
		return -ENOTSUP;
	if (v > KL_VM_SPECIAL && v <= KL_VM_SPECIAL + KL_ABSENT) {
		*out = kl_special(v - KL_VM_SPECIAL);
		return 0;
	}
	*out = kl_word(v);
	if (!kl_vm_is_data(v))
		return 0;
	/* A letter that stands for any value; only words from KL_WORDS_FIRST on are spelled. */
	*out = kl_word(KL_WORDS_FIRST + (v - KL_VM_DATA));
	kl_vm_value(text, sizeof(text), v);
	return kl_history_spell(h, out->v, text, strlen(text));
}

static int get_values(struct kl_history *h, const struct kl_vm_event *e, struct kl_val *out)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < e->n && !ret; i++)
		ret = get_value(h, e->val[i], &out[i]);
	return ret;
}

static int add_op(struct run_history *s, const struct run_op *from, size_t i)
{
	const struct kl_vm_method *m = kl_explore_method(s->x, from->called.method);
	const int64_t method = kl_history_method(s->h, m->name, strlen(m->name));
	const int64_t thread = kl_history_thread(s->h, from->called.thread);
	const bool pending = from->ret == KL_TIME_MAX;
	const struct kl_opsig sig = {
		.method = method, .nargs = from->called.n,
		.nres = pending ? m->nresults : from->returned.n,
	};
	struct kl_val args[KL_MAX_ARGS], res[KL_MAX_ARGS];
	struct kl_op op = {
		.call = from->call, .ret = from->ret, .thread = thread, .cpu = KL_NO_CPU,
		.flags = pending ? KL_OP_PENDING : 0,
	};
	int ret;

	if (method < 0 || thread < 0)
		return method < 0 ? method : thread;
	ret = get_values(s->h, &from->called, args);
	if (!ret)
		ret = get_values(s->h, &from->returned, res);
	if (!ret)
		ret = kl_history_add(s->h, &op, &sig, args, res);
	if (!ret)
		ret = kl_history_set_points(s->h, i, KL_TIME_MAX, from->drain);
	return ret;
}

static int fill(struct run_history *s, bool sc)
{
	int64_t ret;
	size_t i;

	s->h = kl_history_new();
	if (!s->h)
		return -ENOMEM;
	s->h->clock = KL_CLOCK_SEQ;
	s->h->fresh = true;
	s->h->memory.sc = sc;
	ret = kl_history_object(s->h, 0);
	for (i = 0; i < s->nops && ret >= 0; i++)
		ret = add_op(s, &s->ops[i], i);
	return ret < 0 ? ret : kl_history_finish(s->h);
}

int kl_explore_history(struct kl_explorer *x, bool sc, kl_explore_step_fn fn, void *ctx,
		       struct kl_history **out)
{
	struct run_history s = { .x = x, .fn = fn, .ctx = ctx };
	int ret = kl_explore_run(x, note_step, &s);

	ret = ret ?: s.err ?: fill(&s, sc);
	free(s.ops);
	if (ret) {
		kl_history_free(s.h);
		s.h = NULL;
	}
	*out = s.h;
	return ret;
}
