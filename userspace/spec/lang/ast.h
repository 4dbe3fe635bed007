/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The syntax tree of a spec: the parser makes it, the checker resolves names and types, the
 * generator makes byte code of it.
 */
#ifndef KL_SPEC_LANG_AST_H
#define KL_SPEC_LANG_AST_H

#include "base/intern.h"
#include "base/mem.h"
#include "spec/lang/lex.h"
#include "spec/spec.h"

#define KL_DEPTH_MAX	200 /* maximal nesting of statements and expressions */
#define KL_SLOTS_MAX	16384 /* maximal number of scalars and array elements of a state */
/* maximal number of variables, of constants, of methods, and of probes */
#define KL_ITEMS_MAX	250

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
	enum kl_type_kind type; /* type of the scalar, of elements, or of a map's values */
	enum kl_type_kind key; /* type of a map's keys */
	bool max; /* a pqueue whose greatest value comes first */
	bool is_array, has_init;
	bool sized; /* some method reads the container's size */
	bool doubted; /* it was said that this is one value for all keys of the partition */
	unsigned int len; /* number of elements; 1 if it is no array */
	struct kl_val init;
	unsigned int slot; /* its first slot; for a container, its index among containers */
	struct kl_ast_expr *len_expr, *init_expr;
};

struct kl_const {
	const char *name;
	struct kl_pos pos;
	struct kl_ast_expr *expr;
	struct kl_val val;
	enum kl_etype type;
};

/* A parameter or local variable, in register @reg. */
struct kl_local {
	const char *name;
	struct kl_pos pos;
	enum kl_etype type;
	unsigned int reg;
	bool special;		/* may hold empty, full or absent */
	bool assigned; /* it is assigned after its declaration */
	bool read; /* some expression has its value */
};

enum kl_ast_kind {
	KL_A_NUM, KL_A_BOOL, KL_A_SPECIAL, KL_A_NAME, KL_A_INDEX, KL_A_CALL,
	KL_A_UNARY, KL_A_BINARY, KL_A_COND,
	/* expressions of implementations and clients */
	KL_A_NULL, KL_A_SELF,
	KL_A_FIELD,			/* a->NAME; the name is in method */
	KL_A_NEW,			/* new name */
	KL_A_CAS, KL_A_XCHG, KL_A_FADD, /* operations on place a with b and c */
};

/* A linearization point, `@lin': behind an expression or a lock, or on its own. */
struct kl_lin {
	struct kl_pos pos;
	bool other; /* the point is a step of another thread */
	struct kl_ast_expr *cond; /* NULL: always; behind a cas, if it succeeds */
	struct kl_lin *next;
};

struct kl_ast_expr {
	enum kl_ast_kind kind;
	int op;
	struct kl_pos pos;
	unsigned int depth;
	uint64_t num; /* value of a NUM or BOOL; tag of a SPECIAL */
	const char *name; /* variable of a NAME, INDEX or CALL */
	const char *method; /* method of a CALL */
	struct kl_pos method_pos;
	/* operands; index of an INDEX in a; arguments of a CALL in a, b */
	struct kl_ast_expr *a, *b, *c;
	unsigned int nargs;
	struct kl_lin *lin;
	/* Set by the checker: */
	enum kl_etype type;
	bool special; /* it may be a special value, even if no local variable is one */
	bool from_local; /* it may be a special value if a local of its method may be one */
	struct kl_var *var;
	struct kl_local *local;
	struct kl_const *konst;
	enum kl_cont_op cont_op;
};

enum kl_stmt_kind {
	KL_S_BLOCK, KL_S_IF, KL_S_WHILE, KL_S_DECL, KL_S_ASSIGN, KL_S_EXPR, KL_S_RETURN,
	KL_S_ASSUME, KL_S_ASSERT, KL_S_CHOOSE, KL_S_EITHER, KL_S_ATOMIC,
	KL_S_FENCE,
	/* statements of implementations and clients */
	KL_S_DO, KL_S_BREAK, KL_S_CONTINUE, KL_S_LOCK, KL_S_UNLOCK,
	KL_S_CALL,			/* out[] = call name(ret[]) */
};

struct kl_stmt {
	enum kl_stmt_kind kind;
	struct kl_pos pos;
	struct kl_stmt *next; /* next statement of the block, or next alternative of an either */
	struct kl_stmt *body, *other; /* first statement of a block; then and else of an if */
	struct kl_ast_expr *lhs, *a, *b;
	struct kl_ast_expr *ret[KL_MAX_ARGS];
	unsigned int nret;
	int op; /* operator of an assignment OP=, or '=' */
	bool flush; /* the block is an atomic_flush */
	bool has_type; /* the choose or declaration declares its variable */
	const char *name; /* variable of a DECL or CHOOSE */
	enum kl_etype type; /* type of a DECL */
	struct kl_local *local;
	const char *tname; /* struct of a DECL of a pointer */
	struct kl_lin *lin; /* points behind a lock or unlock, or the only contents of a BLOCK */
	struct kl_ast_expr *out[KL_MAX_ARGS];
	unsigned int nout;
};

struct kl_method_def {
	struct kl_method pub;
	struct kl_pos pos;
	struct kl_pos param_pos[KL_MAX_ARGS], result_pos[KL_MAX_ARGS];
	struct kl_stmt *body;
	uint32_t code; /* index of the first word of its code */
	uint32_t ncode;
	unsigned int nlocals; /* number of registers for parameters and locals */
	bool has_bool; /* a parameter or result is a bool */
	bool fast_path;			/* see kl_fast_path_fits() */
	uint32_t data, keys;		/* parameters of type `data' and `key', a bit each */
	const struct kl_word_method *word; /* see word.h; NULL if it is unknown */
};

struct kl_impl;
struct kl_mapping;

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
	unsigned int nslots; /* number of scalars and array elements */
	enum kl_partition partition;
	const char *part_name;
	struct kl_pos part_pos;
	bool part_given;
	struct kl_pos doubt_pos; /* the first place that does not justify the partition */
	const char *doubt; /* the reason, or NULL */
	bool specials; /* the state may contain empty, full or absent */
	bool flushes;
	struct kl_impl *impl; /* the implementation of the file, or NULL */
	struct kl_mapping *mapping; /* the history block, or NULL */
	bool maps; /* the file has a history block, also if this program skips it */
	uint32_t *code;
	uint32_t *lines; /* line of the text for each word of code */
	size_t ncode, ccode, clines;
	struct kl_val *pool; /* constants that the code uses */
	size_t npool, cpool;
	struct kl_intern numbers; /* numbers of the constants in the pool */
};

/* Check a parsed spec; @d counts errors.  Return: 0 or -ENOMEM. */
int kl_spec_check(struct kl_spec *s, struct kl_diag *d);
/* Make byte code of a checked spec.  Return: 0, -ENOMEM, or -EINVAL after a message. */
int kl_spec_gen(struct kl_spec *s, struct kl_diag *d);

/* container_methods.c: methods of containers. */
struct kl_cont_method {
	enum kl_cont_kind cont;
	const char *name;
	enum kl_cont_op op;
	unsigned int nargs;
	bool keyed; /* it touches only the entry that its first argument names */
	bool writes;
	bool special; /* its result may be empty or absent */
	char result;		/* 'v'alue, 'b'ool, 'w'ord, '-' nothing */
};

const struct kl_cont_method *kl_cont_find(enum kl_cont_kind kind, const char *name);
const struct kl_cont_method *kl_cont_method(enum kl_cont_kind kind, enum kl_cont_op op);
/* Write a list of a container's methods to @buf: "push, pop, front, size".  Return: @buf. */
const char *kl_cont_list(enum kl_cont_kind kind, char *buf, size_t size);
const char *kl_cont_name(enum kl_cont_kind kind);

#endif
