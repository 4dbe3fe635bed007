/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Variables that grow as a search goes deeper.  A search whose states have a counter that
 * nothing bounds has no end; when a limit stops it, this tells which variable that is.
 *
 * The range of each variable over all states so far is noted at some depths, evenly spaced.
 * A variable grows if its range became wider in both halves of the last of them.
 */
#ifndef KL_TSO_MACHINE_GROWTH_H
#define KL_TSO_MACHINE_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KL_GROWTH_MARKS	16

struct kl_growth_var {
	bool seen;
	int64_t first, lo, hi;
	int64_t lo_at[KL_GROWTH_MARKS], hi_at[KL_GROWTH_MARKS];
};

struct kl_growth {
	struct kl_growth_var *var;
	size_t n;
	uint64_t levels, every;		/* so many levels between two marks */
	unsigned int nmarks;
	unsigned int looked;		/* states of this level */
};

/* Of @n variables.  Return: 0 or -ENOMEM. */
int kl_growth_init(struct kl_growth *g, size_t n);
void kl_growth_free(struct kl_growth *g);
/* All that was seen is forgotten: a search begins anew. */
void kl_growth_forget(struct kl_growth *g);
/* The states that follow are one step deeper. */
void kl_growth_level(struct kl_growth *g);
/* Is the next state of this level one to look at?  Of many states some are enough. */
bool kl_growth_looks(struct kl_growth *g);
/* In a state variable @i has the value @v; what is no number is passed over. */
void kl_growth_note(struct kl_growth *g, size_t i, uint64_t v);

/**
 * kl_growth_of() - how a variable grew
 * @g: what was seen
 * @i: the variable
 * @from: its first value
 * @to: the one farthest from that
 *
 * Return: did it grow until the end?
 */
bool kl_growth_of(const struct kl_growth *g, size_t i, int64_t *from, int64_t *to);

/* A sentence of it: "'NAME' grew from 0 to 41233 ...".  Return: as snprintf(). */
int kl_growth_tell(char *buf, size_t size, const char *name, int64_t from, int64_t to);

#endif
