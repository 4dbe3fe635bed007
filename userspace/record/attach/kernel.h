/* SPDX-License-Identifier: GPL-2.0 */
/* The data about a kernel that probes need: its functions, their types, and its limits. */
#ifndef KL_RECORD_ATTACH_KERNEL_H
#define KL_RECORD_ATTACH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "record/attach/preemption.h"

struct btf;
struct btf_type;

/* A function that ftrace manages, from available_filter_functions. */
struct kl_traceable {
	const char *name, *module;	/* module: NULL for the kernel itself */
};

/* A symbol of the kernel, from /proc/kallsyms. */
struct kl_ksym {
	const char *name, *module;	/* module: NULL for the kernel itself */
	uint64_t addr;			/* 0 if hidden */
};

/**
 * kl_ksym_next() - read the next symbol of code or data from the text of /proc/kallsyms
 * @text: the text, whose lines are "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME\t[MODULE]"; it is
 *	changed, and moves behind the line
 * @s: gets the symbol, whose names lie in the text; the module of BPF's code is "bpf"
 * @code: gets true for a symbol of code
 *
 * Return: false at the end.
 */
bool kl_ksym_next(char **text, struct kl_ksym *s, bool *code);
/* Compare two struct kl_ksym by address, for qsort(). */
int kl_ksym_compare(const void *a, const void *b);

/* A module's BTF. */
struct kl_modbtf {
	char *name;
	struct btf *btf;	/* NULL if the module has none */
};

/* The data of a kernel: the running one, or a kernel whose files are given. */
struct kl_kernel {
	char release[65];
	const char *tracefs;		/* mount point, or NULL */
	/* the data come from files; it is unknown which functions ftrace manages */
	bool offline;
	enum kl_preemption preemption;	/* preemption model when the kernel was opened */
	struct btf *btf;		/* vmlinux's BTF, NULL without CONFIG_DEBUG_INFO_BTF */
	struct kl_modbtf *mods;
	size_t nmods, cmods;
	char *symtext, *text;		/* text of kallsyms, of available_filter_functions */
	struct kl_ksym *syms;
	size_t nsyms, csyms;
	/* symbols of data, by address once kl_kernel_variable() was called */
	struct kl_ksym *vars;
	size_t nvars, cvars;
	bool sorted;
	struct kl_traceable *traceable;
	size_t ntraceable, ctraceable;
	struct kl_files debug;		/* debug files to search before the usual ones */
	struct kl_places *places;	/* private to place.c */
};

/**
 * kl_kernel_open() - read data of the running kernel
 * @functions: read its functions, too, which takes long; klin.ko's tracepoints need none
 * @out: gets the kernel, to be closed
 *
 * Missing data (no BTF, no tracefs) are left NULL or empty.  Callers that need them report it.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_kernel_open(bool functions, struct kl_kernel **out);

/**
 * kl_kernel_open_files() - read data of a kernel from files
 * @btf: path of raw BTF, or of an ELF file with BTF: vmlinux, or a copy of
 *	/sys/kernel/btf/vmlinux
 * @symbols: path of a System.map or a copy of /proc/kallsyms; NULL: use the functions in the BTF
 * @out: gets the kernel, to be closed; all functions count as managed by ftrace
 *
 * Return: 0; -ENOMEM without a message; -EINVAL after a message about wrong files; or another
 * negative errno of the system after a message.
 */
int kl_kernel_open_files(const char *btf, const char *symbols, struct kl_kernel **out);
void kl_kernel_close(struct kl_kernel *k);

/* Return: true if the list of functions that ftrace manages could not be read. */
static inline bool kl_kernel_ftrace_unknown(const struct kl_kernel *k)
{
	return !k->offline && !k->ntraceable;
}

/* Return: true if this is the running kernel, and it may preempt fentry programs. */
static inline bool kl_kernel_preemptible(const struct kl_kernel *k)
{
	return !k->offline && kl_preemptible(k->preemption);
}

/* Return: the name of the variable at an address, or NULL if there is none or it is not known. */
const char *kl_kernel_variable(struct kl_kernel *k, uint64_t addr);

/* Return: the address of the variable with this name, or 0 if it is not known. */
uint64_t kl_kernel_address(const struct kl_kernel *k, const char *name);

/* Return: the BTF of @module (NULL: the kernel itself), or NULL if there is none. */
struct btf *kl_kernel_btf(struct kl_kernel *k, const char *module);
/* Load the BTF of all loaded modules into @k->mods. */
void kl_kernel_all_btf(struct kl_kernel *k);

/**
 * struct kl_func - a function of a kernel
 * @name: its name
 * @module: name of its module, empty for the kernel itself
 * @addr: its address; 0 if the address is hidden, or the kernel has no such symbol
 * @btf: the BTF that has its type, or NULL
 * @proto: its FUNC_PROTO in @btf, or NULL; @proto_id is its number there
 * @traceable: ftrace manages the function, so that fentry can be used
 * @ftrace_unknown: tracefs was not readable, so that @traceable is not known
 * @preemptible: the kernel may preempt fentry programs, and meanwhile skips them for other tasks
 * @blacklisted: kprobes refuse the function
 * @copies: number of symbols of this name
 * @types_differ: @btf has several prototypes of this name, and does not show which one is right
 */
struct kl_func {
	const char *name;
	char module[64];
	uint64_t addr;
	const struct btf *btf;
	const struct btf_type *proto;
	uint32_t proto_id;
	bool traceable;
	bool ftrace_unknown;
	bool preemptible;
	bool blacklisted;
	unsigned int copies;
	bool types_differ;
};

/**
 * kl_func_find() - look up a function
 * @k: the kernel
 * @name: name of the function
 * @module: name of its module; NULL: the kernel itself or, if it has no such function, any module
 * @out: gets the function
 *
 * Return: 0, or -ENOENT if there is no symbol of this name.
 */
int kl_func_find(struct kl_kernel *k, const char *name, const char *module, struct kl_func *out);

/*
 * The ways of attaching to a function.  KL_WAY_MODULE means kprobes of klin.ko.  They are used on
 * functions that the kernel's tracers must not touch (lib/), and where fentry would miss calls.
 */
enum kl_way { KL_WAY_FENTRY, KL_WAY_KPROBE, KL_WAY_MODULE, KL_WAY_NONE };

/**
 * kl_func_way() - choose the way of attaching to a function
 * @f: the function
 * @why: gets the reason why no better way is possible, as a part of a sentence, or ""
 * @size: bytes at @why
 *
 * Return: the best way, or KL_WAY_NONE.
 */
enum kl_way kl_func_way(const struct kl_func *f, char *why, size_t size);

/* Return: bytes of a task's kernel stack. */
unsigned int kl_kernel_stack_size(const struct kl_kernel *k);

/* Return: true if klin.ko is loaded and its probes may be used. */
bool kl_module_probes(void);

/* List up to three functions with similar names, as "a, b or c"; empty if there are none. */
void kl_func_suggest(struct kl_kernel *k, const char *name, char *buf, size_t size);

/* Return: the kernel's lockdown: "none", "integrity" or "confidentiality". */
const char *kl_lockdown(void);

/* Return: the edit distance of two names, or @max + 1 if it is larger than @max. */
unsigned int kl_name_distance(const char *a, const char *b, unsigned int max);
/* Return: the largest edit distance from @name that counts as a typing error. */
unsigned int kl_name_slack(const char *name);

#endif
