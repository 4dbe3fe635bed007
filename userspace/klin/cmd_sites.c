// SPDX-License-Identifier: GPL-2.0
/* klin sites: list where a function was inlined, and where its parameters are there. */
#include <argp.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/args.h"
#include "base/err.h"
#include "base/path.h"
#include "dwarf/debug.h"
#include "klin/cmd.h"
#include "klin/progress.h"
#include "record/attach/debugfile.h"
#include "report/envelope.h"
#include "report/json.h"

struct sites_args {
	const char *function, *in, *debug, *module;
	bool json;
};

enum { OPT_DEBUG = 256, OPT_KERNEL, OPT_MODULE, OPT_IN, OPT_JSON };

static const struct argp_option options[] = {
	{ "debug", OPT_DEBUG, "FILE", 0,
	  "Debugging information: a vmlinux, or a module (default: "
	  "that of the running kernel, from Debian's package linux-image-...-dbg)",
	  0 },
	{ "kernel", OPT_KERNEL, "FILE", OPTION_ALIAS, NULL, 0 },
	{ "module", OPT_MODULE, "NAME", 0,
	  "Use the debugging information of this module of the "
	  "running kernel",
	  0 },
	{ "in", OPT_IN, "FUNCTION", 0, "List only places in this function", 0 },
	{ "json", OPT_JSON, NULL, 0,
	  "Print one JSON object.  Addresses of 2^63 and more are strings", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sites_args *a = state->input;

	switch (key) {
	case OPT_DEBUG:
	case OPT_KERNEL:
		kl_args_readable(state, key == OPT_DEBUG ? "debug" : "kernel", arg);
		a->debug = arg;
		break;
	case OPT_MODULE:
		if (!*arg)
			argp_error(state, "--module=: expected the name of a module");
		if (arg[kl_stem(arg, ".ko")])
			argp_error(state,
				   "--module=%s: expected the name of a module that is loaded, "
				   "such as %.*s; a file is named by --debug=%s",
				   arg, (int)kl_stem(arg, ".ko"), arg, arg);
		a->module = arg;
		break;
	case OPT_IN:
		a->in = arg;
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case ARGP_KEY_ARG:
		if (a->function)
			argp_error(state, "expected one FUNCTION, found also '%s'", arg);
		if (!*arg)
			argp_error(state, "expected the name of a function, found an empty one");
		if (strpbrk(arg, "*?["))
			argp_error(state,
				   "'%s' is a pattern: expected a name; `klin list '%s'' lists "
				   "functions that match",
				   arg, arg);
		a->function = arg;
		break;
	case ARGP_KEY_END:
		if (!a->function)
			kl_args_missing(state, "expected the name of a function");
		if (a->debug && a->module)
			argp_error(state, "--debug and --module exclude each other");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FUNCTION",
	.doc = "List the places where a function was inlined.\v"
	       "For each place klin prints SYMBOL+OFFSET of its entry, and the line of the call.  "
	       "Below, it prints the location of each parameter at the entry: a register, memory, "
	       "a constant, or nowhere.  Debugging information has no return values of "
	       "inlined functions.\n\n"
	       "`probe METHOD on inlined FUNCTION(a, b) in SYMBOL { ... }' in a spec records an "
	       "operation for each execution of the entry.  If the entry may be executed more or "
	       "less often than the function, the list gives the reason, and `klin record' "
	       "refuses the place.\n\n"
	       "Exit status: 0 listed; 2 usage or input, no debugging information, or no such "
	       "function in it; 4 the system refused.\n\n"
	       "Examples:\n"
	       "  # All places where a module has write_seqlock() inlined.\n"
	       "  klin sites --debug=kmod/klin.ko write_seqlock\n"
	       "  # Only those in one function, as JSON.\n"
	       "  klin sites --debug=kmod/klin.ko --in=seqlock_write --json write_seqlock\n"
	       "  # Where the running kernel has fdget() inlined.\n"
	       "  klin sites fdget",
};

static void show_progress(FILE *f, const void *arg)
{
	unsigned int done = kl_debug_progress(arg);

	fprintf(f, "%u.%u %% read", done / 10, done % 10);
}

/* Strip the directory of the build from the name of a source file. */
static const char *source(const char *file)
{
	static const char *const roots[] = { "/arch/", "/block/", "/crypto/", "/drivers/", "/fs/",
		"/include/", "/init/", "/io_uring/", "/ipc/", "/kernel/", "/kmod/", "/lib/", "/mm/",
		"/net/", "/security/", "/sound/", "/virt/" };
	size_t i;

	for (i = 0; *file == '/' && i < sizeof(roots) / sizeof(*roots); i++) {
		const char *at = strstr(file, roots[i]);

		if (at)
			return at + 1;
	}
	return file;
}

static void print_site(const struct kl_site *s)
{
	char type[160], loc[160];
	unsigned int i;

	printf("%s+0x%llx", s->symbol ? s->symbol : "?", (unsigned long long)s->offset);
	if (!s->inlined)
		printf("  the function itself");
	else if (s->symbol && strcmp(s->symbol, s->in))
		printf("  in %s", s->in);
	if (s->via)
		printf("  through %s", s->via);
	if (s->file)
		printf("  %s:%u", source(s->file), s->line);
	printf("\n");
	for (i = 0; s->inlined && i < s->nparams; i++)
		printf("    %-16s %-28s %s\n", s->params[i].name,
		       kl_dtype_text(&s->params[i].type, type, sizeof(type)),
		       kl_loc_text(&s->params[i].loc, loc, sizeof(loc)));
	if (*s->why)
		printf("    not recordable: %s\n", s->why);
}

static json_t *json_site(const struct kl_site *s)
{
	json_t *o = json_object(), *params = json_array(), *ranges = json_array();
	char type[160], loc[160];
	size_t i;

	json_object_set_new(o, "inlined", json_boolean(s->inlined));
	json_object_set_new(o, "in", json_string(s->in));
	if (s->via)
		json_object_set_new(o, "through", json_string(s->via));
	if (s->symbol) {
		json_object_set_new(o, "symbol", json_string(s->symbol));
		json_object_set_new(o, "offset", json_integer(s->offset));
	}
	json_object_set_new(o, "entry", kl_json_number(s->entry));
	if (s->file) {
		json_object_set_new(o, "file", json_string(s->file));
		json_object_set_new(o, "line", json_integer(s->line));
	}
	for (i = 0; i < s->nranges; i++)
		json_array_append_new(ranges, json_pack("[o,o]", kl_json_number(s->ranges[i].from),
							kl_json_number(s->ranges[i].to)));
	json_object_set_new(o, "ranges", ranges);
	for (i = 0; s->inlined && i < s->nparams; i++) {
		const struct kl_var *v = &s->params[i];

		json_array_append_new(params, json_pack("{s:s,s:s,s:b,s:s}", "name", v->name,
			"type", kl_dtype_text(&v->type, type, sizeof(type)), "known",
			v->loc.kind != KL_LOC_NONE, "where",
			kl_loc_text(&v->loc, loc, sizeof(loc))));
	}
	json_object_set_new(o, "parameters", params);
	json_object_set_new(o, "recordable", json_boolean(s->inlined && !*s->why));
	if (*s->why)
		json_object_set_new(o, "reason", json_string(s->why));
	return o;
}

static int print_json(const char *function, const char *file, const struct kl_sites *sites)
{
	json_t *o = kl_json_envelope("sites", NULL), *list = json_array();
	size_t i;

	for (i = 0; i < sites->n; i++)
		json_array_append_new(list, json_site(&sites->site[i]));
	json_object_set_new(o, "function", json_string(function));
	json_object_set_new(o, "file", json_string(file));
	json_object_set_new(o, "sites", list);
	return kl_json_put(stdout, o, JSON_COMPACT | JSON_ENSURE_ASCII);
}

/* Say that there is no such function, and which one was probably meant. */
static void refuse(const struct sites_args *a, const char *file, struct kl_debug *d)
{
	const char *written = a->function, *near = kl_debug_nearest(d, written);

	/* If the file has the function, the other name may be the wrong one. */
	if (a->in && near && !strcmp(near, written)) {
		written = a->in;
		near = kl_debug_nearest(d, written);
	}
	if (near && !strcmp(near, written))
		near = NULL;
	kl_err("%s has no function '%s'%s%s%s%s%s%s%s%s", file, a->function,
	       a->in ? " inlined in '" : "", a->in ? a->in : "", a->in ? "'" : "",
	       near ? "; did you mean '" : "", near ? near : "",
	       near ? "'?" : ": check the spelling", near || !a->in ? "" : " of both",
	       near ? "" : ", or name a module by --module");
}

static int find(const struct sites_args *a, const char *file, struct kl_sites *sites)
{
	struct progress_line *progress;
	struct kl_debug *d;
	size_t i, inlined = 0, usable = 0;
	int err = kl_debug_open(file, &d);

	if (err)
		return kl_ending_error(err);
	progress = progress_start(show_progress, d);
	err = kl_debug_sites(d, a->function, a->in, sites);
	progress_stop(progress);
	if (err == -ENOMEM)
		kl_err("out of memory");
	else if (!err && !sites->n)
		refuse(a, file, d);
	if (!err && sites->n && a->json) {
		err = print_json(a->function, file, sites);
		if (err)
			kl_err("out of memory");
	} else if (!err && sites->n) {
		for (i = 0; i < sites->n; i++) {
			print_site(&sites->site[i]);
			inlined += sites->site[i].inlined;
			usable += sites->site[i].inlined && !*sites->site[i].why;
		}
		kl_info("inlined at %zu places, of which %zu can be recorded", inlined, usable);
	}
	kl_debug_close(d);
	if (err)
		return kl_ending_error(err);
	return sites->n ? KLIN_EXIT_OK : KLIN_EXIT_USAGE;
}

static int cmd_sites(int argc, char **argv)
{
	struct kl_sites sites = { 0 };
	struct sites_args a = { 0 };
	char path[512];
	struct utsname uts;
	int ret;

	ret = kl_args(&argp, argc, argv, 0, &a);
	if (ret)
		return ret;
	if (!a.debug) {
		if (uname(&uts) || kl_debug_file(uts.release, a.module, path, sizeof(path))) {
			kl_err("no debugging information of %s%s found; give --debug=FILE, or "
			       "install linux-image-%s-dbg", a.module ? "module " : "kernel ",
			       a.module ? a.module : uts.release, uts.release);
			return KLIN_EXIT_USAGE;
		}
		a.debug = path;
	}
	ret = find(&a, a.debug, &sites);
	kl_sites_free(&sites);
	return ret;
}

KL_COMMAND("sites", cmd_sites, "list where a function was inlined, from debugging information");
