/* SPDX-License-Identifier: GPL-2.0 */
/* Finds places in functions of a kernel: inlined instances of other functions, and offsets. */
#ifndef KL_RECORD_ATTACH_PLACE_H
#define KL_RECORD_ATTACH_PLACE_H

#include "dwarf/debug.h"
#include "record/attach/kernel.h"
#include "spec/probe/probe.h"

#define KL_PLACES_MAX 6	/* number of places of one clause */

/**
 * struct kl_kplace - a place in a function of the running kernel
 * @symbol: the symbol whose code has the place; may be a part of @owner (GCC's .cold)
 * @owner: the function that is called and returns
 * @module: its module, empty for the kernel itself
 * @offset: bytes from @symbol
 * @site: the inlined instance in debugging information; NULL if the clause names an offset
 * @debug: the debug file with @site
 * @linked: the kernel's addresses are the debug file's addresses plus @load_bias
 * @load_bias: distance between these addresses, in bytes
 */
struct kl_kplace {
	const char *symbol, *owner;
	char module[64];
	uint64_t offset;
	const struct kl_site *site;
	const struct kl_debug *debug;
	bool linked;
	uint64_t load_bias;
};

/**
 * kl_places_find() - find the places that a target names
 * @k: the kernel; its debug files are searched first
 * @inlined: the inlined function whose entries are the places; NULL: the place is an offset
 * @name: the function around the places
 * @module: module of @name; NULL: the kernel itself or, if it has no such function, any module
 * @offset: offset of the place from @name, in bytes; unused with @inlined
 * @out: gets the places, KL_PLACES_MAX at most
 * @n: gets the number of places
 * @why: gets the reason for a failure, as a part of a sentence
 * @size: bytes at @why
 *
 * Return: 0, or -ENOENT, -EOPNOTSUPP or -ENOMEM with @why filled.
 */
int kl_places_find(struct kl_kernel *k, const char *inlined, const char *name,
		   const char *module, uint64_t offset, struct kl_kplace *out, unsigned int *n,
		   char *why, size_t size);

/*
 * Make a place of @s, an instance of the function @inlined.  Return: 0, or a negative errno with
 * @why filled if the instance cannot be recorded.
 */
int kl_place_of_site(struct kl_kernel *k, const char *module, const struct kl_site *s,
		     const char *inlined, struct kl_kplace *out, char *why, size_t size);
/**
 * kl_debug_instances() - find all instances of a function, inlined or not
 * @k: the kernel
 * @name: the function
 * @module: its module, or "" for the kernel itself
 * @out: gets the instances of all functions of this name; they live as long as @k
 * @why: gets the reason for a failure
 * @size: bytes at @why
 *
 * Return: 0, or a negative errno with @why filled.
 */
int kl_debug_instances(struct kl_kernel *k, const char *name, const char *module,
		       const struct kl_sites **out, char *why, size_t size);
/*
 * Make a target for the function of @t where it is inlined into @in.  Return: the target, which
 * lives as long as @k, or NULL without memory.
 */
const struct kl_probe_target *kl_target_inlined(struct kl_kernel *k,
						const struct kl_probe_target *t, const char *in);

/* Free all places; kl_kernel_close() calls this function. */
void kl_places_free(struct kl_kernel *k);

#endif
