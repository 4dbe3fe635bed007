// SPDX-License-Identifier: GPL-2.0
/* Access to a loaded spec, for the other layers. */
#include <stdlib.h>
#include <string.h>

#include "spec/impl/impl.h"

void kl_spec_free(struct kl_spec *s)
{
	if (!s)
		return;
	if (s->impl)
		free(s->impl->methods);
	free(s->vars);
	free(s->consts);
	free(s->methods);
	free(s->probes);
	free(s->code);
	free(s->lines);
	free(s->pool);
	kl_intern_free(&s->numbers);
	kl_arena_free(&s->arena);
	free(s);
}

bool kl_spec_maps(const struct kl_spec *s)
{
	return s->maps;
}

const char *kl_spec_name(const struct kl_spec *s)
{
	return s->name;
}

const char *kl_spec_path(const struct kl_spec *s)
{
	return s->path;
}

const char *kl_spec_text(const struct kl_spec *s)
{
	return s->text;
}

unsigned int kl_spec_nmethods(const struct kl_spec *s)
{
	return s->nmethods;
}

const struct kl_method *kl_spec_method(const struct kl_spec *s, unsigned int i)
{
	return &s->methods[i].pub;
}

int kl_spec_find_method(const struct kl_spec *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nmethods; i++)
		if (!strcmp(s->methods[i].pub.name, name))
			return i;
	return -1;
}

enum kl_partition kl_spec_partition(const struct kl_spec *s)
{
	return s->partition;
}

bool kl_spec_partition_doubt(const struct kl_spec *s, char *buf, size_t size)
{
	if (s->doubt)
		snprintf(buf, size, "%s:%u:%u: %s", s->path, s->doubt_pos.line, s->doubt_pos.col,
			 s->doubt);
	return s->doubt;
}

const struct kl_param *kl_spec_bad_argument(const struct kl_spec *s, unsigned int method,
					    const struct kl_val *args)
{
	const struct kl_method *m = &s->methods[method].pub;
	unsigned int i;

	for (i = 0; i < m->nparams && !s->specials; i++)
		if (args[i].tag != KL_WORD && args[i].tag != KL_ANY)
			return &m->params[i];
	return NULL;
}

const struct kl_param *kl_spec_bad_bool(const struct kl_spec *s, unsigned int method,
					const struct kl_val *vals, unsigned int n, uint64_t *is)
{
	const struct kl_method *m = &s->methods[method].pub;
	const struct kl_param *p;
	unsigned int i;

	for (i = 0; i < n && s->methods[method].has_bool; i++) {
		p = i < m->nparams ? &m->params[i] : &m->results[i - m->nparams];
		if (p->type != KL_T_BOOL || vals[i].tag != KL_WORD || vals[i].v <= 1)
			continue;
		*is = vals[i].v;
		return p;
	}
	return NULL;
}

bool kl_spec_flushes(const struct kl_spec *s)
{
	return s->flushes;
}

bool kl_spec_fixed_size(const struct kl_spec *s)
{
	return !s->nconts;
}

size_t kl_spec_key_slots(const struct kl_spec *s)
{
	size_t i, n = 0;

	if (s->partition != KL_PART_PARAM || s->doubt || s->nconts)
		return 0;
	for (i = 0; i < s->nvars; i++)
		n += s->vars[i].is_array;
	return n;
}

unsigned int kl_spec_nprobes(const struct kl_spec *s)
{
	return s->nprobes;
}

const struct kl_probe *kl_spec_probe(const struct kl_spec *s, unsigned int i)
{
	return &s->probes[i];
}
