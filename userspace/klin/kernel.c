// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "base/ending.h"
#include "base/err.h"
#include "klin/kernel.h"

int kernel_open(const char *btf, const char *symbols, struct kl_kernel **k)
{
	const int err = btf ? kl_kernel_open_files(btf, symbols, k) : kl_kernel_open(true, k);

	if (err == -ENOMEM)
		kl_err("out of memory");
	return kl_ending_error(err);
}

void kernel_lacks(struct kl_kernel *k, const char *name)
{
	const char *colon = strchr(name, ':');
	char near[400] = "";

	kl_func_suggest(k, colon ? colon + 1 : name, near, sizeof(near));
	kl_err("kernel %s has no function '%s': it was inlined everywhere, renamed, or not built "
	       "in%s%s%s",
	       k->release, name, *near ? "; did you mean " : "", near, *near ? "?" : "");
}
