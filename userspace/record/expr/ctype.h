/* SPDX-License-Identifier: GPL-2.0 */
/* C types in a kernel's BTF, as far as probe expressions need them. */
#ifndef KL_RECORD_EXPR_CTYPE_H
#define KL_RECORD_EXPR_CTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/lang/probe.h"

struct btf;
struct btf_type;

/*
 * A type: @ptr pointers to the BTF type @id, or to an integer of @size bytes
 * where BTF has none (literals, results of arithmetic): then @btf is NULL.
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

/* What it is below typedefs and qualifiers; integers set size and is_signed. */
enum kl_ty_kind kl_ty_kind(struct kl_ty *t);
/* Bytes, 0 for types that have no size. */
uint64_t kl_ty_size(struct kl_ty t);
/* What a pointer points to; an element of an array. */
struct kl_ty kl_ty_target(struct kl_ty t);
struct kl_ty kl_ty_address(struct kl_ty t);
/* The type as C writes it. */
const char *kl_ty_name(struct kl_ty t, char *buf, size_t size);

/**
 * kl_ty_resolve() - a type as a spec names it
 * @btf: where to look
 * @c: the name
 * @out: the type
 *
 * Return: 0 or -ENOENT.
 */
int kl_ty_resolve(const struct btf *btf, const struct kl_ctype *c, struct kl_ty *out);

/**
 * kl_ty_member() - find a member, also in anonymous structs and unions
 * @t: a struct or union
 * @name: the member's name
 * @len: its length
 * @type: its type
 * @bits: its offset in bits
 * @bitfield: set if it is one
 *
 * Return: 0, -ENOENT, -ENODATA if the type is only declared in this BTF.
 */
int kl_ty_member(struct kl_ty t, const char *name, size_t len, struct kl_ty *type, uint64_t *bits,
		 bool *bitfield);
/* The value of an enum's constant; -ENOENT. */
int kl_ty_enumerator(const struct btf *btf, const char *name, int64_t *value);
/* The member with the name that is nearest, or NULL. */
const char *kl_ty_suggest(struct kl_ty t, const char *name);

#endif
