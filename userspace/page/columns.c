// SPDX-License-Identifier: GPL-2.0
/* A history in columns, see columns.h. */
#include <inttypes.h>
#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "history/source.h"
#include "history/spell.h"
#include "page/columns.h"
#include "page/orders.h"
#include "report/json.h"
#include "report/stack.h"

#define TEXT	512	/* bytes of a value's text at most; the rest is left out */
#define NONE	UINT32_MAX
#define MOST_STEPS	20000	/* steps of all orders that explain partitions */

struct column {
	uint8_t *bytes;
	size_t n, c;
};

struct columns {
	const struct kl_history *h;
	const struct kl_report *r;
	uint32_t *ops;		/* indices of the operations that are kept */
	size_t nops;
	uint32_t *sig_of;	/* new index of each signature, or NONE */
	uint32_t *part_of;	/* partition of each operation of the history, or NONE */
	uint32_t *new_part;	/* new index of each partition, or NONE */
	/* all values, sorted, each once; a result with a text of its own has @pad */
	struct kl_val *vals;
	size_t nvals;
	const char **said; /* these texts: that of a value is said[pad - 1] */
	size_t nsaid, csaid;
};

/* Append a number.  Missing memory is noted for kl_json_whole(). */
static void put(struct column *c, uint64_t v)
{
	if (kl_grow(c->bytes, c->c, c->n + 10)) {
		kl_json_no_memory();
		return;
	}
	for (; v >= 0x80; v >>= 7)
		c->bytes[c->n++] = v | 0x80;
	c->bytes[c->n++] = v;
}

/* Append a number with a sign: 0, -1, 1, -2, ... are 0, 1, 2, 3, ... */
static void put_signed(struct column *c, int64_t v)
{
	put(c, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static void add_column(json_t *j, const char *name, struct column *c)
{
	const size_t len = BASE64_ENCODE_RAW_LENGTH(c->n);
	char *text = malloc(len + 1);

	if (text) {
		base64_encode_raw(text, c->n, c->bytes);
		json_object_set_new(j, name, json_stringn(text, len));
	} else {
		kl_json_no_memory();
	}
	free(text);
	free(c->bytes);
	*c = (struct column){ 0 };
}

/* A number of 64 bits, which may exceed what JavaScript holds exactly. */
static json_t *whole(uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	return json_string(text);
}

static int compare_vals(const void *pa, const void *pb)
{
	const struct kl_val *a = pa, *b = pb;

	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	if (a->pad != b->pad)
		return a->pad < b->pad ? -1 : 1;
	return a->v < b->v ? -1 : a->v > b->v;
}

/* Return: the number of a result's text, plus one.  Few methods have such results. */
static uint32_t number_said(struct columns *c, const char *said)
{
	size_t i;

	for (i = 0; i < c->nsaid; i++)
		if (!strcmp(c->said[i], said))
			return i + 1;
	if (kl_grow(c->said, c->csaid, c->nsaid + 1)) {
		kl_json_no_memory();
		return 0;
	}
	c->said[c->nsaid++] = said;
	return c->nsaid;
}

/*
 * Return: value @i of a signature, as the key of the page's values.  Values that are not known are
 * all alike, whatever number they have.  A result such as :ok is not the word 1 of others.
 */
static struct kl_val key_of(struct columns *c, const struct kl_opsig *s, unsigned int i)
{
	struct kl_val v = c->h->vals[s->vals + i];
	const char *said = i < s->nargs ? NULL :
					  kl_history_result_said(c->h, c->h->methods[s->method],
								 i - s->nargs, v);

	if (said)
		v.pad = number_said(c, said);
	return v.tag == KL_WORD ? v : kl_special(v.tag);
}

static size_t find_val(struct columns *c, const struct kl_opsig *s, unsigned int i)
{
	const struct kl_val key = key_of(c, s, i);
	const struct kl_val *at = bsearch(&key, c->vals, c->nvals, sizeof(*c->vals), compare_vals);

	return at - c->vals;
}

/* ---- what is used ------------------------------------------------------------------------ */

static bool list_ops(struct columns *c, const bool *kept)
{
	size_t i;

	c->ops = malloc((c->h->nops + 1) * sizeof(*c->ops));
	if (!c->ops)
		return false;
	for (i = 0; i < c->h->nops; i++)
		if (!kept || kept[i])
			c->ops[c->nops++] = i;
	return true;
}

/* Number the signatures that are used, by first use, and collect their values. */
static bool list_sigs(struct columns *c, struct column *sigs, uint32_t **order, size_t *nsigs)
{
	const struct kl_history *h = c->h;
	size_t i, k, n = 0, room = 0;

	c->sig_of = malloc((h->nopsigs + 1) * sizeof(*c->sig_of));
	*order = malloc((h->nopsigs + 1) * sizeof(**order));
	if (!c->sig_of || !*order)
		return false;
	memset(c->sig_of, 0xff, h->nopsigs * sizeof(*c->sig_of));
	for (i = 0; i < c->nops; i++) {
		const struct kl_op *op = &h->ops[c->ops[i]];
		const struct kl_opsig *s = kl_op_sig(h, op);

		if (c->sig_of[op->sig] != NONE)
			continue;
		c->sig_of[op->sig] = n;
		(*order)[n++] = op->sig;
		room += s->nargs + s->nres;
	}
	*nsigs = n;
	c->vals = malloc((room + 1) * sizeof(*c->vals));
	if (!c->vals)
		return false;
	for (i = 0, k = 0; i < n; i++) {
		const struct kl_opsig *s = &h->opsigs[(*order)[i]];
		unsigned int v;

		for (v = 0; v < s->nargs + s->nres; v++)
			c->vals[k++] = key_of(c, s, v);
	}
	qsort(c->vals, k, sizeof(*c->vals), compare_vals);
	for (i = 0; i < k; i++)
		if (!c->nvals || compare_vals(&c->vals[c->nvals - 1], &c->vals[i]))
			c->vals[c->nvals++] = c->vals[i];
	for (i = 0; i < n; i++) {
		const struct kl_opsig *s = &h->opsigs[(*order)[i]];
		unsigned int v;

		put(sigs, s->method);
		put(sigs, s->nargs);
		put(sigs, s->nres);
		for (v = 0; v < s->nargs + s->nres; v++)
			put(sigs, find_val(c, s, v));
	}
	return true;
}

static bool list_parts(struct columns *c)
{
	size_t i, k;

	c->part_of = malloc((c->h->nops + 1) * sizeof(*c->part_of));
	c->new_part = malloc(((c->r ? c->r->nparts : 0) + 1) * sizeof(*c->new_part));
	if (!c->part_of || !c->new_part)
		return false;
	memset(c->part_of, 0xff, c->h->nops * sizeof(*c->part_of));
	for (i = 0; c->r && i < c->r->nparts; i++) {
		const struct kl_part_result *p = &c->r->parts[i];

		c->new_part[i] = NONE;
		for (k = 0; k < p->nops; k++)
			c->part_of[kl_result_op(p, k)] = i;
	}
	return true;
}

/* ---- tables of texts --------------------------------------------------------------------- */

static json_t *methods_json(const struct kl_history *h)
{
	json_t *j = json_array();
	size_t i;

	for (i = 0; i < h->nmethods; i++)
		json_array_append_new(j, kl_json_text(kl_history_method_said(h, i)));
	return j;
}

static json_t *values_json(const struct columns *c)
{
	json_t *j = json_array();
	char text[TEXT];
	size_t i;

	for (i = 0; i < c->nvals; i++) {
		if (!c->vals[i].pad)
			kl_history_print_val(text, sizeof(text), c->h, c->vals[i]);
		json_array_append_new(j, kl_json_text(c->vals[i].pad ? c->said[c->vals[i].pad - 1] :
								       text));
	}
	return j;
}

static json_t *threads_json(const struct kl_history *h)
{
	json_t *j = json_array();
	char text[100];
	size_t i;

	for (i = 0; i < h->nthreads; i++) {
		kl_history_print_thread(text, sizeof(text), h, i);
		json_array_append_new(j, kl_json_text(text));
	}
	for (i = 0; h->places && i < h->nops; i++)
		if (kl_source_is_first(h, i))
			json_array_set_new(j, h->ops[i].thread, json_string("first"));
	return j;
}

/*
 * The names of threads, or symbols or slab caches of objects, null where there is none; NULL if
 * there are none.
 * @words: numbers of threads, or addresses
 */
static json_t *names_json(const struct kl_history *h, enum kl_spelled kind, const uint64_t *words,
			  size_t n)
{
	json_t *j = json_array();
	bool any = false;
	size_t i;

	for (i = 0; i < n; i++) {
		const char *name = kind == KL_SPELLED_WORD ? kl_history_symbol(h, words[i]) :
							     kl_history_spelled(h, kind, words[i]);

		json_array_append_new(j, name ? kl_json_text(name) : json_null());
		any |= name != NULL;
	}
	if (any)
		return j;
	json_decref(j);
	return NULL;
}

static void add_names(json_t *j, const struct kl_history *h)
{
	json_t *names = names_json(h, KL_SPELLED_THREAD, h->threads, h->nthreads);

	if (names)
		json_object_set_new(j, "comms", names);
	names = h->keyed ? NULL : names_json(h, KL_SPELLED_WORD, h->objects, h->nobjects);
	if (names)
		json_object_set_new(j, "symbols", names);
	names = h->keyed ? NULL : names_json(h, KL_SPELLED_SLAB, h->objects, h->nobjects);
	if (names)
		json_object_set_new(j, "slabs", names);
}

static json_t *object_json(const struct kl_history *h, uint64_t object)
{
	const char *spelling = h->keyed ? kl_history_spelling(h, object) : NULL;
	char text[24];

	if (spelling)
		return kl_json_text(spelling);
	if (h->keyed)
		return whole(object);
	snprintf(text, sizeof(text), "0x%" PRIx64, object);
	return json_string(text);
}

static json_t *objects_json(const struct kl_history *h)
{
	json_t *j = json_array();
	size_t i;

	for (i = 0; i < h->nobjects; i++)
		json_array_append_new(j, object_json(h, h->objects[i]));
	return j;
}

/* Return: a few words on the times, for the edge of a picture. */
static const char *clock_name(const struct kl_history *h)
{
	static const char *const views[] = {
		[KL_TIMES_FILE] = "file", [KL_TIMES_EVENTS] = "events",
		[KL_TIMES_DOUBLED] = "file x2",
	};

	return h->view.times ? views[h->view.times] : kl_clock_names[h->clock];
}

static json_t *gaps_json(const struct kl_history *h)
{
	json_t *j = json_array(), *one;
	size_t i;

	for (i = 0; i < h->ngaps; i++) {
		const struct kl_gap *g = &h->gaps[i];

		one = json_object();
		json_object_set_new(one, "from", whole(g->from));
		json_object_set_new(one, "to", whole(g->to));
		json_object_set_new(one, "reason", json_string(kl_gap_reasons[g->reason]));
		if (g->lost)
			json_object_set_new(one, "lost", whole(g->lost));
		if (g->object != KL_ALL_OBJECTS)
			json_object_set_new(one, "object", json_integer(g->object));
		if (g->cpu != KL_NO_CPU)
			json_object_set_new(one, "cpu", json_integer(g->cpu));
		json_array_append_new(j, one);
	}
	return j;
}

/* The operations that the partition's counterexample kept, by their indices in the history. */
static json_t *proof_json(const struct kl_counterexample *cex)
{
	json_t *j = json_array();
	size_t i;

	for (i = 0; i < cex->h->nops; i++)
		json_array_append_new(j, json_integer(cex->ops[i]));
	return j;
}

/* Number the partitions that the kept operations belong to, and list them. */
static json_t *parts_json(struct columns *c)
{
	json_t *j = json_array(), *one, *prefix;
	size_t steps = 0, i;
	uint32_t n = 0;

	for (i = 0; i < c->nops; i++) {
		const uint32_t part = c->part_of[c->ops[i]];
		const struct kl_part_result *p;

		if (part == NONE || c->new_part[part] != NONE)
			continue;
		c->new_part[part] = n++;
		p = &c->r->parts[part];
		one = json_object();
		json_object_set_new(one, "object", object_json(c->h, p->object));
		if (p->has_key)
			json_object_set_new(one, "key",
					    kl_history_spelling(c->h, p->key) ?
					    kl_json_text(kl_history_spelling(c->h, p->key)) :
					    whole(p->key));
		json_object_set_new(one, "verdict", json_string(kl_verdict_name(p->answer.verdict)));
		json_object_set_new(one, "operations", json_integer(p->nops));
		if (p->cex) {
			json_object_set_new(one, "proof", proof_json(p->cex));
			json_object_set_new(one, "orders", kl_page_orders(c->r->spec, p->cex));
			/* The order of what goes well names all operations. */
			prefix = c->nops == c->h->nops ? kl_page_prefix(c->r, p) : NULL;
			if (prefix)
				json_object_set_new(one, "prefix", prefix);
		}
		steps += p->answer.nsteps;
		if (p->answer.verdict == KL_LINEARIZABLE && p->answer.nsteps && steps <= MOST_STEPS)
			json_object_set_new(one, "witness", kl_page_witness(c->r->spec, c->h, p));
		json_array_append_new(j, one);
	}
	return j;
}

/* ---- columns ----------------------------------------------------------------------------- */

static void add_times(json_t *j, const struct columns *c)
{
	struct column call = { 0 }, took = { 0 }, id = { 0 };
	uint64_t last = c->nops ? c->h->ops[c->ops[0]].call : 0, last_id = 0;
	size_t i;

	json_object_set_new(j, "base", whole(last));
	for (i = 0; i < c->nops; i++) {
		const struct kl_op *op = &c->h->ops[c->ops[i]];

		put(&call, op->call - last);
		put(&took, op->ret == KL_TIME_MAX ? 0 : op->ret - op->call + 1);
		put(&id, c->ops[i] - last_id);
		last = op->call;
		last_id = c->ops[i];
	}
	add_column(j, "call", &call);
	add_column(j, "took", &took);
	if (c->nops < c->h->nops)
		add_column(j, "id", &id);
	free(id.bytes);
}

static void add_who(json_t *j, const struct columns *c)
{
	struct column thread = { 0 }, object = { 0 }, cpu = { 0 };
	bool cpus = false, objects = c->h->nobjects > 1;
	size_t i;

	for (i = 0; i < c->nops; i++) {
		const struct kl_op *op = &c->h->ops[c->ops[i]];

		put(&thread, op->thread);
		if (objects)
			put(&object, op->object);
		put(&cpu, op->cpu == KL_NO_CPU ? 0 : op->cpu + 1);
		cpus |= op->cpu != KL_NO_CPU;
	}
	add_column(j, "thread", &thread);
	if (objects)
		add_column(j, "object", &object);
	if (cpus)
		add_column(j, "cpu", &cpu);
	else
		free(cpu.bytes);
}

static void add_what(json_t *j, const struct columns *c)
{
	struct column sig = { 0 }, part = { 0 }, flags = { 0 };
	bool flagged = false;
	size_t i;

	for (i = 0; i < c->nops; i++) {
		const struct kl_op *op = &c->h->ops[c->ops[i]];
		const uint32_t p = c->part_of[c->ops[i]];

		put(&sig, c->sig_of[op->sig]);
		put(&part, p == NONE ? 0 : c->new_part[p] + 1);
		put(&flags, op->flags);
		flagged |= op->flags;
	}
	add_column(j, "sig", &sig);
	add_column(j, "part", &part);
	if (flagged)
		add_column(j, "flags", &flags);
	else
		free(flags.bytes);
}

/* Times of taking effect and of drains, from the call on; 0: not known. */
static void add_points(json_t *j, const struct columns *c)
{
	struct column point = { 0 }, drain = { 0 };
	bool points = false, drains = false;
	size_t i;

	for (i = 0; i < c->nops; i++) {
		const struct kl_op *op = &c->h->ops[c->ops[i]];
		const uint64_t p = kl_op_point(c->h, op), d = kl_op_drain(c->h, op);

		put(&point, p == KL_TIME_MAX ? 0 : p - op->call + 1);
		put(&drain, d == KL_TIME_MAX || d < op->call ? 0 : d - op->call + 1);
		points |= p != KL_TIME_MAX;
		drains |= d != KL_TIME_MAX;
	}
	if (points)
		add_column(j, "point", &point);
	/* Without store buffers they mean nothing. */
	if (drains && !c->h->memory.sc)
		add_column(j, "drain", &drain);
	free(point.bytes);
	free(drain.bytes);
}

static int compare_numbers(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* Stacks of calls, each once, and a column of their indices, plus one; 0: not known. */
static void add_stacks(json_t *j, const struct columns *c)
{
	const struct kl_history *h = c->h;
	struct column stack = { 0 };
	json_t *list = json_array();
	uint32_t *all, *found;
	size_t n = 0, i, k;

	all = h->stacks && c->nops ? malloc(c->nops * sizeof(*all)) : NULL;
	for (i = 0; all && i < c->nops; i++)
		all[i] = kl_op_stack(h, &h->ops[c->ops[i]]);
	if (all)
		qsort(all, c->nops, sizeof(*all), compare_numbers);
	for (i = 0; all && i < c->nops; i++)
		if (all[i] && kl_history_spelled(h, KL_SPELLED_STACK, all[i]) &&
		    (!n || all[n - 1] != all[i]))
			all[n++] = all[i];
	for (i = 0; n && i < c->nops; i++) {
		const uint32_t number = kl_op_stack(h, &h->ops[c->ops[i]]);

		found = bsearch(&number, all, n, sizeof(*all), compare_numbers);
		put(&stack, found ? found - all + 1 : 0);
	}
	for (k = 0; k < n; k++)
		json_array_append_new(
			list, kl_stack_frames(kl_history_spelled(h, KL_SPELLED_STACK, all[k])));
	if (n) {
		json_object_set(j, "stacks", list);
		add_column(j, "stack", &stack);
	} else if (h->stacks && c->nops && !all) {
		kl_json_no_memory();
	}
	json_decref(list);
	free(all);
}

/* Lines of the input in which operations begin, plus one; 0: not known. */
static void add_lines(json_t *j, const struct columns *c)
{
	const struct kl_history *h = c->h;
	struct column line = { 0 };
	int64_t last = 0, at;
	size_t i;

	if (!h->source || !h->places)
		return;
	for (i = 0; i < c->nops; i++) {
		const struct kl_source_events *e = kl_source_events(h, c->ops[i]);

		if (h->places[c->ops[i]] >= KL_FIRST_PLACE)
			at = 0;
		else if (h->source->places == KL_PLACES_OFFSETS)
			at = e ? e->call_line : 0;
		else
			at = h->places[c->ops[i]];
		put_signed(&line, at - last);
		last = at;
	}
	add_column(j, "line", &line);
	json_object_set_new(j, "file", kl_json_text(h->source->name ? h->source->name : ""));
}

/*
 * Values that the lines of an operation spell in another way than the page's values: of each the
 * operation's index in the page, the value's index in the operation, and the text.
 */
static void add_own(json_t *j, const struct columns *c)
{
	json_t *list = json_array();
	char text[TEXT], own[TEXT];
	unsigned int v;
	size_t i;

	for (i = 0; c->h->own.print && i < c->nops; i++) {
		const struct kl_op *op = &c->h->ops[c->ops[i]];
		const struct kl_opsig *s = kl_op_sig(c->h, op);

		for (v = 0; v < s->nargs + s->nres; v++) {
			const struct kl_val val = c->h->vals[s->vals + v];

			if (val.tag != KL_WORD)
				continue;
			kl_op_print_val(own, sizeof(own), c->h, op, v);
			if (v < s->nargs)
				kl_history_print_val(text, sizeof(text), c->h, val);
			else
				kl_history_print_result(text, sizeof(text), c->h,
							c->h->methods[s->method], v - s->nargs,
							val);
			if (strcmp(own, text))
				json_array_append_new(list, json_pack("[iio]", (int)i, (int)v,
								      kl_json_text(own)));
		}
	}
	if (json_array_size(list))
		json_object_set(j, "own", list);
	json_decref(list);
}

static void add_columns(json_t *j, struct columns *c)
{
	json_object_set_new(j, "total", json_integer(c->h->nops));
	json_object_set_new(j, "kept", json_integer(c->nops));
	json_object_set_new(j, "clock", json_string(clock_name(c->h)));
	json_object_set_new(j, "error", whole(c->h->error));
	json_object_set_new(j, "methods", methods_json(c->h));
	json_object_set_new(j, "values", values_json(c));
	json_object_set_new(j, "threads", threads_json(c->h));
	json_object_set_new(j, "objects", objects_json(c->h));
	add_names(j, c->h);
	json_object_set_new(j, "gaps", gaps_json(c->h));
	json_object_set_new(j, "parts", parts_json(c));
	add_times(j, c);
	add_who(j, c);
	add_what(j, c);
	add_own(j, c);
	add_stacks(j, c);
	add_points(j, c);
	add_lines(j, c);
}

json_t *kl_page_columns(const struct kl_history *h, const struct kl_report *r, const bool *kept)
{
	struct columns c = { .h = h, .r = r };
	struct column sigs = { 0 };
	uint32_t *order = NULL;
	json_t *j = NULL;
	size_t nsigs;

	if (list_ops(&c, kept) && list_sigs(&c, &sigs, &order, &nsigs) && list_parts(&c)) {
		j = json_object();
		json_object_set_new(j, "sigs", json_integer(nsigs));
		add_column(j, "signatures", &sigs);
		add_columns(j, &c);
	} else {
		kl_json_no_memory();
	}
	free(sigs.bytes);
	free(order);
	free(c.ops);
	free(c.sig_of);
	free(c.part_of);
	free(c.new_part);
	free(c.vals);
	free(c.said);
	return j;
}
