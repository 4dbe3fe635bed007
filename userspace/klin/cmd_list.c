// SPDX-License-Identifier: GPL-2.0
/* klin list: list the functions that probes can attach to, and why others cannot be probed. */
#include <argp.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/err.h"
#include "base/file.h"
#include "base/path.h"
#include "base/shipped.h"
#include "klin/cmd.h"
#include "klin/kernel.h"
#include "record/attach/coverage.h"
#include "record/attach/list.h"
#include "record/attach/module.h"
#include "record/attach/prototypes.h"
#include "record/attach/target.h"
#include "spec/probe/probe.h"
#include "spec/spec.h"

static const char *const ways[] = {
	[KL_WAY_FENTRY] = "fentry", [KL_WAY_KPROBE] = "kprobe",
	[KL_WAY_MODULE] = "klin.ko", [KL_WAY_NONE] = "no",
};

struct list_args {
	const char *what;
	struct kernel_args kernel;
	bool verbose;
	struct kl_files debug;
};

enum { OPT_DEBUG = 256 };

static const struct argp_option options[] = {
	{ "debug", OPT_DEBUG, "FILE", KL_ARGS_SEVERAL,
	  "Debugging information for inlined functions: a vmlinux "
	  "or a loaded module; may be given several times (default: the distribution's file)",
	  0 },
	{ "verbose", 'v', NULL, 0,
	  "Print the prototypes of the functions from BTF, and whether a probe sees all calls", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->kernel;
		break;
	case OPT_DEBUG:
		kl_args_file(state, "debug", &a->debug, arg);
		break;
	case 'v':
		a->verbose = true;
		break;
	case ARGP_KEY_ARG:
		if (a->what)
			argp_error(state, "expected one PATTERN or SPEC.lin, found also '%s'", arg);
		a->what = arg;
		break;
	case ARGP_KEY_END:
		if (a->what && !*a->what)
			argp_error(state, "expected PATTERN or SPEC.lin, found an empty argument");
		if (a->kernel.btf && !a->what)
			argp_error(state, "--btf requires PATTERN or SPEC.lin");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = { { &kernel_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
	.children = children,
	.options = options,
	.parser = parse,
	.args_doc = "[PATTERN|SPEC.lin]",
	.doc = "List the functions of the running kernel that klin can attach to.\v"
	       "PATTERN: functions whose names match (*, ? and [] as in a shell; MODULE:PATTERN "
	       "for those of a module).  Before each name is the way that klin attaches to it: "
	       "fentry (best), kprobe (slower, and it drains the store buffer), klin.ko (by its "
	       "own kprobe, where the kernel's tracers may not attach), or no, with the reason.\n"
	       "klin:PATTERN, or no argument: methods that instrumented modules declare.\n"
	       "SPEC.lin: for each probe clause, which of its alternatives klin would use.  The "
	       "name of a shipped specification will do if no function has this name.\n\n"
	       "A function that is not listed is not in the kernel under this name: it was "
	       "inlined everywhere, renamed, or not built in.\n\n"
	       "Exit status: 0 listed; 2 usage or input, nothing matches, or a clause of SPEC.lin "
	       "cannot be attached; 4 the system refused.\n\n"
	       "Examples:\n"
	       "  # Functions whose names begin with kfree, and how klin attaches to each.\n"
	       "  klin list 'kfree*'\n"
	       "  # Their parameters, and whether probes would miss calls.\n"
	       "  klin list -v 'kfree*'\n"
	       "  # Methods that instrumented modules declare.\n"
	       "  klin list\n"
	       "  # Where the clauses of a specification would attach.\n"
	       "  klin list port_range\n"
	       "  # The same for another kernel.\n"
	       "  klin list --btf=vmlinux port_range",
};

static void show(const char *way, const struct kl_func *f, const char *name, const char *why)
{
	char full[256];

	snprintf(full, sizeof(full), "%s%s%s%s", name, f->module[0] ? " [" : "", f->module,
		 f->module[0] ? "]" : "");
	printf("%-8s%s%s%s\n", way, full, *why ? ": " : "", why);
}

/*
 * List the methods that instrumented code declares.  The lines of klin/methods are
 * "ID SUBJECT.METHOD".
 */
static int list_methods(const char *pattern)
{
	char *data, *line, *save, *name;
	size_t len, n = 0;

	if (kl_read_file(KL_MODULE_DIR "methods", &data, &len)) {
		kl_err(geteuid() ?
			       "listing the methods of instrumented modules requires root" :
			       "klin.ko is not loaded, or debugfs is not mounted at "
			       "/sys/kernel/debug, so no methods of instrumented modules are "
			       "known; `klin list PATTERN' lists functions, `klin list SPEC.lin' "
			       "where its clauses attach");
		return KLIN_EXIT_USAGE;
	}
	for (line = strtok_r(data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		name = strchr(line, ' ');
		if (!name || fnmatch(pattern, name + 1, 0))
			continue;
		printf("klin    klin:%s\n", name + 1);
		n++;
	}
	free(data);
	if (!n)
		kl_err("no method matches 'klin:%s'; `klin list' lists all", pattern);
	return n ? KLIN_EXIT_OK : KLIN_EXIT_USAGE;
}

/*
 * Show whether the used target sees all calls, and the inlined instances that are recorded as well.
 * Return: 0 or -ENOMEM.
 */
static int show_coverage(struct kl_kernel *k, const struct kl_found *f)
{
	struct kl_instances *c = malloc(sizeof(*c));
	const int err = c ? kl_instances_find(k, f, c) : -ENOMEM;
	unsigned int i;

	for (i = 0; !err && i < c->n; i++)
		printf("  %-8sinlined %s at %s+0x%llx\n", "kprobe", f->target->name,
		       c->found[i].places[0].symbol,
		       (unsigned long long)c->found[i].places[0].offset);
	if (!err)
		printf("  coverage %s: %s\n", kl_cover_names[c->kind], c->text);
	free(c);
	return err;
}

/* Show a function's prototype, and its coverage if @way attaches to it.  Return: 0 or -ENOMEM. */
static int show_more(struct kl_kernel *k, struct kl_prototype_writer *w, const struct kl_func *f,
		     enum kl_way way)
{
	const struct kl_probe_target t = {
		.kind = KL_TARGET_FUNC,
		.name = f->name,
		.module = f->module[0] ? f->module : NULL,
	};
	const struct kl_found found = { .target = &t, .func = *f, .way = way };

	if (f->proto) {
		printf("  ");
		kl_prototype_put(w, f);
		printf("\n");
	}
	return way == KL_WAY_NONE ? 0 : show_coverage(k, &found);
}

/*
 * Show all places of a target that names places in code.  @bad: the target cannot be attached, so
 * show the reason.  @taken: klin uses an earlier alternative of the clause instead.  Return: 0 or
 * -ENOMEM.
 */
static int show_places(struct kl_kernel *k, struct kl_found *f, bool bad, bool taken)
{
	const struct kl_probe_target *t = f->target;
	char name[400];
	unsigned int i;

	for (i = 0; i < (bad ? 1 : f->nplaces); i++) {
		if (bad)
			snprintf(name, sizeof(name), "%s%s%s%s", t->inlined ? "inlined " : "",
				 t->inlined ? t->inlined : "", t->inlined ? " in " : "", t->name);
		else
			snprintf(name, sizeof(name), "%s%s%s%s+0x%llx",
				 t->inlined ? "inlined " : "", t->inlined ? t->inlined : "",
				 t->inlined ? " at " : "", f->places[i].symbol,
				 (unsigned long long)f->places[i].offset);
		if (!bad && kl_target_place(k, f, i) == -ENOMEM)
			return -ENOMEM;
		printf("  ");
		show(bad ? "no" : taken ? "unused" : "kprobe", &f->func, name, bad ? f->why : "");
	}
	return 0;
}

/*
 * Show one alternative of a clause.  *@taken is true if an earlier alternative can be attached, so
 * that klin uses that one; it becomes true if this one can be attached.  Return: 0 or -ENOMEM.
 */
static int list_target(struct kl_kernel *k, const struct kl_spec *spec,
		       const struct kl_probe_target *t, bool *taken)
{
	const bool method = t->kind == KL_TARGET_KLIN, other = *taken;
	struct kl_found f;
	int ret = 0, err = kl_target_try(k, t, &f);
	char name[256];

	if (err == -ENOMEM)
		return err;
	*taken |= !err;
	if (t->kind == KL_TARGET_NOTHING) {
		printf("  %s\n", other ? "" : "not attached: this kernel has none");
		return 0;
	}
	if (kl_target_is_place(t)) {
		ret = show_places(k, &f, err, other);
	} else {
		snprintf(name, sizeof(name), "%s%s", method ? "klin:" : "", t->name);
		printf("  ");
		show(err ? "no" : other ? "unused" : method ? "klin" : ways[f.way], &f.func, name,
		     f.why);
	}
	if (ret || err || other)
		return ret;
	if (kl_target_lacks_object(spec, t))
		printf("  no object: all calls are operations on one object\n");
	return show_coverage(k, &f);
}

static int list_spec(struct kl_kernel *k, const char *path)
{
	struct kl_spec *spec;
	unsigned int i, j, missing = 0;
	int ret = kl_spec_load(path, &spec);

	if (ret)
		return kl_ending_error(ret);
	if (!kl_spec_nprobes(spec)) {
		kl_err("'%s' has no probe clauses: choose a specification that has them", path);
		kl_spec_free(spec);
		return KLIN_EXIT_USAGE;
	}
	for (i = 0; i < kl_spec_nprobes(spec) && !ret; i++) {
		const struct kl_probe *p = kl_spec_probe(spec, i);
		bool taken = false;

		printf("%s\n", kl_spec_method(spec, p->method)->name);
		for (j = 0; j < p->ntargets && !ret; j++)
			ret = list_target(k, spec, &p->targets[j], &taken);
		missing += !taken;
	}
	kl_spec_free(spec);
	if (ret) {
		kl_err("out of memory");
		return kl_ending_error(ret);
	}
	if (missing)
		kl_err("%u clauses of %s cannot be attached on kernel %s", missing, path,
		       k->release);
	return missing ? KLIN_EXIT_USAGE : KLIN_EXIT_OK;
}

static int list_functions(struct kl_kernel *k, const char *pattern, bool verbose)
{
	struct kl_prototype_writer w = { .f = stdout };
	unsigned int count[4] = { 0 };
	char why[600];
	struct kl_func *f;
	size_t n, i;
	int err = 0;

	if (k->debug.n)
		kl_warn("--debug has an effect only with SPEC.lin");
	if (kl_func_list(k, pattern, &f, &n)) {
		kl_err("out of memory");
		return KLIN_EXIT_SYSTEM;
	}
	for (i = 0; i < n && !err; i++) {
		enum kl_way way = kl_func_way(&f[i], why, sizeof(why));

		show(ways[way], &f[i], f[i].name, why);
		count[way]++;
		if (verbose)
			err = show_more(k, &w, &f[i], way);
	}
	kl_prototype_end(&w);
	free(f);
	if (err) {
		kl_err("out of memory");
		return KLIN_EXIT_SYSTEM;
	}
	if (!n && kl_shipped_text(pattern))
		return list_spec(k, pattern);
	if (!n) {
		kernel_lacks(k, pattern,
			     strpbrk(pattern, "*?[:") ? NULL : kl_shipped_near(pattern));
		return KLIN_EXIT_USAGE;
	}
	kl_info("%zu functions: %u by fentry, %u by kprobe only, %u by klin.ko only, %u not at all",
		n, count[KL_WAY_FENTRY], count[KL_WAY_KPROBE], count[KL_WAY_MODULE],
		count[KL_WAY_NONE]);
	return KLIN_EXIT_OK;
}

static int cmd_list(int argc, char **argv)
{
	struct list_args a = { 0 };
	struct kl_kernel *k;
	const char *what;
	int ret;

	ret = kl_args(&argp, argc, argv, 0, &a);
	if (ret)
		return ret;
	what = a.what;
	if (!what || !strncmp(what, "klin:", 5))
		return list_methods(what ? what + 5 : "*");
	ret = kernel_open(&a.kernel, &k);
	if (ret)
		return ret;
	k->debug = a.debug;
	if (!k->tracefs && !k->offline)
		kl_warn("tracefs cannot be read (needs root; mounted at /sys/kernel/tracing?), so "
			"no function counts as traceable");
	if (what[kl_stem(what, ".lin")])
		ret = list_spec(k, what);
	else
		ret = list_functions(k, what, a.verbose);
	kl_kernel_close(k);
	return ret;
}

KL_COMMAND("list", cmd_list, "list what can be attached on this kernel, and why not");
