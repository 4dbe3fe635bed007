// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/ending.h"
#include "base/err.h"
#include "klin/kernel.h"

enum { OPT_BTF = 1024, OPT_SYMBOLS }; /* above the keys of the commands */

static const struct argp_option options[] = {
	{ "btf", OPT_BTF, "FILE", 0,
	  "Look at the kernel with this BTF, raw or in an ELF file, instead of the running kernel.  "
	  "Then klin does not know which functions ftrace manages.  Needs no root",
	  0 },
	{ "symbols", OPT_SYMBOLS, "FILE", 0,
	  "With --btf: that kernel's /proc/kallsyms or System.map (default: the functions that "
	  "have BTF)",
	  0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct kernel_args *a = state->input;

	switch (key) {
	case OPT_BTF:
		a->btf = arg;
		break;
	case OPT_SYMBOLS:
		a->symbols = arg;
		break;
	case ARGP_KEY_END:
		if (a->symbols && !a->btf)
			argp_error(state, "--symbols requires --btf");
		kl_args_readable(state, "btf", a->btf);
		kl_args_readable(state, "symbols", a->symbols);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp kernel_argp = { .options = options, .parser = parse };

int kernel_open(const struct kernel_args *a, struct kl_kernel **k)
{
	const int err = a->btf ? kl_kernel_open_files(a->btf, a->symbols, k) :
				 kl_kernel_open(true, k);

	if (err == -ENOMEM)
		kl_err("out of memory");
	return kl_ending_error(err);
}

/* Refuse a name as bpftrace and perf have it.  Return: false if it is none. */
static bool foreign_name(const char *name, const char *colon)
{
	static const char *const kinds[] = { "kprobe", "kretprobe", "fentry",
					     "fexit",  "kfunc",	    "kretfunc" };
	const size_t len = colon ? colon - name : 0;
	size_t i;

	if (strchr(name, ',')) {
		kl_err("'%s': expected the name of one function, without a comma", name);
		return true;
	}
	if (len == strlen("tracepoint") && !strncmp(name, "tracepoint", len)) {
		kl_err("'%s': klin attaches to functions, not to tracepoints; name the function "
		       "that has the tracepoint",
		       name);
		return true;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (len != strlen(kinds[i]) || strncmp(name, kinds[i], len))
			continue;
		kl_err("'%s': klin chooses how to attach; name the function alone: %s", name,
		       colon + 1);
		return true;
	}
	return false;
}

void kernel_lacks(struct kl_kernel *k, const char *name, const char *spec)
{
	const char *colon = strchr(name, ':');
	char near[400] = "", module[256];

	if (foreign_name(name, colon))
		return;
	snprintf(module, sizeof(module), "/sys/module/%.*s", colon ? (int)(colon - name) : 0, name);
	if (colon && !k->offline && access(module, F_OK)) {
		kl_err("kernel %s has no module '%.*s': load it, or leave it out if the function "
		       "is in vmlinux; klin lists functions, and no tracepoints",
		       k->release, (int)(colon - name), name);
		return;
	}
	kl_func_suggest(k, colon ? colon + 1 : name, near, sizeof(near));
	kl_err("kernel %s has no function '%s': it was inlined everywhere, renamed, or not built "
	       "in%s%s%s%s%s%s",
	       k->release, name, *near || spec ? "; did you mean " : "", near,
	       *near && spec ? ", or " : "", spec ? "the specification " : "", spec ?: "",
	       *near || spec ? "?" : "");
}
