/* SPDX-License-Identifier: GPL-2.0 */
/* BTF that comes from a file. */
#ifndef KL_PROBE_BTF_CHECK_H
#define KL_PROBE_BTF_CHECK_H

#include <stdbool.h>

struct btf;

/**
 * kl_btf_check() - are types aligned, and do all names and types that they refer to exist?
 * @btf: as libbpf has read it
 *
 * Return: true if so, and no typedef or qualifier leads to itself.
 */
bool kl_btf_check(const struct btf *btf);

#endif
