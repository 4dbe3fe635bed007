// SPDX-License-Identifier: GPL-2.0
/*
 * Hash compaction (Wolper and Leroy, 1993): for a state that was followed, only 64 bits of its
 * hash are kept.  States that are not followed yet wait whole in a queue.  Any other state is
 * made again, by all steps of the run to it.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "tso/explore/explore_internal.h"

int kl_ex_enqueue(struct kl_explorer *x, const uint8_t *state, uint32_t len)
{
	struct kl_ex_queue *q = &x->queue;
	int ret;

	/* The removed part is reused when it is half of the queue. */
	if (q->first > q->end / 2) {
		memmove(q->bytes, q->bytes + q->first, q->end - q->first);
		q->end -= q->first;
		q->first = 0;
	}
	ret = kl_grow(q->bytes, q->size, q->end + sizeof(len) + len);
	if (ret)
		return ret;
	memcpy(q->bytes + q->end, &len, sizeof(len));
	memcpy(q->bytes + q->end + sizeof(len), state, len);
	q->end += sizeof(len) + len;
	return 0;
}

void kl_ex_hold(struct kl_explorer *x, uint32_t at, const uint8_t *state, size_t len)
{
	x->held = at;
	x->held_len = len;
	memcpy(x->held_bytes, state, len);
}

void kl_ex_dequeue(struct kl_explorer *x, uint32_t at)
{
	struct kl_ex_queue *q = &x->queue;
	uint32_t len;

	memcpy(&len, q->bytes + q->first, sizeof(len));
	kl_ex_hold(x, at, q->bytes + q->first + sizeof(len), len);
	q->first += sizeof(len) + len;
}

/* Append the state in x->held_bytes to the run in x->path. */
static int push(struct kl_explorer *x)
{
	struct kl_ex_path *p = &x->path;
	const size_t end = p->n ? p->end[p->n - 1] : 0;
	int ret = kl_grow(p->end, p->cend, p->n + 1);

	if (!ret)
		ret = kl_grow(p->bytes, p->cbytes, end + x->held_len);
	if (ret)
		return ret;
	memcpy(p->bytes + end, x->held_bytes, x->held_len);
	p->end[p->n++] = end + x->held_len;
	return 0;
}

/*
 * Set x->path.at to the places of the run to @at, and @n to their number.  Set x->path.n to the
 * number of states that this run has in common with the last run.
 */
static int common(struct kl_explorer *x, uint32_t at, size_t *n)
{
	struct kl_ex_path *p = &x->path;
	size_t i, same = 0;
	uint32_t up;
	int ret;

	for (*n = 0, up = at; up != KL_NO_STATE; up = kl_visited_head(&x->visited, up)->parent)
		++*n;
	ret = kl_grow(p->at, p->cat, *n);
	if (ret)
		return ret;
	for (i = *n, up = at; i--; up = kl_visited_head(&x->visited, up)->parent) {
		if (i >= p->n || p->at[i] != up)
			same = 0;
		else if (!same)
			same = i + 1;
		p->at[i] = up;
	}
	p->n = same;
	return 0;
}

/* Make the run to the state at @at again, from where it differs from the last run. */
static int make_again(struct kl_explorer *x, uint32_t at)
{
	struct kl_ex_path *p = &x->path;
	unsigned int t;
	size_t n, begin;
	int64_t len;
	bool flush;
	int ret = common(x, at, &n);

	if (!ret && !p->n) {
		ret = kl_ex_first(x);
		len = ret ? ret : kl_ex_pack(x);
		if (len < 0)
			return len;
		kl_ex_hold(x, p->at[0], x->packed, len);
		ret = push(x);
	} else if (!ret) {
		begin = p->n > 1 ? p->end[p->n - 2] : 0;
		kl_ex_hold(x, p->at[p->n - 1], p->bytes + begin, p->end[p->n - 1] - begin);
	}
	while (!ret && p->n < n) {
		ret = kl_ex_find_step(x, p->at[p->n - 1], p->at[p->n], &t, &flush);
		if (!ret)
			ret = push(x);
	}
	return ret;
}

int kl_ex_state(struct kl_explorer *x, uint32_t at, const uint8_t **state)
{
	*state = x->o.compact ? x->held_bytes : kl_visited_state(&x->visited, at);
	return x->o.compact && at != x->held ? make_again(x, at) : 0;
}
