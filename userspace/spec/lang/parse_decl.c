// SPDX-License-Identifier: GPL-2.0
/* The parser: declarations inside a spec. */
#include "spec/lang/parse.h"

static enum kl_type_kind parse_type(struct kl_parser *p, const char *what)
{
	if (kl_p_take_kw(p, KL_KW_WORD))
		return KL_T_WORD;
	if (kl_p_take_kw(p, KL_KW_BOOL))
		return KL_T_BOOL;
	kl_p_expected(p, what);
}

static enum kl_cont_kind container(struct kl_parser *p)
{
	enum kl_cont_kind k;

	if (kl_p_ahead(p, 1)->kind != '<')
		return KL_C_NONE;
	for (k = KL_C_QUEUE; k <= KL_C_BAG; k++)
		if (kl_p_is_word(p, kl_cont_name(k)))
			return k;
	kl_p_expected(p, "word, bool, queue, stack, deque, pqueue, set, map or bag");
}

static void parse_var(struct kl_parser *p, const struct kl_var *type)
{
	struct kl_pos pos = kl_p_peek(p)->pos;
	const char *name = kl_p_name(p, "a variable's name");
	struct kl_var *v = kl_p_add(p, kl_p_spec(p), vars);

	*v = *type;
	v->name = name;
	v->pos = pos;
	v->len = 1;
	if (kl_p_is(p, '[')) {
		if (v->cont)
			kl_p_fail(p, kl_p_peek(p)->pos, "containers cannot be in an array");
		kl_p_next(p);
		v->is_array = true;
		v->len_expr = kl_p_expr(p);
		kl_p_expect(p, ']', "']' after the number of elements");
	}
	if (!kl_p_take(p, '='))
		return;
	v->has_init = true;
	if (!v->cont)
		v->init_expr = kl_p_expr(p);
	else if (!kl_p_take_kw(p, KL_KW_EMPTY))
		kl_p_expected(p, "'empty', the only initial value of a container");
}

static void parse_vars(struct kl_parser *p)
{
	struct kl_var type = { .cont = container(p) };

	if (type.cont) {
		kl_p_next(p);
		kl_p_next(p);
		type.type = parse_type(p, "'word' or 'bool' in a container");
		if (type.cont == KL_C_MAP) {
			type.key = type.type;
			kl_p_expect(p, ',', "',' and the type of the map's values");
			type.type = parse_type(p,
					       "'word' or 'bool' as the type of the map's values");
		}
		kl_p_expect(p, '>', "'>' after the container's type");
		if (type.cont == KL_C_PQUEUE) {
			type.max = kl_p_take_word(p, "max");
			if (!type.max && kl_p_is_word(p, "min") &&
			    kl_p_ahead(p, 1)->kind == KL_TOK_NAME)
				kl_p_next(p);
		}
	} else {
		type.type = parse_type(p, "a declaration");
	}
	do {
		parse_var(p, &type);
	} while (kl_p_take(p, ','));
	kl_p_expect(p, ';', "';' or ',' after a variable");
}

void kl_p_const(struct kl_parser *p)
{
	struct kl_const *c;
	struct kl_pos pos;
	const char *name;

	kl_p_next(p);
	pos = kl_p_peek(p)->pos;
	name = kl_p_name(p, "a constant's name");
	kl_p_expect(p, '=', "'=' and the constant's value");
	c = kl_p_add(p, kl_p_spec(p), consts);
	c->name = name;
	c->pos = pos;
	c->expr = kl_p_expr(p);
	kl_p_expect(p, ';', "';' after a constant");
}

static bool is_data(struct kl_parser *p)
{
	return kl_p_impl(p) && (kl_p_is_word(p, "data") || kl_p_is_word(p, "key"));
}

/*
 * Parse parameters.  @data and @keys get a bit for each parameter of type `data' or `key', which
 * only implementations have.
 */
static unsigned int parse_params(struct kl_parser *p, struct kl_param *params, struct kl_pos *pos,
				 const char *what, uint32_t *data, uint32_t *keys)
{
	unsigned int n = 0;

	kl_p_expect(p, '(', "'('");
	if (kl_p_take(p, ')'))
		return 0;
	do {
		if (n == KL_MAX_ARGS)
			kl_p_fail(p, kl_p_peek(p)->pos, "a method has at most %d %ss", KL_MAX_ARGS,
				  what);
		if (is_data(p)) {
			*(kl_p_is_word(p, "key") ? keys : data) |= 1u << n;
			kl_p_next(p);
			params[n].type = KL_T_WORD;
		} else {
			params[n].type = parse_type(p, "the type 'word' or 'bool'");
		}
		pos[n] = kl_p_peek(p)->pos;
		params[n].name = kl_p_name(p, "a name");
		n++;
		/* The parser takes a ';' for the ',' that was meant, so as to say no more of it. */
		if (kl_p_is(p, ';') && kl_p_ahead(p, 1)->kind == KL_TOK_NAME)
			kl_diag_err(kl_p_diag(p), kl_p_peek(p)->pos,
				    "expected ')' or ',', found ';'; write ','");
	} while (kl_p_take(p, ',') || (kl_p_ahead(p, 1)->kind == KL_TOK_NAME && kl_p_take(p, ';')));
	kl_p_expect(p, ')', "')' or ','");
	return n;
}

static void parse_results(struct kl_parser *p, struct kl_method_def *m)
{
	struct kl_param *r = m->pub.results;
	uint32_t data = 0, keys = 0;

	if (kl_p_is(p, '(')) {
		m->pub.nresults = parse_params(p, r, m->result_pos, "result", &data,
						  &keys);
		if (!m->pub.nresults)
			kl_p_fail(p, kl_p_peek(p)->pos, "'-> ()' has no effect: omit it");
		return;
	}
	m->result_pos[0] = kl_p_peek(p)->pos;
	if (is_data(p))
		kl_p_next(p);
	else
		r->type = parse_type(p, "results: '-> word', '-> bool ok' or '-> (word a, word "
				     "b)'");
	r->name = kl_p_is(p, '{') ? "result" : kl_p_name(p, "the result's name or '{'");
	m->pub.nresults = 1;
}

void kl_p_method_head(struct kl_parser *p, struct kl_method_def *m)
{
	*m = (struct kl_method_def){ .pub.part_param = -1 };
	kl_p_next(p);
	m->pos = kl_p_peek(p)->pos;
	m->pub.name = kl_p_name(p, "a method's name");
	m->pub.nparams = parse_params(p, m->pub.params, m->param_pos, "parameter", &m->data,
				      &m->keys);
	if (kl_p_take(p, KL_TOK_ARROW))
		parse_results(p, m);
	if (!kl_p_is(p, '{'))
		kl_p_expected(p, "'{' and the method's body, or '->' and its results");
}

static void parse_method(struct kl_parser *p)
{
	struct kl_method_def m, *added;

	kl_p_method_head(p, &m);
	/*
	 * The method is added before its body is parsed, since probes may name it even after
	 * errors.
	 */
	added = kl_p_add(p, kl_p_spec(p), methods);
	*added = m;
	added->body = kl_p_block(p);
}

static void parse_partition(struct kl_parser *p)
{
	struct kl_spec *s = kl_p_spec(p);

	s->part_pos = kl_p_next(p)->pos;
	if (s->part_given)
		kl_p_fail(p, s->part_pos, "a second 'partition'");
	s->part_given = true;
	if (!kl_p_take_word(p, "by"))
		kl_p_expected(p, "'by' after 'partition'");
	s->part_pos = kl_p_peek(p)->pos;
	if (kl_p_take_word(p, "object")) {
		s->partition = KL_PART_OBJECT;
	} else if (kl_p_take_word(p, "none")) {
		s->partition = KL_PART_NONE;
	} else {
		s->partition = KL_PART_PARAM;
		s->part_name = kl_p_name(p, "'object', 'none' or the name of a parameter or "
					 "result");
	}
	kl_p_expect(p, ';', "';' after 'partition by'");
}

bool kl_p_is_impl_word(struct kl_parser *p)
{
	static const char *const words[] = {
		"struct", "shared", "memory", "client", "thread", "init", "final",
	};
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (kl_p_is_word(p, words[i]))
			return true;
	return false;
}

static void parse_member(struct kl_parser *p, void *arg)
{
	char buf[48];

	(void)arg;
	if (kl_p_is_kw(p, KL_KW_METHOD))
		parse_method(p);
	else if (kl_p_is_kw(p, KL_KW_CONST))
		kl_p_const(p);
	else if (kl_p_is_kw(p, KL_KW_PARTITION))
		parse_partition(p);
	else if (kl_p_is_kw(p, KL_KW_WORD) || kl_p_is_kw(p, KL_KW_BOOL) || container(p))
		parse_vars(p);
	else if (kl_p_is_impl_word(p))
		kl_p_fail(p, kl_p_peek(p)->pos, "%s belongs to an implementation or a client: "
						"write it outside 'spec %s { }'",
			  kl_tok_show(buf, kl_p_spec(p)->text, kl_p_peek(p)), kl_p_spec(p)->name);
	else
		kl_p_expected(p, "a variable ('word x;'), 'const', 'method' or 'partition'");
}

void kl_p_spec_decl(struct kl_parser *p)
{
	struct kl_spec *s = kl_p_spec(p);
	struct kl_pos pos = kl_p_next(p)->pos;

	if (s->name)
		kl_p_fail(p, pos, "a second 'spec'; a file has one");
	s->pos = kl_p_peek(p)->pos;
	s->name = kl_p_name(p, "the specification's name");
	kl_p_expect(p, '{', "'{' after the specification's name");
	while (!kl_p_is(p, '}') && !kl_p_is(p, KL_TOK_EOF))
		kl_p_guard(p, parse_member, NULL);
	kl_p_expect(p, '}', "'}' at the specification's end");
}
