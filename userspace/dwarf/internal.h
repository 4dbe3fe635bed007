/* SPDX-License-Identifier: GPL-2.0 */
/* The internal structures and functions of dwarf/. */
#ifndef KL_DWARF_INTERNAL_H
#define KL_DWARF_INTERNAL_H

#include <elfutils/libdwfl.h>
#include <errno.h>

#include "dwarf/debug.h"

/*
 * Either a relocation in a module's code: @at is the address of the relocated bytes, and @to the
 * target, or 0 if the target is not in the file.  Or a static key: the kernel may patch the
 * instruction at @at to a jump to @to.
 */
struct kl_reloc {
	uint64_t at, to;
};

struct kl_debug {
	char *path;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	Dwarf *dwarf;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;
	volatile unsigned int progress;	/* of kl_debug_sites(), from 0 to 1000 */
	struct kl_reloc *relocs;	/* relocations of code, sorted by address */
	size_t nrelocs, crelocs;
	struct kl_reloc *keys;		/* static keys, sorted by address */
	size_t nkeys, ckeys;
	bool relocated;			/* relocations and static keys were read */
};

/*
 * An instruction of a function.  @flow is an enum kl_flow, and @to the target of a jump, 0 if
 * unknown.  @key: the kernel may patch the instruction to a jump, and allows no kprobe there.
 */
struct kl_step {
	uint64_t at, to;
	uint8_t len, flow;
	bool nop, key;
};

/* The instructions of a function. */
struct kl_code {
	struct kl_step *step;	/* sorted by address */
	size_t n, cap;
};

/**
 * kl_code_read() - decode a function
 * @d: the file
 * @func: DWARF entry of the function
 * @code: gets the instructions; to be freed with free(code->step)
 *
 * Return: 0, -EINVAL if an instruction cannot be decoded, -ENODATA if the file has no code, or
 * -ENOMEM.
 */
int kl_code_read(struct kl_debug *d, Dwarf_Die *func, struct kl_code *code);
/* Return: the instruction that begins at an address, or NULL. */
const struct kl_step *kl_code_at(const struct kl_code *code, uint64_t at);

/**
 * kl_site_check() - check that each execution of an instance hits its entry exactly once
 * @d: the file
 * @chain: entries of a function, of the instance inlined into it, and so on up to the site
 * @n: number of entries
 * @site: the site, with ranges and entry; why and may_jump_out are set
 *
 * Return: 0 or -ENOMEM.
 */
int kl_site_check(struct kl_debug *d, Dwarf_Die *chain, unsigned int n, struct kl_site *site);

/*
 * Check for lack of memory.  Without memory, libdw and libelf report that an object does not
 * exist, and libdw crashes on a unit that it read only in part.  But a failed malloc() sets errno.
 * So a reader of a file clears errno first, and calls this function before it treats an object
 * as missing and before it uses a unit.
 *
 * Return: 0, or -ENOMEM if memory was lacking since errno was cleared.
 */
static inline int kl_debug_nomem(void)
{
	return errno == ENOMEM ? -ENOMEM : 0;
}

/*
 * Get the address ranges of the code of a function, inlined or not.  The caller frees @ranges.
 * Return: 0 or -ENOMEM.
 */
int kl_die_ranges(Dwarf_Die *die, struct kl_range **ranges, size_t *n);

#endif
