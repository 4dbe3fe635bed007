// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that may be omitted where a container holds copies of one word only, see omit.h.
 * A queue, stack or priority queue of copies is a counter.  So is each word of a multiset, where
 * a removal that found none counts as a peek.
 *
 * Let all omitted operations, except peeks, have returned by a time t, and let L be an order of the
 * history.  The prefix is L up to the last operation that had returned by t.  No operation of the
 * prefix was called more than the clock's error after t, so those that had not returned by t
 * overlap.  Without the omitted operations, the prefix can be ordered anew: first the kept
 * additions that had returned by t, then the other additions, then the removals.  At its end the
 * count is the same as in L, and its removals never find a lower count.  The rest of L follows,
 * with all kept peeks.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/explain/omit.h"
#include "spec/classify/container.h"

/* An operation of the word.  @kept: it is not omitted. */
struct count_op {
	uint64_t call, ret;
	uint32_t op;
	uint8_t role;
	bool kept;
};

struct count {
	const struct kl_history *h;
	struct count_op *op;
	size_t n, cap;
};

/* Is the container bounded?  Then another order might find it full. */
static bool is_bounded(const struct kl_spec *spec, const struct kl_history *h,
		       const struct kl_op *op)
{
	return kl_spec_role(spec, kl_spec_find_method(spec, h->methods[kl_op_method(h, op)])) ==
	       KL_ROLE_OTHER;
}

/* Get the word and the role of an operation.  Return: false if they are unknown. */
static bool find_role(const struct kl_spec *spec, const struct kl_history *h,
		      const struct kl_op *op, enum kl_container_kind kind, enum kl_role *role,
		      struct kl_val *word)
{
	const struct kl_val *res = kl_op_res(h, op);

	if (!kl_op_word(spec, h, op, role, word))
		return false;
	if (kind != KL_CONTAINER_MULTISET)
		return true;
	if (*role == KL_ROLE_REMOVE && op->ret != KL_TIME_MAX) {
		if (res->tag != KL_WORD)
			return false;
		*role = res->v ? KL_ROLE_REMOVE : KL_ROLE_PEEK;
	}
	*role = *role == KL_ROLE_COUNT ? KL_ROLE_PEEK : *role;
	return true;
}

/*
 * List the operations among @ops of the one word of @kept; those that return after @end are
 * pending.  Return: 1, 0 if the word is not a counter, -ENOMEM.
 */
static int list_ops(struct count *c, const struct kl_spec *spec, const uint32_t *ops, size_t nops,
		    const uint32_t *kept, size_t n, uint64_t end)
{
	const uint64_t late = kl_time_add(end, c->h->error);
	struct kl_container type;
	struct kl_val word, other;
	enum kl_role role;
	size_t i, k = 0;

	kl_spec_container(spec, &type);
	if (!n || !type.init || !c->h->fresh || c->h->ngaps ||
	    (type.kind != KL_CONTAINER_QUEUE && type.kind != KL_CONTAINER_STACK &&
	     type.kind != KL_CONTAINER_PQUEUE && type.kind != KL_CONTAINER_MULTISET))
		return 0;
	word = (struct kl_val){ .tag = KL_ANY };
	for (i = 0; i < n; i++) {
		if (!find_role(spec, c->h, &c->h->ops[kept[i]], type.kind, &role, &other))
			return 0;
		if (other.tag == KL_WORD && word.tag == KL_WORD && other.v != word.v)
			return 0;
		if (other.tag == KL_WORD)
			word = other;
		else if (other.tag != KL_ANY || role != KL_ROLE_REMOVE ||
			 c->h->ops[kept[i]].ret <= end)
			return 0;
	}
	if (word.tag != KL_WORD)
		return 0;
	for (i = 0; i < nops; i++) {
		const struct kl_op *op = &c->h->ops[ops[i]];
		const bool in = k < n && kept[k] == ops[i];

		k += in;
		if (op->call > late)
			continue;
		if (!find_role(spec, c->h, op, type.kind, &role, &other) ||
		    is_bounded(spec, c->h, op))
			return 0;
		/* An unknown word that was added or removed may be this word. */
		if (other.tag == KL_ANY && role != KL_ROLE_PEEK && !in)
			return 0;
		if (!in && (other.tag != KL_WORD || other.v != word.v))
			continue;
		if (kl_grow(c->op, c->cap, c->n + 1))
			return -ENOMEM;
		c->op[c->n++] = (struct count_op){
			.call = op->call, .ret = op->ret <= end ? op->ret : KL_TIME_MAX,
			.op = ops[i], .role = role, .kept = in,
		};
	}
	return k == n;
}

/* Return: the change of the count by an operation. */
static int count_of(const struct count_op *o)
{
	return (o->role == KL_ROLE_ADD) - (o->role == KL_ROLE_REMOVE);
}

static bool is_kept_later(const struct count *c, const struct count_op *o, uint64_t t)
{
	return o->ret > t && (o->role != KL_ROLE_PEEK || o->call > kl_time_add(t, c->h->error));
}

/* Return: true if no operation except peeks is called within the clock's error after @t. */
static bool is_between(const struct count *c, uint64_t t)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (c->op[mid].call <= t)
			low = mid + 1;
		else
			high = mid;
	}
	while (low < c->n && c->op[low].role == KL_ROLE_PEEK)
		low++;
	return low == c->n || c->op[low].call > kl_time_add(t, c->h->error);
}

/* Return: true if @t is a time as kl_count_kept() asks for. */
static bool is_cut(const struct count *c, uint64_t t)
{
	int64_t first = 0;
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct count_op *o = &c->op[i];

		first += o->ret <= t ? count_of(o) : 0;
		if (!o->kept)
			continue;
		if (o->ret <= t && o->role == KL_ROLE_ADD)
			first--;
		else if (!is_kept_later(c, o, t))
			return false;
	}
	return !first && is_between(c, t);
}

int kl_count_kept(const struct kl_spec *spec, const struct kl_history *h, const uint32_t *ops,
		  size_t nops, const uint32_t *kept, size_t n, uint64_t end)
{
	struct count c = { .h = h };
	int ret = list_ops(&c, spec, ops, nops, kept, n, end);
	bool cut = false, any = false;
	uint64_t t = 0;
	size_t i;

	for (i = 0; ret > 0 && i < c.n; i++) {
		if (c.op[i].kept || c.op[i].role == KL_ROLE_PEEK)
			continue;
		any = true;
		t = c.op[i].ret > t ? c.op[i].ret : t;
	}
	/* By the time t all omitted operations have returned; returns of kept ones come later. */
	if (ret > 0 && t < end)
		cut = !any || is_cut(&c, t);
	for (i = 0; ret > 0 && !cut && i < c.n; i++)
		if (c.op[i].kept && c.op[i].ret > t && c.op[i].ret < end)
			cut = is_cut(&c, c.op[i].ret);
	free(c.op);
	return ret > 0 ? cut : ret;
}

/*
 * List the operations to keep: those that return after @t, and @first additions, which is the count
 * at @t.
 */
static size_t keep_from(const struct count *c, uint64_t t, int64_t first, uint32_t *out)
{
	size_t i, n = 0;

	/* The last additions are taken; they are in order of call. */
	for (i = c->n; i--; ) {
		const struct count_op *o = &c->op[i];
		const bool in = o->ret <= t && o->role == KL_ROLE_ADD && first > 0;

		first -= in;
		if (in || is_kept_later(c, o, t))
			out[n++] = o->op;
	}
	for (i = 0; i < n / 2; i++) {
		const uint32_t op = out[i];

		out[i] = out[n - 1 - i];
		out[n - 1 - i] = op;
	}
	return n;
}

/*
 * Find the latest time @t that kl_count_kept() allows among the @n sorted returns; @first gets the
 * count at @t.  Return: false if there is none.
 */
static bool find_cut(const struct count *c, const struct kl_key *k, size_t n, uint64_t *t,
		     int64_t *first)
{
	int64_t sum = 0;
	bool found = false;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += count_of(&c->op[k[i].val]);
		if (sum < 0 || k[i + 1].key == k[i].key || !is_between(c, k[i].key))
			continue;
		*t = k[i].key;
		*first = sum;
		found = true;
	}
	return found;
}

int kl_count_cut(const struct kl_spec *spec, const struct kl_history *h, const uint32_t *ops,
		 size_t nops, const uint32_t *kept, size_t n, uint64_t end, size_t back,
		 uint32_t *out, size_t *nout)
{
	struct count c = { .h = h };
	int ret = list_ops(&c, spec, ops, nops, kept, n, end);
	struct kl_key *k = ret > 0 ? malloc(2 * (c.n + 1) * sizeof(*k)) : NULL;
	int64_t first;
	uint64_t t;
	size_t i, nk = 0;

	if (ret > 0 && !k)
		ret = -ENOMEM;
	for (i = 0; ret > 0 && i < c.n; i++)
		if (c.op[i].ret < end && c.op[i].role != KL_ROLE_PEEK)
			k[nk++] = (struct kl_key){ .key = c.op[i].ret, .val = i };
	if (ret > 0) {
		kl_sort_keys(k, nk, k + nk);
		k[nk].key = KL_TIME_MAX;
		ret = nk > back && find_cut(&c, k, nk - back, &t, &first);
	}
	if (ret > 0)
		*nout = keep_from(&c, t, first, out);
	free(k);
	free(c.op);
	return ret;
}
