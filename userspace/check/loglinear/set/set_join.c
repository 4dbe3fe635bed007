// SPDX-License-Identifier: GPL-2.0
/*
 * Sets, decided in parts by several threads.  For both bits that a key may have at a part's begin,
 * the part finds the bit at its end.  Then the parts are joined, key by key.
 *
 * Operations that are open where two parts meet are in flight.  The groups of their keys go on in
 * the later part, which marks these keys SET_CARRIED.  It keeps operations of such a group aside up
 * to the group's end; after that the key is like any other.  The operations that were kept aside
 * are added to the group in the part where it began.
 *
 * A part searches some operations before its begin for those in flight, and earlier parts count
 * them.  If some are missing, or anything else is unusual, the whole set is decided again without
 * parts.  So the only answer that parts give is that there is an order.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/mem.h"
#include "check/loglinear/set/set.h"

static inline const struct kl_op *op_of(const struct set *t, uint32_t item)
{
	return &t->s->h->ops[set_index(t, item)];
}

static inline uint64_t key_of(const struct set *t, uint32_t item)
{
	return kl_op_args(t->s->h, op_of(t, item))->v;
}

/* Begin a part with an operation of an earlier part that is in flight. */
static int begin_with(struct set_part *s, uint32_t item)
{
	const struct kl_history *h = s->t->s->h;
	const struct kl_op *op = op_of(s->t, item);
	uint64_t *latest = &s->latest[op->thread];
	struct set_key *k;

	if (!kl_op_sig(h, op)->nargs || kl_op_args(h, op)->tag != KL_WORD)
		return -EAGAIN;
	k = set_find_key(s, &s->small, key_of(s->t, item));
	if (!k)
		return -ENOMEM;
	k->several = SET_CARRIED;
	k->end = op->ret > k->end ? op->ret : k->end;
	if (op->ret != KL_TIME_MAX && op->ret >= *latest)
		*latest = op->ret + 1;
	s->nseeds++;
	return 1;
}

/* End the groups of several operations that end in this part, whose nodes the part has. */
static int close_several(struct set_part *s)
{
	uint64_t key;
	uint32_t i;
	int ret = 1;

	for (key = 0; key < s->top && ret > 0; key++) {
		struct set_key *k = &s->small.key[key];

		if (k->several == true && k->end < s->next)
			ret = set_close(s, k);
	}
	for (i = 0; i < s->words.n && ret > 0; i++)
		if (s->keys[i].several == true && s->keys[i].end < s->next)
			ret = set_close(s, &s->keys[i]);
	return ret;
}

static int decide_part(struct set_part *s)
{
	const struct set *t = s->t;
	const uint64_t time = op_of(t, s->from)->call;
	uint32_t i = s->from > t->back ? s->from - t->back : 0;
	int ret = 1;

	for (; i < s->from && ret > 0; i++)
		if (op_of(t, i)->ret >= time)
			ret = begin_with(s, i);
	ret = ret > 0 ? set_sweep(s) : ret;
	return ret > 0 ? close_several(s) : ret;
}

static void run_part(struct set_part *s)
{
	s->ret = decide_part(s);
	if (s->ret <= 0)
		__atomic_store_n(&s->t->stop, true, __ATOMIC_RELAXED);
}

/* What each thread does: run parts until all are taken. */
static void *take_parts(void *arg)
{
	struct set *t = arg;
	uint32_t i;

	while ((i = __atomic_fetch_add(&t->taken, 1, __ATOMIC_RELAXED)) < t->nparts)
		t->run(&t->part[i]);
	return NULL;
}

/*
 * Begin a thread on another processor.  A scheduler that packs new threads on one processor would
 * notice too late that they are busy.
 */
static void put_elsewhere(pthread_attr_t *attr)
{
	const int here = sched_getcpu();
	cpu_set_t cpus;

	if (here < 0 || sched_getaffinity(0, sizeof(cpus), &cpus))
		return;
	CPU_CLR(here, &cpus);
	if (CPU_COUNT(&cpus))
		pthread_attr_setaffinity_np(attr, sizeof(cpus), &cpus);
}

/*
 * Call @run for all parts, in at most @n threads.  A thread may begin late or not at all; then
 * others run its parts.  Return: true if @run was positive for every part.
 */
static bool run_parts(struct set *t, void (*run)(struct set_part *s), uint32_t n)
{
	pthread_t thread[SET_PARTS];
	pthread_attr_t attr;
	uint32_t begun = 1, i;
	bool good = true;

	n = n < t->nparts ? n : t->nparts;
	t->run = run;
	t->taken = 0;
	/* OpenMP's threads would spin when they have nothing to do. */
	if (n > 1 && !pthread_attr_init(&attr)) {
		put_elsewhere(&attr);
		while (begun < n && !pthread_create(&thread[begun], &attr, take_parts, t))
			begun++;
		pthread_attr_destroy(&attr);
	}
	take_parts(t);
	for (i = 1; i < begun; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < t->nparts; i++)
		good &= t->part[i].ret > 0;
	return good;
}

/* Return: true if part @p found all operations that are in flight where it begins. */
static bool knows_all(const struct set *t, uint32_t p)
{
	const struct set_part *s = &t->part[p];
	const uint64_t time = op_of(t, s->from)->call;
	uint32_t n = 0, i;
	size_t k;

	for (i = 0; i < p; i++)
		for (k = 0; k < t->part[i].nflight; k++)
			n += op_of(t, t->part[i].flight[k])->ret >= time;
	return n == s->nseeds;
}

/* Return: the possible bits after @a and then @b; each maps a first bit to the bits after it. */
static unsigned int and_then(unsigned int a, unsigned int b)
{
	const unsigned int none = b & (OUT | IN), some = b >> FROM_IN;
	unsigned int after = 0, from;

	for (from = 0; from <= FROM_IN; from += FROM_IN)
		after |= ((a >> from & OUT ? none : 0) | (a >> from & IN ? some : 0)) << from;
	return after;
}

/*
 * Join what part @from found about a key, @k, to what the parts before found, @key.  Return: 1, 0
 * if there is no order, or a negative errno.
 */
static int join_key(struct set_part *to, struct set_key *key, const struct set_part *from,
		    struct set_key *k)
{
	int ret;

	if (!k->bits)
		return 1;
	ret = set_close(to, key);
	if (ret <= 0)
		return ret;
	key->bits = and_then(key->bits ? key->bits : to->one, k->bits);
	k->bits = 0;
	return key->bits ? set_take_group(to, key, from, k) : 0;
}

/*
 * For each operation in flight between any two parts, call @f with its key in the first part and in
 * part @p.  Return: 1, or the first result of @f that is not positive.
 */
static int each_flight(struct set *t, uint32_t p,
		       int (*f)(struct set_part *to, struct set_key *key,
				const struct set_part *from, struct set_key *k))
{
	struct set_part *to = &t->part[0], *from = &t->part[p];
	uint32_t i;
	size_t n;
	int ret = 1;

	for (i = 0; i < t->nparts; i++) {
		for (n = 0; n < t->part[i].nflight && ret > 0; n++) {
			const uint64_t word = key_of(t, t->part[i].flight[n]);
			struct set_key *key = set_find_key(to, &to->small, word);
			struct set_key *k = set_find_key(from, &from->small, word);

			ret = key && k ? f(to, key, from, k) : -ENOMEM;
		}
	}
	return ret;
}

/* End the key's last group, and mark the key as joined. */
static int end_key(struct set_part *to, struct set_key *key, const struct set_part *from,
		   struct set_key *k)
{
	const int ret = set_close(to, key);

	key->bits = 0;
	return ret;
}

/* Join all keys that have an operation in flight between any two parts. */
static int join_flights(struct set *t)
{
	uint32_t p;
	int ret = 1;

	for (p = 1; p < t->nparts && ret > 0; p++) {
		ret = knows_all(t, p) ? set_add_carried(&t->part[0], &t->part[p]) : 0;
		if (ret > 0)
			ret = each_flight(t, p, join_key);
	}
	return ret > 0 ? each_flight(t, 0, end_key) : ret;
}

/* Join the other keys that are not small. */
static int join_words(struct set *t)
{
	struct set_part *to = &t->part[0];
	uint32_t p, i;
	int ret = 1;

	for (p = 1; p < t->nparts; p++) {
		struct set_part *from = &t->part[p];

		for (i = 0; i < from->words.n && ret > 0; i++) {
			const uint64_t word = from->words.word[i];
			struct set_key *key = set_find_key(to, &to->small, word);

			ret = key ? join_key(to, key, from, &from->keys[i]) : -ENOMEM;
		}
	}
	for (i = 0; i < to->words.n && ret > 0; i++)
		ret = set_close(to, &to->keys[i]);
	return ret;
}

/*
 * Join one share of the other small keys.  There are as many shares as parts, with the same
 * numbers.  In each part the last group of such a key has one operation.
 */
static void join_small(struct set_part *s)
{
	const struct set *t = s->t;
	const uint64_t id = s - t->part;
	const uint64_t top = t->part[0].top, end = top * (id + 1) / t->nparts;
	bool good = true;
	uint64_t key;
	uint32_t p;

	for (key = top * id / t->nparts; key < end; key++) {
		unsigned int bits = t->one;

		for (p = 0; p < t->nparts; p++) {
			const struct set_key *k = &t->part[p].small.key[key];

			if (k->bits)
				bits = set_after(p ? and_then(bits, k->bits) : k->bits,
						 set_what(k->last));
		}
		good &= !!bits;
	}
	s->ret = good;
}

bool set_decide_parts(struct set *t)
{
	const uint32_t nops = t->s->nops;
	uint32_t p, n;
	bool good;

	for (p = 0; p < t->nparts; p++) {
		struct set_part *s = &t->part[p];

		s->from = (uint64_t)nops * p / t->nparts;
		s->to = (uint64_t)nops * (p + 1) / t->nparts;
		s->next = p + 1 < t->nparts ? op_of(t, s->to)->call : KL_TIME_MAX;
		s->one = p ? OUT | IN << FROM_IN : t->one;
		memset(s->latest, 0, t->s->h->nthreads * sizeof(*s->latest));
	}
	good = run_parts(t, run_part, t->lim->threads);
	for (p = 1; p < t->nparts; p++)
		if (t->part[p].top > t->part[0].top)
			t->part[0].top = t->part[p].top;
	good = good && join_flights(t) > 0 && join_words(t) > 0;
	/* Joining few keys takes less time than starting a thread. */
	n = t->part[0].top < SET_LEAST ? 1 : t->lim->threads;
	good = good && run_parts(t, join_small, n);
	t->stop = false;
	return good;
}
