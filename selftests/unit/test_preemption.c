// SPDX-License-Identifier: GPL-2.0
/* The kernel's preemption model, from files of several kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "record/attach/preemption.h"

#define DYNAMIC	"#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-1 (2026-10-01)"
#define RT	"#1 SMP PREEMPT_RT Debian 6.1.192-1 (2026-10-01)"
#define STATIC	"#1 SMP PREEMPT Mon Jan 1 00:00:00 UTC 2024"
#define NOT	"#1 SMP Mon Jan 1 00:00:00 UTC 2024"
#define CONFIG(name) "CONFIG_SMP=y\nCONFIG_PREEMPT_BUILD=y\nCONFIG_" name "=y\nCONFIG_X=y\n"

static const struct {
	struct kl_preemption_files f;
	enum kl_preemption p;
} cases[] = {
	/* debugfs shows the current model, whatever the boot options were. */
	{ { DYNAMIC, "none (voluntary) full \n", NULL, NULL }, KL_PREEMPT_VOLUNTARY },
	{ { DYNAMIC, "none voluntary (full) \n", "preempt=none", NULL }, KL_PREEMPT_FULL },
	{ { DYNAMIC, "(none) voluntary full \n", "preempt=full", NULL }, KL_PREEMPT_NONE },
	{ { DYNAMIC, "none voluntary full (lazy) \n", NULL, NULL }, KL_PREEMPT_LAZY },
	{ { DYNAMIC, "none (other) full \n", NULL, NULL }, KL_PREEMPT_UNKNOWN },
	{ { DYNAMIC, "nothing", NULL, NULL }, KL_PREEMPT_UNKNOWN },
	{ { NULL, "none (full)", NULL, NULL }, KL_PREEMPT_FULL },
	/*
	 * Otherwise the last boot option that the kernel knows decides, or else the configuration.
	 */
	{ { DYNAMIC, NULL, "quiet preempt=full\n", CONFIG("PREEMPT_NONE") }, KL_PREEMPT_FULL },
	{ { DYNAMIC, NULL, "preempt=full preempt=none x\n", NULL }, KL_PREEMPT_NONE },
	{ { DYNAMIC, NULL, "preempt=full preempt=fulll\n", NULL }, KL_PREEMPT_FULL },
	{ { DYNAMIC, NULL, "nopreempt=full\n", CONFIG("PREEMPT_NONE") }, KL_PREEMPT_NONE },
	{ { DYNAMIC, NULL, "quiet\n", CONFIG("PREEMPT_VOLUNTARY") }, KL_PREEMPT_VOLUNTARY },
	{ { DYNAMIC, NULL, "quiet\n", CONFIG("PREEMPT") }, KL_PREEMPT_FULL },
	{ { DYNAMIC, NULL, "quiet\n", CONFIG("PREEMPT_LAZY") }, KL_PREEMPT_LAZY },
	{ { DYNAMIC, NULL, "quiet\n", NULL }, KL_PREEMPT_UNKNOWN },
	{ { DYNAMIC, NULL, NULL, NULL }, KL_PREEMPT_UNKNOWN },
	/* A kernel with a fixed model ignores boot options. */
	{ { STATIC, NULL, "preempt=none", NULL }, KL_PREEMPT_FULL },
	{ { NOT, NULL, "preempt=full", NULL }, KL_PREEMPT_VOLUNTARY },
	{ { NOT, NULL, NULL, CONFIG("PREEMPT_NONE") }, KL_PREEMPT_NONE },
	{ { RT, NULL, NULL, NULL }, KL_PREEMPT_RT },
	{ { RT, "full (lazy)", NULL, NULL }, KL_PREEMPT_RT },
	{ { NULL, NULL, NULL, NULL }, KL_PREEMPT_UNKNOWN },
};

static void test_model_from_files(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (kl_preemption_of(&cases[i].f) != cases[i].p)
			fail_msg("case %u: %s, expected %s", i,
				 kl_preemption_name(kl_preemption_of(&cases[i].f)),
				 kl_preemption_name(cases[i].p));
}

/* An unknown model may be preemptible. */
static void test_unknown_may_be_preemptible(void **state)
{
	(void)state;
	assert_false(kl_preemptible(KL_PREEMPT_NONE));
	assert_false(kl_preemptible(KL_PREEMPT_VOLUNTARY));
	assert_true(kl_preemptible(KL_PREEMPT_LAZY));
	assert_true(kl_preemptible(KL_PREEMPT_FULL));
	assert_true(kl_preemptible(KL_PREEMPT_RT));
	assert_true(kl_preemptible(KL_PREEMPT_UNKNOWN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model_from_files),
		cmocka_unit_test(test_unknown_may_be_preemptible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
