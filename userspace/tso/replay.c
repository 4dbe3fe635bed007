// SPDX-License-Identifier: GPL-2.0
/*
 * The replayer: checks what engines claim, without them.
 *
 * An order is right when each completed operation of the partition is in it
 * once, it contradicts no "happens before", and the specification, run in that
 * order, gives the results that were seen.  The specification may leave a
 * choice, so a set of states is carried along.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "check/cert.h"
#include "check/cex.h"
#include "tso/machine.h"
#include "tso/replay.h"
#include "tso/tso.h"

#define MAX_SET		4096	/* states carried along */
#define MAX_KEPT	4000	/* operations of a counterexample */

/* A token of an order. */
enum { TOK_OP, TOK_FLUSH, TOK_ENTER, TOK_LEAVE };

struct token {
	uint32_t op;
	uint8_t kind, buffered;
};

/* A set of machines; on sequential consistency their buffers are empty. */
struct set {
	struct kl_machine *m;
	size_t n, cap;
};

struct replay {
	const char *path;
	unsigned int line;
	const struct kl_spec *spec;
	const struct kl_history *h;
	struct kl_run *run;
	int *map;			/* method of the history -> of the spec */
	uint32_t *part;			/* operation -> part + 1 */
	struct token *tok;
	size_t ntok, ctok;
	struct set cur, next;
	uint64_t *thread_ret;		/* by thread: earliest return of what comes later */
	uint32_t *thread_op;
	bool classical, tso;
	size_t nparts;
	struct kl_machine any;		/* memory of which nothing is known */
	struct kl_val *view;
	size_t cview;
	uint32_t thread, item;		/* of the operation under way */
	const struct kl_machine *from;
	struct kl_replay *out;
};

static int wrong(const struct replay *r, const char *what, uint64_t n)
{
	kl_err_at(r->path, r->line, 0, "%s %" PRIu64, what, n);
	return -EBADMSG;
}

static int bad(const struct replay *r, const char *what)
{
	kl_err_at(r->path, r->line, 0, "%s", what);
	return -EINVAL;
}

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
				wrong(r, "the specification does not allow operation", t->op) :
				wrong(r, "not possible: step", i);
		swap = r->cur;
		r->cur = r->next;
		r->next = swap;
	}
	if (ret == -E2BIG)
		ret = bad(r, "too many states to replay this order");
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
			ret = wrong(r, "out of order in time: operation", r->tok[i].op);
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
			return wrong(r, "its writes left too late: an entry after operation", t->op);
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
			return wrong(r, "no gap in the history for step", i);
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
			return bad(r, "an order has operations' numbers, (, ) and ~");
		t.op = n;
		if (t.kind == TOK_OP) {
			if (r->part[n])
				return wrong(r, "twice in the orders: operation", n);
			r->part[n] = r->nparts;
		}
		r->tok[r->ntok++] = t;
	}
	return 0;
}

static int replay_order(struct replay *r, char *text)
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

static bool same_part(const struct replay *r, const struct kl_op *a, const struct kl_op *b)
{
	int ka, kb;

	if (kl_spec_partition(r->spec) == KL_PART_NONE)
		return true;
	if (a->object != b->object || kl_spec_partition(r->spec) == KL_PART_OBJECT)
		return a->object == b->object;
	ka = kl_spec_method(r->spec, r->map[a->method])->part_param;
	kb = kl_spec_method(r->spec, r->map[b->method])->part_param;
	if (ka < 0 || kb < 0)
		return true;
	/* An unknown key may be any. */
	return kl_op_args(r->h, a)[ka].tag == KL_ANY || kl_op_args(r->h, b)[kb].tag == KL_ANY ||
	       kl_val_eq(kl_op_args(r->h, a)[ka], kl_op_args(r->h, b)[kb]);
}

/* The operations of the partition that @op is in. */
static int part_of(const struct replay *r, const struct kl_op *op, uint32_t **ops, size_t *n)
{
	size_t i;

	*n = 0;
	*ops = malloc((r->h->nops + 1) * sizeof(**ops));
	if (!*ops)
		return -ENOMEM;
	for (i = 0; i < r->h->nops; i++)
		if (same_part(r, op, &r->h->ops[i]))
			(*ops)[(*n)++] = i;
	return 0;
}

/*
 * May all that is not kept be left out?  That is: it ended by the cut, or it
 * writes nothing, or it was called after the end.
 */
static int check_left_out(const struct replay *r, const uint32_t *part, size_t npart,
			  const uint32_t *kept, size_t n, const struct kl_cut *cut)
{
	const uint64_t e = r->h->error;
	const uint64_t end = cut->end > KL_TIME_MAX - e ? KL_TIME_MAX : cut->end + e;
	size_t i, k;

	for (i = k = 0; i < npart; i++) {
		const struct kl_op *op = &r->h->ops[part[i]];

		if (k < n && kept[k] == part[i])
			k++;
		else if (op->ret > cut->time && op->call <= end &&
			 !kl_spec_method(r->spec, r->map[op->method])->pure)
			return wrong(r, "left out although it may matter: operation", part[i]);
	}
	return k < n ? wrong(r, "of another partition: operation", kept[k]) : 0;
}

static int ask_oracle(struct replay *r, const struct kl_cut *cut, const uint32_t *kept, size_t n)
{
	const struct kl_engine *oracle = r->tso ? &kl_tso_oracle_engine : &kl_oracle_engine;
	uint32_t order[MAX_KEPT], all[MAX_KEPT], i;
	struct kl_limits lim = { 0 };
	struct kl_answer a = { 0 };
	struct kl_history *h = NULL;
	int map[MAX_KEPT];
	struct kl_part p;
	int ret;

	ret = kl_cut_history(cut, kept, n, r->tso, &h, order);
	if (ret)
		return ret;
	for (i = 0; i < n; i++)
		all[i] = i;
	for (i = 0; i < h->nmethods; i++)
		map[i] = kl_spec_find_method(r->spec, h->methods[i]);
	ret = kl_part_build(r->spec, h, map, all, n, KL_ALL_OBJECTS, r->tso, &p);
	if (!ret) {
		ret = oracle->decide(&p, &lim, &a);
		kl_part_free(&p);
	}
	kl_history_free(h);
	kl_answer_free(&a);
	if (ret)
		return ret;
	if (a.verdict == KL_LINEARIZABLE)
		return wrong(r, "the oracle finds an order for the counterexample of part",
			     r->nparts);
	if (a.verdict == KL_UNKNOWN)
		kl_warn_at(r->path, r->line, 0, "%s", a.reason);
	r->out->refuted += a.verdict == KL_VIOLATION;
	r->out->open += a.verdict == KL_UNKNOWN;
	return 0;
}

/* A counterexample: the operations kept are wrong by themselves. */
static int replay_violation(struct replay *r, uint64_t time, uint64_t end, char *text)
{
	uint32_t kept[MAX_KEPT], *part = NULL;
	char *word, *save = NULL, *stop;
	size_t n = 0, npart = 0;
	struct kl_cut cut = { 0 };
	int ret;

	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		unsigned long op = strtoul(word, &stop, 10);

		if (*stop || op >= r->h->nops || (n && op <= kept[n - 1]))
			return bad(r, "kept operations are numbers in ascending order");
		if (n == MAX_KEPT) {
			kl_warn_at(r->path, r->line, 0, "too many operations for the oracle");
			r->out->open++;
			return 0;
		}
		kept[n++] = op;
	}
	if (!n)
		return bad(r, "a violation keeps at least one operation");
	ret = part_of(r, &r->h->ops[kept[0]], &part, &npart);
	if (!ret)
		ret = kl_cut_init(&cut, r->spec, r->h, part, npart, time, end);
	if (!ret)
		ret = check_left_out(r, part, npart, kept, n, &cut);
	if (!ret)
		ret = ask_oracle(r, &cut, kept, n);
	kl_cut_free(&cut);
	free(part);
	return ret;
}

/* Is each completed operation in the order of one part, and parts as the spec says? */
static int check_complete(struct replay *r, bool violations)
{
	uint32_t *first = calloc(r->nparts + 2, sizeof(*first));
	size_t i;
	int ret = 0;

	if (!first)
		return -ENOMEM;
	for (i = 0; i < r->h->nops && !ret; i++) {
		const uint32_t part = r->part[i];

		if (!part) {
			if (r->h->ops[i].ret != KL_TIME_MAX && !violations)
				ret = wrong(r, "in no order: completed operation", i);
			continue;
		}
		if (!first[part])
			first[part] = i + 1;
		else if (!same_part(r, &r->h->ops[first[part] - 1], &r->h->ops[i]))
			ret = wrong(r, "in the order of another partition: operation", i);
	}
	free(first);
	return ret;
}

static int check_header(struct replay *r, char **lines, size_t n)
{
	unsigned long long nops, digest;
	int classical;

	r->line = 1;
	if (n < 4 || strcmp(lines[0], "klin-certificate 1"))
		return bad(r, "not a certificate: 'klin-certificate 1' expected");
	r->line = 3;
	if (sscanf(lines[2], "operations %llu digest %llx", &nops, &digest) != 2)
		return bad(r, "'operations N digest HEX' expected");
	if (nops != r->h->nops || digest != kl_history_digest(r->h))
		return bad(r, "this certificate is about another history");
	r->line = 4;
	if (sscanf(lines[3], "classical %d", &classical) != 1)
		return bad(r, "'classical 0' or 'classical 1' expected");
	r->classical = classical;
	return 0;
}

static int replay_lines(struct replay *r, char **lines, size_t n)
{
	unsigned long long time = 0, end = KL_TIME_MAX;
	bool violations = false;
	char verdict[32] = "", engine[32] = "";
	unsigned int nops;
	size_t i;
	int ret = check_header(r, lines, n);

	for (i = 4; i < n && !ret; i++) {
		r->line = i + 1;
		if (!strncmp(lines[i], "part ", 5)) {
			if (sscanf(lines[i], "part %31s %u %31s", verdict, &nops, engine) != 3)
				return bad(r, "'part VERDICT OPERATIONS ENGINE' expected");
			r->nparts++;
			r->tso = !r->classical && !strncmp(engine, "tso", 3);
			/* What is claimed of nothing, or without proof, is open. */
			if (i + 1 == n || !strncmp(lines[i + 1], "part ", 5)) {
				violations = true;
				r->out->open++;
			}
		} else if (!strncmp(lines[i], "order", 5) && r->nparts) {
			ret = replay_order(r, lines[i] + 5);
		} else if (!strncmp(lines[i], "cut ", 4)) {
			if (sscanf(lines[i], "cut %llu end %llu", &time, &end) != 2)
				ret = bad(r, "'cut TIME end TIME' expected");
		} else if (!strncmp(lines[i], "kept", 4) && r->nparts) {
			violations = true;
			ret = replay_violation(r, time, end, lines[i] + 4);
		} else {
			ret = bad(r, "'part', 'order', 'cut' or 'kept' expected");
		}
	}
	return ret ? ret : check_complete(r, violations);
}

static int read_lines(const char *path, char **text, char ***lines, size_t *n)
{
	size_t len, cap = 0;
	char *s, *save = NULL;
	int ret = kl_read_file(path, text, &len);

	*lines = NULL;
	*n = 0;
	if (ret) {
		kl_err("%s: %s", path, strerror(-ret));
		return -EINVAL;
	}
	for (s = strtok_r(*text, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		if (kl_grow(*lines, cap, *n + 1))
			return -ENOMEM;
		(*lines)[(*n)++] = s;
	}
	return 0;
}

char *kl_cert_history(const char *path)
{
	char *text = NULL, **lines = NULL, *name = NULL;
	size_t n = 0;

	if (!read_lines(path, &text, &lines, &n)) {
		if (n > 1 && !strcmp(lines[0], "klin-certificate 1") &&
		    !strncmp(lines[1], "history ", 8))
			name = strdup(lines[1] + 8);
		else
			kl_err_at(path, 1, 0, "not a certificate: 'klin-certificate 1' and "
				  "'history PATH' expected");
	}
	free(lines);
	free(text);
	return name;
}

static int replay_init(struct replay *r)
{
	const struct kl_val *any;
	size_t i, len;
	int ret;

	r->run = kl_run_new(r->spec);
	r->map = calloc(r->h->nmethods + 1, sizeof(*r->map));
	r->part = calloc(r->h->nops + 1, sizeof(*r->part));
	r->thread_ret = malloc((r->h->nthreads + 1) * sizeof(*r->thread_ret));
	r->thread_op = calloc(r->h->nthreads + 1, sizeof(*r->thread_op));
	if (!r->run || !r->map || !r->part || !r->thread_ret || !r->thread_op)
		return -ENOMEM;
	any = kl_run_init(r->run, false, &len);
	ret = any ? new_machine(&r->any, any, len) : -ENOMEM;
	if (ret)
		return ret;
	memset(r->thread_ret, 0xff, (r->h->nthreads + 1) * sizeof(*r->thread_ret));
	for (i = 0; i < r->h->nmethods; i++) {
		r->map[i] = kl_spec_find_method(r->spec, r->h->methods[i]);
		if (r->map[i] < 0)
			return bad(r, "the history has a method that the spec does not");
	}
	for (i = 0; i < r->h->nops; i++) {
		const struct kl_op *op = &r->h->ops[i];
		const struct kl_method *m = kl_spec_method(r->spec, r->map[op->method]);

		if (op->nargs != m->nparams || op->nres != m->nresults)
			return bad(r, "an operation has other arguments than the spec says");
	}
	return 0;
}

int kl_cert_replay(const char *path, const struct kl_spec *spec, const struct kl_history *h,
		   struct kl_replay *out)
{
	struct replay r = { .path = path, .spec = spec, .h = h, .out = out };
	char *text = NULL, **lines = NULL;
	size_t n;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = read_lines(path, &text, &lines, &n);
	if (!ret)
		ret = replay_init(&r);
	if (!ret)
		ret = replay_lines(&r, lines, n);
	set_clear(&r.cur);
	set_clear(&r.next);
	kl_machine_free(&r.any);
	free(r.cur.m);
	free(r.next.m);
	free(r.tok);
	free(r.part);
	free(r.map);
	free(r.thread_ret);
	free(r.thread_op);
	free(r.view);
	kl_run_free(r.run);
	free(lines);
	free(text);
	return ret;
}
