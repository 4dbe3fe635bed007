// SPDX-License-Identifier: GPL-2.0
/* Which operations a page holds, see choose.h. */
#include <errno.h>
#include <stdlib.h>

#include "page/choose.h"
#include "story/story.h"

struct choice {
	const struct kl_op *ops;
	bool *kept;
	bool by_call;		/* "id" of JSON is not that of the history */
	size_t nops, n, most;	/* operations; chosen; number to choose */
};

static void keep(struct choice *c, uint64_t op)
{
	if (op >= c->nops || c->kept[op])
		return;
	c->kept[op] = true;
	c->n++;
}

/* Choose the operations that are called at a time. */
static void keep_called(struct choice *c, uint64_t call)
{
	size_t low = 0, high = c->nops, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (c->ops[mid].call < call)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < c->nops && c->ops[low].call == call; low++)
		keep(c, low);
}

/*
 * Choose all operations that the JSON value names, at any depth up to @deep: by "id", or else by
 * "call", which may also choose others that were called at the same time.
 */
static void keep_named(struct choice *c, const json_t *j, unsigned int deep)
{
	const json_t *id = json_object_get(j, "id"), *call = json_object_get(j, "call"), *v;
	const char *key;
	size_t i;

	if (!deep)
		return;
	if (json_is_integer(id) && !c->by_call)
		keep(c, json_integer_value(id));
	else if (json_is_integer(call))
		keep_called(c, json_integer_value(call));
	else if (json_is_string(call))
		keep_called(c, strtoull(json_string_value(call), NULL, 10));
	json_array_foreach((json_t *)j, i, v)
		keep_named(c, v, deep - 1);
	json_object_foreach((json_t *)j, key, v)
		keep_named(c, v, deep - 1);
}

/* Choose operations of the partition from @from on in both directions until @until are chosen. */
static void keep_part(struct choice *c, const struct kl_part_result *p, uint32_t from, size_t until)
{
	size_t low = 0, high = p->nops, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (kl_result_op(p, mid) < from)
			low = mid + 1;
		else
			high = mid;
	}
	high = low;
	while (c->n < until && (low || high < p->nops)) {
		if (high < p->nops)
			keep(c, kl_result_op(p, high++));
		if (low)
			keep(c, kl_result_op(p, --low));
	}
}

/* The same with operations of all partitions. */
static void keep_around(struct choice *c, uint32_t from, size_t until)
{
	const struct kl_part_result all = { .nops = c->nops };

	keep_part(c, &all, from, until);
}

static void choose(struct choice *c, const struct kl_report *r, const json_t *result,
		   const json_t *found)
{
	size_t nparts = 0, done = 0, i, k;
	const size_t violated = r ? r->nparts : 0;

	keep_named(c, result, 8);
	c->by_call = true;
	keep_named(c, found, 8);
	for (i = 0; i < violated; i++)
		for (k = 0; r->parts[i].cex && k < r->parts[i].cex->h->nops; k++, nparts += k == 1)
			if (c->n < c->most)
				keep(c, r->parts[i].cex->ops[k]);
	/* Half of the room is for the violated partitions, in equal shares. */
	for (i = 0; i < violated; i++)
		if (r->parts[i].cex && r->parts[i].cex->h->nops)
			keep_part(c, &r->parts[i], kl_story_failing(r->parts[i].cex),
				  c->most / 2 / nparts * ++done);
	for (i = 0, k = 0; i < violated; i++)
		if (r->parts[i].cex && r->parts[i].cex->h->nops) {
			k++;
			keep_around(c, kl_story_failing(r->parts[i].cex),
				    c->n + (c->most > c->n ? c->most - c->n : 0) /
				    (nparts - k + 1));
		}
	for (i = 0; c->n < c->most && i < c->nops; i++)
		keep(c, i);
}

int kl_page_choose(const struct kl_history *h, const struct kl_report *r, const json_t *result,
		   const json_t *found, size_t most, bool **out)
{
	struct choice c = { .ops = h->ops, .nops = h->nops, .most = most };

	*out = NULL;
	if (!most || h->nops <= most)
		return 0;
	c.kept = calloc(h->nops, sizeof(*c.kept));
	if (!c.kept)
		return -ENOMEM;
	choose(&c, r, result, found);
	*out = c.kept;
	return 0;
}
