// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a log by a history block while it grows, see records.h.  The text up to the last whole
 * record is read like a file.  Then the operations that have returned come first in the history,
 * and those that have not are kept aside until the next text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history/formats/form.h"
#include "history/internal.h"
#include "history/source.h"
#include "records/cut.h"
#include "records/map.h"
#include "records/records.h"

#define OPEN 2 /* value of kl_op.pad: the operation has not returned */

/* An operation that has not returned, which process[@process] has called. */
struct waiting {
	size_t process;
	struct kl_op op;
	uint32_t place;
	struct kl_source_events events;
};

struct follow {
	struct kl_stream_log base;
	struct kl_map_reader rd;
	const char *name;
	struct kl_cut cut;
	bool begun;
	bool any; /* there were operations */
	bool done; /* the log has ended */
	size_t seen; /* bytes that kl_cut_next() has seen, and that were not read yet */
	char *text; /* the present text */
	size_t ctext;
	uint64_t bytes; /* of the texts before, with their lines */
	unsigned int lines;
	uint64_t last; /* the call of the last whole operation */
	struct waiting *waiting;
	size_t nwaiting, cwaiting;
};

static struct follow *follow_of(struct kl_stream_log *base)
{
	return (struct follow *)base;
}

static int is(struct kl_stream_log *base, const char *text, size_t len, bool end)
{
	const struct kl_form *form;

	(void)base;
	if (!end && !kl_cut_known(text, len))
		return -EAGAIN;
	form = kl_form_tell(text, len);
	return len && (!form || form == &kl_form_edn);
}

/* Copy a text, and end it as the readers need it.  Return: 0 or a negative errno. */
static int copy(struct follow *f, const char *text, size_t *len)
{
	size_t n = *len;
	int ret = kl_map_check_text(f->name, text, text + n, f->bytes);

	ret = ret ?: kl_grow(f->text, f->ctext, n + 2 + KL_INPUT_BEHIND);
	if (ret)
		return ret;
	memcpy(f->text, text, n);
	if (!n || text[n - 1] != '\n')
		f->text[n++] = '\n';
	memset(f->text + n, 0, 1 + KL_INPUT_BEHIND);
	*len = n;
	return 0;
}

static void count(struct follow *f, const char *text, size_t len)
{
	const char *const end = text + len;

	f->bytes += len;
	for (; (text = memchr(text, '\n', end - text)); text++)
		f->lines++;
}

/* Recognize the notation.  @used: gets the length of what is before the first record. */
static int begin(struct follow *f, const char *text, size_t len, size_t *used)
{
	struct kl_map_reader *rd = &f->rd;
	struct kl_history *h = rd->m.h;
	struct kl_input in;
	size_t n = len;
	int ret = copy(f, text, &n);

	ret = ret ?: kl_records_begin(&rd->r, f->name, f->text, f->text + n, rd->m.map);
	if (ret)
		return ret;
	*used = rd->r.p - f->text;
	*used = *used < len ? *used : len;
	count(f, text, *used);
	kl_cut_begin(&f->cut, &rd->r);
	rd->lines.name = f->name;
	rd->pairs.scan = &rd->lines;
	kl_input_memory(&in, f->name, "", 0);
	in.places = KL_PLACES_LINES;
	kl_map_describe(rd);
	f->begun = true;
	ret = kl_history_object(h, 0) < 0 ? -ENOMEM : kl_source_note(h, &in);
	return ret;
}

/* Put the operations that have returned first, and the others aside. */
static int set_aside(struct follow *f)
{
	struct kl_map_reader *rd = &f->rd;
	struct kl_history *h = rd->m.h;
	struct kl_process *p = rd->pairs.process;
	size_t i, n = 0;
	int ret;

	f->nwaiting = 0;
	for (i = 0; i < rd->pairs.nprocess; i++, p++) {
		if (!p->op)
			continue;
		ret = kl_grow(f->waiting, f->cwaiting, f->nwaiting + 1);
		if (ret)
			return ret;
		f->waiting[f->nwaiting++] = (struct waiting){
			.process = i,
			.op = h->ops[p->op - 1],
			.place = h->places[p->op - 1],
			.events = rd->pairs.events[p->op - 1],
		};
		h->ops[p->op - 1].pad = OPEN;
		rd->open[p->thread].tok = NULL;
	}
	for (i = 0; i < h->nops; i++)
		if (h->ops[i].pad != OPEN && !kl_pairs_dropped(&h->ops[i]))
			kl_history_move(h, n++, i);
	h->nops = n;
	return 0;
}

/* At the end operations that have not returned are lost. */
static int complete(struct follow *f)
{
	struct kl_map_reader *rd = &f->rd;
	size_t i;
	int ret = kl_map_check_open(rd) ?: kl_map_check_paths(rd, f->name);

	for (i = 0; i < rd->pairs.nprocess && !ret; i++)
		if (rd->pairs.process[i].op)
			ret = kl_pairs_lose(&rd->pairs, &rd->pairs.process[i]);
	f->done = true;
	f->any |= rd->failed || rd->pairs.now;
	return ret ?: f->any ? 0 : kl_map_none(rd, f->name);
}

/* Read a text, which ends with the log if it is the @last one. */
static int read_text(struct follow *f, const char *text, size_t len, bool last)
{
	struct kl_map_reader *rd = &f->rd;
	const struct kl_history *h = rd->m.h;
	size_t n = len;
	int ret = copy(f, text, &n);

	if (ret)
		return ret;
	rd->r.more = !last;
	kl_records_go_on(&rd->r, f->text, f->text + n, f->lines);
	ret = kl_map_records(rd);
	count(f, text, len);
	if (!ret && rd->m.map->whole)
		ret = kl_map_check_at_once(rd);
	if (rd->m.map->whole && h->nops)
		f->last = h->ops[h->nops - 1].call;
	f->any |= h->nops;
	return ret;
}

static int read_log(struct kl_stream_log *base, const char *text, size_t len, bool end,
		    size_t *used)
{
	struct follow *f = follow_of(base);
	size_t n;
	int ret = f->begun ? 0 : begin(f, text, len, used);

	if (ret || f->done)
		return ret;
	text += *used;
	len -= *used;
	n = kl_cut_next(&f->cut, text + f->seen, len - f->seen);
	n = end ? len : n ? f->seen + n : 0;
	f->seen = len - n;
	*used += n;
	if (n || end)
		ret = read_text(f, text, n, end);
	/* Behind a list there is nothing, or an error. */
	if (!ret && f->rd.r.over && f->seen) {
		*used += f->seen;
		ret = read_text(f, text + n, f->seen, true);
	}
	if (!ret && (end || f->rd.r.over))
		ret = complete(f);
	return ret ?: set_aside(f);
}

/* The signatures of operations that wait are no longer in the renewed history. */
static int renew(struct follow *f)
{
	struct kl_map_reader *rd = &f->rd;
	const struct kl_process *p;
	int64_t sig;
	size_t i;
	int ret = kl_history_renew(&rd->m.h);

	rd->pairs.h = rd->m.h;
	rd->pairs.bare.known = false;
	for (i = 0; i < f->nwaiting && !ret; i++) {
		p = &rd->pairs.process[f->waiting[i].process];
		if (p->sig.nres) /* The operation gets a signature at its return. */
			continue;
		sig = kl_history_sig(rd->m.h, &p->sig, p->vals, p->vals + p->sig.nargs);
		ret = sig < 0 ? sig : 0;
		f->waiting[i].op.sig = sig;
	}
	return ret;
}

/* Drop the operations that were handed out, and append again those that wait. */
static int forget(struct kl_stream_log *base)
{
	struct follow *f = follow_of(base);
	struct kl_map_reader *rd = &f->rd;
	size_t i;
	int ret;

	rd->m.h->nops = 0;
	ret = rd->m.h->nopsigs < KL_STREAM_OPSIGS ? 0 : renew(f);
	for (i = 0; i < f->nwaiting && !ret; i++) {
		const struct waiting *w = &f->waiting[i];
		struct kl_history *h = rd->m.h;

		ret = kl_source_place(h, w->place) ?: kl_grow(h->ops, h->cops, i + 1);
		if (ret)
			break;
		h->ops[i] = w->op;
		h->nops = i + 1;
		/* There were as many before. */
		rd->pairs.events[i] = w->events;
		rd->pairs.process[w->process].op = i + 1;
	}
	rd->pairs.nevents = i;
	return ret;
}

static struct kl_history *history(struct kl_stream_log *base)
{
	return follow_of(base)->rd.m.h;
}

/* Whole operations may come in any order; calls and returns come in theirs. */
static uint64_t lower_bound(struct kl_stream_log *base, bool *sure)
{
	const struct follow *f = follow_of(base);
	uint64_t floor = f->rd.pairs.now + 1;
	size_t i;

	*sure = !f->rd.m.map->whole;
	if (!*sure)
		return f->last;
	for (i = 0; i < f->nwaiting; i++)
		if (f->waiting[i].op.call < floor)
			floor = f->waiting[i].op.call;
	return floor;
}

static bool ended(struct kl_stream_log *base)
{
	return follow_of(base)->done;
}

static void free_follow(struct kl_stream_log *base)
{
	struct follow *f = follow_of(base);

	kl_map_free(&f->rd);
	free(f->text);
	free(f->waiting);
	free(f);
}

int kl_records_follow(const char *path, const struct kl_spec *spec, struct kl_stream_log **out)
{
	struct follow *f = calloc(1, sizeof(*f));
	int ret;

	*out = NULL;
	if (!f)
		return -ENOMEM;
	f->base = (struct kl_stream_log){
		.is = is, .read = read_log, .history = history, .floor = lower_bound,
		.ended = ended, .forget = forget, .free = free_follow,
	};
	f->name = strcmp(path, "-") ? path : "<stdin>";
	ret = kl_map_begin(&f->rd, spec);
	if (ret)
		free_follow(&f->base);
	else
		*out = &f->base;
	return ret;
}
