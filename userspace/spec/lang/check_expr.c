// SPDX-License-Identifier: GPL-2.0
/* The checker: names in expressions, and types of expressions. */
#include <string.h>

#include "spec/lang/advice.h"
#include "spec/lang/check.h"
#include "spec/interp/code.h"

void kl_check_use(struct kl_checker *c, const struct kl_ast_expr *e, unsigned int use)
{
	if (c->m && e->kind == KL_A_NAME && e->local && e->local->reg < c->m->pub.nparams)
		c->m->pub.params[e->local->reg].use |= use;
}

struct kl_local *kl_check_local(struct kl_checker *c, const char *name)
{
	unsigned int i;

	for (i = c->nscope; i--;)
		if (!strcmp(c->scope[i]->name, name))
			return c->scope[i];
	return NULL;
}

static struct kl_var *find_var(const struct kl_spec *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nvars; i++)
		if (!strcmp(s->vars[i].name, name))
			return &s->vars[i];
	return NULL;
}

static struct kl_const *find_const(const struct kl_spec *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nconsts; i++)
		if (s->consts[i].type && !strcmp(s->consts[i].name, name))
			return &s->consts[i];
	return NULL;
}

static void no_such_name(struct kl_checker *c, const struct kl_ast_expr *e)
{
	char advice[KL_ADVICE_MAX];

	kl_diag_err(c->d, e->pos, "no variable '%s'%s", e->name,
		    kl_advise_variable ? kl_advise_variable(c, e->name, e->pos, advice) : "");
}

static bool check_shared(struct kl_checker *c, const struct kl_ast_expr *e)
{
	if (!c->m) {
		kl_diag_err(c->d, e->pos, "'%s' is a variable, expected a constant", e->name);
		return false;
	}
	if (!c->atomic) {
		kl_diag_err(c->d, e->pos, "'%s' is shared: use it inside 'atomic { }' or "
			    "'atomic_flush { }'", e->name);
		return false;
	}
	return true;
}

static void note_bound(struct kl_checker *c, const struct kl_ast_expr *e, unsigned int len)
{
	struct kl_param *p;

	if (!c->m || e->kind != KL_A_NAME || !e->local || e->local->reg >= c->m->pub.nparams)
		return;
	p = &c->m->pub.params[e->local->reg];
	p->use |= KL_USE_INDEX;
	if (!p->bound || len < p->bound)
		p->bound = len;
}

static enum kl_etype check_index(struct kl_checker *c, struct kl_ast_expr *e, struct kl_var *v)
{
	struct kl_val n;
	enum kl_etype type;

	kl_check_need(c, e->a, KL_ET_WORD, "an index");
	if (e->a->kind == KL_A_NUM && kl_check_const(c, e->a, &n, &type) && v->len && n.v >= v->len)
		kl_diag_err(c->d, e->a->pos, "'%s' has %u elements, and no element [%llu]", e->name,
			    v->len, (unsigned long long)n.v);
	kl_part_touch(c, e, e->a);
	note_bound(c, e->a, v->len);
	return kl_etype(v->type);
}

static enum kl_etype check_state_place(struct kl_checker *c, struct kl_ast_expr *e)
{
	struct kl_var *v = e->var;
	char list[128];

	if (!check_shared(c, e))
		return KL_ET_ERR;
	if (v->cont) {
		kl_diag_err(c->d, e->pos, "'%s' is a %s: use its methods (%s)", e->name,
			    kl_cont_name(v->cont), kl_cont_list(v->cont, list, sizeof(list)));
		return KL_ET_ERR;
	}
	if (e->kind == KL_A_NAME && v->is_array) {
		kl_diag_err(c->d, e->pos, "'%s' is an array, expected an index: '%s[...]'", e->name,
			    e->name);
		return KL_ET_ERR;
	}
	if (e->kind == KL_A_INDEX && !v->is_array) {
		kl_diag_err(c->d, e->pos, "'%s' is not an array and has no index", e->name);
		return KL_ET_ERR;
	}
	if (e->kind == KL_A_INDEX)
		return check_index(c, e, v);
	kl_part_touch(c, e, NULL);
	return kl_etype(v->type);
}

enum kl_etype kl_check_place(struct kl_checker *c, struct kl_ast_expr *e, bool write)
{
	e->local = kl_check_local(c, e->name);
	e->var = e->local ? NULL : find_var(c->s, e->name);
	if (e->var) {
		if (c->m && !write)
			c->m->pub.blind = false;
		return check_state_place(c, e);
	}
	if (e->local)
		e->local->read |= !write;
	else
		e->konst = find_const(c->s, e->name);
	if (e->konst && write) {
		kl_diag_err(c->d, e->pos, "'%s' is a constant and cannot be assigned", e->name);
		return KL_ET_ERR;
	}
	if (!e->local && !e->konst) {
		no_such_name(c, e);
		return KL_ET_ERR;
	}
	if (e->kind == KL_A_INDEX) {
		kl_diag_err(c->d, e->pos, "'%s' is not an array and has no index", e->name);
		return KL_ET_ERR;
	}
	e->from_local = e->local;
	e->special = e->konst && e->konst->type == KL_ET_SPECIAL;
	return e->local ? e->local->type : e->konst->type;
}

static bool fits(enum kl_etype have, enum kl_etype want)
{
	return have == want || (have == KL_ET_SPECIAL && want == KL_ET_WORD) || have == KL_ET_ERR;
}

static void need(struct kl_checker *c, const struct kl_ast_expr *e, enum kl_etype have,
		 enum kl_etype type, const char *what)
{
	const char *hint = "";

	if (fits(have, type))
		return;
	if (have == KL_ET_WORD && type == KL_ET_BOOL)
		hint = "; compare it, for example with '!= 0'";
	else if (have == KL_ET_BOOL && type == KL_ET_WORD && kl_advise_operand)
		hint = kl_advise_operand(e, what);
	else if (have == KL_ET_VOID)
		hint = ": this method of a container has no result";
	kl_diag_err(c->d, e->pos, "%s must be a %s, found %s%s", what, kl_etype_name(type),
		    kl_etype_name(have), hint);
}

void kl_check_need(struct kl_checker *c, struct kl_ast_expr *e, enum kl_etype type,
		   const char *what)
{
	need(c, e, kl_check_expr(c, e), type, what);
}

void kl_check_stored(struct kl_checker *c, const struct kl_ast_expr *e)
{
	c->s->specials |= e->special;
	c->stores_local |= e->from_local;
}

static enum kl_etype check_call(struct kl_checker *c, struct kl_ast_expr *e)
{
	const struct kl_cont_method *cm;
	struct kl_ast_expr *args[2] = { e->a, e->b };
	struct kl_var *v = find_var(c->s, e->name);
	char advice[KL_ADVICE_MAX];
	unsigned int i;

	if (!v) {
		if (kl_check_local(c, e->name) || find_const(c->s, e->name))
			kl_diag_err(c->d, e->pos, "'%s' is not a container and has no methods",
				    e->name);
		else
			no_such_name(c, e);
		return KL_ET_ERR;
	}
	e->var = v;
	if (!check_shared(c, e))
		return KL_ET_ERR;
	c->m->pub.blind = false;
	if (!v->cont) {
		kl_diag_err(c->d, e->pos, "'%s' is not a container and has no methods", e->name);
		return KL_ET_ERR;
	}
	cm = kl_cont_find(v->cont, e->method);
	if (!cm) {
		kl_diag_err(c->d, e->method_pos, "no method '%s' of %s%s", e->method,
			    kl_cont_name(v->cont),
			    kl_advise_method ? kl_advise_method(v->cont, e->method, advice) : "");
		return KL_ET_ERR;
	}
	e->cont_op = cm->op;
	v->sized |= cm->op == KL_CO_SIZE;
	if (e->nargs != cm->nargs) {
		kl_diag_err(c->d, e->method_pos, "'%s' of %s takes %u argument%s, found %u",
			    cm->name, kl_cont_name(v->cont), cm->nargs,
			    cm->nargs == 1 ? "" : "s", e->nargs);
		return KL_ET_ERR;
	}
	for (i = 0; i < e->nargs; i++) {
		enum kl_type_kind t = v->cont == KL_C_MAP && !i ? v->key : v->type;

		kl_check_need(c, args[i], kl_etype(t), "the argument");
		if (cm->writes)
			kl_check_stored(c, args[i]);
	}
	kl_part_touch(c, e, cm->keyed ? args[0] : NULL);
	if (cm->keyed)
		kl_check_use(c, args[0], KL_USE_KEY);
	if (v->cont == KL_C_PQUEUE && e->nargs)
		kl_check_use(c, args[0], KL_USE_ORDERED);
	if (cm->writes) {
		c->m->pub.pure = false;
		c->m->pub.flush &= c->atomic->flush;
	}
	e->special = cm->special;
	switch (cm->result) {
	case 'v':
		return kl_etype(v->type);
	case 'b':
		return KL_ET_BOOL;
	case 'w':
		return KL_ET_WORD;
	default:
		return KL_ET_VOID;
	}
}

static enum kl_etype check_equal(struct kl_checker *c, struct kl_ast_expr *e)
{
	enum kl_etype a = kl_check_expr(c, e->a), b = kl_check_expr(c, e->b);

	kl_check_use(c, e->a, KL_USE_COMPARED);
	kl_check_use(c, e->b, KL_USE_COMPARED);
	if (a == KL_ET_ERR || b == KL_ET_ERR)
		return KL_ET_BOOL;
	if (a == KL_ET_VOID || b == KL_ET_VOID ||
	    (a != b && a != KL_ET_SPECIAL && b != KL_ET_SPECIAL))
		kl_diag_err(c->d, e->pos, "%s cannot be compared with %s", kl_etype_name(a),
			    kl_etype_name(b));
	return KL_ET_BOOL;
}

static void check_operand(struct kl_checker *c, struct kl_ast_expr *e, enum kl_etype type)
{
	enum kl_etype have = kl_check_expr(c, e);

	if (have == KL_ET_SPECIAL)
		kl_diag_err(c->d, e->pos, "empty, full and absent are not numbers: they can only "
					  "be compared with == and !=");
	else
		need(c, e, have, type, "the operand");
}

static enum kl_etype check_binary(struct kl_checker *c, struct kl_ast_expr *e)
{
	bool logic = e->op == KL_OP_AND || e->op == KL_OP_OR;
	enum kl_etype type = logic ? KL_ET_BOOL : KL_ET_WORD;

	if (e->op == KL_OP_EQ || e->op == KL_OP_NE)
		return check_equal(c, e);
	check_operand(c, e->a, type);
	check_operand(c, e->b, type);
	kl_check_use(c, e->a, KL_USE_COMPUTED);
	kl_check_use(c, e->b, KL_USE_COMPUTED);
	if (logic || e->op == '<' || e->op == '>' || e->op == KL_OP_LE || e->op == KL_OP_GE)
		return KL_ET_BOOL;
	return KL_ET_WORD;
}

static enum kl_etype check_cond(struct kl_checker *c, struct kl_ast_expr *e)
{
	enum kl_etype a, b;

	kl_check_need(c, e->a, KL_ET_BOOL, "the condition");
	a = kl_check_expr(c, e->b);
	b = kl_check_expr(c, e->c);
	e->special = e->b->special || e->c->special;
	e->from_local = e->b->from_local || e->c->from_local;
	if (a == KL_ET_ERR || b == KL_ET_ERR)
		return KL_ET_ERR;
	if (a != KL_ET_VOID && fits(a, b))
		return b;
	if (b != KL_ET_VOID && fits(b, a))
		return a;
	kl_diag_err(c->d, e->pos, "'? :' chooses between %s and %s, expected one type",
		    kl_etype_name(a), kl_etype_name(b));
	return KL_ET_ERR;
}

enum kl_etype kl_check_expr(struct kl_checker *c, struct kl_ast_expr *e)
{
	enum kl_etype t = KL_ET_ERR;

	switch (e->kind) {
	case KL_A_NUM:
		t = KL_ET_WORD;
		break;
	case KL_A_BOOL:
		t = KL_ET_BOOL;
		break;
	case KL_A_SPECIAL:
		e->special = true;
		t = KL_ET_SPECIAL;
		break;
	case KL_A_NAME:
	case KL_A_INDEX:
		t = kl_check_place(c, e, false);
		break;
	case KL_A_CALL:
		t = check_call(c, e);
		break;
	case KL_A_UNARY:
		t = e->op == '!' ? KL_ET_BOOL : KL_ET_WORD;
		check_operand(c, e->a, t);
		break;
	case KL_A_BINARY:
		t = check_binary(c, e);
		break;
	case KL_A_COND:
		t = check_cond(c, e);
		break;
	default: /* expressions of implementations, which the parser does not make here */
		break;
	}
	e->type = t;
	return t;
}

static bool fold(struct kl_checker *c, struct kl_ast_expr *e, struct kl_val *v)
{
	struct kl_val a, b;

	switch (e->kind) {
	case KL_A_NUM:
	case KL_A_BOOL:
		*v = kl_word(e->num);
		return true;
	case KL_A_SPECIAL:
		*v = kl_special(e->num);
		return true;
	case KL_A_NAME:
		*v = e->konst->val;
		return true;
	case KL_A_UNARY:
		if (!fold(c, e->a, &a))
			return false;
		*v = kl_word(e->op == '-' ? -a.v : e->op == '~' ? ~a.v : !a.v);
		return true;
	case KL_A_COND:
		return fold(c, e->a, &a) && fold(c, a.v ? e->b : e->c, v);
	case KL_A_BINARY:
		if (!fold(c, e->a, &a) || !fold(c, e->b, &b))
			return false;
		if (e->op == KL_OP_EQ || e->op == KL_OP_NE) {
			*v = kl_word(kl_val_eq(a, b) == (e->op == KL_OP_EQ));
			return true;
		}
		if ((e->op == '/' || e->op == '%') && !b.v) {
			kl_diag_err(c->d, e->pos, "division by zero");
			return false;
		}
		*v = kl_word(kl_arith(e->op, a.v, b.v));
		return true;
	default:
		kl_diag_err(c->d, e->pos, "expected a constant");
		return false;
	}
}

bool kl_check_const(struct kl_checker *c, struct kl_ast_expr *e, struct kl_val *v,
		    enum kl_etype *type)
{
	unsigned int errors = c->d->errors;

	*type = kl_check_expr(c, e);
	return c->d->errors == errors && fold(c, e, v);
}
