// SPDX-License-Identifier: GPL-2.0
/* Names of members of the structures that slab caches are for, by their offsets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <bpf/btf.h>
#include <cmocka.h>

#include "record/member.h"

#define BYTES(n)	(8 * (n))

/*
 * struct lock { int word; int owner; };
 * typedef struct lock lock_t;
 * struct outer {
 *	long flags;				0
 *	struct {
 *		int users;			8
 *		const lock_t lock;		12
 *	};
 *	struct lock slots[3];			20
 *	union { long number; int half; };	48
 *	unsigned low : 4, high : 4;		56
 * };
 * struct task_struct { int : 32, exit; };
 * struct node_info { int : 32, next; };
 */
static struct btf *types(void)
{
	struct btf *btf = btf__new_empty();
	int number, wide, lock, name, fixed, slots, inner, either;

	assert_non_null(btf);
	number = btf__add_int(btf, "int", 4, 0);
	wide = btf__add_int(btf, "long", 8, 0);
	lock = btf__add_struct(btf, "lock", 8);
	assert_int_equal(btf__add_field(btf, "word", number, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "owner", number, BYTES(4), 0), 0);
	name = btf__add_typedef(btf, "lock_t", lock);
	fixed = btf__add_const(btf, name);
	slots = btf__add_array(btf, number, lock, 3);
	inner = btf__add_struct(btf, NULL, 12);
	assert_int_equal(btf__add_field(btf, "users", number, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "lock", fixed, BYTES(4), 0), 0);
	either = btf__add_union(btf, NULL, 8);
	assert_int_equal(btf__add_field(btf, "number", wide, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "half", number, 0, 0), 0);
	assert_true(btf__add_struct(btf, "outer", 64) > 0);
	assert_int_equal(btf__add_field(btf, "flags", wide, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, NULL, inner, BYTES(8), 0), 0);
	assert_int_equal(btf__add_field(btf, "slots", slots, BYTES(20), 0), 0);
	assert_int_equal(btf__add_field(btf, NULL, either, BYTES(48), 0), 0);
	assert_int_equal(btf__add_field(btf, "low", number, BYTES(56), 4), 0);
	assert_int_equal(btf__add_field(btf, "high", number, BYTES(56) + 4, 4), 0);
	assert_true(btf__add_struct(btf, "task_struct", 8) > 0);
	assert_int_equal(btf__add_field(btf, "exit", number, BYTES(4), 0), 0);
	assert_true(btf__add_struct(btf, "node_info", 8) > 0);
	assert_int_equal(btf__add_field(btf, "next", number, BYTES(4), 0), 0);
	return btf;
}

static bool named(const struct btf *btf, const char *cache, uint32_t size, uint32_t offset,
		  char *out, size_t out_size)
{
	return kl_member_name(btf, kl_cache_structure(btf, cache, size), offset, out, out_size);
}

static void test_members(void **state)
{
	static const struct { uint32_t offset; const char *name; } want[] = {
		{ 0, "flags" }, { 8, "users" }, { 12, "lock" }, { 16, "lock.owner" },
		{ 20, "slots" }, { 24, "slots[0].owner" }, { 28, "slots[1]" },
		{ 40, "slots[2].owner" }, { 48, "number" },
	};
	/* Inside a number, in a hole, in bit fields, behind the end. */
	static const uint32_t nothing[] = { 4, 13, 44, 52, 57, 64, 1000, UINT32_MAX };
	struct btf *btf = types();
	char name[32], tiny[8];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(want) / sizeof(*want); i++) {
		if (!named(btf, "outer", 64, want[i].offset, name, sizeof(name)))
			fail_msg("nothing at %u", want[i].offset);
		assert_string_equal(name, want[i].name);
	}
	for (i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		if (named(btf, "outer", 64, nothing[i], name, sizeof(name)))
			fail_msg("%s at %u", name, nothing[i]);
	/* The structure of another name must have the size; that of this name may have another. */
	assert_true(named(btf, "outer", 60, 8, name, sizeof(name)));
	assert_true(named(btf, "outer_cache", 64, 8, name, sizeof(name)));
	assert_false(named(btf, "outer_cache", 60, 8, name, sizeof(name)));
	assert_true(named(btf, "task_cache", 8, 4, name, sizeof(name)));
	assert_string_equal(name, "exit");
	assert_true(named(btf, "task", 8, 4, name, sizeof(name)));
	assert_true(named(btf, "node", 8, 4, name, sizeof(name)));
	assert_string_equal(name, "next");
	/* No structure of the name; a name without a structure. */
	assert_false(named(btf, "inner", 64, 8, name, sizeof(name)));
	assert_false(named(btf, "lock_t", 8, 4, name, sizeof(name)));
	assert_false(named(btf, "_cache", 8, 4, name, sizeof(name)));
	assert_false(named(NULL, "outer", 64, 8, name, sizeof(name)));
	assert_true(named(btf, "outer", 64, 8, tiny, sizeof(tiny)));
	assert_false(named(btf, "outer", 64, 16, tiny, sizeof(tiny)));
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_members) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
