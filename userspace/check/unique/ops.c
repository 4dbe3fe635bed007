// SPDX-License-Identifier: GPL-2.0
/* The operations of a partition as pushes and pops at the ends of a container; see unique.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/unique/unique.h"
#include "spec/classify/container.h"

struct reader {
	struct unique_ops *o;
	struct kl_end_method *method;	/* the methods of the specification */
	bool *known;			/* whether each method does one thing at one end */
	bool told;			/* the capacity is known */
	bool full;			/* an operation found the container full */
	const char *why;
};

static bool no(struct reader *r, const char *why)
{
	r->why = why;
	return false;
}

/* Are the results equal to @want?  The result with index @but may be any word. */
static bool fits(const struct kl_end_method *m, const struct kl_val *res, const struct kl_val *want,
		 unsigned int but)
{
	unsigned int i;

	for (i = 0; i < m->nresults; i++)
		if (i == but ? res[i].tag != KL_WORD : !kl_val_eq(res[i], want[i]))
			return false;
	return true;
}

/* As fits(), but an unknown result matches whatever is wanted. */
static bool may_fit(const struct kl_end_method *m, const struct kl_val *res,
		    const struct kl_val *want, unsigned int but)
{
	unsigned int i;

	for (i = 0; i < m->nresults; i++)
		if (res[i].tag != KL_ANY &&
		    (i == but ? res[i].tag != KL_WORD : !kl_val_eq(res[i], want[i])))
			return false;
	return true;
}

/* Make the operation UNIQUE_ODD if all of its results are known.  Return: true if they are. */
static bool is_odd(struct reader *r, const struct kl_end_method *m, const struct kl_val *res,
		   struct unique_op *op)
{
	unsigned int i;

	for (i = 0; i < m->nresults && res[i].tag != KL_ANY; i++)
		;
	if (i < m->nresults)
		return false;
	op->kind = UNIQUE_ODD;
	r->o->nodd++;
	return true;
}

static bool read_push(struct reader *r, const struct kl_end_method *m, const struct kl_val *v,
		      unsigned int nargs, bool pending, struct unique_op *op)
{
	const uint64_t most = m->bounded && m->most < 0 ? m->capacity :
			      m->bounded ? v[m->most].v : UINT64_MAX;

	op->kind = UNIQUE_PUSH;
	if (v[m->value].tag != KL_WORD)
		return no(r, "a pushed value is not a known word");
	if (m->bounded && ((m->most >= 0 && v[m->most].tag != KL_WORD) ||
			   (m->replaces >= 0 && !kl_val_eq(v[m->replaces], kl_word(0)))))
		return no(r, "a push replaces a value when the container is full");
	if (r->told && r->o->capacity != most)
		return no(r, "pushes report different capacities");
	r->told = true;
	r->o->may_differ |= m->most >= 0;
	r->o->capacity = most;
	if (pending)
		return true;
	if (may_fit(m, v + nargs, m->done, m->nresults)) {
		/* Without a bound the push certainly took effect. */
		if (m->bounded && may_fit(m, v + nargs, m->other, m->nresults))
			op->kind = UNIQUE_MAYBE;
		r->o->nmaybe += op->kind == UNIQUE_MAYBE;
		return true;
	}
	op->kind = UNIQUE_FULL;
	r->full = true;
	return (m->bounded && may_fit(m, v + nargs, m->other, m->nresults)) ||
	       is_odd(r, m, v + nargs, op) || no(r, "a result that no push allows");
}

static bool read_pop(struct reader *r, const struct kl_end_method *m, const struct kl_val *res,
		     bool pending, struct unique_op *op)
{
	const bool pop = m->act == KL_END_POP, known = res[m->value].tag != KL_ANY;
	const bool some = may_fit(m, res, m->done, m->value);
	const bool none = may_fit(m, res, m->other, m->nresults);

	op->kind = pop ? UNIQUE_POP : UNIQUE_LOOK;
	op->some = !none;
	if (pending)
		op->kind = pop ? UNIQUE_WILD : UNIQUE_NOTHING;
	else if (fits(m, res, m->other, m->nresults) || (none && !some))
		op->kind = UNIQUE_EMPTY;
	else if (some && !known)
		op->kind = pop ? UNIQUE_HIDDEN : UNIQUE_FREE;
	else if (!some || none)
		return is_odd(r, m, res, op) || no(r, "a result is unknown");
	r->o->nhidden += op->kind == UNIQUE_HIDDEN;
	r->o->nwild += op->kind == UNIQUE_WILD || op->kind == UNIQUE_HIDDEN;
	return true;
}

static bool read_item(struct reader *r, uint32_t i)
{
	const struct kl_item *it = &r->o->p->items[i];
	const struct kl_opsig *s = &r->o->p->h->opsigs[it->sig];
	const struct kl_val *v = r->o->p->h->vals + s->vals;
	const struct kl_end_method *m = &r->method[it->method];
	const bool pending = it->ret_ev == KL_NO_EVENT;
	struct unique_op *op = &r->o->op[i];

	*op = (struct unique_op){ .kind = UNIQUE_NOTHING, .back = m->back, .value = UNIQUE_NONE };
	if (it->kind != KL_ITEM_OP || it->nocall)
		return no(r, "operations were lost, or their calls were not seen");
	if (!r->known[it->method])
		return no(r, "a method does more than one push or pop");
	return m->act == KL_END_PUSH ? read_push(r, m, v, s->nargs, pending, op) :
	       read_pop(r, m, v + s->nargs, pending, op);
}

/* Get the word that an operation pushes, pops or sees.  Return: false if there is none. */
static bool word_of(const struct reader *r, uint32_t i, uint64_t *word)
{
	const struct kl_item *it = &r->o->p->items[i];
	const struct kl_opsig *s = &r->o->p->h->opsigs[it->sig];
	const struct kl_end_method *m = &r->method[it->method];
	const bool push = m->act == KL_END_PUSH;
	const uint8_t kind = r->o->op[i].kind;
	const struct kl_val *v = &r->o->p->h->vals[s->vals + m->value + (push ? 0 : s->nargs)];

	if (kind != UNIQUE_PUSH && kind != UNIQUE_MAYBE && kind != UNIQUE_POP &&
	    kind != UNIQUE_LOOK && kind != UNIQUE_ODD)
		return false;
	*word = v->v;
	return v->tag == KL_WORD;
}

/* Add an item to its value, which has the number @number.  Return: false with r->why. */
static bool take_in(struct reader *r, uint32_t item, uint32_t number)
{
	struct unique_ops *o = r->o;
	struct unique_value *v = &o->v[number];
	struct unique_op *op = &o->op[item];
	const struct kl_item *it = &o->p->items[item];

	op->value = number;
	switch (op->kind) {
	case UNIQUE_PUSH:
	case UNIQUE_MAYBE:
		if (v->push != UNIQUE_NONE)
			return no(r, "a value was pushed more than once");
		v->push = item;
		break;
	case UNIQUE_POP:
		if (v->pop != UNIQUE_NONE)
			o->wrong = number;
		v->pop = item;
		v->leaves = op->back ? UNIQUE_BACK : UNIQUE_FRONT;
		break;
	default:
		o->look[v->look + v->nlooks++] = item;
		v->looks++;
	}
	if (it->ret_ev < v->first_ret)
		v->first_ret = it->ret_ev;
	if (item != v->push && it->call_ev > v->last_call)
		v->last_call = it->call_ev;
	if (item != v->push && it->ret_ev < v->rank)
		v->rank = it->ret_ev;
	return true;
}

static int number_values(struct reader *r)
{
	struct unique_ops *o = r->o;
	const size_t most = (size_t)o->p->nitems + 1;
	struct kl_key *k = malloc(2 * most * sizeof(*k));
	uint32_t i, n = 0, number = 0;

	o->v = malloc(most * sizeof(*o->v));
	o->look = malloc(most * sizeof(*o->look));
	if (!k || !o->v || !o->look) {
		free(k);
		return -ENOMEM;
	}
	for (i = 0; i < o->p->nitems; i++)
		if (word_of(r, i, &k[n].key))
			k[n++].val = i;
	kl_sort_keys(k, n, k + most);
	for (i = 0; i < n; i++) {
		if (!i || k[i].key != k[i - 1].key) {
			number = o->nvalues++;
			o->v[number] = (struct unique_value){
				.push = UNIQUE_NONE,
				.pop = UNIQUE_NONE,
				.leaves = UNIQUE_STAYS,
				.look = i,
				.rank = UNIQUE_NONE,
				.first_ret = UNIQUE_NONE,
			};
		}
		if (!take_in(r, k[i].val, number))
			break;
	}
	free(k);
	return i == n;
}

/*
 * Return: true if the push of @v is pending, and no operation pops or sees the value.  It need not
 * have taken effect, unless a hidden pop may have to take the value.
 */
static bool is_useless(const struct unique_ops *o, const struct unique_value *v)
{
	return !o->nhidden && o->p->items[v->push].ret_ev == KL_NO_EVENT && v->pop == UNIQUE_NONE &&
	       !v->nlooks;
}

/* A push with an unknown result had room if its value is popped or seen; else it stays unknown. */
static void settle_maybe(struct reader *r, const struct unique_value *v)
{
	struct unique_op *op = &r->o->op[v->push];

	if (op->kind != UNIQUE_MAYBE)
		return;
	if (v->pop != UNIQUE_NONE || v->nlooks)
		op->kind = UNIQUE_PUSH;
	else
		r->full = true;
}

static int read_methods(struct reader *r)
{
	const struct kl_spec *spec = r->o->p->spec;
	const unsigned int n = kl_spec_nmethods(spec);
	unsigned int i;

	r->method = calloc(n + 1, sizeof(*r->method));
	r->known = calloc(n + 1, sizeof(*r->known));
	if (!r->method || !r->known)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		r->known[i] = kl_spec_end_method(spec, i, &r->method[i]);
	return 0;
}

static int read_all(struct reader *r)
{
	struct unique_ops *o = r->o;
	struct kl_container c;
	uint32_t i;
	int ret;

	kl_spec_container(o->p->spec, &c);
	if (c.kind != KL_CONTAINER_QUEUE && c.kind != KL_CONTAINER_STACK &&
	    c.kind != KL_CONTAINER_DEQUE)
		return no(r, "the specification is not a queue, stack or deque");
	if (!o->p->fresh || !c.init)
		return no(r, "the first state is unknown");
	ret = read_methods(r);
	if (ret)
		return ret;
	o->op = malloc(((size_t)o->p->nitems + 1) * sizeof(*o->op));
	if (!o->op)
		return -ENOMEM;
	for (i = 0; i < o->p->nitems; i++)
		if (!read_item(r, i))
			return 0;
	ret = number_values(r);
	for (i = 0; ret > 0 && i < o->nvalues; i++)
		if (o->v[i].push != UNIQUE_NONE)
			settle_maybe(r, &o->v[i]);
	for (i = 0; ret > 0 && i < o->nvalues; i++) {
		if (o->v[i].push == UNIQUE_NONE)
			o->wrong = i;
		else if (!r->full && is_useless(o, &o->v[i]))
			o->op[o->v[i].push].kind = UNIQUE_NOTHING;
		/* A wild pop may take the value. */
		if (o->v[i].pop == UNIQUE_NONE && !o->nwild)
			o->v[i].last_call = UNIQUE_NONE;
		if (o->v[i].last_call < o->v[i].rank)
			o->v[i].rank = o->v[i].last_call;
	}
	return ret;
}

int unique_read(struct unique_ops *o, const char **why)
{
	struct reader r = { .o = o };
	int ret;

	o->wrong = UNIQUE_NONE;
	o->capacity = UINT64_MAX;
	ret = read_all(&r);
	*why = r.why;
	free(r.method);
	free(r.known);
	return ret;
}

void unique_free(struct unique_ops *o)
{
	free(o->op);
	free(o->v);
	free(o->look);
}
