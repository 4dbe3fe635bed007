// SPDX-License-Identifier: GPL-2.0
/* Checking a history while it grows, see online.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/coverage.h"
#include "check/online/internal.h"

#define WINDOW	4096
#define BACKLOG	(1u << 20)
#define BYTES	(1ull << 30)
#define LOOK_WORK	150000000ull
#define BOTH	256

/* Find the monitor for the specification, in which each method must have a role. */
static int find_container(struct kl_online *o)
{
	const unsigned int n = kl_spec_nmethods(o->spec);
	bool has[KL_ROLE_COUNT + 1] = { false };
	unsigned int i;

	o->roles = calloc(n + 1, sizeof(*o->roles));
	if (!o->roles)
		return -ENOMEM;
	kl_spec_container(o->spec, &o->c);
	o->monitored = o->c.kind == KL_CONTAINER_QUEUE || o->c.kind == KL_CONTAINER_PQUEUE ||
		       o->c.kind == KL_CONTAINER_STACK || o->c.kind == KL_CONTAINER_REGISTER;
	for (i = 0; i < n && o->monitored; i++) {
		o->roles[i] = kl_spec_role(o->spec, i);
		has[o->roles[i]] = true;
		o->monitored = o->roles[i] != KL_ROLE_OTHER ||
			       o->c.kind == KL_CONTAINER_REGISTER;
	}
	o->both = o->monitored && o->c.kind == KL_CONTAINER_REGISTER;
	if (o->both)
		o->monitored = o->both = has[KL_ROLE_ADD] && has[KL_ROLE_PEEK] &&
					 (!o->c.init || o->c.first.tag == KL_WORD);
	return 0;
}

int kl_online_new(const struct kl_spec *spec, const struct kl_online_opts *opts,
		  struct kl_online **out)
{
	struct kl_online *o = calloc(1, sizeof(*o));
	int ret;

	if (!o)
		return -ENOMEM;
	o->spec = spec;
	o->opts = *opts;
	if (opts->suspect)
		kl_coverage_reason(opts->suspect, o->suspect, sizeof(o->suspect));
	o->opts.window = opts->window ? opts->window : WINDOW;
	o->opts.backlog = opts->backlog ? opts->backlog : BACKLOG;
	o->opts.bytes = opts->bytes ? opts->bytes : BYTES;
	o->opts.look_work = opts->look_work ? opts->look_work : LOOK_WORK;
	o->opts.both = opts->both ? opts->both : BOTH;
	o->flushes = kl_spec_flushes(spec);
	/* A single counter gives no two events the same time. */
	o->ties = opts->error || opts->clock != KL_CLOCK_SEQ;
	o->free_op = o->free_gap = o->free_object = o->free_part = ON_NONE;
	ret = find_container(o) ?: live_init(o);
	if (ret) {
		kl_online_free(o);
		return ret;
	}
	*out = o;
	return 0;
}

void kl_online_free(struct kl_online *o)
{
	size_t i;

	if (!o)
		return;
	for (i = 0; i < o->nparts; i++)
		on_part_free(o, &o->parts[i]);
	live_exit(o);
	on_order_free(o);
	for (i = 0; i < sizeof(o->reasons) / sizeof(*o->reasons); i++)
		free(o->reasons[i]);
	free(o->roles);
	on_objects_free(o);
	free(o->ops);
	free(o);
}

static int new_op(struct kl_online *o, uint32_t *i)
{
	int ret;

	*i = o->free_op;
	if (*i != ON_NONE) {
		o->free_op = o->ops[*i].value;
		return 0;
	}
	ret = o->nops >= ON_NONE - 1 ? -ENOMEM : kl_grow(o->ops, o->cops, o->nops + 1);
	if (ret)
		return ret;
	*i = o->nops++;
	o->ops[*i] = (struct on_op){ 0 };
	return 0;
}

/* Return: what the operation does to the container. */
static enum on_kind kind_of(const struct kl_online *o, const struct kl_online_op *op)
{
	const enum kl_role role = o->roles[op->method];
	const bool pending = op->flags & KL_OP_PENDING;
	struct kl_val v;

	if (role == KL_ROLE_OTHER)
		return ON_OTHER;
	v = role == KL_ROLE_ADD || !pending ? op->vals[0] : kl_special(KL_ANY);
	if (v.tag == KL_WORD)
		return role == KL_ROLE_ADD ? ON_ADD : role == KL_ROLE_REMOVE ? ON_REMOVE : ON_PEEK;
	if (pending && role == KL_ROLE_REMOVE)
		return ON_WILD;
	if (v.tag == KL_ANY && role == KL_ROLE_PEEK)
		return ON_NOTHING;
	return v.tag == KL_EMPTY && role != KL_ROLE_ADD && !o->both ? ON_EMPTY : ON_OTHER;
}

static int fill(struct kl_online *o, const struct kl_online_op *op, uint32_t part, uint32_t i)
{
	const enum on_kind kind = o->monitored ? kind_of(o, op) : ON_OTHER;
	uint32_t sig = ON_NONE;
	int ret = kind == ON_OTHER || o->parts[part].front ? live_sig(o, op, &sig) : 0;
	struct on_op *to = on_op(o, i);

	*to = (struct on_op){
		.call = op->call,
		.ret = op->flags & KL_OP_PENDING ? KL_TIME_MAX : op->ret,
		.drain = op->drain,
		.thread = op->thread,
		.cpu = op->cpu,
		.method = op->method,
		.flags = op->flags,
		.kind = kind,
		.sig = sig,
		.part = part,
		.refs = 1,
		.word = kind <= ON_PEEK ? op->vals[0].v : 0,
		.gen = to->gen,
		.stack = op->stack <= UINT16_MAX ? op->stack : 0,
		.place = op->place,
	};
	return ret;
}

/* Report a gap in place of an operation that was called below the floor. */
static int too_late(struct kl_online *o, const struct kl_online_op *op)
{
	const uint64_t to = op->flags & KL_OP_PENDING ? KL_TIME_MAX : op->ret;

	o->late++;
	return kl_online_gap(o, op->call, to, op->object, false);
}

/* Too many operations wait for the floor: raise it to their newest time, and report a gap. */
static int force_floor(struct kl_online *o)
{
	int ret = kl_online_gap(o, o->floor, o->newest, 0, true);

	return ret ? ret : kl_online_floor(o, o->newest);
}

int kl_online_add(struct kl_online *o, const struct kl_online_op *op)
{
	const struct kl_method *m;
	uint64_t key = 0, object = op->object;
	uint32_t i, part;
	int ret;

	if (op->method >= kl_spec_nmethods(o->spec) || op->call == KL_TIME_MAX ||
	    (!(op->flags & KL_OP_PENDING) && (op->ret < op->call || op->ret == KL_TIME_MAX)))
		return -EINVAL;
	o->total++;
	if (op->call > o->newest)
		o->newest = op->call;
	if (!(op->flags & KL_OP_PENDING) && op->ret > o->newest)
		o->newest = op->ret;
	if (op->call < o->floor)
		return too_late(o, op);
	m = kl_spec_method(o->spec, op->method);
	if (kl_spec_partition(o->spec) == KL_PART_NONE)
		object = 0;
	else if (kl_spec_partition(o->spec) == KL_PART_PARAM && !kl_method_key(m, op->vals, &key))
		/* The operation may concern any key. */
		return kl_online_gap(o, op->call, op->flags & KL_OP_PENDING ? KL_TIME_MAX : op->ret,
				     object, false);
	ret = on_part_find(o, object, key, &part) ?: new_op(o, &i);
	if (ret)
		return ret;
	ret = fill(o, op, part, i);
	if (ret)
		return ret;
	ret = on_order_add(o, i);
	o->parts[part].waiting += !ret;
	if (!ret && o->tail - o->announced > o->opts.backlog)
		ret = force_floor(o);
	return ret;
}

int kl_online_floor(struct kl_online *o, uint64_t floor)
{
	if (floor < o->floor)
		return 0;
	o->floor = floor;
	return on_order_run(o);
}

int kl_online_end(struct kl_online *o)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < o->nparts && !ret; i++)
		ret = o->parts[i].free ? 0 : on_part_end(o, &o->parts[i]);
	return ret;
}

enum kl_verdict on_part_verdict(struct kl_online *o, const struct on_part *p, const char **why,
				enum kl_unknown_cause *cause)
{
	*why = NULL;
	if (p->wrong && !o->opts.suspect)
		return KL_VIOLATION;
	if (p->wrong) {
		*why = o->suspect;
		*cause = o->opts.suspect->kind == KL_COVER_UNDRAINED ? KL_UNKNOWN_UNDRAINED :
								       KL_UNKNOWN_COVERAGE;
		return KL_UNKNOWN;
	}
	if (p->why || p->gapped) {
		*why = p->why ? p->why : "operations were lost";
		*cause = p->gapped ? KL_UNKNOWN_GAPS : KL_UNKNOWN_UNFOLLOWED;
		return KL_UNKNOWN;
	}
	if (p->front && live_lost(o, p)) {
		*why = KL_LOST_REASON;
		*cause = KL_UNKNOWN_VALUES;
		return KL_UNKNOWN;
	}
	return KL_LINEARIZABLE;
}

void kl_online_stats(struct kl_online *o, struct kl_online_stats *s)
{
	enum kl_unknown_cause cause = KL_UNKNOWN_EMPTY;
	const char *why, *first = o->retired.why;
	size_t i;

	*s = (struct kl_online_stats){
		.ops = o->total, .events = o->events, .floor = o->floor, .now = o->now,
		.newest = o->newest, .gaps = o->ngaps_told, .late = o->late,
		.violations = o->opts.suspect ? 0 : o->violations - o->doubted,
		.suspected = o->opts.suspect ? o->violations - o->doubted : 0,
		.waiting = o->tail - o->head + o->ends.n,
		.inside = o->inside, .parts = o->retired.n,
		.cause = o->retired.cause,
		.bytes = o->cops * sizeof(*o->ops) + o->cwait * sizeof(*o->wait) +
			 kl_intern_bytes(&o->sim.states),
	};
	memcpy(s->count, o->retired.count, sizeof(s->count));
	for (i = 0; i < o->nparts; i++) {
		const struct on_part *p = &o->parts[i];

		if (p->free)
			continue;
		s->parts++;
		s->count[on_part_verdict(o, p, &why, &cause)]++;
		s->bytes += sizeof(*p) + p->cring * sizeof(*p->ring);
		if (why && (!first || p->wrong)) {
			first = why;
			s->cause = cause;
		}
	}
	/* Lost operations on unknown objects count, too. */
	if (!s->parts) {
		s->cause = o->ngaps_told ? KL_UNKNOWN_GAPS : KL_UNKNOWN_EMPTY;
		first = o->ngaps_told ? "operations were lost" :
			o->total ? "no operations" : o->opts.empty;
	}
	s->verdict = s->count[KL_VIOLATION] ? KL_VIOLATION : first ? KL_UNKNOWN : KL_LINEARIZABLE;
	snprintf(s->reason, sizeof(s->reason), "%s",
		 s->verdict == KL_UNKNOWN ? first : "");
}
