// SPDX-License-Identifier: GPL-2.0
/* Looks for a concrete run to an alarm: the explorer searches small clients. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tso/explore/explore.h"
#include "verify/model.h"

bool kl_verify_roles(const struct kl_spec *spec, struct kl_verify_options *o)
{
	const struct kl_client *c = spec->impl ? &spec->impl->client : NULL;
	unsigned int i;

	if (!c || !c->roles)
		return false;
	o->threads = c->nthreads;
	o->roles = true;
	for (i = 0; i < c->nthreads && i < KL_VF_THREADS; i++)
		o->methods[i] = c->methods[i];
	return true;
}

/* Set the client's threads: the threads that were verified, or threads that call any method. */
static void set_client(const struct kl_verifier *x, struct kl_client *c, unsigned int threads,
		       unsigned int ops)
{
	unsigned int i;

	c->roles = x->asked.roles;
	c->nthreads = threads;
	c->ops = ops;
	for (i = 0; i < threads; i++)
		c->methods[i] = x->asked.roles ? x->asked.methods[i] : UINT64_MAX;
}

static bool is_wrong(enum kl_explore_verdict v)
{
	return v == KL_EX_NOT_LINEARIZABLE || v == KL_EX_FAULT || v == KL_EX_DEADLOCK ||
	       v == KL_EX_ENDLESS;
}

/* Return: true if the client uses keys of the sentinels, which are not verified. */
static bool other_keys(const struct kl_verifier *x, const struct kl_client *c)
{
	unsigned int i;

	for (i = 0; i < c->nvalues && x->m.keyed; i++)
		if (!c->values[i] || c->values[i] == UINT64_MAX)
			return true;
	return false;
}

static void cut(struct kl_verify_search *s, bool *how, const char *why, const char *what)
{
	if (!s->no_memory && !s->cannot && !s->stopped)
		snprintf(s->why, sizeof(s->why), "%s%s", why, what);
	*how = true;
}

/* Note the end of a search.  Return: true if it found a wrong run. */
static bool searched(struct kl_verify_search *s, struct kl_explorer *ex, unsigned int threads,
		     unsigned int ops, enum kl_explore_verdict v)
{
	if (is_wrong(v)) {
		s->not_linearizable = v == KL_EX_NOT_LINEARIZABLE;
		return true;
	}
	if (v == KL_EX_MEMORY)
		cut(s, &s->no_memory, "that search reached its memory limit", "");
	else if (v == KL_EX_STOPPED)
		cut(s, &s->stopped, "that search was stopped: ", kl_explore_message(ex));
	else if (v == KL_EX_LOST)
		cut(s, &s->cannot, "", kl_explore_message(ex));
	else if (v == KL_EX_LIMIT)
		cut(s, &s->cannot, "the explorer reached one of its own limits: ",
		    kl_explore_message(ex));
	else if (s->ops[threads] < ops)
		s->ops[threads] = ops;
	return false;
}

int kl_verify_confirm(struct kl_verifier *x, uint64_t memory, unsigned int bounds,
		      struct kl_verify_search *s, struct kl_explorer **out)
{
	static const uint8_t general[][2] = { { 2, 1 }, { 2, 2 }, { 3, 1 }, { 2, 3 }, { 3, 2 } };
	struct kl_client *c = &x->m.im->client, old = *c;
	struct kl_explore_options o = { .sc = true, .memory = memory, .lim = x->o.lim };
	enum kl_explore_verdict v;
	unsigned int i, threads;
	int ret = 0;
	bool found = false;

	*out = NULL;
	memset(s, 0, sizeof(*s));
	s->other_keys = other_keys(x, c);
	for (i = 0; i < bounds && i < sizeof(general) / sizeof(*general) && !ret && !found &&
	     !s->stopped; i++) {
		threads = x->asked.roles ||
			  (x->asked.threads && x->asked.threads < general[i][0]) ?
			  x->asked.threads : general[i][0];
		set_client(x, c, threads, general[i][1]);
		kl_explorer_free(*out);
		*out = NULL;
		ret = kl_explore(x->m.spec, &o, &v, out);
		found = !ret && searched(s, *out, threads, general[i][1], v);
	}
	*c = old;
	if (!found) {
		kl_explorer_free(*out);
		*out = NULL;
	}
	/* The explorer has printed the reason. */
	if (ret == -EINVAL) {
		cut(s, &s->cannot, "the explorer cannot run this model", "");
		ret = 0;
	}
	return ret ? ret : found;
}
