// SPDX-License-Identifier: GPL-2.0
/*
 * Replaying an order: it contradicts no "happens before", and the specification,
 * run in that order, gives the results that were seen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tso/replay_internal.h"

#define MAX_SET		4096	/* states carried along */

static bool same_machine(const struct kl_machine *a, const struct kl_machine *b)
{
	size_t i;

	if (a->in_gap != b->in_gap || a->nmem != b->nmem || a->nentries != b->nentries ||
	    a->nwrites != b->nwrites || memcmp(a->mem, b->mem, a->nmem * sizeof(*a->mem)))
		return false;
	for (i = 0; i < a->nentries; i++)
		if (a->entries[i].thread != b->entries[i].thread ||
		    a->entries[i].n != b->entries[i].n || a->entries[i].item != b->entries[i].item)
			return false;
	return !a->nwrites ||
	       !memcmp(a->writes, b->writes, a->nwrites * sizeof(*a->writes));
}

static void set_clear(struct set *s)
{
	while (s->n)
		kl_machine_free(&s->m[--s->n]);
}

/* Takes @m over. */
static int set_add(struct set *s, struct kl_machine *m)
{
	size_t i;
	int ret;

	for (i = 0; i < s->n; i++) {
		if (same_machine(&s->m[i], m)) {
			kl_machine_free(m);
			return 0;
		}
	}
	ret = s->n < MAX_SET ? kl_grow(s->m, s->cap, s->n + 1) : -E2BIG;
	if (ret) {
		kl_machine_free(m);
		return ret;
	}
	s->m[s->n++] = *m;
	return 0;
}

static int new_machine(struct kl_machine *m, const struct kl_val *mem, size_t n)
{
	int ret = kl_machine_init(m, n);

	if (!ret && n)
		memcpy(m->mem, mem, n * sizeof(*mem));
	return ret;
}

static int start(struct replay *r, bool fresh)
{
	struct kl_machine m;
	const struct kl_val *v;
	size_t len;
	int ret;

	set_clear(&r->cur);
	v = kl_run_init(r->run, fresh, &len);
	ret = v ? new_machine(&m, v, len) : -ENOMEM;
	return ret ? ret : set_add(&r->cur, &m);
}

static int on_outcome(void *ctx, const struct kl_outcome *o)
{
	struct replay *r = ctx;
	struct kl_machine m;
	int ret;

	if (!r->tso) {
		/* The state may have another size: containers grow. */
		if (r->from->in_gap) {
			ret = new_machine(&m, r->any.mem, r->any.nmem);
			m.in_gap = true;
		} else {
			ret = new_machine(&m, o->state, o->len);
		}
		return ret ? ret : set_add(&r->next, &m);
	}
	if (o->barrier && kl_machine_oldest(r->from, r->thread) >= 0)
		return 0;
	ret = new_machine(&m, r->from->mem, r->from->nmem);
	if (!ret)
		ret = kl_machine_copy(&m, r->from);
	if (!ret)
		ret = kl_machine_exec(&m, o, r->thread, r->item);
	if (ret < 0)
		return ret;
	kl_machine_canon(&m);
	return set_add(&r->next, &m);
}

static int run_op(struct replay *r, const struct token *t, const struct kl_machine *m)
{
	const struct kl_op *op = &r->h->ops[t->op];
	size_t before = r->next.n, i, k;
	int ret = kl_grow(r->view, r->cview, m->nmem + 1);

	if (ret)
		return ret;
	r->from = m;
	r->thread = op->thread;
	r->item = t->op;
	kl_machine_view(m, op->thread, r->view);
	kl_run_set_fresh(r->run, kl_machine_next_unknown(m));
	ret = kl_run_apply(r->run, r->view, m->nmem, r->map[op->method], kl_op_args(r->h, op),
			   kl_op_res(r->h, op), on_outcome, r);
	/* The order says whether an entry stayed behind. */
	for (i = k = before; r->tso && i < r->next.n; i++) {
		if ((r->next.m[i].nentries > m->nentries) == t->buffered)
			r->next.m[k++] = r->next.m[i];
		else
			kl_machine_free(&r->next.m[i]);
	}
	if (r->tso)
		r->next.n = k;
	return ret;
}

static int run_other(struct replay *r, const struct token *t, const struct kl_machine *from)
{
	struct kl_machine m;
	int64_t at;
	int ret;

	if (t->kind == TOK_FLUSH) {
		at = kl_machine_oldest(from, r->h->ops[t->op].thread);
		if (at < 0 || from->entries[at].item != t->op)
			return 0;
		ret = new_machine(&m, from->mem, from->nmem);
		if (!ret)
			ret = kl_machine_copy(&m, from);
		if (ret)
			return ret;
		kl_machine_flush(&m, r->h->ops[t->op].thread);
	} else {
		if (t->kind == TOK_LEAVE && !from->in_gap)
			return 0;
		ret = new_machine(&m, r->any.mem, r->any.nmem);
		if (!ret && r->tso)
			ret = kl_machine_copy(&m, from);
		if (ret)
			return ret;
		m.in_gap = t->kind == TOK_ENTER;
		if (r->tso)
			kl_machine_forget(&m);
	}
	kl_machine_canon(&m);
	return set_add(&r->next, &m);
}

static int run_order(struct replay *r)
{
	size_t i, k;
	int ret = start(r, r->h->fresh);

	kl_run_set_raw(r->run, r->tso);
	for (i = 0; i < r->ntok && !ret; i++) {
		const struct token *t = &r->tok[i];
		struct set swap;

		set_clear(&r->next);
		for (k = 0; k < r->cur.n && !ret; k++)
			ret = t->kind == TOK_OP ? run_op(r, t, &r->cur.m[k]) :
						  run_other(r, t, &r->cur.m[k]);
		if (!ret && !r->next.n)
			ret = t->kind == TOK_OP ?
				kl_replay_wrong(r, "the specification does not allow operation", t->op) :
				kl_replay_wrong(r, "not possible: step", i);
		swap = r->cur;
		r->cur = r->next;
		r->next = swap;
	}
	if (ret == -E2BIG)
		ret = kl_replay_bad(r, "too many states to replay this order");
	kl_run_set_raw(r->run, false);
	return ret;
}

/* From the end on: nothing may come before what happened before it. */
static int check_times(struct replay *r)
{
	uint64_t first_ret = KL_TIME_MAX;
	uint32_t first_op = 0;
	size_t i;
	int ret = 0;

	for (i = r->ntok; i-- && !ret; ) {
		const struct kl_op *op;

		if (r->tok[i].kind != TOK_OP)
			continue;
		op = &r->h->ops[r->tok[i].op];
		if ((first_ret != KL_TIME_MAX && kl_op_before(r->h, &r->h->ops[first_op], op)) ||
		    (r->thread_ret[op->thread] != KL_TIME_MAX &&
		     kl_op_before(r->h, &r->h->ops[r->thread_op[op->thread]], op)))
			ret = kl_replay_wrong(r, "out of order in time: operation", r->tok[i].op);
		if (op->ret < first_ret) {
			first_ret = op->ret;
			first_op = r->tok[i].op;
		}
		if (op->ret < r->thread_ret[op->thread]) {
			r->thread_ret[op->thread] = op->ret;
			r->thread_op[op->thread] = r->tok[i].op;
		}
	}
	for (i = 0; i < r->ntok; i++)
		if (r->tok[i].kind == TOK_OP)
			r->thread_ret[r->h->ops[r->tok[i].op].thread] = KL_TIME_MAX;
	return ret;
}

/*
 * Entries leave in time: by their drain, that is before anything executes that
 * was called after it.  From the end on, as above, with drains for returns.
 */
static int check_drains(struct replay *r)
{
	uint64_t first = KL_TIME_MAX, drain;
	size_t i;

	for (i = r->ntok; i--; ) {
		const struct token *t = &r->tok[i];
		const struct kl_op *op = &r->h->ops[t->op];

		if (t->kind == TOK_OP && first < KL_TIME_MAX - r->h->error &&
		    first + r->h->error < op->call)
			return kl_replay_wrong(r, "its writes left too late: an entry after operation", t->op);
		if (t->kind != TOK_FLUSH)
			continue;
		drain = op->drain > op->ret ? op->drain : op->ret;
		if (drain < first)
			first = drain;
	}
	return 0;
}

/*
 * A gap in the order must be one in the history: what comes before it was
 * called before the gap ended, what comes after it returned after it began.
 * (Store buffers may make a gap longer than it was recorded.)
 */
static int check_gaps(struct replay *r)
{
	size_t i, k, ngaps = 0;
	uint64_t latest_call = 0;

	for (i = 0; i < r->ntok; i++)
		ngaps += r->tok[i].kind == TOK_ENTER;
	if (!ngaps)
		return 0;
	for (i = 0; i < r->ntok; i++) {
		const struct token *t = &r->tok[i];
		bool ok = t->kind != TOK_ENTER && t->kind != TOK_LEAVE;
		uint64_t earliest = KL_TIME_MAX;

		if (t->kind == TOK_OP && r->h->ops[t->op].call > latest_call)
			latest_call = r->h->ops[t->op].call;
		if (ok)
			continue;
		for (k = i; k < r->ntok; k++)
			if (r->tok[k].kind == TOK_OP && r->h->ops[r->tok[k].op].ret < earliest)
				earliest = r->h->ops[r->tok[k].op].ret;
		for (k = 0; k < r->h->ngaps && !ok; k++) {
			const struct kl_gap *g = &r->h->gaps[k];
			uint64_t e = r->h->error;

			ok = (r->tso || g->to > KL_TIME_MAX - e || latest_call <= g->to + e) &&
			     (earliest > KL_TIME_MAX - e || earliest + e >= g->from);
		}
		if (!ok)
			return kl_replay_wrong(r, "no gap in the history for step", i);
	}
	return 0;
}

static int parse_order(struct replay *r, char *s)
{
	char *word, *save = NULL, *end;
	int ret;

	r->ntok = 0;
	for (word = strtok_r(s, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		struct token t = { 0 };
		unsigned long n;

		ret = kl_grow(r->tok, r->ctok, r->ntok + 1);
		if (ret)
			return ret;
		if (!strcmp(word, "(") || !strcmp(word, ")")) {
			t.kind = *word == '(' ? TOK_ENTER : TOK_LEAVE;
			r->tok[r->ntok++] = t;
			continue;
		}
		t.kind = *word == '~' ? TOK_FLUSH : TOK_OP;
		n = strtoul(word + (t.kind == TOK_FLUSH), &end, 10);
		t.buffered = t.kind == TOK_OP && *end == '!';
		if (end == word + (t.kind == TOK_FLUSH) || end[t.buffered] || n >= r->h->nops)
			return kl_replay_bad(r, "an order has operations' numbers, (, ) and ~");
		t.op = n;
		if (t.kind == TOK_OP) {
			if (r->part[n])
				return kl_replay_wrong(r, "twice in the orders: operation", n);
			r->part[n] = r->nparts;
		}
		r->tok[r->ntok++] = t;
	}
	return 0;
}

int kl_replay_order(struct replay *r, char *text)
{
	int ret = parse_order(r, text);

	if (!ret)
		ret = check_times(r);
	if (!ret && r->tso)
		ret = check_drains(r);
	if (!ret)
		ret = check_gaps(r);
	if (!ret)
		ret = run_order(r);
	r->out->accepted += !ret;
	return ret;
}

int kl_replay_order_init(struct replay *r)
{
	const struct kl_val *any;
	size_t len;

	r->thread_ret = malloc((r->h->nthreads + 1) * sizeof(*r->thread_ret));
	r->thread_op = calloc(r->h->nthreads + 1, sizeof(*r->thread_op));
	if (!r->thread_ret || !r->thread_op)
		return -ENOMEM;
	memset(r->thread_ret, 0xff, (r->h->nthreads + 1) * sizeof(*r->thread_ret));
	any = kl_run_init(r->run, false, &len);
	return any ? new_machine(&r->any, any, len) : -ENOMEM;
}

void kl_replay_order_free(struct replay *r)
{
	set_clear(&r->cur);
	set_clear(&r->next);
	kl_machine_free(&r->any);
	free(r->cur.m);
	free(r->next.m);
	free(r->tok);
	free(r->thread_ret);
	free(r->thread_op);
	free(r->view);
}
