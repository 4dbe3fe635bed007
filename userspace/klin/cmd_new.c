// SPDX-License-Identifier: GPL-2.0
/* klin new: write the skeleton of a specification for functions of the kernel. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/err.h"
#include "base/memstream.h"
#include "base/outfile.h"
#include "klin/cmd.h"
#include "klin/kernel.h"
#include "record/attach/skeleton.h"
#include "spec/lang/lex.h"
#include "spec/spec.h"

struct new_args {
	const char *functions[KL_SKELETON_MAX];
	unsigned int n;
	const char *name, *out;
	struct kernel_args kernel;
};

static const struct argp_option options[] = {
	{ "name", 'n', "NAME", 0,
	  "Name of the specification (default: what the functions' names begin with)", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE, which must not exist (default: -)", 0 },
	{ 0 }
};

static bool is_name(const char *s)
{
	size_t i;

	for (i = 0; s[i]; i++)
		if (s[i] != '_' && !isalpha((unsigned char)s[i]) &&
		    (!i || !isdigit((unsigned char)s[i])))
			return false;
	return i && i <= KL_NAME_MAX && !kl_is_reserved(s);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct new_args *a = state->input;
	size_t i;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->kernel;
		break;
	case 'n':
		if (!is_name(arg))
			argp_error(state,
				   "--name=%s: expected a name of letters, digits and _, "
				   "which the language does not reserve",
				   arg);
		a->name = arg;
		break;
	case 'o':
		a->out = arg;
		break;
	case ARGP_KEY_ARG:
		if (strpbrk(arg, "*?["))
			argp_error(state,
				   "'%s' is a pattern: expected names; `klin list '%s'' "
				   "lists those that match",
				   arg, arg);
		if (!*arg || strpbrk(arg, "/ "))
			argp_error(state,
				   "'%s' is not the name of a function, as in `klin new "
				   "mutex_lock'",
				   arg);
		for (i = 0; i < a->n; i++)
			if (!strcmp(a->functions[i], arg))
				argp_error(state, "'%s' is named twice", arg);
		if (a->n == KL_SKELETON_MAX)
			argp_error(state, "expected at most %d functions", KL_SKELETON_MAX);
		a->functions[a->n++] = arg;
		break;
	case ARGP_KEY_END:
		if (!a->n)
			kl_args_missing(state, "expected FUNCTION; `klin list PATTERN' finds some");
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
	.args_doc = "FUNCTION...",
	.doc = "Write the skeleton of a specification, with a probe clause for each FUNCTION.\v"
	       "FUNCTION: a function of the kernel, or MODULE:FUNCTION.  Parameters, results and "
	       "their types come from the kernel's BTF; the object is a guess.  Comments say what "
	       "to fill in.  `klin spec' accepts the skeleton as it is; it allows every history.\n\n"
	       "Exit status: 0 written; 2 usage or input, or klin cannot attach to a FUNCTION; "
	       "4 the system refused.\n\n"
	       "Examples:\n"
	       "  # A specification of the kernel's mutexes.\n"
	       "  klin new -o mutex.lin mutex_lock mutex_trylock mutex_unlock\n"
	       "  # Where klin would attach, and whether it sees all calls.\n"
	       "  klin list mutex.lin",
};

/* Find a function, and check that klin can attach to it.  Return: 0 or -EINVAL after a message. */
static int find_function(struct kl_kernel *k, const char *name, struct kl_func *f)
{
	const char *colon = strchr(name, ':'), *function = colon ? colon + 1 : name;
	char module[64], why[600];

	snprintf(module, sizeof(module), "%.*s", (int)(colon ? colon - name : 0), name);
	if (kl_func_find(k, function, colon ? module : NULL, f)) {
		kernel_lacks(k, name, NULL);
		return -EINVAL;
	}
	if (kl_func_way(f, why, sizeof(why)) == KL_WAY_NONE) {
		kl_err("klin cannot attach to '%s' on kernel %s: %s", name, k->release, why);
		return -EINVAL;
	}
	if (!is_name(f->name)) {
		kl_err("the specification language cannot name '%s'", f->name);
		return -EINVAL;
	}
	return 0;
}

/* Find the name of the specification: what all names begin with, up to a '_'. */
static void find_name(const struct kl_func *f, size_t n, char name[KL_NAME_MAX + 1])
{
	size_t len = strlen(f[0].name), i, j;

	for (i = 1; i < n; i++) {
		for (j = 0; j < len && f[i].name[j] == f[0].name[j]; j++)
			;
		/* Stop between words: "mutex_", not "mutex_l". */
		while (j && f[0].name[j - 1] != '_')
			j--;
		len = j;
	}
	snprintf(name, KL_NAME_MAX + 1, "%.*s", (int)len, f[0].name);
	for (len = strlen(name); len && name[len - 1] == '_'; len--)
		name[len - 1] = '\0';
	if (!is_name(name))
		snprintf(name, KL_NAME_MAX + 1, "structure");
}

/* Make the text and parse it.  Return: 0 or a negative errno after a message. */
static int make(const struct new_args *a, const struct kl_func *f, char **text)
{
	char name[KL_NAME_MAX + 1];
	struct kl_spec *spec;
	struct kl_memstream m;
	size_t len;
	int err = kl_memstream_open(&m);

	if (err)
		goto no_memory;
	find_name(f, a->n, name);
	kl_skeleton_put(m.f, a->name ? a->name : name, f, a->n);
	err = kl_memstream_close(&m, text, &len);
	if (err)
		goto no_memory;
	err = kl_spec_parse("the skeleton", *text, len, &spec);
	if (err) {
		free(*text);
		return err;
	}
	kl_spec_free(spec);
	return 0;

no_memory:
	kl_err("out of memory");
	return err;
}

static int write_text(const char *path, const char *text)
{
	struct kl_outfile out;
	int err = kl_outfile_open(&out, path);

	if (!err) {
		fputs(text, out.f);
		err = kl_outfile_commit(&out);
	}
	if (err)
		kl_cannot_write(path, err);
	return kl_ending_error(err);
}

static int cmd_new(int argc, char **argv)
{
	struct kl_func functions[KL_SKELETON_MAX];
	struct new_args a = { .out = "-" };
	struct kl_kernel *k;
	unsigned int i;
	char *text;
	int ret;

	ret = kl_args(&argp, argc, argv, 0, &a);
	if (ret)
		return ret;
	if (strcmp(a.out, "-") && !access(a.out, F_OK)) {
		kl_err("%s exists, and klin new replaces no file; choose another name", a.out);
		return KLIN_EXIT_USAGE;
	}
	ret = kernel_open(&a.kernel, &k);
	if (ret)
		return ret;
	for (i = 0; i < a.n && !ret; i++)
		ret = find_function(k, a.functions[i], &functions[i]);
	if (!ret)
		ret = make(&a, functions, &text);
	ret = kl_ending_error(ret);
	if (!ret) {
		ret = write_text(a.out, text);
		free(text);
	}
	kl_kernel_close(k);
	return ret;
}

KL_COMMAND("new", cmd_new, "write the skeleton of a specification for functions");
