// SPDX-License-Identifier: GPL-2.0
#include <bpf/btf.h>
#include <stdbool.h>
#include <string.h>

#include "record/attach/prototypes.h"
#include "record/attach/skeleton.h"
#include "spec/lang/lex.h"

/* Probe clauses can name as many parameters as x86-64 passes in registers. */
#define MOST_PARAMS 6

/* How a value of a type is used. */
enum use {
	USE_NUMBER, /* an argument or a result */
	USE_BOOL,
	USE_OBJECT, /* a pointer to a structure */
	USE_OUT, /* a pointer to a number, which the function may write */
	USE_POINTER, /* another pointer */
	USE_NOTHING, /* void */
	USE_WHOLE, /* a structure itself, which no expression can read */
};

struct param {
	char name[KL_NAME_MAX + 1];
	enum use use;
	const char *structure; /* the structure's name, for USE_OBJECT */
};

/* A function as the skeleton uses it. */
struct shape {
	struct param params[MOST_PARAMS];
	unsigned int n; /* number of parameters that a clause can name */
	bool more; /* the function has parameters that it cannot name */
	bool syscall; /* the only parameter points to the registers of a system call */
	int object; /* index of the object, or -1 */
	enum use result;
	const char *result_name;
	const char *success; /* what holds of the result of a call that does not fail, or NULL */
};

static const struct btf_type *plain_type(const struct btf *btf, uint32_t id)
{
	const int plain = btf__resolve_type(btf, id);

	return plain > 0 ? btf__type_by_id(btf, plain) : NULL;
}

/* Return: how values of the type are used.  *structure gets a name for USE_OBJECT. */
static enum use find_use(const struct btf *btf, uint32_t id, const char **structure)
{
	const struct btf_type *t = plain_type(btf, id), *to;

	*structure = NULL;
	if (!t)
		return USE_NOTHING;
	if (btf_is_int(t) && btf_int_encoding(t) & BTF_INT_BOOL)
		return USE_BOOL;
	if (btf_is_int(t) || btf_is_any_enum(t))
		return t->size <= 8 ? USE_NUMBER : USE_WHOLE;
	if (!btf_is_ptr(t))
		return USE_WHOLE;
	to = plain_type(btf, t->type);
	if (to && (btf_is_composite(to) || btf_is_fwd(to))) {
		*structure = btf__name_by_offset(btf, to->name_off);
		return USE_OBJECT;
	}
	return to && (btf_is_int(to) || btf_is_any_enum(to)) && to->size > 1 &&
			       !btf_is_const(btf__type_by_id(btf, t->type)) ?
		       USE_OUT :
		       USE_POINTER;
}

/* Copy a parameter's name.  One that is reserved, or used already, gets a tail. */
static void name_param(struct shape *s, unsigned int i, const char *name)
{
	char *to = s->params[i].name;
	unsigned int j;

	if (*name)
		snprintf(to, KL_NAME_MAX, "%s", name);
	else
		snprintf(to, KL_NAME_MAX, "arg%u", i + 1);
	if (kl_is_reserved(to))
		strcat(to, "_");
	for (j = 0; j < i; j++)
		if (!strcmp(s->params[j].name, to))
			snprintf(to, KL_NAME_MAX, "arg%u", i + 1);
}

static bool is_used(const struct shape *s, const char *name)
{
	unsigned int i;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->params[i].name, name))
			return true;
	return false;
}

/* Guess what holds after success.  A signed number may be an errno. */
static const char *find_success(const struct btf *btf, uint32_t id, enum use use)
{
	const struct btf_type *t = plain_type(btf, id);

	if (use == USE_BOOL)
		return "return";
	if (use == USE_NUMBER && btf_is_int(t) && btf_int_encoding(t) & BTF_INT_SIGNED)
		return "return >= 0";
	return NULL;
}

static void find_shape(const struct kl_func *f, struct shape *s)
{
	static const char *const names[] = { "ret", "result_", "returned" };
	const struct btf_param *p = btf_params(f->proto);
	const unsigned int n = btf_vlen(f->proto);
	const char *structure;
	unsigned int i;

	*s = (struct shape){ .object = -1 };
	for (i = 0; i < n && i < MOST_PARAMS && p[i].type; i++) {
		s->params[i].use = find_use(f->btf, p[i].type, &s->params[i].structure);
		/* A structure moves the parameters after it to other registers. */
		if (s->params[i].use == USE_WHOLE)
			break;
		name_param(s, i, btf__name_by_offset(f->btf, p[i].name_off));
	}
	s->n = i;
	s->more = i < n;
	s->syscall = s->n == 1 && s->params[0].use == USE_OBJECT &&
		     !strcmp(s->params[0].structure, "pt_regs");
	if (s->syscall)
		s->params[0].use = USE_POINTER;
	s->result = find_use(f->btf, f->proto->type, &structure);
	s->success = find_success(f->btf, f->proto->type, s->result);
	for (i = 0; i < 2 && is_used(s, names[i]); i++)
		;
	s->result_name = names[i];
}

/* Return: the first parameter that points to this structure, or -1. */
static int find_object(const struct shape *s, const char *structure)
{
	unsigned int i;

	for (i = 0; i < s->n; i++)
		if (s->params[i].use == USE_OBJECT && !strcmp(s->params[i].structure, structure))
			return i;
	return -1;
}

/* Choose each function's object: the structure that most functions point to, else the first. */
static void choose_objects(struct shape *shapes, size_t n)
{
	size_t best = 0, count, i, k;
	const char *structure = "";
	unsigned int j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < shapes[i].n; j++) {
			const struct param *p = &shapes[i].params[j];

			if (p->use != USE_OBJECT)
				continue;
			for (k = count = 0; k < n; k++)
				count += find_object(&shapes[k], p->structure) >= 0;
			if (count > best) {
				best = count;
				structure = p->structure;
			}
		}
	}
	for (i = 0; i < n; i++) {
		shapes[i].object = find_object(&shapes[i], structure);
		for (j = 0; j < shapes[i].n && shapes[i].object < 0; j++)
			if (shapes[i].params[j].use == USE_OBJECT)
				shapes[i].object = j;
	}
}

static bool is_value(enum use use)
{
	return use == USE_NUMBER || use == USE_BOOL;
}

static void put_method(FILE *out, const char *name, const struct shape *s)
{
	const char *type = s->result == USE_BOOL ? "bool" : "word", *comma = "";
	unsigned int i;

	fprintf(out, "\n\tmethod %s(", name);
	for (i = 0; i < s->n; i++) {
		if (!is_value(s->params[i].use))
			continue;
		fprintf(out, "%s%s %s", comma, s->params[i].use == USE_BOOL ? "bool" : "word",
			s->params[i].name);
		comma = ", ";
	}
	fprintf(out, ")");
	if (s->result != USE_NOTHING && s->result != USE_WHOLE)
		fprintf(out, " -> %s %s", type, s->result_name);
	fprintf(out, " {\n\t\t// This allows every result.  Say what the operation does to the "
		     "state.\n");
	switch (s->result) {
	case USE_NOTHING:
	case USE_WHOLE:
		fprintf(out, "\t\tatomic { }\n");
		break;
	case USE_BOOL:
		fprintf(out, "\t\teither { atomic { return true; } } or { atomic { return false; } "
			     "}\n");
		break;
	default:
		fprintf(out, "\t\tatomic { choose any; return any; }\n");
	}
	fprintf(out, "\t}\n");
}

/* Say what the object is, or what may be one. */
static void put_object(FILE *out, const struct shape *s)
{
	const char *first = NULL;
	unsigned int i;

	for (i = 0; i < s->n && !first; i++)
		if (s->params[i].use == USE_NUMBER)
			first = s->params[i].name;
	if (s->object >= 0)
		fprintf(out, "\tobject %s;\t// a guess\n", s->params[s->object].name);
	else
		fprintf(out, "\tobject 0;\t// all calls are operations on one object\n");
	if (s->object < 0 && first)
		fprintf(out, "\t// If a number tells objects apart, it is the object: object %s;\n",
			first);
}

/* Say where the arguments of a system call are: its function gets all registers of the task. */
static void put_syscall(FILE *out, const char *regs)
{
	static const char *const names[] = { "di", "si", "dx", "r10", "r8", "r9" };
	unsigned int i;

	fprintf(out, "\t// The arguments are");
	for (i = 0; i < MOST_PARAMS; i++)
		fprintf(out, "%s %s->%s", i ? "," : "", regs, names[i]);
	fprintf(out, ".\n");
}

/* Say what the result is. */
static void put_result(FILE *out, const struct shape *s)
{
	if (s->result == USE_NOTHING)
		return;
	if (s->result == USE_WHOLE) {
		fprintf(out, "\t// The result is a structure, which no clause can read.\n");
		return;
	}
	if (!is_value(s->result))
		fprintf(out, "\t// The result is a pointer; `return->MEMBER' reads what it points "
			     "to.\n");
	fprintf(out, "\tresult %s = return;\n", s->result_name);
	if (s->success)
		fprintf(out, "\t// If calls that fail are no operations: when %s;\n", s->success);
}

static void put_probe(FILE *out, const struct kl_func *f, const struct shape *s,
		      struct kl_prototype_writer *w)
{
	const char *before = "\targument ";
	unsigned int i;

	fprintf(out, "\n// ");
	kl_prototype_put(w, f);
	fprintf(out, "\nprobe %s on %s%s%s(", f->name, f->module, f->module[0] ? ":" : "", f->name);
	for (i = 0; i < s->n; i++)
		fprintf(out, "%s%s", i ? ", " : "", s->params[i].name);
	fprintf(out, ") {\n");
	put_object(out, s);
	for (i = 0; i < s->n; i++) {
		if (!is_value(s->params[i].use))
			continue;
		fprintf(out, "%s%s = %s", before, s->params[i].name, s->params[i].name);
		before = ", ";
	}
	if (*before == ',')
		fprintf(out, ";\n");
	put_result(out, s);
	if (s->syscall)
		put_syscall(out, s->params[0].name);
	for (i = 0; i < s->n; i++) {
		const char *name = s->params[i].name;

		if ((int)i == s->object || s->syscall)
			continue;
		if (s->params[i].use == USE_OUT)
			fprintf(out,
				"\t// *%s is a number, which the function may read (argument) "
				"or write (result).\n",
				name);
		else if (s->params[i].use == USE_OBJECT)
			fprintf(out, "\t// %s->MEMBER is a value of a %s.\n", name,
				*s->params[i].structure ? s->params[i].structure : "structure");
		else if (s->params[i].use == USE_POINTER)
			fprintf(out, "\t// %s is a pointer.\n", name);
	}
	if (s->more)
		fprintf(out,
			"\t// The function has further parameters, which no clause can name.\n");
	fprintf(out, "}\n");
}

void kl_skeleton_put(FILE *out, const char *name, const struct kl_func *funcs, size_t n)
{
	struct kl_prototype_writer w = { .f = out };
	struct shape shapes[KL_SKELETON_MAX];
	size_t i;

	for (i = 0; i < n; i++)
		find_shape(&funcs[i], &shapes[i]);
	choose_objects(shapes, n);
	fprintf(out,
		"// SPDX-License-Identifier: GPL-2.0\n"
		"// Say here what the structure promises, and by which documentation.\n"
		"//\n"
		"// `klin new' wrote this skeleton, which allows every history.  Fill in the\n"
		"// state and the methods, and check the guesses in the probe clauses:\n"
		"//\n"
		"//     klin spec FILE          is the specification right?\n"
		"//     klin list FILE          where would klin attach, and does it see all calls?\n"
		"//     klin record FILE -- COMMAND\n"
		"//\n"
		"// Where klin list says `coverage unknown', a violation would only be suspected.  Give\n"
		"// klin the kernel's debugging information (--debug), or say in the probe clause why\n"
		"// every call is seen: coverage asserted \"REASON\";\n"
		"spec %s {\n"
		"\t// The state of one object.  Without a first value it is unknown at first.\n"
		"\tword state;\n",
		name);
	for (i = 0; i < n; i++)
		put_method(out, funcs[i].name, &shapes[i]);
	fprintf(out, "}\n");
	for (i = 0; i < n; i++)
		put_probe(out, &funcs[i], &shapes[i], &w);
	kl_prototype_end(&w);
}
