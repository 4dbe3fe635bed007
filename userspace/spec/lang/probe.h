/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probe clauses as parsed: where in a kernel a method is, and where its
 * arguments and results are.  Names are resolved against the spec here; types
 * only when attaching, by userspace/record, which has the kernel's BTF.
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
 * Alternatives are for kernels that differ; the first that fits the running one
 * is taken, and `nothing` fits all, where only some have something to attach to.
 * One without a body of its own has the next one's, whose names are then those of
 * its own parameters.
 *
 * `argument`, `object` and `when` are evaluated at the call, `result` at the
 * return; `at call` and `at return` say otherwise, and an expression that has
 * `return` in it is always evaluated at the return; there may be a `when` for
 * each.  number(TEXT, N) is the
 * N-th number in a text, from 0, and unknown if that is not plain decimal;
 * `unknown` is unknown, for what cannot be told in some case; `empty`, `full` and
 * `absent` are the values of that name, alone or as a branch of ?:.  user(LVALUE)
 * reads it from the task's own memory, enumerator(NAME) is a constant of the
 * kernel's, and `current` the task, a struct task_struct *.
 *
 *	probe put on inlined put_item(item, value) in store(s) { argument v = value; }
 *	probe put on store+0x24(s) { argument v = s->value; }
 *
 * A target may be a place in a function: the entry of another one that was inlined
 * into it, or an offset.  An operation is known to be there each time that the place
 * is executed, and to lie between the call and the return of the function; what is read
 * at the call is read at the place, where the inlined function's parameters are found by
 * debugging information and the others are as the function was called.  `point on
 * PLACE;` in a body notes when the last such place was executed in an operation, as
 * the likely time of its effect.
 *
 *	probe put on store_put(store, v) { ... coverage asserted "called by pointer only"; }
 *
 * A compiler may have inlined or cloned a function; calls that do so pass its entry by.
 * klin finds out whether all calls are seen (see record/attach/coverage.h); `coverage asserted
 * "REASON";' says that they are, or that those that are not do no harm.
 *
 * A target klin:NAME is a
 * method that code instrumented with <klin.h> declares (debugfs klin/methods):
 * arguments and results are taken by position.
 */
#ifndef KL_SPEC_LANG_PROBE_H
#define KL_SPEC_LANG_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct kl_pos {
	unsigned int line, col;
};

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
	KL_E_UNKNOWN,	/* unknown: a value that klin is not to rely on */
	KL_E_SPECIAL,	/* empty, full, absent: num is the enum kl_tag */
	KL_E_USER,	/* user(a): the lvalue a, which is in user memory */
	KL_E_ENUM,	/* enumerator(name) */
	KL_E_CURRENT,	/* the task that calls */
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
	KL_TARGET_NOTHING,	/* the last alternative, if a kernel may do without */
};

struct kl_fetch {
	unsigned int index;		/* of the method's parameter or result */
	const char *name;
	const struct kl_expr *expr;
	bool at_return;
	struct kl_pos pos;
};

/* A place in a function. */
struct kl_spot {
	const char *inlined;	/* the entry of this one, or NULL */
	const char *name;	/* the function, or one that was inlined into it itself */
	const char *module;	/* NULL: the kernel's, else any module's */
	bool at_offset;
	uint64_t offset;	/* from its beginning */
	struct kl_pos pos;
};

/* A place where a method may be, and what to fetch there. */
struct kl_probe_target {
	enum kl_target_kind kind;
	const char *inlined;	/* of a place, as in struct kl_spot */
	bool at_offset;
	uint64_t offset;
	unsigned int ninlined;	/* so many parameters are the inlined function's, the first */
	const struct kl_spot *point;	/* NULL: none */
	const char *asserted;		/* why its coverage is taken as whole; NULL: it is not */
	const char *name;
	const char *module;	/* "mod" in mod:func, or NULL */
	const char **params;	/* the parameters */
	unsigned int nparams;
	const struct kl_expr *object;		/* NULL: one object, 0 */
	bool object_at_return;
	const struct kl_expr *when[2];		/* at the call, at the return; NULL: always */
	const struct kl_fetch *args, *results;	/* one for each parameter / result, in order */
	unsigned int nargs, nresults;		/* 0 for klin: targets */
	struct kl_pos pos;
};

/* Is it a place inside of a function? */
static inline bool kl_target_is_place(const struct kl_probe_target *t)
{
	return t->inlined || t->at_offset;
}

struct kl_probe {
	unsigned int method;
	const struct kl_probe_target *targets;	/* alternatives, the first that fits is taken */
	unsigned int ntargets;
	struct kl_pos pos;
};

#endif
