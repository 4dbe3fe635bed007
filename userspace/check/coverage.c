// SPDX-License-Identifier: GPL-2.0
/* Violations that an unseen call or store may explain, see coverage.h. */
#include <stdio.h>

#include "base/err.h"
#include "check/coverage.h"
#include "history/source.h"

static bool harms(const struct kl_method *m, enum kl_cover kind, bool classical)
{
	return kind == KL_COVER_UNKNOWN	  ? !m->pure :
	       kind == KL_COVER_UNDRAINED ? m->barrier && !classical :
					    false;
}

const struct kl_coverage *kl_coverage_harm(const struct kl_spec *spec, const struct kl_history *h,
					   bool classical)
{
	size_t i;
	int m;

	for (i = 0; i < h->ncoverage; i++) {
		m = kl_spec_find_method(spec, h->coverage[i].method);
		if (m >= 0 && harms(kl_spec_method(spec, m), h->coverage[i].kind, classical))
			return &h->coverage[i];
	}
	return NULL;
}

void kl_coverage_warn(const struct kl_spec *spec, const struct kl_history *h, const char *name)
{
	char near[128];
	size_t i;

	name = h->source && h->source->name ? h->source->name : name;
	for (i = 0; i < h->ncoverage; i++) {
		const struct kl_coverage *c = &h->coverage[i];

		if (kl_spec_find_method(spec, c->method) >= 0)
			continue;
		kl_warn_at(name, 0, 0,
			   "`# coverage %s %s' has no effect, since spec '%s' has no method '%s'%s",
			   c->method, kl_cover_names[c->kind], kl_spec_name(spec), c->method,
			   kl_spec_near_method(spec, c->method, near, sizeof(near)));
	}
}

int kl_coverage_follow(const struct kl_spec *spec, struct kl_history *to,
		       const struct kl_history *from, bool classical)
{
	if (kl_coverage_harm(spec, to, classical) || !kl_coverage_harm(spec, from, classical))
		return 0;
	kl_history_free_coverage(to);
	return kl_history_copy_coverage(to, from) ?: 1;
}

void kl_coverage_reason(const struct kl_coverage *c, char *buf, size_t size)
{
	snprintf(
		buf, size,
		c->kind == KL_COVER_UNDRAINED ?
			"a violation, unless a store of '%.40s' left the store buffer after its return" :
			"a violation, unless calls of '%.40s' were missed: the coverage of its probe is "
			"unknown",
		c->method);
}

void kl_report_suspect(struct kl_report *r, const struct kl_coverage *c)
{
	size_t i;

	r->suspect = c;
	/* The report is counted already, so its violations move to the unknown ones. */
	if (r->verdict == KL_VIOLATION)
		r->verdict = KL_UNKNOWN;
	r->count[KL_UNKNOWN] += r->count[KL_VIOLATION];
	r->count[KL_VIOLATION] = 0;
	for (i = 0; i < r->nparts; i++) {
		struct kl_part_result *p = &r->parts[i];

		if (p->answer.verdict != KL_VIOLATION)
			continue;
		p->answer.verdict = KL_UNKNOWN;
		p->suspected = true;
		p->undrained = c->kind == KL_COVER_UNDRAINED;
		r->suspected++;
	}
	if (r->suspected)
		kl_coverage_reason(c, r->reason, sizeof(r->reason));
}
