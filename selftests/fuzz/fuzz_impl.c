// SPDX-License-Identifier: GPL-2.0
/* Implementations: those that compile are explored, with a megabyte of memory. */
#include "selftests/fuzz/fuzz.h"
#include "spec/spec.h"
#include "tso/explore/explore.h"

static void step(void *ctx, const struct kl_explore_step *s)
{
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct kl_explore_options o = { .memory = 1u << 20 };
	enum kl_explore_verdict verdict;
	struct kl_explorer *x = NULL;
	struct kl_spec *s = NULL;

	if (kl_spec_parse("fuzz", (const char *)data, size, &s))
		return;
	if (kl_explore_can(s)) {
		if (!kl_explore(s, &o, &verdict, &x) && verdict != KL_EX_OK)
			kl_explore_message(x);
		if (x && verdict != KL_EX_OK && !kl_explore_unknown(verdict))
			kl_explore_run(x, step, NULL);
		kl_explorer_free(x);
	}
	kl_spec_free(s);
}
