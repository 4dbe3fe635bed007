// SPDX-License-Identifier: GPL-2.0
/* Reads the machine code of a function, with the targets of its jumps. */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dwarf/insn.h"
#include "dwarf/internal.h"

static int compare_relocs(const void *a, const void *b)
{
	const struct kl_reloc *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static int add_relocs(struct kl_debug *d, Elf *elf, Elf_Scn *scn, const GElf_Shdr *rela,
		      uint64_t base)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Data *syms = elf_getdata(elf_getscn(elf, rela->sh_link), NULL);
	size_t i, n = data && rela->sh_entsize ? rela->sh_size / rela->sh_entsize : 0;
	GElf_Shdr target;
	GElf_Rela r;
	GElf_Sym sym;
	int err;

	for (i = 0; i < n; i++) {
		uint64_t to = 0;

		if (!gelf_getrela(data, i, &r) ||
		    (GELF_R_TYPE(r.r_info) != R_X86_64_PC32 &&
		     GELF_R_TYPE(r.r_info) != R_X86_64_PLT32) ||
		    !syms || !gelf_getsym(syms, GELF_R_SYM(r.r_info), &sym))
			continue;
		if (sym.st_shndx && sym.st_shndx < SHN_LORESERVE &&
		    gelf_getshdr(elf_getscn(elf, sym.st_shndx), &target))
			to = target.sh_addr + sym.st_value + r.r_addend + 4;
		err = kl_grow(d->relocs, d->crelocs, d->nrelocs + 1);
		if (err)
			return err;
		d->relocs[d->nrelocs++] = (struct kl_reloc){ base + r.r_offset, to };
	}
	return 0;
}

/* bytes of the kernel's struct jump_entry: two distances, each from its own address, and a key */
#define JUMP_ENTRY	16

static int add_key(struct kl_debug *d, uint64_t at, uint64_t to)
{
	int err = kl_grow(d->keys, d->ckeys, d->nkeys + 1);

	if (!err)
		d->keys[d->nkeys++] = (struct kl_reloc){ at, to };
	return err;
}

/*
 * Read the jump table of a module.  Each of its entries is a relocation of the code, followed by
 * a relocation of the target.
 */
static int add_module_keys(struct kl_debug *d, Elf *elf, Elf_Scn *scn, const GElf_Shdr *rela)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Data *syms = elf_getdata(elf_getscn(elf, rela->sh_link), NULL);
	size_t i, n = data && rela->sh_entsize ? rela->sh_size / rela->sh_entsize : 0;
	uint64_t code = 0, entry = UINT64_MAX, to;
	GElf_Shdr target;
	GElf_Rela r;
	GElf_Sym sym;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		if (!gelf_getrela(data, i, &r) || !syms ||
		    !gelf_getsym(syms, GELF_R_SYM(r.r_info), &sym) || !sym.st_shndx ||
		    sym.st_shndx >= SHN_LORESERVE ||
		    !gelf_getshdr(elf_getscn(elf, sym.st_shndx), &target))
			continue;
		to = target.sh_addr + sym.st_value + r.r_addend;
		if (r.r_offset % JUMP_ENTRY == 0) {
			code = to;
			entry = r.r_offset;
		} else if (r.r_offset == entry + 4) {
			err = add_key(d, code, to);
		}
	}
	return err;
}

/*
 * Return: the bytes at an address, or NULL if the file does not have them.  @size gets the number
 * of bytes up to the end of the section.
 */
static const uint8_t *bytes_at(Elf *elf, uint64_t addr, size_t *size)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr s;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &s) || !(s.sh_flags & SHF_ALLOC) ||
		    s.sh_type != SHT_PROGBITS || addr < s.sh_addr || addr - s.sh_addr >= s.sh_size)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || addr - s.sh_addr >= data->d_size)
			return NULL;
		*size = data->d_size - (addr - s.sh_addr);
		return (const uint8_t *)data->d_buf + (addr - s.sh_addr);
	}
	return NULL;
}

/* Read the jump table of a linked kernel, which is between two symbols. */
static int add_kernel_keys(struct kl_debug *d, Elf *elf)
{
	int i, n = dwfl_module_getsymtab(d->mod), err = 0;
	uint64_t start = 0, stop = 0, at;
	size_t nentries;
	const uint8_t *p;
	GElf_Addr addr;
	const char *name;
	size_t size = 0;
	GElf_Sym sym;

	for (i = 0; i < n; i++) {
		name = dwfl_module_getsym_info(d->mod, i, &sym, &addr, NULL, NULL, NULL);
		if (name && !strcmp(name, "__start___jump_table"))
			start = addr - d->bias;
		else if (name && !strcmp(name, "__stop___jump_table"))
			stop = addr - d->bias;
	}
	p = start && stop > start ? bytes_at(elf, start, &size) : NULL;
	if (!p || size < stop - start)
		return 0;
	/* The table may end at the end of the address space, so addresses are not compared. */
	nentries = (stop - start) / JUMP_ENTRY;
	for (at = start; nentries-- && !err; at += JUMP_ENTRY, p += JUMP_ENTRY) {
		int32_t rel[2];

		memcpy(rel, p, sizeof(rel));
		err = add_key(d, at + (int64_t)rel[0], at + 4 + (int64_t)rel[1]);
	}
	return err;
}

static bool is_jump_table(Elf *elf, const GElf_Shdr *shdr)
{
	const char *name;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	name = elf_strptr(elf, strings, shdr->sh_name);
	return name && !strcmp(name, "__jump_table");
}

/*
 * Read the jump table and, in a module, the relocations of code, which are the jumps between
 * sections.  A linked kernel has no relocations.
 */
static int read_relocs(struct kl_debug *d, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr, code;
	GElf_Ehdr ehdr;
	int err = 0;

	d->nkeys = d->nrelocs = 0;	/* an earlier attempt may have run out of memory */
	if (!gelf_getehdr(elf, &ehdr))
		return 0;
	if (ehdr.e_type != ET_REL)
		err = add_kernel_keys(d, elf);
	while (!err && ehdr.e_type == ET_REL && (scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_RELA ||
		    !gelf_getshdr(elf_getscn(elf, shdr.sh_info), &code))
			continue;
		if (code.sh_flags & SHF_EXECINSTR)
			err = add_relocs(d, elf, scn, &shdr, code.sh_addr);
		else if (is_jump_table(elf, &code))
			err = add_module_keys(d, elf, scn, &shdr);
	}
	if (d->nkeys)
		qsort(d->keys, d->nkeys, sizeof(*d->keys), compare_relocs);
	if (d->nrelocs)
		qsort(d->relocs, d->nrelocs, sizeof(*d->relocs), compare_relocs);
	d->relocated = !err;
	return err;
}

/* Return: the code bytes of [from, to), or NULL if the file does not have all of them. */
static const uint8_t *code_bytes(Elf *elf, uint64_t from, uint64_t to)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr s;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &s) || !(s.sh_flags & SHF_EXECINSTR) ||
		    s.sh_type != SHT_PROGBITS || from < s.sh_addr || to < from ||
		    to - s.sh_addr > s.sh_size)
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf && to - s.sh_addr <= data->d_size)
			return (const uint8_t *)data->d_buf + (from - s.sh_addr);
	}
	return NULL;
}

static void set_target(const struct kl_debug *d, struct kl_step *s, const struct kl_insn *insn)
{
	struct kl_reloc key = { .at = s->at + insn->rel_at }, *r = NULL;

	/* The kernel patches a static key's instruction: to a jump, or to a nop. */
	if (d->nkeys) {
		key.at = s->at;
		r = bsearch(&key, d->keys, d->nkeys, sizeof(key), compare_relocs);
		key.at = s->at + insn->rel_at;
	}
	if (r) {
		s->flow = KL_FLOW_BRANCH;
		s->key = true;
		s->to = r->to;
		return;
	}
	if (insn->flow != KL_FLOW_JUMP && insn->flow != KL_FLOW_BRANCH)
		return;
	if (d->nrelocs)
		r = bsearch(&key, d->relocs, d->nrelocs, sizeof(key), compare_relocs);
	s->to = r ? r->to : s->at + insn->len + (int64_t)insn->rel;
}

static int decode(struct kl_debug *d, Elf *elf, const struct kl_range *r, struct kl_code *code)
{
	const uint8_t *p = code_bytes(elf, r->from, r->to);
	uint64_t at;
	struct kl_insn insn;
	int err;

	if (!p)
		return -ENODATA;
	for (at = r->from; at < r->to; at += insn.len) {
		if (kl_insn_decode(p + (at - r->from), r->to - at, &insn))
			return -EINVAL;
		err = kl_grow(code->step, code->cap, code->n + 1);
		if (err)
			return err;
		code->step[code->n] = (struct kl_step){
			.at = at, .len = insn.len, .flow = insn.flow, .nop = insn.nop };
		set_target(d, &code->step[code->n++], &insn);
	}
	return 0;
}

static int compare_steps(const void *a, const void *b)
{
	const struct kl_step *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

int kl_code_read(struct kl_debug *d, Dwarf_Die *func, struct kl_code *code)
{
	struct kl_range *ranges = NULL;
	GElf_Addr bias;
	size_t i, n = 0;
	int err = 0;
	Elf *elf = dwfl_module_getelf(d->mod, &bias);

	*code = (struct kl_code){ 0 };
	if (!elf || bias != d->bias)
		return -ENODATA;
	if (!d->relocated)
		err = read_relocs(d, elf);
	if (!err)
		err = kl_die_ranges(func, &ranges, &n);
	for (i = 0; !err && i < n; i++)
		err = decode(d, elf, &ranges[i], code);
	free(ranges);
	if (!err && code->n)
		qsort(code->step, code->n, sizeof(*code->step), compare_steps);
	return err;
}

const struct kl_step *kl_code_at(const struct kl_code *code, uint64_t at)
{
	struct kl_step key = { .at = at };

	return code->n ? bsearch(&key, code->step, code->n, sizeof(key), compare_steps) : NULL;
}
