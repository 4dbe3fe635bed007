// SPDX-License-Identifier: GPL-2.0
/* The search of the engine `ends', see ends.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/ends/state.h"

#define STUCK		3000	/* times that one event is not passed */
#define BACK_MORE	100	/* times after which it goes back twice as far, */
#define FURTHEST	6	/* so often */
#define ALL_TRIES	2000000	/* steps for all of it, */
#define EACH_TRIES	20	/* and more for each operation */
#define LOOK_AT_CLOCK	(1u << 16)

/* An operation had to take effect. */
struct choice {
	uint32_t event, nsteps;
};

struct search {
	struct ends_state st;
	const struct kl_limits *lim;
	struct kl_answer *a;
	struct choice *choice;
	size_t nchoices, cchoices;
	uint32_t deepest, stuck;
	uint64_t all_tries, clock;
};

/* The next event.  1; 0: not possible; -ENOMEM. */
static int one_event(struct search *s)
{
	const struct kl_event *e = &s->st.o.p->events[s->st.now];
	const uint32_t item = e->item;

	if (s->st.o.op[item].kind == ENDS_NOTHING) {
		s->st.now++;
		return 1;
	}
	if (e->kind == KL_EV_CALL) {
		ends_enter(&s->st, item);
		s->st.now++;
		ends_settle(&s->st);
		return 1;
	}
	if (!s->st.done[item]) {
		if (kl_grow(s->choice, s->cchoices, s->nchoices + 1))
			return -ENOMEM;
		s->choice[s->nchoices++] = (struct choice){ s->st.now, s->st.nsteps };
		ends_go_on(&s->st, item);
		s->all_tries += s->st.tries + 1;
		if (!s->st.done[item])
			return 0;
	}
	ends_leave(&s->st, item);
	s->st.now++;
	return 1;
}

static void back_to(struct search *s, const struct choice *c)
{
	while (s->st.now > c->event) {
		const struct kl_event *e = &s->st.o.p->events[--s->st.now];

		if (s->st.o.op[e->item].kind == ENDS_NOTHING)
			continue;
		if (e->kind == KL_EV_CALL) {
			ends_leave(&s->st, e->item);
		} else {
			s->st.next[s->st.prev[e->item]] = e->item;
			s->st.prev[s->st.next[e->item]] = e->item;
		}
	}
	ends_undo(&s->st, c->nsteps);
}

/* Looked at once in a while.  0, -EDQUOT. */
static int time_over(struct search *s)
{
	if (s->st.now + s->all_tries < s->clock)
		return 0;
	s->clock = s->st.now + s->all_tries + LOOK_AT_CLOCK;
	return kl_time_over(s->lim, s->a->reason, sizeof(s->a->reason)) ? -EDQUOT : 0;
}

/* Some choices back, more the longer it is stuck.  1, or 0 to give up. */
static int go_back(struct search *s)
{
	size_t most, back;

	if (s->st.now > s->deepest) {
		s->deepest = s->st.now;
		s->stuck = 0;
	}
	if (++s->stuck > STUCK ||
	    s->all_tries > ALL_TRIES + EACH_TRIES * (uint64_t)s->st.o.p->nitems)
		return 0;
	most = s->stuck / BACK_MORE < FURTHEST ? s->stuck / BACK_MORE : FURTHEST;
	most = (size_t)4 << kl_rand_below(&s->st.seed, most + 1);
	back = 1 + kl_rand_below(&s->st.seed, most);
	s->nchoices -= back < s->nchoices ? back : s->nchoices;
	back_to(s, &s->choice[s->nchoices]);
	s->st.lost = s->st.now + 1 + kl_rand_below(&s->st.seed, most);
	return 1;
}

static int run(struct search *s)
{
	int ret = 1;

	while (ret > 0 && s->st.now < s->st.o.p->nevents) {
		ret = time_over(s);
		if (!ret)
			ret = one_event(s);
		if (!ret)
			ret = go_back(s);
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

static int decide(struct search *s)
{
	int ret = ends_state_init(&s->st);

	if (!ret && s->st.o.wrong == ENDS_NONE)
		ret = run(s);
	s->a->work = s->all_tries;
	if (ret < 0)
		return ret == -EDQUOT ? 0 : ret;
	if (ret)
		return say_yes(s);
	ret = ends_core(&s->st.o, s->deepest, s->lim, s->a);
	if (!ret)
		snprintf(s->a->reason, sizeof(s->a->reason), "ends: no order found beyond event %u of "
			 "%u, nor a few operations that have none", s->deepest, s->st.o.p->nevents);
	return ret < 0 ? ret : 0;
}

static int ends_decide(const struct kl_part *p, const struct kl_limits *lim, struct kl_answer *a)
{
	struct search s = { .st = { .o = { .p = p } }, .lim = lim, .a = a };
	const char *why;
	int ret = ends_read(&s.st.o, &why);

	a->engine = "ends";
	a->verdict = KL_UNKNOWN;
	if (ret > 0)
		ret = decide(&s);
	else if (!ret)
		snprintf(a->reason, sizeof(a->reason), "ends: %s", why);
	ends_state_free(&s.st);
	free(s.choice);
	return ret;
}

const struct kl_engine kl_ends_engine = { .name = "ends", .decide = ends_decide };
