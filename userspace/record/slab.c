// SPDX-License-Identifier: GPL-2.0
/* The slab caches of objects, as names for people; see bpf/slab.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "record/member.h"
#include "record/recorder.h"
#include "slab.skel.h"

struct klin_slab_conf kl_slab_conf(struct kl_kernel *k)
{
	return (struct klin_slab_conf){
		.page_offset_base = kl_kernel_address(k, "page_offset_base"),
		.vmemmap_base = kl_kernel_address(k, "vmemmap_base"),
		.vmalloc_base = kl_kernel_address(k, "vmalloc_base"),
	};
}

void kl_slab_open(struct kl_recorder *r)
{
	const struct klin_slab_conf conf = kl_slab_conf(r->kernel);
	size_t size;
	const void *elf = slab_bpf__elf_bytes(&size);
	int err;

	err = kl_open_object(r, elf, size, &conf, sizeof(conf), &r->slab_obj);
	if (!err)
		err = bpf_object__load(r->slab_obj);
	if (err) {
		kl_debug("slab caches of objects are not known: %s", strerror(-err));
		kl_slab_close(r);
	}
}

void kl_slab_close(struct kl_recorder *r)
{
	bpf_object__close(r->slab_obj);
	r->slab_obj = NULL;
}

/* Return: the structure of a slab cache, as kl_cache_structure() finds it. */
static int structure_of(struct kl_recorder *r, const char *cache, uint32_t size)
{
	struct kl_slab_cache *c = r->slabs;

	while (c < r->slabs + r->nslabs && (c->size != size || strcmp(c->name, cache)))
		c++;
	if (c < r->slabs + r->nslabs)
		return c->structure;
	if (r->nslabs == KL_SLABS_MAX)
		return kl_cache_structure(r->kernel->btf, cache, size);
	snprintf(c->name, sizeof(c->name), "%s", cache);
	c->size = size;
	c->structure = kl_cache_structure(r->kernel->btf, cache, size);
	r->nslabs++;
	return c->structure;
}

bool kl_slab_name(struct kl_recorder *r, uint64_t addr, char *name, size_t size)
{
	struct klin_slab_query q = { .addr = addr };
	/* The kernel writes the result over the input. */
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &q, .ctx_size_in = sizeof(q));
	char cache[sizeof(q.name)], member[64];
	const struct bpf_program *prog;

	if (!r->slab_obj)
		return false;
	prog = bpf_object__next_program(r->slab_obj, NULL);
	if (bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) || !*q.name)
		return false;
	snprintf(cache, sizeof(cache), "%.*s", (int)sizeof(q.name) - 1, q.name);
	if (!q.shared && q.offset &&
	    kl_member_name(r->kernel->btf, structure_of(r, cache, q.size), q.offset, member,
			   sizeof(member)))
		snprintf(name, size, "%s.%s", cache, member);
	else if (q.offset)
		snprintf(name, size, "%s+0x%x", cache, q.offset);
	else
		snprintf(name, size, "%s", cache);
	return true;
}
