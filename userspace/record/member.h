/* SPDX-License-Identifier: GPL-2.0 */
/* Names of members of the kernel's structures. */
#ifndef KL_RECORD_MEMBER_H
#define KL_RECORD_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;

/**
 * kl_member_name() - name the member that begins at an offset of the objects of a slab cache
 * @btf: the types, or NULL
 * @cache: the cache's name, which tells the structure
 * @size: size of the cache's objects in bytes
 * @offset: the offset in bytes
 * @out: gets the member as C writes it ("mmap_lock", "list[3].lock"): of several that begin there,
 *	the outermost
 * @out_size: its size in bytes
 *
 * Return: false if there is no such structure or member, or the name is too long.
 */
bool kl_member_name(const struct btf *btf, const char *cache, uint32_t size, uint32_t offset,
		    char *out, size_t out_size);

#endif
