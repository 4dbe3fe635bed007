// SPDX-License-Identifier: GPL-2.0
/*
 * The lists of the engine `lifo', and when two configurations can go on in the same ways.
 *
 * Additions in the lists have places, but only their order matters: which must lie below which.
 * So an addition of R_LIST has two counts: of the additions of R_LIST that must lie below it, which
 * are the last of the list, and of such additions of R_SEEN.  An addition of R_SEEN has only
 * the first count, and an open addition has both.  These counts are constant while an addition is
 * in the stack, since values below it can only leave after it.  So a list gets a canonical number,
 * made from values and counts.  Configurations with equal numbers can go on in the same ways,
 * whichever additions have left.
 */
#include <errno.h>

#include "check/lazy/lifo.h"

#define CONS_LOOKS	40	/* looks for making or finding a cell, see KL_CONFIG_LOOKS */

static int number(int64_t n, uint32_t *out)
{
	if (n < 0)
		return n;
	if (n >= UINT32_MAX)
		return -EOVERFLOW;
	*out = n + 1;
	return 0;
}

/* Put @c in front of *list, with its counts @below and @seen. */
static int cons(struct lazy *f, uint32_t *list, struct lazy_cell c, uint32_t below, uint32_t seen)
{
	const struct lazy_cell next = lazy_cell(f, *list);
	const uint64_t canon[2] = {
		(uint64_t)f->o.side[LAZY_ADDS].op[c.op].value << 32 | next.canon,
		(uint64_t)below << 32 | seen,
	};
	uint64_t words[3] = {
		(uint64_t)c.op << 32 | *list, (uint64_t)c.first_place << 32 | c.last_place,
	};
	int ret = number(kl_intern(&f->canon, canon, 2), &c.canon);

	*f->looks += CONS_LOOKS;
	if (ret)
		return ret;
	words[2] = (uint64_t)c.canon << 32 | (next.depth + 1);
	return number(kl_intern(&f->cells, words, 3), list);
}

/* Return: the number of additions of @list that have no place from @place on. */
static uint32_t count_below(const struct lazy *f, const uint32_t *r, uint32_t list, uint32_t place)
{
	struct lazy_cell c;

	for (; list != LAZY_END; list = c.next) {
		c = lazy_cell(f, list);
		if (lazy_last_place(f, r[R_ZONES], c.first_place, c.last_place) < place)
			return c.depth;
	}
	return 0;
}

/* Return: the number of additions of R_SEEN whose place is before @place. */
static uint32_t count_seen(const struct lazy *f, const uint32_t *r, uint32_t place)
{
	uint32_t list = r[R_SEEN];
	struct lazy_cell c;

	for (; list != LAZY_END; list = c.next) {
		c = lazy_cell(f, list);
		if (c.first_place < place)
			return c.depth;
	}
	return 0;
}

/* Put @c in front of *list, and count the additions below it. */
static int put_back(struct lazy *f, const uint32_t *r, uint32_t *list, struct lazy_cell c)
{
	return cons(f, list, c, count_below(f, r, *list, c.first_place),
		    count_seen(f, r, c.first_place));
}

/*
 * Insert @c into *list, where additions that returned later come first.  The recursion is as deep
 * as operations overlap.
 */
static int insert(struct lazy *f, const uint32_t *r, uint32_t *list, struct lazy_cell c)
{
	const struct lazy_cell front = lazy_cell(f, *list);
	int ret;

	if (*list == LAZY_END || front.last_place < c.last_place ||
	    (front.last_place == c.last_place && front.op < c.op))
		return put_back(f, r, list, c);
	*list = front.next;
	ret = insert(f, r, list, c);
	return ret ? ret : put_back(f, r, list, front);
}

static int take_out(struct lazy *f, const uint32_t *r, uint32_t *list, uint32_t op)
{
	const struct lazy_cell front = lazy_cell(f, *list);
	int ret;

	*list = front.next;
	if (front.op == op)
		return 0;
	ret = take_out(f, r, list, op);
	return ret ? ret : put_back(f, r, list, front);
}

int lazy_insert(struct lazy *f, uint32_t *r, struct lazy_cell c)
{
	return insert(f, r, &r[R_LIST], c);
}

int lazy_take_out(struct lazy *f, uint32_t *r, uint32_t op)
{
	return take_out(f, r, &r[R_LIST], op);
}

int lazy_put_seen(struct lazy *f, uint32_t *r, struct lazy_cell c)
{
	return cons(f, &r[R_SEEN], c, count_below(f, r, r[R_LIST], c.last_place), 0);
}

int lazy_add_zone(struct lazy *f, uint32_t *r, uint32_t from, uint32_t to)
{
	uint32_t *zones = &r[R_ZONES];
	uint64_t words[3] = { 0, (uint64_t)from << 32 | to, 0 };

	while (*zones != LAZY_END && lazy_cell(f, *zones).last_place > from)
		*zones = lazy_cell(f, *zones).next;
	words[0] = *zones;
	return to - from > 1 ? number(kl_intern(&f->cells, words, 3), zones) : 0;
}

void lazy_lifo_canonical(const struct lazy *f, const uint32_t *r, uint32_t *key)
{
	const struct lazy_side *s = &f->o.side[LAZY_ADDS];
	const uint32_t *left = r + f->base[LAZY_ADDS];
	uint32_t i;

	key[R_LIST] = lazy_cell(f, r[R_LIST]).canon;
	key[R_SEEN] = lazy_cell(f, r[R_SEEN]).canon;
	key[R_ZONES] = 0;
	/* Count for open additions, which are not in the lists yet. */
	for (i = 0; i < r[L_LEFT + LAZY_ADDS]; i++) {
		const uint32_t call = s->op[left[i]].call;

		key[f->len + 2 * i] = count_below(f, r, r[R_LIST], call);
		key[f->len + 2 * i + 1] = count_seen(f, r, call);
	}
}
