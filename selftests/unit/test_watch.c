// SPDX-License-Identifier: GPL-2.0
/*
 * The foundations of the daemon.  The feed drops objects, takes them back, and restarts at
 * random moments.  The flight recorder works in little memory, and the policy chooses the
 * objects to drop.  Right histories never become violations.  Violations are found unless
 * their events were dropped.  KLIN_RUNS sets the number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "generate/generate.h"
#include "history_util.h"
#include "tso/engine/tso.h"
#include "watch/feed.h"
#include "watch/flight.h"
#include "watch/shed.h"

static unsigned long runs(void)
{
	return wanted_runs(10000);
}

static enum kl_verdict check(const struct kl_spec *spec, const struct kl_history *h,
			     struct kl_report **out)
{
	const struct kl_options opt = {
		.no_witness = true, .threads = 1, .work = 15000000,
	};
	struct kl_report *r;
	enum kl_verdict v;

	assert_int_equal(kl_check(spec, h, &opt, &r), 0);
	v = r->verdict;
	if (out)
		*out = r;
	else
		kl_report_free(r);
	return v;
}

/*
 * Return: the time of arrival.  A pending operation arrives soon after its call, as for a task
 * that ended.
 */
static uint64_t told(const struct kl_op *op)
{
	return op->ret == KL_TIME_MAX ? op->call + 50 : op->ret;
}

static int by_return(const void *a, const void *b)
{
	const uint64_t x = told(a), y = told(b);

	return x < y ? -1 : x > y;
}

/* A history that arrives in order of return, in pieces, with floors. */
struct pieces {
	struct kl_history view;
	struct kl_op *ops;
	uint64_t *floor;	/* for each position, the least call from there on */
	size_t nops, at;
	uint64_t seed;
};

static void pieces_init(struct pieces *p, const struct kl_history *h, uint64_t seed)
{
	size_t i;

	/* The pieces do not copy linearization points and drain times. */
	assert_null(h->points);
	assert_null(h->drains);
	*p = (struct pieces){ .view = *h, .nops = h->nops, .seed = seed };
	p->ops = malloc((h->nops + 1) * sizeof(*p->ops));
	p->floor = malloc((h->nops + 1) * sizeof(*p->floor));
	memcpy(p->ops, h->ops, h->nops * sizeof(*p->ops));
	qsort(p->ops, h->nops, sizeof(*p->ops), by_return);
	p->floor[h->nops] = KL_TIME_MAX;
	for (i = h->nops; i-- > 0;)
		p->floor[i] = p->ops[i].call < p->floor[i + 1] ? p->ops[i].call : p->floor[i + 1];
}

static void pieces_free(struct pieces *p)
{
	free(p->ops);
	free(p->floor);
}

/* Return: the next piece, with the floor after it. */
static const struct kl_history *next_piece(struct pieces *p, uint64_t *floor)
{
	size_t n = 1 + kl_rand_below(&p->seed, 12);

	if (p->at == p->nops)
		return NULL;
	if (n > p->nops - p->at)
		n = p->nops - p->at;
	p->view.ops = p->ops + p->at;
	p->view.nops = n;
	p->at += n;
	*floor = p->floor[p->at];
	return &p->view;
}

#define OBJECTS 4

struct course {
	bool dropped[OBJECTS];	/* dropped at any time; indexed as in the history */
	size_t drops, resumed, renewed, asked;
	struct kl_online_stats st;
	struct shed_stats shed;
};

/* Record which objects are dropped now.  The query itself is counted, too. */
static void ask(struct shed *shed, const struct kl_history *h, struct course *c)
{
	size_t i;
	int err;

	for (i = 0; i < h->nobjects; i++)
		if (shed_op(shed, h->objects[i], 0, false, &err)) {
			c->dropped[i] = true;
			c->asked++;
		}
}

/* Feed the whole history, while objects are dropped and taken back. */
static void run(const struct kl_spec *spec, const struct kl_history *h, uint64_t *seed, bool renew,
		struct course *c)
{
	struct shed *shed = shed_new();
	const struct feed_opts opts = { .show = 1, .shed = shed };
	struct feed *f = feed_new(spec, h, &opts);
	const struct kl_history *piece;
	struct pieces p;
	uint64_t floor, now = 1;

	memset(c, 0, sizeof(*c));
	assert_non_null(f);
	pieces_init(&p, h, kl_rand(seed));
	while ((piece = next_piece(&p, &floor))) {
		assert_int_equal(feed_add(f, piece), 0);
		assert_int_equal(feed_floor(f, floor), 0);
		if (!kl_rand_below(seed, 6)) {
			const struct shed_load load = {
				.now = now += 400000000000ull, .busy = 0.1,
				.over = !kl_rand_below(seed, 3),
			};
			struct shed_turn t;

			assert_int_equal(shed_turn(shed, &load, f, &t), 0);
			c->drops += t.dropped;
			c->resumed += t.resumed;
			ask(shed, h, c);
		}
		if (renew && floor != KL_TIME_MAX && !kl_rand_below(seed, 20)) {
			assert_int_equal(feed_renew(f), 0);
			c->renewed++;
		}
	}
	assert_int_equal(feed_end(f), 0);
	feed_stats(f, &c->st);
	shed_stats(shed, &c->shed);
	assert_int_equal(c->st.ops + c->shed.skipped - c->asked, h->nops);
	feed_free(f);
	shed_free(shed);
	pieces_free(&p);
}

static const char *const names[] = {
	"queue", "pqueue", "stack", "set", "map", "register", "counter", "lock", "pair",
};

static struct kl_history *generate(const struct kl_spec *spec, unsigned long i, uint64_t *seed)
{
	const struct kl_gen_config c = {
		.spec = spec, .ops = 100 + kl_rand_below(seed, 300), .seed = *seed,
		.threads = 2 + kl_rand_below(seed, 3), .objects = OBJECTS,
		.keys = i % 3 ? 0 : 20, .delay = i % 5 ? 100 : 3, .error = i % 4 ? 0 : 20,
		.pending = i % 3 ? 0 : 6, .mutate = i % 2, .any = !(i % 7), .stall = !(i % 8),
	};
	struct kl_history *h = NULL;
	int ret = kl_gen(&c, &h);

	if (ret != -EDEADLK)
		assert_int_equal(ret, 0);
	return h;
}

static void test_drops_at_random(void **state)
{
	const unsigned long n = 10 + runs() / 100;
	unsigned long i, due = 0, caught = 0, drops = 0, resumed = 0, wrong = 0;
	uint64_t seed = 3;
	size_t k, j;

	for (k = 0; k < sizeof(names) / sizeof(*names); k++) {
		struct kl_spec *spec = shipped_spec(names[k]);

		for (i = 0; i < n; i++) {
			struct kl_history *h = generate(spec, i, &seed);
			struct kl_report *r;
			struct course c;
			enum kl_verdict off;
			bool must = false;

			if (!h)
				continue;
			off = check(spec, h, &r);
			run(spec, h, &seed, !kl_rand_below(&seed, 3), &c);
			for (j = 0; j < r->nparts && !c.renewed; j++)
				must |= r->parts[j].answer.verdict == KL_VIOLATION &&
					!c.dropped[kl_history_object(h, r->parts[j].object)];
			if (off == KL_LINEARIZABLE)
				assert_int_equal(c.st.violations, 0);
			if (c.drops || c.renewed)
				assert_int_not_equal(c.st.verdict, KL_LINEARIZABLE);
			if (must && kl_spec_flushes(spec))
				assert_int_equal(c.st.verdict, KL_VIOLATION);
			wrong += off == KL_VIOLATION;
			due += must;
			caught += c.st.verdict == KL_VIOLATION;
			drops += c.drops;
			resumed += c.resumed;
			kl_report_free(r);
			kl_history_free(h);
		}
		kl_spec_free(spec);
	}
	print_message("%lu wrong, %lu of them where nothing was dropped, %lu caught; %lu "
		      "drops, %lu came back\n", wrong, due, caught, drops, resumed);
	assert_true(wrong > n && due > n / 2 && caught >= due && drops > n && resumed > n);
}

/* A violation after an object was taken back is found. */
static void test_violation_after_resume(void **state)
{
	struct kl_spec *spec = shipped_spec("set");
	struct kl_val v[2] = { kl_word(1), kl_word(1) };
	struct kl_online_op op = {
		.vals = v, .cpu = KL_NO_CPU, .object = 7, .drain = KL_TIME_MAX,
		.method = kl_spec_find_method(spec, "has"),
	};
	const struct kl_online_opts opts = { .fresh = true };
	struct kl_online_stats st;
	struct kl_online *o;

	assert_int_equal(kl_online_new(spec, &opts, &o), 0);
	/*
	 * Object 7 was dropped before this operation.  Otherwise the result would be a violation:
	 * no operation added the value.
	 */
	assert_int_equal(kl_online_drop(o, 7, "test"), 0);
	op.call = 10;
	op.ret = 20;
	kl_online_resume(o, 7, 15);
	assert_int_equal(kl_online_add(o, &op), 0);
	assert_int_equal(kl_online_floor(o, 30), 0);
	kl_online_stats(o, &st);
	assert_int_equal(st.verdict, KL_UNKNOWN);
	op.call = 40;
	op.ret = 50;
	assert_int_equal(kl_online_add(o, &op), 0);
	op.call = 60;
	op.ret = 70;
	v[1] = kl_word(0);
	assert_int_equal(kl_online_add(o, &op), 0);
	assert_int_equal(kl_online_floor(o, KL_TIME_MAX), 0);
	kl_online_stats(o, &st);
	assert_int_equal(st.verdict, KL_VIOLATION);
	kl_online_free(o);
	kl_spec_free(spec);
}

/*
 * A pending operation that arrived too late may take effect at any time, also after its object
 * was dropped and taken back.
 */
static void test_late_pending_op(void **state)
{
	struct kl_spec *spec = shipped_spec("set");
	struct kl_val v[2] = { kl_word(1), kl_special(KL_ANY) };
	struct kl_online_op op = {
		.vals = v, .cpu = KL_NO_CPU, .object = 7, .drain = KL_TIME_MAX, .call = 5,
		.method = kl_spec_find_method(spec, "add"), .flags = KL_OP_PENDING,
	};
	const struct kl_online_opts opts = { .fresh = true };
	struct kl_online_stats st;
	struct kl_online *o;
	unsigned int i;

	assert_int_equal(kl_online_new(spec, &opts, &o), 0);
	assert_int_equal(kl_online_floor(o, 10), 0);
	assert_int_equal(kl_online_add(o, &op), 0);
	assert_int_equal(kl_online_drop(o, 7, "test"), 0);
	assert_int_equal(kl_online_floor(o, 20), 0);
	assert_int_equal(kl_online_drop(o, 7, "test"), 0);
	kl_online_resume(o, 7, 20);
	op.method = kl_spec_find_method(spec, "has");
	op.flags = 0;
	op.thread = 1;
	for (i = 0; i < 2; i++) {
		op.call = 40 + 20 * i;
		op.ret = 50 + 20 * i;
		v[1] = kl_word(i);
		assert_int_equal(kl_online_add(o, &op), 0);
	}
	assert_int_equal(kl_online_floor(o, KL_TIME_MAX), 0);
	kl_online_stats(o, &st);
	assert_int_equal(st.verdict, KL_UNKNOWN);
	kl_online_free(o);
	kl_spec_free(spec);
}

/* So many objects that a linear search for each would be too slow. */
static void test_many_objects_dropped(void **state)
{
	enum { MANY = 100000 };
	struct kl_spec *spec = shipped_spec("set");
	struct kl_val v[2] = { kl_word(1), kl_word(0) };
	struct kl_online_op op = {
		.vals = v, .cpu = KL_NO_CPU, .drain = KL_TIME_MAX,
		.method = kl_spec_find_method(spec, "has"),
	};
	const struct kl_online_opts opts = { .fresh = true };
	struct kl_online_stats st;
	struct kl_online *o;
	uint64_t i;

	assert_int_equal(kl_online_new(spec, &opts, &o), 0);
	for (i = 0; i < 2 * MANY; i++) {
		op.call = 10 * i;
		op.ret = 10 * i + 5;
		op.object = 16 * i;
		assert_int_equal(kl_online_add(o, &op), 0);
		assert_int_equal(kl_online_floor(o, 10 * i + 9), 0);
		if (i < MANY)
			assert_int_equal(kl_online_drop(o, 16 * i, "test"), 0);
		else
			kl_online_resume(o, 16 * (i - MANY), 10 * i);
	}
	assert_int_equal(kl_online_floor(o, KL_TIME_MAX), 0);
	kl_online_stats(o, &st);
	assert_int_equal(st.gaps, MANY);
	assert_int_equal(st.count[KL_UNKNOWN], MANY);
	assert_int_equal(st.count[KL_LINEARIZABLE], MANY);
	kl_online_free(o);
	kl_spec_free(spec);
}

/* Right histories with a gap that were once called wrong. */
static void test_no_alarm_after_gap(void **state)
{
	static const struct {
		const char *spec, *text;
	} known[] = {
		/* An operation lost in the gap may have changed the stack. */
		{ "stack", "# gap from 271 to 308 lost 3\n"
		  "t6 @3 318 322 pop -> 3 cpu=6\nt7 @3 330 334 peek -> 3 cpu=7\n"
		  "t6 @3 339 - peek cpu=6\nt11 @3 397 400 peek -> 2 cpu=3\n" },
		/* The first operation was called inside the gap. */
		{ "queue", "# gap from 155 to 155 lost 3\n"
		  "t0 @2 171 175 deq -> 34 cpu=0\nt2 @2 189 189 deq -> empty cpu=2\n"
		  "t2 @2 205 208 peek -> empty cpu=2\nt2 @2 223 228 deq -> empty cpu=2\n" },
	};
	char text[1024];
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct kl_spec *spec = shipped_spec(known[i].spec);
		const struct feed_opts opts = { .show = 1 };
		const struct kl_history *piece;
		struct kl_online_stats st;
		struct kl_history *h;
		struct pieces p;
		uint64_t floor;
		struct feed *f;
		int n = snprintf(text, sizeof(text), "# klin history 1\n# clock mono error 20\n"
				 "# first any\n%s", known[i].text);

		assert_int_equal(kl_text_read("known", text, n, &h), 0);
		pieces_init(&p, h, i);
		f = feed_new(spec, h, &opts);
		while ((piece = next_piece(&p, &floor))) {
			assert_int_equal(feed_add(f, piece), 0);
			p.view.ngaps = 0;
			assert_int_equal(feed_floor(f, floor), 0);
		}
		feed_stats(f, &st);
		assert_int_equal(st.verdict, KL_UNKNOWN);
		assert_int_equal(st.violations, 0);
		feed_free(f);
		pieces_free(&p);
		kl_history_free(h);
		kl_spec_free(spec);
	}
}

/* Check operations @before the probe of inc becomes blind and @after; *st receives the result. */
static void follow_blind(const struct kl_spec *spec, const char *before, const char *after,
			 struct kl_online_stats *st)
{
	static const char head[] = "# klin history 1\n# clock mono error 0\n";
	const char *const ops[] = { before, after };
	const struct feed_opts opts = { 0 };
	struct kl_history *h[2];
	struct feed *f;
	char text[400];
	int i, n;

	for (i = 0; i < 2; i++) {
		n = snprintf(text, sizeof(text), "%s%s", head, ops[i]);
		assert_int_equal(kl_text_read("blind", text, n, &h[i]), 0);
	}
	f = feed_new(spec, h[0], &opts);
	assert_non_null(f);
	for (i = 0; i < 2; i++) {
		assert_int_equal(feed_add(f, h[i]), 0);
		assert_int_equal(feed_floor(f, i ? KL_TIME_MAX : 100), 0);
	}
	assert_int_equal(feed_end(f), 0);
	feed_stats(f, st);
	feed_free(f);
	for (i = 0; i < 2; i++)
		kl_history_free(h[i]);
}

/* A counter skips values before and after its probe becomes blind, or only after it. */
static void test_probe_becomes_blind(void **state)
{
	static const char blind[] =
		"# coverage inc unknown \"a live patch came\"\n"
		"t1 @2 110 120 inc -> 4 cpu=0\nt1 @2 130 140 inc -> 9 cpu=0\n";
	struct kl_spec *spec = shipped_spec("counter");
	struct kl_online_stats st;

	(void)state;
	follow_blind(spec, "t1 @1 10 20 inc -> 0 cpu=0\nt1 @1 30 40 inc -> 7 cpu=0\n", blind, &st);
	/* A violation from before the probe became blind stays certain. */
	assert_int_equal(st.verdict, KL_VIOLATION);
	assert_int_equal(st.violations, 1);
	assert_int_equal(st.suspected, 1);
	follow_blind(spec, "t1 @1 10 20 inc -> 0 cpu=0\nt1 @1 30 40 inc -> 1 cpu=0\n", blind, &st);
	assert_int_equal(st.verdict, KL_UNKNOWN);
	assert_int_equal(st.violations, 0);
	assert_int_equal(st.suspected, 1);
	assert_non_null(strstr(st.reason, "a violation, unless calls of 'inc' were missed"));
	/* Without any violation the verdict is UNKNOWN only because the check started again. */
	follow_blind(spec, "t1 @1 10 20 inc -> 0 cpu=0\n",
		     "# coverage inc unknown \"a live patch came\"\nt1 @2 110 120 inc -> 4 cpu=0\n",
		     &st);
	assert_int_equal(st.verdict, KL_UNKNOWN);
	assert_int_equal(st.suspected, 0);
	assert_non_null(strstr(st.reason, "the check started again"));
	kl_spec_free(spec);
}

static void same_ops(const struct kl_history *a, const struct kl_history *b)
{
	size_t i;

	assert_int_equal(a->nops, b->nops);
	assert_int_equal(a->ngaps, b->ngaps);
	assert_int_equal(a->fresh, b->fresh);
	for (i = 0; i < a->nops; i++) {
		assert_int_equal(a->ops[i].call, b->ops[i].call);
		assert_int_equal(a->ops[i].ret, b->ops[i].ret);
	}
}

/* The flight recorder's history of a right history is right at any time. */
static void test_flight_recorder(void **state)
{
	const unsigned long n = 10 + runs() / 100;
	unsigned long i, wrong = 0, still = 0, forgot = 0, shots = 0;
	uint64_t seed = 5;
	size_t k;

	for (k = 0; k < sizeof(names) / sizeof(*names); k++) {
		struct kl_spec *spec = shipped_spec(names[k]);

		for (i = 0; i < n; i++) {
			struct kl_history *h = generate(spec, i, &seed), *shown;
			const uint64_t limit = i % 3 ? 30000 : 1 << 20;
			const struct kl_history *piece;
			struct flight_shot *shot;
			struct flight_stats st;
			struct flight *f;
			struct pieces p;
			enum kl_verdict off, v;
			uint64_t floor;

			if (!h)
				continue;
			off = check(spec, h, NULL);
			f = flight_new(spec, h, limit, i % 9 ? 0 : 2000);
			assert_non_null(f);
			pieces_init(&p, h, kl_rand(&seed));
			while ((piece = next_piece(&p, &floor))) {
				assert_int_equal(flight_add(f, piece), 0);
				flight_stats(f, &st);
				assert_true(st.bytes <= limit + 40000);
				if (floor != KL_TIME_MAX && kl_rand_below(&seed, 8))
					continue;
				shot = flight_take(f, floor);
				assert_non_null(shot);
				/* Later operations are not in the shot. */
				piece = floor == KL_TIME_MAX ? NULL : next_piece(&p, &floor);
				if (piece)
					assert_int_equal(flight_add(f, piece), 0);
				assert_int_equal(flight_shot_history(shot, NULL, &shown), 0);
				v = check(spec, shown, NULL);
				if (off == KL_LINEARIZABLE)
					assert_int_not_equal(v, KL_VIOLATION);
				shots++;
				/* Nothing was dropped, so the history is the same. */
				if (!st.forgotten && floor == KL_TIME_MAX && !piece) {
					same_ops(h, shown);
					/* UNKNOWN means that the check took too long. */
					if (v != KL_UNKNOWN && off != KL_UNKNOWN)
						assert_int_equal(v, off);
				}
				still += v == KL_VIOLATION;
				kl_history_free(shown);
				flight_shot_free(shot);
			}
			flight_stats(f, &st);
			forgot += st.forgotten > 0;
			wrong += off == KL_VIOLATION;
			pieces_free(&p);
			flight_free(f);
			kl_history_free(h);
		}
		kl_spec_free(spec);
	}
	print_message("%lu shots, %lu forgot something; %lu wrong ones, found in %lu shots\n",
		      shots, forgot, wrong, still);
	assert_true(shots > 10 * n && forgot > n && still > wrong / 2);
}

/* The flight recorder keeps the history of a single object. */
static void test_flight_one_object(void **state)
{
	struct kl_spec *spec = shipped_spec("register");
	uint64_t seed = 11, total = 0;
	struct kl_history *h = generate(spec, 4, &seed), *shown;
	struct flight *f = flight_new(spec, h, 1 << 20, 0);
	struct flight_shot *shot;
	size_t i, k;

	assert_int_equal(flight_add(f, h), 0);
	shot = flight_take(f, KL_TIME_MAX);
	for (k = 0; k < h->nobjects; k++) {
		assert_int_equal(flight_shot_history(shot, &h->objects[k], &shown), 0);
		for (i = 0; i < shown->nops; i++)
			assert_int_equal(shown->objects[shown->ops[i].object], h->objects[k]);
		total += shown->nops;
		kl_history_free(shown);
	}
	assert_int_equal(total, h->nops);
	flight_free(f);
	flight_shot_free(shot);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* A probe that becomes blind has one coverage in the flight recorder's history, as in any other. */
static void test_flight_has_one_coverage(void **state)
{
	static const char *const texts[] = {
		"# klin history 1\n# coverage inc whole \"checked\"\nt1 @1 10 20 inc -> 0 cpu=0\n",
		"# klin history 1\n# coverage inc unknown \"a live patch came\"\n",
	};
	struct kl_spec *spec = shipped_spec("counter");
	struct kl_history *h[2], *shown;
	struct flight_shot *shot;
	struct flight *f;
	int i;

	for (i = 0; i < 2; i++)
		assert_int_equal(kl_text_read("blind", texts[i], strlen(texts[i]), &h[i]), 0);
	f = flight_new(spec, h[0], 1 << 20, 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(flight_add(f, h[i]), i);
		assert_int_equal(flight_attached(f, i ? "now" : "first"), 0);
		shot = flight_take(f, KL_TIME_MAX);
		assert_int_equal(flight_shot_history(shot, NULL, &shown), 0);
		assert_int_equal(shown->ncoverage, 1);
		assert_int_equal(shown->coverage[0].kind, h[i]->coverage[0].kind);
		assert_string_equal(shown->coverage[0].text, h[i]->coverage[0].text);
		assert_string_equal(shown->attached, i ? "now" : "first");
		kl_history_free(shown);
		flight_shot_free(shot);
	}
	flight_free(f);
	for (i = 0; i < 2; i++)
		kl_history_free(h[i]);
	kl_spec_free(spec);
}

/* An endless history drops objects and threads that are gone. */
static void test_shorten_keeps_operations(void **state)
{
	struct kl_spec *spec = shipped_spec("register");
	uint64_t seed = 13;
	struct kl_history *h = generate(spec, 4, &seed),
			  *old = generate(spec, 4, &(uint64_t){ 13 });
	const size_t objects = h->nobjects;
	size_t i, n = 0;

	assert_int_equal(h->nops, old->nops);
	for (i = 0; i < h->nops; i++)
		if (h->ops[i].object == 1)
			h->ops[n++] = h->ops[i];
	h->nops = n;
	assert_true(n > 10 && objects == OBJECTS);
	assert_int_equal(kl_history_shorten(&h), 0);
	assert_int_equal(h->nobjects, 1);
	assert_int_equal(h->nops, n);
	for (i = n = 0; i < old->nops; i++) {
		const struct kl_op *a = &old->ops[i], *b = &h->ops[n];
		char was[200], is[200];

		if (a->object != 1)
			continue;
		n++;
		assert_int_equal(old->objects[a->object], h->objects[b->object]);
		assert_int_equal(old->threads[a->thread], h->threads[b->thread]);
		assert_int_equal(a->call, b->call);
		kl_op_print(was, sizeof(was), old, a);
		kl_op_print(is, sizeof(is), h, b);
		assert_string_equal(was, is);
	}
	kl_history_free(old);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* 10 * K operations on each object K of 1 to 4. */
static void ops_of(struct shed *s, uint64_t time)
{
	uint64_t object, i;
	int err;

	for (object = 1; object <= 4; object++)
		for (i = 0; i < 10 * object; i++)
			shed_op(s, object, time, false, &err);
}

static void turn(struct shed *s, struct feed *f, double seconds, double busy, bool over,
		 size_t dropped, size_t resumed)
{
	const struct shed_load l = { .now = 1 + seconds * 1e9, .busy = busy, .over = over };
	struct shed_turn t;

	assert_int_equal(shed_turn(s, &l, f, &t), 0);
	assert_int_equal(t.dropped, dropped);
	assert_int_equal(t.resumed, resumed);
}

static bool gone(struct shed *s, uint64_t object)
{
	int err;

	return shed_op(s, object, 0, false, &err);
}

/*
 * The busiest objects are dropped first, and the quietest are taken back first.  An object
 * that was taken back too soon waits longer the next time.
 */
static void test_drop_policy(void **state)
{
	struct kl_spec *spec = shipped_spec("register");
	struct kl_history *h = kl_history_new();
	struct shed *s = shed_new();
	const struct feed_opts opts = { .shed = s };
	struct feed *f = feed_new(spec, h, &opts);
	struct shed_stats st;
	int err;

	turn(s, f, 0, 0, false, 0, 0);
	ops_of(s, 10);
	/* The two objects with 40 and 30 of 100 operations are dropped. */
	turn(s, f, 1, 0.95, false, 2, 0);
	assert_true(gone(s, 4) && gone(s, 3) && !gone(s, 2) && !gone(s, 1));
	assert_false(shed_op(s, 4, 0, true, &err));
	ops_of(s, 20);
	turn(s, f, 1.5, 0.3, false, 0, 0);
	ops_of(s, 30);
	/* There is room for an object with 30 operations: the quieter one is taken back. */
	turn(s, f, 2.5, 0.3, false, 0, 1);
	assert_true(gone(s, 4) && !gone(s, 3));
	ops_of(s, 40);
	/* Object 3 is dropped again soon, so the next attempt comes only after two seconds. */
	turn(s, f, 3, 0.3, true, 1, 0);
	assert_true(gone(s, 4) && gone(s, 3));
	ops_of(s, 50);
	turn(s, f, 4.5, 0.1, false, 0, 0);
	ops_of(s, 60);
	turn(s, f, 5.1, 0.1, false, 0, 2);
	assert_false(gone(s, 4) || gone(s, 3));
	shed_stats(s, &st);
	assert_int_equal(st.dropped, 0);
	assert_int_equal(st.drops, 3);
	assert_true(st.objects == 4 && st.skipped > 0);
	feed_free(f);
	shed_free(s);
	kl_history_free(h);
	kl_spec_free(spec);
}

/* Dropped objects that never appear again are forgotten. */
static void test_gone_objects_forgotten(void **state)
{
	struct kl_spec *spec = shipped_spec("register");
	struct kl_history *h = kl_history_new();
	struct shed *s = shed_new();
	const struct feed_opts opts = { .shed = s };
	struct feed *f = feed_new(spec, h, &opts);
	const struct shed_load over = { .now = 1, .busy = 0.95, .over = true };
	uint64_t object = 0, i;
	struct shed_stats st;
	struct shed_turn t;
	unsigned int turns;
	int err;

	for (turns = 0; turns < 40; turns++) {
		for (i = 0; i < 1000; i++, object++)
			shed_op(s, object, object, false, &err);
		/* One object stays active. */
		for (i = 0; i < 1000; i++)
			shed_op(s, 1000000, object, false, &err);
		assert_int_equal(shed_turn(s, &over, f, &t), 0);
	}
	shed_stats(s, &st);
	assert_true(st.drops > 10000);
	assert_true(st.dropped < 6000);
	assert_true(gone(s, 1000000) && !gone(s, 1000));
	feed_free(f);
	shed_free(s);
	kl_history_free(h);
	kl_spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drops_at_random),
		cmocka_unit_test(test_violation_after_resume),
		cmocka_unit_test(test_late_pending_op),
		cmocka_unit_test(test_many_objects_dropped),
		cmocka_unit_test(test_no_alarm_after_gap),
		cmocka_unit_test(test_probe_becomes_blind),
		cmocka_unit_test(test_flight_recorder),
		cmocka_unit_test(test_flight_one_object),
		cmocka_unit_test(test_flight_has_one_coverage),
		cmocka_unit_test(test_shorten_keeps_operations),
		cmocka_unit_test(test_drop_policy),
		cmocka_unit_test(test_gone_objects_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
