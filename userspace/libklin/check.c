// SPDX-License-Identifier: GPL-2.0
/* Checks, see klin/klin.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "libklin/result.h"
#include "spec/carried.h"
#include "story/story.h"
#include "story/unknown.h"

/* Copy the caller's options, which may be those of an older version. */
static struct klin_options take_options(const struct klin_options *from)
{
	struct klin_options o = KLIN_OPTIONS;

	if (from)
		memcpy(&o, from, from->size < sizeof(o) ? from->size : sizeof(o));
	return o;
}

/* Set the specification of the result: @spec, or the one that the history carries. */
static int set_spec(struct klin_result *r, struct klin_spec *spec)
{
	const struct klin_history *h = r->history;
	struct kl_spec *carried = NULL;
	int err;

	if (spec) {
		lib_get(&spec->users);
		r->spec = spec;
		return 0;
	}
	if (!h->h->spec_text && !h->h->spec_path) {
		kl_err("the history carries no specification: give one");
		return -EINVAL;
	}
	err = kl_carried_spec(h->h, h->path ?: "", &carried);
	if (!err) {
		r->spec = lib_spec(carried);
		err = r->spec ? 0 : -ENOMEM;
	}
	if (err)
		kl_spec_free(carried);
	return err;
}

static int headline_of_violation(struct klin_result *r)
{
	const struct kl_part_result *p = r->report->parts;
	struct kl_story *story = NULL;
	int err;

	while (p->answer.verdict != KL_VIOLATION)
		p++;
	err = kl_story_tell(r->spec->s, r->history->h, p, &story);
	if (err)
		return err;
	r->headline = strdup(story	       ? story->headline :
			     *p->answer.reason ? p->answer.reason :
						 "no order of the operations is right");
	kl_story_free(story);
	return r->headline ? 0 : -ENOMEM;
}

static int headline_of_unknown(struct klin_result *r)
{
	struct kl_unknown unknown[KL_UNKNOWN_CAUSES];
	size_t n;
	int err = kl_unknown_explain(r->report, unknown, &n);

	if (err)
		return err;
	r->headline = strdup(n ? unknown[0].why : r->report->reason);
	kl_unknown_free(unknown, n);
	return r->headline ? 0 : -ENOMEM;
}

static int check(struct klin_result *r, struct klin_spec *spec, const struct klin_options *o)
{
	struct kl_options opt = {
		.max_shrink = 1,
		.bytes = o->bytes ?: KL_DEFAULT_BYTES,
		.work = o->work ?: KL_DEFAULT_WORK,
		.threads = o->threads,
		.stop = o->stop,
		.no_witness = !o->certificate,
	};
	struct klin_history *h = r->history;
	int err = lib_history_finish(h) ?: set_spec(r, spec);

	if (!err)
		err = kl_complete_pending(r->spec->s, h->h);
	if (err)
		return err;
	kl_warn_blocks(r->spec->s);
	opt.classical = h->h->memory.sc;
	if (o->memory != KLIN_MEMORY_DEFAULT) {
		opt.classical = o->memory == KLIN_MEMORY_SC;
		opt.memory_by = KL_MEMORY_BY_COMMAND;
	}
	r->ordered = o->certificate;
	err = kl_check(r->spec->s, h->h, &opt, &r->report);
	if (err || r->report->verdict == KL_LINEARIZABLE)
		return err;
	return r->report->verdict == KL_VIOLATION ? headline_of_violation(r) :
						    headline_of_unknown(r);
}

int klin_check(struct klin_spec *spec, struct klin_history *h, const struct klin_options *options,
	       struct klin_result **result)
{
	const struct klin_options o = take_options(options);
	struct klin_result *r = calloc(1, sizeof(*r));
	int err;

	lib_begin();
	*result = NULL;
	if (!r)
		return lib_end(-ENOMEM, "check");
	lib_get(&h->users);
	r->history = h;
	pthread_mutex_lock(&h->lock);
	err = check(r, spec, &o);
	pthread_mutex_unlock(&h->lock);
	if (err)
		klin_result_free(r);
	else
		*result = r;
	return lib_end(err, "check");
}

void klin_result_free(struct klin_result *r)
{
	if (!r)
		return;
	kl_report_free(r->report);
	klin_spec_free(r->spec);
	klin_history_free(r->history);
	free(r->headline);
	free(r);
}
