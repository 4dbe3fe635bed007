/* SPDX-License-Identifier: GPL-2.0 */
/* Names of members of the kernel's structures. */
#ifndef KL_RECORD_MEMBER_H
#define KL_RECORD_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;

/**
 * kl_cache_structure() - find the structure that a slab cache is for
 * @btf: the types, or NULL
 * @cache: the cache's name, which tells the structure
 * @size: size of the cache's objects in bytes
 *
 * The function looks at all types, so a caller should remember the answer.
 *
 * Return: the structure's number in @btf, or a negative errno if there is none.
 */
int kl_cache_structure(const struct btf *btf, const char *cache, uint32_t size);

/**
 * kl_member_name() - name the member that begins at an offset of a structure
 * @btf: the types
 * @id: the structure's number
 * @offset: the offset in bytes
 * @out: gets the member as C writes it ("mmap_lock", "list[3].lock"): of several that begin there,
 *	the outermost
 * @out_size: its size in bytes
 *
 * Return: false if there is no such member, or the name is too long.
 */
bool kl_member_name(const struct btf *btf, int id, uint32_t offset, char *out, size_t out_size);

#endif
