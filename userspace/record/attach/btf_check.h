/* SPDX-License-Identifier: GPL-2.0 */
/* BTF that comes from a file. */
#ifndef KL_RECORD_ATTACH_BTF_CHECK_H
#define KL_RECORD_ATTACH_BTF_CHECK_H

struct btf;

/**
 * kl_btf_check() - may libbpf print the types?
 * @btf: as libbpf has read it
 *
 * Types must be aligned, the names and types that they refer to exist, and each declaration
 * end.
 *
 * Return: 0, -EINVAL if not, or -ENOMEM.
 */
int kl_btf_check(const struct btf *btf);

#endif
