// SPDX-License-Identifier: GPL-2.0
/*
 * BTF from a file that may be damaged: libbpf looks at lengths, not at what types refer to.
 * What is right once needs no check where it is used.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "record/attach/btf_check.h"

#define CHAIN_MAX	64	/* pointers, typedefs, qualifiers, arrays and parameters in a row */
#define PRINTED_MAX	4096	/* names and such in one declaration */
#define UNDER_WAY	UINT32_MAX

static bool name(const struct btf *btf, uint32_t offset)
{
	return btf__name_by_offset(btf, offset);
}

static bool type(const struct btf *btf, uint32_t id)
{
	return id < btf__type_cnt(btf);
}

static bool members(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_member *m = btf_members(t);
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++)
		if (!name(btf, m[i].name_off) || !type(btf, m[i].type))
			return false;
	return true;
}

static bool params(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_param *p = btf_params(t);
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++)
		if (!name(btf, p[i].name_off) || !type(btf, p[i].type))
			return false;
	return type(btf, t->type);
}

static bool enumerators(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_enum64 *wide = btf_enum64(t);
	const struct btf_enum *e = btf_enum(t);
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++)
		if (!name(btf, btf_is_enum64(t) ? wide[i].name_off : e[i].name_off))
			return false;
	return true;
}

static bool variables(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++)
		if (!type(btf, v[i].type))
			return false;
	return true;
}

/*
 * How much there is to print of the type @id, a name counting as 1, or 0 for too much: in C a
 * declaration ends at the name of a type, here it may lead to itself.  @size has what is known.
 */
static uint32_t printed(const struct btf *btf, uint32_t *size, uint32_t id, unsigned int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	uint32_t sum = 1, part;
	unsigned int i;

	if (!id || !t)
		return id ? 0 : 1;
	if (size[id] || depth > CHAIN_MAX)
		return size[id] == UNDER_WAY ? 0 : size[id];
	size[id] = UNDER_WAY;
	if (!btf_is_array(t) && !btf_is_ptr(t) && !btf_is_mod(t) && !btf_is_typedef(t) &&
	    !btf_is_type_tag(t) && !btf_is_func_proto(t)) {
		size[id] = 1;
		return 1;
	}
	part = printed(btf, size, btf_is_array(t) ? btf_array(t)->type : t->type, depth + 1);
	for (i = 0; part && btf_is_func_proto(t) && i < btf_vlen(t) && sum <= PRINTED_MAX; i++) {
		sum += part;
		part = printed(btf, size, btf_params(t)[i].type, depth + 1);
	}
	sum += part;
	size[id] = part && sum <= PRINTED_MAX ? sum : 0;
	return size[id];
}

/* Do all names and types that are referred to exist? */
static bool references(const struct btf *btf)
{
	uint32_t id;

	for (id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		bool good;

		/* libbpf takes a header of any length, and the types begin behind the header. */
		if ((uintptr_t)t % _Alignof(struct btf_type))
			return false;
		good = name(btf, t->name_off);
		switch (btf_kind(t)) {
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			good &= members(btf, t);
			break;
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
			good &= enumerators(btf, t);
			break;
		case BTF_KIND_FUNC_PROTO:
			good &= params(btf, t);
			break;
		case BTF_KIND_ARRAY:
			good &= type(btf, btf_array(t)->type) && type(btf, btf_array(t)->index_type);
			break;
		case BTF_KIND_FUNC:
			good &= type(btf, t->type) && btf_is_func_proto(btf__type_by_id(btf, t->type));
			break;
		case BTF_KIND_INT:
		case BTF_KIND_FLOAT:
		case BTF_KIND_FWD:
			break;
		case BTF_KIND_DATASEC:
			good &= variables(btf, t);
			break;
		default:
			good &= type(btf, t->type);
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

	if (!references(btf))
		return -EINVAL;
	size = calloc(btf__type_cnt(btf), sizeof(*size));
	if (!size)
		return -ENOMEM;
	for (id = 1; !err && id < btf__type_cnt(btf); id++)
		err = printed(btf, size, id, 0) ? 0 : -EINVAL;
	free(size);
	return err;
}
