// SPDX-License-Identifier: GPL-2.0
/*
 * Depth-first search: wgl.c with a smaller cache, and with reductions:
 *
 * - An operation that changes nothing and fits takes effect at once and for good, see frontier.c.
 *   The cache has only configurations in which no such operation is left.
 * - Twins, operations with equal signatures, go in the order of their returns.
 * - An operation that needs the state goes before a blind write, which can go later just as well.
 *   The blind writes that are tried first are the operation that returns first, and those after
 *   which the operation that returns first can take effect.  While a pending operation is open,
 *   this reduction is unsound, and all operations are tried.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/general/dfs_state.h"
#include "check/engines.h"

#define NO_TWIN UINT32_MAX

#define ADD_LOOKS	20	/* looks for adding to the cache, besides those for its words */
#define OPEN_LOOKS	3	/* looks for each open operation that is listed or sorted */

/*
 * Passes over the open operations: those that need the state, blind writes for which lets_go() is
 * true, other blind writes.  PASS_FREE marks the steps of take_free().
 */
enum pass { PASS_NEEDS, PASS_FIRST, PASS_OTHERS, PASSES, PASS_FREE };

struct dfs {
	struct depth d;
	uint64_t *key;		/* key of a configuration: state and first return; open slots */
	size_t keylen;
	uint32_t *open, nopen;	/* operations called before the first return, and not linearized */
	/* parts of @open: operations that need the state, and blind writes; see sort_open() */
	uint32_t *needs, nneeds, *over, nover;
	uint32_t first;		/* the entry of the first return */
	uint32_t *twin;		/* for each item, the twin that goes before it, or NO_TWIN */
};

/* Find each item's twin: its signature is equal, and its call and return are earlier. */
static int find_twins(struct dfs *s)
{
	const struct kl_part *p = s->d.p;
	uint64_t *apart = calloc((size_t)p->nitems / 64 + 1, sizeof(*apart));
	uint32_t *open = malloc(((size_t)p->nslots + 1) * sizeof(*open)), nopen = 0, i, k;
	int ret = apart && open ? 0 : -ENOMEM;

	s->twin = malloc(((size_t)p->nitems + 1) * sizeof(*s->twin));
	if (!s->twin)
		ret = -ENOMEM;
	/* Items with predecessors, and their predecessors, cannot change places. */
	for (i = 0; !ret && p->has_preds && i < p->nitems; i++) {
		for (k = p->pred_at[i]; k < p->pred_at[i + 1]; k++) {
			apart[p->pred[k] / 64] |= 1ull << p->pred[k] % 64;
			apart[i / 64] |= 1ull << i % 64;
		}
	}
	for (i = 0; !ret && i < p->nevents; i++) {
		const uint32_t item = p->events[i].item;
		const struct kl_item *it = &p->items[item];

		if (p->events[i].kind == KL_EV_RET) {
			for (k = 0; open[k] != item; k++)
				;
			open[k] = open[--nopen];
		}
		if (p->events[i].kind != KL_EV_CALL)
			continue;
		s->twin[item] = NO_TWIN;
		for (k = 0; k < nopen && it->kind == KL_ITEM_OP &&
			    !(apart[item / 64] >> item % 64 & 1); k++) {
			const struct kl_item *t = &p->items[open[k]];

			if (t->sig == it->sig && t->kind == KL_ITEM_OP &&
			    !(apart[open[k] / 64] >> open[k] % 64 & 1) &&
			    (t->ret_ev < it->ret_ev || it->ret_ev == KL_NO_EVENT) &&
			    (s->twin[item] == NO_TWIN || s->twin[item] < open[k]))
				s->twin[item] = open[k];
		}
		open[nopen++] = item;
	}
	free(apart);
	free(open);
	return ret;
}

static bool may_go(const struct dfs *s, uint32_t item)
{
	return (s->twin[item] == NO_TWIN || depth_is_linearized(&s->d, s->twin[item])) &&
	       depth_preds_linearized(&s->d, item);
}

/* Return: true if the effect of @item on @state is not remembered; else *m is the effect. */
static inline bool is_new(const struct dfs *s, uint32_t item, uint32_t state,
			  const struct kl_memo_entry **m)
{
	const struct kl_item *it = &s->d.p->items[item];
	const uint64_t key = kl_memo_key(state, it->sig);

	*m = kl_memo_at(&s->d.sim.memo, key);
	return ((*m)->key != key) | (it->kind != KL_ITEM_OP);
}

/*
 * Return: false if the remembered effect of @item shows that it is not free at @state.  A branch on
 * the effect could not be predicted, so there is none.
 */
static inline bool may_be_free(const struct dfs *s, uint32_t item, uint32_t state)
{
	const struct kl_memo_entry *m;
	const bool anew = is_new(s, item, state, &m);

	return anew | ((m->n == 1) & (m->next[0] == state));
}

/* Return: false if the remembered effect of @item shows that it is not possible at @state. */
static inline bool may_be_possible(const struct dfs *s, uint32_t item, uint32_t state)
{
	const struct kl_memo_entry *m;
	const bool anew = is_new(s, item, state, &m);

	return anew | !!m->n;
}

/*
 * Return: the nature of @item, or a negative errno.  Where natures are not remembered, finding them
 * would cost more than it saves.
 */
static inline int nature_of(struct dfs *s, uint32_t item)
{
	if (s->d.sim.nature)
		return kl_stepper_nature(&s->d.sim, item);
	return s->d.p->items[item].pure ? KL_READ_ONLY : 0;
}

/* Is @item free at @state: does it fit and change nothing? */
static int is_free(struct dfs *s, uint32_t item, uint32_t state)
{
	const uint32_t *next;
	int n = nature_of(s, item);

	if (n < 0 || !(n & KL_READ_ONLY) || !may_go(s, item))
		return n < 0 ? n : 0;
	n = kl_stepper_step(&s->d.sim, state, item, &next);
	return n < 0 ? n : n == 1 && next[0] == state;
}

/*
 * Linearize the operations that are free at @state.  The others are in s->open and s->key then, and
 * s->first is the first return that is left.
 *
 * Return: 1 if some were free, 0 if none was, or a negative errno.
 */
static int take_free(struct dfs *s, uint32_t state)
{
	struct depth *d = &s->d;
	uint32_t last = 0, e;
	int any = 0, ret;

	s->nopen = 0;
	memset(s->key, 0, s->keylen * sizeof(*s->key));
	while (depth_is_call(d, e = d->next[last])) {
		const uint32_t item = depth_item(d, e), slot = d->p->items[item].slot;

		ret = may_be_free(s, item, state) ? is_free(s, item, state) : 0;
		if (ret < 0)
			return ret;
		if (ret) {
			depth_push(d, (struct depth_frame){ item, 0, state, PASS_FREE });
			any = 1;
			continue;
		}
		s->open[s->nopen++] = item;
		s->key[1 + slot / 64] |= 1ull << slot % 64;
		last = e;
	}
	s->first = e;
	s->key[0] = (uint64_t)state << 32 | e;
	d->budget.work += OPEN_LOOKS * s->nopen + s->keylen;
	return any;
}

/*
 * Linearize the free operations at @state, and add the configuration to the cache.
 *
 * Return: 1 if it is new, 0 if not, or a negative errno.
 */
static int arrive(struct dfs *s, uint32_t state)
{
	int ret;

	/* Only with predecessors may an operation wait for a later one. */
	do {
		ret = take_free(s, state);
	} while (ret > 0 && s->d.p->has_preds);
	if (ret < 0 || !s->d.left)
		return ret < 0 ? ret : 1;
	s->d.budget.configs++;
	s->d.budget.work += ADD_LOOKS + 2 * s->keylen;
	return kl_cache_add_at(&s->d.cache, s->key, s->first);
}

/*
 * Return: 1 if @item returns first, or if the operation that returns first is no blind write and
 * can take effect at @state, which @item leaves; 0 if not; or a negative errno.
 */
static int lets_go(struct dfs *s, uint32_t item, uint32_t state)
{
	const uint32_t first = depth_item(&s->d, s->first);
	const uint32_t *next;
	int ret;

	if (item == first)
		return 1;
	ret = nature_of(s, first);
	if (ret < 0 || ret & KL_BLIND_WRITE)
		return ret < 0 ? ret : 0;
	ret = kl_stepper_step(&s->d.sim, state, first, &next);
	return ret < 0 ? ret : ret > 0;
}

/* Fill s->open and s->first as take_free() did before the search went on from here. */
static void list_open(struct dfs *s)
{
	const struct depth *d = &s->d;
	uint32_t e;

	s->nopen = 0;
	for (e = d->next[0]; depth_is_call(d, e); e = d->next[e])
		s->open[s->nopen++] = depth_item(d, e);
	s->first = e;
}

/*
 * Sort open operations into those that need the state and may be possible, and blind writes.  While
 * a pending operation is open, they are not separated.
 */
static int sort_open(struct dfs *s, uint32_t state)
{
	uint32_t i, nneeds = 0, nover = 0;
	bool pending = false;

	/* A pending operation, which need not take effect, must not go before one that returns. */
	for (i = 0; i < s->nopen; i++)
		pending |= s->d.p->items[s->open[i]].ret_ev == KL_NO_EVENT;
	for (i = 0; i < s->nopen; i++) {
		const uint32_t item = s->open[i];
		const bool may = may_be_possible(s, item, state);
		const int nature = nature_of(s, item);
		const bool over = !pending & !!(nature & KL_BLIND_WRITE);

		if (nature < 0)
			return nature;
		s->needs[nneeds] = s->over[nover] = item;
		nneeds += may & !over;
		nover += over;
	}
	s->nneeds = nneeds;
	s->nover = nover;
	s->d.budget.work += 2 * OPEN_LOOKS * s->nopen;
	return 0;
}

/*
 * Linearize @item, if it has an outcome number @outcome at *state, and belongs to @pass with it.
 *
 * Return: 1 with the new *state, 0 if it does not, or a negative errno.
 */
static int try_one(struct dfs *s, uint32_t item, enum pass pass, uint32_t outcome, uint32_t *state)
{
	const uint32_t *next;
	int n = may_go(s, item) ? kl_stepper_step(&s->d.sim, *state, item, &next) : 0;
	uint32_t to;

	if (n < 0 || (uint32_t)n <= outcome)
		return n < 0 ? n : 0;
	to = next[outcome];
	if (pass != PASS_NEEDS) {
		n = lets_go(s, item, to);
		if (n < 0 || (pass == PASS_FIRST) != n)
			return n < 0 ? n : 0;
	}
	depth_push(&s->d, (struct depth_frame){ item, outcome, *state, pass });
	*state = to;
	return 1;
}

/*
 * Linearize the operation that is to be tried next at *state: the first one, or the one after
 * @last.
 *
 * Return: 1 with the new *state, 0 if there is none, or a negative errno.
 */
static int try_next(struct dfs *s, const struct depth_frame *last, uint32_t *state)
{
	uint32_t outcome = 0, pass = PASS_NEEDS, i = 0;
	int ret;

	if (last)
		list_open(s);
	ret = sort_open(s, *state);
	if (ret)
		return ret;
	if (last) {
		pass = last->pass;
		outcome = last->outcome + 1;
		while ((pass == PASS_NEEDS ? s->needs : s->over)[i] != last->item)
			i++;
	}
	for (; pass < PASSES && !ret; pass++, i = 0) {
		const uint32_t *list = pass == PASS_NEEDS ? s->needs : s->over;
		const uint32_t n = pass == PASS_NEEDS ? s->nneeds : s->nover;

		for (; i < n && !ret; i++, outcome = 0) {
			ret = try_one(s, list[i], pass, outcome, state);
			s->d.budget.work += OPEN_LOOKS;
		}
	}
	if (!ret && s->d.left)
		depth_note_failure(&s->d, s->first - 1);
	return ret;
}

/* Return: 1 linearizable, 0 not, negative errno. */
static int search(struct dfs *s)
{
	struct depth *d = &s->d;
	uint32_t state = d->sim.first;
	struct depth_frame f;
	int ret;

	for (;;) {
		ret = arrive(s, state);
		if (ret >= 0 && !d->left) {
			if (depth_is_sure(d, state))
				return 1;
			/*
			 * The order is not sure.  Go on: pending operations may take effect, too.
			 */
			ret = kl_cache_add_at(&d->cache, s->key, s->first);
		}
		if (ret < 0)
			return ret;
		if (ret)
			ret = depth_check(d) ?: try_next(s, NULL, &state);
		while (!ret) {
			do {
				if (!d->height)
					return 0;
				f = depth_pop(d);
			} while (f.pass == PASS_FREE);
			state = f.state;
			ret = try_next(s, &f, &state);
		}
		if (ret < 0)
			return ret;
	}
}

static int dfs_decide(const struct kl_part *p, const struct kl_limits *lim, struct kl_answer *a)
{
	struct dfs s = { .keylen = 1 + (p->nslots + 63) / 64 };
	int ret;

	a->engine = "dfs";
	ret = depth_init(&s.d, p, lim);
	s.key = malloc(s.keylen * sizeof(*s.key));
	s.open = malloc(((size_t)p->nslots + 1) * sizeof(*s.open));
	s.needs = malloc(((size_t)p->nslots + 1) * sizeof(*s.needs));
	s.over = malloc(((size_t)p->nslots + 1) * sizeof(*s.over));
	if (!s.key || !s.open || !s.needs || !s.over)
		ret = -ENOMEM;
	ret = ret ?: find_twins(&s) ?:
	      kl_cache_init_places(&s.d.cache, s.keylen, (size_t)p->nevents + 2);
	ret = depth_answer(&s.d, ret ?: search(&s), a);
	depth_free(&s.d);
	free(s.key);
	free(s.open);
	free(s.needs);
	free(s.over);
	free(s.twin);
	return ret;
}

const struct kl_engine kl_dfs_engine = {
	.name = "dfs",
	.help = "any spec: depth-first search, fast where many orders exist",
	.rank = 70,
	.decide = dfs_decide,
};
KL_ENGINE(kl_dfs_engine);
