/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A specification between parser and code: the parser makes the tree, the
 * checker fills in what names mean and the types, the generator reads it.
 */
#ifndef KL_SPEC_LANG_AST_H
#define KL_SPEC_LANG_AST_H

#include "base/intern.h"
#include "base/mem.h"
#include "spec/lang/lex.h"
#include "spec/spec.h"

#define KL_DEPTH_MAX	200		/* nesting of statements and expressions */
#define KL_SLOTS_MAX	16384		/* scalars and array elements of a state */
#define KL_ITEMS_MAX	250		/* variables, constants, methods, probes, each */

enum kl_cont_kind {
	KL_C_NONE, KL_C_QUEUE, KL_C_STACK, KL_C_DEQUE, KL_C_PQUEUE, KL_C_SET, KL_C_MAP, KL_C_BAG,
};

/* Methods of containers. */
enum kl_cont_op {
	KL_CO_PUSH, KL_CO_POP, KL_CO_FRONT, KL_CO_TOP, KL_CO_ADD, KL_CO_REMOVE, KL_CO_HAS,
	KL_CO_PUT, KL_CO_GET, KL_CO_COUNT, KL_CO_SIZE, KL_CO_PUSH_FRONT, KL_CO_POP_BACK,
	KL_CO_BACK, KL_CO_CLEAR,
};

enum kl_etype { KL_ET_ERR, KL_ET_VOID, KL_ET_WORD, KL_ET_BOOL, KL_ET_SPECIAL };

/* A variable of the state. */
struct kl_var {
	const char *name;
	struct kl_pos pos;
	enum kl_cont_kind cont;
	enum kl_type_kind type;		/* scalar, element, value of a map */
	enum kl_type_kind key;		/* of a map */
	bool max;			/* pqueue: the greatest first */
	bool is_array, has_init;
	bool sized;			/* a container that is asked for its size */
	unsigned int len;		/* elements: 1 if no array */
	struct kl_val init;
	unsigned int slot;		/* its first slot; a container: its index among them */
	struct kl_ast_expr *len_expr, *init_expr;
};

struct kl_const {
	const char *name;
	struct kl_pos pos;
	struct kl_ast_expr *expr;
	struct kl_val val;
	enum kl_etype type;
};

/* A parameter or local variable; lives in the register of its number. */
struct kl_local {
	const char *name;
	struct kl_pos pos;
	enum kl_etype type;
	unsigned int reg;
	bool special;		/* may hold empty, full or absent */
	bool assigned;		/* after its declaration */
};

enum kl_ast_kind {
	KL_A_NUM, KL_A_BOOL, KL_A_SPECIAL, KL_A_NAME, KL_A_INDEX, KL_A_CALL,
	KL_A_UNARY, KL_A_BINARY, KL_A_COND,
	/* Of implementations and clients: */
	KL_A_NULL, KL_A_SELF,
	KL_A_FIELD,			/* a->method */
	KL_A_NEW,			/* new name */
	KL_A_CAS, KL_A_XCHG, KL_A_FADD,	/* on place a, with b and c */
};

/* @lin, a linearization point: behind an expression, a lock or on its own. */
struct kl_lin {
	struct kl_pos pos;
	bool other;			/* in some other thread's step */
	struct kl_ast_expr *cond;	/* NULL: always, of a cas: if it succeeds */
	struct kl_lin *next;
};

struct kl_ast_expr {
	enum kl_ast_kind kind;
	int op;
	struct kl_pos pos;
	unsigned int depth;
	uint64_t num;			/* NUM, BOOL; the tag of a SPECIAL */
	const char *name;		/* NAME, INDEX, CALL: the variable */
	const char *method;		/* CALL */
	struct kl_pos method_pos;
	struct kl_ast_expr *a, *b, *c;	/* INDEX: a; CALL: up to two arguments in a, b */
	unsigned int nargs;
	struct kl_lin *lin;
	/* Set by the checker: */
	enum kl_etype type;
	bool special;			/* may be a special value for certain reasons */
	bool from_local;		/* as special as the locals of its method are */
	struct kl_var *var;
	struct kl_local *local;
	struct kl_const *konst;
	enum kl_cont_op cont_op;
};

enum kl_stmt_kind {
	KL_S_BLOCK, KL_S_IF, KL_S_WHILE, KL_S_DECL, KL_S_ASSIGN, KL_S_EXPR, KL_S_RETURN,
	KL_S_ASSUME, KL_S_ASSERT, KL_S_CHOOSE, KL_S_EITHER, KL_S_ATOMIC,
	KL_S_FENCE,
	/* Of implementations and clients: */
	KL_S_DO, KL_S_BREAK, KL_S_CONTINUE, KL_S_LOCK, KL_S_UNLOCK,
	KL_S_CALL,			/* out[] = call name(ret[]) */
};

struct kl_stmt {
	enum kl_stmt_kind kind;
	struct kl_pos pos;
	struct kl_stmt *next;		/* in its block; alternatives of an either too */
	struct kl_stmt *body, *other;	/* first of a block; of an if: then, else */
	struct kl_ast_expr *lhs, *a, *b;
	struct kl_ast_expr *ret[KL_MAX_ARGS];
	unsigned int nret;
	int op;				/* of OP=, '=' */
	bool flush;			/* atomic_flush */
	bool has_type;			/* choose/decl: declares its variable */
	const char *name;		/* DECL, CHOOSE */
	enum kl_etype type;		/* DECL */
	struct kl_local *local;
	const char *tname;		/* DECL of a pointer: the struct */
	struct kl_lin *lin;		/* of a lock, an unlock, or all there is in a BLOCK */
	struct kl_ast_expr *out[KL_MAX_ARGS];
	unsigned int nout;
};

struct kl_method_def {
	struct kl_method pub;
	struct kl_pos pos;
	struct kl_pos param_pos[KL_MAX_ARGS], result_pos[KL_MAX_ARGS];
	struct kl_stmt *body;
	uint32_t code;			/* first word */
	uint32_t ncode;
	unsigned int nlocals;		/* registers for parameters and locals */
	bool has_bool;			/* among parameters or results */
	bool quick;			/* see kl_quick_fits() */
	uint32_t data, keys;		/* parameters of type `data' and `key', a bit each */
	const struct kl_word_method *word;	/* see word.h; NULL: not known */
};

struct kl_impl;

struct kl_spec {
	struct kl_arena arena;
	const char *name, *path, *text;
	struct kl_pos pos;
	struct kl_var *vars;
	struct kl_const *consts;
	struct kl_method_def *methods;
	struct kl_probe *probes;
	size_t nvars, nconsts, nmethods, nprobes;
	size_t cvars, cconsts, cmethods, cprobes;
	struct kl_var **conts;		/* the containers, by index */
	unsigned int nconts;
	unsigned int nslots;		/* scalars and array elements */
	enum kl_partition partition;
	const char *part_name;
	struct kl_pos part_pos;
	bool part_given;
	struct kl_pos doubt_pos;	/* where the partition is not justified first */
	const char *doubt;		/* and why, or NULL */
	bool specials;			/* empty, full, absent may be in the state */
	bool flushes;
	struct kl_impl *impl;		/* NULL: the file has none */
	uint32_t *code;
	uint32_t *lines;		/* of the text, for each word of code */
	size_t ncode, ccode, clines;
	struct kl_val *pool;		/* constants of the code */
	size_t npool, cpool;
	struct kl_intern numbers;	/* of the constants in the pool */
};

/* Check all of a parsed spec; errors are counted in @d.  Returns 0 or -ENOMEM. */
int kl_spec_check(struct kl_spec *s, struct kl_diag *d);
/* Make byte code of a checked spec.  Returns 0, -ENOMEM, -EINVAL after a message. */
int kl_spec_gen(struct kl_spec *s, struct kl_diag *d);

/* container_methods.c: methods of containers. */
struct kl_cont_method {
	enum kl_cont_kind cont;
	const char *name;
	enum kl_cont_op op;
	unsigned int nargs;
	bool keyed;		/* touches only what its first argument names */
	bool writes;
	bool special;		/* may give empty or absent */
	char result;		/* 'v'alue, 'b'ool, 'w'ord, '-' nothing */
};

const struct kl_cont_method *kl_cont_find(enum kl_cont_kind kind, const char *name);
const struct kl_cont_method *kl_cont_method(enum kl_cont_kind kind, enum kl_cont_op op);
const char *kl_cont_nearest(enum kl_cont_kind kind, const char *name);
/* "push, pop, front, size" */
const char *kl_cont_list(enum kl_cont_kind kind, char *buf, size_t size);
const char *kl_cont_name(enum kl_cont_kind kind);

#endif
