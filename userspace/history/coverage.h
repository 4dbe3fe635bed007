/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of a method's calls a recording has seen.
 *
 * A probe sits on the entry of a function, and calls that the compiler inlined, or led to a
 * clone of it, pass that by.  What a recorder knows of this it writes down for each of its
 * probe clauses:
 *
 *	# coverage put unknown "kr2_put(): no debugging information says where it is inlined"
 *
 * A history without such a line comes from no probes, and is whole.
 */
#ifndef KL_HISTORY_COVERAGE_H
#define KL_HISTORY_COVERAGE_H

#include <stddef.h>

struct kl_history;

enum kl_cover {
	KL_COVER_WHOLE,		/* every call is seen */
	KL_COVER_ASSERTED,	/* the specification says so */
	KL_COVER_UNKNOWN,	/* some may pass by */
};

extern const char *const kl_cover_names[3];

/**
 * struct kl_coverage - what is known of one probe clause
 * @kind: what
 * @method: the name of its method
 * @text: its function, and why; a line without quotes, or NULL
 */
struct kl_coverage {
	enum kl_cover kind;
	char *method, *text;
};

/**
 * kl_history_cover() - say how a probe clause covers its method
 * @h: the history
 * @kind: what is known
 * @method: the method's name, of
 * @len: so many characters
 * @text: see struct kl_coverage; '"' and control characters in it are replaced; or NULL
 * @ntext: its length
 *
 * Return: 0 or -ENOMEM.
 */
int kl_history_cover(struct kl_history *h, enum kl_cover kind, const char *method, size_t len,
		     const char *text, size_t ntext);
/* Say of @to what is said of @from, too.  0 or -ENOMEM. */
int kl_history_copy_coverage(struct kl_history *to, const struct kl_history *from);
/* For kl_history_free(). */
void kl_history_free_coverage(struct kl_history *h);

#endif
