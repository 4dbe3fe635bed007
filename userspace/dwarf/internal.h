/* SPDX-License-Identifier: GPL-2.0 */
/* A debug file from within. */
#ifndef KL_DWARF_INTERNAL_H
#define KL_DWARF_INTERNAL_H

#include <elfutils/libdwfl.h>
#include <errno.h>

#include "dwarf/debug.h"

/*
 * Where a relocation of a module's code leads to; 0: out of the file.  Or where a static
 * key makes of an instruction a jump to (the kernel's jump table).
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
	Dwarf_Off size;			/* of .debug_info */
	volatile unsigned int progress;
	struct kl_reloc *relocs;	/* by address */
	size_t nrelocs, crelocs;
	struct kl_reloc *keys;		/* by address */
	size_t nkeys, ckeys;
	bool relocated;			/* they were read */
};

/*
 * An instruction of a function; @to: where it may jump to, 0: nowhere that is known;
 * @key: the kernel makes a jump of it, and allows no kprobe there.
 */
struct kl_step {
	uint64_t at, to;
	uint8_t len, flow;
	bool nop, key;
};

struct kl_code {
	struct kl_step *step;	/* by address */
	size_t n, cap;
};

/**
 * kl_code_read() - decode a function
 * @d: the file
 * @func: its entry
 * @code: the instructions; to be freed with free(code->step)
 *
 * Return: 0, -EINVAL if it cannot be decoded, -ENODATA if the file has no code, -ENOMEM.
 */
int kl_code_read(struct kl_debug *d, Dwarf_Die *func, struct kl_code *code);
/* The instruction at an address, NULL if none begins there. */
const struct kl_step *kl_code_at(const struct kl_code *code, uint64_t at);

/**
 * kl_site_check() - can an operation be told for certain where it begins?
 * @d: the file
 * @chain: the function; what is inlined into it, and so on; the site at the end
 * @n: how many
 * @site: its ranges and entry are set; why is filled
 *
 * Return: 0 or -ENOMEM.
 */
int kl_site_check(struct kl_debug *d, Dwarf_Die *chain, unsigned int n, struct kl_site *site);

/*
 * Was there no memory since errno was cleared?  libdw and libelf say "it is not there" then, and
 * a unit of which libdw has only a part crashes it; but malloc() leaves errno set.  So who reads
 * a file clears errno, and asks before something counts as not there and before a unit is used.
 *
 * Return: 0 or -ENOMEM.
 */
static inline int kl_debug_starved(void)
{
	return errno == ENOMEM ? -ENOMEM : 0;
}

/* The ranges of a function, inlined or not; 0 or -ENOMEM. */
int kl_die_ranges(Dwarf_Die *die, struct kl_range **ranges, size_t *n);

#endif
