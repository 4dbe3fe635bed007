// SPDX-License-Identifier: GPL-2.0
/* Finds the size of the kernel's stacks from its types. */
#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#include "record/attach/kernel.h"

unsigned int kl_kernel_stack_size(const struct kl_kernel *k)
{
	int id = k->btf ? btf__find_by_name_kind(k->btf, "task_struct", BTF_KIND_STRUCT) : -ENOENT;
	const struct btf_type *t = id > 0 ? btf__type_by_id(k->btf, id) : NULL;
	unsigned int i;

	/* CONFIG_KASAN doubles the stacks of x86-64, and gives each task a kasan_depth. */
	for (i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(k->btf, btf_members(t)[i].name_off), "kasan_depth"))
			return 32768;
	return 16384;
}
