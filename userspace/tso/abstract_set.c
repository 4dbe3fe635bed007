// SPDX-License-Identifier: GPL-2.0
/* Sets of the specification's configurations: their numbers, names and order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tso/abstract_internal.h"

#define CLOSURE_MAX	(1u << 20)	/* configurations of a set */
#define FIRST_SLOTS	256
#define SMALL		48

void kl_abs_start(struct kl_abstract *a)
{
	a->ntodo = 0;
	a->stamp++;
}

int kl_abs_add(struct kl_abstract *a, const uint64_t *c)
{
	int64_t id = kl_intern(&a->config, c, 1 + a->n);
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
		return kl_abs_fail(a, "too many configurations of the specification explain a history");
	ret = kl_grow(a->todo, a->ctodo, a->ntodo + 1);
	if (ret)
		return ret;
	a->mark[id] = a->stamp;
	a->todo[a->ntodo++] = id;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Most sets are small. */
static void sort(uint32_t *v, size_t n)
{
	size_t i, k;
	uint32_t x;

	if (n > SMALL) {
		qsort(v, n, sizeof(*v), by_number);
		return;
	}
	for (i = 1; i < n; i++) {
		x = v[i];
		for (k = i; k && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
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
			w = kl_intern_get(&a->buf, kl_abs_buf(c[1 + t]), &n);
			if (n < 2 || kl_abs_item_kind(w[0]) != KL_VM_CALL || kl_abs_item_kind(w[1]) != KL_VM_RET)
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
			mask |= data_of(&a->op, kl_abs_op(c[1 + t])) |
				data_of(&a->buf, kl_abs_buf(c[1 + t]));
	}
	return mask;
}

int64_t kl_abs_number(struct kl_abstract *a)
{
	uint64_t *words;
	size_t i, n = a->set.n;
	int64_t id;
	int ret;

	sort(a->todo, a->ntodo);
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

static struct kl_abs_known *find(const struct kl_abs_memo *m, uint32_t set, uint64_t what)
{
	size_t i = kl_mix(what, set) & (m->nslots - 1);

	while (m->slot[i].next && (m->slot[i].set != set || m->slot[i].what != what))
		i = (i + 1) & (m->nslots - 1);
	return &m->slot[i];
}

struct kl_abs_known *kl_abs_known(struct kl_abs_memo *m, uint32_t set, uint64_t what)
{
	struct kl_abs_known *old = m->slot;
	size_t n = m->nslots, i;

	if (m->n * 3 >= n * 2) {
		m->nslots = n ? n * 2 : FIRST_SLOTS;
		m->slot = calloc(m->nslots, sizeof(*m->slot));
		if (!m->slot) {
			m->slot = old;
			m->nslots = n;
			return NULL;
		}
		kl_big_hint(m->slot, m->nslots * sizeof(*m->slot));
		for (i = 0; i < n; i++)
			if (old[i].next)
				*find(m, old[i].set, old[i].what) = old[i];
		free(old);
	}
	return find(m, set, what);
}

static int64_t rename_words(struct kl_abstract *a, struct kl_intern *in, uint32_t id,
			    const uint8_t *data)
{
	const uint64_t *w;
	size_t n, i;

	w = kl_intern_get(in, id, &n);
	for (i = 0; i < n; i++)
		if (kl_vm_is_data(w[i]) && data[w[i] - KL_VM_DATA] != w[i] - KL_VM_DATA)
			break;
	if (i == n)
		return id;
	memcpy(a->words, w, n * sizeof(*w));
	for (; i < n; i++)
		if (kl_vm_is_data(w[i]))
			a->words[i] = KL_VM_DATA + data[w[i] - KL_VM_DATA];
	return kl_intern(in, a->words, n);
}

/* The same; the configurations of a set have most of their parts in common. */
static int64_t rename_part(struct kl_abstract *a, unsigned int kind, uint32_t id,
			   const uint8_t *data)
{
	struct kl_intern *in = !kind ? &a->mem : kind == 1 ? &a->op : &a->buf;
	struct kl_abs_renamed *r = &a->renamed[kind];
	const size_t old = r->n;
	int64_t part;
	int ret = kl_grow(r->of, r->n, id + 1);

	if (ret)
		return ret;
	if (r->n > old)
		memset(r->of + old, 0, (r->n - old) * sizeof(*r->of));
	if (r->of[id].stamp == a->stamp)
		return r->of[id].id;
	part = rename_words(a, in, id, data);
	if (part >= 0)
		r->of[id] = (struct kl_abs_new){ a->stamp, part };
	return part;
}

static int rename_config(struct kl_abstract *a, uint32_t id, const struct kl_vm_names *names)
{
	uint64_t old[KL_ABS_CONFIG], c[KL_ABS_CONFIG];
	const uint64_t *w;
	int64_t op, buf;
	unsigned int i;
	size_t n;

	w = kl_intern_get(&a->config, id, &n);
	memcpy(old, w, n * sizeof(*w));
	op = rename_part(a, 0, old[0], names->data);
	if (op < 0)
		return op;
	c[0] = op;
	for (i = 0; i < a->n; i++) {
		const uint64_t local = old[1 + names->thread[i]];

		op = rename_part(a, 1, kl_abs_op(local), names->data);
		buf = op < 0 ? op : rename_part(a, 2, kl_abs_buf(local), names->data);
		if (buf < 0)
			return buf;
		c[1 + i] = kl_abs_local(op, buf);
	}
	return kl_abs_add(a, c);
}

/*
 * Names in a word, if they fit: the places of the threads, and for each data
 * value of the set, in order, its number.
 */
static int64_t naming_code(struct kl_abstract *a, const struct kl_vm_names *names, uint64_t mask,
			   uint64_t *code)
{
	uint64_t key[1 + KL_VM_DATA_MAX];
	unsigned int i, n = 0;
	int64_t id;

	*code = 0;
	for (i = 0; i < a->n; i++)
		*code = *code << 3 | names->thread[i];
	key[n++] = *code;
	for (; mask; mask &= mask - 1) {
		key[n] = names->data[__builtin_ctzll(mask)];
		*code = *code << 6 | key[n++];
	}
	if (3 * a->n + 6 * (n - 1) < 63)
		return 0;
	id = kl_intern(&a->long_naming, key, n);
	*code = id | 1ULL << 63;
	return id < 0 ? id : 0;
}

int64_t kl_abstract_rename(struct kl_abstract *a, uint32_t set, const struct kl_vm_names *names)
{
	uint64_t mask = a->data[set], code;
	struct kl_abs_known *k;
	bool same = !names->moved;
	int64_t next;
	size_t n, i;
	int ret;

	for (; mask && same; mask &= mask - 1) {
		i = __builtin_ctzll(mask);
		same = names->data[i] == i;
	}
	if (same)
		return set;
	next = naming_code(a, names, a->data[set], &code);
	if (next)
		return next;
	k = kl_abs_known(&a->namings, set, code);
	if (!k)
		return -ENOMEM;
	if (k->next)
		return k->next - 1;
	kl_abs_start(a);
	kl_intern_get(&a->set, set, &n);
	for (i = 0; i < n; i++) {
		ret = rename_config(a, a->set.words[a->set.at[set] + i], names);
		if (ret)
			return ret;
	}
	next = kl_abs_number(a);
	if (next >= 0) {
		*k = (struct kl_abs_known){ .what = code, .set = set, .next = next + 1 };
		a->namings.n++;
	}
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
	       kl_intern_bytes(&a->long_event) + kl_intern_bytes(&a->long_naming) +
	       kl_intern_bytes(&a->alone) + a->csteps_alone * sizeof(*a->steps_alone) +
	       a->cpair * sizeof(*a->pair) +
	       a->cempty * 4 + (a->cdata + a->csign) * 8 + (a->cmark + a->ctodo) * 4 +
	       (a->steps.nslots + a->namings.nslots) * sizeof(*a->steps.slot) +
	       (a->renamed[0].n + a->renamed[1].n + a->renamed[2].n) * sizeof(struct kl_abs_new);
}

