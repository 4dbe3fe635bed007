// SPDX-License-Identifier: GPL-2.0
/*
 * Operations from records, by the history block of a spec; see map.h.  With `call when' a record
 * is a call or a return, and the order of the records is the order of these events.  With `call at'
 * a record is a whole operation with both times.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "history/internal.h"
#include "history/source.h"
#include "history/spell.h"
#include "records/map.h"

#define MOST_LOOKS 1000 /* returns that may have a misspelt method */
#define MEANT 240 /* size of advice on a text that is nearly that of a condition */
#define RULE_ENDS "; write such a rule, or 'ignore when CONDITION;' if it is no operation"

/* Arguments, followed by results, of an operation. */
struct vals {
	struct kl_val v[2 * KL_MAX_ARGS];
};

static const struct kl_method *method_of(const struct kl_map_reader *rd,
					 const struct kl_map_rule *rule)
{
	return kl_spec_method(rd->spec, rule->method);
}

/* Find the first rule whose condition holds.  *@rule becomes NULL if there is none. */
static int find_rule(struct kl_map_reader *rd, const struct kl_map_rule **rule)
{
	const struct kl_map_rule *r;
	bool truth;
	int ret;

	*rule = NULL;
	for (r = rd->m.map->rules; r; r = r->next) {
		ret = kl_map_truth(&rd->m, r->when, &truth);
		if (ret)
			return ret;
		if (truth) {
			*rule = r;
			break;
		}
	}
	return 0;
}

static int need_rule(struct kl_map_reader *rd, const struct kl_map_rule **rule)
{
	const int ret = find_rule(rd, rule);
	const struct kl_map_rule *r;
	char meant[MEANT] = "";

	if (ret || *rule)
		return ret;
	for (r = rd->m.map->rules; r && !*meant; r = r->next)
		kl_map_meant(&rd->m, r->when, meant, sizeof(meant));
	return kl_record_bad(&rd->r, NULL,
			     "no rule 'method NAME when CONDITION' of spec '%s' fits "
			     "this record%s" RULE_ENDS,
			     kl_spec_name(rd->spec), meant);
}

/*
 * Evaluate the arguments, or with @results the results, that are read at the return (@at_return)
 * or at the call.  Others stay as they are.
 */
static int fetch(struct kl_map_reader *rd, const struct kl_map_rule *rule, bool results,
		 bool at_return, struct kl_val *v)
{
	const struct kl_method *m = method_of(rd, rule);
	const unsigned int n = results ? m->nresults : m->nparams;
	const struct kl_map_fetch *f = results ? rule->results : rule->args;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		if (f[i].at_return == at_return)
			ret = kl_map_word(&rd->m, f[i].expr,
					  results ? &m->results[i] : &m->params[i], m->name, &v[i]);
	return ret;
}

static int get_sig(struct kl_map_reader *rd, const struct kl_map_rule *rule, struct kl_opsig *s)
{
	const struct kl_method *m = method_of(rd, rule);
	const int64_t method = kl_history_method(rd->m.h, m->name, strlen(m->name));

	if (method < 0)
		return method;
	*s = (struct kl_opsig){ .method = method, .nargs = m->nparams, .nres = m->nresults };
	return 0;
}

static int get_object(struct kl_map_reader *rd, uint32_t *object)
{
	uint64_t word = 0;
	int64_t index;
	int ret = 0;

	if (rd->m.map->object)
		ret = kl_map_name(&rd->m, rd->m.map->object, false, &word);
	if (ret)
		return ret;
	index = kl_history_object(rd->m.h, word);
	if (index < 0)
		return index;
	*object = index;
	return 0;
}

/* ---- calls and returns ---- */

static int on_call(struct kl_map_reader *rd, struct kl_process *process)
{
	const struct kl_map_rule *rule;
	const size_t thread = process->thread;
	struct kl_opsig s;
	struct vals vals;
	uint32_t object;
	unsigned int i;
	int ret = need_rule(rd, &rule);

	if (!ret && process->op)
		ret = kl_scan_bad(&rd->r.scan, rd->r.tok,
				  "the return of the previous operation of the process");
	ret = ret ?: get_sig(rd, rule, &s) ?: get_object(rd, &object);
	for (i = 0; i < 2 * KL_MAX_ARGS; i++)
		vals.v[i] = kl_special(KL_ANY);
	ret = ret ?: fetch(rd, rule, false, false, vals.v);
	ret = ret ?: kl_pairs_call(&rd->pairs, rd->r.tok, process, &s, vals.v);
	if (ret)
		return ret;
	rd->m.h->ops[process->op - 1].object = object;
	ret = kl_grow(rd->open, rd->copen, thread + 1);
	if (ret)
		return ret;
	rd->open[thread] = (struct kl_map_open){ rule, rd->r.tok, rd->r.scan.line };
	return 0;
}

/* Fill in what is read at the return, and end the operation. */
static int finish(struct kl_map_reader *rd, struct kl_process *process, const struct kl_val *vals)
{
	int ret = process->sig.nargs ? kl_pairs_fill(&rd->pairs, process, vals) : 0;

	return ret ?: kl_pairs_return(&rd->pairs, process, vals + process->sig.nargs);
}

/* The operations of a rule with `for'. */
struct each {
	struct kl_map_reader *rd;
	const struct kl_map_rule *rule;
	unsigned int nargs;
	bool any; /* there was an element, whose values are @last */
	struct vals last;
	/* adds the operation with the values @last */
	int (*add)(struct each *e);
	struct kl_process *process; /* of the operation, if it is separate events */
	struct kl_op *op; /* the whole operation, otherwise */
};

static int on_element(void *ctx, const struct kl_edn_val *element)
{
	struct each *e = ctx;
	struct kl_map_reader *rd = e->rd;
	int ret = e->any ? e->add(e) : 0;

	e->any = true;
	rd->m.element = element;
	ret = ret ?: fetch(rd, e->rule, false, true, e->last.v);
	ret = ret ?: fetch(rd, e->rule, true, true, e->last.v + e->nargs);
	rd->m.element = NULL;
	return ret;
}

/* Call e->add() for each element but the last one, whose values are then e->last. */
static int elements(struct each *e)
{
	struct kl_map_value list;
	const int ret = kl_map_eval(&e->rd->m, e->rule->list, &list);

	e->nargs = method_of(e->rd, e->rule)->nparams;
	if (ret || list.kind == KL_V_NULL)
		return ret;
	if (list.kind != KL_V_EDN)
		return kl_record_bad(&e->rd->r, list.edn.tok, "expected a list or a set");
	return kl_record_each(&e->rd->r, &list.edn, on_element, e);
}

static int add_again(struct each *e)
{
	return kl_pairs_again(&e->rd->pairs, e->process, e->last.v);
}

static int return_each(struct kl_map_reader *rd, struct kl_process *process,
		       const struct kl_map_rule *rule)
{
	struct each e = { .rd = rd, .rule = rule, .process = process, .add = add_again };
	const int ret = elements(&e);

	if (ret)
		return ret;
	/* A list without elements stands for no operation. */
	return e.any ? finish(rd, process, e.last.v) : kl_pairs_drop(&rd->pairs, process);
}

/* Warn, once, of a return that nearly names its method. */
static void warn_meant(struct kl_map_reader *rd, const struct kl_map_rule *rule)
{
	char meant[MEANT] = "";

	if (rd->looks == MOST_LOOKS)
		return;
	rd->looks++;
	kl_map_meant(&rd->m, rule->when, meant, sizeof(meant));
	if (!*meant)
		return;
	rd->looks = MOST_LOOKS;
	kl_record_warn(&rd->r, NULL,
		       "this return counts as that of %s, which this process called last%s",
		       method_of(rd, rule)->name, meant);
}

static int on_return(struct kl_map_reader *rd, struct kl_process *process)
{
	const struct kl_map_rule *rule = rd->open[process->thread].rule, *other;
	bool truth;
	struct vals vals;
	unsigned int i;
	int ret = kl_map_truth(&rd->m, rule->when, &truth);

	/* A return need not name the method; but it must not name another one. */
	if (!ret && !truth) {
		ret = find_rule(rd, &other);
		if (!ret && other && other->method == rule->method)
			ret = kl_record_bad(&rd->r, NULL,
					    "expected a return by the rule in line %u of the "
					    "specification, as the call before it, not by that in "
					    "line %u",
					    rule->pos.line, other->pos.line);
		else if (!ret && other)
			ret = kl_record_bad(&rd->r, NULL,
					    "expected the return of %s, which this "
					    "process called last, not of %s",
					    method_of(rd, rule)->name, method_of(rd, other)->name);
		else if (!ret)
			warn_meant(rd, rule);
	}
	if (ret)
		return ret;
	if (rule->each)
		return return_each(rd, process, rule);
	for (i = 0; i < process->sig.nargs; i++)
		vals.v[i] = process->vals[i];
	ret = fetch(rd, rule, false, true, vals.v);
	ret = ret ?: fetch(rd, rule, true, true, vals.v + process->sig.nargs);
	return ret ?: finish(rd, process, vals.v);
}

/*
 * Refuse a list of operations of which nobody knows how many there were.  Its record is the present
 * one or, if the text is no longer there, in @line.
 */
static int check_lost(struct kl_map_reader *rd, const struct kl_map_rule *rule, unsigned int line)
{
	char what[256];

	if (!rule->each)
		return 0;
	snprintf(what, sizeof(what),
		 "the outcome of this record is unknown, so the number of its operations '%s' is, "
		 "too: klin cannot decide such a history",
		 method_of(rd, rule)->name);
	if (rd->r.tok)
		return kl_record_bad(&rd->r, NULL, "%s", what);
	kl_err_at(rd->r.scan.name, line, 0, "%s", what);
	return -EINVAL;
}

enum event { CALL, RETURN, FAILED, UNKNOWN, EVENTS };

/* Return: the first path in the condition @e that no record has had so far, or NULL. */
static const struct kl_map_expr *missing_path(const struct kl_map_reader *rd,
					      const struct kl_map_expr *e)
{
	const struct kl_map_expr *found;

	if (!e)
		return NULL;
	if (e->kind == KL_M_PATH)
		return rd->m.seen[e->path] == KL_SEEN_MISSING ? e : NULL;
	found = missing_path(rd, e->a);
	return found ? found : missing_path(rd, e->b);
}

/* Find out which event the record is.  Return: 0, or -EINVAL after a message. */
static int which_event(struct kl_map_reader *rd, enum event *event)
{
	static const char *const names[] = { "call", "return", "failed", "unknown" };
	const struct kl_mapping *map = rd->m.map;
	const struct kl_map_expr *const when[] = { map->call, map->ret, map->failed, map->unknown };
	const struct kl_map_expr *missing;
	char lacks[MEANT] = "", path[100];
	unsigned int i;
	bool truth;
	int ret;

	*event = EVENTS;
	for (i = 0; i < EVENTS; i++) {
		ret = kl_map_truth(&rd->m, when[i], &truth);
		if (ret)
			return ret;
		if (truth && *event != EVENTS)
			return kl_record_bad(&rd->r, NULL,
					     "this record is both '%s' and '%s', by "
					     "lines %u and %u of the specification",
					     names[*event], names[i], when[*event]->pos.line,
					     when[i]->pos.line);
		if (truth)
			*event = i;
	}
	if (*event != EVENTS)
		return 0;
	missing = missing_path(rd, map->call);
	if (missing)
		snprintf(lacks, sizeof(lacks),
			 ", for it lacks what line %u of the specification "
			 "compares%s%s",
			 missing->pos.line, kl_map_path(missing, path, sizeof(path)),
			 rd->r.form == KL_RECORDS_CSV ?
				 " (the first line has the columns' names, without blanks)" :
				 "");
	for (i = 0; i < EVENTS && !*lacks; i++)
		kl_map_meant(&rd->m, when[i], lacks, sizeof(lacks));
	return kl_record_bad(&rd->r, NULL,
			     "this record is neither 'call' nor 'return'%s%s%s" RULE_ENDS,
			     map->failed ? " nor 'failed'" : "",
			     map->unknown ? " nor 'unknown'" : "", lacks);
}

static int on_event(struct kl_map_reader *rd)
{
	struct kl_process *process;
	enum event event;
	uint64_t number;
	int ret = which_event(rd, &event);

	ret = ret ?: kl_map_name(&rd->m, rd->m.map->process, true, &number);
	ret = ret ?: kl_pairs_process(&rd->pairs, number, &process);
	if (ret)
		return ret;
	if (event == CALL)
		return on_call(rd, process);
	if (!process->op)
		return kl_record_bad(&rd->r, NULL,
				     "expected a call of this process before its return%s",
				     rd->m.process_numbers && rd->m.process_texts ?
					     "; some processes of the log are numbers, others "
					     "texts, and 1 is not \"1\"" :
					     "");
	if (event == RETURN)
		return on_return(rd, process);
	if (event == FAILED)
		return kl_pairs_drop(&rd->pairs, process);
	ret = check_lost(rd, rd->open[process->thread].rule, 0);
	return ret ?: kl_pairs_lose(&rd->pairs, process);
}

int kl_map_check_open(struct kl_map_reader *rd)
{
	const struct kl_map_open *open;
	size_t i;
	int ret = 0;

	for (i = 0; i < rd->pairs.nprocess && !ret; i++) {
		if (!rd->pairs.process[i].op)
			continue;
		open = &rd->open[rd->pairs.process[i].thread];
		rd->r.tok = open->tok;
		ret = check_lost(rd, open->rule, open->line);
	}
	return ret;
}

/* ---- whole operations ---- */

static int add_whole(struct each *e)
{
	struct kl_map_reader *rd = e->rd;
	struct kl_op op = *e->op;
	struct kl_opsig s;
	const size_t place = rd->lines.name ? rd->r.scan.line : rd->r.tok - rd->r.scan.text;
	int ret = get_sig(rd, e->rule, &s);

	if (ret)
		return ret;
	if (rd->m.h->nops >= KL_NO_OP)
		return -EOVERFLOW;
	ret = kl_source_place(rd->m.h, place < KL_FIRST_PLACE ? place : KL_NO_PLACE);
	return ret ?: kl_history_add(rd->m.h, &op, &s, e->last.v, e->last.v + s.nargs);
}

static int whole_times(struct kl_map_reader *rd, struct kl_op *op, bool unknown)
{
	char path[100];
	int ret = kl_map_time(&rd->m, rd->m.map->call, &op->call);

	ret = ret ?: kl_map_time(&rd->m, rd->m.map->ret, &op->ret);
	if (ret)
		return ret;
	if (op->call == KL_TIME_MAX)
		return kl_record_bad(&rd->r, NULL,
				     "expected a record with the time of its call%s, by "
				     "line %u of the specification",
				     kl_map_path(rd->m.map->call, path, sizeof(path)),
				     rd->m.map->call->pos.line);
	if (unknown || op->ret == KL_TIME_MAX) {
		op->ret = KL_TIME_MAX;
		op->flags = KL_OP_PENDING;
		return 0;
	}
	if (op->ret < op->call)
		return kl_record_bad(&rd->r, NULL,
				     "this operation returns at %" PRIu64 ", before "
				     "its call at %" PRIu64,
				     op->ret, op->call);
	op->flags = KL_OP_DRAINED;
	return 0;
}

static int on_whole(struct kl_map_reader *rd)
{
	struct kl_op op = { .cpu = KL_NO_CPU };
	struct each e = { .rd = rd, .add = add_whole, .op = &op };
	bool failed, unknown;
	uint64_t number;
	int64_t thread;
	int ret = kl_map_truth(&rd->m, rd->m.map->failed, &failed);

	ret = ret ?: kl_map_truth(&rd->m, rd->m.map->unknown, &unknown);
	ret = ret ?: need_rule(rd, &e.rule);
	if (!ret && failed && unknown)
		return kl_record_bad(&rd->r, NULL, "this record is both 'failed' and 'unknown'");
	ret = ret ?: whole_times(rd, &op, unknown);
	ret = ret ?: get_object(rd, &op.object);
	ret = ret ?: kl_map_name(&rd->m, rd->m.map->process, true, &number);
	if (ret)
		return ret;
	thread = kl_history_thread(rd->m.h, number);
	if (thread < 0)
		return thread;
	op.thread = thread;
	rd->failed += failed;
	if (failed)
		return 0;
	if (op.flags & KL_OP_PENDING)
		ret = check_lost(rd, e.rule, 0);
	if (!ret && e.rule->each) {
		ret = elements(&e);
		return ret ? ret : e.any ? add_whole(&e) : 0;
	}
	e.nargs = method_of(rd, e.rule)->nparams;
	ret = ret ?: fetch(rd, e.rule, false, false, e.last.v);
	ret = ret ?: fetch(rd, e.rule, false, true, e.last.v);
	if (!ret && !(op.flags & KL_OP_PENDING))
		ret = fetch(rd, e.rule, true, true, e.last.v + e.nargs);
	return ret ?: add_whole(&e);
}

/* Refuse an operation that its process calls during another one of its own, @outer. */
static int at_once(const struct kl_history *h, const struct kl_map_span *outer, size_t inner)
{
	char name[64];

	kl_history_print_thread(name, sizeof(name), h, h->ops[inner].thread);
	kl_history_err(h, inner, KL_AT_CALL,
		       "process %s is called at %" PRIu64 " during another "
		       "operation of its own, from %" PRIu64 " to %" PRIu64 "; give each "
		       "concurrent caller a process of its own",
		       name, h->ops[inner].call, outer->call, outer->ret);
	return -EINVAL;
}

/* Return: true if the operations are at the same time, by more than the clock's error. */
static bool overlap(const struct kl_map_span *a, const struct kl_map_span *b, uint64_t error)
{
	const uint64_t from = a->call > b->call ? a->call : b->call;
	const uint64_t to = a->call > b->call ? b->ret : a->ret;

	/* Operations of one record have its times. */
	if (a->place == b->place && a->call == b->call && a->ret == b->ret)
		return false;
	/* One without duration may be where the other one begins or ends. */
	return b->call < a->ret && a->call < b->ret && to - from > error;
}

int kl_map_check_at_once(struct kl_map_reader *rd)
{
	const struct kl_history *h = rd->m.h;
	struct kl_map_span *l, op;
	size_t i = rd->clast;
	int ret = kl_grow(rd->last, rd->clast, h->nthreads);

	for (; i < rd->clast && !ret; i++)
		rd->last[i] = (struct kl_map_span){ 0 };
	for (i = 0; i < h->nops && !ret; i++) {
		if (h->ops[i].flags & KL_OP_PENDING)
			continue;
		op = (struct kl_map_span){ h->ops[i].call, h->ops[i].ret, h->places[i] };
		l = &rd->last[h->ops[i].thread];
		if (overlap(l, &op, h->error))
			ret = at_once(h, l, i);
		if (op.ret > l->ret)
			*l = op;
	}
	return ret;
}

/* ---- all records ---- */

int kl_map_check_paths(const struct kl_map_reader *rd, const char *file)
{
	const struct kl_map_expr *ret = rd->m.map->ret;
	const struct kl_map_rule *r;
	unsigned int i;

	if (rd->m.map->whole && ret->kind == KL_M_PATH &&
	    rd->m.seen[ret->path] == KL_SEEN_MISSING) {
		kl_spec_err_at(
			rd->spec, ret->pos,
			"no record of %s has this part, so no operation would have returned%s",
			file, kl_map_hint(&rd->m, ret));
		return -EINVAL;
	}
	for (r = rd->m.map->rules; r; r = r->next) {
		for (i = 0; i < 2 * KL_MAX_ARGS; i++) {
			const struct kl_map_expr *e = i < KL_MAX_ARGS ?
							      r->args[i].expr :
							      r->results[i - KL_MAX_ARGS].expr;

			while (e && e->kind == KL_M_BITS)
				e = e->a;
			if (!e || e->kind != KL_M_PATH || rd->m.seen[e->path] != KL_SEEN_MISSING)
				continue;
			kl_spec_err_at(rd->spec, e->pos,
				       "no record of %s has this part, so all "
				       "its values would be nil; if that is right, say so, as in "
				       ".value == null ? absent : .value%s",
				       file, kl_map_hint(&rd->m, e));
			return -EINVAL;
		}
	}
	return 0;
}

/* Refuse a record that the specification says it cannot express. */
static int check_refusals(struct kl_map_reader *rd)
{
	const struct kl_map_refusal *r;
	bool truth = false;
	int ret = 0;

	for (r = rd->m.map->refusals; r && !ret; r = r->next) {
		ret = kl_map_truth(&rd->m, r->when, &truth);
		if (!ret && truth)
			ret = kl_record_bad(&rd->r, NULL, "%s; spec '%s' refuses this in line %u",
					    r->reason, kl_spec_name(rd->spec), r->pos.line);
	}
	return ret;
}

static int record(struct kl_map_reader *rd)
{
	bool ignored;
	int ret = kl_map_truth(&rd->m, rd->m.map->ignore, &ignored);

	if (ret)
		return ret;
	rd->ignored += ignored;
	if (ignored)
		return 0;
	ret = check_refusals(rd);
	if (ret)
		return ret;
	return rd->m.map->whole ? on_whole(rd) : on_event(rd);
}

/* Count the lines up to the present record. */
static void count_lines(struct kl_map_reader *rd, const char **counted, unsigned int *line)
{
	const char *p = *counted;

	for (; p < rd->r.tok && (p = memchr(p, '\n', rd->r.tok - p)); p++)
		++*line;
	*counted = rd->r.tok;
	rd->r.scan.line = rd->lines.line = *line;
	rd->pairs.entry = rd->r.tok;
}

int kl_map_records(struct kl_map_reader *rd)
{
	const char *counted = rd->r.scan.text;
	unsigned int line = rd->r.scan.before + 1;
	int ret;

	while ((ret = kl_records_next(&rd->r)) > 0) {
		count_lines(rd, &counted, &line);
		ret = record(rd);
		if (ret)
			return ret;
	}
	return ret;
}

int kl_map_none(const struct kl_map_reader *rd, const char *file)
{
	if (rd->ignored)
		kl_spec_err_at(rd->spec, rd->m.map->ignore->pos,
			       "all %zu records of %s are ignored, so there is no operation",
			       rd->ignored, file);
	else
		kl_err("%s: no record: expected one at least, in EDN, JSON or CSV", file);
	return -EINVAL;
}

int kl_map_check_text(const char *name, const char *text, const char *end, uint64_t before)
{
	const char *nul = memchr(text, 0, end - text);

	if (!nul)
		return 0;
	kl_err_at(name, 0, 0, "not a text: byte %" PRIu64 " is 0: expected EDN, JSON or CSV",
		  before + (nul - text));
	return -EINVAL;
}

int kl_map_begin(struct kl_map_reader *rd, const struct kl_spec *spec)
{
	*rd = (struct kl_map_reader){ .spec = spec };
	rd->m = (struct kl_mapper){
		.r = &rd->r,
		.h = kl_history_new(),
		.spec = spec,
		.map = kl_spec_mapping(spec),
		.hints = calloc(kl_spec_mapping(spec)->npaths + 1, sizeof(*rd->m.hints)),
		.seen = calloc(kl_spec_mapping(spec)->npaths + 1, 1),
	};
	rd->pairs = (struct kl_pairs){ .h = rd->m.h, .scan = &rd->r.scan };
	return rd->m.h && rd->m.seen && rd->m.hints ? 0 : -ENOMEM;
}

void kl_map_describe(struct kl_map_reader *rd)
{
	struct kl_history *h = rd->m.h;

	h->keyed = rd->m.map->object;
	h->clock = rd->m.map->whole ? KL_CLOCK_MONO : KL_CLOCK_SEQ;
	h->error = rd->m.map->error;
	h->view.times = rd->m.map->whole ? KL_TIMES_FILE : KL_TIMES_EVENTS;
	h->fresh = !rd->m.map->any;
	h->memory = (struct kl_memory){ .sc = true, .told = true };
}

void kl_map_free(struct kl_map_reader *rd)
{
	kl_records_free(&rd->r);
	kl_pairs_free(&rd->pairs);
	free(rd->open);
	free(rd->last);
	kl_history_free(rd->m.h);
	kl_mapper_free(&rd->m);
}
