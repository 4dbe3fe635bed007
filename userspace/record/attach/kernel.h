/* SPDX-License-Identifier: GPL-2.0 */
/* What the running kernel offers to a probe: its functions, their types, its limits. */
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

/* A symbol of the kernel's text, from /proc/kallsyms. */
struct kl_ksym {
	const char *name, *module;	/* module: NULL for the kernel itself */
	uint64_t addr;			/* 0 when hidden */
};

struct kl_modbtf {
	char *name;
	struct btf *btf;	/* NULL: it has none */
};

struct kl_kernel {
	char release[65];
	const char *tracefs;		/* mount point, NULL if there is none */
	bool offline;			/* not the running one: what ftrace manages is not known */
	enum kl_preemption preemption;	/* when it was opened */
	struct btf *btf;		/* of vmlinux, NULL without CONFIG_DEBUG_INFO_BTF */
	struct kl_modbtf *mods;
	size_t nmods, cmods;
	char *symtext, *text;		/* kallsyms, available_filter_functions */
	struct kl_ksym *syms;
	size_t nsyms, csyms;
	struct kl_traceable *traceable;
	size_t ntraceable, ctraceable;
	struct kl_files debug;		/* with debugging information, before the usual ones */
	struct kl_places *places;	/* place.c */
};

/**
 * kl_kernel_open() - learn about the running kernel
 * @functions: also about its functions, which the kernel takes long to list; klin.ko's own
 *	tracepoints need none
 * @out: what was learned
 *
 * What is missing (no BTF, no tracefs) is left NULL or empty; who needs it says so.
 *
 * Return: 0 or -ENOMEM.
 */
int kl_kernel_open(bool functions, struct kl_kernel **out);

/**
 * kl_kernel_open_files() - learn about a kernel from its files
 * @btf: raw BTF, or an ELF file with it: vmlinux, or /sys/kernel/btf/vmlinux of that kernel
 * @symbols: its System.map or a copy of /proc/kallsyms; NULL: the functions that have BTF
 * @out: what was learned; what ftrace manages is not
 *
 * Return: 0; -ENOMEM without a message; after one -EINVAL, or another negative errno for which
 * the system is to blame.
 */
int kl_kernel_open_files(const char *btf, const char *symbols, struct kl_kernel **out);
void kl_kernel_close(struct kl_kernel *k);

/* Could what ftrace manages not be read? */
static inline bool kl_kernel_untold(const struct kl_kernel *k)
{
	return !k->offline && !k->ntraceable;
}

/* Is it the running one, and may it preempt fentry programs? */
static inline bool kl_kernel_preemptible(const struct kl_kernel *k)
{
	return !k->offline && kl_preemptible(k->preemption);
}

/* The BTF of a module (NULL: the kernel's own), NULL if there is none. */
struct btf *kl_kernel_btf(struct kl_kernel *k, const char *module);
/* Have the BTF of all loaded modules in @k->mods. */
void kl_kernel_all_btf(struct kl_kernel *k);

/**
 * struct kl_func - a function of the running kernel
 * @name: its name
 * @module: whose, NULL for the kernel itself
 * @addr: its address, 0 when hidden or when there is no such symbol
 * @btf: where its type is, NULL if nowhere
 * @proto: its FUNC_PROTO there
 * @traceable: ftrace manages it, so that fentry can be used
 * @untold: whether it does is not known: tracefs was not readable
 * @preemptible: the kernel may preempt fentry programs, and drops what hits them meanwhile
 * @blacklisted: kprobes refuse it
 * @copies: symbols of that name
 * @types: prototypes of that name in the BTF; of several it is not known which is its own
 */
struct kl_func {
	const char *name;
	char module[64];
	uint64_t addr;
	const struct btf *btf;
	const struct btf_type *proto;
	bool traceable;
	bool untold;
	bool preemptible;
	bool blacklisted;
	unsigned int copies;
	unsigned int types;
};

/**
 * kl_func_find() - look a function up
 * @k: the kernel
 * @name: its name
 * @module: whose it must be, NULL: the kernel's, else any module's
 * @out: what is known about it
 *
 * Return: 0, or -ENOENT when the kernel has no symbol of that name.
 */
int kl_func_find(struct kl_kernel *k, const char *name, const char *module, struct kl_func *out);

/*
 * How a function can be attached, best first.  KL_WAY_MODULE: by klin.ko's kprobes, where
 * the kernel's tracers may not attach (lib/), and in place of fentry where that loses calls.
 */
enum kl_way { KL_WAY_FENTRY, KL_WAY_KPROBE, KL_WAY_MODULE, KL_WAY_NONE };

/**
 * kl_func_way() - how to attach to a function
 * @f: the function
 * @why: a sentence part about what is in the way of a better way, if anything is
 * @size: room there
 */
enum kl_way kl_func_way(const struct kl_func *f, char *why, size_t size);

/* Bytes of a task's stack in the kernel. */
unsigned int kl_kernel_stack_size(const struct kl_kernel *k);

/* Is klin.ko there, with its probes? */
bool kl_module_probes(void);

/* Up to three functions with a name like that, as "a, b or c"; empty if none is near. */
void kl_func_suggest(struct kl_kernel *k, const char *name, char *buf, size_t size);

/* "none", "integrity" or "confidentiality". */
const char *kl_lockdown(void);

/* The edit distance of two names, at most @max + 1. */
unsigned int kl_name_distance(const char *a, const char *b, unsigned int max);
/* The largest distance that still is a typing error. */
unsigned int kl_name_slack(const char *name);

#endif
