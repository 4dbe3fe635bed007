// SPDX-License-Identifier: GPL-2.0
/*
 * Lists all functions that match a pattern, see list.h.  There may be tens of thousands.  So each
 * source is read once, and its entries are looked up in the sorted list of matches.
 * kl_func_find() searches each source for one function instead.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "record/attach/list.h"

static int by_name(const void *a, const void *b)
{
	const struct kl_func *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d ? d : strcmp(x->module, y->module);
}

/* Return: the function with this name and module, or NULL. */
static struct kl_func *lookup(struct kl_func *f, size_t n, const char *name, const char *module)
{
	struct kl_func key = { .name = name };

	snprintf(key.module, sizeof(key.module), "%s", module ? module : "");
	/* Without symbols there is no array, which bsearch() must have. */
	return n ? bsearch(&key, f, n, sizeof(*f), by_name) : NULL;
}

static int add_symbols(const struct kl_kernel *k, const char *pattern, struct kl_func **out,
		       size_t *n)
{
	const char *colon = strchr(pattern, ':');
	struct kl_func *f = NULL;
	size_t cap = 0, i, len = colon ? (size_t)(colon - pattern) : 0;
	int err;

	*n = 0;
	for (i = 0; i < k->nsyms; i++) {
		const struct kl_ksym *s = &k->syms[i];

		if (colon && (!s->module || strlen(s->module) != len ||
			      memcmp(s->module, pattern, len)))
			continue;
		if (fnmatch(colon ? colon + 1 : pattern, s->name, 0))
			continue;
		err = kl_grow(f, cap, *n + 1);
		if (err) {
			free(f);
			return err;
		}
		f[*n] = (struct kl_func){ .name = s->name, .addr = s->addr, .copies = 1,
					  .btf = s->module ? NULL : k->btf };
		snprintf(f[*n].module, sizeof(f[*n].module), "%s", s->module ? s->module : "");
		(*n)++;
	}
	if (*n)
		qsort(f, *n, sizeof(*f), by_name);
	*out = f;
	return 0;
}

/* Merge entries with equal names and modules.  Return: the number of entries left. */
static size_t merge_copies(struct kl_func *f, size_t n)
{
	size_t i, m = 0;

	for (i = 0; i < n; i++) {
		if (m && !by_name(&f[m - 1], &f[i]))
			f[m - 1].copies++;
		else
			f[m++] = f[i];
	}
	return m;
}

static void add_types(const struct btf *btf, const char *module, struct kl_func *f, size_t n)
{
	const struct btf *base = btf__base_btf(btf);
	uint32_t id = base ? btf__type_cnt(base) : 1, end = btf__type_cnt(btf);

	for (; id < end; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id), *proto;
		struct kl_func *found;

		if (!btf_is_func(t))
			continue;
		found = lookup(f, n, btf__name_by_offset(btf, t->name_off), module);
		if (!found)
			continue;
		found->btf = btf;
		proto = btf__type_by_id(btf, t->type);
		found->types_differ |= found->proto && found->proto != proto;
		found->proto = proto;
		found->proto_id = t->type;
	}
}

/* Read kprobes/blacklist, whose lines are "FROM-TO NAME". */
static void add_blacklist(struct kl_func *f, size_t n)
{
	char *data, *line, *save, *name;
	struct kl_func *found;
	size_t len;

	if (kl_read_file("/sys/kernel/debug/kprobes/blacklist", &data, &len))
		return;
	for (line = strtok_r(data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		name = strpbrk(line, " \t");
		found = name ? lookup(f, n, name + 1, NULL) : NULL;
		if (found)
			found->blacklisted = true;
	}
	free(data);
}

int kl_func_list(struct kl_kernel *k, const char *pattern, struct kl_func **out, size_t *n)
{
	const char *last = "";
	struct kl_func *f, *found;
	size_t i;
	int err;

	err = add_symbols(k, pattern, &f, n);
	if (err)
		return err;
	*n = merge_copies(f, *n);
	for (i = 0; i < k->ntraceable; i++) {
		found = lookup(f, *n, k->traceable[i].name, k->traceable[i].module);
		if (found)
			found->traceable = true;
	}
	if (k->btf)
		add_types(k->btf, NULL, f, *n);
	for (i = 0; i < *n; i++) {
		const struct btf *btf;

		if (!f[i].module[0] || f[i].proto || !strcmp(f[i].module, last))
			continue;
		last = f[i].module;
		btf = kl_kernel_btf(k, last);
		if (btf && btf != k->btf)
			add_types(btf, last, f, *n);
	}
	for (i = 0; i < *n; i++) {
		f[i].traceable |= k->offline;
		f[i].ftrace_unknown = kl_kernel_ftrace_unknown(k);
		f[i].preemptible = kl_kernel_preemptible(k);
	}
	if (!k->offline)
		add_blacklist(f, *n);
	*out = f;
	return 0;
}
