// SPDX-License-Identifier: GPL-2.0
/* The same programs for clauses with long expressions. */
#define KLIN_STEPS KLIN_INSNS

#include "func.bpf.c"
