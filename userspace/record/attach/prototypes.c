// SPDX-License-Identifier: GPL-2.0
/* Writes the prototypes that BTF has for functions, see prototypes.h. */
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
	const struct kl_prototype_writer *w = ctx;

	vfprintf(w->f, fmt, args);
}

/* Write the prototype @id of @btf, with the function's name. */
static void put_type(struct kl_prototype_writer *w, const struct btf *btf, uint32_t id,
		     const char *name)
{
	DECLARE_LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts, .field_name = name);

	if (w->btf != btf) {
		kl_prototype_end(w);
		w->dump = btf_dump__new(btf, print_into, w, NULL);
		w->btf = w->dump ? btf : NULL;
	}
	if (w->dump)
		btf_dump__emit_type_decl(w->dump, id, &opts);
}

void kl_prototype_put(struct kl_prototype_writer *w, const struct kl_func *f)
{
	if (f->proto)
		put_type(w, f->btf, f->proto_id, f->name);
}

void kl_prototype_end(struct kl_prototype_writer *w)
{
	btf_dump__free(w->dump);
	w->dump = NULL;
	w->btf = NULL;
}

void kl_prototypes_text(const struct kl_func *f, char *buf, size_t size)
{
	const uint32_t first = first_type(f->btf, f->name);
	struct kl_prototype_writer w = { 0 };
	const char *before = ": ";
	struct kl_memstream m;
	uint32_t id;
	char *text;

	*buf = '\0';
	if (kl_memstream_open(&m))
		return;
	w.f = m.f;
	for (id = first; id; id = next_type(f->btf, f->name, first, id)) {
		fputs(before, m.f);
		put_type(&w, f->btf, btf__type_by_id(f->btf, id)->type, f->name);
		before = "; ";
	}
	kl_prototype_end(&w);
	if (kl_memstream_close(&m, &text, NULL))
		return;
	snprintf(buf, size, "%s", text);
	free(text);
}
