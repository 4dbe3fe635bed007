// SPDX-License-Identifier: GPL-2.0
/* The search of the engine `ends', see unique.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/unique/state.h"
#include "check/engines.h"

/* Dead ends before the search jumps back: */
#define FIRST_PATIENCE	100	/* before the first jump, */
#define PATIENCE	30	/* and before later jumps; doubled after half of the jumps, */
#define MORE_PATIENCE	8	/* and again after half of the rest, this many times */
#define FURTHEST	6	/* doublings of a jump's length, */
#define FURTHER		4000	/* and one more after this many jumps */
#define MOST_JUMPS	16000	/* jumps from one event */
#define WORK_JUMP	(4 * KL_CONFIG_LOOKS)	/* looks that a jump counts for kl_limits.work */
#define ASK_AFTER	50	/* jumps after which a core is looked for */
#define ASK_JUMPS	250	/* at the end, a core's work is multiplied by most_jumps / this, */
#define ASK_MOST	16	/* but at most by this */
#define ALL_TRIES	100000000	/* steps for the whole search, */
#define EACH_TRIES	500	/* and more for each operation */
#define TRY_LOOKS	30	/* looks of a step, see KL_CONFIG_LOOKS */
#define DEAD		(1u << 16)	/* dead ends that are remembered */
#define LOOK_AT_CLOCK	(1u << 16)	/* steps and events between two readings of the clock */

/*
 * A choice of the next step after the first @nsteps steps.  The operation that returns at @event
 * has not taken effect by then.
 */
struct choice {
	uint32_t event, nsteps;
	uint32_t next;		/* the open operation to try next, or BEST or LAST */
	uint64_t place;		/* a hash of the search's state */
};

#define BEST	(UINT32_MAX - 1)	/* try the step that seems best, then each */
#define LAST	UINT32_MAX		/* no step is left to try */

struct search {
	struct unique_state st;
	const struct kl_limits *lim;
	struct kl_answer *a;
	struct choice *choice;
	size_t nchoices, cchoices;
	uint64_t *dead;		/* choice.place of dead ends, at the index place % DEAD */
	uint32_t deepest;	/* the last event that the search has reached */
	/* dead ends since @deepest was reached or the last jump, and how many are allowed */
	uint32_t back, patience;
	uint32_t jumps, most_jumps;	/* jumps since @deepest was reached, and their maximum */
	/* steps so far; the sum of steps and events from which on the clock is read again */
	uint64_t all_tries, clock;
};

/* Pass events up to the return of an operation that has not taken effect, or the end. */
static void pass_events(struct search *s)
{
	struct unique_state *st = &s->st;

	while (st->now < st->o.p->nevents) {
		const struct kl_event *e = &st->o.p->events[st->now];
		const uint32_t item = e->item;

		if (st->o.op[item].kind == UNIQUE_NOTHING) {
			st->now++;
		} else if (e->kind == KL_EV_CALL) {
			unique_enter(st, item);
			st->now++;
			unique_settle(st);
		} else if (st->done[item]) {
			unique_leave(st, item);
			st->now++;
		} else {
			return;
		}
	}
}

static void back_to(struct search *s, const struct choice *c)
{
	while (s->st.now > c->event) {
		const struct kl_event *e = &s->st.o.p->events[--s->st.now];

		if (s->st.o.op[e->item].kind == UNIQUE_NOTHING)
			continue;
		if (e->kind == KL_EV_CALL) {
			unique_leave(&s->st, e->item);
		} else {
			s->st.next[s->st.prev[e->item]] = e->item;
			s->st.prev[s->st.next[e->item]] = e->item;
		}
	}
	unique_undo(&s->st, c->nsteps);
}

/* Check the bounds now and then.  Return: 0, or -EDQUOT. */
static int time_over(struct search *s)
{
	if (s->st.now + s->all_tries < s->clock)
		return 0;
	s->clock = s->st.now + s->all_tries + LOOK_AT_CLOCK;
	s->a->bound = kl_time_over(s->lim, s->a->reason, sizeof(s->a->reason));
	return s->a->bound ? -EDQUOT : 0;
}

static bool is_dead(const struct search *s, uint64_t place)
{
	return s->dead[place % DEAD] == place;
}

/* Open a choice, unless it is a known dead end.  Return: 1, 0 for a dead end, -ENOMEM. */
static int open_choice(struct search *s, uint32_t next)
{
	const uint64_t place = kl_mix(s->st.hash, s->st.now);

	if (is_dead(s, place))
		return 0;
	if (kl_grow(s->choice, s->cchoices, s->nchoices + 1))
		return -ENOMEM;
	s->choice[s->nchoices++] = (struct choice){ s->st.now, s->st.nsteps, next, place };
	return 1;
}

/* Return: the open operation that is tried after @item, or LAST. */
static uint32_t next_of(const struct search *s, uint32_t item)
{
	const uint32_t first = s->st.o.p->nitems;

	if (item == BEST)
		item = first + UNIQUE_CHANGERS;
	item = s->st.next[item];
	if (item == first + UNIQUE_CHANGERS)
		item = s->st.next[first + UNIQUE_NEVER_RETURN];
	return item == first + UNIQUE_NEVER_RETURN ? LAST : item;
}

/*
 * Return: true if @item is a pending pop, and an earlier one at its end has not taken effect.
 * Pending pops of an end are alike, so only the first one is tried.
 */
static bool is_like_earlier(const struct unique_state *st, uint32_t item)
{
	const uint32_t first = st->o.p->nitems + UNIQUE_NEVER_RETURN;
	uint32_t i;

	for (i = st->next[first]; st->o.op[item].kind == UNIQUE_WILD && i != item; i = st->next[i])
		if (!st->done[i] && st->o.op[i].kind == UNIQUE_WILD &&
		    st->o.op[i].back == st->o.op[item].back)
			return true;
	return false;
}

/* Try the next step of a choice.  Return: true if it was possible. */
static bool try_next(struct search *s, struct choice *c)
{
	const uint32_t goal = s->st.o.p->events[c->event].item, item = c->next;

	c->next = next_of(s, item);
	s->all_tries++;
	if (item == BEST) {
		unique_go_on(&s->st, goal);
		s->all_tries += s->st.tries;
		if (s->st.done[goal])
			return true;
		unique_undo(&s->st, c->nsteps);
		return false;
	}
	if (!unique_may(&s->st, item) || is_like_earlier(&s->st, item))
		return false;
	unique_take_effect(&s->st, item);
	unique_settle(&s->st);
	return true;
}

/*
 * Jump back, and take random steps from there on.
 *
 * Return: 1, 0 to end the search, -ENOMEM.
 */
static int jump(struct search *s)
{
	uint32_t far = s->jumps < FURTHEST ? s->jumps : FURTHEST + s->jumps / FURTHER;
	size_t most, back;
	int ret;

	if (s->jumps++ == ASK_AFTER) {
		ret = unique_core(&s->st.o, s->deepest, 1, s->lim, s->a);
		if (ret)
			return ret < 0 ? ret : 0;
	}
	if (s->jumps > s->most_jumps)
		return 0;
	s->back = 0;
	s->patience = PATIENCE << __builtin_ctzll(kl_rand(&s->st.seed) | 1u << MORE_PATIENCE);
	most = (size_t)4 << kl_rand_below(&s->st.seed, far + 1);
	back = 1 + kl_rand_below(&s->st.seed, most);
	s->nchoices -= back < s->nchoices ? back : s->nchoices;
	back_to(s, &s->choice[s->nchoices++]);
	s->choice[s->nchoices - 1].next = BEST;
	s->st.lost = s->st.now + 1 + kl_rand_below(&s->st.seed, most);
	return 1;
}

static void start_over(struct search *s)
{
	s->deepest = s->st.now;
	s->back = s->jumps = 0;
	s->patience = FIRST_PATIENCE;
}

/* Take one step.  Return: 1 to go on, 0 to end the search, -ENOMEM. */
static int one_step(struct search *s)
{
	struct choice *c;
	int ret;

	if (s->all_tries > ALL_TRIES + EACH_TRIES * (uint64_t)s->st.o.p->nitems)
		return 0;
	while (s->nchoices) {
		c = &s->choice[s->nchoices - 1];
		if (s->st.nsteps != c->nsteps || s->st.now != c->event)
			back_to(s, c);
		while (c->next != LAST && !try_next(s, c))
			;
		if (s->st.nsteps > c->nsteps)
			break;
		s->dead[c->place % DEAD] = c->place;
		s->nchoices--;
		if (++s->back > s->patience)
			return jump(s);
	}
	if (!s->nchoices)
		return 0;
	ret = s->st.done[s->st.o.p->events[s->st.now].item];
	if (ret)
		pass_events(s);
	if (s->st.now > s->deepest)
		start_over(s);
	if (s->st.now == s->st.o.p->nevents)
		return 1;
	ret = open_choice(s, ret ? BEST : next_of(s, BEST));
	return ret < 0 ? ret : 1;
}

static int run(struct search *s)
{
	int ret;

	s->dead = calloc(DEAD, sizeof(*s->dead));
	if (!s->dead)
		return -ENOMEM;
	pass_events(s);
	start_over(s);
	ret = s->st.now < s->st.o.p->nevents ? open_choice(s, BEST) : 1;
	while (ret > 0 && s->st.now < s->st.o.p->nevents) {
		ret = time_over(s);
		if (!ret)
			ret = one_step(s);
	}
	return ret;
}

static int say_yes(struct search *s)
{
	uint32_t i;

	s->a->verdict = KL_LINEARIZABLE;
	if (s->lim->no_witness)
		return 0;
	s->a->steps = kl_big_alloc(((size_t)s->st.nsteps + 1) * sizeof(*s->a->steps));
	if (!s->a->steps)
		return -ENOMEM;
	for (i = 0; i < s->st.nsteps; i++)
		s->a->steps[i] = (struct kl_step){ .item = s->st.step[i] };
	s->a->nsteps = s->st.nsteps;
	return 0;
}

/* Answer that no order was found, with a core if there is one.  Return: 0, or -ENOMEM. */
static int say_no_order(struct search *s)
{
	const bool more_work = s->jumps > s->most_jumps && s->most_jumps < MOST_JUMPS;
	unsigned int times = s->most_jumps / ASK_JUMPS;
	int ret = 0;

	times = !times ? 1 : times < ASK_MOST ? times : ASK_MOST;
	/* A core may have been looked for with this bound already. */
	if (s->a->verdict == KL_UNKNOWN && (times > 1 || s->jumps <= ASK_AFTER))
		ret = unique_core(&s->st.o, s->deepest, times, s->lim, s->a);
	if (ret < 0 || s->a->verdict != KL_UNKNOWN)
		return ret < 0 ? ret : 0;
	snprintf(s->a->reason, sizeof(s->a->reason),
		 "ends: found neither an order beyond event %u of %u nor a small set of operations "
		 "without one", s->deepest, s->st.o.p->nevents);
	if (more_work) {
		s->a->bound = KL_BOUND_WORK;
		s->a->fail_event = s->deepest;
	}
	return 0;
}

static int decide(struct search *s)
{
	int ret = unique_state_init(&s->st);

	if (!ret && s->st.o.wrong == UNIQUE_NONE && !s->st.o.nodd)
		ret = run(s);
	s->a->configs = s->all_tries;
	s->a->work = TRY_LOOKS * s->all_tries;
	if (ret < 0)
		return ret == -EDQUOT ? 0 : ret;
	return ret ? say_yes(s) : say_no_order(s);
}

static int unique_decide(const struct kl_part *p, const struct kl_limits *lim, struct kl_answer *a)
{
	struct search s = { .st = { .o = { .p = p } }, .lim = lim, .a = a };
	const char *why;
	int ret = unique_read(&s.st.o, &why);

	s.most_jumps = lim->work && lim->work / WORK_JUMP < MOST_JUMPS ? lim->work / WORK_JUMP :
		       MOST_JUMPS;
	a->engine = "ends";
	a->verdict = KL_UNKNOWN;
	if (ret > 0)
		ret = decide(&s);
	else if (!ret)
		snprintf(a->reason, sizeof(a->reason), "ends: %s", why);
	unique_state_free(&s.st);
	free(s.choice);
	free(s.dead);
	return ret;
}

const struct kl_engine kl_unique_engine = {
	.name = "ends",
	.help = "queues, stacks and deques, also bounded ones, if values are distinct",
	.rank = 30,
	.no_trials = true,
	.explains = true,
	.decide = unique_decide,
};
KL_ENGINE(kl_unique_engine);
