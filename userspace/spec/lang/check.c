// SPDX-License-Identifier: GPL-2.0
/* The checker: declarations, and the spec as a whole. */
#include <errno.h>
#include <string.h>

#include "spec/lang/check.h"

struct named {
	const char *name;
	struct kl_pos pos;
};

static void check_unique(struct kl_checker *c, const struct named *n, size_t count)
{
	size_t i, j;

	for (i = 1; i < count; i++) {
		for (j = 0; j < i; j++) {
			if (strcmp(n[i].name, n[j].name))
				continue;
			kl_diag_err(c->d, n[i].pos, "'%s' is already declared in line %u",
				    n[i].name, n[j].pos.line);
			break;
		}
	}
}

static void check_names(struct kl_checker *c)
{
	struct kl_spec *s = c->s;
	struct named n[2 * KL_ITEMS_MAX];
	size_t count = 0, i;

	for (i = 0; i < s->nconsts; i++)
		n[count++] = (struct named){ s->consts[i].name, s->consts[i].pos };
	for (i = 0; i < s->nvars; i++)
		n[count++] = (struct named){ s->vars[i].name, s->vars[i].pos };
	check_unique(c, n, count);
	for (i = 0; i < s->nmethods; i++)
		n[i] = (struct named){ s->methods[i].pub.name, s->methods[i].pos };
	check_unique(c, n, s->nmethods);
}

static void check_consts(struct kl_checker *c)
{
	struct kl_const *k;
	enum kl_etype type;
	size_t i;

	/* From here on the constant has a type, so that others can use it. */
	for (i = 0; i < c->s->nconsts; i++) {
		k = &c->s->consts[i];
		if (kl_check_const(c, k->expr, &k->val, &type))
			k->type = type;
	}
}

static void check_array(struct kl_checker *c, struct kl_var *v)
{
	struct kl_val n;
	enum kl_etype type;

	v->len = 0; /* an error, which indices do not repeat */
	if (!kl_check_const(c, v->len_expr, &n, &type))
		return;
	if (type != KL_ET_WORD || !n.v || n.v > KL_SLOTS_MAX)
		kl_diag_err(c->d, v->len_expr->pos, "'%s' must have 1 to %u elements", v->name,
			    KL_SLOTS_MAX);
	else
		v->len = n.v;
}

static void check_var(struct kl_checker *c, struct kl_var *v)
{
	struct kl_spec *s = c->s;
	enum kl_etype type;

	if (v->cont) {
		v->slot = s->nconts;
		s->conts[s->nconts++] = v;
		return;
	}
	if (v->len_expr)
		check_array(c, v);
	if (v->init_expr && kl_check_const(c, v->init_expr, &v->init, &type)) {
		if (type == KL_ET_SPECIAL && v->type == KL_T_WORD)
			s->specials = true;
		else if (type != kl_etype(v->type))
			kl_diag_err(c->d, v->init_expr->pos,
				    "the initial value of '%s' must be a %s, "
				    "found %s", v->name, kl_etype_name(kl_etype(v->type)),
				    kl_etype_name(type));
	}
	v->slot = s->nslots;
	s->nslots += v->len;
	if (s->nslots > KL_SLOTS_MAX) {
		kl_diag_err(c->d, v->pos, "'%s' is too large: the state has more than %u "
					  "words", v->name,
			    KL_SLOTS_MAX);
		s->nslots = 0;
	}
}

int kl_spec_check(struct kl_spec *s, struct kl_diag *d)
{
	struct kl_checker c = { .s = s, .d = d };
	size_t i;

	s->conts = kl_arena_alloc(&s->arena, (s->nvars + 1) * sizeof(*s->conts));
	if (!s->conts)
		return -ENOMEM;
	check_names(&c);
	check_consts(&c);
	for (i = 0; i < s->nvars; i++)
		check_var(&c, &s->vars[i]);
	kl_part_resolve(&c);
	if (!s->nmethods && !d->errors)
		kl_diag_err(d, s->pos, "'%s' has no method", s->name);
	s->flushes = true;
	for (i = 0; i < s->nmethods && !c.out_of_memory; i++) {
		kl_check_method(&c, &s->methods[i]);
		s->flushes &= s->methods[i].pub.flush;
	}
	return c.out_of_memory ? -ENOMEM : 0;
}
