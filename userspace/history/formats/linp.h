/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared parts of LinP's and FPTLin's forms: the types of structures, the names of their methods
 * and klin's, and times.
 *
 * Values are numbers; -1 is `empty'.  In these forms a priority queue removes the largest value
 * first, in klin the least, so a priority v is read as -1 - v.
 *
 * At equal times a return is before a call, so a call at t is read as 2t + 1, a return at t as 2t.
 * Sets are an exception (@ties): LinP takes their operations at equal times as concurrent.
 */
#ifndef KL_HISTORY_FORMATS_LINP_H
#define KL_HISTORY_FORMATS_LINP_H

#include <stdbool.h>
#include <stdint.h>

#include "history/formats/form.h"
#include "history/history.h"
#include "history/scan.h"

enum kl_linp_shape {
	KL_LINP_GIVE,	/* the value is the argument; there is no result */
	KL_LINP_TAKE,	/* the value is the result */
	KL_LINP_TRUE,	/* the value is the argument; the result is true */
	KL_LINP_FALSE,
	KL_LINP_TELL,	/* the value is the argument; the line has a result, 0 or 1, after it */
	KL_LINP_SWAP,	/* two values are the arguments; the result is true */
};

#define KL_LINP_METHODS	8 /* maximal number of methods of a type */

struct kl_linp_method {
	const char *theirs, *ours;
	enum kl_linp_shape shape;
};

struct kl_linp_type {
	const char *name, *also; /* the names of the type in the first line */
	const char *spec; /* the shipped spec */
	const char *expected; /* list of the methods for messages */
	bool reversed; /* the largest value comes first */
	bool ties; /* operations at equal times are concurrent */
	struct kl_linp_method methods[KL_LINP_METHODS + 1];
};

/* One file being read. */
struct kl_linp {
	struct kl_scan scan;
	struct kl_history *h;
	const struct kl_linp_type *types, *type;
	size_t ntypes;
	const char *expected; /* list of the types for messages */
	bool one_thread; /* the form has no threads */
	unsigned int nmethods; /* number of methods of the type */
	struct kl_opsig sig[KL_LINP_METHODS];
	struct kl_linp_name {
		uint64_t chars, mask; /* the first eight characters of the name as a number */
		size_t len; /* number of these characters */
		const char *rest; /* the characters of the name after the first eight */
	} name[KL_LINP_METHODS];
};

/* Return: true if a file begins with a line `# TYPE' for one of the @n types. */
bool kl_linp_is(const struct kl_head *head, const struct kl_linp_type *types, size_t n);
/* Read a line `# TYPE', or a comment after it. */
int kl_linp_header(struct kl_linp *l, const char **pp);
/*
 * Read a file; @line reads each line, with the functions of linp_scan.h.  Return: 0, -EINVAL
 * after a message, or another negative errno.
 */
int kl_linp_read(struct kl_linp *l, struct kl_input *in,
		 int (*line)(void *ctx, const char **pp), struct kl_history **out);

#endif
