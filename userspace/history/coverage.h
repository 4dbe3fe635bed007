/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Coverage: which calls of a method a recording has seen.
 *
 * A probe at the entry of a function misses calls that the compiler inlined or led to a clone.  A
 * recorder writes a line for each probe clause:
 *
 *	# coverage put unknown "kr2_put(): no debugging information says where it is inlined"
 *
 * A history without such lines does not come from probes, and its coverage is whole.
 *
 * A recording by libklin sees all calls, but perhaps not when their stores left the store buffer:
 *
 *	# coverage enq undrained
 */
#ifndef KL_HISTORY_COVERAGE_H
#define KL_HISTORY_COVERAGE_H

#include <stddef.h>

struct kl_history;

enum kl_cover {
	KL_COVER_WHOLE, /* every call is seen */
	KL_COVER_ASSERTED, /* the spec asserts that every call is seen */
	KL_COVER_UNKNOWN, /* some calls may be missed */
	/*
	 * Every call is seen, but its stores may wait in the store buffer after its return, also
	 * where the specification says that they do not.
	 */
	KL_COVER_UNDRAINED,
	KL_COVER_KINDS
};

extern const char *const kl_cover_names[KL_COVER_KINDS];

/**
 * struct kl_coverage - the coverage of one probe clause
 * @kind: the coverage
 * @method: name of the clause's method
 * @text: the function and the reason, in a line without quotes; or NULL
 */
struct kl_coverage {
	enum kl_cover kind;
	char *method, *text;
};

/**
 * kl_history_cover() - record the coverage of a probe clause
 * @h: the history
 * @kind: the coverage
 * @method: name of the clause's method
 * @len: length of @method
 * @text: see struct kl_coverage; '"' and control characters are replaced
 * @ntext: length of @text
 *
 * Return: 0 or -ENOMEM.
 */
int kl_history_cover(struct kl_history *h, enum kl_cover kind, const char *method, size_t len,
		     const char *text, size_t ntext);
/* Add the coverage of @from to @to.  Return: 0 or -ENOMEM. */
int kl_history_copy_coverage(struct kl_history *to, const struct kl_history *from);
/* Free the coverage, as a part of kl_history_free(). */
void kl_history_free_coverage(struct kl_history *h);

#endif
