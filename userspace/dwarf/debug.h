/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What debugging information (DWARF) says of a kernel or a module: where functions were
 * inlined, and where their parameters are there.  Nothing here needs a kernel.
 */
#ifndef KL_DWARF_DEBUG_H
#define KL_DWARF_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KL_LOC_STEPS	12	/* of an expression that computes a value */
#define KL_LOC_REGS	16	/* x86-64's general registers, by their numbers in DWARF */
#define KL_SITE_PARAMS	16	/* of an inlined function; more are not looked at */

/* A step of a computation on a stack, as DWARF has it. */
enum kl_loc_op {
	KL_L_CONST,	/* push num */
	KL_L_REG,	/* push register num, as it is at the place */
	KL_L_ADDR,	/* push the address num of the file, as the running kernel has it */
	KL_L_DEREF,	/* the num bytes at the address on top */
	KL_L_ADD, KL_L_SUB, KL_L_MUL, KL_L_AND, KL_L_OR, KL_L_XOR,
	KL_L_SHL, KL_L_SHR, KL_L_SAR,
	KL_L_NEG, KL_L_NOT,
};

enum kl_loc_kind {
	KL_LOC_NONE,	/* it cannot be had */
	KL_LOC_VALUE,	/* the steps compute it */
	KL_LOC_MEMORY,	/* the steps compute its address */
};

/**
 * struct kl_loc - how a variable's value is had at one address
 * @kind: whether, and how
 * @n: how many steps
 * @op: the steps
 * @num: their numbers
 * @why: of KL_LOC_NONE: a few words
 */
struct kl_loc {
	enum kl_loc_kind kind;
	unsigned int n;
	uint8_t op[KL_LOC_STEPS];
	uint64_t num[KL_LOC_STEPS];
	const char *why;
};

/**
 * struct kl_dtype - a C type, as far as a name says it
 * @kind: "struct", "union", "enum" or ""
 * @name: its name; "void" for what has none behind a pointer, else ""
 * @ptr: number of '*'
 * @size: bytes, 0 if not known
 * @is_signed: of integers
 */
struct kl_dtype {
	const char *kind, *name;
	unsigned int ptr;
	uint64_t size;
	bool is_signed;
};

struct kl_var {
	const char *name;	/* "" if it has none */
	struct kl_dtype type;
	struct kl_loc loc;
};

struct kl_range {
	uint64_t from, to;	/* [from, to) */
};

bool kl_ranges_have(const struct kl_range *r, size_t n, uint64_t addr);

/**
 * struct kl_site - a place where a function is, inlined or not
 * @inlined: false: the function itself, as it can be called
 * @in: the function it is inlined into, by its name in the source
 * @via: what it was inlined into at first, and that into @in; NULL if that is @in
 * @symbol: the symbol that the code is in, NULL if there is none
 * @offset: of the entry, from @symbol
 * @owner: the symbol of the function it is in, of which @symbol may be a part that was
 *	moved away (GCC's .cold); NULL if there is none
 * @entry: its address in the file
 * @ranges: its code
 * @nranges: how many
 * @file: where it is called in the source; NULL if not known
 * @line: and 0 then
 * @decl_file: where the function is declared; NULL if not known
 * @decl_line: and its line
 * @declared_inline: as inline
 * @leaves: it may jump out of the function around it (a tail call), or that is not known
 * @init: its code is gone when the kernel has booted, or the module is loaded
 * @params: its parameters at the entry
 * @nparams: how many
 * @why: a sentence part that says why operations cannot be recorded there for certain;
 *	empty if they can
 */
struct kl_site {
	bool inlined;
	const char *in, *via;
	const char *symbol, *owner;
	uint64_t offset, entry;
	struct kl_range *ranges;
	size_t nranges;
	const char *file, *decl_file;
	unsigned int line, decl_line;
	bool declared_inline, init, leaves;
	struct kl_var params[KL_SITE_PARAMS];
	unsigned int nparams;
	char why[160];
};

struct kl_sites {
	struct kl_site *site;
	size_t n, cap;
};

struct kl_debug;

/**
 * kl_debug_try() - open a file with debugging information
 * @path: vmlinux, a module, or the part that was split off from it
 * @out: the file
 * @what: what is wrong with it
 *
 * Return: 0, -EINVAL or -ENOMEM with @what set.
 */
int kl_debug_try(const char *path, struct kl_debug **out, const char **what);
/* The same with a message in place of @what. */
int kl_debug_open(const char *path, struct kl_debug **out);
void kl_debug_close(struct kl_debug *d);

/* Is it linked, so that its addresses are those of the kernel but for one distance? */
bool kl_debug_linked(const struct kl_debug *d);

/*
 * The section of a file that is not linked that an address of it is in, and how far behind
 * its beginning; NULL if it is in none.
 */
const char *kl_debug_section(const struct kl_debug *d, uint64_t addr, uint64_t *offset);

/* The file's build ID, which the running code has, too; 0 bytes if there is none. */
size_t kl_debug_build_id(const struct kl_debug *d, const unsigned char **id);

/* How far kl_debug_sites() has come, of 1000; may be read by another thread. */
unsigned int kl_debug_progress(const struct kl_debug *d);

/**
 * kl_debug_sites() - find where a function is
 * @d: the file
 * @function: its name
 * @in: only what is inlined into this one, at any depth; NULL: all
 * @sites: added to; freed by kl_sites_free()
 *
 * Return: 0, -ENOMEM, or -EINVAL after a message for a file that is damaged.
 */
int kl_debug_sites(struct kl_debug *d, const char *function, const char *in,
		   struct kl_sites *sites);
void kl_sites_free(struct kl_sites *sites);

/* The location as people read it: "rdi", "memory at rsp+0x10", "constant 5", or why not. */
const char *kl_loc_text(const struct kl_loc *loc, char *buf, size_t size);
/* The type as C has it. */
const char *kl_dtype_text(const struct kl_dtype *t, char *buf, size_t size);

#endif
