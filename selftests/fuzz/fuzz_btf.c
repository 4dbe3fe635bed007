// SPDX-License-Identifier: GPL-2.0
/*
 * Types of a kernel that is not running, as `klin list --btf=' reads them.  The symbols of
 * that kernel, as in /proc/kallsyms, and a line "%%" may precede the types.
 */
#include <stdlib.h>
#include <string.h>

#include "record/attach/list.h"
#include "selftests/fuzz/fuzz.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	const uint8_t *types = data;
	size_t left = size, n, i;
	struct kl_kernel *k = NULL;
	const char *symbols = NULL;
	struct kl_func *f;
	char why[600], *text;

	text = fuzz_part(&types, &left);
	if (types != data + size)
		symbols = fuzz_file(text, strlen(text));
	else
		types = data;
	if (kl_kernel_open_files(fuzz_file(types, data + size - types), symbols, &k))
		k = NULL;
	free(text);
	if (!k)
		return;
	if (!kl_func_list(k, "*", &f, &n)) {
		for (i = 0; i < n && i < 100; i++)
			kl_func_way(&f[i], why, sizeof(why));
		free(f);
	}
	kl_kernel_close(k);
}
