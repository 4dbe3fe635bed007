// SPDX-License-Identifier: GPL-2.0
/* Lists the prototypes that BTF has for one function name, see prototypes.h. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "record/attach/prototypes.h"

/* Return: the first function of this name from @id on, below @end; or 0. */
static uint32_t next_func(const struct btf *btf, const char *name, uint32_t id, uint32_t end)
{
	for (; id < end; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_is_func(t) && !strcmp(btf__name_by_offset(btf, t->name_off), name))
			return id;
	}
	return 0;
}

/*
 * Return: true if the function @id has the prototype of an earlier function of this name, from
 * @first on.  BTF has equal prototypes only once.
 */
static bool is_repeated(const struct btf *btf, const char *name, uint32_t first, uint32_t id)
{
	const uint32_t type = btf__type_by_id(btf, id)->type;
	uint32_t i;

	for (i = first; (i = next_func(btf, name, i, id)); i++)
		if (btf__type_by_id(btf, i)->type == type)
			return true;
	return false;
}

/*
 * Return: the function of this name after @before whose prototype no function from @first to
 * @before has; or 0.
 */
static uint32_t next_type(const struct btf *btf, const char *name, uint32_t first, uint32_t before)
{
	const uint32_t end = btf__type_cnt(btf);
	uint32_t id = before;

	do {
		id = next_func(btf, name, id + 1, end);
	} while (id && is_repeated(btf, name, first, id));
	return id;
}

static uint32_t first_type(const struct btf *btf, const char *name)
{
	const struct btf *base = btf__base_btf(btf);

	return next_func(btf, name, base ? btf__type_cnt(base) : 1, btf__type_cnt(btf));
}

unsigned int kl_prototypes_count(const struct btf *btf, const char *name)
{
	const uint32_t first = first_type(btf, name);
	unsigned int n = 0;
	uint32_t id;

	for (id = first; id; id = next_type(btf, name, first, id))
		n++;
	return n;
}

__attribute__((format(printf, 2, 0)))
static void print_into(void *ctx, const char *fmt, va_list args)
{
	vfprintf(ctx, fmt, args);
}

void kl_prototypes_text(const struct kl_func *f, char *buf, size_t size)
{
	DECLARE_LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts, .field_name = f->name);
	const char *before = ": ";
	struct btf_dump *dump;
	struct kl_memstream m;
	char *text;
	uint32_t first, id;

	*buf = '\0';
	if (kl_memstream_open(&m))
		return;
	dump = btf_dump__new(f->btf, print_into, m.f, NULL);
	first = dump ? first_type(f->btf, f->name) : 0;
	for (id = first; id; id = next_type(f->btf, f->name, first, id)) {
		fputs(before, m.f);
		btf_dump__emit_type_decl(dump, btf__type_by_id(f->btf, id)->type, &opts);
		before = "; ";
	}
	btf_dump__free(dump);
	if (kl_memstream_close(&m, &text, NULL))
		return;
	snprintf(buf, size, "%s", text);
	free(text);
}
