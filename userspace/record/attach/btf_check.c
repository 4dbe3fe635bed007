// SPDX-License-Identifier: GPL-2.0
/*
 * Checks BTF from a file, which may be damaged.  libbpf checks lengths, but not the names and
 * types that a type refers to.  After this check the users of the BTF need no checks of their own.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "record/attach/btf_check.h"

/* longest chain of pointers, typedefs, qualifiers, arrays and parameters */
#define CHAIN_MAX	64
#define PRINTED_MAX	4096	/* number of names and declarators in one declaration */
#define IN_PROGRESS	UINT32_MAX

static bool has_name(const struct btf *btf, uint32_t offset)
{
	return btf__name_by_offset(btf, offset);
}

static bool has_type(const struct btf *btf, uint32_t id)
{
	return id < btf__type_cnt(btf);
}

static bool check_members(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_member *m = btf_members(t);
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++)
		if (!has_name(btf, m[i].name_off) || !has_type(btf, m[i].type))
			return false;
	return true;
}

static bool check_params(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_param *p = btf_params(t);
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++)
		if (!has_name(btf, p[i].name_off) || !has_type(btf, p[i].type))
			return false;
	return has_type(btf, t->type);
}

static bool check_enumerators(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_enum64 *wide = btf_enum64(t);
	const struct btf_enum *e = btf_enum(t);
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++)
		if (!has_name(btf, btf_is_enum64(t) ? wide[i].name_off : e[i].name_off))
			return false;
	return true;
}

static bool check_variables(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++)
		if (!has_type(btf, v[i].type))
			return false;
	return true;
}

/*
 * Measure the declaration of type @id, as libbpf would print it.  In C a declaration ends at the
 * name of a type; in damaged BTF it may contain itself.  @size keeps the results, by type ID.
 *
 * Return: the number of names and declarators, or 0 if they are too many or have no end.
 */
static uint32_t measure(const struct btf *btf, uint32_t *size, uint32_t id, unsigned int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	uint32_t sum = 1, part;
	unsigned int i;

	if (!id || !t)
		return id ? 0 : 1;
	if (size[id] || depth > CHAIN_MAX)
		return size[id] == IN_PROGRESS ? 0 : size[id];
	size[id] = IN_PROGRESS;
	if (!btf_is_array(t) && !btf_is_ptr(t) && !btf_is_mod(t) && !btf_is_typedef(t) &&
	    !btf_is_type_tag(t) && !btf_is_func_proto(t)) {
		size[id] = 1;
		return 1;
	}
	part = measure(btf, size, btf_is_array(t) ? btf_array(t)->type : t->type, depth + 1);
	for (i = 0; part && btf_is_func_proto(t) && i < btf_vlen(t) && sum <= PRINTED_MAX; i++) {
		sum += part;
		part = measure(btf, size, btf_params(t)[i].type, depth + 1);
	}
	sum += part;
	size[id] = part && sum <= PRINTED_MAX ? sum : 0;
	return size[id];
}

/* Return: true if types are aligned, and all names and types that they refer to exist. */
static bool check_references(const struct btf *btf)
{
	uint32_t id;

	for (id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		bool good;

		/* libbpf accepts a header of any length; the types begin behind the header. */
		if ((uintptr_t)t % _Alignof(struct btf_type))
			return false;
		good = has_name(btf, t->name_off);
		switch (btf_kind(t)) {
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			good &= check_members(btf, t);
			break;
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
			good &= check_enumerators(btf, t);
			break;
		case BTF_KIND_FUNC_PROTO:
			good &= check_params(btf, t);
			break;
		case BTF_KIND_ARRAY:
			good &= has_type(btf, btf_array(t)->type) &&
				has_type(btf, btf_array(t)->index_type);
			break;
		case BTF_KIND_FUNC:
			good &= has_type(btf, t->type) &&
				btf_is_func_proto(btf__type_by_id(btf, t->type));
			break;
		case BTF_KIND_INT:
		case BTF_KIND_FLOAT:
		case BTF_KIND_FWD:
			break;
		case BTF_KIND_DATASEC:
			good &= check_variables(btf, t);
			break;
		default:
			good &= has_type(btf, t->type);
		}
		if (!good)
			return false;
	}
	return true;
}

int kl_btf_check(const struct btf *btf)
{
	uint32_t *size, id;
	int err = 0;

	if (!check_references(btf))
		return -EINVAL;
	size = calloc(btf__type_cnt(btf), sizeof(*size));
	if (!size)
		return -ENOMEM;
	for (id = 1; !err && id < btf__type_cnt(btf); id++)
		err = measure(btf, size, id, 0) ? 0 : -EINVAL;
	free(size);
	return err;
}
