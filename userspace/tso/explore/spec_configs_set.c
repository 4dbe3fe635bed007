// SPDX-License-Identifier: GPL-2.0
/* Sets of the specification's configurations: their numbers, names and order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tso/explore/spec_configs_internal.h"

#define CLOSURE_MAX	(1u << 20)	/* maximal number of configurations of a set */
#define FIRST_SLOTS	256
#define SMALL		48
#define NO_CONFIG	UINT32_MAX

void kl_abs_start(struct kl_abstract *a)
{
	a->ntodo = 0;
	a->stamp++;
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

static bool empty_layer(const struct kl_abstract *a, uint32_t buf)
{
	const uint64_t *w;
	size_t n;

	w = kl_intern_get(&a->buf, buf, &n);
	return n > 1 && kl_abs_item_kind(w[0]) == KL_VM_CALL && kl_abs_item_kind(w[1]) == KL_VM_RET;
}

int64_t kl_abs_config(struct kl_abstract *a, const uint64_t *c)
{
	const size_t known = a->config.n;
	const int64_t id = kl_intern(&a->config, c, 1 + a->n);
	struct kl_abs_info *info;
	unsigned int t;
	int ret;

	if (id < 0 || (size_t)id < known)
		return id;
	ret = kl_abs_room(a) ?: kl_grow(a->info, a->cinfo, id + 1);
	if (ret)
		return ret;
	info = &a->info[id];
	*info = (struct kl_abs_info){ .data = data_of(&a->mem, c[0]) };
	for (t = 0; t < a->n; t++) {
		info->data |= data_of(&a->op, kl_abs_op(c[1 + t])) |
			      data_of(&a->buf, kl_abs_buf(c[1 + t]));
		info->empty |= (uint32_t)empty_layer(a, kl_abs_buf(c[1 + t])) << t;
	}
	return id;
}

int kl_abs_put(struct kl_abstract *a, uint32_t id)
{
	int ret;

	if (a->info[id].mark == a->stamp)
		return 0;
	if (a->ntodo == CLOSURE_MAX)
		return kl_abs_fail(a, "too many configurations of the specification explain a "
				   "history");
	ret = kl_grow(a->todo, a->ctodo, a->ntodo + 1);
	if (ret)
		return ret;
	a->info[id].mark = a->stamp;
	a->todo[a->ntodo++] = id;
	return 0;
}

int kl_abs_add(struct kl_abstract *a, const uint64_t *c)
{
	const int64_t id = kl_abs_config(a, c);

	return id < 0 ? id : kl_abs_put(a, id);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sort numbers of configurations.  Most sets are small, so few calls need qsort(). */
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

/*
 * A word of a set has the numbers of two configurations.  In a set of odd size, NO_CONFIG fills the
 * last word.
 */
const uint32_t *kl_abs_set(const struct kl_abstract *a, uint32_t set, size_t *n)
{
	const uint32_t *v = (const uint32_t *)kl_intern_get(&a->set, set, n);

	*n *= 2;
	*n -= *n && v[*n - 1] == NO_CONFIG;
	return v;
}

int64_t kl_abs_number(struct kl_abstract *a)
{
	const size_t known = a->set.n;
	size_t i;
	int64_t id;
	int ret;

	sort(a->todo, a->ntodo);
	ret = kl_grow(a->todo, a->ctodo, a->ntodo + 1);
	if (ret)
		return ret;
	a->todo[a->ntodo] = NO_CONFIG;
	id = kl_intern(&a->set, (const uint64_t *)a->todo, (a->ntodo + 1) / 2);
	if (id < 0 || (size_t)id < known)
		return id;
	ret = kl_grow(a->empty, a->cempty, id + 1);
	if (!ret)
		ret = kl_grow(a->data, a->cdata, id + 1);
	if (!ret)
		ret = kl_grow(a->sign, a->csign, id + 1);
	if (ret)
		return ret;
	a->sign[id] = a->data[id] = 0;
	a->empty[id] = (1u << a->n) - 1;
	for (i = 0; i < a->ntodo; i++) {
		const struct kl_abs_info *info = &a->info[a->todo[i]];

		a->sign[id] |= 1ULL << (kl_mix(a->todo[i], 1) >> 58);
		a->data[id] |= info->data;
		a->empty[id] &= info->empty;
	}
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

/*
 * Rename data in a memory, operation or buffer: @kind is 0, 1 or 2.  Results are remembered,
 * because the configurations of a set have most of these parts in common.
 * Return: the new number, or a negative errno.
 */
static int64_t rename_part(struct kl_abstract *a, unsigned int kind, uint32_t id,
			   const uint8_t *data)
{
	struct kl_intern *in = !kind ? &a->mem : kind == 1 ? &a->op : &a->buf;
	struct kl_abs_renamed *r = &a->renamed[kind];
	const size_t old = r->n;
	int64_t part;
	int ret;

	if (id < old && r->of[id].stamp == a->stamp)
		return r->of[id].id;
	ret = kl_grow(r->of, r->n, id + 1);
	if (ret)
		return ret;
	if (r->n > old)
		memset(r->of + old, 0, (r->n - old) * sizeof(*r->of));
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
 * Set @code to a word for names: the old number of each thread, and the new number of each data
 * value in @mask.  If they do not fit, the word has their number in a->long_naming.
 * Return: 0 or a negative errno.
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
	const uint32_t *c;
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
	c = kl_abs_set(a, set, &n);	/* stays valid: no set is added before kl_abs_number() */
	for (i = 0; i < n; i++) {
		ret = rename_config(a, c[i], names);
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
	const uint32_t *s, *o;
	size_t n, m;

	if (a->sign[set] & ~a->sign[other])
		return false;
	s = kl_abs_set(a, set, &n);
	o = kl_abs_set(a, other, &m);
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
	       a->cempty * 4 + (a->cdata + a->csign) * 8 + (a->cafter + a->ctodo) * 4 +
	       a->cinfo * sizeof(*a->info) +
	       (a->steps.nslots + a->namings.nslots) * sizeof(*a->steps.slot) +
	       (a->renamed[0].n + a->renamed[1].n + a->renamed[2].n) * sizeof(struct kl_abs_new);
}

void kl_abstract_limit(struct kl_abstract *a, size_t bytes)
{
	a->limit = bytes;
}

int kl_abs_room(const struct kl_abstract *a)
{
	return kl_abstract_bytes(a) > a->limit ? -ENOSPC : 0;
}
