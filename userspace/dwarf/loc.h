/* SPDX-License-Identifier: GPL-2.0 */
/* Locations and types of variables, read from DWARF. */
#ifndef KL_DWARF_LOC_H
#define KL_DWARF_LOC_H

#include <elfutils/libdw.h>

#include "dwarf/debug.h"

/**
 * kl_loc_read() - how a variable is had at an address
 * @var: its entry, with the location
 * @func: the function's entry, for its frame
 * @cfi: the file's unwinding information, NULL if there is none
 * @pc: the address
 * @at_entry: it is an inlined function's parameter, and @pc its entry
 * @loc: filled
 */
void kl_loc_read(Dwarf_Die *var, Dwarf_Die *func, Dwarf_CFI *cfi, Dwarf_Addr pc, bool at_entry,
		 struct kl_loc *loc);

/* The type of a variable, whose declaration may be elsewhere. */
void kl_dtype_read(Dwarf_Die *var, struct kl_dtype *t);

#endif
