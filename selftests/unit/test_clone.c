// SPDX-License-Identifier: GPL-2.0
/* Recognizing the kernel's symbols that are clones of a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "record/attach/clone.h"

static const struct {
	const char *symbol;
	bool clone, part;
} symbols[] = {
	{ "put", false, false },
	{ "puts", false, false },
	{ "pu.isra.0", false, false },
	{ "output.isra.0", false, false },
	{ "put_isra.0", false, false },
	{ "put.cold", false, false },
	{ "put.cold.3", false, false },
	{ "put.isra.0", true, false },
	{ "put.isra.0.cold", true, false },
	{ "put.constprop.12", true, false },
	{ "put.constprop.0.isra.0", true, false },
	{ "put.lto_priv.0", true, false },
	{ "put.lto_priv.0.cold", true, false },
	{ "put.llvm.4142434445", true, false },
	{ "put.cold.isra.0", true, false },
	{ "put.colder", true, false },
	{ "put.part.0", true, true },
	{ "put.part.0.cold", true, true },
	{ "put.part.0.isra.0", true, true },
	{ "put.unheard_of", true, false },
};

static void test_clone_names(void **state)
{
	unsigned int i;

	for (i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (kl_is_clone(symbols[i].symbol, "put") != symbols[i].clone ||
		    kl_is_part(symbols[i].symbol, "put") != symbols[i].part)
			fail_msg("%s", symbols[i].symbol);
}

/* Each kind of clone is found, among the kernel's symbols and among a module's. */
static void test_find_clones(void **state)
{
	struct kl_ksym syms[] = { { "get.isra.0", NULL, 1 }, { "put", NULL, 2 },
				  { NULL, NULL, 3 }, { "put", "mod", 4 }, { "puts", "mod", 5 } };
	const struct kl_kernel k = { .syms = syms, .nsyms = 5 };
	struct kl_func f = { .name = "put" };
	unsigned int i, module;

	for (i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		for (module = 0; module < 2; module++) {
			syms[2] = (struct kl_ksym){ symbols[i].symbol, module ? "mod" : NULL, 3 };
			f.module[0] = '\0';
			assert_ptr_equal(kl_clone_find(&k, &f, true),
					 symbols[i].clone && !module ? symbols[i].symbol : NULL);
			assert_ptr_equal(kl_clone_find(&k, &f, false),
					 symbols[i].clone && !module &&
					 !symbols[i].part ? symbols[i].symbol : NULL);
			strcpy(f.module, "mod");
			assert_ptr_equal(kl_clone_find(&k, &f, true),
					 symbols[i].clone && module ? symbols[i].symbol : NULL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clone_names),
		cmocka_unit_test(test_find_clones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
