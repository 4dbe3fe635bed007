// SPDX-License-Identifier: GPL-2.0
/* A partition of a queue or stack as additions and all others, see sides.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "check/lazy/sides.h"

static int number_words(struct late_ops *f, uint32_t *items, uint32_t n)
{
	struct kl_key *k = malloc(2 * ((size_t)n + 1) * sizeof(*k));
	uint32_t i, number = 0;

	if (!k)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		k[i] = (struct kl_key){
			.key = kl_item_args(f->p, &f->p->items[items[i]])->v,
			.val = items[i],
		};
	kl_sort_keys(k, n, k + n);
	for (i = 0; i < n; i++) {
		number += i && k[i].key != k[i - 1].key;
		f->value[k[i].val] = number;
	}
	free(k);
	return 0;
}

int late_find_values(struct late_ops *f, const enum kl_role *roles, const char **why)
{
	uint32_t *words = malloc(((size_t)f->p->nitems + 1) * sizeof(*words)), n = 0, i;
	int ret = words && f->value ? 0 : -ENOMEM;

	for (i = 0; !ret && i < f->p->nitems; i++) {
		const struct kl_item *it = &f->p->items[i];
		const enum kl_role role = it->kind == KL_ITEM_OP ? roles[it->method] : KL_ROLE_OTHER;
		struct kl_val v;

		if (it->kind != KL_ITEM_OP)
			continue;
		f->value[i] = LATE_ANYTHING;
		/* Such a one may have no value. */
		if (role == KL_ROLE_OTHER) {
			*why = "a method that is none of the container's";
			ret = 1;
			break;
		}
		v = *kl_item_args(f->p, it);
		if (v.tag == KL_WORD) {
			words[n++] = i;
		} else if (v.tag == KL_EMPTY && role != KL_ROLE_ADD) {
			f->value[i] = LATE_EMPTY;
		} else if (role == KL_ROLE_ADD || it->ret_ev != KL_NO_EVENT) {
			*why = "a value that is not known";
			ret = 1;
		}
	}
	if (!ret)
		ret = number_words(f, words, n);
	free(words);
	return ret;
}

int late_find_gap(struct late_ops *f)
{
	const struct kl_part *p = f->p;
	uint32_t i, leave = KL_NO_EVENT;

	f->from = 0;
	if (!p->ngaps)
		return 0;
	for (i = 0; i < p->nevents && p->items[p->events[i].item].kind == KL_ITEM_OP; i++)
		if (p->events[i].kind == KL_EV_RET)
			return 1;
	for (i = 0; i < p->nitems; i++)
		if (p->items[i].kind == KL_ITEM_LEAVE)
			leave = p->items[i].ret_ev;
	if (p->ngaps > 1 || leave == KL_NO_EVENT)
		return 1;
	f->from = leave + 1;
	return 0;
}

/* Item @i as it is when no event from f->end on has happened; false: it plays no part. */
static bool make_op(const struct late_ops *f, uint32_t i, enum kl_role role, struct late_op *op)
{
	const struct kl_item *it = &f->p->items[i];
	const bool pending = it->ret_ev == KL_NO_EVENT || it->ret_ev >= f->end;

	if (it->kind != KL_ITEM_OP || it->call_ev >= f->end)
		return false;
	*op = (struct late_op){
		.item = i, .call = it->call_ev + 1, .ret = pending ? LATE_NEVER : it->ret_ev + 1,
		.value = f->value[i], .removes = role == KL_ROLE_REMOVE,
	};
	if (pending && role != KL_ROLE_ADD) {
		if (role != KL_ROLE_REMOVE)
			return false;
		op->value = LATE_ANYTHING;
	}
	op->must = op->ret;
	if (op->call < f->from) {
		if (op->ret <= f->from)
			return false;
		op->call = f->from;
		op->must = LATE_NEVER;
	}
	return true;
}

/* How many of a side are open at a time, and what must have happened by when. */
static int finish_side(struct late_side *s)
{
	struct kl_key *k = malloc(2 * ((size_t)s->n + 1) * sizeof(*k));
	uint32_t i, gone = 0;

	if (!k)
		return -ENOMEM;
	for (i = 0; i < s->n; i++)
		k[i] = (struct kl_key){ .key = s->op[i].ret, .val = i };
	kl_sort_keys(k, s->n, k + s->n);
	s->open = 0;
	for (i = 0; i < s->n; i++) {
		while (k[gone].key <= s->op[i].call)
			gone++;
		s->open = i + 1 - gone > s->open ? i + 1 - gone : s->open;
	}
	free(k);
	s->least[s->n] = LATE_NEVER;
	for (i = s->n; i--; )
		s->least[i] = s->op[i].must < s->least[i + 1] ? s->op[i].must : s->least[i + 1];
	return 0;
}

/* Items are in order of call, and what a gap moves stays in it. */
int late_make_sides(struct late_ops *f, const enum kl_role *roles)
{
	uint32_t i;

	for (i = 0; i < LATE_SIDES; i++)
		f->side[i].n = 0;
	for (i = 0; i < f->p->nitems; i++) {
		const struct kl_item *it = &f->p->items[i];
		const enum kl_role role = it->kind == KL_ITEM_OP ? roles[it->method] : KL_ROLE_OTHER;
		struct late_side *s = &f->side[role == KL_ROLE_ADD ? LATE_ADDS : LATE_TAKES];

		s->n += make_op(f, i, role, &s->op[s->n]);
	}
	return finish_side(&f->side[LATE_ADDS]) ?: finish_side(&f->side[LATE_TAKES]);
}

