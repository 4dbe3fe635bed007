// SPDX-License-Identifier: GPL-2.0
/* test_slots.c with the programs of two clauses on one function. */
#define CLAUSES 2

#include "test_slots.c"
