// SPDX-License-Identifier: GPL-2.0
/* Mistyped options, and options with no or no effective value, see args.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/ending.h"
#include "base/err.h"
#include "base/nearest.h"

#define MOST_OPTIONS 64

/* A list of all options of a command. */
struct options {
	const struct argp_option *o[MOST_OPTIONS];
	size_t n;
};

/* Options that argp adds itself. */
static const struct argp_option added[] = { { .name = "help" }, { .name = "usage" } };

static void add_options(struct options *list, const struct argp *argp)
{
	const struct argp_option *o = argp->options;
	const struct argp_child *child;

	for (; o && (o->name || o->key || o->doc || o->group) && list->n < MOST_OPTIONS; o++)
		list->o[list->n++] = o;
	for (child = argp->children; child && child->argp; child++)
		add_options(list, child->argp);
}

/* Find the option of a long name, as getopt_long() does: it may be shortened. */
static const struct argp_option *find_long(const struct options *list, const char *name, size_t len)
{
	const struct argp_option *found = NULL;
	size_t i;

	for (i = 0; i < list->n; i++) {
		const struct argp_option *o = list->o[i];

		if (o->name && !strncmp(o->name, name, len) && (!found || !o->name[len]))
			found = o;
	}
	return found;
}

/* Return: the existing option that a person most likely meant, or NULL. */
static const char *near_option(const struct options *list, const char *name, size_t len)
{
	const char *names[MOST_OPTIONS];
	char copy[KL_NEAREST_MAX];
	size_t i, n = 0;

	if (len >= sizeof(copy))
		return NULL;
	memcpy(copy, name, len);
	copy[len] = '\0';
	/* Nobody means --usage. */
	for (i = 0; i < list->n; i++)
		if (list->o[i]->name && list->o[i] != &added[1])
			names[n++] = list->o[i]->name;
	return kl_nearest(copy, names, n);
}

static bool takes_argument(const struct argp_option *o)
{
	return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

/* Return: the last of the short options @arg, if it takes the next argument; or NULL. */
static const struct argp_option *takes_next(const struct options *list, const char *arg)
{
	size_t i;

	for (; *arg; arg++)
		for (i = 0; i < list->n; i++)
			if (list->o[i]->key == *arg && list->o[i]->arg)
				return !arg[1] && takes_argument(list->o[i]) ? list->o[i] : NULL;
	return NULL;
}

/* Return: true if @arg is an option of the list with its whole name, or ends the options. */
static bool is_option(const struct options *list, const char *arg)
{
	const char *name = arg + 2;
	const size_t len = strncmp(arg, "--", 2) ? 0 : strcspn(name, "=");
	const struct argp_option *o = len ? find_long(list, name, len) : NULL;

	return !strcmp(arg, "--") || (o && !o->name[len]);
}

static void refuse(const char *command, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	kl_err("%s%s `%s --help' lists the options", text,
	       text[strlen(text) - 1] == '?' ? " " : ";", command);
	exit(kl_ending(KLIN_EXIT_USAGE));
}

/*
 * Refuse the value of an option if it is an empty name of a file, or if it is the @next argument
 * and an option itself: then its own value was forgotten.
 */
static void check_value(const struct options *list, const char *command,
			const struct argp_option *o, const char *value, bool next)
{
	if (next && is_option(list, value))
		refuse(command,
		       "option `--%s' requires %s, but `%s' follows; write `--%s=%s' if "
		       "that is its value",
		       o->name, o->arg, value, o->name, value);
	if (!strcmp(o->arg, "FILE") && !*value)
		refuse(command, "--%s=: expected a file name", o->name);
	if (!strcmp(o->arg, "FUNCTION") && !*value)
		refuse(command, "--%s=: expected the name of a function", o->name);
}

/* Options of which only the last one counts, and their values. */
struct seen {
	const struct argp_option *o;
	const char *value;
};

/* Warn of an option that was given before with another value, which thus has no effect. */
static void check_twice(struct seen seen[MOST_OPTIONS + 2], const struct argp_option *o,
			const char *value)
{
	size_t i;

	if (o->flags & KL_ARGS_SEVERAL)
		return;
	for (i = 0; seen[i].o && seen[i].o->key != o->key; i++)
		;
	if (seen[i].o && strcmp(seen[i].value, value))
		kl_warn("--%s=%s has no effect, since --%s=%s follows", seen[i].o->name,
			seen[i].value, o->name, value);
	seen[i] = (struct seen){ .o = o, .value = value };
}

void kl_args_suggest(const struct argp *argp, int argc, char **argv)
{
	struct seen seen[MOST_OPTIONS + 2] = { 0 };
	struct options list = { .o = { &added[0], &added[1] }, .n = 2 };
	int i;

	add_options(&list, argp);
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const bool is_long = !strncmp(argv[i], "--", 2);
		const char *name = argv[i] + 2, *near;
		const size_t len = is_long ? strcspn(name, "=") : 0;
		const struct argp_option *o = is_long ? find_long(&list, name, len) : NULL;
		bool next;

		if (is_long && !o) {
			near = near_option(&list, name, len);
			/* Some programs have --no-color, where klin has --color=never. */
			if (!near && !strncmp(name, "no-", 3) && len > 3)
				near = near_option(&list, name + 3, len - 3);
			if (near)
				refuse(argv[0], "no option `--%.*s'; did you mean `--%s'?",
				       (int)len, name, near);
			if (len == 4 && !strncmp(name, "spec", len) && argp->args_doc &&
			    strstr(argp->args_doc, "SPEC"))
				refuse(argv[0], "no option `--spec'; write `%s %s'", argv[0],
				       argp->args_doc);
			continue;
		}
		if (!is_long)
			o = argv[i][0] == '-' ? takes_next(&list, argv[i] + 1) : NULL;
		next = o && takes_argument(o) && !(is_long && name[len]);
		if (o && o->name && !strcmp(o->name, "json") && find_long(&list, "output", 6))
			check_twice(seen, find_long(&list, "output", 6), "json");
		if (!o || !o->arg || (next && i + 1 == argc) || (!next && !name[len]))
			continue;
		i += next;
		if (next && i + 1 == argc)
			kl_args_last_option = o->name;
		check_value(&list, argv[0], o, next ? argv[i] : name + len + 1, next);
		check_twice(seen, o, next ? argv[i] : name + len + 1);
	}
}

static bool is_elf(const char *path)
{
	FILE *f = fopen(path, "re");
	char magic[4];
	bool is = f && fread(magic, sizeof(magic), 1, f) && !memcmp(magic, "\177ELF", 4);

	if (f)
		fclose(f);
	return is;
}

void kl_args_readable(struct argp_state *state, const char *option, const char *path)
{
	if (path && access(path, R_OK))
		argp_error(state, "--%s=%s: %s", option, path, strerror(errno));
}

void kl_args_file(struct argp_state *state, const char *option, struct kl_files *files,
		  const char *arg)
{
	if (files->n == KL_FILES_MAX)
		argp_error(state, "--%s '%s': expected %u files at most", option, arg,
			   KL_FILES_MAX);
	kl_args_readable(state, option, arg);
	if (!is_elf(arg))
		argp_error(state, "--%s=%s: expected an ELF file: vmlinux, or a module", option,
			   arg);
	files->path[files->n++] = arg;
}
