/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads debugging information (DWARF) of a kernel or a module: the places where a function was
 * inlined, and the locations of its parameters there.  Only files are read; no kernel must run.
 */
#ifndef KL_DWARF_DEBUG_H
#define KL_DWARF_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KL_LOC_STEPS	12	/* maximal number of steps of an expression */
#define KL_LOC_REGS	16	/* number of general registers of x86-64, as DWARF numbers them */
#define KL_SITE_PARAMS	16	/* number of parameters that are read; others are ignored */

/* A step of a computation on a stack, as in a DWARF expression. */
enum kl_loc_op {
	KL_L_CONST,	/* push num */
	KL_L_REG,	/* push the value of register num */
	KL_L_ADDR,	/* push the address in the running kernel of the file's address num */
	KL_L_DEREF,	/* pop an address, push the num bytes there */
	KL_L_ADD, KL_L_SUB, KL_L_MUL, KL_L_AND, KL_L_OR, KL_L_XOR,
	KL_L_SHL, KL_L_SHR, KL_L_SAR,
	KL_L_NEG, KL_L_NOT,
};

enum kl_loc_kind {
	KL_LOC_NONE,	/* the value cannot be read */
	KL_LOC_VALUE,	/* the steps compute the value */
	KL_LOC_MEMORY,	/* the steps compute the value's address */
};

/**
 * struct kl_loc - the location of a variable's value while a CPU is at one address
 * @kind: meaning of the steps' result
 * @n: number of steps
 * @op: the steps, values of enum kl_loc_op
 * @num: operands of the steps
 * @why: the reason for KL_LOC_NONE, in a few words
 */
struct kl_loc {
	enum kl_loc_kind kind;
	unsigned int n;
	uint8_t op[KL_LOC_STEPS];
	uint64_t num[KL_LOC_STEPS];
	const char *why;
};

/**
 * struct kl_dtype - a C type without qualifiers: a name, and the pointers after it
 * @kind: "struct", "union", "enum" or ""
 * @name: name of the type; if the type has none, "void" behind a pointer, else ""
 * @ptr: number of '*'
 * @size: bytes, 0 if unknown
 * @is_signed: the type is a signed integer
 */
struct kl_dtype {
	const char *kind, *name;
	unsigned int ptr;
	uint64_t size;
	bool is_signed;
};

/* A parameter at the entry of a function. */
struct kl_var {
	const char *name;	/* "" if the parameter has none */
	struct kl_dtype type;
	struct kl_loc loc;
};

struct kl_range {
	uint64_t from, to;	/* [from, to) */
};

/* Return: true if one of the ranges has the address. */
bool kl_ranges_have(const struct kl_range *r, size_t n, uint64_t addr);

/**
 * struct kl_site - an instance of a function, inlined or not
 * @inlined: the instance was inlined; false for the function itself, which can be called
 * @in: the function that the instance is inlined into, by its name in the source
 * @via: the function into which the instance was inlined directly, if this is not @in; else NULL
 * @symbol: the symbol of the instance's code, or NULL
 * @owner: the symbol of the function around the instance, or NULL; @symbol may be a part that was
 *	moved out of this function (GCC's .cold)
 * @offset: bytes from @symbol to the entry
 * @entry: address of the entry in the file
 * @ranges: addresses of the instance's code in the file
 * @nranges: number of ranges
 * @file: source file of the call, or NULL
 * @line: line of the call, or 0
 * @decl_file: source file of the function's declaration, or NULL
 * @decl_line: line of the declaration
 * @declared_inline: the function is declared inline
 * @may_jump_out: the instance may jump out of the function around it (a tail call), or this is
 *	unknown
 * @init: the kernel frees the code after it has booted or loaded the module
 * @params: the function's parameters at the entry
 * @nparams: number of parameters
 * @why: the reason why operations cannot be recorded reliably here, as a part of a sentence;
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
	bool declared_inline, init, may_jump_out;
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
 * @path: vmlinux, a module, or a file with debugging information split off from one of these
 * @out: gets the file
 * @what: gets the reason for a failure
 *
 * Return: 0, or a negative errno with @what set: -EINVAL if the file is wrong.
 */
int kl_debug_try(const char *path, struct kl_debug **out, const char **what);
/* As kl_debug_try(), but prints a message with the reason. */
int kl_debug_open(const char *path, struct kl_debug **out);
void kl_debug_close(struct kl_debug *d);

/*
 * Return: true if the file is linked.  All its addresses then differ from those of the running
 * kernel by the same distance.
 */
bool kl_debug_linked(const struct kl_debug *d);

/*
 * Find the section of an address in a file that is not linked.  Return: the section's name, or
 * NULL if there is none.  @offset gets the address's offset in the section.
 */
const char *kl_debug_section(const struct kl_debug *d, uint64_t addr, uint64_t *offset);

/* Get the file's build ID.  Return: its number of bytes, 0 if the file has none. */
size_t kl_debug_build_id(const struct kl_debug *d, const unsigned char **id);

/* Return: progress of kl_debug_sites(), from 0 to 1000.  Any thread may call this function. */
unsigned int kl_debug_progress(const struct kl_debug *d);

/**
 * kl_debug_sites() - find the instances of a function
 * @d: the file
 * @function: name of the function
 * @in: find only instances that are inlined into this function, at any depth; NULL: all instances
 * @sites: the instances are added here; to be freed by kl_sites_free()
 *
 * Return: 0, -ENOMEM, or -EINVAL after a message for a file that is damaged.
 */
int kl_debug_sites(struct kl_debug *d, const char *function, const char *in,
		   struct kl_sites *sites);
void kl_sites_free(struct kl_sites *sites);

/*
 * Return: the file's function with this name; else that whose name was probably meant, see
 * kl_nearest(); or NULL.  The name is valid until the file is closed.
 */
const char *kl_debug_nearest(struct kl_debug *d, const char *name);

/* Print a location: "rdi", "memory at rsp+0x10", "constant 5", or the reason for KL_LOC_NONE. */
const char *kl_loc_text(const struct kl_loc *loc, char *buf, size_t size);
/* Print a type in C. */
const char *kl_dtype_text(const struct kl_dtype *t, char *buf, size_t size);

#endif
