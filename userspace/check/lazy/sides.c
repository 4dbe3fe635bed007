// SPDX-License-Identifier: GPL-2.0
/* A partition of a queue or stack as two sides: additions, and all others; see sides.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "check/lazy/sides.h"

static int number_words(struct lazy_ops *f, uint32_t *items, uint32_t n)
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

int lazy_find_values(struct lazy_ops *f, const enum kl_role *roles, const char **why)
{
	uint32_t *words = malloc(((size_t)f->p->nitems + 1) * sizeof(*words)), n = 0, i;
	int ret = words && f->value ? 0 : -ENOMEM;

	for (i = 0; !ret && i < f->p->nitems; i++) {
		const struct kl_item *it = &f->p->items[i];
		const enum kl_role role = it->kind == KL_ITEM_OP ? roles[it->method] :
			KL_ROLE_OTHER;
		struct kl_val v;

		if (it->kind != KL_ITEM_OP)
			continue;
		f->value[i] = LAZY_ANYTHING;
		/* An operation of another method may have no value at all. */
		if (role == KL_ROLE_OTHER) {
			*why = "a method that the container does not have";
			ret = 1;
			break;
		}
		v = *kl_item_args(f->p, it);
		if (v.tag == KL_WORD) {
			words[n++] = i;
		} else if (v.tag == KL_EMPTY && role != KL_ROLE_ADD) {
			f->value[i] = LAZY_EMPTY;
		} else if (role == KL_ROLE_ADD || it->ret_ev != KL_NO_EVENT) {
			*why = "a value is unknown";
			ret = 1;
		}
	}
	if (!ret)
		ret = number_words(f, words, n);
	free(words);
	return ret;
}

int lazy_find_gap(struct lazy_ops *f)
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

/*
 * Make @op from item @i, as it is before the event f->end.  Return: false if the item does not
 * matter then.
 */
static bool make_op(const struct lazy_ops *f, uint32_t i, enum kl_role role, struct lazy_op *op)
{
	const struct kl_item *it = &f->p->items[i];
	const bool pending = it->ret_ev == KL_NO_EVENT || it->ret_ev >= f->end;

	if (it->kind != KL_ITEM_OP || it->call_ev >= f->end)
		return false;
	*op = (struct lazy_op){
		.item = i,
		.call = it->call_ev + 1,
		.ret = pending ? LAZY_NEVER : it->ret_ev + 1,
		.value = f->value[i],
		.removes = role == KL_ROLE_REMOVE,
	};
	if (pending && role != KL_ROLE_ADD) {
		if (role != KL_ROLE_REMOVE)
			return false;
		op->value = LAZY_ANYTHING;
	}
	op->must = op->ret;
	if (op->call < f->from) {
		if (op->ret <= f->from)
			return false;
		op->call = f->from;
		op->must = LAZY_NEVER;
	}
	return true;
}

/* Count the operations of a side that are open together, and compute lazy_side.least. */
static int finish_side(struct lazy_side *s)
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
	s->least[s->n] = LAZY_NEVER;
	for (i = s->n; i--; )
		s->least[i] = s->op[i].must < s->least[i + 1] ? s->op[i].must : s->least[i + 1];
	return 0;
}

/* Items are in order of call, also where a gap moves their calls to its end. */
int lazy_make_sides(struct lazy_ops *f, const enum kl_role *roles)
{
	uint32_t i;

	for (i = 0; i < LAZY_SIDES; i++)
		f->side[i].n = 0;
	for (i = 0; i < f->p->nitems; i++) {
		const struct kl_item *it = &f->p->items[i];
		const enum kl_role role = it->kind == KL_ITEM_OP ? roles[it->method] :
			KL_ROLE_OTHER;
		struct lazy_side *s = &f->side[role == KL_ROLE_ADD ? LAZY_ADDS : LAZY_TAKES];

		s->n += make_op(f, i, role, &s->op[s->n]);
	}
	return finish_side(&f->side[LAZY_ADDS]) ?: finish_side(&f->side[LAZY_TAKES]);
}

