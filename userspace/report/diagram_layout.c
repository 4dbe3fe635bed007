// SPDX-License-Identifier: GPL-2.0
/* Computes the layout of a diagram, see diagram_layout.h. */
#include <inttypes.h>
#include <string.h>

#include "history/source.h"
#include "history/spell.h"
#include "report/diagram_layout.h"

#define MIN_GAP		2	/* least distance of two events, in columns */
#define FRAME		4	/* columns around a label: two ends, two dashes */
#define EDGE		2	/* columns at an edge of a band, for the mark that it continues */
/* largest number of bands with labels; then labels become numbers */
#define MAX_BANDS	3

static bool earlier(struct dg_time a, struct dg_time b)
{
	return a.t != b.t ? a.t < b.t : a.after < b.after;
}

static void add_time(struct dg_layout *d, struct dg_time t)
{
	int i = d->nranks;

	while (i && earlier(t, d->time[i - 1]))
		i--;
	if (i && !earlier(d->time[i - 1], t))
		return;
	memmove(d->time + i + 1, d->time + i, (d->nranks - i) * sizeof(*d->time));
	d->time[i] = t;
	d->nranks++;
}

static int rank_of(const struct dg_layout *d, struct dg_time t)
{
	int i = 0;

	while (earlier(d->time[i], t))
		i++;
	return i;
}

static struct dg_time at(uint64_t t)
{
	return (struct dg_time){ .t = t };
}

/* May stores of the operation leave the buffer after its return? */
static bool drains_later(const struct kl_diagram_opts *o, const struct kl_history *h,
			 const struct kl_op *op)
{
	return o->stores && o->stores[kl_op_method(h, op)] && kl_op_drain(h, op) > op->ret;
}

/*
 * The return of @op.  If an operation has its call and return at this time, the return gets a
 * later rank, so that its interval has a length.
 */
static struct dg_time return_of(const struct kl_history *h, const uint32_t *ops, size_t n,
				const struct kl_op *op)
{
	struct dg_time t = at(op->ret);
	size_t i;

	for (i = 0; i < n; i++)
		if (h->ops[ops[i]].call == t.t && h->ops[ops[i]].ret == t.t)
			t.after = true;
	return t;
}

static int lane_of(struct dg_layout *d, const struct kl_op *op)
{
	int i;

	for (i = 0; i < d->nlanes; i++)
		if (d->lane[i].thread == op->thread)
			break;
	if (i == d->nlanes)
		d->lane[d->nlanes++] = (struct dg_lane){ .thread = op->thread, .cpu = op->cpu };
	if (d->lane[i].cpu != op->cpu)
		d->lane[i].cpu = KL_NO_CPU;
	return i;
}

/* Return: an operation of the lane, which has one. */
static uint32_t some_op(const struct dg_layout *d, int lane)
{
	int i = 0;

	while (d->item[i].gap || d->item[i].lane != lane)
		i++;
	return d->item[i].op;
}

/* Name the lanes.  @cpus: add the CPU of a thread that stayed on one CPU. */
static void name_lanes(struct dg_layout *d, const struct kl_history *h, bool cpus)
{
	struct dg_lane *l;
	size_t n;

	for (l = d->lane; l < d->lane + d->nlanes; l++) {
		if (l->thread == KL_NO_OP)
			snprintf(l->name, sizeof(l->name), "gap");
		else if (kl_source_is_first(h, some_op(d, l - d->lane)))
			strcpy(l->name, "first");
		else
			kl_history_print_thread(l->name, sizeof(l->name), h, l->thread);
		n = strlen(l->name);
		if (l->thread != KL_NO_OP && cpus && l->cpu != KL_NO_CPU)
			snprintf(l->name + n, sizeof(l->name) - n, " cpu%u", l->cpu);
	}
}

/* End a truncated label with dots, which also replace a character that is incomplete. */
static void cut_label(struct dg_item *it)
{
	char *p = it->label + DG_LABEL - 3;

	while ((*p & 0xc0) == 0x80)
		p--;
	memcpy(p, "..", 3);
}

static void add_op(struct dg_layout *d, const struct kl_history *h, uint32_t i,
		   const struct kl_diagram_opts *o)
{
	const struct kl_op *op = &h->ops[i];
	struct dg_item *it = &d->item[d->nitems++];
	size_t b;

	*it = (struct dg_item){
		.op = i, .lane = lane_of(d, op),
		.open_left = op->flags & KL_OP_NOCALL, .open_right = op->flags & KL_OP_PENDING,
	};
	if (kl_op_print(it->label, sizeof(it->label), h, op) >= DG_LABEL)
		cut_label(it);
	it->len = dg_columns(it->label);
	for (b = 0; b < o->naround; b++)
		it->around |= o->around[b] == i;
	for (b = 0; b < o->nbad; b++)
		if (o->bad[b].op == i)
			it->bad = &o->bad[b];
}

/* Add the gaps of the objects in the diagram, or of all objects, that overlap its time. */
static void add_gaps(struct dg_layout *d, const struct kl_history *h, uint64_t from, uint64_t to)
{
	int lane = DG_NONE;
	size_t i;

	for (i = 0; i < h->ngaps && d->nitems < DG_ITEMS; i++) {
		const struct kl_gap *g = &h->gaps[i];
		struct dg_item *it = &d->item[d->nitems];
		bool shown = g->object == KL_ALL_OBJECTS;
		int j;

		for (j = 0; j < d->nitems && !shown; j++)
			shown = !d->item[j].gap && h->ops[d->item[j].op].object == g->object;
		if (!shown || g->to < from || g->from > to)
			continue;
		if (lane == DG_NONE) {
			lane = d->nlanes++;
			d->lane[lane] = (struct dg_lane){ .thread = KL_NO_OP };
		}
		*it = (struct dg_item){ .lane = lane, .gap = true, .op = i };
		it->open_left = g->from == KL_TIME_MIN;
		it->open_right = g->to == KL_TIME_MAX;
		if (g->lost)
			it->len = snprintf(it->label, sizeof(it->label), "%" PRIu64 " lost",
					   g->lost);
		else
			it->len = snprintf(it->label, sizeof(it->label), "%s",
					   g->reason == KL_GAP_CUT ? "left out" : "not known");
		d->nitems++;
		add_time(d, at(g->from));
		add_time(d, at(g->to));
	}
}

/* Put overlapping intervals of a lane into different rows. */
static void assign_rows(struct dg_layout *d)
{
	int free_from[DG_ITEMS], lane, i, r;

	for (lane = 0; lane < d->nlanes; lane++) {
		for (i = 0; i < d->nitems; i++) {
			struct dg_item *it = &d->item[i];

			if (it->lane != lane)
				continue;
			for (r = 0; r < d->lane[lane].rows && free_from[r] > it->from; r++)
				;
			if (r == d->lane[lane].rows)
				d->lane[lane].rows++;
			it->row = r;
			free_from[r] = it->drain != DG_NONE ? it->drain : it->to;
		}
	}
}

/* Is the distance of two times of the diagram that of the events? */
static bool has_scale(const struct dg_layout *d, const struct kl_history *h)
{
	int i;

	if (h->view.times ? h->view.times == KL_TIMES_EVENTS :
	    h->clock != KL_CLOCK_MONO && h->clock != KL_CLOCK_TICK)
		return false;
	/* The first state has no time. */
	for (i = 0; i < d->nitems; i++)
		if (!d->item[i].gap && kl_source_is_first(h, d->item[i].op))
			return false;
	return true;
}

void dg_collect(struct dg_layout *d, const struct kl_history *h, const uint32_t *ops, size_t n,
		const struct kl_diagram_opts *o)
{
	uint64_t first = KL_TIME_MAX, last = KL_TIME_MIN;
	size_t i;
	int k;

	memset(d, 0, sizeof(*d));
	for (i = 0; i < n; i++) {
		const struct kl_op *op = &h->ops[ops[i]];

		add_op(d, h, ops[i], o);
		add_time(d, at(op->call));
		add_time(d, return_of(h, ops, n, op));
		if (drains_later(o, h, op))
			add_time(d, at(kl_op_drain(h, op)));
		first = op->call < first ? op->call : first;
		last = op->ret > last ? op->ret : last;
	}
	if (n)
		add_gaps(d, h, first, last);
	for (k = 0; k < d->nitems; k++) {
		struct dg_item *it = &d->item[k];

		it->drain = DG_NONE;
		if (it->gap) {
			it->from = rank_of(d, at(h->gaps[it->op].from));
			it->to = rank_of(d, at(h->gaps[it->op].to));
		} else {
			const struct kl_op *op = &h->ops[it->op];

			it->from = rank_of(d, at(op->call));
			it->to = rank_of(d, return_of(h, ops, n, op));
			if (drains_later(o, h, op))
				it->drain = rank_of(d, at(kl_op_drain(h, op)));
		}
	}
	name_lanes(d, h, o->stores);
	assign_rows(d);
	d->timed = has_scale(d, h);
}

/* The length that an interval needs for its label, in columns. */
static int needed_columns(const struct dg_item *it)
{
	return it->len + FRAME - 1 + (it->open_left ? 2 : 0) + (it->open_right ? 2 : 0);
}

/* Did the label of an interval find room in a band before @band? */
static bool labelled_before(const struct dg_layout *d, const struct dg_item *it, int band)
{
	if (d->band[it->from] == band)
		return false;
	return band - d->band[it->from] > 1 || d->width - 1 - d->x[it->from] >= needed_columns(it);
}

/* Return: the least column for rank @k in @band that leaves room for the intervals ending at @k. */
static int column_of(const struct dg_layout *d, int k, int band)
{
	bool opens = !k || d->band[k - 1] != band;
	int x = opens ? (band ? EDGE : 0) : d->x[k - 1] + MIN_GAP, i, start;

	for (i = 0; i < d->nitems; i++) {
		const struct dg_item *it = &d->item[i];

		if (it->to != k || it->from == k || labelled_before(d, it, band))
			continue;
		start = !opens && d->band[it->from] == band ? d->x[it->from] : 0;
		if (x < start + needed_columns(it))
			x = start + needed_columns(it);
	}
	return x;
}

static void place_ranks(struct dg_layout *d)
{
	int band = 0, k;

	for (k = 0; k < d->nranks; k++) {
		int x = column_of(d, k, band);

		/* After the last rank no mark is needed. */
		if (x > d->width - 1 - (k + 1 < d->nranks ? EDGE : 0) && k &&
		    d->band[k - 1] == band) {
			band++;
			d->band[k] = band;
			x = column_of(d, k, band);
		}
		d->band[k] = band;
		d->x[k] = x < d->width ? x : d->width - 1;
	}
	d->nbands = band + 1;
}

/* Return: true if each label has room, and each rank a column of its own. */
static bool is_readable(const struct dg_layout *d)
{
	int i;

	for (i = 1; i < d->nranks; i++)
		if (d->x[i] <= d->x[i - 1])
			return false;
	for (i = 0; i < d->nitems; i++)
		if (d->x[d->item[i].to] - d->x[d->item[i].from] < needed_columns(&d->item[i]))
			return false;
	return true;
}

/* Is the first rank the begin of time, since a call or the begin of a gap was not seen? */
static bool opens_early(const struct dg_layout *d)
{
	int i;

	for (i = 0; i < d->nitems; i++)
		if (!d->item[i].from && d->item[i].open_left)
			return d->time[0].t == KL_TIME_MIN;
	return false;
}

/* Put the ranks of one band into columns to scale, as few as can be read, if any can. */
static void scale(struct dg_layout *d)
{
	int columns[DG_RANKS], first, last, left, tail, right, i;
	double wide;

	if (!d->timed || d->nbands > 1 || !d->nranks)
		return;
	first = opens_early(d);
	last = d->nranks - 1 - (d->time[d->nranks - 1].t == KL_TIME_MAX);
	if (last <= first)
		return;
	memcpy(columns, d->x, sizeof(columns));
	/* The ends of time have the room that they have now. */
	left = d->x[first];
	tail = d->x[d->nranks - 1] - d->x[last];
	wide = d->time[last].t - d->time[first].t;
	for (right = d->x[last]; right + tail < d->width && !d->scaled; right++) {
		for (i = first; i <= last; i++)
			d->x[i] = left + (d->time[i].t - d->time[first].t) / wide * (right - left) +
				  0.5;
		d->x[d->nranks - 1] = right + tail;
		d->scaled = is_readable(d);
	}
	if (!d->scaled)
		memcpy(d->x, columns, sizeof(columns));
}

void dg_place(struct dg_layout *d, int width)
{
	int i, longest = 0;

	d->width = width;
	for (i = 0; i < d->nitems; i++)
		if (longest < needed_columns(&d->item[i]))
			longest = needed_columns(&d->item[i]);
	if (longest <= width - 2 * EDGE) {
		place_ranks(d);
		scale(d);
		if (d->nbands <= MAX_BANDS)
			return;
	}
	d->numbered = true;
	for (i = 0; i < d->nitems; i++)
		if (!d->item[i].gap)
			d->item[i].len = snprintf(d->item[i].label, DG_LABEL, "%d", i + 1);
	place_ranks(d);
}
