// SPDX-License-Identifier: GPL-2.0
/* The programs of func.bpf.c for two clauses on one function. */
#define KLIN_CLAUSES 2

#include "func.bpf.c"
