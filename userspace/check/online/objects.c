// SPDX-License-Identifier: GPL-2.0
/*
 * Objects: their partitions, and their gaps, which begin and end as time goes on.
 *
 * A dropped object has a gap that ends when the object is resumed.  Other gaps without an end stay:
 * a lost operation that never returns may take effect at any time.
 *
 * An object that is over is forgotten, and its structs are used again.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check/online/internal.h"

/* Return: the object's own number, or 0 if the specification does not distinguish objects. */
static uint64_t object_id(const struct kl_online *o, uint64_t object)
{
	return kl_spec_partition(o->spec) == KL_PART_NONE ? 0 : object;
}

/* Return: the index of the object @id in o->objects, or ON_NONE if it is new. */
static uint32_t find_object(const struct kl_online *o, uint64_t id)
{
	const struct on_words *w = &o->object_at;

	return w->size ? w->at[on_words_find(w, o->objects, sizeof(*o->objects), id)] - 1 :
	       ON_NONE;
}

static int get_object(struct kl_online *o, uint64_t id, uint32_t *object)
{
	struct on_words *w = &o->object_at;
	int ret;

	*object = find_object(o, id);
	if (*object != ON_NONE)
		return 0;
	ret = o->nobjects >= ON_NONE / 2 ? -ENOMEM :
	      kl_grow(o->objects, o->cobjects, o->nobjects + 1) ?:
	      on_words_room(w, o->objects, sizeof(*o->objects));
	if (ret)
		return ret;
	*object = o->free_object;
	if (*object != ON_NONE)
		o->free_object = o->objects[*object].first;
	else
		*object = o->nobjects++;
	w->at[on_words_find(w, o->objects, sizeof(*o->objects), id)] = *object + 1;
	w->n++;
	o->objects[*object] = (struct on_object){
		.id = id, .first = ON_NONE, .last = ON_NONE, .dropped = ON_NONE,
	};
	return 0;
}

static uint32_t hash_of(uint64_t object, uint64_t key)
{
	return kl_mix(object, key);
}

static int new_part(struct kl_online *o, uint64_t id, uint64_t key)
{
	const bool again = o->free_part != ON_NONE;
	const uint32_t part = again ? o->free_part : o->nparts;
	struct on_object *b;
	struct on_part *p;
	uint32_t object;
	int ret = kl_grow(o->parts, o->cparts, part + 1) ?: get_object(o, id, &object);

	if (ret)
		return ret;
	if (again)
		o->free_part = o->parts[part].sibling;
	else
		o->nparts++;
	b = &o->objects[object];
	p = &o->parts[part];
	*p = (struct on_part){
		.object = id, .key = key, .gapped = o->gapped || b->gapped,
		.gaps = o->gaps_open + b->gaps_open, .sibling = ON_NONE,
	};
	if (b->first == ON_NONE)
		b->first = part;
	else
		o->parts[b->last].sibling = part;
	b->last = part;
	o->last_part = part;
	return on_part_begin(o, p, !o->begun && !b->begun);
}

/* Forget a partition, except for its verdict. */
static void retire_part(struct kl_online *o, uint32_t part)
{
	struct on_part *p = &o->parts[part];
	enum kl_unknown_cause cause = KL_UNKNOWN_EMPTY;
	struct on_retired *r = &o->retired;
	const char *why;
	uint32_t i;

	r->count[on_part_verdict(o, p, &why, &cause)]++;
	r->n++;
	if (why && !r->why) {
		r->why = why;
		r->cause = cause;
	}
	kl_table_remove(&o->part_at, hash_of(p->object, p->key), part);
	for (i = 0; i < p->nopen; i++)
		on_op_put(o, p->open[i]);
	on_part_free(o, p);
	*p = (struct on_part){ .free = true, .sibling = o->free_part };
	o->free_part = part;
	if (o->last_part == part)
		o->last_part = ON_NONE;
}

/* Return: true if nothing can follow in the partition; what is open in it will never return. */
static bool is_still(struct kl_online *o, const struct on_part *p)
{
	uint32_t i;

	for (i = 0; i < p->nopen; i++)
		if (on_op(o, p->open[i])->ret != KL_TIME_MAX)
			return false;
	return !p->waiting;
}

int on_object_retire(struct kl_online *o, uint64_t object)
{
	struct on_words *w = &o->object_at;
	const uint32_t at = find_object(o, object);
	struct on_object *b;
	uint32_t i, next;
	int ret;

	if (at == ON_NONE)
		return 0;
	b = &o->objects[at];
	/* A gap refers to its object. */
	if (b->ngaps)
		return 0;
	for (i = b->first; i != ON_NONE; i = o->parts[i].sibling)
		if (!is_still(o, &o->parts[i]))
			return 0;
	for (i = b->first; i != ON_NONE; i = o->parts[i].sibling) {
		ret = on_part_end(o, &o->parts[i]);
		/* A late operation may show that this is no violation. */
		if (ret || o->parts[i].wrong)
			return ret;
	}
	for (i = b->first; i != ON_NONE; i = next) {
		next = o->parts[i].sibling;
		retire_part(o, i);
	}
	on_words_unlink(w, o->objects, sizeof(*o->objects),
			on_words_find(w, o->objects, sizeof(*o->objects), object));
	*b = (struct on_object){ .first = o->free_object, .dropped = ON_NONE };
	o->free_object = at;
	return 0;
}

int kl_online_over(struct kl_online *o, uint64_t object)
{
	uint32_t at, i;

	if (kl_spec_partition(o->spec) == KL_PART_NONE)
		return 0;
	at = find_object(o, object);
	if (at == ON_NONE)
		return 0;
	for (i = o->objects[at].first; i != ON_NONE; i = o->parts[i].sibling)
		o->parts[i].over = true;
	return on_object_retire(o, object);
}

/* Return: the number of the partition, or ON_NONE if it is new. */
static uint32_t find_part(const struct kl_online *o, uint64_t object, uint64_t key, uint32_t hash)
{
	uint32_t i;
	size_t at;

	kl_table_for_each(&o->part_at, hash, at, i)
		if (o->parts[i].object == object && o->parts[i].key == key)
			return i;
	return ON_NONE;
}

int on_part_find(struct kl_online *o, uint64_t object, uint64_t key, uint32_t *part)
{
	const uint32_t hash = hash_of(object, key);
	uint32_t i;
	int ret;

	if (o->last_part < o->nparts && o->parts[o->last_part].object == object &&
	    o->parts[o->last_part].key == key) {
		*part = o->last_part;
		return 0;
	}
	i = find_part(o, object, key, hash);
	if (i == ON_NONE) {
		ret = kl_table_reserve(&o->part_at, 1) ?: new_part(o, object, key);
		if (ret)
			return ret;
		i = o->last_part;
		kl_table_put(&o->part_at, hash, i);
	}
	*part = o->last_part = i;
	return 0;
}

/* Return: the partition of any object with number @part, or the next one, or ON_NONE. */
static uint32_t from_part(const struct kl_online *o, uint32_t part)
{
	while (part < o->nparts && o->parts[part].free)
		part++;
	return part < o->nparts ? part : ON_NONE;
}

/* Return: the first partition of @object (ON_NONE: of all objects), or ON_NONE. */
static uint32_t first_part(const struct kl_online *o, uint32_t object)
{
	return object != ON_NONE ? o->objects[object].first : from_part(o, 0);
}

/* Return: the partition of @object after @part, or ON_NONE. */
static uint32_t next_part(const struct kl_online *o, uint32_t object, uint32_t part)
{
	return object != ON_NONE ? o->parts[part].sibling : from_part(o, part + 1);
}

/* Make a gap, and room in the heap for its end. */
static int new_gap(struct kl_online *o, uint64_t from, uint64_t to, uint32_t object, uint32_t *gap)
{
	int ret;

	*gap = o->free_gap;
	if (*gap != ON_NONE) {
		o->free_gap = o->gaps[*gap].object;
	} else {
		ret = kl_grow(o->gaps, o->cgaps, o->ngaps + 1) ?:
		      on_heap_room(&o->gap_times, o->ngaps + 1);
		if (ret)
			return ret;
		*gap = o->ngaps++;
	}
	if (object != ON_NONE)
		o->objects[object].ngaps++;
	o->gaps[*gap] = (struct on_gap){
		.from = from, .to = kl_time_add(to, o->opts.error), .object = object,
	};
	return on_heap_push(&o->gap_times, from, *gap);
}

static void free_gap(struct kl_online *o, uint32_t gap)
{
	if (o->gaps[gap].object != ON_NONE)
		o->objects[o->gaps[gap].object].ngaps--;
	o->gaps[gap].object = o->free_gap;
	o->free_gap = gap;
}

/* A gap begins. */
static int begin(struct kl_online *o, uint32_t gap)
{
	struct on_gap *g = &o->gaps[gap];
	const uint32_t object = g->object;
	const bool endless = g->to == KL_TIME_MAX;
	uint32_t i;
	int ret = 0;

	g->open = true;
	if (object == ON_NONE) {
		o->begun = true;
		o->gaps_open++;
	} else {
		o->objects[object].begun = true;
		o->objects[object].gaps_open++;
	}
	if (!endless)
		ret = on_heap_push(&o->gap_times, g->to, gap);
	else if (object == ON_NONE || o->objects[object].dropped != gap)
		free_gap(o, gap);
	for (i = first_part(o, object); i != ON_NONE && !ret; i = next_part(o, object, i))
		ret = on_part_gap(o, &o->parts[i], endless);
	return ret;
}

static int end(struct kl_online *o, uint32_t gap)
{
	const uint32_t object = o->gaps[gap].object;
	uint32_t i;
	int ret = 0;

	if (object == ON_NONE)
		o->gaps_open--;
	else
		o->objects[object].gaps_open--;
	free_gap(o, gap);
	for (i = first_part(o, object); i != ON_NONE && !ret; i = next_part(o, object, i))
		ret = on_part_gap_over(o, &o->parts[i]);
	return ret;
}

int on_gap_follow(struct kl_online *o)
{
	const uint64_t time = on_heap_first(&o->gap_times);
	const uint32_t gap = on_heap_pop(&o->gap_times);
	int ret = o->gaps[gap].open ? end(o, gap) : begin(o, gap);

	if (time > o->now)
		o->now = time;
	return ret;
}

/* Note that operations on an object are lost from @from on. */
static void lose(struct kl_online *o, uint32_t object, uint64_t from)
{
	uint32_t i;

	o->ngaps_told++;
	if (object == ON_NONE)
		o->gapped = true;
	else
		o->objects[object].gapped = true;
	for (i = first_part(o, object); i != ON_NONE; i = next_part(o, object, i)) {
		o->parts[i].gapped = true;
		on_part_doubt(o, &o->parts[i], from,
			      "operations were lost at a time that had counted as complete");
	}
}

int kl_online_gap(struct kl_online *o, uint64_t from, uint64_t to, uint64_t object, bool all)
{
	uint32_t at = ON_NONE, gap;
	int ret = to < from ? -EINVAL : all ? 0 : get_object(o, object_id(o, object), &at);

	if (!ret)
		ret = new_gap(o, from, to, at, &gap);
	if (!ret)
		lose(o, at, from);
	return ret;
}

int kl_online_drop(struct kl_online *o, uint64_t object, const char *why)
{
	uint32_t at, gap, i;
	int ret = get_object(o, object_id(o, object), &at);

	if (ret)
		return ret;
	gap = o->objects[at].dropped;
	if (gap == ON_NONE)
		ret = new_gap(o, o->floor, KL_TIME_MAX, at, &gap);
	if (ret)
		return ret;
	o->objects[at].dropped = gap;
	o->objects[at].dropped_at = o->floor;
	lose(o, at, o->floor);
	for (i = first_part(o, at); i != ON_NONE; i = next_part(o, at, i))
		if (!o->parts[i].why)
			o->parts[i].why = why;
	return 0;
}

void kl_online_resume(struct kl_online *o, uint64_t object, uint64_t until)
{
	const uint32_t at = find_object(o, object_id(o, object));
	struct on_object *b = &o->objects[at];
	struct on_gap *g;

	if (at == ON_NONE || b->dropped == ON_NONE)
		return;
	g = &o->gaps[b->dropped];
	g->to = kl_time_add(until > b->dropped_at ? until : b->dropped_at, o->opts.error);
	/* There is room, since each gap is in the heap at most once. */
	if (g->open)
		on_heap_push(&o->gap_times, g->to, b->dropped);
	b->dropped = ON_NONE;
}

void on_objects_free(struct kl_online *o)
{
	free(o->objects);
	free(o->object_at.at);
	free(o->parts);
	kl_table_free(&o->part_at);
	free(o->gaps);
	free(o->gap_times.e);
}
