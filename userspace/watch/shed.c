// SPDX-License-Identifier: GPL-2.0
/* Drops whole objects under load, see shed.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "watch/shed.h"

#define FIRST_WAIT_NS	1000000000ull	/* time before the first object is checked again */
#define MOST_WAIT_NS	300000000000ull
/* objects may be checked again if the check is busy for at most this part of the time */
#define ROOM		0.5
#define FULL 0.9 /* objects are dropped if the check is busy for more than this part */
#define OBJECTS		65536	/* maximal number of known objects; quiet ones are forgotten */
#define DROPPED		4096	/* maximal number of dropped objects */

static const char why[] = "operations were skipped: there were too many to check them all";

struct object {
	uint64_t object;
	uint64_t nops, last; /* number of operations since the last turn, and in the turn before */
	uint64_t until;		/* the latest return of a skipped operation */
	bool used, dropped;
};

struct shed {
	struct object *table;	/* by hash */
	size_t size, n, ndropped;
	size_t recent;		/* index of the object of the last look-up */
	struct object **order;	/* for sorting */
	size_t corder;
	/* how long the load must be low before objects come back, and since when it is low */
	uint64_t wait, eased;
	uint64_t back;		/* time at which objects last came back */
	uint64_t drops, skipped;
};

struct shed *shed_new(void)
{
	struct shed *s = calloc(1, sizeof(*s));

	if (s)
		s->wait = FIRST_WAIT_NS;
	return s;
}

void shed_free(struct shed *s)
{
	if (!s)
		return;
	free(s->table);
	free(s->order);
	free(s);
}

static struct object *place(struct object *table, size_t size, uint64_t object)
{
	size_t at = kl_mix(object, 3) & (size - 1);

	while (table[at].used && table[at].object != object)
		at = (at + 1) & (size - 1);
	return &table[at];
}

/* Double the table; or, with many objects, remove objects without recent operations. */
static int make_room(struct shed *s)
{
	const bool forget = s->n >= OBJECTS;
	struct object *table;
	size_t size = 64, n = 0, i;

	for (i = 0; i < s->size; i++)
		n += s->table[i].used && (!forget || s->table[i].dropped ||
					  s->table[i].nops || s->table[i].last);
	while (size < 4 * (n + 1))
		size *= 2;
	table = calloc(size, sizeof(*table));
	if (!table)
		return -ENOMEM;
	for (i = 0; i < s->size; i++) {
		const struct object *o = &s->table[i];

		if (o->used && (!forget || o->dropped || o->nops || o->last))
			*place(table, size, o->object) = *o;
	}
	free(s->table);
	s->table = table;
	s->size = size;
	s->n = n;
	s->recent = 0;
	return 0;
}

static struct object *find(struct shed *s, uint64_t object)
{
	struct object *o;

	if (s->size) {
		o = &s->table[s->recent];
		if (o->used && o->object == object)
			return o;
	}
	if (2 * (s->n + 1) > s->size && make_room(s))
		return NULL;
	o = place(s->table, s->size, object);
	s->recent = o - s->table;
	if (!o->used) {
		*o = (struct object){ .object = object, .used = true };
		s->n++;
	}
	return o;
}

bool shed_op(struct shed *s, uint64_t object, uint64_t ret, bool must, int *err)
{
	struct object *o = find(s, object);

	*err = o ? 0 : -ENOMEM;
	if (!o)
		return true;
	o->nops++;
	if (!o->dropped || must)
		return false;
	if (ret > o->until)
		o->until = ret;
	s->skipped++;
	return true;
}

static int by_rate(const void *a, const void *b)
{
	const struct object *const *x = a, *const *y = b;

	if ((*x)->nops != (*y)->nops)
		return (*x)->nops < (*y)->nops ? -1 : 1;
	return (*x)->object < (*y)->object ? -1 : (*x)->object > (*y)->object;
}

/*
 * Sort the dropped objects, or the objects in use that are not dropped, by their numbers of
 * operations since the last turn.  Get the number of objects, and the sum of their operations.
 */
static int sort_objects(struct shed *s, bool dropped, size_t *n, uint64_t *sum)
{
	size_t i;
	int ret = kl_grow(s->order, s->corder, s->n + 1);

	*n = 0;
	*sum = 0;
	for (i = 0; i < s->size && !ret; i++) {
		struct object *o = &s->table[i];

		if (!o->used || o->dropped != dropped || (!dropped && !o->nops))
			continue;
		*sum += o->nops;
		s->order[(*n)++] = o;
	}
	if (*n)
		qsort(s->order, *n, sizeof(*s->order), by_rate);
	return ret;
}

/* Drop the busiest objects until half of the operations are left. */
static int drop(struct shed *s, struct feed *f, struct shed_turn *t)
{
	uint64_t sum, left;
	size_t n;
	int ret = sort_objects(s, false, &n, &sum);

	for (left = sum; !ret && n && left > sum / 2; left -= s->order[n]->nops) {
		struct object *o = s->order[--n];

		ret = feed_drop(f, o->object, why);
		if (ret)
			break;
		o->dropped = true;
		o->until = 0;
		s->ndropped++;
		s->drops++;
		if (!t->dropped++)
			t->object = o->object;
	}
	return ret;
}

/* Check the quietest dropped objects again, as far as the load allows; at least one. */
static int resume(struct shed *s, double busy, struct feed *f, struct shed_turn *t)
{
	uint64_t sum, kept, room;
	size_t n, i;
	int ret = sort_objects(s, false, &n, &kept);

	if (ret)
		return ret;
	room = busy > 0.01 ? kept * ROOM / busy : kept / 0.01 * ROOM;
	ret = sort_objects(s, true, &n, &sum);
	for (i = 0; i < n && !ret; i++) {
		struct object *o = s->order[i];

		if (i && kept + o->nops > room)
			break;
		kept += o->nops;
		feed_resume(f, o->object, o->until);
		o->dropped = false;
		s->ndropped--;
		if (!t->resumed++)
			t->object = o->object;
	}
	return ret;
}

/*
 * Forget dropped objects without operations, which would stay dropped for ever.  If such an object
 * is used again, it is checked, and dropped again under load.
 */
static void let_go_of_silent(struct shed *s, struct feed *f)
{
	size_t i;

	for (i = 0; i < s->size; i++) {
		struct object *o = &s->table[i];

		if (!o->used || !o->dropped || o->nops || o->last)
			continue;
		feed_resume(f, o->object, o->until);
		o->dropped = false;
		s->ndropped--;
	}
}

int shed_turn(struct shed *s, const struct shed_load *l, struct feed *f, struct shed_turn *t)
{
	const bool over = l->over || l->busy > FULL;
	size_t i;
	int ret = 0;

	*t = (struct shed_turn){ 0 };
	if (over || l->busy > ROOM || !s->eased)
		s->eased = l->now;
	if (over) {
		/* Objects came back too soon, so wait for longer next time. */
		if (s->back && l->now - s->back < s->wait)
			s->wait = 2 * s->wait < MOST_WAIT_NS ? 2 * s->wait : MOST_WAIT_NS;
		s->back = 0;
		ret = drop(s, f, t);
	} else if (s->ndropped && l->now - s->eased >= s->wait) {
		ret = resume(s, l->busy, f, t);
		s->back = s->eased = l->now;
	} else if (s->back && l->now - s->back > 4 * s->wait && s->wait > FIRST_WAIT_NS) {
		s->wait /= 2;
		s->back = l->now;
	}
	if (s->ndropped > DROPPED)
		let_go_of_silent(s, f);
	for (i = 0; i < s->size; i++) {
		s->table[i].last = s->table[i].nops;
		s->table[i].nops = 0;
	}
	return ret;
}

int shed_drop_again(struct shed *s, struct feed *f)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->size && !ret; i++)
		if (s->table[i].used && s->table[i].dropped)
			ret = feed_drop(f, s->table[i].object, why);
	return ret;
}

void shed_stats(const struct shed *s, struct shed_stats *out)
{
	*out = (struct shed_stats){
		.objects = s->n, .dropped = s->ndropped, .drops = s->drops,
		.skipped = s->skipped,
	};
}
