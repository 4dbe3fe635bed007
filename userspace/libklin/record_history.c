// SPDX-License-Identifier: GPL-2.0
/*
 * The history of a recording, see klin/record.h.
 *
 * A history is made while threads may go on.  The time of its end is taken before any lane is read.
 * An operation that returned before the end, for certain, has seen the effects only of operations
 * that were published before the end, because each one is published before its first store.  So
 * these are all in the history.  Operations that returned later are pending in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "libklin/clock.h"
#include "libklin/recording.h"

/* The history that is being made. */
struct making {
	const struct klin_rec *rec;
	struct kl_history *h;
	struct lib_scale scale;
	uint64_t end; /* in the unit of the history, as all its times */
	uint64_t lost, lost_from;
	uint64_t wrong; /* calls and returns that no method has */
	uint64_t open;	/* operations that have not returned although their thread went on */
	unsigned int open_thread, open_method; /* of the first of them */
};

/* Copy @n values of a slot, whose first is number @first. */
static void take_values(struct kl_val *to, const struct klin_slot *s, unsigned int first,
			unsigned int n)
{
	static const enum kl_tag tags[16] = {
		[KLIN_KIND_WORD] = KL_WORD,	[KLIN_KIND_UNKNOWN] = KL_ANY,
		[KLIN_KIND_EMPTY] = KL_EMPTY,	[KLIN_KIND_FULL] = KL_FULL,
		[KLIN_KIND_ABSENT] = KL_ABSENT,
	};
	const uint64_t *values = (const uint64_t *)(s + 1) + first;
	const uint64_t kinds = __atomic_load_n(&s->kinds, __ATOMIC_RELAXED);
	unsigned int i;

	for (i = 0; i < n; i++) {
		const unsigned int kind = kinds >> 4 * (first + i) & 15;

		to[i] = kl_special(tags[kind]);
		if (kind == KLIN_KIND_WORD)
			to[i].v = values[i];
	}
}

static int add_slot(struct making *m, const struct klin_slot *s, int64_t thread)
{
	const struct kl_spec *spec = m->rec->spec->s;
	const uint64_t end = __atomic_load_n(&s->ret, __ATOMIC_ACQUIRE);
	struct kl_val args[KL_MAX_ARGS], results[KL_MAX_ARGS];
	struct kl_op op = { .thread = thread, .cpu = KL_NO_CPU, .flags = KL_OP_PENDING };
	struct kl_opsig sig = { .method = s->method, .nargs = s->nargs };
	const int64_t object = kl_history_object(m->h, s->object);

	if (object < 0)
		return object;
	if (s->method >= kl_spec_nmethods(spec)) {
		if (s->method == (uint16_t)-1 && m->rec->no_method)
			rec_no_method(m->rec, m->rec->no_method);
		else
			kl_err("an operation of object 0x%llx has the method number %u: expected "
			       "one that klin_rec_method() returned for this recording",
			       (unsigned long long)s->object, s->method);
		return -EINVAL;
	}
	if (s->nargs > KL_MAX_ARGS) {
		kl_err("an operation of %s has %u arguments: expected at most %d",
		       kl_spec_method(spec, s->method)->name, s->nargs, KL_MAX_ARGS);
		return -EINVAL;
	}
	op.object = object;
	op.call = lib_clock_since(&m->scale, m->rec->began, s->call);
	op.ret = KL_TIME_MAX;
	take_values(args, s, 0, s->nargs);
	if (end != KLIN_PENDING &&
	    kl_time_add(lib_clock_since(&m->scale, m->rec->began, end), m->scale.error) <= m->end) {
		op.ret = lib_clock_since(&m->scale, m->rec->began, end);
		op.flags = m->h->memory.sc ? KL_OP_DRAINED : 0;
		sig.nres = s->nresults;
		take_values(results, s, s->nargs, s->nresults);
	}
	/* A thread may have gone back on the clock, by the error, when it went to another CPU. */
	if (op.ret < op.call)
		op.call = op.ret;
	return kl_history_add(m->h, &op, &sig, args, results);
}

static int add_lane(struct making *m, const struct klin_lane *lane, unsigned int number)
{
	const char *at = __atomic_load_n(&lane->at, __ATOMIC_ACQUIRE);
	const char *slot = rec_slots(lane);
	const int64_t thread = kl_history_thread(m->h, number);
	int err = thread < 0 ? thread : 0;

	for (; !err && slot < at; slot += lane->stride) {
		const struct klin_slot *s = (const struct klin_slot *)(const void *)slot;

		if (slot + lane->stride < at &&
		    __atomic_load_n(&s->ret, __ATOMIC_ACQUIRE) == KLIN_PENDING && !m->open++) {
			m->open_thread = number;
			m->open_method = s->method;
		}
		err = add_slot(m, s, thread);
	}
	return err;
}

/* Note what the lane did not record. */
static void add_lost(struct making *m, const struct klin_lane *lane)
{
	const uint64_t lost = __atomic_load_n(&lane->lost, __ATOMIC_SEQ_CST);
	const uint64_t wrong = __atomic_load_n(&lane->wrong, __ATOMIC_RELAXED);
	const uint64_t from = __atomic_load_n(&lane->lost_from, __ATOMIC_RELAXED);

	m->wrong += wrong;
	m->lost += lost;
	if (lost && from < m->lost_from)
		m->lost_from = from;
}

/* Write numbers of arguments and results to @buf, as in "1 argument and 2 results". */
static const char *values_text(unsigned int nargs, unsigned int nresults, char buf[64])
{
	snprintf(buf, 64, "%u argument%s and %u result%s", nargs, nargs == 1 ? "" : "s", nresults,
		 nresults == 1 ? "" : "s");
	return buf;
}

/* Report the first wrong call or return, in the words of the program.  Return: -EINVAL. */
static int refuse_misuse(const struct making *m)
{
	const struct rec_misuse *w = &m->rec->misuse;
	const struct kl_spec *spec = m->rec->spec->s;
	const bool known = w->method >= 0 && (unsigned int)w->method < kl_spec_nmethods(spec);
	const struct kl_method *method = known ? kl_spec_method(spec, w->method) : NULL;
	char thread[40] = "a thread without a buffer", given[64], expected[64], all[64] = "";
	unsigned int i;

	for (i = 0; i < m->rec->nlanes; i++)
		if (m->rec->lanes[i] == w->lane)
			snprintf(thread, sizeof(thread), "t%u", i);
	if (m->wrong > 1)
		snprintf(all, sizeof(all), " (the first of %llu wrong calls and returns)",
			 (unsigned long long)m->wrong);
	if (method)
		kl_err("%s of %s was recorded with %s: the specification '%s' gives it %s%s",
		       method->name, thread, values_text(w->nargs, w->nresults, given),
		       kl_spec_name(spec),
		       values_text(method->nparams, method->nresults, expected), all);
	else if (w->nargs + w->nresults)
		kl_err("an operation of %s was recorded with %s, more than any method of the "
		       "specification '%s' has%s",
		       thread, values_text(w->nargs, w->nresults, given), kl_spec_name(spec), all);
	else
		kl_err("a klin_return() of %s is without a call%s", thread, all);
	return -EINVAL;
}

static int add_gap(struct making *m)
{
	const uint64_t from = lib_clock_since(&m->scale, m->rec->began, m->lost_from);
	const struct kl_gap gap = {
		.from = from,
		.to = m->end > from ? m->end : from,
		.lost = m->lost,
		.object = KL_ALL_OBJECTS,
		.cpu = KL_NO_CPU,
		.reason = KL_GAP_LOST,
	};

	return m->lost ? kl_history_add_gap(m->h, &gap) : 0;
}

/* Note which methods' stores may wait, though the specification says that they do not. */
static int add_undrained(struct making *m)
{
	const struct kl_spec *spec = m->rec->spec->s;
	const unsigned int n = m->rec->undrained ? kl_spec_nmethods(spec) : 0;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < n; i++) {
		const struct kl_method *method = kl_spec_method(spec, i);

		if (method->barrier)
			err = kl_history_cover(m->h, KL_COVER_UNDRAINED, method->name,
					       strlen(method->name), NULL, 0);
	}
	return err;
}

/* Say in the history how it was recorded. */
static int describe(struct making *m)
{
	static const char *const clocks[] = {
		[KLIN_LANE_TSC] = "time stamp counter",
		[KLIN_LANE_TSC_DRAIN] = "time stamp counter",
		[KLIN_LANE_ORDER] = "a counter that each event raises",
		[KLIN_LANE_KERNEL] = "monotonic",
		[KLIN_LANE_KERNEL_DRAIN] = "monotonic",
	};
	const struct kl_spec *spec = m->rec->spec->s;
	const enum klin_lane_clock clock = m->rec->none.clock;
	struct kl_history *h = m->h;

	h->fresh = true;
	h->memory = (struct kl_memory){
		.sc = clock != KLIN_LANE_TSC && clock != KLIN_LANE_KERNEL,
		.told = true,
	};
	h->clock = clock == KLIN_LANE_ORDER ? KL_CLOCK_SEQ : KL_CLOCK_MONO;
	h->error = m->scale.error;
	h->spec_path = strdup(kl_spec_path(spec));
	h->spec_text = strdup(kl_spec_text(spec));
	if (!h->spec_path || !h->spec_text)
		return -ENOMEM;
	return asprintf(&h->attached,
			"libklin: calls and returns by plain stores, %s\n"
			"clock: %s, error %llu ns between CPUs\n",
			h->memory.sc ? "DRAINS the store buffer" : "store buffer not drained",
			clocks[clock], (unsigned long long)h->error) < 0 ?
		       -ENOMEM :
		       0;
}

static int make(struct making *m)
{
	const struct kl_spec *spec = m->rec->spec->s;
	unsigned int i, n = kl_spec_nmethods(spec);
	int err = describe(m) ?: add_undrained(m);

	/* A method has the number in the history that it has in the specification. */
	for (i = 0; !err && i < n; i++) {
		const char *name = kl_spec_method(spec, i)->name;
		const int64_t method = kl_history_method(m->h, name, strlen(name));

		err = method < 0 ? method : 0;
	}
	n = __atomic_load_n(&m->rec->nlanes, __ATOMIC_ACQUIRE);
	for (i = 0; !err && i < n; i++)
		err = add_lane(m, m->rec->lanes[i], i);
	for (i = 0; i < n; i++)
		add_lost(m, m->rec->lanes[i]);
	add_lost(m, &m->rec->none);
	if (!err && m->wrong)
		return refuse_misuse(m);
	if (!err && m->open) {
		kl_err("%llu operation%s not returned before the next call of the thread, the first "
		       "of them %s of t%u: a klin_return() is missing",
		       (unsigned long long)m->open, m->open == 1 ? " has" : "s have",
		       kl_spec_method(spec, m->open_method)->name, m->open_thread);
		return -EINVAL;
	}
	return err ?: add_gap(m);
}

static int new_history(struct klin_rec *rec, struct klin_history **h)
{
	struct making m = { .rec = rec, .lost_from = UINT64_MAX };
	struct klin_lane lane = rec->none;
	const uint64_t end = rec_time(&lane);
	int err = lib_clock_scale(rec->none.clock, &m.scale);

	if (err)
		return err;
	m.end = lib_clock_since(&m.scale, rec->began, end);
	m.h = kl_history_new();
	err = m.h ? 0 : -ENOMEM;
	if (!err) {
		pthread_mutex_lock(&rec->lock);
		err = make(&m);
		pthread_mutex_unlock(&rec->lock);
	}
	if (!err) {
		*h = lib_history(m.h);
		err = *h ? 0 : -ENOMEM;
	}
	if (err)
		kl_history_free(m.h);
	return err;
}

int klin_rec_history(struct klin_rec *rec, struct klin_history **h)
{
	*h = NULL;
	/* klin_error() keeps the reason of klin_rec_open(). */
	if (!rec)
		return -EINVAL;
	lib_begin();
	return lib_end(new_history(rec, h), "recording");
}

int klin_rec_write(struct klin_rec *rec, const char *path)
{
	struct klin_history *h;
	int err = klin_rec_history(rec, &h);

	if (err)
		return err;
	err = klin_history_write(h, path);
	klin_history_free(h);
	return err;
}

int klin_rec_check(struct klin_rec *rec, struct klin_result **result)
{
	struct klin_history *h;
	int err = klin_rec_history(rec, &h);

	*result = NULL;
	if (err)
		return err;
	err = klin_check(rec->spec, h, NULL, result);
	klin_history_free(h);
	return err;
}
