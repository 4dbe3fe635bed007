/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of BTF that comes from a file. */
#ifndef KL_RECORD_ATTACH_BTF_CHECK_H
#define KL_RECORD_ATTACH_BTF_CHECK_H

struct btf;

/**
 * kl_btf_check() - check that libbpf can safely print the types
 * @btf: the BTF, as libbpf has read it
 *
 * Types must be aligned, refer to existing names and types only, and have declarations that end.
 *
 * Return: 0, -EINVAL if the BTF is damaged, or -ENOMEM.
 */
int kl_btf_check(const struct btf *btf);

#endif
