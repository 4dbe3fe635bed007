// SPDX-License-Identifier: GPL-2.0
/* Facts about a kernel that need no list of its functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <bpf/btf.h>
#include <cmocka.h>

#include "record/attach/kernel.h"

/* Return: BTF of a kernel whose struct task_struct has this second member. */
static struct btf *tasks_with(const char *member)
{
	struct btf *btf = btf__new_empty();
	int number;

	assert_non_null(btf);
	number = btf__add_int(btf, "unsigned int", 4, 0);
	assert_true(number > 0);
	assert_true(btf__add_struct(btf, "task_struct", 8) > 0);
	assert_int_equal(btf__add_field(btf, "flags", number, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, member, number, 32, 0), 0);
	return btf;
}

/* KASAN doubles stacks. */
static void test_stack_size_from_btf(void **state)
{
	struct kl_kernel k = { .btf = NULL };

	(void)state;
	assert_int_equal(kl_kernel_stack_size(&k), 16384);
	k.btf = tasks_with("prio");
	assert_int_equal(kl_kernel_stack_size(&k), 16384);
	btf__free(k.btf);
	k.btf = tasks_with("kasan_depth");
	assert_int_equal(kl_kernel_stack_size(&k), 32768);
	btf__free(k.btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_stack_size_from_btf) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
