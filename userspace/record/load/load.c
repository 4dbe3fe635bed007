// SPDX-License-Identifier: GPL-2.0
/* What loads have in common, see load.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "record/load/load.h"

extern const struct kl_load_ops *const __start_kl_loads[];
extern const struct kl_load_ops *const __stop_kl_loads[];

int kl_load_open(const char *arg, struct kl_load **out)
{
	size_t n = __stop_kl_loads - __start_kl_loads, i, len = strcspn(arg, ",");
	const struct kl_load_ops *module = NULL;

	for (i = 0; i < n; i++) {
		const struct kl_load_ops *ops = __start_kl_loads[i];

		if (!strcmp(ops->name, "klin.ko"))
			module = ops;
		else if (strlen(ops->name) == len && !memcmp(ops->name, arg, len))
			return ops->open(arg + len + (arg[len] == ','), out);
	}
	if (strchr(arg, '=') && strcspn(arg, "=") < len && module)
		return module->open(arg, out);
	kl_err("--load '%.*s': no load of this name; `klin record --help' lists "
	       "them", (int)len, arg);
	return -EINVAL;
}

void kl_load_help(FILE *f)
{
	size_t n = __stop_kl_loads - __start_kl_loads, i;

	for (i = 0; i < n; i++)
		fprintf(f, "  %-16s %s\n", __start_kl_loads[i]->name, __start_kl_loads[i]->help);
}

/* The value of @name in "name=value,...", its length in @len. */
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

int kl_load_check(const char *settings, const char *const *names)
{
	const char *at = settings;
	size_t len, i, n;

	while (*at) {
		len = strcspn(at, ",");
		n = strcspn(at, "=");
		for (i = 0; names[i]; i++)
			if (n < len && strlen(names[i]) == n && !memcmp(names[i], at, n))
				break;
		if (!names[i]) {
			kl_err("--load: '%.*s' is no setting of this load; `klin record --help' "
			       "lists them", (int)len, at);
			return -EINVAL;
		}
		at += len + (at[len] == ',');
	}
	return 0;
}
