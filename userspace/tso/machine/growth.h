/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds variables that grow as a search goes deeper.  A search with an unbounded counter never
 * ends; when a limit stops the search, the message names the counter.
 *
 * At evenly spaced depths a mark records the range of each variable over all states so far.  A
 * variable grows if its range became wider in both halves of the last marks.
 */
#ifndef KL_TSO_MACHINE_GROWTH_H
#define KL_TSO_MACHINE_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KL_GROWTH_MARKS	16

struct kl_growth_var {
	bool seen;
	int64_t first, lo, hi;		/* first, least and greatest value so far */
	int64_t lo_at[KL_GROWTH_MARKS], hi_at[KL_GROWTH_MARKS];	/* @lo and @hi at each mark */
};

struct kl_growth {
	struct kl_growth_var *var;
	size_t n;
	uint64_t levels, every;		/* depth so far; number of levels between two marks */
	unsigned int nmarks;
	unsigned int sampled;		/* number of states of this level so far */
};

/* Begin with @n variables.  Return: 0 or -ENOMEM. */
int kl_growth_init(struct kl_growth *g, size_t n);
void kl_growth_free(struct kl_growth *g);
/* Forget all ranges, because the search begins anew. */
void kl_growth_forget(struct kl_growth *g);
/* Begin the next level: the following states are one step deeper. */
void kl_growth_level(struct kl_growth *g);
/* Return: true if the next state of this level is to be noted.  Large levels are sampled. */
bool kl_growth_samples(struct kl_growth *g);
/* Note that variable @i has the value @v in a state.  A value that is no number is ignored. */
void kl_growth_note(struct kl_growth *g, size_t i, uint64_t v);

/**
 * kl_growth_of() - check whether a variable grew until the last mark
 * @g: the recorded ranges
 * @i: the variable
 * @from: set to the variable's first value
 * @to: set to the end of the variable's range that moved: the greatest or the least value
 *
 * Return: true if the variable grew.
 */
bool kl_growth_of(const struct kl_growth *g, size_t i, int64_t *from, int64_t *to);

/* Print a sentence such as "'NAME' grew from 0 to 41233 ...".  Return: as snprintf(). */
int kl_growth_print(char *buf, size_t size, const char *name, int64_t from, int64_t to);

#endif
