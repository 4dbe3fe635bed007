// SPDX-License-Identifier: GPL-2.0
/* Prints the abstract run to an alarm: as text, and for Graphviz. */
#include <stdlib.h>

#include "verify/model.h"

/* Print an individual: n1, n2, ... are nodes, s7, ... are summaries. */
static void print_node(const struct kl_vf_state *s, unsigned int i, FILE *f)
{
	if (!i)
		fputs("null", f);
	else
		fprintf(f, "%c%u", s->kind[i] & KF_SUM ? 's' : 'n', i);
}

static void print_value(const struct kl_verifier *x, const struct kl_vf_state *s, uint8_t v,
			FILE *f)
{
	static const char *const keys[] = { "less", "k", "more", "first", "last" };
	static const char *const special[] = { "", "any", "empty", "full", "absent" };
	struct kl_val c;

	if (kl_vf_is_ptr(v)) {
		print_node(s, v, f);
	} else if (v > VF_TOK && v < VF_CONST) {
		fputs("data of ", f);
		print_node(s, v - VF_TOK, f);
	} else if (v >= VF_ARG && v < VF_ARG + 8) {
		fprintf(f, "argument %u", v - VF_ARG + 1);
	} else if (v >= VF_KEY && v <= VF_KEY + KEY_MAX) {
		fputs(keys[v - VF_KEY], f);
	} else if (v >= VF_OWN && v < VF_OWN + KL_VF_THREADS) {
		fprintf(f, "held by T%u", v - VF_OWN);
	} else if (v == VF_OTHER) {
		fputs("held by another thread", f);
	} else if (kl_vf_const_of(&x->m, v, &c)) {
		if (c.tag)
			fputs(special[c.tag], f);
		else
			fprintf(f, "%llu", (unsigned long long)c.v);
	} else {
		fputs("?", f);
	}
}

static void print_set(const struct kl_vf_state *s, uint32_t set, FILE *f)
{
	const char *sep = "";
	unsigned int i;

	for (i = 1; i < s->nn; i++) {
		if (!(set & kl_vf_bit(i)))
			continue;
		fputs(sep, f);
		print_node(s, i, f);
		sep = " or ";
	}
	if (set & 1)
		fprintf(f, "%snull", sep);
}

/* Get the name of a global, and its index plus 1 if it is in an array.  Return: its type. */
static unsigned int type_of(const struct kl_verifier *x, unsigned int g, const char **name,
			    unsigned int *index)
{
	const struct kl_impl *im = x->m.im;
	unsigned int i;

	for (i = 0; i < im->nvars; i++)
		if (g >= im->vars[i].slot && g < im->vars[i].slot + im->vars[i].len) {
			*name = im->vars[i].f.name;
			*index = im->vars[i].is_array ? g - im->vars[i].slot + 1 : 0;
			return im->vars[i].f.type;
		}
	return KL_IT_ERR;
}

static void print_global(const struct kl_verifier *x, const struct kl_vf_state *s, unsigned int g,
			 FILE *f)
{
	const char *name = "?";
	unsigned int index = 0, type = type_of(x, g, &name, &index);

	fputs(name, f);
	if (index)
		fprintf(f, "[%u]", index - 1);
	fputs(" = ", f);
	if (type >= KL_IT_PTR && !s->g[g])
		fputs("null", f);
	else if (type == KL_IT_LOCK && !s->g[g])
		fputs("free", f);
	else
		print_value(x, s, s->g[g], f);
}

static void print_reference(const struct kl_verifier *x, const struct kl_vf_state *s, FILE *f)
{
	const struct kl_spec *spec = x->m.spec;
	const char *sep = "";
	size_t i;
	unsigned int k;

	for (i = 0; i < spec->nvars; i++) {
		const struct kl_var *v = &spec->vars[i];
		const unsigned int at = v->cont ? x->m.cont[v->slot] : x->m.scalar + v->slot;

		if (v->cont == KL_C_SET) {
			fprintf(f, "%sk is %sin %s", sep, s->g[at] ? "" : "not ", v->name);
		} else if (v->cont == KL_C_QUEUE) {
			fprintf(f, "%s%s: behind ", sep, v->name);
			print_node(s, s->g[at], f);
			fputs(" to ", f);
			print_node(s, s->g[at + 1], f);
		} else if (v->cont) {
			fprintf(f, "%s%s: from ", sep, v->name);
			print_node(s, s->g[at], f);
		} else {
			for (k = 0; k < v->len; k++) {
				fprintf(f, "%s%s = ", sep, v->name);
				print_value(x, s, s->g[at + k], f);
				sep = ", ";
			}
		}
		sep = ", ";
	}
}

/* Print the variable in a register. */
static void print_register(const struct kl_verifier *x, unsigned int method, unsigned int r,
			   FILE *f)
{
	const char *name = x->m.names[method][r];

	if (name && *name)
		fputs(name, f);
	else
		fprintf(f, "r%u", r);
}

static void print_thread(const struct kl_verifier *x, const struct kl_vf_state *s, unsigned int t,
			 FILE *f)
{
	static const char *const lin[] = { "not yet linearized", "linearized without effect",
					   "linearized" };
	const struct kl_vf_thread *th = &s->th[t];
	const struct kl_vf_method *m;
	unsigned int i;

	fprintf(f, "T%u ", t);
	if (th->method < 0) {
		fputs("idle", f);
		return;
	}
	m = &x->m.m[th->method];
	fprintf(f, "%s at line %u, %s", m->name, kl_vf_line(x, th->method, th->pc),
		lin[th->lin & LIN_MASK]);
	if (m->key >= 0) {
		fputs(", key ", f);
		print_value(x, s, th->key, f);
	}
	if (th->seen)
		fprintf(f, ", key seen%s%s", th->seen & 1 ? " absent" : "",
			th->seen & 2 ? " present" : "");
	for (i = 0; i < m->nresults && (th->lin & LIN_MASK); i++) {
		fputs(", to return ", f);
		print_value(x, s, th->ret[i], f);
	}
	for (i = 0; i < x->m.nregs; i++)
		if (m->live[th->pc] >> i & 1 && kl_vf_names(th->reg[i])) {
			fputs(", ", f);
			print_register(x, th->method, i, f);
			fputs(" = ", f);
			print_value(x, s, th->reg[i], f);
		}
}

static void print_fields(const struct kl_verifier *x, const struct kl_vf_state *s, unsigned int i,
			 FILE *f)
{
	const struct kl_struct *st = x->m.im->structs;
	const uint64_t k = s->kind[i];
	unsigned int j;

	for (j = 0; st && x->m.im->nstructs && j < st->nfields && k & KF_CAND; j++) {
		if (x->m.field[j] == FIELD_NEXT)
			continue;
		fprintf(f, " %s ", st->fields[j].name);
		if (x->m.field[j] == FIELD_LOCK) {
			if (kf_lock(k))
				print_value(x, s, kf_lock(k), f);
			else
				fputs("free", f);
		} else if (kf_field(k, x->m.field[j]) == VF_ARG) {
			fputs("its operation's argument", f);
		} else {
			print_value(x, s, kf_field(k, x->m.field[j]), f);
		}
		fputs(",", f);
	}
}

static void print_individual(const struct kl_verifier *x, const struct kl_vf_state *s,
			     unsigned int i, FILE *f)
{
	const uint64_t k = s->kind[i];

	fputs("       ", f);
	print_node(s, i, f);
	fputs(k & KF_SUM ? " (any number):" : ":", f);
	print_fields(x, s, i, f);
	if (k & KF_UNIF) {
		fputs(" in both heaps, next in both ", f);
		print_set(s, s->succ[i], f);
	} else {
		if (k & KF_CAND) {
			fputs(" next ", f);
			print_set(s, s->succ[i], f);
		}
		if (k & KF_REF) {
			fputs(k & KF_CAND ? "; in the reference next " : " in the reference only, "
			      "next ", f);
			print_set(s, s->rsucc[i], f);
		}
	}
	if (x->m.keyed)
		fputs(k & KF_IN ? "; on the list" : k & KF_SEEN_ALL ? "; was on the list when or "
		      "after a thread read its head" : "; not on the list", f);
	fputc('\n', f);
}

static void print_state(const struct kl_verifier *x, const struct kl_vf_state *s, FILE *f)
{
	unsigned int i;

	fputs("       ", f);
	for (i = 0; i < x->m.nslots; i++) {
		fputs(i ? ", " : "", f);
		print_global(x, s, i, f);
	}
	fputs("; reference: ", f);
	print_reference(x, s, f);
	fputc('\n', f);
	for (i = 0; i < s->nt; i++) {
		fputs("       ", f);
		print_thread(x, s, i, f);
		fputc('\n', f);
	}
	for (i = 1; i < s->nn; i++)
		print_individual(x, s, i, f);
}

/* List the states from the first to the last before the alarm.  Return: their number. */
static size_t path(const struct kl_verifier *x, uint32_t **out)
{
	uint32_t at, *p;
	size_t n = 0, i;

	for (at = x->last; at != KL_VF_NO_STATE && n <= x->store.n; at = x->store.e[at].parent)
		n++;
	p = calloc(n + 1, sizeof(*p));
	*out = p;
	if (!p)
		return 0;
	for (at = x->last, i = n; i; at = x->store.e[at].parent)
		p[--i] = at;
	return n;
}

void kl_verify_print_trail(struct kl_verifier *x, FILE *f)
{
	const struct kl_vf_entry *e;
	struct kl_vf_state s;
	uint32_t *p;
	size_t n = path(x, &p), i;

	for (i = 0; i < n; i++) {
		kl_vf_unpack(x, p[i], &s);
		e = &x->store.e[p[i]];
		if (!i)
			fprintf(f, "%5zu  the first state\n", i);
		else
			fprintf(f, "%5zu  %s from line %u%s\n", i, x->m.m[e->method].name, e->line,
				e->actor != KL_VF_NO_STATE ? ", by another thread" : "");
		print_state(x, &s, f);
	}
	free(p);
	if (x->alarm) {
		fprintf(f, "%5zu  %s\n", n, x->message);
		print_state(x, &x->bad, f);
	}
}

static bool has_summary(const struct kl_vf_state *s)
{
	unsigned int i;

	for (i = 1; i < s->nn; i++)
		if (s->kind[i] & KF_SUM)
			return true;
	return false;
}

/* Print the alarm, and the state that shows it. */
static void print_headline(const struct kl_verifier *x, FILE *f)
{
	const struct kl_vf_state *s = &x->bad;
	unsigned int i;

	fputs(x->message, f);
	if (!x->alarm)
		return;
	fputs(", if a run has a state such as this: ", f);
	for (i = 0; i < s->nt; i++) {
		fputs(i ? "; " : "", f);
		print_thread(x, s, i, f);
	}
	for (i = 0; i < x->m.nslots; i++) {
		fputs(i ? ", " : "; ", f);
		print_global(x, s, i, f);
	}
	fputs("; in the reference ", f);
	print_reference(x, s, f);
}

/* Print which states of the abstract run have nodes that stand for many. */
static void print_summaries(const struct kl_verifier *x, FILE *f)
{
	struct kl_vf_state s;
	uint32_t *p;
	size_t n = path(x, &p), i;

	for (i = 0; i < n; i++) {
		kl_vf_unpack(x, p[i], &s);
		if (has_summary(&s))
			break;
	}
	free(p);
	if (i < n || (x->alarm && has_summary(&x->bad)))
		fprintf(f, "The state of step %zu is the first one with nodes that stand for any "
			"number of nodes", i);
	else
		fputs("In each state of the abstract run every node stands for one node", f);
}

bool kl_verify_print_alarm(struct kl_verifier *x, unsigned int i, FILE *f)
{
	switch (i) {
	case 0:
		print_headline(x, f);
		return true;
	case 1:
		fputs("Each state of a run is covered by an abstract state, but not each abstract "
		      "state is one of a run; for this one it is not known", f);
		return true;
	case 2:
		print_summaries(x, f);
		return true;
	default:
		return false;
	}
}

static void dot_edges(const struct kl_vf_state *s, size_t id, unsigned int i, uint32_t set,
		      const char *style, FILE *f)
{
	unsigned int k;

	for (k = 0; k < s->nn; k++)
		if (set & kl_vf_bit(k))
			fprintf(f, "\t\tc%zun%u -> c%zun%u [%s%s];\n", id, i, id, k, style,
				kl_vf_single(set) ? "" : ", style=dashed");
}

/* Draw the pointer in register @r of thread @t. */
static void dot_register(const struct kl_verifier *x, const struct kl_vf_state *s, size_t id,
			 unsigned int t, unsigned int r, FILE *f)
{
	fprintf(f, "\t\tc%zut%ur%u [label=\"T%u.", id, t, r, t);
	print_register(x, s->th[t].method, r, f);
	fprintf(f, "\", shape=plaintext]; c%zut%ur%u -> c%zun%u [style=dotted];\n", id, t, r, id,
		s->th[t].reg[r]);
}

static void dot_state(const struct kl_verifier *x, const struct kl_vf_state *s, size_t id,
		      const char *label, FILE *f)
{
	unsigned int i, k;

	fprintf(f, "\tsubgraph cluster%zu {\n\t\tlabel=\"%s\";\n", id, label);
	fprintf(f, "\t\tc%zun0 [label=\"null\", shape=plaintext];\n", id);
	for (i = 1; i < s->nn; i++) {
		const uint64_t kind = s->kind[i];

		fprintf(f, "\t\tc%zun%u [label=\"", id, i);
		print_node(s, i, f);
		print_fields(x, s, i, f);
		fprintf(f, "\", shape=%s%s%s];\n", kind & KF_REF ? kind & KF_CAND ? "box" :
			"diamond" : "ellipse", kind & KF_SUM ? ", peripheries=2" : "",
			kind & KF_UNIF ? ", style=filled, fillcolor=lightgrey" : "");
		if (kind & KF_CAND)
			dot_edges(s, id, i, s->succ[i], kind & KF_UNIF ? "penwidth=2" :
				  "color=black", f);
		if (kf_has_rsucc(kind))
			dot_edges(s, id, i, s->rsucc[i], "color=blue", f);
	}
	for (i = 0; i < x->m.ng; i++) {
		const char *name = "reference";
		unsigned int index = 0;

		if (!kl_vf_is_ptr(s->g[i]))
			continue;
		type_of(x, i, &name, &index);
		fprintf(f, "\t\tc%zug%u [label=\"%s\", shape=plaintext]; c%zug%u -> c%zun%u%s;\n",
			id, i, name, id, i, id, s->g[i], i < x->m.nslots ? "" : " [color=blue]");
	}
	for (i = 0; i < s->nt; i++) {
		const struct kl_vf_thread *th = &s->th[i];

		if (th->method < 0)
			continue;
		for (k = 0; k < x->m.nregs; k++)
			if (x->m.m[th->method].live[th->pc] >> k & 1 && kl_vf_is_ptr(th->reg[k]))
				dot_register(x, s, id, i, k, f);
	}
	fputs("\t}\n", f);
}

void kl_verify_print_dot(struct kl_verifier *x, FILE *f)
{
	struct kl_vf_state s;
	char label[64];
	uint32_t *p;
	size_t n = path(x, &p), i;

	fputs("digraph trail {\n\trankdir=LR;\n", f);
	for (i = 0; i < n; i++) {
		kl_vf_unpack(x, p[i], &s);
		snprintf(label, sizeof(label), "state %zu", i);
		dot_state(x, &s, i, label, f);
	}
	if (x->alarm)
		dot_state(x, &x->bad, n, "the alarm", f);
	fputs("}\n", f);
	free(p);
}
