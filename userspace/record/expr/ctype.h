/* SPDX-License-Identifier: GPL-2.0 */
/* C types in a kernel's BTF, for probe expressions. */
#ifndef KL_RECORD_EXPR_CTYPE_H
#define KL_RECORD_EXPR_CTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/probe/probe.h"

struct btf;
struct btf_type;

/*
 * A type: @ptr levels of pointers to the BTF type @id.  If BTF has no such type (literals, results
 * of arithmetic), @btf is NULL, and the type is an integer of @size bytes.
 */
struct kl_ty {
	const struct btf *btf;
	uint32_t id;
	uint8_t ptr, size;
	bool is_signed;
};

enum kl_ty_kind { KL_TY_INT, KL_TY_PTR, KL_TY_STRUCT, KL_TY_ARRAY, KL_TY_VOID, KL_TY_OTHER };

struct kl_ty kl_ty_int(unsigned int size, bool is_signed);
struct kl_ty kl_ty_btf(const struct btf *btf, uint32_t id);

/*
 * Return: the kind of the type without typedefs and qualifiers.  If it is an integer, the function
 * sets @t->size and @t->is_signed.
 */
enum kl_ty_kind kl_ty_kind(struct kl_ty *t);
/* Return: the size in bytes, 0 for types that have no size. */
uint64_t kl_ty_size(struct kl_ty t);
/* Return: the type that a pointer points to, or the type of an array's elements. */
struct kl_ty kl_ty_target(struct kl_ty t);
struct kl_ty kl_ty_address(struct kl_ty t);
/* Write the type as in C.  Return: @buf. */
const char *kl_ty_name(struct kl_ty t, char *buf, size_t size);

/**
 * kl_ty_resolve() - find the type that a spec names
 * @btf: BTF of the kernel or a module
 * @c: the name
 * @out: gets the type
 *
 * Return: 0 or -ENOENT.
 */
int kl_ty_resolve(const struct btf *btf, const struct kl_ctype *c, struct kl_ty *out);

/**
 * kl_ty_member() - find a member, also in anonymous structs and unions
 * @t: a struct or union
 * @name: the member's name
 * @len: its length
 * @type: gets its type
 * @bits: gets its offset in bits
 * @bitfield: set if the member is a bit-field
 *
 * Return: 0, -ENOENT, or -ENODATA if the type is only declared in this BTF.
 */
int kl_ty_member(struct kl_ty t, const char *name, size_t len, struct kl_ty *type, uint64_t *bits,
		 bool *bitfield);
/* Find the value of a constant of an enum.  Return: 0 or -ENOENT. */
int kl_ty_enumerator(const struct btf *btf, const char *name, int64_t *value);
/* Return: the name of the member that resembles @name most, or NULL. */
const char *kl_ty_suggest(struct kl_ty t, const char *name);

#endif
