// SPDX-License-Identifier: GPL-2.0
#include <bpf/btf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "record/member.h"

/* Structures are not nested more deeply in the kernel; damaged BTF may be. */
#define MOST_LEVELS	16

/* Append to a text.  Return: false if it is too long. */
static __attribute__((format(printf, 3, 4))) bool append(char *out, size_t size,
							 const char *format, ...)
{
	const size_t used = strlen(out);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(out + used, size - used, format, args);
	va_end(args);
	return n >= 0 && (size_t)n < size - used;
}

/* Enter the element of an array that has *offset. */
static bool enter_element(const struct btf *btf, int *id, uint32_t *offset, char *out, size_t size)
{
	const struct btf_array *array = btf_array(btf__type_by_id(btf, *id));
	const int64_t element = btf__resolve_size(btf, array->type);

	if (element <= 0 || *offset / element >= array->nelems)
		return false;
	if (!append(out, size, "[%u]", (unsigned int)(*offset / element)))
		return false;
	*offset %= element;
	*id = btf__resolve_type(btf, array->type);
	return true;
}

/* Enter the member of a structure or union that has *offset; of a union, the first that does. */
static bool enter_member(const struct btf *btf, int *id, uint32_t *offset, char *out, size_t size)
{
	const struct btf_type *t = btf__type_by_id(btf, *id);
	const struct btf_member *m = btf_members(t);
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++) {
		const uint32_t bit = btf_member_bit_offset(t, i);
		const int64_t bytes = btf__resolve_size(btf, m[i].type);
		const char *name = btf__name_by_offset(btf, m[i].name_off);

		if (bit % 8 || bytes <= 0 || *offset < bit / 8 || *offset - bit / 8 >= bytes)
			continue;
		*offset -= bit / 8;
		*id = btf__resolve_type(btf, m[i].type);
		return !*name || append(out, size, "%s%s", *out ? "." : "", name);
	}
	return false;
}

/*
 * Find the structure of a slab cache.  Many caches have its name, or the name with another ending;
 * then the size must agree as well.  (The kernel does not allocate all of struct task_struct.)
 */
int kl_cache_structure(const struct btf *btf, const char *cache, uint32_t size)
{
	static const char *const endings[] = { "_struct", "", "_info" };
	const char *ending = strstr(cache, "_cache");
	const size_t stem = ending && !strcmp(ending, "_cache") ?
			    (size_t)(ending - cache) : strlen(cache);
	int id = btf ? btf__find_by_name_kind(btf, cache, BTF_KIND_STRUCT) : -ENOENT;
	char name[64];
	size_t i;

	for (i = 0; btf && id < 0 && stem && i < sizeof(endings) / sizeof(*endings); i++) {
		snprintf(name, sizeof(name), "%.*s%s", (int)stem, cache, endings[i]);
		id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
		if (id > 0 && btf__type_by_id(btf, id)->size != size)
			id = -ENOENT;
	}
	return id;
}

bool kl_member_name(const struct btf *btf, int id, uint32_t offset, char *out, size_t out_size)
{
	int level;

	*out = 0;
	for (level = 0; level < MOST_LEVELS; level++) {
		const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

		if (*out && !offset)
			return true;
		if (!t || (btf_is_array(t) ? !enter_element(btf, &id, &offset, out, out_size) :
			   !btf_is_composite(t) ||
			   !enter_member(btf, &id, &offset, out, out_size)))
			return false;
	}
	return false;
}
