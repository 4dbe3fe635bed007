/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The history block of a spec: which records of a file in EDN, JSON or CSV are calls and returns
 * of which methods.  specs/README describes it, and ../../records/ reads histories by it.
 *
 *	history {
 *		process .process;
 *		call when .type == "invoke";
 *		return when .type == "ok";
 *		method read when .f == "read" { result v = .value; }
 *	}
 */
#ifndef KL_SPEC_MAPPING_H
#define KL_SPEC_MAPPING_H

#include "spec/probe/probe.h"
#include "spec/spec.h"

#define KL_MAP_STEPS 16 /* maximal number of steps of a path */

enum kl_map_kind {
	KL_M_PATH, /* a part of the record, or of the element of a rule with `for' */
	KL_M_TEXT, /* a text in quotes */
	KL_M_NUMBER,
	KL_M_BOOL,
	KL_M_NULL, /* nil of EDN, null of JSON, an empty field of CSV */
	KL_M_SPECIAL, /* empty, full, absent or unknown */
	KL_M_EQ,
	KL_M_NE,
	KL_M_AND,
	KL_M_OR,
	KL_M_NOT,
	KL_M_COND,
	KL_M_BITS, /* a set as a word that has a bit for each of its members */
};

/* A step of a path: to a member of a map, or to an item of a list. */
struct kl_map_step {
	const char *name; /* NULL: to the item with the number @index */
	size_t len;
	uint64_t index;
};

struct kl_map_expr {
	enum kl_map_kind kind;
	struct kl_pos pos;
	const struct kl_map_expr *a, *b, *c;
	const char *text; /* contents of a KL_M_TEXT */
	size_t len;
	struct kl_val val; /* of a KL_M_NUMBER or KL_M_SPECIAL; a KL_M_BOOL is 0 or 1 */
	const struct kl_map_step *steps;
	unsigned int nsteps;
	unsigned int path; /* number of a KL_M_PATH */
	bool element; /* the path begins at the element of the rule's list */
};

/* Where an argument or a result is. */
struct kl_map_fetch {
	const struct kl_map_expr *expr;
	bool at_return;
};

/* A rule `method NAME when CONDITION { ... }'. */
struct kl_map_rule {
	unsigned int method;
	struct kl_pos pos;
	const struct kl_map_expr *when;
	const char *each; /* name of the element of @list; NULL: one operation */
	const struct kl_map_expr *list; /* the record has an operation for each element */
	struct kl_map_fetch args[KL_MAX_ARGS], results[KL_MAX_ARGS];
	struct kl_map_rule *next;
};

/* A clause `refuse "REASON" when CONDITION;': a record that the specification cannot express. */
struct kl_map_refusal {
	struct kl_pos pos;
	const char *reason;
	const struct kl_map_expr *when;
	struct kl_map_refusal *next;
};

struct kl_mapping {
	struct kl_pos pos;
	const struct kl_map_expr *process, *object; /* NULL: there is one */
	/* conditions for records of calls and returns; or, with @whole, the times of both */
	const struct kl_map_expr *call, *ret;
	bool whole; /* each record is a whole operation */
	/* conditions: no effect; outcome not known; no operation; NULL: never */
	const struct kl_map_expr *failed, *unknown, *ignore;
	struct kl_map_refusal *refusals;
	struct kl_pos clock; /* of the clause `clock'; line 0: there is none */
	uint64_t error; /* maximal error of the clock, in the unit of the times */
	bool any; /* any first state, not the spec's */
	unsigned int npaths;
	bool bits; /* some value is bits() */
	struct kl_map_rule *rules, **last; /* in their order, and the end of this list */
};

/* Return: the history block of a spec, or NULL if it has none. */
const struct kl_mapping *kl_spec_mapping(const struct kl_spec *s);

#endif
