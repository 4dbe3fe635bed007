/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Implementations and their clients, the second part of the spec language.  Their byte code follows
 * that of the spec's methods in kl_spec.code, and shares kl_spec.pool.  The explorer runs it.
 */
#ifndef KL_SPEC_IMPL_IMPL_H
#define KL_SPEC_IMPL_IMPL_H

#include "spec/lang/ast.h"

#define KL_STRUCTS_MAX	16
#define KL_FIELDS_MAX	12
#define KL_SHARED_MAX	64
#define KL_IMPL_REGS	56 /* registers for variables; the machine has 64 */
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
	const char *tname; /* the struct's name, for a pointer */
	unsigned int type;
	bool key;
	bool set; /* field of a struct: some code sets it */
	struct kl_pos read; /* field of a struct: the first place that reads it */
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
	bool of_methods, of_client; /* methods use the variable; the client uses it */
};

/* thread NAME[n] repeat(k) { } */
struct kl_thread_def {
	const char *name;
	struct kl_pos pos;
	struct kl_ast_expr *count, *repeat;
	struct kl_stmt *body;
};

/* An outermost variable of a client's thread, whose value at the end is part of the outcome. */
struct kl_client_var {
	const char *thread, *name;
	unsigned int t, number; /* index of the thread; its number among threads with its name */
	unsigned int of; /* number of threads with this name */
	unsigned int reg;
};

/* client general(n) or roles(m, m|m, ...), ops(k) values(v, ...) */
struct kl_client {
	struct kl_pos pos;
	bool given, roles;
	unsigned int nthreads, ops;
	uint64_t methods[KL_IMPL_THREADS]; /* mask of the methods that each thread may call */
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
	struct kl_method_def *methods; /* after the check, in the order of the spec's methods */
	size_t nmethods, cmethods;
	struct kl_client client;
	bool client_seen; /* the client was compiled, and its warnings were printed */
	struct kl_stmt *init, *final;
	struct kl_pos init_pos, final_pos;
	/* set by the generator */
	unsigned int nslots, nregs;
	uint32_t init_code, final_code;	/* 0: none */
	struct kl_client_var *client_vars; /* variables of written threads; in the arena */
	size_t nclient_vars;
};

/**
 * kl_impl_lin() - compile the methods with their linearization points
 * @s: the spec; the new code follows the present code
 * @code: gets the index in kl_spec.code of each method, in the order of the spec
 * @ncode: gets the number of words of each method
 * @nregs: gets the number of registers that the methods use
 * @names: gets the variable's name for each register of each method; "" if several variables use
 *	the register, NULL if none does
 *
 * Return: 0, -EINVAL after a message, or -ENOMEM.
 */
int kl_impl_lin(struct kl_spec *s, uint32_t *code, uint32_t *ncode, unsigned int *nregs,
		const char *(*names)[KL_IMPL_REGS]);

/**
 * kl_impl_client() - compile the threads of a client behind the present code
 * @s: the spec
 * @nthreads: number of threads of a general client; 0: the number in the file
 * @ops: number of operations of each thread of a general(N) or roles(...) client; 0: the number in
 *	the file
 * @start: gets the index in kl_spec.code of each thread
 * @n: gets the number of threads
 * @nregs: gets the number of registers that the threads use
 *
 * Return: 0, -EINVAL after a message, or -ENOMEM.
 */
int kl_impl_client(struct kl_spec *s, unsigned int nthreads, unsigned int ops,
		   uint32_t start[KL_IMPL_THREADS], unsigned int *n, unsigned int *nregs);

#endif
