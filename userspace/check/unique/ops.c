// SPDX-License-Identifier: GPL-2.0
/* What the operations of a partition do at the ends of a container, see ends.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/unique/ends.h"
#include "spec/classify/container.h"

struct reader {
	struct ends_ops *o;
	struct kl_end_method *method;	/* of the specification */
	bool *known;			/* it does one thing at one end */
	bool told;			/* how much room there is */
	bool full;			/* something found it full */
	const char *why;
};

static bool no(struct reader *r, const char *why)
{
	r->why = why;
	return false;
}

/* Are the results as given?  @but: one that may be any word; it must be a word. */
static bool fits(const struct kl_end_method *m, const struct kl_val *res, const struct kl_val *want,
		 unsigned int but)
{
	unsigned int i;

	for (i = 0; i < m->nresults; i++)
		if (i == but ? res[i].tag != KL_WORD : !kl_val_eq(res[i], want[i]))
			return false;
	return true;
}

/* The same, where those that are not known may be any. */
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

/* Of a pop or look: results that are known, and still none that there can be. */
static bool is_odd(struct reader *r, const struct kl_end_method *m, const struct kl_val *res,
		   struct ends_op *op)
{
	unsigned int i;

	for (i = 0; i < m->nresults && res[i].tag != KL_ANY; i++)
		;
	if (i < m->nresults)
		return false;
	op->kind = ENDS_ODD;
	r->o->nodd++;
	return true;
}

static bool read_push(struct reader *r, const struct kl_end_method *m, const struct kl_val *v,
		      unsigned int nargs, bool pending, struct ends_op *op)
{
	const uint64_t most = m->bounded && m->most < 0 ? m->capacity :
			      m->bounded ? v[m->most].v : UINT64_MAX;

	op->kind = ENDS_PUSH;
	if (v[m->value].tag != KL_WORD)
		return no(r, "a push of what is no known word");
	if (m->bounded && ((m->most >= 0 && v[m->most].tag != KL_WORD) ||
			   (m->replaces >= 0 && !kl_val_eq(v[m->replaces], kl_word(0)))))
		return no(r, "a push that makes room for itself");
	if (r->told && r->o->capacity != most)
		return no(r, "pushes that tell how much room there is, and differ");
	r->told = true;
	r->o->may_differ |= m->most >= 0;
	r->o->capacity = most;
	if (pending)
		return true;
	if (may_fit(m, v + nargs, m->done, m->nresults)) {
		/* Without a bound it has certainly pushed. */
		if (m->bounded && may_fit(m, v + nargs, m->other, m->nresults))
			op->kind = ENDS_MAYBE;
		r->o->nmaybe += op->kind == ENDS_MAYBE;
		return true;
	}
	op->kind = ENDS_FULL;
	r->full = true;
	return (m->bounded && may_fit(m, v + nargs, m->other, m->nresults)) ||
	       is_odd(r, m, v + nargs, op) || no(r, "a result that no push gives");
}

static bool read_pop(struct reader *r, const struct kl_end_method *m, const struct kl_val *res,
		     bool pending, struct ends_op *op)
{
	const bool pop = m->act == KL_END_POP, known = res[m->value].tag != KL_ANY;
	const bool some = may_fit(m, res, m->done, m->value);
	const bool none = may_fit(m, res, m->other, m->nresults);

	op->kind = pop ? ENDS_POP : ENDS_LOOK;
	op->some = !none;
	if (pending)
		op->kind = pop ? ENDS_WILD : ENDS_NOTHING;
	else if (fits(m, res, m->other, m->nresults) || (none && !some))
		op->kind = ENDS_EMPTY;
	else if (some && !known)
		op->kind = pop ? ENDS_HIDDEN : ENDS_FREE;
	else if (!some || none)
		return is_odd(r, m, res, op) || no(r, "a result that is not known");
	r->o->nhidden += op->kind == ENDS_HIDDEN;
	r->o->nwild += op->kind == ENDS_WILD || op->kind == ENDS_HIDDEN;
	return true;
}

static bool read_item(struct reader *r, uint32_t i)
{
	const struct kl_item *it = &r->o->p->items[i];
	const struct kl_shape *s = &r->o->p->h->shapes[it->shape];
	const struct kl_val *v = r->o->p->h->vals + s->vals;
	const struct kl_end_method *m = &r->method[it->method];
	const bool pending = it->ret_ev == KL_NO_EVENT;
	struct ends_op *op = &r->o->op[i];

	*op = (struct ends_op){ .kind = ENDS_NOTHING, .back = m->back, .value = ENDS_NONE };
	if (it->kind != KL_ITEM_OP || it->nocall)
		return no(r, "operations were lost, or not seen to be called");
	if (!r->known[it->method])
		return no(r, "a method that does more than one thing at one end");
	return m->act == KL_END_PUSH ? read_push(r, m, v, s->nargs, pending, op) :
	       read_pop(r, m, v + s->nargs, pending, op);
}

/* The word that an operation pushes, pops or sees; false if there is none. */
static bool word_of(const struct reader *r, uint32_t i, uint64_t *word)
{
	const struct kl_item *it = &r->o->p->items[i];
	const struct kl_shape *s = &r->o->p->h->shapes[it->shape];
	const struct kl_end_method *m = &r->method[it->method];
	const bool push = m->act == KL_END_PUSH;
	const uint8_t kind = r->o->op[i].kind;
	const struct kl_val *v = &r->o->p->h->vals[s->vals + m->value + (push ? 0 : s->nargs)];

	if (kind != ENDS_PUSH && kind != ENDS_MAYBE && kind != ENDS_POP && kind != ENDS_LOOK &&
	    kind != ENDS_ODD)
		return false;
	*word = v->v;
	return v->tag == KL_WORD;
}

/* Values are numbered, and the operations of each made known to it. */
static bool take_in(struct reader *r, uint32_t item, uint32_t number)
{
	struct ends_ops *o = r->o;
	struct ends_value *v = &o->v[number];
	struct ends_op *op = &o->op[item];
	const struct kl_item *it = &o->p->items[item];

	op->value = number;
	switch (op->kind) {
	case ENDS_PUSH:
	case ENDS_MAYBE:
		if (v->push != ENDS_NONE)
			return no(r, "a value was pushed more than once");
		v->push = item;
		break;
	case ENDS_POP:
		if (v->pop != ENDS_NONE)
			o->wrong = number;
		v->pop = item;
		v->leaves = op->back ? ENDS_BACK : ENDS_FRONT;
		break;
	default:
		o->look[v->look + v->nlooks++] = item;
		v->looks++;
	}
	if (it->ret_ev < v->lo)
		v->lo = it->ret_ev;
	if (item != v->push && it->call_ev > v->hi)
		v->hi = it->call_ev;
	if (item != v->push && it->ret_ev < v->rank)
		v->rank = it->ret_ev;
	return true;
}

static int number_values(struct reader *r)
{
	struct ends_ops *o = r->o;
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
			o->v[number] = (struct ends_value){
				.push = ENDS_NONE, .pop = ENDS_NONE, .leaves = ENDS_STAYS,
				.look = i, .rank = ENDS_NONE, .lo = ENDS_NONE,
			};
		}
		if (!take_in(r, k[i].val, number))
			break;
	}
	free(k);
	return i == n;
}

/*
 * A push that never returned of what nobody sees: it need not have taken effect.  A hidden pop
 * may have to take its value, as another one that is inside is seen to stay.
 */
static bool is_useless(const struct ends_ops *o, const struct ends_value *v)
{
	return !o->nhidden && o->p->items[v->push].ret_ev == KL_NO_EVENT &&
	       v->pop == ENDS_NONE && !v->nlooks;
}

/* A push whose value somebody pops or sees had room.  Of another one nobody knows. */
static void settle_maybe(struct reader *r, const struct ends_value *v)
{
	struct ends_op *op = &r->o->op[v->push];

	if (op->kind != ENDS_MAYBE)
		return;
	if (v->pop != ENDS_NONE || v->nlooks)
		op->kind = ENDS_PUSH;
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
	struct ends_ops *o = r->o;
	struct kl_container c;
	uint32_t i;
	int ret;

	kl_spec_container(o->p->spec, &c);
	if (c.kind != KL_CONTAINER_QUEUE && c.kind != KL_CONTAINER_STACK &&
	    c.kind != KL_CONTAINER_DEQUE)
		return no(r, "the specification is no queue, stack or deque");
	if (!o->p->fresh || !c.init)
		return no(r, "the first state is not known");
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
		if (o->v[i].push != ENDS_NONE)
			settle_maybe(r, &o->v[i]);
	for (i = 0; ret > 0 && i < o->nvalues; i++) {
		if (o->v[i].push == ENDS_NONE)
			o->wrong = i;
		else if (!r->full && is_useless(o, &o->v[i]))
			o->op[o->v[i].push].kind = ENDS_NOTHING;
		/* A wild one may take it. */
		if (o->v[i].pop == ENDS_NONE && !o->nwild)
			o->v[i].hi = ENDS_NONE;
		if (o->v[i].hi < o->v[i].rank)
			o->v[i].rank = o->v[i].hi;
	}
	return ret;
}

int ends_read(struct ends_ops *o, const char **why)
{
	struct reader r = { .o = o };
	int ret;

	o->wrong = ENDS_NONE;
	o->capacity = UINT64_MAX;
	ret = read_all(&r);
	*why = r.why;
	free(r.method);
	free(r.known);
	return ret;
}

void ends_free(struct ends_ops *o)
{
	free(o->op);
	free(o->v);
	free(o->look);
}
