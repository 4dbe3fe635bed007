/* SPDX-License-Identifier: GPL-2.0 */
/* The structures that kl_gen() runs, one implementation for each type. */
#ifndef KL_HISTORY_GEN_MODEL_H
#define KL_HISTORY_GEN_MODEL_H

#include "history/gen.h"

struct kl_model_method {
	const char *name;
	uint8_t nargs, nres;
	uint8_t weight;		/* of 100 */
	bool returns_bool;
};

struct kl_model;

/**
 * struct kl_model_type - one structure
 * @slots: words an object needs, apart from what grows
 * @args: choose arguments for method @m on object @o
 * @step: let it take effect; 1 if it has to wait, or a negative errno
 * @scramble: put an object into some other state than the first, or NULL
 */
struct kl_model_type {
	const char *name, *spec;
	const struct kl_model_method *methods;
	unsigned int nmethods;
	size_t (*slots)(uint32_t keys);
	void (*args)(struct kl_model *md, uint32_t o, unsigned int m, struct kl_val *args);
	int (*step)(struct kl_model *md, uint32_t o, unsigned int m, const struct kl_val *args,
		    struct kl_val *res);
	int (*scramble)(struct kl_model *md, uint32_t o);
};

/* A growable array for each object: of a queue from head on, of a stack and a heap from 0. */
struct kl_model_list {
	uint64_t *v;
	size_t head, n, cap;
};

struct kl_model {
	const struct kl_model_type *type;
	uint64_t *slot;			/* nslots for each object */
	size_t nslots;
	struct kl_model_list *list;	/* one for each object */
	uint32_t objects, keys;
	uint64_t next;			/* the last new value */
	uint64_t seed;
};

extern const struct kl_model_type kl_model_types[KL_GEN_TYPES];

int kl_model_init(struct kl_model *md, const struct kl_gen_config *c);
void kl_model_free(struct kl_model *md);

/* Methods of KL_GEN_LOCK, whose calls depend on what the thread holds. */
enum { KL_MODEL_LOCK, KL_MODEL_TRYLOCK, KL_MODEL_UNLOCK };

#endif
