// SPDX-License-Identifier: GPL-2.0
/*
 * Replaying an order: the specification, run in that order, gives the results that were seen.
 * replay_times.c checks that the order contradicts no time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "check/gaps.h"
#include "check/part.h"
#include "trusted/replay_internal.h"

#define MAX_SET		(1u << 15)	/* maximal number of states at a time */

static bool same_machine(const struct kl_machine *a, const struct kl_machine *b)
{
	size_t i;

	if (a->in_gap != b->in_gap || a->nmem != b->nmem || a->nentries != b->nentries ||
	    a->nnotes != b->nnotes || a->nwrites != b->nwrites ||
	    memcmp(a->mem, b->mem, a->nmem * sizeof(*a->mem)))
		return false;
	for (i = 0; i < a->nentries; i++)
		if (a->entries[i].thread != b->entries[i].thread ||
		    a->entries[i].n != b->entries[i].n || a->entries[i].item != b->entries[i].item)
			return false;
	return (!a->nwrites ||
		!memcmp(a->writes, b->writes, a->nwrites * sizeof(*a->writes))) &&
	       (!a->nnotes || !memcmp(a->notes, b->notes, a->nnotes * sizeof(*a->notes)));
}

static uint64_t hash_machine(const struct kl_machine *m)
{
	uint64_t h = kl_hash_words((const uint64_t *)m->mem, 2 * m->nmem, m->in_gap);

	return m->nwrites ? kl_hash_words((const uint64_t *)m->writes, 3 * m->nwrites, h) : h;
}

static void set_clear(struct set *s)
{
	while (s->n)
		kl_machine_free(&s->m[--s->n]);
}

/* Add the machine @m, whose memory the set takes over. */
static int set_add(struct set *s, struct kl_machine *m)
{
	const uint64_t hash = hash_machine(m);
	size_t i;
	int ret;

	for (i = 0; i < s->n; i++) {
		if (s->hash[i] == hash && same_machine(&s->m[i], m)) {
			kl_machine_free(m);
			return 0;
		}
	}
	ret = s->n >= MAX_SET ? -E2BIG : kl_grow(s->m, s->cap, s->n + 1) ?:
					 kl_grow(s->hash, s->chash, s->n + 1);
	if (ret) {
		kl_machine_free(m);
		return ret;
	}
	s->hash[s->n] = hash;
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
		/* Containers grow, so the state may have another size. */
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
	size_t before = r->next.n, len, i, k;
	int ret = kl_machine_view(m, op->thread, &r->view, &r->cview, &len);

	if (ret)
		return ret;
	r->from = m;
	r->thread = op->thread;
	r->item = t->op;
	kl_run_set_fresh(r->run, kl_machine_next_unknown(m));
	ret = kl_run_apply(r->run, r->view, r->tso ? len : m->nmem, r->map[kl_op_method(r->h, op)],
			   kl_op_args(r->h, op), kl_op_res(r->h, op), on_outcome, r);
	/* The order says whether an entry stays in the buffer. */
	for (i = k = before; r->tso && i < r->next.n; i++) {
		if ((r->next.m[i].nentries > m->nentries) == t->buffered) {
			r->next.hash[k] = r->next.hash[i];
			r->next.m[k++] = r->next.m[i];
		} else {
			kl_machine_free(&r->next.m[i]);
		}
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

/* Run step @i from all machines that are possible before it. */
static int run_step(struct replay *r, size_t i)
{
	const struct token *t = &r->tok[i];
	struct set swap;
	size_t k;
	int ret = 0;

	set_clear(&r->next);
	for (k = 0; k < r->cur.n && !ret; k++)
		ret = t->kind == TOK_OP ? run_op(r, t, &r->cur.m[k]) :
					  run_other(r, t, &r->cur.m[k]);
	if (!ret && !r->next.n)
		ret = t->kind == TOK_OP ?
			kl_replay_not_allowed(r, t->op) :
			kl_replay_wrong(r, "not possible: step", i);
	swap = r->cur;
	r->cur = r->next;
	r->next = swap;
	return ret;
}

/*
 * Return: true if the specification is partitioned by key (Horn & Kroening, Definition 6).  Then
 * the order is right if the order of each key's operations is right.  States of one key are small.
 */
static bool by_key(const struct replay *r)
{
	char doubt[160];
	size_t i;

	if (r->tso || kl_spec_partition(r->spec) != KL_PART_PARAM ||
	    kl_spec_partition_doubt(r->spec, doubt, sizeof(doubt)))
		return false;
	for (i = 0; i < r->ntok; i++) {
		uint64_t key;

		if (r->tok[i].kind != TOK_OP || !kl_replay_key(r, r->tok[i].op, &key))
			return false;
	}
	return true;
}

/* Sort the steps by key; each key's steps keep their order. */
static int sort_by_key(struct replay *r)
{
	struct kl_key *k = malloc(2 * (r->ntok + 1) * sizeof(*k));
	size_t i;

	if (!k)
		return -ENOMEM;
	for (i = 0; i < r->ntok; i++) {
		k[i].val = r->tok[i].op;
		kl_replay_key(r, r->tok[i].op, &k[i].key);
	}
	kl_sort_keys(k, r->ntok, k + r->ntok);
	for (i = 0; i < r->ntok; i++)
		r->tok[i] = (struct token){
			.op = k[i].val, .kind = TOK_OP, .first = !i || k[i].key != k[i - 1].key,
		};
	free(k);
	return 0;
}

/* Return: true if there certainly is a first state from which all steps so far are possible. */
static bool is_sure(const struct replay *r)
{
	size_t i;

	for (i = 0; i < r->cur.n; i++) {
		const struct kl_machine *m = &r->cur.m[i];

		if (m->in_gap || !(r->tso ? kl_machine_lost(m) : kl_state_lost(m->mem, m->nmem)))
			return true;
	}
	return !r->ntok;
}

static int run_order(struct replay *r)
{
	size_t i;
	int ret = start(r, r->h->fresh);

	if (!ret && by_key(r))
		ret = sort_by_key(r);
	kl_run_set_raw(r->run, r->tso);
	for (i = 0; i < r->ntok && !ret; i++) {
		if (r->tok[i].first && !is_sure(r))
			break;
		if (r->tok[i].first)
			ret = start(r, r->h->fresh);
		if (!ret)
			ret = run_step(r, i) ?: kl_replay_look(r, 0);
	}
	kl_run_set_raw(r->run, false);
	/* Each step is possible, but perhaps no first state allows all of them. */
	if (!ret && !is_sure(r)) {
		kl_warn_at(r->path, r->line, 0, "up to step %zu the order implies more about the "
						"first state than the replayer can keep: unknown "
						"whether a first state exists", i);
		r->over_said = true;
		ret = -E2BIG;
	}
	return ret;
}

/* Parse a token; *more is the number of operations that follow, K for N+K. */
static int parse_token(struct replay *r, const char *word, struct token *t, uint64_t *more)
{
	uint64_t n = 0;
	const char *end;

	*t = (struct token){ 0 };
	if (!strcmp(word, "(") || !strcmp(word, ")")) {
		t->kind = *word == '(' ? TOK_ENTER : TOK_LEAVE;
		return 0;
	}
	t->kind = *word == '~' ? TOK_FLUSH : TOK_OP;
	word += t->kind == TOK_FLUSH;
	end = kl_digits(word, &n);
	t->buffered = end && t->kind == TOK_OP && *end == '!';
	if (end && t->kind == TOK_OP && *end == '+')
		end = kl_digits(end + 1, more);
	if (!end || end[t->buffered] || n >= r->h->nops || *more >= r->h->nops - n)
		return kl_replay_bad(r, "an order consists of numbers of the history's operations, "
					"(, ) and ~");
	if (!r->tso && (t->buffered || t->kind == TOK_FLUSH))
		return kl_replay_bad(r,
			"stores are delayed (! and ~) only in orders of the engine tso");
	t->op = n;
	return 0;
}

static int add_token(struct replay *r, uint32_t part, struct token t)
{
	const bool of_op = t.kind == TOK_OP || t.kind == TOK_FLUSH;

	if (of_op && r->part[t.op] != part)
		return kl_replay_wrong(r, "an operation of another partition: operation", t.op);
	if (t.kind == TOK_OP && r->seen[t.op / 64] >> t.op % 64 & 1)
		return kl_replay_wrong(r, "twice in the order: operation", t.op);
	if (kl_grow(r->tok, r->ctok, r->ntok + 1))
		return -ENOMEM;
	if (t.kind == TOK_OP)
		r->seen[t.op / 64] |= 1ull << t.op % 64;
	r->tok[r->ntok++] = t;
	return 0;
}

static int add_word(struct replay *r, uint32_t part, char *word)
{
	uint64_t more = 0;
	struct token t;
	int ret;

	r->column = word - r->lines[r->line - 1] + 1;
	ret = parse_token(r, word, &t, &more) ?: add_token(r, part, t);
	for (; !ret && more; more--) {
		t.op++;
		ret = add_token(r, part, t);
	}
	return ret;
}

static int parse_order(struct replay *r, uint32_t part, char *s)
{
	char *word, *save = NULL;
	size_t i;
	int ret = 0;

	r->ntok = 0;
	for (word = strtok_r(s, " ", &save); word && !ret; word = strtok_r(NULL, " ", &save))
		ret = add_word(r, part, word);
	r->column = ret ? r->column : 0;
	for (i = r->at[part]; i < r->at[part + 1]; i++) {
		const uint32_t op = r->ops[i];

		if (!ret && r->h->ops[op].ret != KL_TIME_MAX && !(r->seen[op / 64] >> op % 64 & 1))
			ret = kl_replay_wrong(r, "not in the order: completed operation", op);
	}
	for (i = 0; i < r->ntok; i++)
		if (r->tok[i].kind == TOK_OP)
			r->seen[r->tok[i].op / 64] &= ~(1ull << r->tok[i].op % 64);
	return ret;
}

int kl_replay_order(struct replay *r, uint32_t part, bool unknown, char *text)
{
	const uint32_t *ops = r->ops + r->at[part];
	const uint32_t object = kl_spec_partition(r->spec) == KL_PART_NONE ? KL_ALL_OBJECTS :
				r->h->ops[ops[0]].object;
	int ret;

	r->over_said = false;
	free(r->gaps);
	r->gaps = NULL;
	ret = kl_gaps_collect(r->spec, r->h, r->map, ops, r->at[part + 1] - r->at[part], object,
			      r->tso, &r->gaps, &r->ngaps);
	if (!ret && r->ngaps && !unknown)
		ret = kl_replay_wrong(r, "LINEARIZABLE although operations were lost: part", part);
	if (!ret)
		ret = parse_order(r, part, text);
	if (!ret)
		ret = kl_replay_number_gaps(r);
	if (!ret)
		ret = kl_replay_check_times(r);
	if (!ret && r->tso)
		ret = kl_replay_check_drains(r);
	if (!ret)
		ret = run_order(r);
	r->out->accepted += !ret;
	/* The replayer has neither refuted nor confirmed the order. */
	if (ret == -E2BIG) {
		if (!r->over && !r->over_said)
			kl_warn_at(r->path, r->line, 0, "too many states to replay this order");
		r->out->open++;
		ret = 0;
	}
	return ret;
}

/*
 * Number the lines.  A line is the operations of one thread on one CPU, which have program order.
 */
static int number_lines(struct replay *r)
{
	const size_t n = r->h->nops;
	struct kl_key *k = malloc(2 * (n + 1) * sizeof(*k));
	uint32_t lines = 0;
	size_t i;

	r->line_of = calloc(n + 1, sizeof(*r->line_of));
	r->line_op = malloc((n + 1) * sizeof(*r->line_op));
	if (!k || !r->line_of || !r->line_op) {
		free(k);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		k[i] = (struct kl_key){
			.key = (uint64_t)r->h->ops[i].thread << 16 | r->h->ops[i].cpu, .val = i,
		};
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i++) {
		lines += i && k[i].key != k[i - 1].key;
		r->line_of[k[i].val] = lines;
	}
	memset(r->line_op, 0xff, (n + 1) * sizeof(*r->line_op));
	free(k);
	return 0;
}

int kl_replay_order_init(struct replay *r)
{
	const struct kl_val *any;
	size_t len;

	r->seen = calloc(r->h->nops / 64 + 1, sizeof(*r->seen));
	r->drain = malloc((r->h->nops + 1) * sizeof(*r->drain));
	r->thread_op = calloc(r->h->nthreads + 1, sizeof(*r->thread_op));
	if (!r->seen || !r->drain || !r->thread_op || number_lines(r))
		return -ENOMEM;
	memset(r->drain, 0xff, (r->h->nops + 1) * sizeof(*r->drain));
	any = kl_run_init(r->run, false, &len);
	return any ? new_machine(&r->any, any, len) : -ENOMEM;
}

void kl_replay_order_free(struct replay *r)
{
	set_clear(&r->cur);
	set_clear(&r->next);
	kl_machine_free(&r->any);
	free(r->cur.m);
	free(r->cur.hash);
	free(r->next.m);
	free(r->next.hash);
	free(r->gaps);
	free(r->seen);
	free(r->drain);
	free(r->tok);
	free(r->line_of);
	free(r->line_op);
	free(r->thread_op);
	free(r->view);
}
