// SPDX-License-Identifier: GPL-2.0
/* Common code of loads, see load.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/nearest.h"
#include "record/load/load.h"

#define COLUMN 18 /* the help's texts begin after this column and a space; names are before it */
#define MOST_LOADS 64
#define RIGHT	78	/* the help's last column, as that of argp */

extern const struct kl_load_ops *const __start_kl_loads[];
extern const struct kl_load_ops *const __stop_kl_loads[];

/* Report an unknown load, and suggest one; people forget the "user:" of most names. */
static void no_load(const char *arg, size_t len)
{
	const size_t n = __stop_kl_loads - __start_kl_loads;
	const char *names[MOST_LOADS], *near;
	char written[2][KL_NEAREST_MAX];
	size_t i;

	for (i = 0; i < n && i < MOST_LOADS; i++)
		names[i] = __start_kl_loads[i]->name;
	snprintf(written[0], KL_NEAREST_MAX, "%.*s", (int)len, arg);
	snprintf(written[1], KL_NEAREST_MAX, "user:%.*s", (int)len, arg);
	/* The "user:" that klin adds makes names no more alike. */
	near = kl_nearest(written[0], names, i);
	if (!near)
		near = kl_nearest(written[1], names, i);
	if (near && kl_edits(written[1], strlen(written[1]), near) > (len + 1) / 3 &&
	    kl_edits(written[0], len, near) > (len + 1) / 3)
		near = NULL;
	kl_err("--load: unknown load '%s'%s%s%s `klin record --help' lists them%s", written[0],
	       near ? "; did you mean " : "", near ? near : "", near ? "?" : ";",
	       near ? "" : "; a structure of klin.ko is named as in --load=subject=seqlock");
}

int kl_load_open(const char *arg, struct kl_load **out)
{
	size_t n = __stop_kl_loads - __start_kl_loads, i, len = strcspn(arg, ",");
	const struct kl_load_ops *module = NULL;

	for (i = 0; i < n; i++) {
		const struct kl_load_ops *ops = __start_kl_loads[i];

		if (!strcmp(ops->name, "klin.ko"))
			module = ops;
		if (strlen(ops->name) == len && !memcmp(ops->name, arg, len))
			return ops->open(arg + len + (arg[len] == ','), out);
	}
	if (strchr(arg, '=') && strcspn(arg, "=") < len && module)
		return module->open(arg, out);
	no_load(arg, len);
	return -EINVAL;
}

/* Print a load's name, and its text in a second column, as argp prints options. */
static void print_wrapped(FILE *f, const char *name, const char *text)
{
	int at = fprintf(f, "  %-16s", name), len;

	for (; *text; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		if (at + 1 + len > RIGHT)
			at = fprintf(f, "\n%*s", COLUMN, "") - 1;
		at += fprintf(f, " %.*s", len, text);
	}
	fputc('\n', f);
}

void kl_load_help(FILE *f)
{
	const struct kl_load_ops *const *l = __start_kl_loads, *last = NULL, *next;
	size_t n = __stop_kl_loads - __start_kl_loads, i;

	do {
		for (next = NULL, i = 0; i < n; i++)
			if ((!last || strcmp(l[i]->name, last->name) > 0) &&
			    (!next || strcmp(l[i]->name, next->name) < 0))
				next = l[i];
		if (next)
			print_wrapped(f, next->name, next->help);
		last = next;
	} while (next);
	print_wrapped(f, "user:*", "except user:port_range, these loads also take: tasks=N "
		      "(threads), seconds=60, ops=N (in total; default: no limit), seed=1, "
		      "ahead=8192 (operations that the reader may lag behind; 0: no limit)");
}

/* Return: the value of @name in "name=value,...", and in @len its length; NULL if it is not given. */
static const char *find(const char *settings, const char *name, size_t *len)
{
	size_t n = strlen(name);
	const char *at = settings;

	while (*at) {
		*len = strcspn(at, ",");
		if (*len > n && !memcmp(at, name, n) && at[n] == '=') {
			*len -= n + 1;
			return at + n + 1;
		}
		at += *len + (at[*len] == ',');
	}
	return NULL;
}

int kl_load_number(const char *settings, const char *name, uint64_t min, uint64_t max,
		   uint64_t *value)
{
	unsigned long long v;
	const char *at;
	size_t len;
	char *end;

	at = find(settings, name, &len);
	if (!at)
		return 0;
	errno = 0;
	v = strtoull(at, &end, 10);
	if (!errno && len && end == at + len && *at >= '0' && *at <= '9' && v >= min && v <= max) {
		*value = v;
		return 0;
	}
	kl_err("--load %s=%.*s: expected a number from %llu to %llu", name, (int)len, at,
	       (unsigned long long)min, (unsigned long long)max);
	return -EINVAL;
}

/* Return: the length of the setting at @at.  A list of CPUs has commas itself: cpus=0-3,6. */
static size_t setting_len(const char *at)
{
	size_t len = strcspn(at, ",");

	while (at[len] && isdigit((unsigned char)at[len + 1]))
		len += 1 + strcspn(at + len + 1, ",");
	return len;
}

int kl_load_check(const char *settings, const char *const *names)
{
	const char *at = settings, *near, *first;
	char written[KL_NEAREST_MAX];
	size_t len, i, n, first_len;

	while (*at) {
		len = setting_len(at);
		n = strcspn(at, "=,");
		for (i = 0; names[i]; i++)
			if (strlen(names[i]) == n && !memcmp(names[i], at, n))
				break;
		if (!n) {
			kl_err("--load: expected SETTING=VALUE before '%s'", at);
			return -EINVAL;
		}
		if (!names[i]) {
			snprintf(written, sizeof(written), "%.*s", (int)n, at);
			near = kl_nearest(written, names, i);
			kl_err("--load: unknown setting '%s'%s%s%s `klin record --help' lists "
			       "those of each load%s",
			       written, near ? "; did you mean " : "", near ? near : "",
			       near ? "?" : ";",
			       strchr(written, ':') ?
				       "; a comma separates a load and its settings" :
				       "");
			return -EINVAL;
		}
		if (n == len) {
			kl_err("--load %s: expected a value, as in %s=4", names[i], names[i]);
			return -EINVAL;
		}
		first = find(settings, names[i], &first_len);
		if (first != at + n + 1) {
			kl_err("--load: %s is given twice", names[i]);
			return -EINVAL;
		}
		at += len + (at[len] == ',');
	}
	return 0;
}
