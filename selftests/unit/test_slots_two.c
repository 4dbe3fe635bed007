// SPDX-License-Identifier: GPL-2.0
/* The same for the programs of two clauses on one function. */
#define CLAUSES 2

#include "test_slots.c"
