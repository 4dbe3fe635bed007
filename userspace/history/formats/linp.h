/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the forms of LinP and FPTLin share: the types of structures, their
 * methods and ours, and times.
 *
 * Values are numbers; -1 is `empty'.  Their priority queues take the largest
 * value first and ours the least, so a priority v is read as -1 - v.
 *
 * At equal times a return comes before a call, hence is ordered before it, and an
 * operation takes some time: a call at t is read as 2t + 1 and a return at t as
 * 2t.  LinP's check of sets is the exception, where they are concurrent.
 */
#ifndef KL_HISTORY_FORMATS_LINP_H
#define KL_HISTORY_FORMATS_LINP_H

#include <stdbool.h>
#include <stdint.h>

#include "history/formats/form.h"
#include "history/history.h"
#include "history/scan.h"

enum kl_linp_shape {
	KL_LINP_GIVE,	/* has the value as its argument, no result */
	KL_LINP_TAKE,	/* has the value as its result */
	KL_LINP_TRUE,	/* has the value as its argument, and true as its result */
	KL_LINP_FALSE,
	KL_LINP_TELL,	/* and what follows the value as its result, 0 or 1 */
	KL_LINP_SWAP,	/* has two values as its arguments, and true as its result */
};

#define KL_LINP_METHODS	8	/* of a type, at most */

struct kl_linp_method {
	const char *theirs, *ours;
	enum kl_linp_shape shape;
};

struct kl_linp_type {
	const char *name, *also;	/* as the first line calls it */
	const char *spec;		/* ours, in specs/ */
	const char *expected;		/* a list of its methods for messages */
	bool reversed;			/* order of values */
	bool ties;			/* equal times are concurrent */
	struct kl_linp_method methods[KL_LINP_METHODS + 1];
};

/* One file being read. */
struct kl_linp {
	struct kl_scan scan;
	struct kl_history *h;
	const struct kl_linp_type *types, *type;
	size_t ntypes;
	const char *expected;	/* types, for messages */
	bool one_thread;	/* the form names none */
	unsigned int nmethods;	/* of the type, and of each: */
	struct kl_shape shape[KL_LINP_METHODS];
	struct kl_linp_name {
		uint64_t chars, mask;	/* the first characters, eight at most, as a number */
		size_t len;		/* how many they are, */
		const char *rest;	/* and what follows them */
	} name[KL_LINP_METHODS];
};

/* Does a file begin with `# TYPE' of one of them? */
bool kl_linp_is(const struct kl_head *head, const struct kl_linp_type *types, size_t n);
/* A line `# TYPE', or a comment behind it. */
int kl_linp_header(struct kl_linp *l, const char **pp);
/*
 * Read a file of which @line reads the lines, with what linp_scan.h has for their parts.
 * 0; -EINVAL after a message; another negative errno.
 */
int kl_linp_read(struct kl_linp *l, struct kl_input *in,
		 int (*line)(void *ctx, const char **pp), struct kl_history **out);

#endif
