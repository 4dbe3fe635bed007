// SPDX-License-Identifier: GPL-2.0
/* The search for all abstract states. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "verify/model.h"

/*
 * If a search with a fixed number of threads has more states or instructions, a search with any
 * number of threads may be cheaper.
 */
#define MANY_STATES	400000
#define MANY_STEPS	30000000
/* Least bound of a finer search's instructions, and the bound for kl_verify_longer(). */
#define FINER_STEPS	1000000
#define LONGER_STEPS	20000000

#define LOOK		64	/* calls of kl_vf_time_over() for each look at the clock */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

bool kl_vf_time_over(struct kl_verifier *x)
{
	return x->o.lim && !(++x->looks % LOOK) &&
	       kl_time_over(x->o.lim, x->message, sizeof(x->message));
}

/* Keep the state at the end of a step. */
static int keep(struct kl_verifier *x, struct kl_vf_run *r)
{
	struct kl_vf_state out;
	int64_t at;
	size_t n;

	if (!x->o.threads && r->wrote)
		x->acts_now = true;
	kl_vf_canon(x, &r->s, &out);
	n = x->store.n;
	at = kl_vf_add(x, &out);
	if (at < 0)
		return at;
	if (x->store.n > n) {
		x->store.e[at].method = r->method;
		x->store.e[at].line = r->line;
	}
	if (kl_vf_time_over(x))
		return -ETIME;
	if (x->max_steps && x->steps > x->max_steps)
		return -E2BIG;
	if (x->o.threads && !x->tried_any &&
	    (x->store.n > MANY_STATES || x->steps - x->before > MANY_STEPS))
		return -EAGAIN;
	return x->o.memory && kl_vf_store_bytes(&x->store) > x->o.memory ? -E2BIG : 0;
}

static int first(struct kl_verifier *x)
{
	struct kl_vf_run *r = calloc(1, sizeof(*r));
	int ret = -ENOMEM;

	if (!r)
		return ret;
	x->parent = x->actor = KL_VF_NO_STATE;
	ret = kl_vf_first(x, &r->s);
	if (!ret && !x->alarm)
		ret = keep(x, r);
	free(r);
	return ret;
}

/* Return: true if @t is idle, and so is an earlier thread with its role, whose steps are enough. */
static bool like_another(const struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t)
{
	unsigned int i;

	for (i = 0; i < t && !x->o.no_symmetry; i++)
		if (s->th[t].method < 0 && s->th[i].method < 0 && x->role[i] == x->role[t] &&
		    s->th[i].ops == s->th[t].ops)
			return true;
	return false;
}

static int follow(struct kl_verifier *x, uint32_t at)
{
	struct kl_vf_state s;
	unsigned int t;
	int ret = 0;

	kl_vf_unpack(x, at, &s);
	x->parent = at;
	x->actor = KL_VF_NO_STATE;
	x->acts_now = false;
	for (t = 0; t < s.nt && !ret && !x->alarm; t++)
		if (!like_another(x, &s, t))
			ret = kl_vf_step(x, &s, t);
	if (x->alarm) {
		x->last = at;
		return 0;
	}
	return ret || x->o.threads || x->restart ? ret : kl_vf_interfere(x, at);
}

/* Search until no state is new, an alarm is found, or an assumption was wrong. */
static int search(struct kl_verifier *x)
{
	uint32_t at;
	int ret;

	kl_vf_store_clear(&x->store);
	kl_vf_views_clear(x);
	x->alarm = x->restart = x->unordered = x->waits = false;
	memset(x->then, 0, sizeof(x->then));
	x->last = KL_VF_NO_STATE;
	x->before = x->steps;
	x->rounds++;
	ret = first(x);
	while (!ret && !x->alarm && !x->restart) {
		at = kl_vf_store_next(&x->store);
		if (at == KL_VF_NO_STATE)
			break;
		ret = follow(x, at);
	}
	return ret;
}

/* Levels of precision, from coarse to fine. */
static const struct level {
	bool others;	/* in views, locks that other threads hold are not free */
	bool dead;	/* pointers that are not read again are kept */
	bool apart;	/* states that differ only in summaries are not merged */
} levels[] = {
	{ false, false, false },
	{ true, false, false },
	{ false, true, false },
	{ true, true, false },
	{ true, false, true },
};

#define NLEVELS		(sizeof(levels) / sizeof(*levels))

/* Search on one level of precision, until the assumptions are right. */
static int search_level(struct kl_verifier *x, const struct level *l)
{
	int ret;

	x->others = l->others;
	x->coarse = !l->apart;
	x->dead = l->dead;
	do {
		ret = search(x);
	} while (!ret && x->restart);
	return ret;
}

/*
 * Return: true if a level is finer for this model than the level before it.  Only views forget
 * locks of other threads.
 */
static bool is_finer(const struct kl_verifier *x, const struct level *l)
{
	return (l->others && !x->o.threads && x->m.has_lock) || (l->dead && !l->others) || l->apart;
}

/*
 * A model that is not proved may be proved on a finer level.  A finer search has a bound of its
 * own, because a wrong model may have very many states there.  If the last search reaches its
 * bound, the alarm of the first search is reported.
 */
static int search_all(struct kl_verifier *x)
{
	const uint64_t start = x->steps;
	uint64_t first;
	unsigned int i;
	int ret;

	x->bounded = false;
	ret = search_level(x, levels);
	first = x->steps - start;
	if (ret || !x->alarm || x->last == KL_VF_NO_STATE)
		return ret;
	for (i = 1; i < NLEVELS; i++) {
		if (!is_finer(x, &levels[i]))
			continue;
		x->max_steps = x->steps + 2 * first + x->finer;
		ret = search_level(x, &levels[i]);
		x->max_steps = 0;
		if (ret != -E2BIG && (ret || !x->alarm))
			return ret;
		x->bounded |= ret == -E2BIG;
	}
	return ret ? search_level(x, levels) : 0;
}

static void set_threads(struct kl_verifier *x, unsigned int threads, bool roles)
{
	unsigned int i;

	x->o.threads = threads;
	x->o.roles = roles;
	x->nt = threads ? threads : 1;
	for (i = 0; i < KL_VF_THREADS; i++)
		x->role[i] = roles ? x->o.methods[i] : UINT64_MAX;
}

static int check_threads(const struct kl_verify_options *o)
{
	if (o->threads > KL_VF_THREADS) {
		kl_err("klin verify supports 1 to %d threads, or any number", KL_VF_THREADS);
		return -EINVAL;
	}
	if (!o->threads && o->roles) {
		kl_err("with any number of threads, each thread may call any method");
		return -EINVAL;
	}
	return 0;
}

/*
 * A proof for any number of threads that call any method also holds for the threads that were asked
 * for, and often has fewer states.
 */
static int search_any(struct kl_verifier *x)
{
	int ret;

	x->tried_any = true;
	set_threads(x, 0, false);
	ret = search_all(x);
	if ((!ret && !x->alarm) || (ret && ret != -E2BIG))
		return ret;
	set_threads(x, x->asked.threads, x->asked.roles);
	return search_all(x);
}

static int verify(struct kl_verifier *x, enum kl_verify_verdict *verdict)
{
	const double start = now();
	int ret;

	set_threads(x, x->asked.threads, x->asked.roles);
	/*
	 * In the longer search, any number of threads may be feasible where a fixed number is not.
	 */
	ret = x->o.threads && x->finer == LONGER_STEPS ? -EAGAIN : search_all(x);
	if (ret == -EAGAIN)
		ret = search_any(x);
	x->seconds += now() - start;
	*verdict = x->verdict = x->alarm ? KL_VF_ALARM : KL_VF_VERIFIED;
	if (ret == -E2BIG || ret == -ETIME) {
		*verdict = x->verdict = ret == -E2BIG ? KL_VF_MEMORY : KL_VF_STOPPED;
		ret = 0;
	}
	return ret;
}

int kl_verify(struct kl_spec *spec, const struct kl_verify_options *o,
	      enum kl_verify_verdict *verdict, struct kl_verifier **out)
{
	struct kl_verifier *x = calloc(1, sizeof(*x));
	int ret;

	*out = x;
	*verdict = KL_VF_ALARM;
	if (!x)
		return -ENOMEM;
	x->o = x->asked = *o;
	x->emit = x->keep = keep;
	x->finer = FINER_STEPS;
	ret = kl_vf_model(&x->m, spec);
	if (!ret)
		ret = check_threads(o);
	return ret ? ret : verify(x, verdict);
}

int kl_verify_longer(struct kl_verifier *x, enum kl_verify_verdict *verdict)
{
	char why[80];

	if (x->verdict != KL_VF_ALARM || !x->bounded)
		return 0;
	/* If the time is over, the alarm that was found before stands. */
	if (x->o.lim && kl_time_over(x->o.lim, why, sizeof(why)))
		return 0;
	x->finer = LONGER_STEPS;
	return verify(x, verdict);
}

void kl_verifier_free(struct kl_verifier *x)
{
	if (!x)
		return;
	kl_vf_views_free(x);
	kl_vf_store_free(&x->store);
	kl_vf_model_free(&x->m);
	free(x->stack);
	free(x);
}

void kl_verify_stats(const struct kl_verifier *x, struct kl_verify_stats *st)
{
	*st = (struct kl_verify_stats){
		.states = x->store.n, .steps = x->steps, .bytes = kl_vf_store_bytes(&x->store),
		.open = x->store.nqueue, .threads = x->asked.threads, .any = !x->o.threads,
		.rounds = x->rounds,
		.seconds = x->seconds, .keyed = x->m.keyed,
		.waits = x->m.has_lock || x->waits,
		.ordered_locks = x->verdict == KL_VF_VERIFIED && kl_vf_ordered_locks(x),
	};
}

const char *kl_verify_message(const struct kl_verifier *x)
{
	return x->message;
}
