/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the locations and types of variables from DWARF. */
#ifndef KL_DWARF_LOC_H
#define KL_DWARF_LOC_H

#include <elfutils/libdw.h>

#include "dwarf/debug.h"

/**
 * kl_loc_read() - read the location of a variable at an address
 * @var: DWARF entry of the variable
 * @func: DWARF entry of the function, for its frame base
 * @cfi: the file's unwinding information, or NULL
 * @pc: the address
 * @at_entry: @var is a parameter of an inlined function, and @pc the function's entry
 * @loc: gets the location
 */
void kl_loc_read(Dwarf_Die *var, Dwarf_Die *func, Dwarf_CFI *cfi, Dwarf_Addr pc, bool at_entry,
		 struct kl_loc *loc);

/* Read the type of a variable, also if only its abstract declaration has the type. */
void kl_dtype_read(Dwarf_Die *var, struct kl_dtype *t);

#endif
