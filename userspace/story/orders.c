// SPDX-License-Identifier: GPL-2.0
/* The longest orders of a counterexample's operations, as sentences of a story. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "story/reason.h"
#include "story/search.h"

#define SENTENCE	1024
#define NAMED		4	/* operations of an order that its sentence names */

uint32_t kl_story_failing(const struct kl_counterexample *c)
{
	uint32_t best = KL_NO_OP, i;

	for (i = 0; c && i < c->h->nops; i++) {
		const struct kl_op *op = &c->h->ops[i];

		if (op->ret != KL_TIME_MAX &&
		    (best == KL_NO_OP || op->ret == c->end ||
		     (op->ret > c->h->ops[best].ret && c->h->ops[best].ret != c->end)))
			best = i;
	}
	return best == KL_NO_OP ? KL_NO_OP : c->ops[best];
}

/* "After a, b and c, with q = [1], t2's deq() -> 5 cannot come next; 1 was possible" */
static int say_order(const struct kl_scene *s, struct kl_story_order *o, const char *allowed)
{
	const size_t from = o->nops > NAMED ? o->nops - NAMED : 0;
	const bool known = !s->part->cex->forgot;
	char text[SENTENCE];
	size_t len, i;

	len = snprintf(text, sizeof(text), "%s", !known ? "After operations that are left out" :
		       o->nops ? "After " : "In the first state");
	if (!known && o->nops)
		len += snprintf(text + len, sizeof(text) - len, ", and ");
	if (from)
		len += snprintf(text + len, sizeof(text) - len, "%zu other%s, ", from,
				from > 1 ? "s" : "");
	for (i = from; i < o->nops && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s", i == from ? "" :
				i + 1 == o->nops ? " and " : ", ", kl_name_op(s, o->ops[i]).s);
	if (o->state && *o->state && len < sizeof(text))
		len += snprintf(text + len, sizeof(text) - len, ", with %s", o->state);
	if (o->stopped_by != KL_NO_OP && len < sizeof(text))
		len += snprintf(text + len, sizeof(text) - len, ", %s cannot come next",
				kl_name_op(s, o->stopped_by).s);
	if (*allowed && len < sizeof(text))
		snprintf(text + len, sizeof(text) - len, "; the result could be %s", allowed);
	o->sentence = strdup(text);
	return o->sentence && o->state ? 0 : -ENOMEM;
}

int kl_story_search(const struct kl_scene *s, struct kl_search_in *in, uint32_t want,
		    struct kl_search *out)
{
	struct kl_scene_looks *l = s->looks;
	int ret;

	in->most = l->made < l->all ? (l->all - l->made) / 3 + 1 : 1;
	ret = kl_search(s->spec, in, want, out);
	l->made += out->looks;
	return ret;
}

int kl_story_orders(const struct kl_scene *s, struct kl_story *story)
{
	const struct kl_counterexample *c = s->part->cex;
	struct kl_search_in in = {
		.h = c->h,
		.nops = c->h->nops,
		.object = KL_ALL_OBJECTS,
	};
	struct kl_search found;
	size_t i, k;
	int ret;

	/* With store buffers an operation may come next that these orders forbid. */
	if (s->tso)
		return 0;
	ret = kl_story_search(s, &in, KL_NO_OP, &found);
	for (i = 0; i < found.nends && i < KL_STORY_ORDERS && !ret; i++) {
		struct kl_story_order *order = &story->orders[story->norders++];

		order->ops = found.ends[i].ops;
		order->nops = found.ends[i].n;
		for (k = 0; k < order->nops; k++)
			order->ops[k] = c->ops[order->ops[k]];
		order->stopped_by = found.ends[i].stopped_by;
		if (order->stopped_by != KL_NO_OP)
			order->stopped_by = c->ops[order->stopped_by];
		order->state = strdup(found.ends[i].state);
		found.ends[i].ops = NULL;
		ret = say_order(s, order, found.ends[i].allowed);
	}
	kl_search_free(&found);
	return ret;
}
