// SPDX-License-Identifier: GPL-2.0
/* The compiler of implementations: declarations, methods and clients. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "spec/impl/impl_gen.h"
#include "spec/lang/advice.h"
#include "spec/lang/parse.h"

static void check_type(struct kl_igen *g, struct kl_field *f)
{
	if (f->tname)
		f->type = kl_ig_struct(g, f->tname, f->pos);
}

static void check_structs(struct kl_igen *g)
{
	struct kl_impl *im = g->im;
	unsigned int i, j, k;

	for (i = 0; i < im->nstructs; i++) {
		struct kl_struct *s = &im->structs[i];

		for (j = 0; j < i; j++)
			if (!strcmp(s->name, im->structs[j].name))
				kl_ig_err(g, s->pos, "struct '%s' is already declared in line %u",
					  s->name, im->structs[j].pos.line);
		if (!s->nfields)
			kl_ig_err(g, s->pos, "struct '%s' has no fields", s->name);
		for (j = 0; j < s->nfields; j++) {
			check_type(g, &s->fields[j]);
			for (k = 0; k < j; k++)
				if (!strcmp(s->fields[j].name, s->fields[k].name))
					kl_ig_err(g, s->fields[j].pos,
							"'%s' is the name of another field already",
						  s->fields[j].name);
		}
	}
}

static void check_vars(struct kl_igen *g)
{
	struct kl_impl *im = g->im;
	unsigned int i, j;
	uint64_t n;

	for (i = 0; i < im->nvars; i++) {
		struct kl_shared *v = &im->vars[i];

		check_type(g, &v->f);
		for (j = 0; j < i; j++)
			if (!strcmp(v->f.name, im->vars[j].f.name))
				kl_ig_err(g, v->f.pos, "'%s' is already declared in line %u",
					  v->f.name, im->vars[j].f.pos.line);
		if (v->is_array && kl_ig_const(g, v->len_expr, &n)) {
			if (!n || n > KL_IMPL_SLOTS) {
				kl_ig_err(g, v->f.pos, "'%s' must have 1 to %u elements",
					  v->f.name, KL_IMPL_SLOTS);
				continue;
			}
			v->len = n;
		}
		v->slot = im->nslots;
		im->nslots += v->len;
		if (im->nslots > KL_IMPL_SLOTS) {
			kl_ig_err(g, v->f.pos, "'%s' is too large: there are more than %u shared "
					       "words",
				  v->f.name, KL_IMPL_SLOTS);
			im->nslots = 0;
		}
		if (v->init_expr && v->init_expr->kind == KL_A_SPECIAL)
			v->init = kl_special(v->init_expr->num);
		else if (v->init_expr && kl_ig_const(g, v->init_expr, &n))
			v->init = kl_word(n);
		else if (!v->init_expr && v->f.type != KL_IT_LOCK && !im->init)
			kl_ig_err(g, v->f.pos, "'%s' has no initial value: give it one, or write "
					       "'init { }'", v->f.name);
		if (v->f.type >= KL_IT_PTR && v->init.v)
			kl_ig_err(g, v->f.pos, "a pointer begins as null; 'init { }' may set it");
	}
}

static void begin(struct kl_igen *g, struct kl_method_def *m, enum kl_icode code)
{
	g->m = m;
	g->g.m = m;
	g->code = code;
	g->nlocals = g->nloops = g->atomic = 0;
	g->returns = false;
	g->unset = (struct kl_iunset){ 0 };
	g->g.top = 0;
	m->code = g->g.s->ncode;
}

static void end(struct kl_igen *g)
{
	if (g->g.max > KL_IMPL_REGS && !g->g.err) {
		kl_ig_err(g, g->m->pos, "'%s' needs more than %d registers: use fewer variables or "
					"shorter expressions", g->m->pub.name, KL_IMPL_REGS);
		g->g.max = 0;
	}
	g->m->ncode = kl_gen_here(&g->g);
}

void kl_ig_local(struct kl_igen *g, const char *name, struct kl_pos pos, unsigned int type)
{
	const char **known = g->names ? &g->names[g->nlocals] : NULL;

	/* A register that several variables use in turn has no name. */
	if (known)
		*known = !*known || !strcmp(*known, name) ? name : "";
	g->local[g->nlocals++] = (struct kl_ilocal){ name, pos, type };
	if (g->g.max < g->nlocals)
		g->g.max = g->nlocals;
}

static void gen_method(struct kl_igen *g, struct kl_method_def *m)
{
	unsigned int i;
	bool ends;

	begin(g, m, KL_IC_METHOD);
	for (i = 0; i < m->pub.nparams; i++)
		kl_ig_local(g, m->pub.params[i].name, m->param_pos[i],
			    m->pub.params[i].type == KL_T_BOOL ? KL_IT_BOOL : KL_IT_WORD);
	ends = kl_ig_list(g, m->body->body);
	if (ends && !g->returns && !g->g.d->errors)
		kl_ig_err(g, m->pos, "'%s' never ends", m->pub.name);
	if (!ends && m->pub.nresults)
		kl_ig_err(g, m->pos, "'%s' can end without 'return', but has %u result%s",
			  m->pub.name, m->pub.nresults, m->pub.nresults == 1 ? "" : "s");
	kl_ig_emit(g, kl_insn(KL_I_RETURN, 0, 0, 0));
	end(g);
}

/*
 * Put the implementation's methods in the order of the spec's methods, and compare each with the
 * spec's method of this name.
 */
static void match_methods(struct kl_igen *g)
{
	struct kl_spec *s = g->g.s;
	struct kl_impl *im = g->im;
	struct kl_method_def t;
	size_t i, j;
	unsigned int k;

	for (i = 0; i < im->nmethods; i++) {
		const struct kl_method *m = &im->methods[i].pub;
		int at = kl_spec_find_method(s, m->name);
		const struct kl_method *w = at >= 0 ? &s->methods[at].pub : NULL;

		if (!w) {
			kl_ig_err(g, im->methods[i].pos, "the specification has no method '%s'",
				  m->name);
			continue;
		}
		for (j = 0; j < i; j++)
			if (!strcmp(m->name, im->methods[j].pub.name))
				kl_ig_err(g, im->methods[i].pos,
					  "method '%s' is defined twice", m->name);
		if (m->nparams != w->nparams || m->nresults != w->nresults) {
			kl_ig_err(g, im->methods[i].pos,
				  "'%s' has %u parameters and %u results, but %u and %u in the "
				  "specification", m->name, m->nparams,
				  m->nresults, w->nparams, w->nresults);
			continue;
		}
		for (k = 0; k < m->nparams; k++)
			if (im->methods[i].keys >> k & 1 && w->params[k].use & KL_USE_COMPUTED)
				kl_ig_err(g, im->methods[i].param_pos[k], "'%s' is a key, but the "
					  "specification computes with it", m->params[k].name);
			else if (im->methods[i].data >> k & 1 &&
			    w->params[k].use & (KL_USE_COMPUTED | KL_USE_ORDERED | KL_USE_INDEX |
						KL_USE_KEY))
				kl_ig_err(g, im->methods[i].param_pos[k],
					  "'%s' is data, but the specification does more than copy "
					  "and compare it",
					  m->params[k].name);
			else if (m->params[k].type != w->params[k].type)
				kl_ig_err(g, im->methods[i].param_pos[k],
					  "'%s' has another type in the specification",
					  m->params[k].name);
		for (k = 0; k < m->nresults; k++)
			if (m->results[k].type != w->results[k].type)
				kl_ig_err(g, im->methods[i].result_pos[k],
					  "result %u has another type in the specification",
					  k + 1);
	}
	for (i = 0; i < s->nmethods; i++) {
		for (j = i; j < im->nmethods; j++)
			if (!strcmp(im->methods[j].pub.name, s->methods[i].pub.name))
				break;
		if (j >= im->nmethods) {
			kl_ig_err(g, im->pos, "the implementation has no method '%s'",
				  s->methods[i].pub.name);
			return;
		}
		t = im->methods[i];
		im->methods[i] = im->methods[j];
		im->methods[j] = t;
	}
}

static void check_roles(struct kl_igen *g)
{
	struct kl_client *c = &g->im->client;
	char near[KL_ADVICE_MAX];
	unsigned int t, i;
	int at;

	for (t = 0; t < c->nthreads; t++) {
		if (!c->roles)
			c->methods[t] = UINT64_MAX;
		for (i = 0; i < c->nrole[t]; i++) {
			at = kl_spec_find_method(g->g.s, c->role[t][i]);
			if (at < 0 || at > 63)
				kl_ig_err(g, c->role_pos[t][i], "no method '%s'%s", c->role[t][i],
					  kl_spec_near_method(g->g.s, c->role[t][i], near,
							      sizeof(near)));
			else
				c->methods[t] |= 1ULL << at;
		}
	}
	if (c->given && g->im->nthreads)
		kl_ig_err(g, c->pos, "a file has either 'client' or 'thread's");
	if (!c->given && !g->im->nthreads)
		kl_ig_err(g, g->im->pos, "no client: write 'client general(3) ops(2);' or "
			  "'thread NAME { }'");
}

static struct kl_method_def *stand_in(struct kl_igen *g, const char *name, struct kl_pos pos)
{
	struct kl_method_def *m = kl_arena_alloc(&g->g.s->arena, sizeof(*m));

	if (!m) {
		g->g.err = -ENOMEM;
		return NULL;
	}
	m->pub.name = name;
	m->pos = pos;
	return m;
}

/* Compile code outside methods, for `init' and `final'.  Return: its index, 0 if there is none. */
static uint32_t gen_body(struct kl_igen *g, const struct kl_stmt *body, const char *name,
			 struct kl_pos pos, enum kl_icode code)
{
	struct kl_method_def *m = body ? stand_in(g, name, pos) : NULL;

	if (!m)
		return 0;
	begin(g, m, code);
	kl_ig_list(g, body->body);
	kl_ig_emit(g, kl_insn(KL_I_STOP, 0, 0, 0));
	end(g);
	return m->code;
}

/* Warn about fields that are read but never set: they are always 0, as in a new object. */
static void check_fields(struct kl_igen *g)
{
	const struct kl_struct *s;
	const struct kl_field *f;

	for (s = g->im->structs; s < g->im->structs + g->im->nstructs; s++)
		for (f = s->fields; f < s->fields + s->nfields; f++)
			if (f->read.line && !f->set)
				kl_diag_warn(g->g.d, f->read, "'%s' of %s is read here, but never "
							      "set", f->name, s->name);
}

int kl_impl_gen(struct kl_spec *s, struct kl_diag *d)
{
	struct kl_igen g = { .g = { .s = s, .d = d }, .im = s->impl };
	struct kl_impl *im = s->impl;
	size_t i;

	if (!im->nmethods) {
		kl_ig_err(&g, im->pos, "the implementation has no method");
		return -EINVAL;
	}
	check_structs(&g);
	check_vars(&g);
	match_methods(&g);
	check_roles(&g);
	for (i = 0; i < im->nmethods && !g.g.err; i++)
		gen_method(&g, &im->methods[i]);
	im->init_code = gen_body(&g, im->init, "init", im->init_pos, KL_IC_INIT);
	im->final_code = gen_body(&g, im->final, "final", im->final_pos, KL_IC_FINAL);
	im->nregs = g.g.max;
	if (!g.g.err && !d->errors) {
		/* Threads are compiled on demand; this compilation only reports their errors. */
		uint32_t start[KL_IMPL_THREADS];
		unsigned int n, nregs;
		size_t ncode = s->ncode;
		int ret = kl_impl_client(s, 0, 0, start, &n, &nregs);

		s->ncode = ncode;
		if (ret)
			return ret;
		check_fields(&g);
	}
	return g.g.err ? g.g.err : d->errors ? -EINVAL : 0;
}

int kl_impl_lin(struct kl_spec *s, uint32_t *code, uint32_t *ncode, unsigned int *nregs,
		const char *(*names)[KL_IMPL_REGS])
{
	struct kl_diag d = { .file = s->path, .text = s->text };
	struct kl_igen g = { .g = { .s = s, .d = &d }, .im = s->impl, .lin = true };
	struct kl_impl *im = s->impl;
	size_t i;

	for (i = 0; i < im->nmethods && !g.g.err; i++) {
		struct kl_method_def m = im->methods[i];

		g.names = names[i];
		memset(names[i], 0, sizeof(names[i]));
		gen_method(&g, &m);
		code[i] = m.code;
		ncode[i] = m.ncode;
	}
	*nregs = g.g.max;
	s->impl->client_seen = true;
	return g.g.err ? g.g.err : d.errors ? -EINVAL : 0;
}

/* Compile an alternative of a general client: a method with one choice of arguments. */
static void general_call(struct kl_igen *g, unsigned int m, uint64_t pick)
{
	const struct kl_client *c = &g->im->client;
	const struct kl_method_def *d = &g->im->methods[m];
	unsigned int first = g->g.top, i, n;
	uint64_t v;

	for (i = 0; i < d->pub.nparams || i < d->pub.nresults; i++)
		kl_gen_temp(&g->g);
	for (i = 0; i < d->pub.nparams; i++) {
		n = d->pub.params[i].type == KL_T_BOOL ? 2 : c->nvalues ? c->nvalues : 2;
		if (d->data >> i & 1) {
			kl_ig_emit(g, kl_insn(KL_I_FRESH, first + i, 0, 0));
			continue;
		}
		v = d->pub.params[i].type == KL_T_BOOL ? pick % n :
		    c->nvalues ? c->values[pick % n] : pick % n + 1;
		pick /= n;
		kl_ig_emit(g, kl_insn_imm(KL_I_CONST, first + i,
					  kl_gen_constant(&g->g, kl_word(v))));
	}
	kl_ig_emit(g, kl_insn_imm(KL_I_CALL, first, m));
	g->g.top = first;
}

static uint64_t picks(const struct kl_client *c, const struct kl_method_def *d)
{
	uint64_t n = 1;
	unsigned int i;

	for (i = 0; i < d->pub.nparams && n < 256; i++)
		n *= d->data >> i & 1 ? 1 : d->pub.params[i].type == KL_T_BOOL ? 2 :
		     c->nvalues ? c->nvalues : 2;
	return n;
}

static void general_op(struct kl_igen *g, uint64_t methods)
{
	const struct kl_client *c = &g->im->client;
	unsigned int m, i, n = 0, table, at = 0, ends = 0, next;
	uint64_t total = 0, k;

	for (m = 0; m < g->im->nmethods; m++)
		if (methods >> m & 1)
			total += picks(c, &g->im->methods[m]);
	if (!total || total > 255) {
		kl_ig_err(g, c->pos, "a thread chooses among %llu calls, expected 1 to 255",
			  (unsigned long long)total);
		g->g.err = g->g.err ? g->g.err : -EINVAL;
		return;
	}
	n = total;
	kl_ig_emit(g, kl_insn(KL_I_EITHER, n, 0, 0));
	table = kl_gen_here(&g->g);
	for (i = 0; i < n; i++)
		kl_ig_emit(g, 0);
	for (m = 0; m < g->im->nmethods; m++) {
		for (k = 0; methods >> m & 1 && k < picks(c, &g->im->methods[m]); k++) {
			if (!g->g.err)
				g->g.s->code[g->m->code + table + at++] = kl_gen_here(&g->g);
			general_call(g, m, k);
			ends = kl_ig_emit(g, kl_insn_imm(KL_I_JMP, 0, ends));
		}
	}
	while (ends && !g->g.err) {
		next = g->g.s->code[g->m->code + ends] >> 16;
		kl_gen_patch(&g->g, ends);
		ends = next;
	}
}

static void general_thread(struct kl_igen *g, unsigned int t, unsigned int ops)
{
	struct kl_client *c = &g->im->client;
	struct kl_method_def *m = stand_in(g, "client", c->pos);
	unsigned int i;

	if (!m)
		return;
	begin(g, m, KL_IC_THREAD);
	g->g.line = c->pos.line;
	for (i = 0; i < ops; i++)
		general_op(g, c->roles ? c->methods[t] : UINT64_MAX);
	kl_ig_emit(g, kl_insn(KL_I_STOP, 0, 0, 0));
	end(g);
}

/* Record in which registers a thread's variables are at its end, for the outcomes of a client. */
static void keep_vars(struct kl_igen *g, const struct kl_thread_def *d, unsigned int number,
		      unsigned int of)
{
	struct kl_impl *im = g->im;
	unsigned int i;

	for (i = 0; i < g->nkept; i++) {
		if (g->local[i].type >= KL_IT_PTR)
			continue;
		im->client_vars[im->nclient_vars++] = (struct kl_client_var){
			.thread = d->name, .name = g->local[i].name, .t = g->self,
			.number = number, .of = of, .reg = i,
		};
	}
}

/* Compile a thread.  Its body is compiled @repeat times: a counter would take a register. */
static void written_thread(struct kl_igen *g, struct kl_thread_def *d, unsigned int self,
			   uint64_t repeat)
{
	struct kl_method_def *m = stand_in(g, d->name, d->pos);
	uint64_t i;

	if (!m)
		return;
	begin(g, m, KL_IC_THREAD);
	g->self = self;
	/* After an error the body is not repeated, so that the error is reported once. */
	for (i = 0; i < repeat && (!i || !g->g.d->errors); i++) {
		kl_ig_list(g, d->body->body);
		/* All warnings have been printed. */
		g->g.d->warned = true;
	}
	kl_ig_emit(g, kl_insn(KL_I_STOP, 0, 0, 0));
	end(g);
}

static void written_threads(struct kl_igen *g, uint32_t *start, unsigned int *n)
{
	const size_t max = KL_IMPL_THREADS * KL_IMPL_REGS;
	struct kl_impl *im = g->im;
	uint64_t count, repeat, j;
	unsigned int i;

	if (!im->client_vars)
		im->client_vars = kl_arena_alloc(&g->g.s->arena, max * sizeof(*im->client_vars));
	if (!im->client_vars) {
		g->g.err = -ENOMEM;
		return;
	}
	im->nclient_vars = 0;
	for (i = 0; i < im->nthreads; i++) {
		struct kl_thread_def *d = &im->threads[i];
		const bool warned = g->g.d->warned;

		count = repeat = 1;
		if ((d->count && !kl_ig_const(g, d->count, &count)) ||
		    (d->repeat && !kl_ig_const(g, d->repeat, &repeat)))
			return;
		if (!count || count > KL_IMPL_THREADS - *n || !repeat || repeat > 64) {
			kl_ig_err(g, d->pos, "expected at most %d threads in all, repeated at most "
				  "64 times", KL_IMPL_THREADS);
			return;
		}
		for (j = 0; j < count && (!j || !g->g.d->errors); j++) {
			start[*n] = g->g.s->ncode;
			written_thread(g, d, (*n)++, repeat);
			keep_vars(g, d, j, count);
		}
		g->g.d->warned = warned;
	}
}

int kl_impl_client(struct kl_spec *s, unsigned int nthreads, unsigned int ops,
		   uint32_t start[KL_IMPL_THREADS], unsigned int *n, unsigned int *nregs)
{
	struct kl_diag d = { .file = s->path, .text = s->text, .warned = s->impl->client_seen };
	struct kl_igen g = { .g = { .s = s, .d = &d }, .im = s->impl };
	struct kl_client *c = &s->impl->client;
	unsigned int t;

	*n = 0;
	if (c->given) {
		if (!nthreads || c->roles)
			nthreads = c->nthreads;
		for (t = 0; t < nthreads && !g.g.err; t++) {
			start[(*n)++] = s->ncode;
			general_thread(&g, t, ops ? ops : c->ops);
		}
	} else {
		written_threads(&g, start, n);
	}
	*nregs = g.g.max;
	s->impl->client_seen = true;
	return g.g.err ? g.g.err : d.errors ? -EINVAL : 0;
}
