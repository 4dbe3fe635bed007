/* SPDX-License-Identifier: GPL-2.0 */
/* Places in functions of the running kernel: where inlined ones are, and what is there. */
#ifndef KL_RECORD_ATTACH_PLACE_H
#define KL_RECORD_ATTACH_PLACE_H

#include "dwarf/debug.h"
#include "record/attach/kernel.h"
#include "spec/lang/probe.h"

#define KL_PLACES_MAX 6	/* of one clause */

/**
 * struct kl_kplace - a place in the running kernel
 * @symbol: the symbol that it is in
 * @module: whose, empty for the kernel itself
 * @offset: from the symbol
 * @owner: the function that is called and returns
 * @site: what debugging information says of it, NULL of offsets
 * @debug: and the file that does
 * @linked: the debug file's addresses are those of the kernel, but for
 * @moved: this distance
 */
struct kl_kplace {
	const char *symbol, *owner;
	char module[64];
	uint64_t offset;
	const struct kl_site *site;
	const struct kl_debug *debug;
	bool linked;
	uint64_t moved;
};

/**
 * kl_places_find() - find a place
 * @k: the kernel; its debug files are looked at first
 * @inlined: the entries of this function; NULL: an offset
 * @name: the function around it
 * @module: whose, NULL: the kernel's, else any module's
 * @offset: if it is one
 * @out: the places, KL_PLACES_MAX at most
 * @n: how many
 * @why: gets a sentence part about what is in the way
 * @size: room there
 *
 * Return: 0, or -ENOENT, -EOPNOTSUPP or -ENOMEM with @why filled.
 */
int kl_places_find(struct kl_kernel *k, const char *inlined, const char *name,
		   const char *module, uint64_t offset, struct kl_kplace *out, unsigned int *n,
		   char *why, size_t size);

/* The place that an instance of @inlined is, or why it cannot be recorded. */
int kl_place_of_site(struct kl_kernel *k, const char *module, const struct kl_site *s,
		     const char *inlined, struct kl_kplace *out, char *why, size_t size);
/**
 * kl_debug_instances() - all instances of a function, inlined and not
 * @k: the kernel
 * @name: the function
 * @module: whose, "": the kernel's
 * @out: the instances, of all functions of that name; they live as long as the kernel
 * @why: what is in the way
 * @size: room there
 *
 * Return: 0, or a negative errno with @why filled.
 */
int kl_debug_instances(struct kl_kernel *k, const char *name, const char *module,
		       const struct kl_sites **out, char *why, size_t size);
/* The target @t of a function, where it is inlined into @in; lives as long as the kernel. */
const struct kl_probe_target *kl_target_inlined(struct kl_kernel *k,
						const struct kl_probe_target *t, const char *in);

/* For kl_kernel_close(). */
void kl_places_free(struct kl_kernel *k);

#endif
