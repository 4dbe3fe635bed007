// SPDX-License-Identifier: GPL-2.0
/* Types of a kernel that is not running, as `klin list --btf=' reads them. */
#include <stdlib.h>

#include "probe/list.h"
#include "selftests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kl_func *f;
	struct kl_kernel *k;
	char why[200];
	size_t n, i;

	fuzz_silence();
	if (kl_kernel_open_files(fuzz_file(data, size), NULL, &k))
		return 0;
	if (!kl_func_list(k, "*", &f, &n)) {
		for (i = 0; i < n && i < 100; i++)
			kl_func_way(&f[i], why, sizeof(why));
		free(f);
	}
	kl_kernel_close(k);
	return 0;
}
