// SPDX-License-Identifier: GPL-2.0
/*
 * Any number of threads.  A state is then a view: one thread, and everything that it knows; other
 * threads are forgotten, and their nodes are in summaries.  A view changes by its own thread's
 * steps, and by those of another thread.  For these, each view w whose thread changes shared
 * memory is joined to each view v, in every way in which both can be views of one state.  The
 * thread of w makes its step, and is then forgotten.  Every state of any number of threads, seen
 * by two of them, is such a join.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "verify/model.h"

#define BUCKETS		4096

/* Views with similar shared variables are in one bucket; only these can be joined. */
struct kl_vf_views {
	uint32_t bucket[BUCKETS];	/* number of the first view plus 1, or 0 */
	uint32_t *next;			/* number of the next view in the bucket plus 1, or 0 */
	uint8_t *acts, *linked;		/* its thread changes shared memory; it is in a bucket */
	size_t cnext, cacts, clinked, n;
};

void kl_vf_views_clear(struct kl_verifier *x)
{
	if (!x->views)
		return;
	memset(x->views->bucket, 0, sizeof(x->views->bucket));
	x->views->n = 0;
}

void kl_vf_views_free(struct kl_verifier *x)
{
	if (!x->views)
		return;
	free(x->views->next);
	free(x->views->acts);
	free(x->views->linked);
	free(x->views);
}

void kl_vf_only(const struct kl_verifier *x, struct kl_vf_state *s, unsigned int t)
{
	const uint8_t other = x->others ? VF_OTHER : VF_NULL;
	unsigned int i;

	for (i = 0; i < x->m.ng; i++)
		if (s->g[i] >= VF_OWN && s->g[i] < VF_OTHER)
			s->g[i] = s->g[i] == VF_OWN + t ? VF_OWN : other;
	for (i = 1; i < s->nn; i++) {
		const uint8_t l = kf_lock(s->kind[i]);
		const bool seen = s->kind[i] >> t & KF_SEEN;

		if (l >= VF_OWN && l < VF_OTHER)
			s->kind[i] = kf_set_lock(s->kind[i], l == VF_OWN + t ? VF_OWN : other);
		s->kind[i] = (s->kind[i] & ~KF_SEEN_ALL) | (seen ? KF_SEEN : 0);
	}
	if (t)
		s->th[0] = s->th[t];
	s->nt = 1;
}

static int link_view(struct kl_verifier *x, uint32_t at)
{
	struct kl_vf_views *vs = x->views;
	struct kl_vf_state s;
	uint32_t b;

	if (kl_grow(vs->next, vs->cnext, at + 1) || kl_grow(vs->acts, vs->cacts, at + 1) ||
	    kl_grow(vs->linked, vs->clinked, at + 1))
		return -ENOMEM;
	while (vs->n <= at) {
		vs->acts[vs->n] = vs->linked[vs->n] = 0;
		vs->n++;
	}
	vs->acts[at] |= x->acts_now;
	if (vs->linked[at])
		return 0;
	kl_vf_unpack(x, at, &s);
	b = kl_vf_look(x, &s) % BUCKETS;
	vs->linked[at] = 1;
	vs->next[at] = vs->bucket[b];
	vs->bucket[b] = at + 1;
	return 0;
}

int kl_vf_interfere(struct kl_verifier *x, uint32_t at)
{
	struct kl_vf_state s;
	uint32_t i;
	int ret;

	if (!x->views) {
		x->views = calloc(1, sizeof(*x->views));
		if (!x->views)
			return -ENOMEM;
	}
	ret = link_view(x, at);
	if (ret)
		return ret;
	kl_vf_unpack(x, at, &s);
	for (i = x->views->bucket[kl_vf_look(x, &s) % BUCKETS];
	     i && !ret && !x->restart && !x->alarm; i = x->views->next[i - 1]) {
		if (x->views->acts[i - 1])
			ret = kl_vf_glue(x, at, i - 1);
		if (!ret && i - 1 != at && x->views->acts[at])
			ret = kl_vf_glue(x, i - 1, at);
		if (!ret && kl_vf_time_over(x))
			ret = -ETIME;
	}
	return ret;
}
