/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A search of all orders of some operations, for what a story says of them: which results one
 * operation could have had, and how far the longest orders come.
 */
#ifndef KL_STORY_SEARCH_H
#define KL_STORY_SEARCH_H

#include "check/check.h"

#define KL_SEARCH_RESULTS	32	/* largest number of results that are kept */

/* Results that the searched operation may have, and the state before it. */
struct kl_search_result {
	char result[192];	/* as text: "1", "(1, 2)"; empty for a method without results */
	char state[256];	/* as text; empty if the state is not known */
	bool known;		/* all results are known words or special values */
	bool complete;		/* an order of all operations that returned has it */
};

/* The end of a longest order. */
struct kl_search_end {
	uint32_t *ops;		/* the operations in order, as indices in the history */
	size_t n;
	char state[256];	/* the state after them, as text; empty if it is not known */
	uint32_t stopped_by;	/* completed, and cannot come next; or KL_NO_OP */
	char allowed[192];	/* its possible results in this state, as text; may be empty */
};

#define KL_SEARCH_ENDS	3

struct kl_search {
	struct kl_search_result results[KL_SEARCH_RESULTS];
	size_t nresults;
	bool more;		/* there are further results or states */
	bool over;		/* the search ended at its bound, or knowledge was lost */
	uint64_t looks; /* number of looks that it took */
	struct kl_search_end ends[KL_SEARCH_ENDS];	/* longest, if no order is complete */
	size_t nends;
};

/* The operations besides the searched one that may return anything. */
enum kl_search_free { KL_SEARCH_FREE_NONE, KL_SEARCH_FREE_PURE, KL_SEARCH_FREE_ALL };

/* The operations whose orders are tried. */
struct kl_search_in {
	const struct kl_history *h;
	const uint32_t *ops;	/* indices in @h, ascending; NULL: all */
	uint32_t nops;
	uint32_t object;	/* index in @h, for its gaps; KL_ALL_OBJECTS for several */
	enum kl_search_free free;
	uint64_t most; /* bound of the looks; 0: some hundredths of a second */
};

/**
 * kl_search() - try all orders of operations on sequential consistency
 * @spec: the specification
 * @in: the operations
 * @want: the operation whose results are looked for, as an index in the history: it may return
 *	anything; or KL_NO_OP, to find the longest orders
 * @out: gets what was found; kl_search_free() it
 *
 * Return: 0 or -ENOMEM.
 */
int kl_search(const struct kl_spec *spec, const struct kl_search_in *in, uint32_t want,
	      struct kl_search *out);
void kl_search_free(struct kl_search *s);

#endif
