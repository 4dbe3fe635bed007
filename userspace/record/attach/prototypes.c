// SPDX-License-Identifier: GPL-2.0
/* The prototypes that BTF has for one name, see prototypes.h. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memstream.h"
#include "record/attach/prototypes.h"

/*
 * The next function of this name from @id on whose prototype is another one than @before;
 * equal ones are one in BTF.  0 if there is none.
 */
static uint32_t next_type(const struct btf *btf, const char *name, uint32_t id, uint32_t before)
{
	const uint32_t end = btf__type_cnt(btf);

	for (; id < end; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_is_func(t) && t->type != before &&
		    !strcmp(btf__name_by_offset(btf, t->name_off), name))
			return id;
	}
	return 0;
}

static uint32_t first_type(const struct btf *btf, const char *name)
{
	const struct btf *base = btf__base_btf(btf);

	return next_type(btf, name, base ? btf__type_cnt(base) : 1, 0);
}

unsigned int kl_prototypes_count(const struct btf *btf, const char *name)
{
	uint32_t id = first_type(btf, name);
	unsigned int n = 0;

	for (; id; id = next_type(btf, name, id + 1, btf__type_by_id(btf, id)->type))
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
	uint32_t id;

	*buf = '\0';
	if (kl_memstream_open(&m))
		return;
	dump = btf_dump__new(f->btf, print_into, m.f, NULL);
	for (id = dump ? first_type(f->btf, f->name) : 0; id;
	     id = next_type(f->btf, f->name, id + 1, btf__type_by_id(f->btf, id)->type)) {
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
