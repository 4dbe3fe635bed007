/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The language's second part: an implementation and its clients.  Their code
 * stands behind the specification's methods in the same array, with the same
 * constants; the explorer runs it.
 */
#ifndef KL_SPEC_IMPL_IMPL_H
#define KL_SPEC_IMPL_IMPL_H

#include "spec/lang/ast.h"

#define KL_STRUCTS_MAX	16
#define KL_FIELDS_MAX	12
#define KL_SHARED_MAX	64
#define KL_IMPL_REGS	56	/* of the machine's 64, some are the compiler's */
#define KL_IMPL_THREADS	8
#define KL_IMPL_OPS_MAX	16
#define KL_IMPL_SLOTS	256
#define KL_CLIENT_VALUES 8

/* A type: one of these, or KL_IT_PTR plus the number of a struct. */
enum kl_itype {
	KL_IT_ERR, KL_IT_VOID, KL_IT_WORD, KL_IT_BOOL, KL_IT_LOCK, KL_IT_SPECIAL, KL_IT_NULL,
	KL_IT_PTR,
};

struct kl_field {
	const char *name;
	struct kl_pos pos;
	const char *tname;		/* of a pointer */
	unsigned int type;
	bool key;
	bool set;			/* something does; of a struct's */
	struct kl_pos read;		/* where it is read first; of a struct's */
};

struct kl_struct {
	const char *name;
	struct kl_pos pos;
	struct kl_field fields[KL_FIELDS_MAX];
	unsigned int nfields;
};

struct kl_shared {
	struct kl_field f;
	bool is_array;
	struct kl_ast_expr *len_expr, *init_expr;
	unsigned int len, slot;
	struct kl_val init;
	bool of_methods, of_client;	/* who touches it */
};

/* thread NAME[n] repeat(k) { } */
struct kl_thread_def {
	const char *name;
	struct kl_pos pos;
	struct kl_ast_expr *count, *repeat;
	struct kl_stmt *body;
};

/* What the threads of a client have in the end: their outermost variables. */
struct kl_client_var {
	const char *thread, *name;
	unsigned int t, number;		/* the thread; its number among those of its name */
	unsigned int of;		/* how many threads have that name */
	unsigned int reg;
};

/* client general(n) or roles(m, m|m, ...), ops(k) values(v, ...) */
struct kl_client {
	struct kl_pos pos;
	bool given, roles;
	unsigned int nthreads, ops;
	uint64_t methods[KL_IMPL_THREADS];	/* what each thread may call, a bit for each */
	const char *role[KL_IMPL_THREADS][KL_IMPL_OPS_MAX];
	struct kl_pos role_pos[KL_IMPL_THREADS][KL_IMPL_OPS_MAX];
	unsigned int nrole[KL_IMPL_THREADS];
	uint64_t values[KL_CLIENT_VALUES];
	unsigned int nvalues;
};

/* memory sc; or memory tso; */
struct kl_memory_decl {
	bool given, sc;
};

struct kl_impl {
	struct kl_pos pos;
	struct kl_memory_decl memory;
	struct kl_struct structs[KL_STRUCTS_MAX];
	struct kl_shared vars[KL_SHARED_MAX];
	struct kl_thread_def threads[KL_IMPL_THREADS];
	unsigned int nstructs, nvars, nthreads;
	struct kl_method_def *methods;	/* in the specification's order once checked */
	size_t nmethods, cmethods;
	struct kl_client client;
	bool client_seen;	/* compiled once: what there is to warn of has been told */
	struct kl_stmt *init, *final;
	struct kl_pos init_pos, final_pos;
	/* Made by the generator: */
	unsigned int nslots, nregs;
	uint32_t init_code, final_code;	/* 0: none */
	struct kl_client_var *client_vars;	/* of threads that are written; in the arena */
	size_t nclient_vars;
};

/* Check and compile the implementation of a checked spec.  0, -EINVAL after messages, -ENOMEM. */
int kl_impl_gen(struct kl_spec *s, struct kl_diag *d);

/**
 * kl_impl_lin() - compile the methods with their linearization points
 * @s: the specification; the code goes behind the code there is
 * @code: where each method begins, in the specification's order
 * @ncode: how many words it has
 * @nregs: registers that they use
 * @names: the variables in the registers of each; "" for more than one, NULL for none
 *
 * Return: 0, -EINVAL after a message, -ENOMEM.
 */
int kl_impl_lin(struct kl_spec *s, uint32_t *code, uint32_t *ncode, unsigned int *nregs,
		const char *(*names)[KL_IMPL_REGS]);

/**
 * kl_impl_client() - compile the threads of a client behind the code there is
 * @s: the specification
 * @nthreads: of a general client, 0: as the file says
 * @ops: operations of each thread of a general client, 0: as the file says
 * @start: where each thread's code begins
 * @n: how many threads there are
 * @nregs: registers that they use
 *
 * Return: 0, -EINVAL after a message, -ENOMEM.
 */
int kl_impl_client(struct kl_spec *s, unsigned int nthreads, unsigned int ops,
		   uint32_t start[KL_IMPL_THREADS], unsigned int *n, unsigned int *nregs);

#endif
