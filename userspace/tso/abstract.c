// SPDX-License-Identifier: GPL-2.0
/* Sets of the specification's configurations, and their steps. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tso/abstract.h"

/*
 * A configuration is 1 + 2 * nthreads words: memory, then for each thread its
 * operation and its buffer, each the number of an interned string.
 *
 * operation: phase, then method and arguments; or method, place and variables of one
 *	that has several steps and is between two of them; or results
 * buffer: for each entry or marker a word kind | n << 8, for an entry n pairs
 *	of slot and value behind it
 */
enum phase { IDLE, CALLED, BETWEEN, DONE };

#define CONFIG_WORDS	(1 + 2 * KL_VM_THREADS)
#define WORDS_MAX	4096		/* of a buffer, of memory */
#define CLOSURE_MAX	(1u << 20)	/* configurations of a set */

struct memo {
	uint64_t key;			/* set | event << 32, plus 1; 0 if free */
	uint32_t set;
};

struct kl_abstract {
	const struct kl_spec *spec;
	struct kl_run *run;
	unsigned int n;			/* threads */
	bool sc;
	struct kl_intern mem, op, buf, config, set, event, renaming;
	uint32_t *renamed;		/* the set that each renaming gives, plus 1 */
	size_t crenamed;
	uint64_t *data;			/* of each set */
	uint64_t *sign;			/* of each set: some bit of each configuration */
	size_t cdata, csign;
	struct memo *memo;
	size_t nmemo, memo_slots;
	uint32_t *empty;		/* of each set */
	size_t cempty;
	/* The set being made. */
	uint32_t *todo;
	uint32_t *mark;			/* of each configuration: the set it was last put in */
	size_t ntodo, ctodo, cmark;
	uint32_t stamp;
	struct kl_val view[WORDS_MAX];
	uint64_t words[2 * WORDS_MAX];
	char error[200];
};

static struct kl_val to_val(uint64_t v)
{
	return v >= KL_VM_SPECIAL && v < KL_VM_SPECIAL + 8 ? kl_special(v - KL_VM_SPECIAL) :
	       kl_word(v);
}

static uint64_t from_val(struct kl_val v)
{
	return v.tag ? KL_VM_SPECIAL + v.tag : v.v;
}

void kl_abstract_free(struct kl_abstract *a)
{
	if (!a)
		return;
	kl_run_free(a->run);
	kl_intern_free(&a->mem);
	kl_intern_free(&a->op);
	kl_intern_free(&a->buf);
	kl_intern_free(&a->config);
	kl_intern_free(&a->set);
	kl_intern_free(&a->event);
	kl_intern_free(&a->renaming);
	free(a->renamed);
	free(a->data);
	free(a->sign);
	free(a->memo);
	free(a->empty);
	free(a->todo);
	free(a->mark);
	free(a);
}

int kl_abstract_new(const struct kl_spec *spec, unsigned int nthreads, bool sc,
		    struct kl_abstract **out)
{
	struct kl_abstract *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->spec = spec;
	a->n = nthreads;
	a->sc = sc;
	a->run = kl_run_new(spec);
	if (!a->run) {
		kl_abstract_free(a);
		return -ENOMEM;
	}
	kl_run_set_steps(a->run, true);
	*out = a;
	return 0;
}

static int fail(struct kl_abstract *a, const char *what)
{
	snprintf(a->error, sizeof(a->error), "%s", what);
	return -E2BIG;
}

/* ---- parts of a configuration -------------------------------------------------- */

static int64_t intern_mem(struct kl_abstract *a, const struct kl_val *v, size_t n)
{
	size_t i;

	if (n > WORDS_MAX)
		return fail(a, "the specification's state is too large for the explorer");
	for (i = 0; i < n; i++) {
		if (v[i].tag == KL_ANY)
			return fail(a, "the specification's state is not known: give each of its "
				    "variables a value");
		a->words[2 * i] = v[i].v;
		a->words[2 * i + 1] = v[i].tag;
	}
	return kl_intern(&a->mem, a->words, 2 * n);
}

static size_t get_mem(const struct kl_abstract *a, uint64_t id, struct kl_val *v)
{
	const uint64_t *w;
	size_t n, i;

	w = kl_intern_get(&a->mem, id, &n);
	for (i = 0; i < n / 2; i++)
		v[i] = (struct kl_val){ .v = w[2 * i], .tag = w[2 * i + 1] };
	return n / 2;
}

static unsigned int item_words(uint64_t head)
{
	return 1 + 2 * (head >> 8);
}

static enum kl_vm_kind item_kind(uint64_t head)
{
	return head & 0xff;
}

/* Put entries of a buffer over memory; at most @items of them. */
static void overlay(const uint64_t *buf, size_t n, size_t items, struct kl_val *view)
{
	size_t i, j;

	for (i = 0; i < n && items--; i += item_words(buf[i]))
		for (j = 0; j < buf[i] >> 8; j++)
			view[buf[i + 1 + 2 * j]] = to_val(buf[i + 2 + 2 * j]);
}

static int add_config(struct kl_abstract *a, const uint64_t *c)
{
	int64_t id = kl_intern(&a->config, c, 1 + 2 * a->n);
	size_t old = a->cmark;
	int ret;

	if (id < 0)
		return id;
	ret = kl_grow(a->mark, a->cmark, id + 1);
	if (ret)
		return ret;
	if (a->cmark > old)
		memset(a->mark + old, 0, (a->cmark - old) * sizeof(*a->mark));
	if (a->mark[id] == a->stamp)
		return 0;
	if (a->ntodo == CLOSURE_MAX)
		return fail(a, "too many configurations of the specification explain a history");
	ret = kl_grow(a->todo, a->ctodo, a->ntodo + 1);
	if (ret)
		return ret;
	a->mark[id] = a->stamp;
	a->todo[a->ntodo++] = id;
	return 0;
}

/* ---- internal steps ------------------------------------------------------------------ */

struct exec {
	struct kl_abstract *a;
	const uint64_t *c;	/* the configuration before */
	unsigned int t, method;
};

/* What the operation is after a step. */
static int64_t operation(struct exec *x, const struct kl_outcome *o)
{
	const size_t n = o->at ? o->nlocals : kl_spec_method(x->a->spec, x->method)->nresults;
	const struct kl_val *v = o->at ? o->locals : o->results;
	uint64_t op[3 + KL_REGS];
	size_t i, len = 0;

	op[len++] = o->at ? BETWEEN : DONE;
	if (o->at) {
		op[len++] = x->method;
		op[len++] = o->at;
	}
	for (i = 0; i < n; i++) {
		if (v[i].tag == KL_ANY)
			return fail(x->a, "a method of the specification has a result that is not "
				    "known");
		op[len++] = from_val(v[i]);
	}
	return kl_intern(&x->a->op, op, len);
}

static int64_t push_entry(struct kl_abstract *a, uint64_t buf, const struct kl_outcome *o)
{
	const uint64_t *w;
	size_t n, i;

	w = kl_intern_get(&a->buf, buf, &n);
	if (n + 1 + 2 * o->nwrote > WORDS_MAX)
		return fail(a, "a store buffer of the specification is too long");
	if (n)
		memcpy(a->words, w, n * sizeof(*w));
	a->words[n++] = KL_VM_WRITE | (uint64_t)o->nwrote << 8;
	for (i = 0; i < o->nwrote; i++) {
		a->words[n++] = o->wrote[i];
		a->words[n++] = from_val(o->state[o->wrote[i]]);
	}
	return kl_intern(&a->buf, a->words, n);
}

static int outcome(void *ctx, const struct kl_outcome *o)
{
	struct exec *x = ctx;
	struct kl_abstract *a = x->a;
	uint64_t next[CONFIG_WORDS];
	int64_t id;
	size_t n;

	memcpy(next, x->c, (1 + 2 * a->n) * sizeof(*next));
	kl_intern_get(&a->buf, x->c[2 + 2 * x->t], &n);
	if (o->barrier && !a->sc && n)
		return 0;	/* it waits until its buffer is empty */
	if (o->changed && (a->sc || o->through)) {
		id = intern_mem(a, o->state, o->len);
		if (id < 0)
			return id;
		next[0] = id;
	} else if (o->changed) {
		if (!kl_spec_fixed_size(a->spec))
			return fail(a, "a method of the specification changes a container in "
				    "'atomic': the explorer needs 'atomic_flush' for it");
		id = push_entry(a, x->c[2 + 2 * x->t], o);
		if (id < 0)
			return id;
		next[2 + 2 * x->t] = id;
	}
	id = operation(x, o);
	if (id < 0)
		return id;
	next[1 + 2 * x->t] = id;
	return add_config(a, next);
}

static int execute(struct kl_abstract *a, const uint64_t *c, unsigned int t)
{
	struct exec x = { .a = a, .c = c, .t = t };
	struct kl_val v[KL_REGS];
	const uint64_t *op, *buf;
	size_t n, nbuf, len, i, first;
	int ret;

	op = kl_intern_get(&a->op, c[1 + 2 * t], &n);
	if (op[0] != CALLED && op[0] != BETWEEN)
		return 0;
	x.method = op[1];
	first = op[0] == CALLED ? 2 : 3;
	for (i = first; i < n; i++)
		v[i - first] = to_val(op[i]);
	len = get_mem(a, c[0], a->view);
	buf = kl_intern_get(&a->buf, c[2 + 2 * t], &nbuf);
	overlay(buf, nbuf, SIZE_MAX, a->view);
	if (op[0] == CALLED) {
		ret = kl_run_apply(a->run, a->view, len, x.method, v, NULL, outcome, &x);
	} else {
		struct kl_outcome before = { .at = op[2], .locals = v, .nlocals = n - first };

		ret = kl_run_resume(a->run, a->view, len, x.method, &before, outcome, &x);
	}
	if (ret == -E2BIG && !a->error[0])
		snprintf(a->error, sizeof(a->error), "the specification's '%s': %s",
			 kl_spec_method(a->spec, x.method)->name, kl_run_error(a->run));
	return ret;
}

static int64_t cut_oldest(struct kl_abstract *a, uint64_t buf)
{
	const uint64_t *w;
	size_t n, head;

	w = kl_intern_get(&a->buf, buf, &n);
	head = item_words(w[0]);
	if (n > head)
		memcpy(a->words, w + head, (n - head) * sizeof(*w));
	return kl_intern(&a->buf, a->words, n - head);
}

static int flush(struct kl_abstract *a, const uint64_t *c, unsigned int t)
{
	uint64_t next[CONFIG_WORDS];
	const uint64_t *w;
	size_t n, len;
	int64_t id;

	w = kl_intern_get(&a->buf, c[2 + 2 * t], &n);
	if (!n || item_kind(w[0]) != KL_VM_WRITE)
		return 0;
	memcpy(next, c, (1 + 2 * a->n) * sizeof(*next));
	len = get_mem(a, c[0], a->view);
	overlay(w, n, 1, a->view);
	id = intern_mem(a, a->view, len);
	if (id < 0)
		return id;
	next[0] = id;
	id = cut_oldest(a, c[2 + 2 * t]);
	if (id < 0)
		return id;
	next[2 + 2 * t] = id;
	return add_config(a, next);
}

/* ---- sets --------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t empty_layers(const struct kl_abstract *a)
{
	uint32_t mask = (1u << a->n) - 1;
	const uint64_t *c, *w;
	unsigned int t;
	size_t i, n;

	for (i = 0; i < a->ntodo && mask; i++) {
		c = kl_intern_get(&a->config, a->todo[i], &n);
		for (t = 0; t < a->n; t++) {
			w = kl_intern_get(&a->buf, c[2 + 2 * t], &n);
			if (n < 2 || item_kind(w[0]) != KL_VM_CALL || item_kind(w[1]) != KL_VM_RET)
				mask &= ~(1u << t);
		}
	}
	return mask;
}

static uint64_t data_of(const struct kl_intern *in, uint32_t id)
{
	const uint64_t *w;
	uint64_t mask = 0;
	size_t n, i;

	w = kl_intern_get(in, id, &n);
	for (i = 0; i < n; i++)
		if (kl_vm_is_data(w[i]))
			mask |= 1ULL << (w[i] - KL_VM_DATA);
	return mask;
}

static uint64_t all_data(const struct kl_abstract *a)
{
	const uint64_t *c;
	uint64_t mask = 0;
	unsigned int t;
	size_t i, n;

	for (i = 0; i < a->ntodo; i++) {
		c = kl_intern_get(&a->config, a->todo[i], &n);
		mask |= data_of(&a->mem, c[0]);
		for (t = 0; t < a->n; t++)
			mask |= data_of(&a->op, c[1 + 2 * t]) | data_of(&a->buf, c[2 + 2 * t]);
	}
	return mask;
}

/* The number of the set in todo, which is closed. */
static int64_t number_set(struct kl_abstract *a)
{
	uint64_t *words;
	size_t i, n = a->set.n;
	int64_t id;
	int ret;

	if (a->ntodo)
		qsort(a->todo, a->ntodo, sizeof(*a->todo), by_number);
	words = calloc(a->ntodo + 1, sizeof(*words));
	if (!words)
		return -ENOMEM;
	for (i = 0; i < a->ntodo; i++)
		words[i] = a->todo[i];
	id = kl_intern(&a->set, words, a->ntodo);
	free(words);
	if (id < 0 || (size_t)id < n)
		return id;
	ret = kl_grow(a->empty, a->cempty, id + 1);
	if (!ret)
		ret = kl_grow(a->data, a->cdata, id + 1);
	if (!ret)
		ret = kl_grow(a->sign, a->csign, id + 1);
	if (ret)
		return ret;
	a->sign[id] = 0;
	for (i = 0; i < a->ntodo; i++)
		a->sign[id] |= 1ULL << (kl_mix(a->todo[i], 1) >> 58);
	a->empty[id] = empty_layers(a);
	a->data[id] = all_data(a);
	return id;
}

/* Close what is in todo under internal steps; the number of the set. */
static int64_t close_set(struct kl_abstract *a)
{
	uint64_t c[CONFIG_WORDS];
	const uint64_t *w;
	unsigned int t;
	size_t i, n;
	int ret;

	for (i = 0; i < a->ntodo; i++) {
		w = kl_intern_get(&a->config, a->todo[i], &n);
		memcpy(c, w, n * sizeof(*w));
		for (t = 0; t < a->n; t++) {
			ret = execute(a, c, t);
			if (!ret)
				ret = flush(a, c, t);
			if (ret)
				return ret;
		}
	}
	return number_set(a);
}

static void start_set(struct kl_abstract *a)
{
	a->ntodo = 0;
	a->stamp++;
}

int64_t kl_abstract_first(struct kl_abstract *a)
{
	const uint64_t idle = IDLE;
	uint64_t c[CONFIG_WORDS];
	const struct kl_val *v;
	unsigned int t;
	size_t len;
	int64_t id;

	start_set(a);
	id = close_set(a);	/* the empty set is number 0 */
	if (id)
		return id < 0 ? id : -EINVAL;
	v = kl_run_init(a->run, true, &len);
	if (!v)
		return -ENOMEM;
	id = intern_mem(a, v, len);
	if (id < 0)
		return id;
	c[0] = id;
	for (t = 0; t < a->n; t++) {
		id = kl_intern(&a->op, &idle, 1);
		if (id < 0)
			return id;
		c[1 + 2 * t] = id;
		id = kl_intern(&a->buf, &idle, 0);
		if (id < 0)
			return id;
		c[2 + 2 * t] = id;
	}
	start_set(a);
	id = add_config(a, c);
	return id < 0 ? id : close_set(a);
}

static int64_t push_marker(struct kl_abstract *a, uint64_t buf, enum kl_vm_kind kind)
{
	const uint64_t *w;
	size_t n;

	w = kl_intern_get(&a->buf, buf, &n);
	if (n == WORDS_MAX)
		return fail(a, "a store buffer of the specification is too long");
	if (n)
		memcpy(a->words, w, n * sizeof(*w));
	a->words[n] = kind;
	return kl_intern(&a->buf, a->words, n + 1);
}

/* The configuration @c after the event, put into the set; nothing if it does not allow it. */
static int event(struct kl_abstract *a, uint64_t *c, const struct kl_vm_event *e)
{
	uint64_t *op = &c[1 + 2 * e->thread], *buf = &c[2 + 2 * e->thread];
	uint64_t words[2 + KL_MAX_ARGS];
	const uint64_t *w;
	int64_t id;
	size_t n;

	switch (e->kind) {
	case KL_EV_CALL:
		words[0] = CALLED;
		words[1] = e->method;
		memcpy(words + 2, e->val, e->n * sizeof(*words));
		id = kl_intern(&a->op, words, 2 + e->n);
		if (id < 0)
			return id;
		*op = id;
		break;
	case KL_EV_RET:
		w = kl_intern_get(&a->op, *op, &n);
		if (w[0] != DONE || n != 1u + e->n ||
		    memcmp(w + 1, e->val, e->n * sizeof(*w)))
			return 0;
		words[0] = IDLE;
		id = kl_intern(&a->op, words, 1);
		if (id < 0)
			return id;
		*op = id;
		break;
	default:
		w = kl_intern_get(&a->buf, *buf, &n);
		if (!n || item_kind(w[0]) != (e->kind == KL_EV_FLUSH_CALL ? KL_VM_CALL : KL_VM_RET))
			return 0;
		id = cut_oldest(a, *buf);
		if (id < 0)
			return id;
		*buf = id;
		return add_config(a, c);
	}
	if (a->sc)
		return add_config(a, c);
	id = push_marker(a, *buf, e->kind == KL_EV_CALL ? KL_VM_CALL : KL_VM_RET);
	if (id < 0)
		return id;
	*buf = id;
	return add_config(a, c);
}

static struct memo *find_memo(struct kl_abstract *a, uint64_t key)
{
	size_t i = kl_mix(key, 0x589965cc75374cc3ULL) & (a->memo_slots - 1);

	while (a->memo[i].key && a->memo[i].key != key)
		i = (i + 1) & (a->memo_slots - 1);
	return &a->memo[i];
}

static int grow_memo(struct kl_abstract *a)
{
	size_t n = a->memo_slots, i;
	struct memo *old = a->memo;

	if (a->nmemo * 3 < n * 2)
		return 0;
	a->memo = calloc(n ? n * 2 : 1024, sizeof(*a->memo));
	if (!a->memo) {
		a->memo = old;
		return -ENOMEM;
	}
	a->memo_slots = n ? n * 2 : 1024;
	for (i = 0; i < n; i++)
		if (old[i].key)
			*find_memo(a, old[i].key) = old[i];
	free(old);
	return 0;
}

int64_t kl_abstract_step(struct kl_abstract *a, uint32_t set, const struct kl_vm_event *e)
{
	uint64_t words[1 + KL_MAX_ARGS], c[CONFIG_WORDS], key;
	const uint64_t *w;
	struct memo *m;
	int64_t id, next;
	size_t n, i, at;
	int ret;

	words[0] = e->kind | (uint64_t)e->thread << 8 | (uint64_t)e->method << 16;
	memcpy(words + 1, e->val, e->n * sizeof(*words));
	id = kl_intern(&a->event, words, 1 + e->n);
	if (id < 0)
		return id;
	ret = grow_memo(a);
	if (ret)
		return ret;
	key = ((uint64_t)id << 32 | set) + 1;
	m = find_memo(a, key);
	if (m->key)
		return m->set;
	start_set(a);
	kl_intern_get(&a->set, set, &n);
	at = a->set.at[set];
	for (i = 0; i < n; i++) {
		size_t len;

		w = kl_intern_get(&a->config, a->set.words[at + i], &len);
		memcpy(c, w, len * sizeof(*w));
		ret = event(a, c, e);
		if (ret)
			return ret;
	}
	next = close_set(a);
	if (next < 0)
		return next;
	m->key = key;
	m->set = next;
	a->nmemo++;
	return next;
}

static int64_t rename_words(struct kl_abstract *a, struct kl_intern *in, uint64_t id,
			    const uint8_t *data)
{
	const uint64_t *w;
	size_t n, i;

	w = kl_intern_get(in, id, &n);
	if (n)
		memcpy(a->words, w, n * sizeof(*w));
	for (i = 0; i < n; i++)
		if (kl_vm_is_data(w[i]))
			a->words[i] = KL_VM_DATA + data[w[i] - KL_VM_DATA];
	return kl_intern(in, a->words, n);
}

static int rename_config(struct kl_abstract *a, uint32_t id, const struct kl_vm_names *names)
{
	uint64_t old[CONFIG_WORDS], c[CONFIG_WORDS];
	const uint64_t *w;
	unsigned int t, i;
	int64_t part;
	size_t n;

	w = kl_intern_get(&a->config, id, &n);
	memcpy(old, w, n * sizeof(*w));
	for (i = 0; i < n; i++) {
		t = i ? names->thread[(i - 1) / 2] : 0;
		part = rename_words(a, !i ? &a->mem : i & 1 ? &a->op : &a->buf,
				    old[!i ? 0 : i & 1 ? 1 + 2 * t : 2 + 2 * t], names->data);
		if (part < 0)
			return part;
		c[i] = part;
	}
	return add_config(a, c);
}

int64_t kl_abstract_rename(struct kl_abstract *a, uint32_t set, const struct kl_vm_names *names)
{
	uint64_t key[1 + KL_VM_DATA_MAX / 8] = { set }, mask = a->data[set];
	struct kl_vm_names part = *names;
	bool same = !names->moved;
	int64_t id, next;
	size_t n, i, old = a->crenamed;
	int ret;

	memset(part.data, 0, sizeof(part.data));
	for (; mask; mask &= mask - 1) {
		i = __builtin_ctzll(mask);
		part.data[i] = names->data[i];
		same &= names->data[i] == i;
	}
	if (same)
		return set;
	memcpy(key + 1, part.data, sizeof(part.data));
	for (i = 0; i < a->n; i++)
		key[0] |= (uint64_t)part.thread[i] << (32 + 4 * i);
	id = kl_intern(&a->renaming, key, 1 + KL_VM_DATA_MAX / 8);
	if (id < 0)
		return id;
	ret = kl_grow(a->renamed, a->crenamed, id + 1);
	if (ret)
		return ret;
	if (a->crenamed > old)
		memset(a->renamed + old, 0, (a->crenamed - old) * sizeof(*a->renamed));
	if (a->renamed[id])
		return a->renamed[id] - 1;
	start_set(a);
	kl_intern_get(&a->set, set, &n);
	for (i = 0; i < n; i++) {
		ret = rename_config(a, a->set.words[a->set.at[set] + i], &part);
		if (ret)
			return ret;
	}
	next = number_set(a);
	if (next >= 0)
		a->renamed[id] = next + 1;
	return next;
}

bool kl_abstract_within(const struct kl_abstract *a, uint32_t set, uint32_t other)
{
	const uint64_t *s, *o;
	size_t n, m;

	if (a->sign[set] & ~a->sign[other])
		return false;
	s = kl_intern_get(&a->set, set, &n);
	o = kl_intern_get(&a->set, other, &m);
	for (; n <= m && n; o++, m--)
		if (*s == *o) {
			s++;
			n--;
		}
	return !n;
}

uint64_t kl_abstract_data(const struct kl_abstract *a, uint32_t set)
{
	return a->data[set];
}

const char *kl_abstract_error(const struct kl_abstract *a)
{
	return a->error;
}

uint32_t kl_abstract_empty_layers(const struct kl_abstract *a, uint32_t set)
{
	return a->empty[set];
}

size_t kl_abstract_nsets(const struct kl_abstract *a)
{
	return a->set.n;
}

size_t kl_abstract_nconfigs(const struct kl_abstract *a)
{
	return a->config.n;
}

size_t kl_abstract_bytes(const struct kl_abstract *a)
{
	return kl_intern_bytes(&a->mem) + kl_intern_bytes(&a->op) + kl_intern_bytes(&a->buf) +
	       kl_intern_bytes(&a->config) + kl_intern_bytes(&a->set) +
	       kl_intern_bytes(&a->event) + kl_intern_bytes(&a->renaming) +
	       (a->crenamed + a->cempty) * 4 + (a->cdata + a->csign) * 8 + a->memo_slots * sizeof(*a->memo);
}

int kl_abstract_result(const struct kl_abstract *a, uint32_t set, unsigned int t, size_t *at,
		       uint64_t val[KL_MAX_ARGS])
{
	const uint64_t *s, *c, *w;
	size_t n, len;

	s = kl_intern_get(&a->set, set, &n);
	while (*at < n) {
		c = kl_intern_get(&a->config, s[(*at)++], &len);
		w = kl_intern_get(&a->op, c[1 + 2 * t], &len);
		if (w[0] != DONE)
			continue;
		memcpy(val, w + 1, (len - 1) * sizeof(*w));
		return len - 1;
	}
	return -1;
}
