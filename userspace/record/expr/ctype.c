// SPDX-License-Identifier: GPL-2.0
/* Finds C types in a kernel's BTF, see ctype.h. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "record/expr/ctype.h"
#include "record/attach/kernel.h"

/* maximal depth of anonymous structs, and of arrays and qualifiers in a name */
#define NESTING 16

struct kl_ty kl_ty_int(unsigned int size, bool is_signed)
{
	return (struct kl_ty){ .size = size, .is_signed = is_signed };
}

struct kl_ty kl_ty_btf(const struct btf *btf, uint32_t id)
{
	return (struct kl_ty){ .btf = btf, .id = id };
}

/*
 * Change @t to the type behind its typedefs and qualifiers.  Return: this type; NULL for void, for
 * integers without BTF, and for pointers that BTF does not have (@t->ptr).
 */
static const struct btf_type *strip(struct kl_ty *t)
{
	const struct btf_type *b;
	int id;

	if (!t->btf || t->ptr)
		return NULL;
	while (t->id) {
		b = btf__type_by_id(t->btf, t->id);
		if (!b)
			return NULL;
		if (btf_is_mod(b) || btf_is_typedef(b)) {
			t->id = b->type;
			continue;
		}
		if (btf_is_fwd(b)) {
			/* A module's BTF may only declare a type that the kernel's BTF defines. */
			const char *name = btf__name_by_offset(t->btf, b->name_off);

			id = btf__find_by_name_kind(t->btf, name, btf_kflag(b) ? BTF_KIND_UNION :
						    BTF_KIND_STRUCT);
			if (id > 0) {
				t->id = id;
				continue;
			}
		}
		return b;
	}
	return NULL;
}

enum kl_ty_kind kl_ty_kind(struct kl_ty *t)
{
	const struct btf_type *b;

	if (t->ptr)
		return KL_TY_PTR;
	if (!t->btf)
		return KL_TY_INT;
	b = strip(t);
	if (!b)
		return KL_TY_VOID;
	switch (btf_kind(b)) {
	case BTF_KIND_INT:
		t->size = b->size;
		t->is_signed = btf_int_encoding(b) & BTF_INT_SIGNED;
		return b->size <= 8 ? KL_TY_INT : KL_TY_OTHER;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		t->size = b->size;
		t->is_signed = btf_kflag(b);
		return KL_TY_INT;
	case BTF_KIND_PTR:
		return KL_TY_PTR;
	case BTF_KIND_ARRAY:
		return KL_TY_ARRAY;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FWD:
		return KL_TY_STRUCT;
	default:
		return KL_TY_OTHER;
	}
}

uint64_t kl_ty_size(struct kl_ty t)
{
	int64_t size;

	switch (kl_ty_kind(&t)) {
	case KL_TY_INT:
		return t.size;
	case KL_TY_PTR:
		return 8;
	case KL_TY_VOID:
		return 1; /* arithmetic on void pointers counts bytes, as in gcc */
	default:
		size = btf__resolve_size(t.btf, t.id);
		return size > 0 ? size : 0;
	}
}

struct kl_ty kl_ty_target(struct kl_ty t)
{
	const struct btf_type *b;

	if (t.ptr) {
		t.ptr--;
		return t;
	}
	b = strip(&t);
	if (b && btf_is_ptr(b))
		t.id = b->type;
	else if (b && btf_is_array(b))
		t.id = btf_array(b)->type;
	return t;
}

struct kl_ty kl_ty_address(struct kl_ty t)
{
	t.ptr++;
	return t;
}

static const char *int_name(const struct kl_ty *t)
{
	static const char *const names[2][4] = {
		{ "unsigned char", "unsigned short", "unsigned int", "unsigned long" },
		{ "signed char", "short", "int", "long" },
	};

	return names[t->is_signed][t->size == 1 ? 0 : t->size == 2 ? 1 : t->size == 4 ? 2 : 3];
}

const char *kl_ty_name(struct kl_ty t, char *buf, size_t size)
{
	const struct btf_type *b = NULL;
	const char *kind = "", *name;
	unsigned int stars = t.ptr, i, depth = 0, dims = 0;
	char tail[64] = "";
	size_t len;

	while (t.btf && t.id && depth++ < NESTING) {
		b = btf__type_by_id(t.btf, t.id);
		if (!b)
			break;
		if (btf_is_ptr(b)) {
			stars++;
			t.id = b->type;
		} else if (btf_is_array(b) && dims++ < 3) {
			len = strlen(tail);
			snprintf(tail + len, sizeof(tail) - len, "[%u]", btf_array(b)->nelems);
			t.id = btf_array(b)->type;
		} else if (btf_is_mod(b)) {
			t.id = b->type;
		} else {
			break;
		}
	}
	if (!t.btf) {
		name = int_name(&t);
	} else if (!t.id || !b) {
		name = "void";
	} else {
		name = btf__name_by_offset(t.btf, b->name_off);
		if (btf_is_struct(b) || (btf_is_fwd(b) && !btf_kflag(b)))
			kind = "struct ";
		else if (btf_is_union(b) || btf_is_fwd(b))
			kind = "union ";
		else if (btf_is_any_enum(b))
			kind = "enum ";
		else if (btf_is_func_proto(b))
			name = "function";
		if (!name || !*name)
			name = "(anonymous)";
	}
	len = snprintf(buf, size, "%s%s%s", kind, name, stars ? " " : "");
	for (i = 0; i < stars && len + 1 < size; i++)
		buf[len++] = '*';
	if (len < size)
		snprintf(buf + len, size - len, "%s", tail);
	return buf;
}

/* C's names of integer types; BTF has only one spelling of each. */
static const struct {
	const char *name;
	uint8_t size;
	bool is_signed;
} builtin[] = {
	{ "char", 1, true }, { "signed char", 1, true }, { "unsigned char", 1, false },
	{ "bool", 1, false }, { "_Bool", 1, false },
	{ "short", 2, true }, { "short int", 2, true }, { "signed short", 2, true },
	{ "unsigned short", 2, false }, { "unsigned short int", 2, false },
	{ "short unsigned int", 2, false },
	{ "int", 4, true }, { "signed", 4, true }, { "signed int", 4, true },
	{ "unsigned", 4, false }, { "unsigned int", 4, false },
	{ "long", 8, true }, { "long int", 8, true }, { "signed long", 8, true },
	{ "unsigned long", 8, false }, { "unsigned long int", 8, false },
	{ "long unsigned int", 8, false },
	{ "long long", 8, true }, { "long long int", 8, true }, { "signed long long", 8, true },
	{ "unsigned long long", 8, false }, { "unsigned long long int", 8, false },
	{ "long long unsigned int", 8, false },
};

int kl_ty_resolve(const struct btf *btf, const struct kl_ctype *c, struct kl_ty *out)
{
	unsigned int kind = BTF_KIND_TYPEDEF;
	size_t i;
	int id;

	if (!strcmp(c->kind, "struct"))
		kind = BTF_KIND_STRUCT;
	else if (!strcmp(c->kind, "union"))
		kind = BTF_KIND_UNION;
	else if (!strcmp(c->kind, "enum"))
		kind = BTF_KIND_ENUM;

	if (!*c->kind && !strcmp(c->name, "void")) {
		*out = kl_ty_btf(btf, 0);
		out->ptr = c->ptr;
		return 0;
	}
	for (i = 0; !*c->kind && i < sizeof(builtin) / sizeof(builtin[0]); i++) {
		if (strcmp(builtin[i].name, c->name))
			continue;
		*out = kl_ty_int(builtin[i].size, builtin[i].is_signed);
		out->ptr = c->ptr;
		return 0;
	}
	id = btf__find_by_name_kind(btf, c->name, kind);
	if (id < 0 && kind == BTF_KIND_ENUM)
		id = btf__find_by_name_kind(btf, c->name, BTF_KIND_ENUM64);
	if (id < 0)
		return -ENOENT;
	*out = kl_ty_btf(btf, id);
	out->ptr = c->ptr;
	return 0;
}

static int find_member(const struct btf *btf, const struct btf_type *b, const char *name,
		       size_t len, struct kl_ty *type, uint64_t *bits, bool *bitfield,
		       unsigned int depth)
{
	const struct btf_member *m = btf_members(b);
	unsigned int i;

	for (i = 0; i < btf_vlen(b); i++, m++) {
		const char *n = btf__name_by_offset(btf, m->name_off);
		struct kl_ty t = kl_ty_btf(btf, m->type);
		const struct btf_type *inner;

		if (n && *n) {
			if (strlen(n) != len || memcmp(n, name, len))
				continue;
			*type = t;
			*bits += btf_member_bit_offset(b, i);
			*bitfield = btf_member_bitfield_size(b, i) != 0;
			return 0;
		}
		inner = strip(&t);
		if (!inner || !btf_is_composite(inner) || depth >= NESTING)
			continue;
		if (!find_member(btf, inner, name, len, type, bits, bitfield, depth + 1)) {
			*bits += btf_member_bit_offset(b, i);
			return 0;
		}
	}
	return -ENOENT;
}

int kl_ty_member(struct kl_ty t, const char *name, size_t len, struct kl_ty *type, uint64_t *bits,
		 bool *bitfield)
{
	const struct btf_type *b = strip(&t);

	*bits = 0;
	if (!b || !btf_is_composite(b))
		return -ENODATA;
	return find_member(t.btf, b, name, len, type, bits, bitfield, 0);
}

static void nearest_member(const struct btf *btf, const struct btf_type *b, const char *name,
			   const char **best, unsigned int *distance, unsigned int depth)
{
	const struct btf_member *m = btf_members(b);
	unsigned int i, d;

	for (i = 0; i < btf_vlen(b); i++, m++) {
		const char *n = btf__name_by_offset(btf, m->name_off);
		struct kl_ty t = kl_ty_btf(btf, m->type);
		const struct btf_type *inner;

		if (n && *n) {
			d = kl_name_distance(name, n, *distance);
			if (d < *distance) {
				*distance = d;
				*best = n;
			}
			continue;
		}
		inner = strip(&t);
		if (inner && btf_is_composite(inner) && depth < NESTING)
			nearest_member(btf, inner, name, best, distance, depth + 1);
	}
}

const char *kl_ty_suggest(struct kl_ty t, const char *name)
{
	unsigned int distance = kl_name_slack(name) + 1;
	const struct btf_type *b = strip(&t);
	const char *best = NULL;

	if (b && btf_is_composite(b))
		nearest_member(t.btf, b, name, &best, &distance, 0);
	return best;
}

int kl_ty_enumerator(const struct btf *btf, const char *name, int64_t *value)
{
	uint32_t id, n = btf__type_cnt(btf);
	unsigned int i;

	for (id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		for (i = 0; btf_is_enum(t) && i < btf_vlen(t); i++) {
			const struct btf_enum *e = &btf_enum(t)[i];

			if (strcmp(btf__name_by_offset(btf, e->name_off), name))
				continue;
			*value = e->val;
			return 0;
		}
		for (i = 0; btf_is_enum64(t) && i < btf_vlen(t); i++) {
			const struct btf_enum64 *e = &btf_enum64(t)[i];

			if (strcmp(btf__name_by_offset(btf, e->name_off), name))
				continue;
			*value = btf_enum64_value(e);
			return 0;
		}
	}
	return -ENOENT;
}
