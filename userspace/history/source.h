/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places of a history's operations in the text that they were read from.  Later messages about an
 * operation begin with FILE:LINE:COLUMN and show its line:
 *
 *	h.txt:3:21: error: ... 'ok' is 7, spec 'register' expects a bool; write 0 or 1
 *	  t1 @0 6 9 cas 3 4 -> 7
 *	                       ^
 */
#ifndef KL_HISTORY_SOURCE_H
#define KL_HISTORY_SOURCE_H

#include "base/mem.h"
#include "history/batch.h"
#include "history/history.h"
#include "history/input.h"

/* Where a file of separate calls and returns has both events of an operation. */
struct kl_source_events {
	uint32_t place;			/* the operation's */
	uint32_t call_line, ret_line;	/* lines of the events; 0: there is none */
	uint32_t end_line; /* line after which its outcome stays unknown, or 0: Jepsen's :info */
	uint32_t call_index, ret_index;	/* Jepsen's :index of the events, plus 1; 0: none */
	/* offsets of their first bytes, @ret_at also that of @end_line; or KL_NO_PLACE */
	uint32_t call_at, ret_at;
};

/* An operation that took no effect, as the source says.  The history does not have it. */
struct kl_source_failed {
	uint32_t call_line, ret_line;
	uint32_t call_at, ret_at; /* as in struct kl_source_events */
	/*
	 * its signature and thread are the history's; it is pending, but @ret is the time of the
	 * last event before it ended
	 */
	struct kl_op op;
};

/* An entry of no operation, as those of Jepsen's :nemesis. */
struct kl_source_other {
	uint32_t line, at; /* @at: as call_at of struct kl_source_events */
	uint64_t after; /* time of the last event before it, 0 if there is none */
};

/* The begin of what source_text.c keeps, so that a program needs that file only if it uses it. */
struct kl_source_again {
	void (*free)(struct kl_source_again *again);
};

struct kl_source {
	struct kl_source_events *events;	/* sorted by place; NULL: none are known */
	size_t nevents;
	struct kl_source_failed *failed;	/* in the order of their calls */
	size_t nfailed;
	struct kl_source_other *other; /* in the order of the text */
	size_t nother;
	char *name;		/* the file's name in messages */
	char *path;		/* path of a file that can be read again, or NULL */
	struct kl_input_id id; /* of that file */
	const struct kl_form *form; /* how to read an entry again, or NULL */
	struct kl_source_again *again; /* see source_text.h; or NULL */
	size_t skip;		/* number of bytes before the first line */
	enum kl_place_kind places;
	/* lines that are in memory, or NULL */
	const char *text;
	size_t len;
	unsigned int first;	/* number of the first of these lines */
	char *kept;		/* memory of @text that the source owns, or NULL */
	/*
	 * where the last line that was found begins, in bytes and lines after the first line: the
	 * search for a later place goes on there
	 */
	size_t found_at;
	unsigned int found_lines;
};

/* Record the input of the history, after its last operation.  Return: 0 or -ENOMEM. */
int kl_source_note(struct kl_history *h, const struct kl_input *in);
/*
 * Give @to, whose places are numbers of lines, the name of the input of @from, if it has one.  The
 * input itself cannot be read again.  Return: 0 or -ENOMEM.
 */
int kl_source_share_name(struct kl_history *to, const struct kl_history *from);
void kl_source_free(struct kl_source *s);

/**
 * kl_source_find() - find the line in which an operation begins
 * @h: the history
 * @op: index of the operation
 * @col: gets the column, from 1; 0 if it is not known
 *
 * Where places are offsets, the file is read again, up to the operation, and from the operation
 * that was found last if that comes earlier.
 *
 * Return: the number of the line, from 1; 0 if it is not known.
 */
unsigned int kl_source_find(const struct kl_history *h, size_t op, size_t *col);

/* Return: where the source has the operation's events, or NULL if it is not known. */
static inline const struct kl_source_events *kl_source_events(const struct kl_history *h, size_t op)
{
	const struct kl_source *s = h->source;
	size_t low = 0, high = s && h->places ? s->nevents : 0, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->events[mid].place < h->places[op])
			low = mid + 1;
		else
			high = mid;
	}
	return s && h->places && low < s->nevents && s->events[low].place == h->places[op] ?
		&s->events[low] : NULL;
}

/*
 * Return: true if the operation writes the first state, where the source has no such operation.
 * Reports do not count it, and call it the first.
 */
static inline bool kl_source_is_first(const struct kl_history *h, size_t op)
{
	return h->source && h->places && h->places[op] == KL_FIRST_PLACE;
}

/* Record the place of the operation that is added next.  Return: 0 or -ENOMEM. */
__attribute__((always_inline))
static inline int kl_source_place(struct kl_history *h, uint32_t place)
{
	const size_t n = kl_batch_nops(h);
	int ret;

	if (h->cplaces <= n) {
		kl_expect(h->places, h->cplaces, n, h->cops);
		ret = kl_grow(h->places, h->cplaces, n + 1);
		if (ret)
			return ret;
	}
	h->places[n] = place;
	return 0;
}

#endif
