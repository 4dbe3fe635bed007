/* SPDX-License-Identifier: GPL-2.0 */
/* Small random implementations of a register, as text and for the naive machine. */
#ifndef SELFTESTS_RANDOM_IMPL_H
#define SELFTESTS_RANDOM_IMPL_H

#include "naive.h"

#define RANDOM_IMPL_TEXT	4096

void random_impl(uint64_t *seed, struct n_program *p, char text[RANDOM_IMPL_TEXT]);

#endif
