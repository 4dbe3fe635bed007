// SPDX-License-Identifier: GPL-2.0
/* The programs of func.bpf.c for clauses with long expressions. */
#define KLIN_STEPS KLIN_INSNS

#include "func.bpf.c"
