// SPDX-License-Identifier: GPL-2.0
/* Sets of the specification's configurations, and their steps. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tso/explore/spec_configs_internal.h"

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
	unsigned int i;

	if (!a)
		return;
	kl_run_free(a->run);
	kl_intern_free(&a->mem);
	kl_intern_free(&a->op);
	kl_intern_free(&a->buf);
	kl_intern_free(&a->config);
	kl_intern_free(&a->set);
	kl_intern_free(&a->long_event);
	kl_intern_free(&a->long_naming);
	kl_intern_free(&a->alone);
	free(a->steps_alone);
	free(a->pair);
	for (i = 0; i < 3; i++)
		free(a->renamed[i].of);
	free(a->steps.slot);
	free(a->namings.slot);
	free(a->data);
	free(a->sign);
	free(a->empty);
	free(a->todo);
	free(a->info);
	free(a->after);
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
	a->limit = SIZE_MAX;
	a->run = kl_run_new(spec);
	if (!a->run) {
		kl_abstract_free(a);
		return -ENOMEM;
	}
	kl_run_set_steps(a->run, true);
	*out = a;
	return 0;
}

int kl_abs_fail(struct kl_abstract *a, const char *what)
{
	snprintf(a->error, sizeof(a->error), "%s", what);
	return -E2BIG;
}

int kl_abs_refuse(const struct kl_abstract *a, struct kl_pos pos, const char *what)
{
	kl_spec_err_at(a->spec, pos, "%s", what);
	return -EINVAL;
}

/* ---- parts of a configuration -------------------------------------------------- */

static int64_t intern_mem(struct kl_abstract *a, const struct kl_val *v, size_t n)
{
	size_t i;

	if (n > KL_ABS_WORDS)
		return kl_abs_fail(a, "the specification's state is too large for the explorer");
	for (i = 0; i < n; i++) {
		if (v[i].tag == KL_ANY)
			return kl_abs_refuse(
				a, kl_spec_unset_pos(a->spec),
				"the specification's state is unknown to the explorer: "
				"give each variable an initial value, and choose from "
				"ranges");
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

/* Apply at most @items entries of a buffer to memory. */
static void overlay(const uint64_t *buf, size_t n, size_t items, struct kl_val *view)
{
	size_t i, j;

	for (i = 0; i < n && items--; i += kl_abs_item_words(buf[i]))
		for (j = 0; j < buf[i] >> 8; j++)
			view[buf[i + 1 + 2 * j]] = to_val(buf[i + 2 + 2 * j]);
}

/* ---- internal steps ------------------------------------------------------------------ */

/* A step of an operation of the specification. */
struct exec {
	struct kl_abstract *a;
	struct kl_abs_pair from;	/* before the step */
	unsigned int method;
};

static int add_pair(struct kl_abstract *a, uint32_t mem, uint32_t op, uint32_t buf)
{
	int ret = kl_abs_room(a) ?: kl_grow(a->pair, a->cpair, a->npair + 1);

	if (!ret)
		a->pair[a->npair++] = (struct kl_abs_pair){ kl_abs_local(op, buf), mem };
	return ret;
}

/* Return: the number of the operation's string after a step, or a negative errno. */
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
			return kl_abs_refuse(x->a, kl_spec_method_pos(x->a->spec, x->method),
					     "a method of the specification has an unknown result");
		op[len++] = from_val(v[i]);
	}
	return kl_intern(&x->a->op, op, len);
}

static int64_t push_entry(struct kl_abstract *a, uint64_t buf, const struct kl_outcome *o)
{
	const uint64_t *w;
	size_t n, i;

	w = kl_intern_get(&a->buf, buf, &n);
	if (n + 1 + 2 * o->nwrote > KL_ABS_WORDS)
		return kl_abs_fail(a, "a store buffer of the specification is too long");
	if (n)
		memcpy(a->words, w, n * sizeof(*w));
	a->words[n++] = KL_VM_WRITE | (uint64_t)o->nwrote << 8;
	for (i = 0; i < o->nwrote; i++) {
		a->words[n++] = o->wrote[i];
		a->words[n++] = from_val(o->state[o->wrote[i]]);
	}
	return kl_intern(&a->buf, a->words, n);
}

/* Return: true if an operation that has ended has the results of the event @e. */
static bool returns(const struct kl_outcome *o, const struct kl_vm_event *e)
{
	unsigned int i;

	for (i = 0; i < e->n; i++)
		if (from_val(o->results[i]) != e->val[i])
			return false;
	return true;
}

static int outcome(void *ctx, const struct kl_outcome *o)
{
	struct exec *x = ctx;
	struct kl_abstract *a = x->a;
	int64_t mem = x->from.mem, buf = kl_abs_buf(x->from.local), op;
	size_t n;

	kl_intern_get(&a->buf, buf, &n);
	if (o->barrier && !a->sc && n) {
		/* The step waits until the buffer is empty. */
		a->refused |= a->wanted && (o->at || returns(o, a->wanted));
		return 0;
	}
	if (o->changed && (a->sc || o->through)) {
		mem = intern_mem(a, o->state, o->len);
		if (mem < 0)
			return mem;
	} else if (o->changed) {
		if (!kl_spec_fixed_size(a->spec))
			return kl_abs_refuse(
				a, kl_spec_method_pos(a->spec, x->method),
				"this method of the specification changes a container "
				"in 'atomic': the explorer needs 'atomic_flush' for it");
		buf = push_entry(a, buf, o);
		if (buf < 0)
			return buf;
	}
	op = operation(x, o);
	return op < 0 ? op : add_pair(a, mem, op, buf);
}

static int execute(struct kl_abstract *a, const struct kl_abs_pair *from)
{
	struct exec x = { .a = a, .from = *from };
	struct kl_val v[KL_REGS];
	const uint64_t *op, *buf;
	size_t n, nbuf, len, i, first;
	int ret;

	op = kl_intern_get(&a->op, kl_abs_op(from->local), &n);
	if (op[0] != CALLED && op[0] != BETWEEN)
		return 0;
	x.method = op[1];
	first = op[0] == CALLED ? 2 : 3;
	for (i = first; i < n; i++)
		v[i - first] = to_val(op[i]);
	len = get_mem(a, from->mem, a->view);
	buf = kl_intern_get(&a->buf, kl_abs_buf(from->local), &nbuf);
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

bool kl_abstract_drains(struct kl_abstract *a, uint32_t set, const struct kl_vm_event *e)
{
	const size_t npair = a->npair;
	struct kl_abs_pair from;
	const uint32_t *s;
	const uint64_t *c;
	size_t n, i, len;
	int ret = 0;

	s = kl_abs_set(a, set, &n);
	a->wanted = e;
	a->refused = false;
	for (i = 0; i < n && !a->refused && !ret; i++) {
		c = kl_intern_get(&a->config, s[i], &len);
		from = (struct kl_abs_pair){ c[1 + e->thread], c[0] };
		ret = execute(a, &from);
		a->npair = npair;
	}
	a->wanted = NULL;
	return !ret && a->refused;
}

static int64_t cut_oldest(struct kl_abstract *a, uint64_t buf)
{
	const uint64_t *w;
	size_t n, head;

	w = kl_intern_get(&a->buf, buf, &n);
	head = kl_abs_item_words(w[0]);
	if (n > head)
		memcpy(a->words, w + head, (n - head) * sizeof(*w));
	return kl_intern(&a->buf, a->words, n - head);
}

static int flush(struct kl_abstract *a, const struct kl_abs_pair *from)
{
	const uint64_t *w;
	int64_t mem, buf;
	size_t n, len;

	w = kl_intern_get(&a->buf, kl_abs_buf(from->local), &n);
	if (!n || kl_abs_item_kind(w[0]) != KL_VM_WRITE)
		return 0;
	len = get_mem(a, from->mem, a->view);
	overlay(w, n, 1, a->view);
	mem = intern_mem(a, a->view, len);
	if (mem < 0)
		return mem;
	buf = cut_oldest(a, kl_abs_buf(from->local));
	return buf < 0 ? buf : add_pair(a, mem, kl_abs_op(from->local), buf);
}

/* Return: true if a thread has internal steps.  Most threads of most configurations have none. */
static bool moves(const struct kl_abstract *a, uint64_t local)
{
	const uint64_t *w;
	size_t n;

	w = kl_intern_get(&a->op, kl_abs_op(local), &n);
	if (w[0] == CALLED || w[0] == BETWEEN)
		return true;
	w = kl_intern_get(&a->buf, kl_abs_buf(local), &n);
	return n && kl_abs_item_kind(w[0]) == KL_VM_WRITE;
}

/* Find a thread's internal steps.  Return: their index in steps_alone, or a negative errno. */
static int64_t find_alone(struct kl_abstract *a, uint32_t mem, uint64_t local)
{
	const uint64_t key[] = { mem, local };
	const struct kl_abs_pair from = { local, mem };
	const size_t known = a->alone.n;
	int64_t id = kl_intern(&a->alone, key, 2);
	size_t first = a->npair;
	int ret;

	if (id < 0 || (size_t)id < known)
		return id;
	ret = kl_grow(a->steps_alone, a->csteps_alone, id + 1);
	if (!ret)
		ret = execute(a, &from);
	if (!ret)
		ret = flush(a, &from);
	if (ret)
		return ret;
	a->steps_alone[id] = (struct kl_abs_alone){ first, a->npair - first };
	return id;
}

/* ---- steps of a set ------------------------------------------------------------- */

static int add_after(struct kl_abstract *a, uint32_t id)
{
	int ret = a->nafter < UINT32_MAX - 1 ? 0 : -EOVERFLOW;

	if (!ret)
		ret = kl_grow(a->after, a->cafter, a->nafter + 1);
	if (!ret)
		a->after[a->nafter++] = id;
	return ret;
}

/* Append the configurations to which internal steps of @config lead to a->after. */
static int learn_after(struct kl_abstract *a, uint32_t config)
{
	uint64_t c[KL_ABS_CONFIG], next[KL_ABS_CONFIG];
	const size_t first = a->nafter;
	const uint64_t *w;
	unsigned int t;
	size_t n, k;
	int64_t id;
	int ret = kl_abs_room(a) ?: add_after(a, 0);

	w = kl_intern_get(&a->config, config, &n);
	memcpy(c, w, n * sizeof(*w));
	for (t = 0; t < a->n && !ret; t++) {
		if (!moves(a, c[1 + t]))
			continue;
		id = find_alone(a, c[0], c[1 + t]);
		if (id < 0)
			return id;
		for (k = 0; k < a->steps_alone[id].n && !ret; k++) {
			const struct kl_abs_pair *to = &a->pair[a->steps_alone[id].first + k];
			int64_t reached;

			memcpy(next, c, n * sizeof(*c));
			next[0] = to->mem;
			next[1 + t] = to->local;
			reached = kl_abs_config(a, next);
			ret = reached < 0 ? reached : add_after(a, reached);
		}
	}
	if (ret)
		return ret;
	a->after[first] = a->nafter - first - 1;
	a->info[config].after = first + 1;
	return 0;
}

/*
 * Close the configurations in a->todo under internal steps.
 * Return: the number of the set, or a negative errno.
 */
static int64_t close_set(struct kl_abstract *a)
{
	uint32_t k, at;
	size_t i;
	int ret;

	for (i = 0; i < a->ntodo; i++) {
		const uint32_t config = a->todo[i];

		ret = a->info[config].after ? 0 : learn_after(a, config);
		at = a->info[config].after;
		for (k = 0; !ret && k < a->after[at - 1]; k++)
			ret = kl_abs_put(a, a->after[at + k]);
		if (ret)
			return ret;
	}
	return kl_abs_number(a);
}

int64_t kl_abstract_first(struct kl_abstract *a)
{
	const uint64_t idle = IDLE;
	uint64_t c[KL_ABS_CONFIG];
	const struct kl_val *v;
	unsigned int t;
	size_t len;
	int64_t id, op;

	kl_abs_start(a);
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
		op = id;
		id = kl_intern(&a->buf, &idle, 0);
		if (id < 0)
			return id;
		c[1 + t] = kl_abs_local(op, id);
	}
	kl_abs_start(a);
	id = kl_abs_add(a, c);
	return id < 0 ? id : close_set(a);
}

static int64_t push_marker(struct kl_abstract *a, uint64_t buf, enum kl_vm_kind kind)
{
	const uint64_t *w;
	size_t n;

	w = kl_intern_get(&a->buf, buf, &n);
	if (n == KL_ABS_WORDS)
		return kl_abs_fail(a, "a store buffer of the specification is too long");
	if (n)
		memcpy(a->words, w, n * sizeof(*w));
	a->words[n] = kind;
	return kl_intern(&a->buf, a->words, n + 1);
}

/* Add the configuration @c after the event to the set, if @c allows the event. */
static int event(struct kl_abstract *a, uint64_t *c, const struct kl_vm_event *e)
{
	uint64_t *local = &c[1 + e->thread];
	int64_t op = kl_abs_op(*local), buf = kl_abs_buf(*local);
	uint64_t words[2 + KL_MAX_ARGS];
	const uint64_t *w;
	size_t n;

	switch (e->kind) {
	case KL_VM_EVENT_CALL:
		words[0] = CALLED;
		words[1] = e->method;
		memcpy(words + 2, e->val, e->n * sizeof(*words));
		op = kl_intern(&a->op, words, 2 + e->n);
		break;
	case KL_VM_EVENT_RET:
		w = kl_intern_get(&a->op, op, &n);
		if (w[0] != DONE || n != 1u + e->n ||
		    memcmp(w + 1, e->val, e->n * sizeof(*w)))
			return 0;
		words[0] = IDLE;
		op = kl_intern(&a->op, words, 1);
		break;
	default:
		w = kl_intern_get(&a->buf, buf, &n);
		if (!n || kl_abs_item_kind(w[0]) !=
				  (e->kind == KL_VM_EVENT_FLUSH_CALL ? KL_VM_CALL : KL_VM_RET))
			return 0;
		buf = cut_oldest(a, buf);
		break;
	}
	if (!a->sc && op >= 0 && (e->kind == KL_VM_EVENT_CALL || e->kind == KL_VM_EVENT_RET))
		buf = push_marker(a, buf, e->kind == KL_VM_EVENT_CALL ? KL_VM_CALL : KL_VM_RET);
	if (op < 0 || buf < 0)
		return op < 0 ? op : buf;
	*local = kl_abs_local(op, buf);
	return kl_abs_add(a, c);
}

/*
 * Set @code to a word for an event.  If all values are below 128, data, or special, they are in the
 * word; otherwise the word has the number of the event in a->long_event.
 */
static int64_t event_code(struct kl_abstract *a, const struct kl_vm_event *e, uint64_t *code)
{
	uint64_t words[1 + KL_MAX_ARGS], v;
	unsigned int i;
	int64_t id;

	*code = e->kind | (uint64_t)e->thread << 2 | (uint64_t)e->method << 5;
	for (i = 0; i < e->n && i < 5; i++) {
		v = e->val[i];
		if (kl_vm_is_data(v))
			v = 0x80 + (v - KL_VM_DATA);
		else if (v >= KL_VM_SPECIAL && v < KL_VM_SPECIAL + 8)
			v = 0xf0 + (v - KL_VM_SPECIAL);
		else if (v >= 0x80)
			break;
		*code |= v << (16 + 8 * i);
	}
	*code |= (uint64_t)e->n << 56;
	if (i == e->n && e->method < 2048)
		return 0;
	words[0] = e->kind | (uint64_t)e->thread << 8 | (uint64_t)e->method << 16;
	memcpy(words + 1, e->val, e->n * sizeof(*words));
	id = kl_intern(&a->long_event, words, 1 + e->n);
	*code = id | 1ULL << 63;
	return id < 0 ? id : 0;
}

int64_t kl_abstract_step(struct kl_abstract *a, uint32_t set, const struct kl_vm_event *e)
{
	uint64_t c[KL_ABS_CONFIG], code;
	struct kl_abs_known *k;
	const uint32_t *before;
	const uint64_t *w;
	int64_t next;
	size_t n, i, len;
	int ret;

	next = event_code(a, e, &code);
	if (next)
		return next;
	k = kl_abs_known(&a->steps, set, code);
	if (!k)
		return -ENOMEM;
	if (k->next)
		return k->next - 1;
	kl_abs_start(a);
	before = kl_abs_set(a, set, &n);	/* stays valid: new sets are appended */
	for (i = 0; i < n; i++) {
		w = kl_intern_get(&a->config, before[i], &len);
		memcpy(c, w, len * sizeof(*w));
		ret = event(a, c, e);
		if (ret)
			return ret;
	}
	next = close_set(a);
	if (next >= 0) {
		*k = (struct kl_abs_known){ .what = code, .set = set, .next = next + 1 };
		a->steps.n++;
	}
	return next;
}

const char *kl_abstract_error(const struct kl_abstract *a)
{
	return a->error;
}

int kl_abstract_result(const struct kl_abstract *a, uint32_t set, unsigned int t, size_t *at,
		       uint64_t val[KL_MAX_ARGS])
{
	const uint64_t *c, *w;
	const uint32_t *s;
	size_t n, len;

	s = kl_abs_set(a, set, &n);
	while (*at < n) {
		c = kl_intern_get(&a->config, s[(*at)++], &len);
		w = kl_intern_get(&a->op, kl_abs_op(c[1 + t]), &len);
		if (w[0] != DONE)
			continue;
		memcpy(val, w + 1, (len - 1) * sizeof(*w));
		return len - 1;
	}
	return -1;
}
