// SPDX-License-Identifier: GPL-2.0
/* Reads a history while it grows, and checks it; see follow.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "check/coverage.h"
#include "history/stream.h"
#include "klin/cmd.h"
#include "klin/follow.h"
#include "klin/input.h"
#include "records/records.h"

/*
 * Return: a lower bound of the calls of later operations.  It is the floor that the input states
 * or, with --lateness, the latest return less the lateness.
 */
static uint64_t lower_bound(const struct follow_args *a, const struct kl_stream *in,
			    const struct session *s)
{
	bool sure;
	uint64_t floor = kl_stream_floor(in, &sure);

	if (!a->late || sure)
		return floor;
	floor = session_newest(s);
	return floor > a->lateness ? floor - a->lateness : 0;
}

/* After the header was read: load the specification, and begin a session. */
static int begin_session(const struct follow_args *a, const struct kl_history *h,
			 struct kl_spec **spec, struct session **s)
{
	int ret = *spec ? kl_extended_spec(h, a->history, spec) :
		  kl_carried_spec(h, a->history, spec);

	if (ret)
		return ret;
	kl_coverage_warn(*spec, h, a->history);
	*s = session_new(*spec, h, &a->style);
	return *s ? 0 : -ENOMEM;
}

/* Say that klin waits for more of a file, which may be whole already, and what ends the wait. */
static void say_waiting(const struct follow_args *a, const struct kl_stream *in, struct session *s)
{
	const char *by = kl_stream_ends_by(in);

	if (!by)
		return;
	if (s)
		session_clear_line(s);
	fprintf(stderr,
		"%s: %s: waiting for more, until %s%sSIGINT (Ctrl-C) comes%s\n", kl_log_name,
		a->history, by, *by ? " or " : "",
		*by ? "" : "; a log that is whole ends by itself as `- <FILE' or without --follow");
}

static int follow_stream(const struct follow_args *a, struct kl_stream *in, struct kl_spec **spec,
			 struct session **s, enum kl_stream_state *state)
{
	bool waited = false;
	int ret = 0;

	*state = KL_STREAM_WAIT;
	while (!ret && *state < KL_STREAM_END && !*a->style.stop) {
		const struct kl_history *h;

		if (*s)
			session_release(*s);
		ret = kl_stream_read(in, state);
		if (!ret && *state == KL_STREAM_WAIT && !waited) {
			say_waiting(a, in, *s);
			waited = true;
		}
		h = kl_stream_history(in);
		if (ret || !h)
			continue;
		if (!*s && (h->nops || *state >= KL_STREAM_END))
			ret = begin_session(a, h, spec, s);
		if (ret || !*s)
			continue;
		ret = session_add(*s, h) ?: session_floor(*s, lower_bound(a, in, *s));
		session_progress(*s);
	}
	return ret;
}

/* Open the history.  A history block of the specification reads logs of other programs. */
static int open_stream(const struct follow_args *a, const struct kl_spec *spec,
		       struct kl_stream **in)
{
	struct kl_stream_log *log = NULL;
	int ret = kl_stream_open(a->history, in);

	if (ret || !spec || !kl_spec_maps(spec))
		return ret;
	ret = kl_records_follow(a->history, spec, &log);
	if (!ret)
		kl_stream_use(*in, log);
	return ret;
}

int follow(const struct follow_args *a)
{
	struct kl_spec *spec = NULL;
	struct kl_stream *in = NULL;
	struct session *s = NULL;
	enum kl_stream_state state;
	int ret, code;

	ret = a->spec ? kl_spec_load(a->spec, &spec) : 0;
	if (ret)
		return kl_ending_error(ret);
	if (spec)
		kl_warn_blocks(spec);
	ret = open_stream(a, spec, &in);
	if (!ret)
		ret = follow_stream(a, in, &spec, &s, &state);
	if (!ret && !s)
		/* The history is empty, or a signal came before the first operation. */
		kl_err("%s: no history yet: expected at least its header and an operation",
		       a->history);
	else if (ret && ret != -EINVAL)
		kl_err("%s: %s", a->history, strerror(-ret));
	code = ret && ret != -EINVAL ? KLIN_EXIT_SYSTEM : KLIN_EXIT_USAGE;
	if (!ret && s) {
		if (state == KL_STREAM_CUT)
			kl_warn("%s: cut short: operations after its end are taken as unknown",
				a->history);
		code = session_end(s, state == KL_STREAM_END);
	}
	session_free(s);
	kl_stream_close(in);
	kl_spec_free(spec);
	return code;
}
