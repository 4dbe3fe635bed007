// SPDX-License-Identifier: GPL-2.0
/*
 * The lists of the engine `lifo', and when two configurations are alike.
 *
 * What is left in the stack is known by its places, but all that matters of them is
 * what has to lie below what: for each addition in the list, how many of the list
 * (those that have no place as late as its first one are the last of the list) and how
 * many of those seen; for each seen, how many of the list; the same for the additions
 * that are open.  None of these numbers changes while the addition is there: what has
 * to be below can only leave after it.  So a list has a canonical number, made of the
 * values and these counts, and configurations with equal ones go on alike, whichever
 * additions it was that left.
 */
#include <errno.h>

#include "check/lazy/lifo.h"

#define CONS_LOOKS	40	/* where a cell is made or found, see KL_CONFIG_LOOKS */

static int number(int64_t n, uint32_t *out)
{
	if (n < 0)
		return n;
	if (n >= UINT32_MAX)
		return -EOVERFLOW;
	*out = n + 1;
	return 0;
}

/* Put @c in front of *list, with @below and @seen as the counts that are known of it. */
static int cons(struct late *f, uint32_t *list, struct late_cell c, uint32_t below, uint32_t seen)
{
	const struct late_cell next = late_cell(f, *list);
	const uint64_t canon[2] = {
		(uint64_t)f->o.side[LATE_ADDS].op[c.op].value << 32 | next.canon,
		(uint64_t)below << 32 | seen,
	};
	uint64_t words[3] = {
		(uint64_t)c.op << 32 | *list, (uint64_t)c.lo << 32 | c.hi,
	};
	int ret = number(kl_intern(&f->canon, canon, 2), &c.canon);

	*f->looks += CONS_LOOKS;
	if (ret)
		return ret;
	words[2] = (uint64_t)c.canon << 32 | (next.depth + 1);
	return number(kl_intern(&f->cells, words, 3), list);
}

/* How many of @list have no place from @lo on. */
static uint32_t count_below(const struct late *f, const uint32_t *r, uint32_t list, uint32_t lo)
{
	struct late_cell c;

	for (; list != LATE_END; list = c.next) {
		c = late_cell(f, list);
		if (late_last_place(f, r[R_ZONES], c.lo, c.hi) < lo)
			return c.depth;
	}
	return 0;
}

/* How many of those seen have their place before @lo. */
static uint32_t count_seen(const struct late *f, const uint32_t *r, uint32_t lo)
{
	uint32_t list = r[R_SEEN];
	struct late_cell c;

	for (; list != LATE_END; list = c.next) {
		c = late_cell(f, list);
		if (c.lo < lo)
			return c.depth;
	}
	return 0;
}

/* Put @c in front of *list; what has to be below it is counted anew. */
static int put_back(struct late *f, const uint32_t *r, uint32_t *list, struct late_cell c)
{
	return cons(f, list, c, count_below(f, r, *list, c.lo), count_seen(f, r, c.lo));
}

/* What returned later comes first.  As deep as operations overlap. */
static int insert(struct late *f, const uint32_t *r, uint32_t *list, struct late_cell c)
{
	const struct late_cell front = late_cell(f, *list);
	int ret;

	if (*list == LATE_END || front.hi < c.hi || (front.hi == c.hi && front.op < c.op))
		return put_back(f, r, list, c);
	*list = front.next;
	ret = insert(f, r, list, c);
	return ret ? ret : put_back(f, r, list, front);
}

static int take_out(struct late *f, const uint32_t *r, uint32_t *list, uint32_t op)
{
	const struct late_cell front = late_cell(f, *list);
	int ret;

	*list = front.next;
	if (front.op == op)
		return 0;
	ret = take_out(f, r, list, op);
	return ret ? ret : put_back(f, r, list, front);
}

int late_insert(struct late *f, uint32_t *r, struct late_cell c)
{
	return insert(f, r, &r[R_LIST], c);
}

int late_take_out(struct late *f, uint32_t *r, uint32_t op)
{
	return take_out(f, r, &r[R_LIST], op);
}

int late_put_seen(struct late *f, uint32_t *r, struct late_cell c)
{
	return cons(f, &r[R_SEEN], c, count_below(f, r, r[R_LIST], c.hi), 0);
}

int late_add_zone(struct late *f, uint32_t *r, uint32_t lo, uint32_t hi)
{
	uint32_t *zones = &r[R_ZONES];
	uint64_t words[3] = { 0, (uint64_t)lo << 32 | hi, 0 };

	while (*zones != LATE_END && late_cell(f, *zones).hi > lo)
		*zones = late_cell(f, *zones).next;
	words[0] = *zones;
	return hi - lo > 1 ? number(kl_intern(&f->cells, words, 3), zones) : 0;
}

void late_lifo_canonical(const struct late *f, const uint32_t *r, uint32_t *key)
{
	const struct late_side *s = &f->o.side[LATE_ADDS];
	const uint32_t *left = r + f->base[LATE_ADDS];
	uint32_t i;

	key[R_LIST] = late_cell(f, r[R_LIST]).canon;
	key[R_SEEN] = late_cell(f, r[R_SEEN]).canon;
	key[R_ZONES] = 0;
	/* The same counts for what is open, which the lists do not know yet. */
	for (i = 0; i < r[L_LEFT + LATE_ADDS]; i++) {
		const uint32_t lo = s->op[left[i]].call;

		key[f->len + 2 * i] = count_below(f, r, r[R_LIST], lo);
		key[f->len + 2 * i + 1] = count_seen(f, r, lo);
	}
}
