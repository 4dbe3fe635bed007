/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parsed probe clauses: the place of a method in a kernel, and the places of its arguments and
 * results.  The parser resolves names of the spec.  userspace/record resolves types when it
 * attaches, since it has the kernel's BTF.
 *
 *	probe get on inet_get_local_port_range(net, lo, hi) or other_name(hi, lo, net) {
 *		object net;
 *		result l = *lo, h = *hi;
 *	}
 *	probe set on ipv4_local_port_range(table, write, buffer, lenp, ppos) {
 *		when write != 0 && return == 0;
 *		object table->data - offsetof(struct net, ipv4.ip_local_ports.range);
 *		argument l = ((int *)table->data)[0], h = ((int *)table->data)[1] at return;
 *	}
 *	probe read on klin:seqlock.read;
 *	probe close on file_close_fd(fd) {
 *		when return != NULL;
 *		argument fd;
 *	} or close_fd(fd) {
 *		argument fd;
 *	}
 *
 * Alternatives are for different kernels; the first that fits the running kernel is used.
 * `nothing` fits all kernels, for a method that only some have.  An alternative without a body
 * has the next one's body, with names of its own parameters.
 *
 * `argument`, `object` and `when` are evaluated at the call, `result` at the return.  `at call`
 * and `at return` change that, and an expression with `return` is always evaluated at the return.
 * There may be a `when` for the call and another for the return.
 *
 *	number(TEXT, N)		the N-th decimal number in a text, from 0; unknown if there is none
 *	unknown			an unknown value, for cases in which klin cannot know it
 *	empty, full, absent	these values, alone or as branches of ?:
 *	user(LVALUE)		the lvalue in the task's own memory
 *	enumerator(NAME)	a constant of the kernel
 *	current			the task, a struct task_struct *
 *
 *	probe put on inlined put_item(item, value) in store(s) { argument v = value; }
 *	probe put on store+0x24(s) { argument v = s->value; }
 *
 * A target may be a place in a function: the entry of an inlined function, or an offset.  Each
 * execution of the place is an operation between the call and the return of the function.
 * Expressions of the call are evaluated at the place.  Debugging information has the inlined
 * function's parameters; other parameters have their values at the function's call.  `point on
 * PLACE;` in a body records the last execution of a place in an operation, the likely time of its
 * effect.
 *
 *	probe put on store_put(store, v) { ... coverage asserted "called by pointer only"; }
 *
 * Calls of inlined or cloned copies of a function do not pass its entry.  klin finds out whether
 * it sees all calls, see record/attach/coverage.h.  `coverage asserted "REASON";' states that klin
 * sees all calls, or that the calls that it misses do no harm.
 *
 * A target klin:NAME is a method that code instrumented with <klin.h> declares (debugfs
 * klin/methods); its arguments and results are matched by position.
 */
#ifndef KL_SPEC_PROBE_PROBE_H
#define KL_SPEC_PROBE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct kl_pos {
	unsigned int line, col;
};

struct kl_spec;

/* Return: the place of a method's name. */
struct kl_pos kl_spec_method_pos(const struct kl_spec *s, unsigned int method);
/* Return: the place of the first variable without an initial value. */
struct kl_pos kl_spec_unset_pos(const struct kl_spec *s);
/*
 * Return: the place of the first `choose NAME;' without a range in a method, with @name, or line 0
 * if there is none.
 */
struct kl_pos kl_spec_any_choice_pos(const struct kl_spec *s, const char **name);
/* Report an error in the specification's text, and show the line. */
void kl_spec_err_at(const struct kl_spec *s, struct kl_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A C type as written: "int *", "struct net *", "unsigned long". */
struct kl_ctype {
	const char *kind;	/* "struct", "union", "enum" or "" */
	const char *name;	/* "net", "unsigned long", "u64" */
	unsigned int ptr;	/* number of '*' */
};

enum kl_expr_kind {
	KL_E_NUM,	/* num */
	KL_E_PARAM,	/* index: parameter of the probed function, by position */
	KL_E_RETURN,	/* the probed function's return value */
	KL_E_UNARY,	/* op: '-' '~' '!' '*' '&' on a */
	KL_E_BINARY,	/* op on a, b: + - * / % & | ^ << >> == != < <= > >= && || */
	KL_E_COND,	/* a ? b : c */
	KL_E_ARROW,	/* a->name */
	KL_E_DOT,	/* a.name */
	KL_E_INDEX,	/* a[b] */
	KL_E_CAST,	/* (type)a */
	KL_E_OFFSETOF,	/* offsetof(type, name), name may be a.b.c */
	KL_E_SIZEOF,	/* sizeof(type) */
	KL_E_NUMBER,	/* number(a, num): the num-th decimal number in the text at a */
	KL_E_UNKNOWN, /* unknown */
	KL_E_SPECIAL, /* empty, full or absent; num is the enum kl_tag */
	KL_E_USER, /* user(a): the lvalue a in user memory */
	KL_E_ENUM,	/* enumerator(name) */
	KL_E_CURRENT, /* the calling task */
};

/* Operators of more than one character. */
enum { KL_OP_SHL = 256, KL_OP_SHR, KL_OP_EQ, KL_OP_NE, KL_OP_LE, KL_OP_GE, KL_OP_AND, KL_OP_OR };

struct kl_expr {
	enum kl_expr_kind kind;
	int op;
	unsigned int index;
	uint64_t num;
	const char *name;
	struct kl_ctype type;
	const struct kl_expr *a, *b, *c;
	struct kl_pos pos;
};

enum kl_target_kind {
	KL_TARGET_FUNC,	/* a function of the kernel or a module */
	KL_TARGET_KLIN,	/* klin:NAME, NAME is "subject.method" */
	KL_TARGET_NOTHING, /* the last alternative, for kernels without the method */
};

struct kl_fetch {
	unsigned int index; /* index of the method's parameter or result */
	const char *name;
	const struct kl_expr *expr;
	bool at_return;
	struct kl_pos pos;
};

/* A place in a function. */
struct kl_spot {
	const char *inlined; /* the place is the entry of this inlined function; or NULL */
	const char *name; /* the function, or a function that was inlined into it */
	const char *module; /* its module; NULL: the kernel */
	bool at_offset;
	uint64_t offset; /* offset in bytes from the begin of the function */
	struct kl_pos pos;
};

/* A place where a method may be, and the values to fetch there. */
struct kl_probe_target {
	enum kl_target_kind kind;
	const char *inlined; /* the target is the entry of this inlined function; or NULL */
	bool at_offset;
	uint64_t offset;
	unsigned int ninlined; /* number of the inlined function's parameters, which come first */
	const struct kl_spot *point; /* the place of `point on`, or NULL */
	const char *asserted; /* reason of `coverage asserted', or NULL */
	const char *name;
	const char *module;	/* "mod" in mod:func, or NULL */
	const char **params; /* names of the parameters */
	unsigned int nparams;
	const struct kl_expr *object; /* NULL: there is one object, 0 */
	bool object_at_return;
	const struct kl_expr *when[2]; /* conditions at the call and at the return; NULL: always */
	const struct kl_fetch *args, *results; /* one for each parameter and result, in order */
	unsigned int nargs, nresults; /* 0 for targets klin:NAME */
	struct kl_pos pos;
};

/* Return: true if the target is a place inside a function. */
static inline bool kl_target_is_place(const struct kl_probe_target *t)
{
	return t->inlined || t->at_offset;
}

struct kl_probe {
	unsigned int method;
	const struct kl_probe_target *targets; /* alternatives; the first that fits is used */
	unsigned int ntargets;
	struct kl_pos pos;
};

#endif
