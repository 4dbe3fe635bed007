// SPDX-License-Identifier: GPL-2.0
/* An alarm made concrete: the explorer's search under small bounds. */
#include <errno.h>

#include "tso/explore.h"
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

/* Threads of the client: those that were verified, or general ones. */
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

int kl_verify_confirm(struct kl_verifier *x, uint64_t memory, unsigned int bounds,
		      struct kl_explorer **out)
{
	static const uint8_t general[][2] = { { 2, 1 }, { 2, 2 }, { 3, 1 }, { 2, 3 }, { 3, 2 } };
	struct kl_client *c = &x->m.im->client, old = *c;
	struct kl_explore_options o = { .sc = true, .memory = memory };
	enum kl_explore_verdict v;
	unsigned int i, threads;
	int ret = 0;
	bool found = false;

	*out = NULL;
	for (i = 0; i < bounds && i < sizeof(general) / sizeof(*general) && !ret && !found; i++) {
		threads = x->asked.roles ||
			  (x->asked.threads && x->asked.threads < general[i][0]) ?
			  x->asked.threads : general[i][0];
		set_client(x, c, threads, general[i][1]);
		kl_explorer_free(*out);
		*out = NULL;
		ret = kl_explore(x->m.spec, &o, &v, out);
		found = !ret && is_wrong(v);
	}
	*c = old;
	if (!found) {
		kl_explorer_free(*out);
		*out = NULL;
	}
	return ret ? ret : found;
}
