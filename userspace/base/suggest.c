// SPDX-License-Identifier: GPL-2.0
/* Suggestions for mistyped options, see args.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
	for (i = 0; i < list->n; i++)
		if (list->o[i]->name)
			names[n++] = list->o[i]->name;
	return kl_nearest(copy, names, n);
}

static bool takes_argument(const struct argp_option *o)
{
	return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

/* Return: true if the cluster of short options @arg ends with one that takes the next argument. */
static bool takes_next(const struct options *list, const char *arg)
{
	size_t i;

	for (; *arg; arg++)
		for (i = 0; i < list->n; i++)
			if (list->o[i]->key == *arg && list->o[i]->arg)
				return !arg[1] && takes_argument(list->o[i]);
	return false;
}

void kl_args_suggest(const struct argp *argp, int argc, char **argv)
{
	struct options list = { .o = { &added[0], &added[1] }, .n = 2 };
	int i;

	add_options(&list, argp);
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const bool is_long = !strncmp(argv[i], "--", 2);
		const char *name = argv[i] + 2, *near;
		const size_t len = is_long ? strcspn(name, "=") : 0;
		const struct argp_option *o = is_long ? find_long(&list, name, len) : NULL;

		if (o) {
			i += takes_argument(o) && !name[len];
		} else if (!is_long) {
			i += argv[i][0] == '-' && takes_next(&list, argv[i] + 1);
		} else {
			near = near_option(&list, name, len);
			if (!near)
				continue;
			kl_err("no option `--%.*s'; did you mean `--%s'?  `%s --help' lists the "
			       "options",
			       (int)len, name, near, argv[0]);
			exit(kl_ending(KLIN_EXIT_USAGE));
		}
	}
}
