// SPDX-License-Identifier: GPL-2.0
/*
 * A beam goes back.  Where no kept configuration goes on, it begins again at an earlier event, and
 * keeps more configurations until it has passed the difficult event.  A long history has few such
 * events, so the beam is wide only there, and its work grows with the history's length.
 *
 * The beam can go back to marks: one in the last STEP events, one in the last 2 STEP, and so on, up
 * to the beginning.  A mark records whether the beam had given up configurations by then.  If it
 * had not, the beam may find a violation after it goes back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/general/frontier_internal.h"

#define STEP	16u	/* events between two marks */
#define TRIES	3u	/* tries for an event, each from twice as far back */
#define WIDER	4u	/* factor of the width from one try to the next */

/* Return: the current set of configurations for @i = 0, or the set of mark @i - 1. */
struct kl_config_set *kl_frontier_set(struct frontier *f, unsigned int i)
{
	return i ? &f->mark[i - 1].cur : &f->cur;
}

/* Forget marks after the event to which the beam went back. */
static void forget_ahead(struct frontier *f)
{
	unsigned int i;

	for (i = 0; i < MARKS; i++) {
		if (f->mark[i].now <= f->now)
			continue;
		f->mark[i].used = false;
		f->mark[i].cur.n = 0;
	}
}

int kl_frontier_mark(struct frontier *f)
{
	const size_t masks = f->c.masklen * sizeof(uint64_t);
	const uint32_t number = f->now / STEP;
	struct mark *m;
	int ret;

	if (!f->sys->width || f->now % STEP)
		return 0;
	m = &f->mark[number ? __builtin_ctz(number) : MARKS - 1];
	ret = kl_grow(m->cur.rec, m->cur.cap, f->cur.n * f->c.reclen + 1) ?:
	      kl_grow(m->open, m->copen, (size_t)f->nopen + 1);
	if (!ret && !m->free) {
		m->free = malloc(2 * masks);
		ret = m->free ? 0 : -ENOMEM;
	}
	if (ret)
		return ret;
	memcpy(m->cur.rec, f->cur.rec, f->cur.n * f->c.reclen * sizeof(*f->cur.rec));
	memcpy(m->open, f->open, f->nopen * sizeof(*f->open));
	memcpy(m->free, f->c.free, masks);
	memcpy(m->free + f->c.masklen, f->c.over, masks);
	m->cur.n = f->cur.n;
	m->nopen = f->nopen;
	m->now = f->now;
	m->nnodes = f->nnodes;
	m->cut = f->cut;
	m->used = true;
	return 0;
}

static int go_to(struct frontier *f, struct mark *m)
{
	const size_t masks = f->c.masklen * sizeof(uint64_t);
	uint32_t i;
	int ret;

	/* Sets change places, so f->cur may be a smaller array than at the mark. */
	ret = kl_grow(f->cur.rec, f->cur.cap, m->cur.n * f->c.reclen + 1);
	if (ret)
		return ret;
	memcpy(f->cur.rec, m->cur.rec, m->cur.n * f->c.reclen * sizeof(*f->cur.rec));
	memcpy(f->open, m->open, m->nopen * sizeof(*f->open));
	memcpy(f->c.free, m->free, masks);
	memcpy(f->c.over, m->free + f->c.masklen, masks);
	f->cur.n = m->cur.n;
	f->nopen = m->nopen;
	f->now = m->now;
	f->nnodes = m->nnodes;
	f->cut = m->cut;
	for (i = 0; i < f->nopen; i++)
		f->place[f->open[i].slot] = i;
	kl_supply_back(f);
	return 0;
}

/* Return: the last mark up to event @by, or else the mark at the beginning. */
static struct mark *mark_by(struct frontier *f, uint64_t by)
{
	struct mark *best = &f->mark[MARKS - 1];
	unsigned int i;

	for (i = 0; i < MARKS; i++)
		if (f->mark[i].used && f->mark[i].now <= by && f->mark[i].now > best->now)
			best = &f->mark[i];
	return best;
}

int kl_frontier_back(struct frontier *f)
{
	uint64_t far;
	int ret;

	if (!f->cut || f->tries == TRIES)
		return 1;
	f->tries++;
	f->trouble = f->now > f->trouble ? f->now : f->trouble;
	f->width *= WIDER;
	far = (uint64_t)f->p->nslots << f->tries;
	/* Later marks are of the narrower beam, and are forgotten. */
	ret = go_to(f, mark_by(f, f->trouble > far ? f->trouble - far : 0));
	if (!ret)
		forget_ahead(f);
	return ret;
}

void kl_frontier_past(struct frontier *f)
{
	if (f->tries && f->now > f->trouble + 2 * (uint64_t)f->p->nslots) {
		f->tries = 0;
		f->width = f->sys->width;
	}
}

void kl_frontier_marks_free(struct frontier *f)
{
	unsigned int i;

	for (i = 0; i < MARKS; i++) {
		kl_config_set_free(&f->mark[i].cur);
		free(f->mark[i].open);
		free(f->mark[i].free);
	}
}
