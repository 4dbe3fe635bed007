// SPDX-License-Identifier: GPL-2.0
/* The result of a litmus test, see litmus_result.h. */
#include <stdlib.h>

#include "base/memstream.h"
#include "report/json_value.h"
#include "report/litmus_result.h"

static const char *const quantifiers[] = { "exists", "~exists", "forall" };

void kl_litmus_print_item(FILE *f, const struct kl_litmus *l, unsigned int i)
{
	const struct kl_lit_item *it = &l->items[i];

	if (it->thread < 0)
		fprintf(f, "[%s]", l->locs[it->index].name);
	else
		fprintf(f, "%d:%s", it->thread, kl_litmus_reg(l->x64, it->index));
}

/* Return: the rank of a condition's operator; a higher rank binds its operands more strongly. */
static unsigned int strength(enum kl_lit_op op)
{
	return op == KL_LIT_IMPLIES ? 1 : op == KL_LIT_OR ? 2 : op == KL_LIT_AND ? 3 : 4;
}

static void print_node(FILE *f, const struct kl_litmus *l, unsigned int n);

/* Print an operand of @parent, in parentheses if it binds less strongly than @parent. */
static void print_part(FILE *f, const struct kl_litmus *l, unsigned int n, enum kl_lit_op parent)
{
	const bool open = strength(l->nodes[n].op) < strength(parent) ||
			  (parent == KL_LIT_IMPLIES && l->nodes[n].op == KL_LIT_IMPLIES);

	if (open)
		fputc('(', f);
	print_node(f, l, n);
	if (open)
		fputc(')', f);
}

static void print_node(FILE *f, const struct kl_litmus *l, unsigned int n)
{
	const struct kl_lit_node *x = &l->nodes[n];
	char buf[32];

	switch (x->op) {
	case KL_LIT_TRUE:
	case KL_LIT_FALSE:
		fputs(x->op == KL_LIT_TRUE ? "true" : "false", f);
		break;
	case KL_LIT_NOT:
		fputs("not (", f);
		print_node(f, l, x->a);
		fputc(')', f);
		break;
	case KL_LIT_EQ:
		kl_litmus_print_item(f, l, x->a);
		fprintf(f, "=%s", kl_litmus_value(l, x->a, x->val, buf));
		break;
	case KL_LIT_SAME:
		kl_litmus_print_item(f, l, x->a);
		fputc('=', f);
		kl_litmus_print_item(f, l, x->b);
		break;
	default:
		print_part(f, l, x->a, x->op);
		fputs(x->op == KL_LIT_AND ? " /\\ " :
		      x->op == KL_LIT_OR ? " \\/ " :
		      " => ",
		      f);
		print_part(f, l, x->b, x->op);
	}
}

void kl_litmus_print_condition(FILE *f, const struct kl_litmus *l)
{
	print_node(f, l, l->condition);
}

static void print_condition(FILE *f, const struct kl_litmus *l)
{
	fprintf(f, "%s (", quantifiers[l->quantifier]);
	kl_litmus_print_condition(f, l);
	fputc(')', f);
}

void kl_litmus_print(FILE *f, const struct kl_litmus *l, const struct kl_litmus_result *r)
{
	static const char *const kind[] = { "Allowed", "Forbidden", "Required" };
	const bool swap = l->quantifier == KL_LIT_NOT_EXISTS;
	char buf[32];
	size_t i, j;

	fprintf(f, "Test %s %s\nStates %zu\n", l->name, kind[l->quantifier], r->nstates);
	for (i = 0; i < r->nstates; i++) {
		for (j = 0; j < l->nitems; j++) {
			if (j)
				fputc(' ', f);
			kl_litmus_print_item(f, l, j);
			fprintf(f, "=%s;",
				kl_litmus_value(l, j, r->states[i * l->nitems + j], buf));
		}
		fputc('\n', f);
	}
	fprintf(f, "%s\nWitnesses\nPositive: %zu Negative: %zu\nCondition ",
		kl_litmus_ok(l, r) ? "Ok" : "No", swap ? r->negative : r->positive,
		swap ? r->positive : r->negative);
	print_condition(f, l);
	fputc('\n', f);
}

const char *kl_litmus_observation(const struct kl_litmus_result *r)
{
	return !r->positive ? "Never" : !r->negative ? "Always" : "Sometimes";
}

/* ---- JSON -------------------------------------------------------------------------------- */

static json_t *state_json(const struct kl_litmus *l, const uint64_t *state, bool holds)
{
	json_t *j = json_object(), *values = json_object();
	char buf[32];
	size_t i;

	for (i = 0; i < l->nitems; i++) {
		struct kl_memstream m;
		char *name = NULL;

		if (kl_memstream_open(&m)) {
			kl_json_no_memory();
			continue;
		}
		kl_litmus_print_item(m.f, l, i);
		if (kl_memstream_close(&m, &name, NULL))
			kl_json_no_memory();
		else
			json_object_set_new(values, name,
					    kl_json_text(kl_litmus_value(l, i, state[i], buf)));
		free(name);
	}
	json_object_set_new(j, "values", values);
	json_object_set_new(j, "holds", json_boolean(holds));
	return j;
}

static json_t *test_json(const char *path, const struct kl_litmus *l, const char *verdict)
{
	json_t *j = json_object();

	json_object_set_new(j, "file", kl_json_text(path));
	if (l)
		json_object_set_new(j, "name", kl_json_text(l->name));
	json_object_set_new(j, "verdict", json_string(verdict));
	return j;
}

json_t *kl_litmus_none_json(const char *path, const struct kl_litmus *l, const char *verdict,
			    const char *reason)
{
	json_t *j = test_json(path, l, verdict);

	json_object_set_new(j, "reason", kl_json_text(reason));
	return j;
}

json_t *kl_litmus_json(const char *path, const struct kl_litmus *l,
		       const struct kl_litmus_result *r)
{
	json_t *j = test_json(path, l, kl_litmus_ok(l, r) ? "Ok" : "No"), *states = json_array();
	struct kl_memstream m;
	char *condition = NULL;
	size_t i;

	if (!kl_memstream_open(&m)) {
		print_condition(m.f, l);
		kl_memstream_close(&m, &condition, NULL);
	}
	if (condition)
		json_object_set_new(j, "condition", kl_json_text(condition));
	else
		kl_json_no_memory();
	free(condition);
	for (i = 0; i < r->nstates; i++)
		json_array_append_new(states, state_json(l, &r->states[i * l->nitems],
							 r->holds[i]));
	json_object_set_new(j, "observation", json_string(kl_litmus_observation(r)));
	json_object_set_new(j, "positive", json_integer(r->positive));
	json_object_set_new(j, "negative", json_integer(r->negative));
	json_object_set_new(j, "states", states);
	return j;
}
