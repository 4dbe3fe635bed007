/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a history's operations are in the text that they were read from, so that what is
 * found wrong with one later is said as FILE:LINE:COLUMN, with its line:
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

struct kl_source {
	char *name;		/* of the file, as messages call it */
	char *path;		/* of one that can be read again, or NULL */
	size_t skip;		/* bytes in front of its first line */
	enum kl_place_kind places;
	/* Lines of it; NULL: none are kept. */
	const char *text;
	size_t len;
	unsigned int first;	/* the number of the first of these */
	char *kept;		/* if @text is the source's own */
};

/* Note what the history was read from, after its last operation.  0 or -ENOMEM. */
int kl_source_note(struct kl_history *h, const struct kl_input *in);
void kl_source_free(struct kl_source *s);

/* Note the place of the operation that is added next; 0 or -ENOMEM. */
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
